package analysis

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/edit"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/hostglobals"
	"github.com/sandbox-lsp/sandbox-lsp/policy/resolve"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax/authority"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// Proposal is a policy that Propose wrote for libraries which had none.
type Proposal struct {
	File    string // relative to the root, slash-separated
	Text    string // the whole file
	Added   []Proposed
	Skipped []Skipped
}

// Proposed is one library of a proposal.
type Proposed struct {
	Library     string
	Permissions []string
	Notes       []string // what the permissions do not say, a sentence each
}

// Skipped is a library that was asked for and that the proposal leaves out.
type Skipped struct {
	Library string
	Why     string
}

// newPolicy is what a policy starts from.
const newPolicy = `// What each library may use of the host. An empty list grants nothing.
export default {
};
`

const newPolicyWithTypes = `import { defineConfig } from "` + policy.RuntimePackage + `";

// What each library may use of the host. An empty list grants nothing.
export default defineConfig({
});
`

// maxTrials bounds how often a library is tried with one permission more: each trial
// finds at most one name for lack of which it fails.
const maxTrials = 8

// Selection says which libraries a proposal is for: those that are named, or all that
// package.json lists as dependencies of the application. The zero Selection means those
// that the application's code imports.
type Selection struct {
	Names []string
	All   bool
}

// Propose writes a policy for the libraries of a selection. Each is granted what its code uses
// without asking whether it is there, and what it cannot load without; globals that
// hand over the whole realm are never granted, only mentioned. An existing policy
// keeps its text and gets the libraries that it has not.
func (sn *Snapshot) Propose(ctx context.Context, selection Selection, progress Progress) (*Proposal, error) {
	p, unreadable, err := sn.policy(ctx, sn.session.evaluator)
	if err != nil {
		return nil, err
	}
	proposal := &Proposal{File: policy.Relative(sn.root, sn.PolicyFile())}
	switch {
	case p != nil:
		proposal.Text = p.Syntax.Text
	case sn.exists(sn.PolicyFile()):
		return nil, fmt.Errorf("%s: %s", proposal.File, unreadable.Message)
	case slices.Contains(resolve.Dependencies(sn.root), policy.RuntimePackage):
		proposal.Text = newPolicyWithTypes
	default:
		proposal.Text = newPolicy
	}
	if p == nil {
		p = &policy.Policy{}
	}
	names, err := sn.selected(ctx, selection, p)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Compact(names) {
		if _, has := p.Library(name); has {
			proposal.Skipped = append(proposal.Skipped, Skipped{name, "the policy has it already"})
			continue
		}
		proposed, why, err := sn.propose(ctx, name, progress)
		if err != nil {
			return nil, err
		}
		if why != "" {
			proposal.Skipped = append(proposal.Skipped, Skipped{name, why})
			continue
		}
		edits, err := edit.Open(syntax.Parse(sn.PolicyFile(), proposal.Text)).AddLibrary(name, proposed.options())
		if err != nil {
			return nil, fmt.Errorf("add %s to %s: %w", name, proposal.File, err)
		}
		proposal.Text = edit.Apply(proposal.Text, edits)
		proposal.Added = append(proposal.Added, proposed)
	}
	return proposal, nil
}

// selected returns the names of a selection, sorted.
func (sn *Snapshot) selected(ctx context.Context, selection Selection, p *policy.Policy) ([]string, error) {
	names := slices.Clone(selection.Names)
	switch {
	case selection.All:
		names = slices.DeleteFunc(append(names, resolve.Shipped(sn.root)...), func(name string) bool {
			return name == policy.RuntimePackage || strings.HasPrefix(name, "@types/")
		})
	case len(names) == 0:
		dependencies, err := sn.imports(ctx, p)
		if err != nil {
			return nil, err
		}
		for _, d := range dependencies {
			names = append(names, d.Requests...)
		}
	}
	slices.Sort(names)
	return names, nil
}

// WriteProposal puts a proposal in its place.
func (sn *Snapshot) WriteProposal(ctx context.Context, p *Proposal) error {
	out, err := openOutput(sn.root)
	if err != nil {
		return err
	}
	defer out.close()
	return out.replace(ctx, []File{{Path: p.File, Content: []byte(p.Text)}})
}

func (sn *Snapshot) exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// propose finds out what one library needs by checking a policy that holds only it,
// with one more permission each time it fails to load for lack of one. why is set
// when it cannot be sandboxed.
func (sn *Snapshot) propose(ctx context.Context, name string, progress Progress) (proposed Proposed, why string, err error) {
	guest, err := sn.session.guestGlobals(ctx)
	if err != nil {
		return Proposed{}, "", err
	}
	granted := map[string]bool{}
	for range maxTrials {
		lib := policy.Library{Name: name}
		for _, n := range slices.Sorted(maps.Keys(granted)) {
			lib.Permissions = append(lib.Permissions, policy.Permission{Name: n})
		}
		l, findings, err := sn.alone(ctx, lib, guest, progress)
		if err != nil {
			return Proposed{}, "", err
		}
		if l.Bundle == nil {
			return Proposed{}, findings[0].Message, nil
		}
		grant, notes := proposals(needs(l, guest))
		fresh := false
		for _, n := range grant {
			fresh = fresh || !granted[n]
			granted[n] = true
		}
		if fresh && failureOf(l) != nil {
			continue
		}
		proposed = Proposed{Library: name, Permissions: slices.Sorted(maps.Keys(granted)), Notes: notes}
		if f := failureOf(l); f != nil {
			proposed.Notes = append(proposed.Notes, fmt.Sprintf("It does not load with these: %s.", strings.TrimSuffix(f.Message, ".")))
		}
		perhaps := doubts(l, guest)
		if note := perhaps.note(); note != "" {
			proposed.Notes = append(proposed.Notes, note)
		}
		for _, u := range l.Authority.Unknowns {
			if u.Doubt != authority.NoDoubt {
				continue
			}
			proposed.Notes = append(proposed.Notes, fmt.Sprintf("Unknown authority, %s: %s at %s.", u.Reason, u.Detail, u.Place))
		}
		return proposed, "", nil
	}
	return Proposed{}, "it asks for one global after another while loading", nil
}

// alone takes a library that stands in no policy through its stages.
func (sn *Snapshot) alone(ctx context.Context, lib policy.Library, guest map[string]bool, progress Progress) (*Library, []finding.Finding, error) {
	resolved, err := resolve.Packages(ctx, sn.root, []string{lib.Name})
	if err != nil {
		return nil, nil, err
	}
	p := &policy.Policy{File: sn.PolicyFile(), Mapper: text.NewMapper(""), Libraries: []policy.Library{lib}}
	l := &Library{Policy: lib, Resolved: resolved[0]}
	c := &check{sn: sn, policy: p, guest: guest, withLoad: true, progress: progress, total: 1}
	r := &reporter{sn: sn, policy: p, lib: lib}
	err = c.examine(ctx, l, r)
	return l, r.findings, err
}

// proposals splits what a library asks for into what to grant and what to say.
func proposals(asked []*need) (grant, notes []string) {
	var optional []string
	for _, n := range asked {
		g, known := hostglobals.Known(n.name)
		switch {
		case n.made:
		case n.strict && !known:
			notes = append(notes, fmt.Sprintf("It assigns to %s (%s), which no host is known to have: strict code throws there.", n.name, n.thrown().Place))
		case n.strict && n.assigned():
			notes = append(notes, fmt.Sprintf("It assigns to %s (%s), which does nothing outside of the sandbox; strict code throws there unless it is granted.", n.name, n.thrown().Place))
		case n.assigned():
			notes = append(notes, fmt.Sprintf("It assigns to %s (%s), which does nothing outside of the sandbox.", n.name, n.uses[0].Place))
		case !n.fatal && !n.bare:
			if known {
				optional = append(optional, n.name)
			}
		case n.useless():
			notes = append(notes, fmt.Sprintf("It uses %s (%s), which no grant gives: %s.", members(n.ungrantable()), n.ungrantable()[0].Place, facade(n.name)))
		case known && g.Grade != hostglobals.Realm:
			grant = append(grant, n.name)
			if lacking := n.ungrantable(); len(lacking) > 0 {
				notes = append(notes, fmt.Sprintf("It uses %s (%s) too, which no grant gives: %s.", members(lacking), lacking[0].Place, facade(n.name)))
			}
			if g.Grade == hostglobals.Powerful {
				notes = append(notes, fmt.Sprintf("%s is granted, which is much: %s", n.name, caution(g)))
			}
		case len(n.uses) == 0:
			notes = append(notes, fmt.Sprintf("It needs %s, which is not granted: decide for yourself.", n.name))
		case known:
			notes = append(notes, fmt.Sprintf("It uses %s (%s), which is not granted: %s", n.name, n.uses[0].Place, lowerFirst(g.Reason)))
		default:
			notes = append(notes, fmt.Sprintf("It uses %s (%s), which no host is known to have.", n.name, n.uses[0].Place))
		}
	}
	if len(optional) > 0 {
		notes = append(notes, fmt.Sprintf("It looks for %s and does without.", list(optional, 12)))
	}
	return grant, notes
}

func (p Proposed) options() edit.Object {
	var permissions edit.Value = edit.Strings(p.Permissions...)
	if len(p.Notes) > 0 {
		permissions = edit.Commented{Lines: p.Notes, Value: permissions}
	}
	return edit.Object{{Key: "permissions", Value: permissions}}
}
