package analysis

import (
	"slices"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/hostglobals"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax/authority"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/load"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/observe"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/stack"
)

// sameStatement is how many columns may lie between the place that an error names and
// the place of the use that it is about. A minified bundle is one line.
const sameStatement = 80

// lacking returns the host global for lack of which a script failed to load, or "".
// A free name that does not exist says so itself. A member of the global object that
// does not exist is undefined, and what fails is what is then done with it: the error
// names no global, but it comes from where the code was found, or seen, to use one
// that it asked for while it loaded.
func (r *reporter) lacking(l *Library, failure *load.Failure, s script, guest map[string]bool) string {
	if name := missingName(failure); name != "" {
		return name
	}
	if failure == nil || failure.Kind != load.Threw || failure.Name != "TypeError" || l.Authority == nil {
		return ""
	}
	frames := r.frames(failure, s)
	if len(frames) == 0 || frames[0].Line == 0 {
		return ""
	}
	absent := map[string]bool{}
	for _, t := range l.Touches {
		if _, known := hostglobals.Known(t.Name); known && t.Operation == observe.Get {
			absent[t.Name] = !guest[t.Name] && !slices.Contains(r.lib.PermissionNames(), t.Name) && !slices.Contains(l.Authority.Defines, t.Name)
		}
	}
	best, distance := "", sameStatement+1
	consider := func(name string, place Place) {
		if !absent[name] {
			return
		}
		if d, ok := r.apart(frames[0], place); ok && d < distance {
			best, distance = name, d
		}
	}
	asked := map[Place]bool{} // by code that does without
	for _, u := range l.Authority.Uses {
		if u.Doubt != authority.NoDoubt {
			continue
		}
		if u.Kind == authority.Presence || u.Guarded {
			asked[u.Place] = true
		} else if u.Root != "" || strings.Contains(u.Path, ".") {
			consider(u.Name, u.Place)
		}
	}
	for _, t := range l.Touches {
		if t.Operation == observe.Get && !asked[t.Place] {
			consider(t.Name, t.Place)
		}
	}
	return best
}

// apart returns how many columns lie between the place of an error and a place on the
// same line.
func (r *reporter) apart(thrown stack.Frame, place Place) (int, bool) {
	if policy.Relative(r.sn.root, thrown.File) != place.File || thrown.Line != place.Range.Start.Line+1 {
		return 0, false
	}
	at := text.Position{Line: thrown.Line - 1, Character: thrown.Column - 1}
	switch {
	case at.Before(place.Range.Start):
		return place.Range.Start.Character - at.Character, true
	case place.Range.End.Before(at) && place.Range.End.Line == at.Line:
		return at.Character - place.Range.End.Character, true
	}
	return 0, true
}
