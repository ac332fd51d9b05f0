package analysis

import (
	"context"
	"fmt"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy/attenuation"
	"github.com/sandbox-lsp/sandbox-lsp/policy/hostglobals"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// site says what a string at a place of the policy is about.
type site int

const (
	siteOther      site = iota
	sitePermission      // an element of permissions
	siteName            // the name in the object form of a permission
	siteRule            // an element of allow
)

func (c cursor) site() site {
	if c.manifest || c.atKey || len(c.path) < 2 || c.path[1] != "permissions" || c.array == nil {
		return siteOther
	}
	switch {
	case len(c.path) == 2:
		return sitePermission
	case len(c.path) == 3 && c.path[2] == "name":
		return siteName
	case len(c.path) == 3 && c.path[2] == "allow" && c.owner != nil && c.owner.Span.Start < c.array.Span.Start && c.array.Span.End <= c.owner.Span.End:
		return siteRule
	}
	return siteOther
}

// writable reports whether a string may take the place of what stands at the cursor:
// nothing, a string, or a name that is being typed.
func (c cursor) writable() bool {
	switch c.value.Kind {
	case syntax.KindString, syntax.KindIdentifier, syntax.KindMissing, syntax.KindUndefined, syntax.KindArray:
		return true
	}
	return false
}

// member returns the string that an object literal has for a key, or "".
func member(object *syntax.Node, key string) (string, *syntax.Node) {
	if object == nil || object.Kind != syntax.KindObject {
		return "", nil
	}
	for i := range object.Properties {
		if p := &object.Properties[i]; p.Key == key && p.Value.Kind == syntax.KindString {
			return p.Value.Text, p.Value
		}
	}
	return "", nil
}

// granted returns the names that the list of permissions has already, except the one
// that is being written.
func (c cursor) granted() map[string]bool {
	names := map[string]bool{}
	for _, e := range c.array.Elements {
		e = c.file.Resolve(e)
		name, node := e.Text, e
		if e.Kind == syntax.KindObject {
			name, node = member(e, "name")
		} else if e.Kind != syntax.KindString {
			continue
		}
		if node != c.value {
			names[name] = true
		}
	}
	return names
}

// quoteHere writes a string in the quotes that stand at the cursor, or that another
// string of the list has.
func (c cursor) quoteHere(s string) string {
	mark := `"`
	for _, n := range append([]*syntax.Node{c.value}, c.array.Elements...) {
		if n.Kind == syntax.KindString && quoted(c.file.Text, n.Span) {
			mark = c.file.Text[n.Span.Start : n.Span.Start+1]
			break
		}
	}
	return mark + s + mark
}

// permissions proposes the globals that a library could be granted: those in used,
// which it was seen to use, first, and then the smaller authority before the greater.
// What the guest has of its own is left out.
func permissions(c cursor, where text.Range, used, guest map[string]bool) []Completion {
	granted := c.granted()
	var items []Completion
	for _, g := range hostglobals.All() {
		handler := strings.HasPrefix(g.Name, "on") && !g.Listed
		if granted[g.Name] || guest[g.Name] || handler && !used[g.Name] {
			continue
		}
		rank := fmt.Sprintf("%d0", int(g.Grade)+1)
		switch {
		case used[g.Name]:
			rank = "00"
		case !g.Listed:
			rank = fmt.Sprintf("%d1", int(g.Grade)+1)
		}
		item := Completion{
			Label: g.Name, Kind: KindPermission, Range: where, Sort: rank + g.Name, NewText: c.quoteHere(g.Name), Plain: c.quoteHere(g.Name),
			Detail: fmt.Sprintf("%s %s", g.Grade, g.Kind()),
		}
		if used[g.Name] {
			item.Detail += ", used by this library"
		}
		if g.Listed || used[g.Name] { // the rest is said by hover; here it would only make the answer long
			item.Documentation = g.Markdown()
		}
		items = append(items, item)
		if subject := attenuation.SubjectOf(g.Name); subject != attenuation.Nothing && c.site() == sitePermission {
			items = append(items, narrowed(c, item))
		}
	}
	return items
}

// narrowed is the proposal of a global in its object form.
func narrowed(c cursor, whole Completion) Completion {
	item := whole
	rule := examples(whole.Label)[0]
	item.Label, item.Sort = whole.Label+" with allow", whole.Sort+"0"
	item.NewText = "{ name: " + c.quoteHere(whole.Label) + ", allow: [" + c.quoteHere(rule.snippet) + "] }"
	item.Plain = "{ name: " + c.quoteHere(whole.Label) + ", allow: [" + c.quoteHere(rule.plain()) + "] }"
	item.Snippet = true
	return item
}

// example is a rule to start from, in snippet syntax.
type example struct{ label, snippet string }

// plain returns the example without its placeholders' syntax.
func (e example) plain() string {
	var b strings.Builder
	for s := e.snippet; s != ""; {
		before, rest, ok := strings.Cut(s, "${")
		b.WriteString(before)
		if !ok {
			break
		}
		placeholder, after, _ := strings.Cut(rest, "}")
		_, value, _ := strings.Cut(placeholder, ":")
		b.WriteString(value)
		s = after
	}
	return b.String()
}

// examples are the rules that a global can be narrowed by.
func examples(global string) []example {
	scheme, local := "https", "http"
	if global == "WebSocket" {
		scheme, local = "wss", "ws"
	}
	switch attenuation.SubjectOf(global) {
	case attenuation.Addresses:
		return []example{
			{"one server", scheme + "://${1:api.example.com}/*"},
			{"one path and below", scheme + "://${1:api.example.com}/${2:v1}/*"},
			{"one address", scheme + "://${1:api.example.com}/${2:v1/status}"},
			{"all subdomains", scheme + "://*.${1:example.com}/*"},
			{"this machine", local + "://localhost:${1:3000}/*"},
		}
	case attenuation.Keys:
		return []example{
			{"keys with a prefix", "${1:mylib}:*"},
			{"one key", "${1:theme}"},
		}
	case attenuation.Members:
		var list []example
		for _, name := range membersToStartFrom[global] {
			list = append(list, example{"one member", "${1:" + name + "}"})
		}
		return list
	}
	return nil
}

// membersToStartFrom are what libraries ask of the globals that are narrowed by member.
var membersToStartFrom = map[string][]string{
	"history":     {"length", "state"},
	"location":    {"href", "origin", "pathname"},
	"navigator":   {"language", "languages", "userAgent", "onLine"},
	"performance": {"now", "timeOrigin"},
	"process":     {"platform", "version", "cwd"},
	"screen":      {"width", "height"},
}

// rules proposes the forms that a rule of the permission around the cursor can have.
func rules(c cursor, where text.Range) []Completion {
	name, _ := member(c.owner, "name")
	var items []Completion
	for i, e := range examples(name) {
		rule, _ := attenuation.Parse(name, e.plain())
		items = append(items, Completion{
			Label: e.plain(), Kind: KindValue, Range: where, Detail: e.label, Sort: fmt.Sprintf("%d", i), Snippet: true,
			NewText: c.quoteHere(e.snippet), Plain: c.quoteHere(e.plain()), Documentation: "Allows " + rule.Describe() + ".",
		})
	}
	return items
}

// hoverPermission describes the global that a permission names.
func hoverPermission(name string, guest map[string]bool) string {
	g, ok := hostglobals.Lookup(name)
	if !ok {
		markdown := fmt.Sprintf("**%s** is no global of browsers or Node that is known.", name)
		if suggestion, ok := hostglobals.Suggest(name); ok {
			markdown += fmt.Sprintf(" Did you mean `%s`?", suggestion)
		}
		return markdown
	}
	own := ""
	if guest[name] {
		own = "\n\nEvery sandbox has it of its own, so the permission adds nothing."
	}
	return fmt.Sprintf("**%s** (%s)%s\n\n%s", g.Name, g.Kind(), own, g.Markdown())
}

// hoverRule says what a rule of a permission allows.
func hoverRule(global, pattern string) string {
	if global == "" {
		return "Allows nothing before the permission has a name."
	}
	rule, problems := attenuation.Parse(global, pattern)
	markdown := fmt.Sprintf("Allows %s.", rule.Describe())
	for _, p := range problems {
		markdown += "\n\n" + p.Message
	}
	return markdown
}

// guestNames returns what every guest has of its own, or nil when the engine cannot
// say: proposals are then longer than they need to be, which is no reason to fail.
func (sn *Snapshot) guestNames(ctx context.Context) map[string]bool {
	names, err := sn.session.guestGlobals(ctx)
	if err != nil {
		return nil
	}
	return names
}

// usedBy returns the globals that the last check saw a library ask for, nil when
// there was none.
func (sn *Snapshot) usedBy(library string, guest map[string]bool) map[string]bool {
	l, ok := sn.session.lastSeen(sn.root, library)
	if !ok || l.Authority == nil {
		return nil
	}
	used := map[string]bool{}
	for _, n := range needs(l, guest) {
		used[n.name] = true
	}
	return used
}
