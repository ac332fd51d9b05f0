package analysis

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/analysis/authoritydiff"
	"github.com/sandbox-lsp/sandbox-lsp/analysis/lockfile"
	"github.com/sandbox-lsp/sandbox-lsp/analysis/revision"
	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
)

// PolicyError says that one of the policies of a comparison cannot be read whole, so
// that what it takes away is not known.
type PolicyError struct{ message string }

func (e *PolicyError) Error() string { return e.message }

// Diff compares what the project's libraries may do now with what they could do at a
// git revision. A revision that cannot be read is a *revision.Error, a policy that
// cannot be read a *PolicyError.
func (sn *Snapshot) Diff(ctx context.Context, rev string) (*authoritydiff.Report, error) {
	now, err := sn.side(ctx)
	if err != nil {
		return nil, err
	}
	return sn.diff(ctx, rev, now)
}

func (sn *Snapshot) diff(ctx context.Context, rev string, now authoritydiff.Side) (*authoritydiff.Report, error) {
	r, err := revision.Open(ctx, sn.root, rev)
	if err != nil {
		return nil, err
	}
	then := &past{sn: sn, revision: r, texts: map[string]string{}}
	before, err := then.side(ctx)
	if err != nil {
		return nil, err
	}
	if now.Guest, err = sn.session.guestGlobals(ctx); err != nil {
		return nil, err
	}
	report := sn.compare(r, before, now)
	report.Notes = slices.Concat(then.notes, report.Notes)
	return report, nil
}

// compare compares what a revision had with what there is now; now lacks its lockfile, and has what it knows of the guest.
func (sn *Snapshot) compare(r *revision.Revision, before, now authoritydiff.Side) *authoritydiff.Report {
	report := &authoritydiff.Report{Revision: r.Name, Commit: r.Commit, File: policy.Relative(sn.root, sn.PolicyFile())}
	now.Lock, now.Folder = locked(sn.root, r, func(path string) (string, bool, error) {
		content, err := sn.Read(path)
		return content, err == nil, nil // one that cannot be read pins nothing
	}, func(error) {
		report.Notes = append(report.Notes, lockfile.Name+" cannot be read, so versions are not compared.")
	})
	if now.Policy != nil {
		report.Mapper = now.Policy.Mapper
	}
	report.Libraries = authoritydiff.Compare(before, now, r.Name)
	return report
}

// side reads the present policy.
func (sn *Snapshot) side(ctx context.Context) (authoritydiff.Side, error) {
	p, unreadable, err := sn.policy(ctx, sn.session.evaluator)
	if err != nil {
		return authoritydiff.Side{}, err
	}
	file := policy.Relative(sn.root, sn.PolicyFile())
	if p == nil {
		if _, err := os.Lstat(sn.PolicyFile()); errors.Is(err, fs.ErrNotExist) {
			return authoritydiff.Side{}, nil
		}
		return authoritydiff.Side{}, &PolicyError{fmt.Sprintf("%s: %s", file, unreadable.Message)}
	}
	if err := whole(p, file); err != nil {
		return authoritydiff.Side{}, err
	}
	return authoritydiff.Side{Policy: p}, nil
}

// whole refuses a policy of which a part is not known.
func whole(p *policy.Policy, name string) error {
	if p.Complete {
		return nil
	}
	why := "a part of it cannot be told"
	for _, f := range p.Findings {
		if f.Code == finding.PolicyUnreadable && f.Severity == finding.Error {
			why = fmt.Sprintf("%s:%d: %s", f.File, f.Range.Start.Line+1, f.Message)
			break
		}
	}
	return &PolicyError{fmt.Sprintf("%s cannot be read whole, and what is missing may be what matters, so nothing was compared: %s", name, why)}
}

// locked finds the lockfile that governs a project: the nearest one from its folder
// up to the top of the repository.
func locked(root string, r *revision.Revision, read func(path string) (string, bool, error), broken func(error)) (lock *lockfile.Lock, folder string) {
	for dir := root; r.Contains(filepath.Join(dir, lockfile.Name)); dir = filepath.Dir(dir) {
		content, ok, err := read(filepath.Join(dir, lockfile.Name))
		if err == nil && ok {
			lock, err = lockfile.Parse(content)
		}
		if err != nil {
			broken(err)
			return nil, ""
		}
		if ok {
			return lock, policy.Relative(dir, root)
		}
	}
	return nil, ""
}

// past reads the project as it was at a revision.
type past struct {
	sn       *Snapshot
	revision *revision.Revision
	texts    map[string]string // by absolute path
	notes    []string
}

func (p *past) side(ctx context.Context) (authoritydiff.Side, error) {
	var side authoritydiff.Side
	err := p.policy(ctx, &side)
	if err != nil {
		return side, err
	}
	side.Lock, side.Folder = locked(p.sn.root, p.revision, func(path string) (string, bool, error) {
		return p.revision.Read(ctx, path)
	}, func(broken error) {
		p.notes = append(p.notes, fmt.Sprintf("%s at %s cannot be read, so versions are not compared.", lockfile.Name, p.revision.Name))
	})
	return side, ctx.Err()
}

// policy reads the policy of then. It is evaluated by the same evaluator as the
// present one, with the helpers of then in the place of those on disk.
func (p *past) policy(ctx context.Context, side *authoritydiff.Side) error {
	var failed error
	name, _ := policy.ChooseFile(policy.ConfigFiles, func(name string) bool {
		path := filepath.Join(p.sn.root, filepath.FromSlash(name))
		content, ok, err := p.revision.Read(ctx, path)
		if ok {
			p.texts[path] = content
		}
		failed = errors.Join(failed, err)
		return ok
	})
	if failed != nil {
		return failed
	}
	file := filepath.Join(p.sn.root, filepath.FromSlash(name))
	content, existed := p.texts[file]
	if !existed {
		return nil
	}
	if err := p.helpers(ctx, file, content); err != nil {
		return err
	}
	read, err := policy.Read(ctx, policy.Source{Root: p.sn.root, File: file, Text: content, Overlay: p.texts}, p.sn.session.evaluator)
	if err != nil {
		return err
	}
	side.Policy = read
	return whole(read, name+" at "+p.revision.Name)
}

// maxHelpers bounds how many files a policy of then may be made of.
const maxHelpers = 1000

// completions are what an import may leave out, in the order in which they are tried.
var completions = []string{"", ".js", ".mjs", ".ts", ".tsx", ".jsx", ".json", "/index.ts", "/index.js", "/index.json"}

// helpers collects the files that a policy is made of, from git. One that was not
// there is an error: the file of that name on disk now would say something else.
func (p *past) helpers(ctx context.Context, file, content string) error {
	for _, i := range syntax.Parse(file, content).Imports() {
		if i.Kind == syntax.ImportTypeOnly || i.Specifier == policy.RuntimePackage {
			continue
		}
		if !strings.HasPrefix(i.Specifier, ".") && !filepath.IsAbs(filepath.FromSlash(i.Specifier)) {
			note := fmt.Sprintf("The policy at %s imports the package %s; what is installed now stood in for what was installed then.", p.revision.Name, i.Specifier)
			if !slices.Contains(p.notes, note) {
				p.notes = append(p.notes, note)
			}
			continue
		}
		path := filepath.FromSlash(i.Specifier)
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(file), path)
		}
		helper, text, err := p.complete(ctx, path)
		if err != nil {
			return err
		}
		switch {
		case helper == "":
			return &PolicyError{fmt.Sprintf("%s at %s imports %q, which is not in the repository at that revision, so what the policy said then is not known", policy.Relative(p.sn.root, file), p.revision.Name, i.Specifier)}
		case p.texts[helper] != "":
			continue
		case len(p.texts) > maxHelpers:
			return &PolicyError{fmt.Sprintf("the policy at %s is made of more than %d files", p.revision.Name, maxHelpers)}
		}
		p.texts[helper] = text
		if err := p.helpers(ctx, helper, text); err != nil {
			return err
		}
	}
	return nil
}

// complete finds the file of then that an import means.
func (p *past) complete(ctx context.Context, path string) (file, content string, err error) {
	for _, rest := range completions {
		file = path + filepath.FromSlash(rest)
		if content, ok := p.texts[file]; ok {
			return file, content, nil
		}
		content, ok, err := p.revision.Read(ctx, file)
		if ok || err != nil {
			return file, content, err
		}
	}
	return "", "", nil
}
