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
	Proxy       *manifestFile        `json:"proxy,omitempty"`
	Workloads   []manifestWorkload   `json:"workloads"`
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

// manifest renders the manifest of a build with the given files. Libraries stand in
// the order of their names, so that the policy's order does not show.
func (sn *Snapshot) manifest(result *Result, files []File) ([]byte, error) {
	byPath := map[string]*manifestFile{}
	for _, f := range files {
		sum := sha256.Sum256(f.Content)
		byPath[f.Path] = &manifestFile{f.Path, len(f.Content), hex.EncodeToString(sum[:])}
	}
	m := manifest{
		SchemaVersion: manifestVersion,
		Tool:          toolInfo{"sandbox-lsp", sn.session.options.Version, bundle.EngineVersion},
		Engine:        engineInfo{"quickjs-ng", quickjs.Hash()},
		Libraries:     []manifestLibrary{},
	}
	integrity := lockedIntegrity(sn.root)
	for _, l := range result.Libraries {
		if l.Resolved.Problem != nil {
			continue
		}
		base := proxygen.FileName(l.Policy.Name)
		lib := manifestLibrary{
			Request: l.Policy.Name, Package: l.Resolved.Package.Name, Version: l.Resolved.Package.Version,
			Integrity: integrity(l.Resolved), Permissions: []manifestPermission{}, Limits: l.Policy.Limits,
			Arguments: l.Policy.Arguments, Results: l.Policy.Results, Reads: l.Policy.Reads,
			Subpaths: l.Policy.Subpaths, Snapshot: l.Policy.Snapshot, Loads: l.Loaded(),
			Bundle:    byPath[path.Join(OutputFolder, base+".bundle.js")],
			Proxy:     byPath[path.Join(ProxyFolder, base+"-proxy.js")],
			Workloads: []manifestWorkload{},
		}
		for _, p := range l.Policy.Permissions {
			lib.Permissions = append(lib.Permissions, manifestPermission{p.Name, p.Allow})
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
	slices.SortFunc(m.Libraries, func(a, b manifestLibrary) int { return bytes.Compare([]byte(a.Request), []byte(b.Request)) })
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the manifest: %w", err)
	}
	return append(raw, '\n'), nil
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
