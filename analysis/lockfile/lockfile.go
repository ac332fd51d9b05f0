// Package lockfile reads what npm's lockfile pins, of whatever lockfile version, so
// that two states of a project can be compared without installing either.
package lockfile

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy/resolve"
)

// Name is the lockfile's name in the folder of a project or of a workspace.
const Name = "package-lock.json"

// Package is one pinned package.
type Package struct {
	// Location is where it is installed, relative to the lockfile's folder:
	// "node_modules/a/node_modules/b".
	Location string `json:"-"`
	Version  string `json:"version"`
	// Integrity is the hash of its tarball, "" for what npm does not hash: links and
	// packages from git.
	Integrity string `json:"integrity"`
	// Source is where it comes from: the host of its tarball, or a repository. It is "" where
	// the lockfile does not say.
	Source string `json:"-"`
	// Target is where a link leads, for a package of a workspace.
	Target string `json:"-"`

	dependencies []string // names
}

// Lock is a parsed lockfile. A nil Lock pins nothing.
type Lock struct {
	packages map[string]Package // by location
}

type entry struct {
	Version              string
	Resolved             string
	Integrity            string
	Link                 bool
	Dependencies         json.RawMessage // a map; its values differ by the lockfile's version
	OptionalDependencies map[string]string
	PeerDependencies     map[string]string
	Requires             json.RawMessage // of version 1; npm also wrote `true`
}

// Parse reads a lockfile.
func Parse(text string) (*Lock, error) {
	var file struct {
		Packages     map[string]entry
		Dependencies map[string]entry
	}
	if err := json.Unmarshal([]byte(text), &file); err != nil {
		return nil, fmt.Errorf("read %s: %w", Name, err)
	}
	lock := &Lock{packages: map[string]Package{}}
	if file.Packages == nil { // version 1
		lock.nested("", file.Dependencies)
		return lock, nil
	}
	for location, e := range file.Packages {
		p := Package{Location: location, Version: e.Version, Integrity: e.Integrity}
		if e.Link {
			p.Target = e.Resolved
		} else {
			p.Source = source(e.Resolved)
		}
		p.dependencies = slices.Concat(keys(e.Dependencies), names(e.OptionalDependencies), names(e.PeerDependencies))
		lock.packages[location] = p
	}
	return lock, nil
}

// nested reads the tree of a lockfile of version 1.
func (l *Lock) nested(folder string, dependencies map[string]entry) {
	for name, e := range dependencies {
		location := path.Join(folder, "node_modules", name)
		l.packages[location] = Package{Location: location, Version: e.Version, Integrity: e.Integrity, Source: source(e.Resolved), dependencies: keys(e.Requires)}
		var inner map[string]entry
		if json.Unmarshal(e.Dependencies, &inner) == nil {
			l.nested(location, inner)
		}
	}
}

// source is what an address in a lockfile says of where a package comes from, without the
// package itself.
func source(resolved string) string {
	u, err := url.Parse(resolved)
	if err != nil || u.Host == "" {
		return ""
	}
	from := url.URL{Scheme: u.Scheme, Host: u.Host}
	if u.Scheme != "https" && u.Scheme != "http" {
		from.Path = u.Path
	}
	return from.String()
}

// keys returns the keys of a JSON object, and none of anything else.
func keys(raw json.RawMessage) []string {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		return nil
	}
	var out []string
	for key := range object {
		out = append(out, key)
	}
	return out
}

func names(m map[string]string) []string {
	var out []string
	for name := range m {
		out = append(out, name)
	}
	return out
}

// Find returns the package that a request from a folder leads to; the folder is
// relative to the lockfile's, "" for that one itself.
func (l *Lock) Find(folder, request string) (Package, bool) {
	name, _, ok := resolve.SplitRequest(request)
	if l == nil || !ok {
		return Package{}, false
	}
	for folder = path.Clean("/" + folder)[1:]; ; folder = parent(folder) {
		if path.Base(folder) != "node_modules" {
			if p, found := l.packages[path.Join(folder, "node_modules", name)]; found {
				if p.Target != "" {
					target := l.packages[p.Target]
					p.Version, p.dependencies = target.Version, target.dependencies
				}
				return p, true
			}
		}
		if folder == "" {
			return Package{}, false
		}
	}
}

func parent(folder string) string {
	if dir := path.Dir(folder); dir != "." {
		return dir
	}
	return ""
}

// Closure returns a package that a request leads to and all that it depends on,
// sorted by location: what its bundle may be made of. It is empty when the lockfile
// does not know the request.
func (l *Lock) Closure(folder, request string) []Package {
	first, ok := l.Find(folder, request)
	if !ok {
		return nil
	}
	found := map[string]Package{first.Location: first}
	for queue := []Package{first}; len(queue) > 0; queue = queue[1:] {
		p := queue[0]
		from := p.Location
		if p.Target != "" {
			from = p.Target
		}
		for _, name := range p.dependencies {
			d, ok := l.Find(from, name)
			if _, seen := found[d.Location]; ok && !seen {
				found[d.Location] = d
				queue = append(queue, d)
			}
		}
	}
	var all []Package
	for _, p := range found {
		p.dependencies = nil
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b Package) int { return cmp.Compare(a.Location, b.Location) })
	return all
}

// Same reports whether two closures pin the same bytes.
func Same(a, b []Package) bool {
	return slices.EqualFunc(a, b, func(p, q Package) bool {
		return p.Location == q.Location && p.Version == q.Version && p.Integrity == q.Integrity && p.Target == q.Target
	})
}

// Describe names a package for a person.
func (p Package) Describe() string {
	return strings.TrimSpace(strings.TrimPrefix(p.Location, "node_modules/") + " " + p.Version)
}
