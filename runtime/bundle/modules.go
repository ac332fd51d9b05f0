package bundle

import (
	"fmt"
	"io/fs"
	"path"

	"github.com/evanw/esbuild/pkg/api"
)

// Modules makes one expression of the text of an entry module, whose relative imports
// are files: an object with what the entry exports. Names stay as they are written, in
// the texts of functions too. It is for the tool's own modules, not a library's.
func Modules(entry string, files fs.FS) (string, error) {
	const name = "exported"
	result := api.Build(api.BuildOptions{
		Stdin:      &api.StdinOptions{Contents: entry, Sourcefile: "entry.js"},
		Bundle:     true,
		Format:     api.FormatIIFE,
		GlobalName: name,
		Target:     api.ES2023,
		LogLevel:   api.LogLevelSilent,
		// A realm reads it each time that it starts.
		MinifyWhitespace: true,
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
		return "", fmt.Errorf("bundle modules: %s", result.Errors[0].Text)
	}
	// A var of a script would be a property of the global object.
	return fmt.Sprintf("(() => {%s\nreturn %s;\n})()", result.OutputFiles[0].Contents, name), nil
}
