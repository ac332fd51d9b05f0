package analysis

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/compat"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
)

// compatibility reads the compatibility manifest, which a project need not have, and
// returns what is wrong with it. Without an evaluator only its text is looked at.
func (sn *Snapshot) compatibility(ctx context.Context, p *policy.Policy, evaluator policy.Evaluator) ([]finding.Finding, error) {
	file, ignored := sn.choose(compat.ConfigFiles)
	unreadable := func(format string, args ...any) []finding.Finding {
		return []finding.Finding{{
			Code: finding.BadCompatManifest, Severity: finding.Error, File: policy.Relative(sn.root, file), Message: fmt.Sprintf(format, args...),
		}}
	}
	if _, open := sn.overlay[file]; !open {
		info, err := os.Stat(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil
		case err != nil:
			return unreadable("The compatibility manifest cannot be read: %v.", reason(err)), nil
		case !info.Mode().IsRegular():
			return unreadable("The compatibility manifest cannot be read: it is not a file."), nil
		case info.Size() > maxPolicyBytes:
			return unreadable("The compatibility manifest has %.1f MiB, and no more than %d MiB are read.", float64(info.Size())/(1<<20), maxPolicyBytes>>20), nil
		}
	}
	content, err := sn.Read(file)
	if err != nil {
		return unreadable("The compatibility manifest cannot be read: %v.", reason(err)), nil
	}
	m, err := compat.Read(ctx, policy.Source{Root: sn.root, File: file, Text: content, Overlay: sn.overlay, Ignored: ignored}, evaluator)
	if err != nil {
		return nil, err
	}
	if evaluator == nil {
		return m.Findings, nil
	}
	found, err := m.Check(ctx, sn.root, p)
	return append(m.Findings, found...), err
}
