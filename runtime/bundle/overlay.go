package bundle

import (
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// overlay serves the texts that an editor holds, by absolute path, in the place of
// what is on disk. Files that exist in the editor only can be imported too.
func overlay(texts map[string]string) api.Plugin {
	return api.Plugin{Name: "overlay", Setup: func(build api.PluginBuild) {
		if len(texts) == 0 {
			return
		}
		build.OnResolve(api.OnResolveOptions{Filter: `^[./]|^[A-Za-z]:`}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
			path := filepath.FromSlash(args.Path)
			if !filepath.IsAbs(path) {
				path = filepath.Join(args.ResolveDir, path)
			}
			for _, extension := range []string{"", ".js", ".mjs", ".ts"} {
				if _, open := texts[path+extension]; open {
					return api.OnResolveResult{Path: path + extension, Namespace: "file"}, nil
				}
			}
			return api.OnResolveResult{}, nil
		})
		build.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: "file"}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
			content, open := texts[args.Path]
			loader, known := loaders[strings.ToLower(filepath.Ext(args.Path))]
			if !open || !known {
				return api.OnLoadResult{}, nil
			}
			return api.OnLoadResult{Contents: &content, Loader: loader, ResolveDir: filepath.Dir(args.Path)}, nil
		})
	}}
}

var loaders = map[string]api.Loader{
	".js": api.LoaderJS, ".mjs": api.LoaderJS, ".cjs": api.LoaderJS, ".jsx": api.LoaderJSX,
	".ts": api.LoaderTS, ".mts": api.LoaderTS, ".cts": api.LoaderTS, ".tsx": api.LoaderTSX,
	".json": api.LoaderJSON, ".css": api.LoaderEmpty, ".txt": api.LoaderText,
}
