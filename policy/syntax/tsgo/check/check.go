package check

import (
	"context"

	"github.com/microsoft/typescript-go/internal/ast"
	"github.com/microsoft/typescript-go/internal/bundled"
	"github.com/microsoft/typescript-go/internal/compiler"
	"github.com/microsoft/typescript-go/internal/core"
	"github.com/microsoft/typescript-go/internal/tsoptions"
	"github.com/microsoft/typescript-go/internal/tspath"
	"github.com/microsoft/typescript-go/internal/vfs/cachedvfs"
	"github.com/microsoft/typescript-go/internal/vfs/osvfs"
)

type Export struct {
	Name            string
	Flags           uint32
	Call, Construct bool
}

func Exports(dir string, file string, nolib bool) (out []Export, files int) {
	fs := bundled.WrapFS(cachedvfs.From(osvfs.FS()))
	host := compiler.NewCompilerHost(dir, fs, bundled.LibPath(), nil, nil)
	opts := &core.CompilerOptions{
		Module: core.ModuleKindESNext, ModuleResolution: core.ModuleResolutionKindBundler,
		SkipLibCheck: core.TSTrue, NoEmit: core.TSTrue, Target: core.ScriptTargetESNext, AllowJs: core.TSTrue,
	}
	if nolib {
		opts.NoLib = core.TSTrue
	}
	opts.Types = []string{}
	cfg := tsoptions.NewParsedCommandLine(opts, []string{file}, tspath.ComparePathsOptions{UseCaseSensitiveFileNames: true, CurrentDirectory: dir})
	p := compiler.NewProgram(compiler.ProgramOptions{Host: host, Config: cfg})
	sf := p.GetSourceFile(file)
	c, done := p.GetTypeChecker(context.Background())
	defer done()
	imp := sf.Imports()[0]
	sym := c.ResolveExternalModuleName(imp)
	if sym == nil {
		return nil, len(p.GetSourceFiles())
	}
	for _, s := range c.GetExportsAndPropertiesOfModule(sym) {
		r := s
		if s.Flags&ast.SymbolFlagsAlias != 0 {
			r = c.GetAliasedSymbol(s)
		}
		e := Export{Name: s.Name, Flags: uint32(r.Flags)}
		if r.Flags&ast.SymbolFlagsValue != 0 {
			t := c.GetTypeOfSymbol(r)
			_ = t
		}
		out = append(out, e)
	}
	return out, len(p.GetSourceFiles())
}
