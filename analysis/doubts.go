package analysis

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/hostglobals"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax/authority"
)

// doubtful is what a library may take from the global object, if a function of it that
// is not strict code is called without an object and so has the global object as its
// `this`.
type doubtful struct {
	names    map[string]bool // host globals
	uses     []Use           // of those, more than presence checks, in order of the scripts
	unknowns []Unknown
}

// doubts gathers them. Names that no host has are members of objects of the library's
// own, and so are those that it makes.
func doubts(l *Library, guest map[string]bool) doubtful {
	d := doubtful{names: map[string]bool{}}
	if l.Authority == nil {
		return d
	}
	for _, u := range l.Authority.Uses {
		if _, known := hostglobals.Known(u.Name); u.Doubt == authority.NoDoubt || !known || guest[u.Name] || slices.Contains(l.Authority.Defines, u.Name) {
			continue
		}
		d.names[u.Name] = true
		if u.Kind != authority.Presence {
			d.uses = append(d.uses, u)
		}
	}
	for _, u := range l.Authority.Unknowns {
		if u.Doubt != authority.NoDoubt {
			d.unknowns = append(d.unknowns, u)
		}
	}
	return d
}

// used returns the names that are more than looked for, sorted.
func (d doubtful) used() []string {
	names := map[string]bool{}
	for _, u := range d.uses {
		names[u.Name] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// note says it in a comment of a policy, or returns "".
func (d doubtful) note() string {
	switch {
	case len(d.uses) > 0:
		return fmt.Sprintf("It may take %s from the global object: this.%s at %s.", list(d.used(), 8), d.uses[0].Path, d.uses[0].Place)
	case len(d.unknowns) > 0:
		return fmt.Sprintf("It may reach the global object as the this of a function: %s at %s.", d.unknowns[0].Detail, d.unknowns[0].Place)
	}
	return ""
}

// doubtful reports the SBX016 of a library that reaches the global object in no other
// way.
func (r *reporter) doubtful(d doubtful) {
	const receiver = "which is the this of a function that is not strict code and is called without an object"
	var f *finding.Finding
	switch {
	case len(d.uses) > 0:
		first, names := d.uses[0], d.used()
		f = r.at(finding.UnknownAuthority, finding.Hint, r.grantsSpan(), "%q may take %s from the global object, %s (this.%s at %s%s). What is not granted is not there all the same.",
			r.lib.Name, list(names, 8), receiver, first.Path, first.Place, r.inside(first.Place))
		f.Data["permissions"] = strings.Join(names, ",")
	case len(d.unknowns) > 0:
		first := d.unknowns[0]
		f = r.at(finding.UnknownAuthority, finding.Hint, r.grantsSpan(), "%q may reach the global object, %s, in a way that no reading of the code can follow (%s at %s%s). What is not granted is not there all the same.",
			r.lib.Name, receiver, first.Detail, first.Place, r.inside(first.Place))
	default:
		return
	}
	f.Data["reasons"] = "receiver"
	for _, u := range d.uses[:min(len(d.uses), 5)] {
		f.Related = append(f.Related, finding.Related{Message: "this." + u.Path + " is used here", File: u.Place.File, Range: u.Place.Range})
	}
	for _, u := range d.unknowns[:min(len(d.unknowns), 5-len(f.Related))] {
		f.Related = append(f.Related, finding.Related{Message: u.Reason.String() + ": " + u.Detail, File: u.Place.File, Range: u.Place.Range})
	}
}
