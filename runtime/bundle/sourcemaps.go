package bundle

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// presentSources keeps the bundler from following a package's own source map to files
// that the package does not contain. Most packages publish maps and not the sources
// that these name; a place in such a file could be opened by nobody, while the file
// that was published is there.
func presentSources() api.Plugin {
	return api.Plugin{Name: "present-sources", Setup: func(build api.PluginBuild) {
		build.OnLoad(api.OnLoadOptions{Filter: `\.[cm]?js$`, Namespace: "file"}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
			raw, err := os.ReadFile(args.Path)
			if err != nil {
				return api.OnLoadResult{}, nil //nolint:nilerr // the bundler reports it, at the import
			}
			at, reference := mapReference(raw)
			if at < 0 || sourcesPresent(args.Path, reference) {
				return api.OnLoadResult{}, nil
			}
			code := string(raw[:at]) + string(raw[at+len(mapComment)+len(reference):])
			return api.OnLoadResult{Contents: &code, Loader: api.LoaderJS}, nil
		})
	}}
}

const mapComment = "//# sourceMappingURL="

// mapReference returns where the last reference to a source map begins, and what it
// refers to; -1 without one.
func mapReference(code []byte) (int, string) {
	at := bytes.LastIndex(code, []byte(mapComment))
	if at < 0 {
		return -1, ""
	}
	reference := code[at+len(mapComment):]
	if end := bytes.IndexAny(reference, " \t\r\n"); end >= 0 {
		reference = reference[:end]
	}
	return at, string(reference)
}

// sourcesPresent reports whether every source of a file's map is a file. A map that
// cannot be read is left to the bundler, which passes it over.
func sourcesPresent(file, reference string) bool {
	raw, dir := []byte(nil), filepath.Dir(file)
	if data, inline := strings.CutPrefix(reference, "data:"); inline {
		_, encoded, ok := strings.Cut(data, ";base64,")
		decoded, err := base64.StdEncoding.DecodeString(encoded)
		if !ok || err != nil {
			return true
		}
		raw = decoded
	} else {
		name, err := url.PathUnescape(reference)
		if err != nil || strings.Contains(name, ":") {
			return true
		}
		name = filepath.Join(dir, filepath.FromSlash(name))
		dir = filepath.Dir(name)
		if raw, err = os.ReadFile(name); err != nil {
			return true
		}
	}
	type sources struct {
		SourceRoot string
		Sources    []string
	}
	var m struct {
		sources
		Sections []struct{ Map sources }
	}
	if json.Unmarshal(raw, &m) != nil {
		return true
	}
	all := []sources{m.sources}
	for _, s := range m.Sections {
		all = append(all, s.Map)
	}
	for _, s := range all {
		for _, name := range s.Sources {
			name, err := url.PathUnescape(s.SourceRoot + name)
			if err != nil {
				return false
			}
			if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err != nil || !info.Mode().IsRegular() {
				return false
			}
		}
	}
	return true
}
