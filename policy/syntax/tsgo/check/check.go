// Package check opens the program, module resolution and type checker of
// typescript-go to proxygen. Like its sibling parse it only translates; it is a
// package of its own because it takes minutes to compile and most of what reads
// syntax does not need it.
package check

import (
	"context"
	"slices"
	"strings"

	"github.com/microsoft/typescript-go/internal/ast"
	"github.com/microsoft/typescript-go/internal/bundled"
	"github.com/microsoft/typescript-go/internal/checker"
	"github.com/microsoft/typescript-go/internal/compiler"
	"github.com/microsoft/typescript-go/internal/core"
	"github.com/microsoft/typescript-go/internal/module"
	"github.com/microsoft/typescript-go/internal/scanner"
	"github.com/microsoft/typescript-go/internal/tsoptions"
	"github.com/microsoft/typescript-go/internal/tspath"
	"github.com/microsoft/typescript-go/internal/vfs"
	"github.com/microsoft/typescript-go/internal/vfs/cachedvfs"
	"github.com/microsoft/typescript-go/internal/vfs/osvfs"
)

// The compiler's types, under names that other modules may use. All positions in
// them are byte offsets.
type (
	Checker    = checker.Checker
	Node       = ast.Node
	SourceFile = ast.SourceFile
	Symbol     = ast.Symbol
	Type       = checker.Type
)

// Options says what a program is made of.
type Options struct {
	// Root is the absolute folder that relative names start from, with slashes.
	Root string
	// Files are texts that stand in for files on disk, by absolute path. They are
	// the program's roots.
	Files map[string]string
	// Lib includes the standard library, which exact types need and lists of names
	// do not.
	Lib bool
	// Accept is asked about every file that was read before it is parsed; false
	// makes the file look unreadable. It may be nil.
	Accept func(path, content string) bool
}

// Program is a set of files with everything that they import. It is not safe for
// concurrent use.
type Program struct {
	program *compiler.Program
	checker *checker.Checker
	release func()
	read    map[string]bool
}

// New reads the files and what they reach, with the resolution of a bundler. It
// runs on the calling goroutine only, so that a panic of the compiler can be
// recovered from. Close must be called.
func New(ctx context.Context, o Options) *Program {
	p := &Program{read: map[string]bool{}}
	fs := &files{FS: osvfs.FS(), overlay: o.Files, read: p.read, accept: o.Accept}
	host := compiler.NewCompilerHost(o.Root, bundled.WrapFS(cachedvfs.From(fs)), bundled.LibPath(), nil, nil)
	compilerOptions := &core.CompilerOptions{
		Module: core.ModuleKindESNext, ModuleResolution: core.ModuleResolutionKindBundler, Target: core.ScriptTargetESNext,
		SkipLibCheck: core.TSTrue, NoEmit: core.TSTrue, Strict: core.TSTrue, Types: []string{},
	}
	if !o.Lib {
		compilerOptions.NoLib = core.TSTrue
	}
	roots := make([]string, 0, len(o.Files))
	for name := range o.Files {
		roots = append(roots, name)
	}
	slices.Sort(roots)
	config := tsoptions.NewParsedCommandLine(compilerOptions, roots, tspath.ComparePathsOptions{
		UseCaseSensitiveFileNames: fs.UseCaseSensitiveFileNames(), CurrentDirectory: o.Root,
	})
	p.program = compiler.NewProgram(compiler.ProgramOptions{Host: host, Config: config, SingleThreaded: core.TSTrue})
	p.checker, p.release = p.program.GetTypeChecker(ctx)
	return p
}

// Close gives the checker back.
func (p *Program) Close() { p.release() }

// Checker returns the program's type checker.
func (p *Program) Checker() *Checker { return p.checker }

// File returns a file of the program, or nil.
func (p *Program) File(name string) *SourceFile { return p.program.GetSourceFile(name) }

// Read reports whether the file was read from disk while the program was made.
func (p *Program) Read(name string) bool { return p.read[name] }

// Dependencies returns the paths of what the file imports and references.
func (p *Program) Dependencies(file *SourceFile) []string {
	var out []string
	p.program.ForEachResolvedModule(func(r *module.ResolvedModule, _ string, _ core.ResolutionMode, _ tspath.Path) {
		if r.IsResolved() {
			out = append(out, r.ResolvedFileName)
		}
	}, file)
	p.program.ForEachResolvedTypeReferenceDirective(func(r *module.ResolvedTypeReferenceDirective, _ string, _ core.ResolutionMode, _ tspath.Path) {
		if r.IsResolved() {
			out = append(out, r.ResolvedFileName)
		}
	}, file)
	for _, reference := range file.ReferencedFiles {
		if f := p.program.GetSourceFileFromReference(file, reference); f != nil {
			out = append(out, f.FileName())
		}
	}
	return out
}

// Resolved returns the file that an import of the given file leads to, or "". It
// may be a JavaScript file, which a program does not read.
func (p *Program) Resolved(file *SourceFile, specifier *Node) string {
	if r := p.program.GetResolvedModuleFromModuleSpecifier(file, specifier); r.IsResolved() {
		return r.ResolvedFileName
	}
	return ""
}

// Diagnostic is an error of a file with the bytes it covers.
type Diagnostic struct {
	Pos, End int
	Code     int
	Message  string
}

// Diagnostics returns the syntactic and semantic errors of a file.
func (p *Program) Diagnostics(ctx context.Context, file *SourceFile) []Diagnostic {
	var out []Diagnostic
	list := append(p.program.GetSyntacticDiagnostics(ctx, file), p.program.GetSemanticDiagnostics(ctx, file)...)
	for _, d := range list {
		message := d.String()
		for _, part := range d.MessageChain() {
			message += " " + part.String()
		}
		out = append(out, Diagnostic{Pos: d.Pos(), End: d.End(), Code: int(d.Code()), Message: message})
	}
	return out
}

// SourceFileOf returns the file that a node stands in.
func SourceFileOf(n *Node) *SourceFile { return ast.GetSourceFileOfNode(n) }

// NameSpan returns the bytes of a declaration's name, or of its first token when it
// has none.
func NameSpan(declaration *Node) (start, end int) {
	file := ast.GetSourceFileOfNode(declaration)
	if name := ast.GetNameOfDeclaration(declaration); name != nil {
		return scanner.GetTokenPosOfNode(name, file, false), name.End()
	}
	start = scanner.GetTokenPosOfNode(declaration, file, false)
	return start, start + len(scanner.TokenToString(scanner.ScanTokenAtPosition(file, start)))
}

// DocSpan returns the bytes of the documentation comment that belongs to a
// declaration, or two equal offsets.
func DocSpan(declaration *Node) (start, end int) {
	file := ast.GetSourceFileOfNode(declaration)
	for n := declaration; n != nil && n.Kind != ast.KindSourceFile; n = n.Parent {
		if docs := n.JSDoc(file); len(docs) > 0 {
			last := docs[len(docs)-1]
			return last.Pos(), last.End()
		}
		// The comment of a variable stands before its statement.
		if n.Kind != ast.KindVariableDeclaration && n.Kind != ast.KindVariableDeclarationList {
			break
		}
	}
	return 0, 0
}

// files is the file system of a program: the disk, some texts over it, and a record
// of what was read.
type files struct {
	vfs.FS
	overlay map[string]string
	read    map[string]bool
	accept  func(path, content string) bool
}

func (f *files) FileExists(path string) bool {
	if _, ok := f.overlay[path]; ok {
		return true
	}
	return f.FS.FileExists(path)
}

func (f *files) DirectoryExists(path string) bool {
	for name := range f.overlay {
		if strings.HasPrefix(name, strings.TrimSuffix(path, "/")+"/") {
			return true
		}
	}
	return f.FS.DirectoryExists(path)
}

func (f *files) ReadFile(path string) (string, bool) {
	if content, ok := f.overlay[path]; ok {
		return content, true
	}
	content, ok := f.FS.ReadFile(path)
	if !ok {
		return "", false
	}
	f.read[path] = true
	if f.accept != nil && !f.accept(path, content) {
		return "", true
	}
	return content, true
}
