package analysis

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/sandbox-lsp/sandbox-lsp/analysis/cache"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/quickjs"
)

// integrity reports SBX045: files of the last build that are not what its manifest
// says. A project that was never built has nothing to compare.
func (sn *Snapshot) integrity(result *Result, reporters []*reporter) {
	raw, err := os.ReadFile(filepath.Join(sn.root, filepath.FromSlash(ManifestFile)))
	if err != nil {
		return
	}
	var built manifest
	if json.Unmarshal(raw, &built) != nil || built.SchemaVersion != manifestVersion {
		return // the next build writes a new one
	}
	entries := map[string]manifestLibrary{}
	for _, entry := range built.Libraries {
		entries[entry.Request] = entry
	}
	for i, l := range result.Libraries {
		r := reporters[i]
		entry, ok := entries[l.Policy.Name]
		if !ok {
			continue
		}
		if built.Engine.SHA256 != quickjs.Hash() {
			r.at(finding.HashMismatch, finding.Warning, r.lib.KeySpan, "The sandbox of %q was built for another version of the QuickJS engine than this one. Run sandbox-lsp build.", l.Policy.Name)
		}
		for _, f := range entry.files() {
			if f.SHA256 != "" {
				r.unchanged(f)
			}
		}
	}
}

// unchanged compares a built file with its hash in the manifest.
func (r *reporter) unchanged(f manifestFile) {
	switch hash := r.sn.session.files.Hash(filepath.Join(r.sn.root, filepath.FromSlash(f.Path))); {
	case hash.String() == f.SHA256:
		return
	case hash == cache.Hash{}:
		r.at(finding.HashMismatch, finding.Error, r.lib.KeySpan, "%s, which the last build wrote, is missing or cannot be read, so %q has no sandbox to run in. Run sandbox-lsp build.", f.Path, r.lib.Name).Data["path"] = f.Path
	default:
		found := r.at(finding.HashMismatch, finding.Error, r.lib.KeySpan, "%s is not what the last build wrote: its hash differs from the one in %s. Something changed it since; find out what, then run sandbox-lsp build.", f.Path, ManifestFile)
		found.Data["path"] = f.Path
		found.Related = append(found.Related, finding.Related{Message: "the changed file", File: f.Path, Range: text.Range{}})
	}
}
