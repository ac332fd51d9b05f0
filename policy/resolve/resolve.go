// Package resolve finds the package that a policy key means, as Node and browser
// bundlers find it from the project root: exports maps and conditions, the
// browser field, scoped names, symlinked stores, workspaces.
//
// The resolver is esbuild's, so that what a finding says about a package is what
// the bundle will contain.
package resolve

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

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
	BadManifest                         // installed, but not whole: a package.json that cannot be read, a link that leads nowhere
	SharesFiles                         // resolves, but its build files would be another request's; set by the caller, Detail names the other
)

// Problem explains a failed resolution.
type Problem struct {
	Kind ProblemKind
	// Detail says more about NoEntry and BadManifest, in words that may follow a colon.
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
	s := survey(real)
	entries, details, err := entryPoints(ctx, s, requests)
	if err != nil {
		return nil, err
	}
	results := make([]Result, len(requests))
	for i, request := range requests {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		results[i] = s.describe(request, entries[i], details[i])
	}
	return results, nil
}

// describe completes the resolver's answer for one request.
func (s *surroundings) describe(request, entry, detail string) Result {
	r := Result{Request: request, Entry: entry}
	name, subpath, ok := SplitRequest(request)
	switch {
	case nodecap.IsBuiltin(request) && (entry == "" || !s.listed[request]):
		r.Problem = &Problem{Kind: Builtin}
		r.Entry = ""
		return r
	case !ok:
		r.Problem = &Problem{Kind: NotARequest}
		r.Entry = ""
		return r
	}
	r.Listed = s.listed[name]
	dir, installed, err := s.installedAt(name)
	if err != nil {
		r.Problem = &Problem{Kind: BadManifest, Detail: err.Error()}
		return r
	}
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
		r.Problem = &Problem{Kind: NoEntry, Detail: "its package.json leads out of the package, to " + slashed(s.root, entry)}
	case entry != "":
		if !installed { // a package that refers to itself, or a path mapping
			if dir, ok := owner(entry); ok {
				r.Package, _ = readPackage(dir)
			}
		}
	case installed:
		r.Problem = &Problem{Kind: NoEntry, Detail: cmp.Or(detail, missingEntry(r.Package.Dir, subpath))}
	case r.Listed:
		r.Problem = &Problem{Kind: NotInstalled}
	default:
		r.Problem = &Problem{Kind: Unknown, Suggestion: s.nearest(name)}
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
func entryPoints(ctx context.Context, s *surroundings, requests []string) (entries, details []string, err error) {
	entries, details = make([]string, len(requests)), make([]string, len(requests))
	plugin := api.Plugin{Name: "resolve", Setup: func(build api.PluginBuild) {
		build.OnStart(func() (api.OnStartResult, error) {
			for i, request := range requests {
				if ctx.Err() != nil {
					break
				}
				if name, _, ok := SplitRequest(request); !ok || !s.mayResolve(name) {
					continue
				}
				got := build.Resolve(request, api.ResolveOptions{ResolveDir: s.root, Kind: api.ResolveJSImportStatement})
				if len(got.Errors) > 0 {
					details[i] = sentence(got.Errors[0], got.Warnings)
				} else if got.Namespace == "file" {
					entries[i] = got.Path
				}
			}
			return api.OnStartResult{}, nil
		})
	}}
	build := api.Build(api.BuildOptions{
		Stdin:         &api.StdinOptions{Contents: "", ResolveDir: s.root},
		AbsWorkingDir: s.root,
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
		return nil, nil, fmt.Errorf("resolve packages from %s: %s", s.root, build.Errors[0].Text)
	}
	return entries, details, nil
}

// sentence returns what the resolver said about why it failed, or "" when it said no
// more than that. Its notes say why, and so do its warnings about a package.json;
// those that advise on esbuild's own options are of no use to the author of a policy.
func sentence(failed api.Message, warnings []api.Message) string {
	for _, note := range failed.Notes {
		if !strings.Contains(note.Text, "mark the path") && !strings.Contains(note.Text, "external") {
			return note.Text
		}
	}
	if !strings.HasPrefix(failed.Text, "Could not resolve") {
		return located(failed)
	}
	for _, w := range warnings {
		if w.Location != nil && path.Base(filepath.ToSlash(w.Location.File)) == "package.json" {
			return located(w)
		}
	}
	return ""
}

// located puts the place of a message before it, as file:line:column.
func located(m api.Message) string {
	if m.Location == nil {
		return m.Text
	}
	return fmt.Sprintf("%s:%d:%d: %s", filepath.ToSlash(m.Location.File), m.Location.Line, m.Location.Column+1, m.Text)
}

// missingEntry says why a package has nothing to import, from its package.json.
func missingEntry(dir, subpath string) string {
	fields, err := readManifest(filepath.Join(dir, "package.json"))
	if err != nil {
		return ""
	}
	var main string
	switch {
	case fields["exports"] != nil:
		return "the exports of its package.json name no file for it that exists"
	case subpath != "":
		return "it has no file " + subpath
	case json.Unmarshal(fields["main"], &main) == nil && main != "":
		return fmt.Sprintf("its package.json names %q as its main file, which is not there", main)
	default:
		return "it has no index.js, and its package.json names no main file"
	}
}

// slashed returns a path for people: relative to the root, on whichever machine.
func slashed(root, file string) string {
	if rel, err := filepath.Rel(root, file); err == nil {
		file = rel
	}
	return filepath.ToSlash(file)
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

// readPackage reads what a package says of itself. Names and versions that are no
// strings count as missing, as they do in Node.
func readPackage(dir string) (Package, error) {
	fields, err := readManifest(filepath.Join(dir, "package.json"))
	if err != nil {
		return Package{}, err
	}
	p := Package{Dir: dir}
	_ = json.Unmarshal(fields["name"], &p.Name)
	_ = json.Unmarshal(fields["version"], &p.Version)
	return p, nil
}

// readManifest reads the fields of a package.json. Its errors are for people who look
// at the package: they say what is wrong with the file and not where the program
// stood.
func readManifest(file string) (map[string]json.RawMessage, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		var failed *fs.PathError
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, errors.New("it has no package.json")
		case errors.As(err, &failed):
			err = failed.Err
		}
		return nil, fmt.Errorf("its package.json cannot be read: %w", err)
	}
	raw = trimBOM(raw)
	var fields map[string]json.RawMessage
	err = json.Unmarshal(raw, &fields)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		before := raw[:min(int(syntax.Offset), len(raw))]
		return nil, fmt.Errorf("line %d of its package.json is not valid JSON: %w", 1+bytes.Count(before, []byte("\n")), err)
	case err != nil || fields == nil:
		return nil, errors.New("its package.json is not a JSON object")
	}
	return fields, nil
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

// Shipped returns the names that the nearest package.json, from the root upwards,
// lists as dependencies of the application itself and not of its development, sorted.
func Shipped(root string) []string {
	for dir := root; ; dir = filepath.Dir(dir) {
		if fields, err := readManifest(filepath.Join(dir, "package.json")); err == nil {
			return slices.Sorted(maps.Keys(dependencies(fields, "dependencies", "optionalDependencies")))
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

// dependencies returns what groups of a package.json list.
func dependencies(fields map[string]json.RawMessage, groups ...string) map[string]bool {
	listed := map[string]bool{}
	for _, group := range groups {
		var versions map[string]json.RawMessage
		_ = json.Unmarshal(fields[group], &versions)
		for name := range versions {
			listed[name] = true
		}
	}
	return listed
}

func listedDependencies(root string) map[string]bool {
	listed := map[string]bool{}
	for dir := root; ; dir = filepath.Dir(dir) {
		// A malformed manifest lists nothing; npm is the one to complain about it.
		fields, _ := readManifest(filepath.Join(dir, "package.json"))
		maps.Copy(listed, dependencies(fields, "dependencies", "devDependencies", "peerDependencies", "optionalDependencies"))
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

func trimBOM(raw []byte) []byte {
	return bytes.TrimPrefix(raw, []byte("\uFEFF"))
}
