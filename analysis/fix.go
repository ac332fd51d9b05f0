package analysis

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
)

// maxRounds bounds how often Fix checks again: a fix may bring another to light, and
// two that undo each other must not go on for ever.
const maxRounds = 10

// Fixed is what Fix did.
type Fixed struct {
	*Result          // of the last check, with what is left
	Made    int      // fixes
	Files   []string // changed or created, as findings name them, sorted
}

// Fix makes the preferred fixes of all findings, checks again, and goes on until
// there is nothing left to fix. No preferred fix lets a library do more than before.
// Files are written as a build writes them: inside the root, one step each.
func (s *Session) Fix(ctx context.Context, root string, progress Progress) (*Fixed, error) {
	fixed := &Fixed{}
	for range maxRounds {
		sn := s.Snapshot(root, nil)
		result, err := sn.Check(ctx, progress)
		if err != nil {
			return nil, err
		}
		fixed.Result = result
		merged, skipped := finding.Merge(finding.Preferred(result.Findings))
		files, err := sn.edited(merged)
		if err != nil {
			return nil, err
		}
		if len(files) == 0 {
			return fixed, nil
		}
		if err := sn.writeFixes(ctx, files); err != nil {
			return nil, err
		}
		fixed.Made += len(finding.Preferred(result.Findings)) - skipped
		for _, f := range files {
			if !slices.Contains(fixed.Files, f.Path) {
				fixed.Files = append(fixed.Files, f.Path)
			}
		}
		slices.Sort(fixed.Files)
	}
	return fixed, nil
}

// edited returns the files that a fix changes or creates, with their new texts. A
// file that the fix leaves as it was is not among them.
func (sn *Snapshot) edited(fix finding.Fix) ([]File, error) {
	texts := map[string]string{}
	for _, name := range touched(fix) {
		if policy.Outside(name) {
			return nil, fmt.Errorf("fix %s: it lies outside of the project", name)
		}
	}
	for _, e := range fix.Edits {
		if _, done := texts[e.File]; done {
			continue
		}
		content, err := sn.Read(sn.absolute(e.File))
		if err != nil {
			return nil, fmt.Errorf("fix %s: %w", e.File, err)
		}
		if changed := finding.Apply(content, e.File, fix.Edits); changed != content {
			texts[e.File] = changed
		}
	}
	for _, f := range fix.Creates {
		if _, err := os.Lstat(sn.absolute(f.File)); err == nil {
			return nil, fmt.Errorf("create %s: %w", f.File, fs.ErrExist)
		}
		texts[f.File] = f.Text
	}
	var files []File
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		files = append(files, File{Path: name, Content: []byte(texts[name])})
	}
	return files, nil
}

// touched returns the files that a fix changes or creates.
func touched(fix finding.Fix) []string {
	var names []string
	for _, e := range fix.Edits {
		names = append(names, e.File)
	}
	for _, f := range fix.Creates {
		names = append(names, f.File)
	}
	return names
}

func (sn *Snapshot) writeFixes(ctx context.Context, files []File) error {
	out, err := openOutput(sn.root)
	if err != nil {
		return err
	}
	defer out.close()
	return out.replace(ctx, files)
}
