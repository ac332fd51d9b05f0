package bundle

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// RealPrefix marks the request by which a workload reaches the library of its own
// sandbox.
const RealPrefix = "sandbox-real/"

// Workload says which workload to bundle.
type Workload struct {
	Root    string
	Library string // the request of the library that owns it
	Entry   string // absolute
	OutDir  string
	File    string
	// Overlay holds the texts of open documents by absolute path.
	Overlay map[string]string
}

// OfWorkload bundles a workload. Its `sandbox-real/<library>` requests become the
// library that is loaded already, so that no second copy comes in. A request for
// another sandbox's library is an error of the workload and is left to the caller
// to report from Imports; here it resolves like any other package.
func OfWorkload(ctx context.Context, w Workload) (*Bundle, error) {
	made := &imports{}
	builtins := &imports{}
	real := api.Plugin{Name: "sandbox-real", Setup: func(build api.PluginBuild) {
		build.OnResolve(api.OnResolveOptions{Filter: `^[^./]`}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
			if args.Kind == api.ResolveEntryPoint || args.Namespace != "file" {
				return api.OnResolveResult{}, nil
			}
			made.add(Import{Request: args.Path, Importer: args.Importer})
			if strings.HasPrefix(args.Path, RealPrefix) {
				return api.OnResolveResult{Path: args.Path, Namespace: "sandbox-real"}, nil
			}
			return api.OnResolveResult{}, nil
		})
		build.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: "sandbox-real"}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
			code := realModule(args.Path, w.Library)
			return api.OnLoadResult{Contents: &code, Loader: api.LoaderJS}, nil
		})
	}}
	options := api.BuildOptions{
		AbsWorkingDir:  w.Root,
		EntryPoints:    []string{w.Entry},
		Outfile:        filepath.Join(w.OutDir, w.File),
		Format:         api.FormatIIFE,
		GlobalName:     WorkloadGlobal,
		Platform:       api.PlatformBrowser,
		Sourcemap:      api.SourceMapLinked,
		SourcesContent: api.SourcesContentExclude,
		LegalComments:  api.LegalCommentsEndOfFile,
		Plugins:        []api.Plugin{overlay(w.Overlay), real, builtinStubs(builtins), presentSources()},
	}
	b, err := run(ctx, options)
	if err != nil {
		return nil, err
	}
	if b.ESM {
		options.Format, options.GlobalName, options.Sourcemap = api.FormatESModule, "", api.SourceMapNone
		module, err := run(ctx, options)
		if err != nil {
			return nil, err
		}
		b.Exports = module.Exports
	}
	b.Imports, b.Builtins = made.list(), builtins.list()
	return b, nil
}

// realModule is the module behind a sandbox-real request. CommonJS, so that both
// named and default imports of it work whatever the library's own format.
func realModule(request, library string) string {
	rest, _ := strings.CutPrefix(request, RealPrefix)
	if rest == library {
		return "module.exports = globalThis." + Global + ";\n"
	}
	return "throw new Error(" + quote(request+" is not the library of this sandbox, which is "+library) + ");\n"
}

func sortedImports(seen map[Import]bool) []Import {
	return slices.SortedFunc(maps.Keys(seen), func(a, b Import) int {
		return cmp.Or(cmp.Compare(a.Importer, b.Importer), cmp.Compare(a.Request, b.Request))
	})
}
