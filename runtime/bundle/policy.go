package bundle

import (
	"context"
	"encoding/json"
	"path/filepath"
	"regexp"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
)

// PolicyGlobal is the name of the global variable to which a policy module's
// bundle assigns its exports.
const PolicyGlobal = "__SANDBOX_POLICY__"

// OfPolicy bundles a policy module and the helpers that it imports, taking open
// documents from the overlay. The package that exports defineConfig is stood in
// for, so that reading a policy needs nothing installed. Node built-ins and packages that cannot be resolved
// are errors at the import that names them: a policy is evaluated without any
// host capability, so there is nothing to stand for them.
func OfPolicy(ctx context.Context, root, file string, texts map[string]string) (*Bundle, error) {
	standIn := api.Plugin{Name: "define-config", Setup: func(build api.PluginBuild) {
		build.OnResolve(api.OnResolveOptions{Filter: "^" + regexp.QuoteMeta(policy.RuntimePackage) + "$"}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
			return api.OnResolveResult{Path: args.Path, Namespace: "define-config"}, nil
		})
		build.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: "define-config"}, func(api.OnLoadArgs) (api.OnLoadResult, error) {
			code := "export const defineConfig = (config) => config;\n"
			return api.OnLoadResult{Contents: &code, Loader: api.LoaderJS}, nil
		})
	}}
	return run(ctx, api.BuildOptions{
		AbsWorkingDir:  root,
		EntryPoints:    []string{file},
		Outfile:        filepath.Join(root, ".sandbox", "policy.js"),
		Format:         api.FormatIIFE,
		GlobalName:     PolicyGlobal,
		Platform:       api.PlatformNeutral,
		MainFields:     []string{"module", "main"},
		Conditions:     []string{"import"},
		Sourcemap:      api.SourceMapExternal,
		SourcesContent: api.SourcesContentExclude,
		TsconfigRaw:    "{}",
		Plugins:        []api.Plugin{standIn, overlay(texts)},
	})
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil { // cannot happen: a Go string always marshals
		return `""`
	}
	return string(b)
}
