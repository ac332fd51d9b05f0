package edit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// Policy is a policy's text, ready to be edited. It does not change, and is safe
// for concurrent use.
type Policy struct {
	file  *syntax.File
	text  string
	root  *syntax.Node // the object of libraries, or nil
	err   error        // why nothing can be edited
	style style

	comments []syntax.Comment
	objects  []*syntax.Node    // each object literal of the policy once, in source order
	lists    []*list           // each object and array literal once
	depth    map[text.Span]int // of an object or array literal below the root
	uses     map[text.Span]int // how many places of the policy have a literal as their value
}

// Open prepares the text of a parsed policy for edits.
func Open(file *syntax.File) *Policy {
	p := &Policy{file: file, text: file.Text, comments: file.Comments(), depth: map[text.Span]int{}, uses: map[text.Span]int{}}
	node, form, span := file.Export()
	if node != nil {
		p.visit(node, 0)
	}
	slices.SortFunc(p.objects, func(a, b *syntax.Node) int { return a.Span.Start - b.Span.Start })
	slices.SortFunc(p.lists, func(a, b *list) int { return a.open - b.open })
	p.style = readStyle(p)
	switch {
	case len(file.Diagnostics) > 0:
		p.err = refuse(file.Diagnostics[0].Span, "The policy does not parse, so nothing in it can be edited safely. Mend the syntax error first.")
	case form == syntax.ExportNone || node == nil:
		p.err = refuse(span, "The policy exports nothing, so there is no place for the change. Write export default {} first.")
	case node.Kind != syntax.KindObject:
		p.err = refuse(node.Span, "The policy is not written out as an object: its value is %s. Change it where that value is made.", p.describe(node))
	case (form == syntax.ModuleExports || form == syntax.ExportsDefault) && p.reassigned():
		p.err = refuse(span, "Other code of the file also works on module.exports, so its text does not tell what a change would do. Make the change by hand.")
	default:
		p.root = node
	}
	return p
}

// reassigned reports whether module.exports is named in more than one place.
func (p *Policy) reassigned() bool {
	mentions := 0
	for _, r := range p.file.Unresolved() {
		if r.Name == "module" || r.Name == "exports" {
			mentions++
		}
	}
	return mentions > 1
}

func refuse(at text.Span, format string, args ...any) error {
	return &Refusal{Reason: fmt.Sprintf(format, args...), Span: at}
}

// maxDepth bounds how deep literals are followed; a policy has five levels.
const maxDepth = 64

// visit counts the places that have a literal as their value. A literal that is
// reached again is walked once more, so that what is inside it counts as shared
// too, and then no further: names can make a small text mean an exponential tree.
func (p *Policy) visit(n *syntax.Node, depth int) {
	n = p.file.Resolve(n)
	if depth > maxDepth || p.uses[n.Span] > 1 {
		return
	}
	switch n.Kind {
	case syntax.KindObject, syntax.KindArray, syntax.KindString:
		p.uses[n.Span]++
	}
	if n.Kind == syntax.KindObject || n.Kind == syntax.KindArray {
		if p.uses[n.Span] == 1 {
			p.depth[n.Span] = depth
			p.lists = append(p.lists, newList(p.text, n))
			if n.Kind == syntax.KindObject {
				p.objects = append(p.objects, n)
			}
		}
	}
	for _, property := range n.Properties {
		if property.Spread { // its members are members of this object
			p.visit(property.Value, depth)
		} else {
			p.visit(property.Value, depth+1)
		}
	}
	for _, list := range [][]*syntax.Node{n.Elements, n.Args, {n.Callee, n.Operand}} {
		for _, child := range list {
			if child != nil {
				p.visit(child, depth+1)
			}
		}
	}
}

// describe names an expression for a message.
func (p *Policy) describe(n *syntax.Node) string {
	source, more, _ := strings.Cut(p.text[n.Span.Start:n.Span.End], "\n")
	if runes := []rune(source); len(runes) > 40 || more != "" {
		source = string(runes[:min(len(runes), 40)]) + "…"
	}
	switch n.Kind {
	case syntax.KindCall, syntax.KindNew:
		return "what " + source + " returns"
	case syntax.KindIdentifier, syntax.KindMember:
		return source + ", which the file alone does not tell"
	case syntax.KindObject:
		return "an object"
	case syntax.KindArray:
		return "an array"
	}
	return source
}

// owner is what an object of the policy belongs to, for messages: a library, a
// workload, a permission.
type owner string

// hidden is the refusal for what a spread, a computed key or an accessor may decide.
func (p *Policy) hidden(o owner, key string, by syntax.Property) error {
	source := p.text[by.Span.Start:by.Span.End]
	if runes := []rune(source); len(runes) > 40 {
		source = string(runes[:40]) + "…"
	}
	return refuse(by.Span, "%s of %s may come from %s, so no edit here is sure to have its effect. Change it where that is made.", quoted(key), o, source)
}

func quoted(key string) string { return fmt.Sprintf("%q", key) }

// has reports whether an expression that is spread into an object gives it a key;
// known is false when the file does not tell.
func (p *Policy) has(n *syntax.Node, key string, depth int) (has, known bool) {
	n = p.file.Resolve(n)
	if n.Kind != syntax.KindObject || depth > maxDepth {
		return false, false
	}
	for _, property := range n.Properties {
		switch {
		case property.Computed, property.Key == "__proto__":
			return false, false
		case property.Spread:
			if h, k := p.has(property.Value, key, depth+1); h || !k {
				return h, k
			}
		case property.Key == key:
			return true, true
		}
	}
	return false, true
}

// plain reports whether a member of an object is a key with a value.
func plain(m syntax.Property) bool {
	return !m.Spread && !m.Computed && !m.Accessor && (m.Key != "__proto__" || m.Shorthand)
}

// find returns the index of the member that decides what an object has for a key,
// or -1 when it has none. With alone, nothing but that member may give the object
// the key, so that taking it away takes the key away.
func (p *Policy) find(object *syntax.Node, o owner, key string, alone bool) (int, error) {
	found := -1
	for i := len(object.Properties) - 1; i >= 0; i-- {
		switch m := object.Properties[i]; {
		case found >= 0 && !alone:
			return found, nil
		case plain(m):
			if m.Key != key {
				continue
			}
			if found >= 0 {
				return -1, refuse(m.KeySpan, "%s stands twice in %s, and the last one counts. Remove one of the two first.", quoted(key), o)
			}
			found = i
		case m.Spread:
			if has, known := p.has(m.Value, key, 0); has || !known {
				return -1, p.hidden(o, key, m)
			}
		case m.Accessor && m.Key != key:
		default:
			return -1, p.hidden(o, key, m)
		}
	}
	return found, nil
}

// within returns the literal that a member's value is, checking that it has the
// kind and that no other place of the policy has it too.
func (p *Policy) within(m syntax.Property, kind syntax.Kind, what string) (*syntax.Node, error) {
	n := p.file.Resolve(m.Value)
	if n.Kind != kind {
		return nil, refuse(m.Span, "%s cannot be edited, since what stands there is not %s that is written out, but %s. Change it by hand.", what, article(kind), p.describe(n))
	}
	return n, p.own(n, what)
}

// own refuses a literal that several places of the policy share.
func (p *Policy) own(n *syntax.Node, what string) error {
	if p.uses[n.Span] > 1 {
		return refuse(n.Span, "%s cannot be edited alone: several places of the policy share the same %s, and a change would be for all of them. Give this one its own first.", what, n.Kind)
	}
	return nil
}

func article(k syntax.Kind) string {
	if k == syntax.KindArray || k == syntax.KindObject {
		return "an " + k.String()
	}
	return "a " + k.String()
}

// optionsOf returns the object with the options of a library.
func (p *Policy) optionsOf(name string) (*syntax.Node, owner, error) {
	o := owner(quoted(name))
	m, err := p.memberOf(name, false)
	if err != nil {
		return nil, o, err
	}
	object, err := p.within(p.root.Properties[m], syntax.KindObject, "The policy of "+quoted(name))
	return object, o, err
}

// memberOf returns the index of a library among the members of the root.
func (p *Policy) memberOf(name string, alone bool) (int, error) {
	if p.err != nil {
		return -1, p.err
	}
	i, err := p.find(p.root, "the policy", name, alone)
	if err == nil && i < 0 {
		err = refuse(p.root.Span, "The policy has no library %s.", quoted(name))
	}
	return i, err
}

// option returns the literal that a library's option is, or nil without one.
func (p *Policy) option(object *syntax.Node, o owner, name string, kind syntax.Kind) (*syntax.Node, error) {
	i, err := p.find(object, o, name, false)
	if err != nil || i < 0 {
		return nil, err
	}
	return p.within(object.Properties[i], kind, fmt.Sprintf("%s of %s", quoted(name), o))
}

// inert reports whether evaluating an expression has no effect beyond its value, so
// that it may be taken away.
func inert(n *syntax.Node) bool {
	switch n.Kind {
	case syntax.KindCall, syntax.KindNew, syntax.KindOther, syntax.KindTemplate:
		return false
	}
	for _, m := range n.Properties {
		if m.Computed || !m.Accessor && !inert(m.Value) {
			return false
		}
	}
	for _, list := range [][]*syntax.Node{n.Elements, {n.Operand}} {
		for _, child := range list {
			if child != nil && !inert(child) {
				return false
			}
		}
	}
	return true
}

// removable refuses to take away what does more than give a value.
func (p *Policy) removable(n *syntax.Node, what string) error {
	if inert(n) {
		return nil
	}
	return refuse(n.Span, "%s is not removed, since evaluating it may do more than give a value. Remove it by hand.", what)
}

// member finds the member whose key stands at a place, with the object that holds
// it.
func (p *Policy) member(key text.Span) (*syntax.Node, int, error) {
	if p.err != nil {
		return nil, -1, p.err
	}
	for _, object := range p.objects {
		for i, m := range object.Properties {
			if m.KeySpan == key && plain(m) {
				return object, i, nil
			}
		}
	}
	return nil, -1, refuse(key, "The policy has no key here that could be edited.")
}
