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

// compatibility returns what is wrong with the compatibility manifest, which a project
// need not have. Without an evaluator only its text is looked at.
func (sn *Snapshot) compatibility(ctx context.Context, p *policy.Policy, evaluator policy.Evaluator) ([]finding.Finding, error) {
	m, unreadable, err := sn.compatManifest(ctx, evaluator)
	switch {
	case err != nil:
		return nil, err
	case unreadable != nil:
		return []finding.Finding{*unreadable}, nil
	case m == nil:
		return nil, nil
	case evaluator == nil:
		return m.Findings, nil
	}
	found, err := m.Check(ctx, sn.root, p)
	return append(m.Findings, found...), err
}

// compatManifest reads the compatibility manifest: nil when there is none, or, with a
// finding, when it cannot be read.
func (sn *Snapshot) compatManifest(ctx context.Context, evaluator policy.Evaluator) (*compat.Manifest, *finding.Finding, error) {
	file, ignored := sn.choose(compat.ConfigFiles)
	unreadable := func(format string, args ...any) *finding.Finding {
		return &finding.Finding{
			Code: finding.BadCompatManifest, Severity: finding.Error, File: policy.Relative(sn.root, file), Message: fmt.Sprintf(format, args...),
		}
	}
	if _, open := sn.overlay[file]; !open {
		info, err := os.Stat(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil, nil
		case err != nil:
			return nil, unreadable("The compatibility manifest cannot be read: %v.", reason(err)), nil
		case !info.Mode().IsRegular():
			return nil, unreadable("The compatibility manifest cannot be read: it is not a file."), nil
		case info.Size() > maxPolicyBytes:
			return nil, unreadable("The compatibility manifest has %.1f MiB, and no more than %d MiB are read.", float64(info.Size())/(1<<20), maxPolicyBytes>>20), nil
		}
	}
	content, err := sn.Read(file)
	if err != nil {
		return nil, unreadable("The compatibility manifest cannot be read: %v.", reason(err)), nil
	}
	m, err := compat.Read(ctx, policy.Source{Root: sn.root, File: file, Text: content, Overlay: sn.overlay, Ignored: ignored}, evaluator)
	return m, nil, err
}
