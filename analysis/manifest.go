package analysis

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/resolve"
	"github.com/sandbox-lsp/sandbox-lsp/proxygen"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/bundle"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/quickjs"
)

// ManifestFile is where a build says what runs with which authority.
const ManifestFile = OutputFolder + "/sandbox-manifest.json"

// manifestVersion changes when readers of the manifest have to.
const manifestVersion = 1

type manifest struct {
	SchemaVersion int               `json:"schemaVersion"`
	Tool          toolInfo          `json:"tool"`
	Engine        engineInfo        `json:"engine"`
	Marshallers   string            `json:"marshallers,omitempty"` // path of the module that has them
	Libraries     []manifestLibrary `json:"libraries"`
}

type toolInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Bundler string `json:"bundler"`
}

type engineInfo struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

type manifestLibrary struct {
	Request     string               `json:"request"`
	Package     string               `json:"package"`
	Version     string               `json:"version"`
	Integrity   string               `json:"integrity,omitempty"`
	Permissions []manifestPermission `json:"permissions"`
	Limits      policy.Limits        `json:"limits"`
	Arguments   string               `json:"arguments"`
	Results     string               `json:"results"`
	Reads       string               `json:"reads"`
	Subpaths    bool                 `json:"subpaths"`
	Snapshot    bool                 `json:"snapshot"`
	Loads       bool                 `json:"loads"`
	Bundle      *manifestFile        `json:"bundle,omitempty"`
	Bytecode    *manifestFile        `json:"bytecode,omitempty"`
	Proxy       *manifestFile        `json:"proxy,omitempty"`
	// SubpathProxies are those of requests below the library's, sorted.
	SubpathProxies []manifestSubpath  `json:"subpathProxies,omitempty"`
	Workloads      []manifestWorkload `json:"workloads"`
}

type manifestPermission struct {
	Name string `json:"name"`
	// Allow is absent for the whole capability; an empty list allows nothing of it.
	Allow []string `json:"allow,omitzero"`
}

type manifestWorkload struct {
	Name    string        `json:"name"`
	Entry   string        `json:"entry"`
	Exports []string      `json:"exports"`
	Bundle  *manifestFile `json:"bundle,omitempty"`
	Proxy   *manifestFile `json:"proxy,omitempty"`
}

type manifestFile struct {
	Path   string `json:"path"` // relative to the project root
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// manifest renders the manifest of a build with the given files. kept are the entries
// of libraries that could not be bundled and are as the last build left them.
// Libraries stand in the order of their names, so that the policy's order does not
// show.
func (sn *Snapshot) manifest(result *Result, files []File, kept []manifestLibrary) ([]byte, error) {
	byPath := map[string]*manifestFile{}
	for _, f := range files {
		byPath[f.Path] = &manifestFile{f.Path, len(f.Content), hashOf(f.Content)}
	}
	marshallers, _ := sn.marshallers()
	m := manifest{
		SchemaVersion: manifestVersion,
		Tool:          toolInfo{"sandbox-lsp", sn.session.options.Version, bundle.EngineVersion},
		Engine:        engineInfo{"quickjs-ng", quickjs.Hash()},
		Marshallers:   marshallers,
		Libraries:     append([]manifestLibrary{}, kept...),
	}
	integrity := lockedIntegrity(sn.root)
	for _, l := range result.Libraries {
		if l.Resolved.Problem != nil || slices.ContainsFunc(kept, func(k manifestLibrary) bool { return k.Request == l.Policy.Name }) {
			continue
		}
		base := proxygen.FileName(l.Policy.Name)
		lib := manifestEntry(l)
		lib.Integrity = integrity(l.Resolved)
		lib.Bundle = byPath[path.Join(OutputFolder, base+".bundle.js")]
		lib.Bytecode = byPath[bytecodeFile(l.Policy.Name)]
		lib.Proxy = byPath[path.Join(ProxyFolder, base+"-proxy.js")]
		for _, s := range l.Subpaths {
			lib.SubpathProxies = append(lib.SubpathProxies, manifestSubpath{s.Request, byPath[subpathProxyFile(s.Request)]})
		}
		for _, w := range l.Workloads {
			if w.Bundle == nil {
				continue
			}
			entry := manifestWorkload{
				Name: w.Policy.Name, Entry: w.Policy.Entry, Exports: []string{},
				Bundle: byPath[path.Join(OutputFolder, w.Bundle.File)],
				Proxy:  byPath[path.Join(ProxyFolder, base+"."+w.Policy.Name+"-proxy.js")],
			}
			for _, e := range w.Policy.Exports {
				entry.Exports = append(entry.Exports, e.Text)
			}
			lib.Workloads = append(lib.Workloads, entry)
		}
		m.Libraries = append(m.Libraries, lib)
	}
	slices.SortFunc(m.Libraries, func(a, b manifestLibrary) int { return strings.Compare(a.Request, b.Request) })
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the manifest: %w", err)
	}
	return append(raw, '\n'), nil
}

// bytecodeFile is where a build puts a library's bytecode.
func bytecodeFile(request string) string {
	return path.Join(OutputFolder, proxygen.FileName(request)+".bytecode.bin")
}

// bytecode returns the packed bytecode of a library that has any.
func (l *Library) bytecode() []byte {
	if !l.Loaded() {
		return nil
	}
	return l.Load.Bytecode
}

func hashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// manifestEntry returns what the manifest says of a library, less its files.
func manifestEntry(l *Library) manifestLibrary {
	lib := manifestLibrary{
		Request: l.Policy.Name, Package: l.Resolved.Package.Name, Version: l.Resolved.Package.Version,
		Permissions: []manifestPermission{}, Limits: l.Policy.Limits,
		Arguments: l.Policy.Arguments, Results: l.Policy.Results, Reads: l.Policy.Reads,
		Subpaths: l.Policy.Subpaths, Snapshot: l.Policy.Snapshot, Loads: l.Loaded(),
		Workloads: []manifestWorkload{},
	}
	for _, p := range l.Policy.Permissions {
		lib.Permissions = append(lib.Permissions, manifestPermission{p.Name, p.Allow})
	}
	return lib
}

// sameAuthority reports whether an entry of an earlier manifest says of its library
// what the policy says now, whichever version of the package that was.
func sameAuthority(before, now manifestLibrary) bool {
	for _, l := range []*manifestLibrary{&before, &now} {
		l.Package, l.Version, l.Integrity, l.Loads, l.Bundle, l.Bytecode, l.Proxy, l.SubpathProxies, l.Workloads = "", "", "", false, nil, nil, nil, nil, nil
	}
	a, errA := json.Marshal(before)
	b, errB := json.Marshal(now)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// inPlace reports whether the files of an entry are those that a build writes for its
// library: a manifest is a file that anybody may have edited.
func (l manifestLibrary) inPlace() bool {
	base := proxygen.FileName(l.Request)
	is := func(f *manifestFile, want string) bool { return f == nil || f.Path == want }
	ok := is(l.Bundle, path.Join(OutputFolder, base+".bundle.js")) && is(l.Bytecode, bytecodeFile(l.Request)) && is(l.Proxy, path.Join(ProxyFolder, base+"-proxy.js"))
	for _, s := range l.SubpathProxies {
		ok = ok && is(s.Proxy, subpathProxyFile(s.Request))
	}
	for _, w := range l.Workloads {
		ok = ok && is(w.Bundle, path.Join(OutputFolder, base+"."+w.Name+".workload.bundle.js")) && is(w.Proxy, path.Join(ProxyFolder, base+"."+w.Name+"-proxy.js"))
	}
	return ok
}

// files lists the files of an entry. Those that stand beside a listed one, maps and
// declarations, have no hash.
func (l manifestLibrary) files() []manifestFile {
	var files []manifestFile
	add := func(f *manifestFile, beside ...string) {
		if f == nil {
			return
		}
		files = append(files, *f)
		for _, extension := range beside {
			files = append(files, manifestFile{Path: strings.TrimSuffix(f.Path, ".js") + extension})
		}
	}
	add(l.Bundle, ".js.map")
	add(l.Bytecode)
	add(l.Proxy, ".d.ts", ".js.map")
	for _, s := range l.SubpathProxies {
		add(s.Proxy, ".d.ts", ".js.map")
	}
	for _, w := range l.Workloads {
		add(w.Bundle, ".js.map")
		add(w.Proxy, ".d.ts", ".js.map")
	}
	return files
}

// files lists what the build wrote that made the manifest.
func (m manifest) files() []manifestFile {
	var files []manifestFile
	for _, l := range m.Libraries {
		files = append(files, l.files()...)
	}
	return files
}

// lockedIntegrity returns a look-up of the integrity that npm's lockfile pins for a
// package, or "" where there is none.
func lockedIntegrity(root string) func(resolve.Result) string {
	var lock struct {
		Packages map[string]struct{ Integrity string }
	}
	dir := root
	for {
		raw, err := os.ReadFile(filepath.Join(dir, "package-lock.json"))
		if err == nil {
			if json.Unmarshal(raw, &lock) != nil {
				lock.Packages = nil // npm complains about it; the manifest goes without
			}
			break
		}
		if dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return func(r resolve.Result) string {
		rel, err := filepath.Rel(dir, r.Package.Dir)
		if err != nil {
			return ""
		}
		return lock.Packages[filepath.ToSlash(rel)].Integrity
	}
}
