package appscan

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy/resolve"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
)

// Dependency is a package that the application uses outside of any sandbox.
type Dependency struct {
	Name    string
	Version string // installed; "" when it is not
	UsedBy  int    // how many files of the application import it
	// Requests are the ones that they import it by, sorted: its name, paths below it.
	Requests []string
}

// Unsandboxed returns the direct dependencies of a project, those of its package.json
// that are not for development alone, that application code imports and the policy
// has no library for; sorted by name. Workloads do not count: what they import runs
// inside.
func (s *Scanner) Unsandboxed(ctx context.Context, p Project) ([]Dependency, error) {
	sc, err := s.begin(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("scan %s: %w", p.Root, err)
	}
	sandboxed := map[string]bool{}
	for _, l := range p.Libraries {
		name, _, _ := resolve.SplitRequest(l.Name)
		sandboxed[name] = true
	}
	var names []string
	for _, name := range sc.dependencies() {
		if !sandboxed[name] {
			names = append(names, name)
		}
	}
	libraries := make([]Library, len(names))
	for i, name := range names {
		libraries[i].Name = name
	}
	records, err := sc.read(ctx, newFilter(libraries, nil))
	if err != nil {
		return nil, fmt.Errorf("scan %s: %w", p.Root, err)
	}
	files, requests := map[string]int{}, map[string]map[string]bool{}
	for i, f := range sc.tree.files {
		if _, inside := sc.inside[f.rel]; inside {
			continue
		}
		used := map[string]bool{}
		for _, m := range records[i].mentions {
			request, _ := undecorated(m.Specifier)
			if m.Form == syntax.FormType || m.Form == syntax.FormURL || m.Form == syntax.FormImportScripts {
				continue
			}
			request = strings.TrimSuffix(request, "/")
			name, _, ok := resolve.SplitRequest(request)
			if !ok {
				continue
			}
			if requests[name] == nil {
				requests[name] = map[string]bool{}
			}
			requests[name][request] = true
			if !used[name] {
				used[name] = true
				files[name]++
			}
		}
	}
	var out []Dependency
	for _, name := range names {
		if files[name] > 0 {
			out = append(out, Dependency{Name: name, Version: installedVersion(sc.walker.root, name), UsedBy: files[name], Requests: slices.Sorted(maps.Keys(requests[name]))})
		}
	}
	return out, nil
}

// dependencies returns the names that the root's package.json lists as needed at run
// time, sorted.
func (sc *scan) dependencies() []string {
	content, ok := sc.walker.read(filepath.Join(sc.walker.root, "package.json"))
	if !ok {
		return nil
	}
	var manifest struct {
		Dependencies, OptionalDependencies, PeerDependencies map[string]any
	}
	if json.Unmarshal(bytes.TrimPrefix(content, []byte("\uFEFF")), &manifest) != nil {
		return nil
	}
	names := slices.Concat(sortedKeys(manifest.Dependencies), sortedKeys(manifest.OptionalDependencies), sortedKeys(manifest.PeerDependencies))
	slices.Sort(names)
	return slices.Compact(names)
}

// installedVersion looks a package up from a folder upwards, as Node does.
func installedVersion(dir, name string) string {
	for {
		if pkg, ok := resolve.In(dir, name); ok {
			return pkg.Version
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
		dir = filepath.Dir(dir)
	}
}
