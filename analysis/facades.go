package analysis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/attenuation"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/hostglobals"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax/authority"
)

// beyond returns the uses that read a member other than these and do not do without it:
// the first of each member, in order.
func (n *need) beyond(given []string) []Use {
	var lacking []Use
	seen := map[string]bool{}
	for _, u := range n.uses {
		if member := u.member(); u.Kind == authority.Read && member != "" && !u.MemberGuarded && !slices.Contains(given, member) && !inherited[member] && !seen[member] {
			seen[member] = true
			lacking = append(lacking, u)
		}
	}
	return lacking
}

// inherited are members that every object has.
var inherited = map[string]bool{
	"constructor": true, "hasOwnProperty": true, "isPrototypeOf": true, "propertyIsEnumerable": true,
	"toLocaleString": true, "toString": true, "valueOf": true, "__proto__": true,
}

// member returns the first member of the global that a use reads, or "".
func (u Use) member() string {
	_, rest, _ := strings.Cut(u.Path, ".")
	member, _, _ := strings.Cut(rest, ".")
	return member
}

// ungrantable returns the uses of members that no grant gives, when a need is of a global
// of which a library gets a part.
func (n *need) ungrantable() []Use {
	given := hostglobals.Facade(n.name)
	if given == nil {
		return nil
	}
	return n.beyond(given)
}

// useless reports whether a grant would give a library nothing of what it needs of a global.
func (n *need) useless() bool {
	lacking := n.ungrantable()
	return len(lacking) > 0 && !slices.ContainsFunc(n.uses, func(u Use) bool {
		return u.Kind != authority.Presence && !u.MemberGuarded && !slices.ContainsFunc(lacking, func(l Use) bool { return l.member() == u.member() })
	})
}

// facade says which part of a global a library gets.
func facade(name string) string {
	return fmt.Sprintf("a sandbox gets no more of %s than %s", name, list(hostglobals.Facade(name), len(hostglobals.Facade(name))))
}

// members lists members for a sentence: "crypto.subtle".
func members(uses []Use) string {
	names := make([]string, len(uses))
	for i, u := range uses {
		names[i] = u.Name + "." + u.member()
	}
	return list(names, 5)
}

// lacksMembers reports, at a grant that gives a part of a global, what the library uses of
// the rest.
func (r *reporter) lacksMembers(n *need, p policy.Permission) {
	given, narrowed := hostglobals.Facade(p.Name), false
	if p.Allow != nil && attenuation.SubjectOf(p.Name) == attenuation.Members {
		given, narrowed = p.Allow, true
	}
	if given == nil {
		return
	}
	lacking := n.beyond(given)
	if len(lacking) == 0 {
		return
	}
	first := lacking[0].Place
	var f *finding.Finding
	if narrowed {
		f = r.at(finding.MissingPermission, finding.Warning, p.Span, "%q uses %s (%s%s), which the rules of its grant do not list, so the library finds it undefined. Add %s to them if it should have it.",
			r.lib.Name, members(lacking), first, r.inside(first), plural(len(lacking), "the member", "the members"))
	} else {
		f = r.at(finding.MissingPermission, finding.Warning, p.Span, "%q uses %s (%s%s), which no grant gives: %s. Pass the library a function that does it instead.",
			r.lib.Name, members(lacking), first, r.inside(first), facade(p.Name))
	}
	f.Data["global"] = members(lacking)
	for _, u := range lacking[:min(len(lacking), 5)] {
		f.Related = append(f.Related, finding.Related{Message: u.Path + " is used here", File: u.Place.File, Range: u.Place.Range})
	}
}
