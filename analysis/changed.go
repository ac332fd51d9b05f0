package analysis

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/analysis/authoritydiff"
	"github.com/sandbox-lsp/sandbox-lsp/analysis/revision"
	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
)

// Changes tells which findings a change since a git revision may have to do with:
// those in files that changed, and those of libraries whose entry in the policy, or
// whose packages in the lockfile, changed. Of the policy itself only the entries that
// changed count.
type Changes struct {
	sn        *Snapshot
	revision  *revision.Revision
	libraries map[string]bool // those that changed
	all       bool            // what the libraries were is not known
	files     map[string]bool // whether a file changed, by absolute path
}

// Since finds out what changed since a revision. p is the present policy as a check
// returned it, which may be nil. A revision that cannot be read is a
// *revision.Error.
func (sn *Snapshot) Since(ctx context.Context, rev string, p *policy.Policy) (*Changes, error) {
	r, err := revision.Open(ctx, sn.root, rev)
	if err != nil {
		return nil, err
	}
	c := &Changes{sn: sn, revision: r, libraries: map[string]bool{}, files: map[string]bool{}}
	report, err := sn.diff(ctx, rev, authoritydiff.Side{Policy: p})
	var unread *PolicyError
	switch {
	case errors.As(err, &unread):
		c.all = true
		return c, nil
	case err != nil:
		return nil, err
	}
	for _, l := range report.Libraries {
		c.libraries[l.Name] = true
	}
	return c, nil
}

// Of returns those of the findings that belong to the change. A policy that cannot be
// read is always among them: nobody knows what else it hides.
func (c *Changes) Of(ctx context.Context, findings []finding.Finding) ([]finding.Finding, error) {
	var kept []finding.Finding
	for _, f := range findings {
		belongs, err := c.belongs(ctx, f)
		if err != nil {
			return nil, err
		}
		if belongs {
			kept = append(kept, f)
		}
	}
	return kept, nil
}

func (c *Changes) belongs(ctx context.Context, f finding.Finding) (bool, error) {
	library := f.Data["library"]
	switch {
	case f.Code == finding.PolicyUnreadable || f.Code == finding.PolicyNotAnObject:
		return true, nil
	case library != "" && (c.all || c.libraries[library]):
		return true, nil
	case library != "" && slices.Contains(policy.ConfigFiles, f.File):
		return false, nil // the policy changed at most elsewhere
	case strings.Contains("/"+f.File, "/node_modules/"):
		return library == "", nil // the lockfile has been asked
	}
	return c.changed(ctx, f.File)
}

// changed reports whether a file has another text than at the revision. Line ends do
// not count, since checkouts differ in them.
func (c *Changes) changed(ctx context.Context, name string) (bool, error) {
	path := filepath.FromSlash(name)
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.sn.root, path)
	}
	if changed, known := c.files[path]; known {
		return changed, nil
	}
	before, existed, err := c.revision.Read(ctx, path)
	if err != nil {
		return false, err
	}
	now, readErr := c.sn.Read(path)
	changed := existed != (readErr == nil) || unixLines(before) != unixLines(now)
	c.files[path] = changed
	return changed, nil
}

func unixLines(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
