package analysis

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sandbox-lsp/sandbox-lsp/analysis/appscan"
	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/grants"
	"github.com/sandbox-lsp/sandbox-lsp/policy/resolve"
	"github.com/sandbox-lsp/sandbox-lsp/policy/suppress"
)

// today returns the day against which grants expire.
func (s *Session) today() policy.Date { return policy.DateOf(time.Now()) }

// ofPolicy returns what the policy's text tells: its own findings, and what is known
// of the globals that it names.
func (sn *Snapshot) ofPolicy(ctx context.Context, p *policy.Policy) ([]finding.Finding, error) {
	guest, err := sn.session.guestGlobals(ctx)
	if err != nil {
		return nil, err
	}
	found := grants.Findings(p, guest)
	if broken := p.Syntax.Diagnostics; len(broken) > 0 {
		// Behind the first syntax error the parser guesses, and its guess is nobody's fault.
		from := p.Mapper.Position(broken[0].Span.Start)
		found = slices.DeleteFunc(found, func(f finding.Finding) bool { return !f.Range.Start.Before(from) })
	}
	found = slices.Concat(p.Findings, found)
	inferred(found, guest, func(name string) *Library {
		if l, seen := sn.session.lastSeen(sn.root, name); seen {
			return l
		}
		return nil
	})
	return found, nil
}

// suppressed takes out the findings that comments accept. Comments in the policy and
// in the other files that are given, by their absolute paths, may turn out to accept
// nothing.
func (sn *Snapshot) suppressed(p *policy.Policy, findings []finding.Finding, complete bool, others ...string) suppress.Result {
	name := policy.Relative(sn.root, p.File)
	files := []string{name}
	for _, other := range others {
		files = append(files, policy.Relative(sn.root, other))
	}
	of := func(file string) (suppress.Set, bool) {
		if file == name {
			return suppress.Parse(name, p.Mapper.Text(), p.Syntax, p.Libraries), true
		}
		path := sn.absolute(file)
		content, err := sn.Read(path)
		if err != nil || !suppress.Mentions(content) {
			return suppress.Set{}, false
		}
		return suppress.Parse(file, content, appscan.Parse(path, content), nil), true
	}
	result := suppress.Apply(findings, files, of, complete)
	result.Kept = sn.withFixes(p, finding.Sort(result.Kept))
	result.Suppressed = finding.Sort(result.Suppressed)
	return result
}

// inferred notes for each finding about missing permissions (SBX005) which ones the
// library was seen to need, as far as a check has looked at it.
func inferred(findings []finding.Finding, guest map[string]bool, of func(library string) *Library) {
	for i, f := range findings {
		if f.Code != finding.NoPermissions {
			continue
		}
		if l := of(f.Data["library"]); l != nil && l.Authority != nil {
			grant, _ := proposals(needs(l, guest))
			findings[i].Data = maps.Clone(f.Data)
			findings[i].Data["permissions"] = strings.Join(grant, ",")
		}
	}
}

// application looks for imports of the project's own code that escape the redirect.
func (c *check) application(ctx context.Context, resolved []resolve.Result) error {
	c.event(Event{Stage: "application"}, false)
	project := appscan.ProjectOf(c.sn.root, c.sn.overlay, c.policy, resolved)
	scanned, err := c.sn.session.scanner.Scan(ctx, project)
	if err != nil {
		return err
	}
	if scanned.Truncated {
		c.sn.session.options.Logger.Warn("the project has more source files than are looked at for imports", "root", c.sn.root, "looked at", scanned.Files)
	}
	c.imports = scanned.Imports
	c.escaped = appscan.Findings(project, c.policy, scanned.Imports)
	c.suppressing = scanned.Suppressing
	return nil
}

// ListUnsandboxed fills in the dependencies that the application imports past every
// sandbox.
func (sn *Snapshot) ListUnsandboxed(ctx context.Context, result *Result) error {
	p := result.Policy
	if p == nil {
		p = &policy.Policy{}
	}
	var err error
	result.Unsandboxed, err = sn.imports(ctx, p)
	return err
}

// imports returns the dependencies that application code imports and a policy does
// not have. The runtime is what sandboxes are made of.
func (sn *Snapshot) imports(ctx context.Context, p *policy.Policy) ([]appscan.Dependency, error) {
	all, err := sn.session.scanner.Unsandboxed(ctx, appscan.ProjectOf(sn.root, sn.overlay, p, nil))
	return slices.DeleteFunc(all, func(d appscan.Dependency) bool { return d.Name == policy.RuntimePackage }), err
}
