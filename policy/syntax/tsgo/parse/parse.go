// Package parse opens the parser and the binder of typescript-go to
// policy/syntax. It only translates: types are aliased, functions call through,
// and nothing here decides anything. It must not import the checker or the
// compiler, so that a program which only parses does not link them.
package parse

import (
	"github.com/microsoft/typescript-go/internal/ast"
	"github.com/microsoft/typescript-go/internal/binder"
	"github.com/microsoft/typescript-go/internal/core"
	"github.com/microsoft/typescript-go/internal/parser"
	"github.com/microsoft/typescript-go/internal/scanner"
)

// The compiler's types, under names that other modules may use. All positions in
// them are byte offsets.
type (
	Node       = ast.Node
	Kind       = ast.Kind
	Symbol     = ast.Symbol
	SourceFile = ast.SourceFile
)

// Diagnostic is a parse error with the bytes it covers.
type Diagnostic struct {
	Pos, End int
	Message  string
}

// File parses a text as the language that its name's extension tells, JavaScript
// when the extension is unknown.
func File(name, content string) *SourceFile {
	kind := core.GetScriptKindFromFileName(name)
	if kind == core.ScriptKindUnknown || kind == core.ScriptKindJSON {
		kind = core.ScriptKindJS
	}
	return parser.ParseSourceFile(ast.SourceFileParseOptions{FileName: name}, content, kind)
}

// Diagnostics returns the file's parse errors, including uses of TypeScript
// syntax in JavaScript files.
func Diagnostics(file *SourceFile) []Diagnostic {
	var out []Diagnostic
	for _, list := range [][]*ast.Diagnostic{file.Diagnostics(), file.JSDiagnostics()} {
		for _, d := range list {
			out = append(out, Diagnostic{Pos: d.Pos(), End: d.End(), Message: d.String()})
		}
	}
	return out
}

// Start returns where the node's first token begins, after white space and
// comments; the node's own Pos includes them.
func Start(file *SourceFile, n *Node) int { return scanner.GetTokenPosOfNode(n, file, false) }

// IsMissing reports whether the parser made the node up to go on after an error.
func IsMissing(n *Node) bool { return ast.NodeIsMissing(n) }

// IsSynthesized reports whether the node was made from a JSDoc comment instead
// of from code.
func IsSynthesized(n *Node) bool { return n.Flags&ast.NodeFlagsReparsed != 0 }

// IsType reports whether the node is a type, which has no existence at run time.
func IsType(n *Node) bool { return ast.IsTypeNode(n) && n.Kind != ast.KindExpressionWithTypeArguments }

// IsWrite reports whether an expression is assigned to where it stands.
func IsWrite(n *Node) bool { return ast.IsWriteAccess(n) }

// IsWriteOnly reports whether an expression is assigned to where it stands and its
// old value is not read, as ++ and += do.
func IsWriteOnly(n *Node) bool { return ast.IsWriteOnlyAccess(n) }

// IsGenerator reports whether a function is function* or async function*.
func IsGenerator(n *Node) bool { return n.BodyData() != nil && n.BodyData().AsteriskToken != nil }

// IsAsync reports whether a function is async.
func IsAsync(n *Node) bool { return ast.HasSyntacticModifier(n, ast.ModifierFlagsAsync) }

// IsStatic reports whether a class member is static.
func IsStatic(n *Node) bool { return ast.IsStatic(n) }

// IsConst reports whether a VariableDeclarationList is const or using.
func IsConst(list *Node) bool {
	return list.Flags&ast.NodeFlagsConst != 0 || list.Flags&ast.NodeFlagsUsing != 0
}

// IsLet reports whether a VariableDeclarationList is let.
func IsLet(list *Node) bool { return list.Flags&ast.NodeFlagsBlockScoped == ast.NodeFlagsLet }

// IsAmbient reports whether the declaration exists for the type checker only
// (declare const, .d.ts files).
func IsAmbient(n *Node) bool { return n.Flags&ast.NodeFlagsAmbient != 0 }

// HasExport reports whether a declaration carries the export modifier.
func HasExport(n *Node) bool { return ast.HasSyntacticModifier(n, ast.ModifierFlagsExport) }

// HasDefault reports whether a declaration carries the default modifier.
func HasDefault(n *Node) bool { return ast.HasSyntacticModifier(n, ast.ModifierFlagsDefault) }

// IsModule reports whether the file has import or export syntax, and so is
// strict code.
func IsModule(file *SourceFile) bool { return file.ExternalModuleIndicator != nil }

// Bind builds the scopes of a file and returns how to look a name up from a
// place in it. The result is nil for a name that the file does not declare.
func Bind(file *SourceFile) func(at *Node, name string) *Symbol {
	binder.BindSourceFile(file)
	resolver := binder.NameResolver{CompilerOptions: &core.CompilerOptions{Target: core.ScriptTargetESNext}}
	// The top level of a script is the global scope, which the resolver expects
	// to have been merged into its globals by a program.
	resolver.Globals = file.Locals
	const meaning = ast.SymbolFlagsValue | ast.SymbolFlagsAlias
	return func(at *Node, name string) *Symbol {
		s := resolver.Resolve(at, name, meaning, nil, false, false)
		// The binder invents `module` and `exports` for CommonJS files.
		if s == nil || s.Flags&ast.SymbolFlagsModuleExports != 0 {
			return nil
		}
		if s.ExportSymbol != nil {
			return s.ExportSymbol
		}
		return s
	}
}

// IsTypeOnlySymbol reports whether the symbol has no value at run time.
func IsTypeOnlySymbol(s *Symbol) bool {
	return s.Flags&(ast.SymbolFlagsValue|ast.SymbolFlagsAlias) == 0
}
