package analysis

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/edit"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/hostglobals"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// withFixes adds to the findings of a policy the changes that resolve them. It changes
// the slice that it is given and returns it.
func (sn *Snapshot) withFixes(p *policy.Policy, findings []finding.Finding) []finding.Finding {
	r := &fixer{policy: p, file: policy.Relative(sn.root, p.File)}
	for i, f := range findings {
		if fixes := r.fixes(f); len(fixes) > 0 {
			findings[i].Fixes = fixes
		}
	}
	return findings
}

// fixer finds the changes of one policy that resolve findings about it. What it needs
// to know of a finding it takes from Data (library, permission, permissions,
// suggestion, option, rule, workload, export), and from the place where Data does not
// say.
//
// A fix is marked as preferred only if no library may do more afterwards. What grants
// something, or guesses what a name was meant to be, is for a person to choose; what
// grants something is marked as that, so that no editor makes it by itself.
type fixer struct {
	policy *policy.Policy
	file   string       // of the policy, as findings name it
	edits  *edit.Policy // nil until it is needed
}

// opened returns the policy ready for edits.
func (r *fixer) opened() *edit.Policy {
	if r.edits == nil {
		r.edits = edit.Open(r.policy.Syntax)
	}
	return r.edits
}

// fixes returns the fixes of a finding, the one to choose first in front. A finding
// has none where the policy does not spell out what would have to change.
func (r *fixer) fixes(f finding.Finding) []finding.Fix {
	if f.File != r.file || r.policy.Syntax == nil {
		return nil
	}
	var fixes []finding.Fix
	offer := func(to effect, title string, edits []edit.Edit, err error) bool {
		if err != nil || len(edits) == 0 {
			return false
		}
		fixes = append(fixes, r.fix(to, title, edits))
		return true
	}
	p := r.opened()
	library, permission, suggestion := r.subject(f), f.Data["permission"], f.Data["suggestion"]
	switch f.Code {
	case finding.PackageUnresolved:
		if suggestion != "" {
			edits, err := p.RenameLibrary(library, suggestion)
			offer(choice, fmt.Sprintf("Change to %q", suggestion), edits, err)
		}
	case finding.BadOption:
		r.badOption(f, library, offer)
	case finding.NoPermissions:
		names, known := f.Data["permissions"]
		if inferred := split(names); len(inferred) > 0 {
			edits, err := p.SetPermissions(library, inferred)
			offer(widening, "Grant what it was seen to need: "+strings.Join(inferred, ", "), edits, err)
		}
		edits, err := p.SetPermissions(library, nil)
		nothing := choice
		if known && names == "" {
			nothing = certain
		}
		offer(nothing, "Grant nothing", edits, err)
	case finding.UnknownGlobal:
		r.respell(library, permission, suggestion, offer)
	case finding.RedundantPermission:
		if suggestion != "" {
			r.respell(library, permission, suggestion, offer)
			break
		}
		edits, err := p.Revoke(library, permission)
		offer(certain, fmt.Sprintf("Remove %q", permission), edits, err)
	case finding.UnusedPermission:
		if permission == "" {
			break // it would throw without
		}
		// A hint says that a use may have been missed.
		edits, err := p.Revoke(library, permission)
		unused := choice
		if f.Severity.AtLeast(finding.Warning) {
			unused = certain
		}
		offer(unused, fmt.Sprintf("Remove %q", permission), edits, err)
	case finding.ExpiredGrant:
		edits, err := p.Revoke(library, permission)
		offer(choice, fmt.Sprintf("Remove %q", permission), edits, err)
	case finding.MissingPermission:
		if names := grantable(f); len(names) > 0 {
			edits, err := p.Grant(library, names...)
			offer(widening, fmt.Sprintf("Grant %s to %q", list(names, 5), library), edits, err)
		}
	case finding.LooseAttenuation:
		if rule := f.Data["rule"]; suggestion != "" {
			edits, err := p.SetAllow(library, permission, rule, suggestion)
			offer(widening, fmt.Sprintf("Change to %q", suggestion), edits, err)
		}
	case finding.WorkloadNoExport:
		workload, export := r.workload(f, library)
		if suggestion != "" {
			edits, err := p.RenameWorkloadExport(library, workload.Name, export, suggestion)
			offer(choice, fmt.Sprintf("Change to %q", suggestion), edits, err)
		}
		edits, err := p.RemoveWorkloadExport(library, workload.Name, export)
		offer(choice, fmt.Sprintf("Remove %q from the exports", export), edits, err)
	case finding.WorkloadUnnamed:
		workload, export := r.workload(f, library)
		if export != "" {
			edits, err := p.AddWorkloadExports(library, workload.Name, export)
			offer(choice, fmt.Sprintf("Add %q to the exports", export), edits, err)
		}
	case finding.WorkloadNoEntry:
		if workload, _ := r.workload(f, library); workload.Entry != "" {
			fixes = append(fixes, r.newEntry(library, workload)...)
		}
	}
	return fixes
}

// fix makes a fix of edits of the policy.
func (r *fixer) fix(to effect, title string, edits []edit.Edit) finding.Fix {
	fix := finding.Fix{Title: title, Preferred: to == certain, Grants: to == widening}
	for _, e := range edits {
		fix.Edits = append(fix.Edits, finding.Edit{File: r.file, Range: r.policy.Mapper.Range(e.Span), NewText: e.NewText})
	}
	return fix
}

// granting returns the fix that grants names to a library, if the policy can be edited
// so.
func (r *fixer) granting(library string, names []string) []finding.Fix {
	if r.policy.Syntax == nil {
		return nil
	}
	edits, err := r.opened().Grant(library, names...)
	if err != nil || len(edits) == 0 {
		return nil
	}
	return []finding.Fix{r.fix(widening, fmt.Sprintf("Grant %s to %q", list(names, 5), library), edits)}
}

// effect is what a fix does to a library's authority, as far as that decides who may
// make it.
type effect int

const (
	choice   effect = iota // grants nothing, but the author may have meant something else
	certain                // grants nothing, and the author can mean nothing else
	widening               // the library may do more afterwards, or may if a guess is right
)

// offer takes a fix, unless the edit was refused, and reports whether it did.
type offer func(to effect, title string, edits []edit.Edit, err error) bool

// badOption fixes what stands twice and what has the wrong name.
func (r *fixer) badOption(f finding.Finding, library string, offer offer) {
	p := r.opened()
	at := r.policy.Mapper.Span(f.Range)
	if permission := f.Data["permission"]; permission != "" && len(f.Related) > 0 {
		edits, err := p.RemoveRepeated(library, permission)
		offer(certain, fmt.Sprintf("Keep only the first %q", permission), edits, err)
		return
	}
	// Of members with one key only the last counts, so the earlier say nothing.
	if edits, err := p.RemoveDuplicateKey(at); offer(certain, "Keep only the last one", edits, err) {
		return
	}
	if option, suggestion := f.Data["option"], f.Data["suggestion"]; option != "" {
		if suggestion != "" {
			// What stood under a name that nobody reads begins to count.
			edits, err := p.RenameKey(at, suggestion)
			offer(widening, fmt.Sprintf("Change to %q", suggestion), edits, err)
		}
		edits, err := p.RemoveKey(at)
		offer(choice, fmt.Sprintf("Remove %q", option), edits, err)
	}
}

// respell gives a permission its right name, or takes it away when the library has
// the right one already.
func (r *fixer) respell(library, permission, suggestion string, offer offer) {
	if suggestion == "" {
		return
	}
	p := r.opened()
	if l, ok := r.policy.Library(library); ok && slices.Contains(l.PermissionNames(), suggestion) {
		edits, err := p.Revoke(library, permission)
		offer(certain, fmt.Sprintf("Remove %q, since %q is granted", permission, suggestion), edits, err)
		return
	}
	edits, err := p.RenamePermission(library, permission, suggestion)
	offer(widening, fmt.Sprintf("Change to %q", suggestion), edits, err)
}

// grantable returns the permissions that a finding misses and a fix may propose: not
// those that would hand over the whole host realm, nor names that no host has.
func grantable(f finding.Finding) []string {
	names := split(f.Data["permissions"])
	if name := f.Data["permission"]; name != "" {
		names = []string{name}
	}
	return slices.DeleteFunc(names, func(name string) bool {
		g, known := hostglobals.Known(name)
		return !known || g.Grade == hostglobals.Realm
	})
}

func split(names string) []string {
	return strings.FieldsFunc(names, func(r rune) bool { return r == ',' || r == ' ' })
}

// subject returns the library that a finding is about.
func (r *fixer) subject(f finding.Finding) string {
	if name, ok := f.Data["library"]; ok {
		return name
	}
	at := r.policy.Mapper.Span(f.Range)
	for _, l := range r.policy.Libraries {
		if l.Span.Start <= at.Start && at.End <= l.Span.End {
			return l.Name
		}
	}
	return ""
}

// workload returns the workload that a finding is about, and the export if it is
// about one.
func (r *fixer) workload(f finding.Finding, library string) (policy.Workload, string) {
	at := r.policy.Mapper.Span(f.Range)
	l, _ := r.policy.Library(library)
	for _, w := range l.Workloads {
		if f.Data["workload"] != w.Name && (f.Data["workload"] != "" || !holds(w.Span, at)) {
			continue
		}
		if export, ok := f.Data["export"]; ok {
			return w, export
		}
		for _, e := range w.Exports {
			if e.Span == at {
				return w, e.Text
			}
		}
		return w, ""
	}
	return policy.Workload{}, ""
}

func holds(outer, inner text.Span) bool {
	return outer.Start <= inner.Start && inner.End <= outer.End
}

// newEntry creates the entry of a workload. The name of the file says which kind of
// module it is; what is no script is left alone.
func (r *fixer) newEntry(library string, w policy.Workload) []finding.Fix {
	extension := strings.ToLower(path.Ext(w.Entry))
	if !slices.Contains([]string{".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"}, extension) {
		return nil
	}
	exports := make([]string, len(w.Exports))
	for i, e := range w.Exports {
		exports[i] = e.Text
	}
	return []finding.Fix{{
		Title:   "Create " + w.Entry,
		Creates: []finding.NewFile{{File: w.Entry, Text: edit.WorkloadStub(library, exports, extension == ".cjs" || extension == ".cts")}},
	}}
}
