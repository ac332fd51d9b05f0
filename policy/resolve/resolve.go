// Package resolve finds the package that a policy key means, as Node and browser
// bundlers find it from the project root: exports maps and conditions, the
// browser field, scoped names, symlinked stores, workspaces.
//
// The resolver is esbuild's, so that what a finding says about a package is what
// the bundle will contain.
package resolve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
	"github.com/evanw/esbuild/pkg/api"

	"github.com/sandbox-lsp/sandbox-lsp/policy/nodecap"
)

// Package is an installed package.
type Package struct {
	Name    string // as its own package.json says, which an npm alias may differ from
	Version string
	Dir     string // absolute, symlinks resolved
}

// Manifest returns the path of the package's package.json.
func (p Package) Manifest() string { return filepath.Join(p.Dir, "package.json") }

// Result is what one request resolves to. When Problem is set the other fields
// hold what could be found all the same.
type Result struct {
	Request string
	Entry   string // the file that an import of the request loads; absolute, symlinks resolved
	Package Package
	Listed  bool // a package.json from the root upwards names it as a dependency
	Problem *Problem
}

// ProblemKind says why a request does not resolve.
type ProblemKind int

// The kinds of problems.
const (
	NotARequest  ProblemKind = iota + 1 // not a package name at all
	Builtin                             // a module of Node, not a package
	Unknown                             // neither installed nor listed
	NotInstalled                        // listed, but not in node_modules
	NoEntry                             // installed, but the package has no such entry
	BadManifest                         // installed, but its package.json cannot be read
	SharesFiles                         // resolves, but its build files would be another request's; set by the caller, Detail names the other
)

// Problem explains a failed resolution.
type Problem struct {
	Kind ProblemKind
	// Detail is the resolver's own sentence, if it had one.
	Detail string
	// Suggestion is the name of an installed or listed package that is close to the
	// request, or "".
	Suggestion string
}

// SplitRequest splits a request into the package's name and the subpath behind
// it: "@scope/name/sub/path" gives "@scope/name" and "sub/path". It reports false
// for what cannot name a package (relative and absolute paths, URLs, empty parts).
func SplitRequest(request string) (name, subpath string, ok bool) {
	parts := strings.Split(request, "/")
	n := 1
	if strings.HasPrefix(request, "@") {
		n = 2
	}
	if len(parts) < n {
		return "", "", false
	}
	for _, part := range parts {
		if part == "" || part == "." || part == ".." {
			return "", "", false
		}
	}
	name = strings.Join(parts[:n], "/")
	if name == "@" || strings.ContainsAny(name, `\:*?"<>| %#`) || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return "", "", false
	}
	return name, strings.Join(parts[n:], "/"), true
}

// Packages resolves requests from a project root. The results stand in the order
// of the requests. An error means that the resolver itself could not run or that
// the context ended, never that a request failed.
func Packages(ctx context.Context, root string, requests []string) ([]Result, error) {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, fmt.Errorf("resolve the project root: %w", err)
	}
	listed := listedDependencies(real)
	entries, details, err := entryPoints(ctx, real, requests)
	if err != nil {
		return nil, err
	}
	results := make([]Result, len(requests))
	for i, request := range requests {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		results[i] = describe(real, request, entries[i], details[i], listed)
	}
	return results, nil
}

// describe completes the resolver's answer for one request.
func describe(root, request, entry, detail string, listed map[string]bool) Result {
	r := Result{Request: request, Entry: entry}
	name, _, ok := SplitRequest(request)
	switch {
	case nodecap.IsBuiltin(request) && (entry == "" || !listed[request]):
		r.Problem = &Problem{Kind: Builtin}
		r.Entry = ""
		return r
	case !ok:
		r.Problem = &Problem{Kind: NotARequest}
		r.Entry = ""
		return r
	}
	r.Listed = listed[name]
	dir, installed := installedAt(root, name)
	if installed {
		pkg, err := readPackage(dir)
		if err != nil {
			r.Problem = &Problem{Kind: BadManifest, Detail: err.Error()}
			return r
		}
		r.Package = pkg
	}
	switch {
	case entry != "" && installed && !belongs(entry, r.Package.Dir):
		r.Entry = ""
		r.Problem = &Problem{Kind: NoEntry, Detail: "its package.json leads out of the package, to " + filepath.ToSlash(entry)}
	case entry != "":
		if !installed { // a package that refers to itself, or a path mapping
			if dir, ok := owner(entry); ok {
				r.Package, _ = readPackage(dir)
			}
		}
	case installed:
		r.Problem = &Problem{Kind: NoEntry, Detail: detail}
	case r.Listed:
		r.Problem = &Problem{Kind: NotInstalled}
	default:
		r.Problem = &Problem{Kind: Unknown, Suggestion: nearest(name, root, listed)}
	}
	return r
}

// belongs reports whether an entry is the package's to hand out: a file of its own,
// or of another installed package that its browser field names. Anything else would
// bundle what the author of the package chose from the rest of the disk.
func belongs(entry, dir string) bool {
	rel, err := filepath.Rel(dir, entry)
	inside := err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
	return inside || strings.Contains(filepath.ToSlash(entry), "/node_modules/")
}

// entryPoints asks esbuild's resolver for every request at once. details holds
// the resolver's message for each request that it could not resolve.
func entryPoints(ctx context.Context, root string, requests []string) (entries, details []string, err error) {
	entries, details = make([]string, len(requests)), make([]string, len(requests))
	plugin := api.Plugin{Name: "resolve", Setup: func(build api.PluginBuild) {
		build.OnStart(func() (api.OnStartResult, error) {
			for i, request := range requests {
				if ctx.Err() != nil {
					break
				}
				if _, _, ok := SplitRequest(request); !ok {
					continue
				}
				got := build.Resolve(request, api.ResolveOptions{ResolveDir: root, Kind: api.ResolveJSImportStatement})
				if len(got.Errors) > 0 {
					details[i] = sentence(got.Errors[0])
				} else if got.Namespace == "file" {
					entries[i] = got.Path
				}
			}
			return api.OnStartResult{}, nil
		})
	}}
	build := api.Build(api.BuildOptions{
		Stdin:         &api.StdinOptions{Contents: "", ResolveDir: root},
		AbsWorkingDir: root,
		Bundle:        true,
		Platform:      api.PlatformBrowser,
		TsconfigRaw:   "{}",
		LogLevel:      api.LogLevelSilent,
		Plugins:       []api.Plugin{plugin},
	})
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if len(build.Errors) > 0 {
		return nil, nil, fmt.Errorf("resolve packages from %s: %s", root, build.Errors[0].Text)
	}
	return entries, details, nil
}

// sentence prefers esbuild's note, which says why, to its error, which says that
// it could not resolve. Notes that advise on esbuild's own options are of no use
// to the author of a policy.
func sentence(m api.Message) string {
	for _, note := range m.Notes {
		if !strings.Contains(note.Text, "mark the path") && !strings.Contains(note.Text, "external") {
			return note.Text
		}
	}
	return m.Text
}

// installedAt looks for a package's folder in the node_modules of the root and of
// every folder above it.
func installedAt(root, name string) (string, bool) {
	for dir := root; ; dir = filepath.Dir(dir) {
		candidate := filepath.Join(dir, "node_modules", filepath.FromSlash(name))
		if info, err := os.Stat(candidate); err == nil && info.IsDir() {
			if real, err := filepath.EvalSymlinks(candidate); err == nil {
				return real, true
			}
		}
		if dir == filepath.Dir(dir) {
			return "", false
		}
	}
}

// owner returns the folder of the nearest package.json above a file that names a
// package. A package.json without a name only sets the module type of a folder.
func owner(file string) (string, bool) {
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		if p, err := readPackage(dir); err == nil && p.Name != "" {
			return dir, true
		}
		if dir == filepath.Dir(dir) {
			return "", false
		}
	}
}

func readPackage(dir string) (Package, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return Package{}, err
	}
	var fields struct{ Name, Version string }
	if err := json.Unmarshal(trimBOM(raw), &fields); err != nil {
		return Package{}, fmt.Errorf("parse %s: %w", filepath.Join(dir, "package.json"), err)
	}
	return Package{Name: fields.Name, Version: fields.Version, Dir: dir}, nil
}

// Dependencies returns the names that the package.json files from the root
// upwards list, sorted. Those of development count: a policy may well name a
// library that only a bundle needs.
func Dependencies(root string) []string {
	names := make([]string, 0, 16)
	for name := range listedDependencies(root) {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func listedDependencies(root string) map[string]bool {
	listed := map[string]bool{}
	for dir := root; ; dir = filepath.Dir(dir) {
		if raw, err := os.ReadFile(filepath.Join(dir, "package.json")); err == nil {
			var manifest struct {
				Dependencies, DevDependencies, PeerDependencies, OptionalDependencies map[string]json.RawMessage
			}
			// A malformed manifest lists nothing; npm is the one to complain about it.
			if json.Unmarshal(trimBOM(raw), &manifest) == nil {
				for _, group := range []map[string]json.RawMessage{manifest.Dependencies, manifest.DevDependencies, manifest.PeerDependencies, manifest.OptionalDependencies} {
					for name := range group {
						listed[name] = true
					}
				}
			}
		}
		if dir == filepath.Dir(dir) {
			return listed
		}
	}
}

// Installed returns the names of the packages in the root's node_modules, sorted;
// those that npm hides (a leading dot) are left out.
func Installed(root string) []string {
	var names []string
	top := filepath.Join(root, "node_modules")
	for _, entry := range readDir(top) {
		name := entry.Name()
		switch {
		case strings.HasPrefix(name, "."):
		case strings.HasPrefix(name, "@"):
			for _, scoped := range readDir(filepath.Join(top, name)) {
				names = append(names, name+"/"+scoped.Name())
			}
		default:
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func readDir(dir string) []fs.DirEntry {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return entries
}

// nearest returns the known package name that is closest to a mistyped one. Two
// edits in six letters is about what a typing error amounts to; more makes for
// silly suggestions.
func nearest(name, root string, listed map[string]bool) string {
	candidates := Installed(root)
	for dependency := range listed {
		candidates = append(candidates, dependency)
	}
	return Nearest(name, candidates)
}

// Nearest returns the candidate with the fewest edits from a word, or "" when none
// is near enough to be meant. Ties go to the first in sorted order.
func Nearest(word string, candidates []string) string {
	candidates = slices.Clone(candidates)
	slices.Sort(candidates)
	best, distance := "", max(1, len(word)/3)+1
	for _, candidate := range candidates {
		if candidate == word {
			continue
		}
		d := levenshtein.Distance(strings.ToLower(word), strings.ToLower(candidate), nil)
		if swapped(word, candidate) {
			d = 1
		}
		if d < distance {
			best, distance = candidate, d
		}
	}
	return best
}

// swapped reports whether two words differ by one exchange of neighbours, the
// commonest slip of the hand, which counts as two edits otherwise.
func swapped(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := 0; i+1 < len(a); i++ {
		if a[i] != b[i] {
			return a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
		}
	}
	return false
}

func trimBOM(raw []byte) []byte {
	return []byte(strings.TrimPrefix(string(raw), "\uFEFF"))
}
