package embedded

import (
	"fmt"
	"io/fs"
	"path"
	"sync"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/sandbox-lsp/sandbox-lsp/runtime/js"
)

// file is what stacks of the host call the membrane.
const file = "sandbox-membrane.js"

// program is the membrane as one script, whose value is an object with what entry
// exports. It is bundled once per process.
var program = sync.OnceValues(func() (string, error) {
	return bundle(`
		export { embeddedManager } from "./embedded.js";
		export * as errors from "./errors.js";
	`, js.Sources)
})

// bundle makes an expression of an entry module over the files of a folder. Function
// texts stay as they are written: the guest's half of the membrane is one.
func bundle(entry string, files fs.FS) (string, error) {
	const name = "exported"
	result := api.Build(api.BuildOptions{
		Stdin:      &api.StdinOptions{Contents: entry, Sourcefile: "entry.js"},
		Bundle:     true,
		Format:     api.FormatIIFE,
		GlobalName: name,
		Target:     api.ES2023,
		LogLevel:   api.LogLevelSilent,
		Plugins: []api.Plugin{{Name: "files", Setup: func(build api.PluginBuild) {
			build.OnResolve(api.OnResolveOptions{Filter: `^\.`}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
				return api.OnResolveResult{Path: path.Join(path.Dir(args.Importer), args.Path), Namespace: "files"}, nil
			})
			build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: "files"}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
				source, err := fs.ReadFile(files, args.Path)
				text := string(source)
				return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}, err
			})
		}}},
	})
	if len(result.Errors) > 0 {
		return "", fmt.Errorf("bundle the membrane: %s", result.Errors[0].Text)
	}
	// A var of a script would be a property of the global object.
	return fmt.Sprintf("(() => {%s\nreturn %s;\n})()", result.OutputFiles[0].Contents, name), nil
}
