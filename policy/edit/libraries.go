package edit

import (
	"fmt"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// AddLibrary adds a library with its options behind the others.
func (p *Policy) AddLibrary(name string, options Object) ([]Edit, error) {
	if p.err != nil {
		return nil, p.err
	}
	i, err := p.find(p.root, "the policy", name, false)
	if err != nil {
		return nil, err
	}
	if i >= 0 {
		return nil, refuse(p.root.Properties[i].KeySpan, "The policy has %q already.", name)
	}
	l := newList(p.text, p.root)
	broken := false // as the last library is
	if n := len(l.items); n > 0 {
		last := l.items[n-1]
		broken = l.multiline() && strings.ContainsAny(p.text[last.Start:last.End], "\r\n")
	}
	w := p.writer(l)
	return p.insert(l, len(l.items), []item{func(indent string) string {
		return w.member(Member{name, options}, indent, broken)
	}}, true), nil
}

// RenameLibrary gives a library another name and keeps its policy.
func (p *Policy) RenameLibrary(name, to string) ([]Edit, error) {
	i, err := p.memberOf(name, true)
	if err != nil {
		return nil, err
	}
	return p.rename(p.root, i, "the policy", to)
}

// RemoveLibrary takes a library out of the policy.
func (p *Policy) RemoveLibrary(name string) ([]Edit, error) {
	i, err := p.memberOf(name, true)
	if err != nil {
		return nil, err
	}
	return p.drop(p.root, []int{i}, quoted(name))
}

// SetOption gives an option of a library a value, in place of the one that it has.
func (p *Policy) SetOption(library, option string, value Value) ([]Edit, error) {
	object, o, err := p.optionsOf(library)
	if err != nil {
		return nil, err
	}
	return p.set(object, o, Member{option, value})
}

// RenameOption gives an option of a library another name and keeps its value.
func (p *Policy) RenameOption(library, option, to string) ([]Edit, error) {
	object, i, o, err := p.optionMember(library, option)
	if err != nil {
		return nil, err
	}
	return p.rename(object, i, o, to)
}

// RemoveOption takes an option away from a library.
func (p *Policy) RemoveOption(library, option string) ([]Edit, error) {
	object, i, _, err := p.optionMember(library, option)
	if err != nil {
		return nil, err
	}
	return p.drop(object, []int{i}, quoted(option))
}

func (p *Policy) optionMember(library, option string) (*syntax.Node, int, owner, error) {
	object, o, err := p.optionsOf(library)
	if err != nil {
		return nil, -1, o, err
	}
	i, err := p.find(object, o, option, true)
	if err == nil && i < 0 {
		err = refuse(object.Span, "%s has no option %q.", capital(string(o)), option)
	}
	return object, i, o, err
}

// RenameKey gives the key that stands at a place another name: an option of a
// library, of a workload, of limits or of a permission.
func (p *Policy) RenameKey(at text.Span, to string) ([]Edit, error) {
	object, i, err := p.member(at)
	if err != nil {
		return nil, err
	}
	o := owner("the object here")
	if _, err := p.find(object, o, object.Properties[i].Key, true); err != nil {
		return nil, err
	}
	return p.rename(object, i, o, to)
}

// RemoveKey takes away the member whose key stands at a place.
func (p *Policy) RemoveKey(at text.Span) ([]Edit, error) {
	object, i, err := p.member(at)
	if err != nil {
		return nil, err
	}
	name := quoted(object.Properties[i].Key)
	if err := p.own(object, "The object with "+name); err != nil {
		return nil, err
	}
	if _, err := p.find(object, "the object here", object.Properties[i].Key, true); err != nil {
		return nil, err
	}
	return p.drop(object, []int{i}, name)
}

// RemoveDuplicateKey takes away the members before the one whose key stands at a
// place that have the same key: JavaScript keeps only the last, so the policy means
// what it meant.
func (p *Policy) RemoveDuplicateKey(at text.Span) ([]Edit, error) {
	object, i, err := p.member(at)
	if err != nil {
		return nil, err
	}
	key := object.Properties[i].Key
	var earlier []int
	for j, m := range object.Properties[:i] {
		if plain(m) && m.Key == key {
			earlier = append(earlier, j)
		}
	}
	if len(earlier) == 0 {
		return nil, refuse(at, "%q stands only once before this place.", key)
	}
	return p.drop(object, earlier, fmt.Sprintf("The earlier %q", key))
}

// rename gives a member another key.
func (p *Policy) rename(object *syntax.Node, i int, o owner, to string) ([]Edit, error) {
	m := object.Properties[i]
	if err := p.own(object, "The object with "+quoted(m.Key)); err != nil {
		return nil, err
	}
	if m.Method {
		return nil, refuse(m.Span, "%q is a method here, and no option is one. Change it by hand.", m.Key)
	}
	there, err := p.find(object, o, to, false)
	if err != nil {
		return nil, err
	}
	if there >= 0 {
		return nil, refuse(object.Properties[there].KeySpan, "%q stands in %s already.", to, o)
	}
	return []Edit{{Span: m.KeySpan, NewText: p.rekey(newList(p.text, object), m, to)}}, nil
}

// drop takes members away.
func (p *Policy) drop(object *syntax.Node, indexes []int, what string) ([]Edit, error) {
	for _, i := range indexes {
		if err := p.removable(object.Properties[i].Value, what); err != nil {
			return nil, err
		}
	}
	return p.remove(newList(p.text, object), indexes), nil
}

// set gives an object a member, in place of the one with the same key.
func (p *Policy) set(object *syntax.Node, o owner, m Member) ([]Edit, error) {
	i, err := p.find(object, o, m.Key, false)
	if err != nil {
		return nil, err
	}
	l := newList(p.text, object)
	if i < 0 {
		return p.addMember(object, len(l.items), m), nil
	}
	old := object.Properties[i]
	if err := p.removable(old.Value, "The value of "+quoted(m.Key)); err != nil {
		return nil, err
	}
	w := p.writer(l)
	indent := indentOf(p.text, old.Span.Start)
	if old.Shorthand || old.Method {
		return []Edit{{Span: old.Span, NewText: w.member(m, indent, false)}}, nil
	}
	span := old.Value.Span
	return []Edit{{Span: span, NewText: w.inside().value(m.Value, indent, p.columns(span), false)}}, nil
}

// columns returns how much of its line stands before and behind a span on it.
func (p *Policy) columns(s text.Span) int {
	return width(p.text[lineStart(p.text, s.Start):s.Start]) + width(p.text[s.End:p.codeEnd(s.End)])
}

// codeEnd returns where the line of an offset ends, not counting a comment at its
// end: nobody breaks a line up because of what is said about it.
func (p *Policy) codeEnd(at int) int {
	end := lineEnd(p.text, at)
	for _, c := range p.comments {
		if c.Span.End == end && c.Span.Start >= at {
			return at + len(strings.TrimRight(p.text[at:c.Span.Start], " \t"))
		}
	}
	return end
}

// addMember adds a member to an object, before the one with the given index.
func (p *Policy) addMember(object *syntax.Node, index int, m Member) []Edit {
	l := newList(p.text, object)
	w := p.writer(l)
	return p.insert(l, index, []item{func(indent string) string { return w.member(m, indent, false) }}, false)
}
