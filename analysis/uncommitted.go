package analysis

import (
	"context"
	"errors"

	"github.com/sandbox-lsp/sandbox-lsp/analysis/authoritydiff"
	"github.com/sandbox-lsp/sandbox-lsp/analysis/revision"
	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
)

// committed is what the last commit of a project's repository says of its libraries.
type committed struct {
	commit string
	side   authoritydiff.Side // without a policy when there was none, or none that can be read
}

// uncommitted returns a hint for everything that the policy gives to a library and
// that it did not give in the last commit, and a warning at each library of which the
// lockfile pins other bytes under the same version than it did then. A project in no repository gets none, nor
// one whose policy is not committed or, now or then, cannot be read whole.
//
// The hints are no faults, which a comment might accept, but say what is about to be
// committed: the commit takes them away.
func (sn *Snapshot) uncommitted(ctx context.Context, p *policy.Policy) ([]finding.Finding, error) {
	if !sn.session.options.Uncommitted || !p.Complete {
		return nil, nil
	}
	r, err := revision.Open(ctx, sn.root, "HEAD")
	if err != nil {
		return nil, sn.withoutGit(ctx, err)
	}
	before, err := sn.lastCommitted(ctx, r)
	if err != nil || before.Policy == nil {
		return nil, sn.withoutGit(ctx, err)
	}
	guest, err := sn.session.guestGlobals(ctx)
	if err != nil {
		return nil, err
	}
	hints := sn.compare(r, before, authoritydiff.Side{Policy: p, Guest: guest}).Findings()
	for i, hint := range hints {
		hints[i].Severity = finding.Hint
		if hint.Severity == finding.Error { // other bytes under the same version, which no ordinary change gives
			hints[i].Severity = finding.Warning
		}
	}
	return hints, nil
}

// lastCommitted reads what the last commit says, once for each commit.
func (sn *Snapshot) lastCommitted(ctx context.Context, r *revision.Revision) (authoritydiff.Side, error) {
	s := sn.session
	s.mu.Lock()
	known := s.committed[sn.root]
	s.mu.Unlock()
	if known != nil && known.commit == r.Commit {
		return known.side, nil
	}
	side, err := (&past{sn: sn, revision: r, texts: map[string]string{}}).side(ctx)
	var unread *PolicyError
	switch {
	case errors.As(err, &unread):
		side = authoritydiff.Side{} // it was so then and stays so
	case err != nil:
		return authoritydiff.Side{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.committed[sn.root] = &committed{r.Commit, side}
	return side, nil
}

// withoutGit drops an error that git made: a check goes on without it, unless the
// context ended.
func (sn *Snapshot) withoutGit(ctx context.Context, err error) error {
	var none *revision.Error
	if err != nil && ctx.Err() == nil && !errors.As(err, &none) {
		sn.session.options.Logger.Warn("the policy is not compared with the last commit", "root", sn.root, "error", err)
	}
	return ctx.Err()
}
