package edit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// Grant adds permissions to a library: in order if its permissions are sorted, else
// at the end. What is granted already is left alone; without the option, it is
// written. No edits and no error mean that there is nothing to do.
func (p *Policy) Grant(library string, names ...string) ([]Edit, error) {
	object, o, err := p.optionsOf(library)
	if err != nil {
		return nil, err
	}
	permissions, err := p.option(object, o, "permissions", syntax.KindArray)
	if err != nil {
		return nil, err
	}
	if permissions == nil {
		return p.addMember(object, 0, Member{"permissions", Strings(distinct(names)...)}), nil
	}
	return p.addStrings(permissions, names), nil
}

// SetPermissions writes the permissions of a library that has none. Without names it
// grants nothing.
func (p *Policy) SetPermissions(library string, names []string) ([]Edit, error) {
	object, o, err := p.optionsOf(library)
	if err != nil {
		return nil, err
	}
	i, err := p.find(object, o, "permissions", false)
	if err != nil {
		return nil, err
	}
	if i >= 0 {
		return nil, refuse(object.Properties[i].Span, "%q has permissions already.", library)
	}
	return p.addMember(object, 0, Member{"permissions", Strings(distinct(names)...)}), nil
}

// Revoke takes a permission away, in whichever form and however often it is written,
// with the comments that speak of it: right above it and behind it on its line.
func (p *Policy) Revoke(library, name string) ([]Edit, error) {
	array, indexes, err := p.permission(library, name)
	if err != nil {
		return nil, err
	}
	for _, e := range array.Elements {
		if e.Kind == syntax.KindSpread && !p.closed(e, name) {
			return nil, refuse(e.Span, "%q may be granted to %q by %s as well, so no edit here is sure to revoke it. Change it where that is made.", name, library, p.text[e.Span.Start:e.Span.End])
		}
	}
	for _, i := range indexes {
		if err := p.removable(array.Elements[i], fmt.Sprintf("The permission %q", name)); err != nil {
			return nil, err
		}
	}
	return p.removeRemarked(newList(p.text, array), indexes), nil
}

// RemoveRepeated takes away every mention of a permission but the first, which is
// the one that counts. Their comments go with them, as with Revoke.
func (p *Policy) RemoveRepeated(library, name string) ([]Edit, error) {
	array, indexes, err := p.permission(library, name)
	if err != nil {
		return nil, err
	}
	for _, i := range indexes[1:] {
		if err := p.removable(array.Elements[i], fmt.Sprintf("The permission %q", name)); err != nil {
			return nil, err
		}
	}
	return p.removeRemarked(newList(p.text, array), indexes[1:]), nil
}

// RenamePermission gives a permission another name and keeps all else of it.
func (p *Policy) RenamePermission(library, name, to string) ([]Edit, error) {
	array, indexes, err := p.permission(library, name)
	if err != nil {
		return nil, err
	}
	var edits []Edit
	for i, e := range array.Elements {
		if e.Kind == syntax.KindSpread && !p.closed(e, to) {
			return nil, refuse(e.Span, "%q may be granted to %q by %s already. Change it by hand.", to, library, p.text[e.Span.Start:e.Span.End])
		}
		at := p.nameOf(e)
		switch {
		case at == nil:
		case at.Text == to:
			return nil, refuse(at.Span, "%q has the permission %q already.", library, to)
		case slices.Contains(indexes, i):
			if err := p.own(at, fmt.Sprintf("The permission %q", name)); err != nil {
				return nil, err
			}
			edits = append(edits, p.restring(at, to))
		}
	}
	return inOrder(edits), nil
}

// NarrowPermission restricts a permission to rules: "fetch" becomes
// { name: "fetch", allow: [...] }. Rules that it has already are replaced.
func (p *Policy) NarrowPermission(library, name string, allow []string) ([]Edit, error) {
	array, indexes, err := p.permission(library, name)
	if err != nil {
		return nil, err
	}
	if len(indexes) > 1 {
		return nil, refuse(array.Elements[indexes[1]].Span, "%q is granted twice to %q. Remove one of the two first.", name, library)
	}
	element := array.Elements[indexes[0]]
	if e := p.file.Resolve(element); e.Kind == syntax.KindObject {
		o := permissionOwner(name)
		if err := p.own(e, string(o)); err != nil {
			return nil, err
		}
		return p.set(e, o, Member{"allow", Strings(allow...)})
	}
	l := newList(p.text, array)
	w := p.writer(l).inside()
	indent := indentOf(p.text, element.Span.Start)
	value := w.value(Object{{"name", String(name)}, {"allow", Strings(allow...)}}, indent, p.columns(element.Whole), false)
	return []Edit{{Span: element.Whole, NewText: value}}, nil
}

// SetAllow replaces one rule of a permission.
func (p *Policy) SetAllow(library, name, rule, to string) ([]Edit, error) {
	array, indexes, err := p.permission(library, name)
	if err != nil {
		return nil, err
	}
	o := permissionOwner(name)
	object := p.file.Resolve(array.Elements[indexes[0]])
	if object.Kind != syntax.KindObject {
		return nil, refuse(object.Span, "%s of %q has no rules.", capital(string(o)), library)
	}
	if err := p.own(object, capital(string(o))); err != nil {
		return nil, err
	}
	allow, err := p.option(object, o, "allow", syntax.KindArray)
	if err != nil {
		return nil, err
	}
	return p.renameString(allow, rule, to, fmt.Sprintf("A rule of %s", o))
}

func permissionOwner(name string) owner { return owner(fmt.Sprintf("the permission %q", name)) }

// permission finds where a library is granted a permission: the array and the
// indexes of its elements, at least one.
func (p *Policy) permission(library, name string) (*syntax.Node, []int, error) {
	object, o, err := p.optionsOf(library)
	if err != nil {
		return nil, nil, err
	}
	array, err := p.option(object, o, "permissions", syntax.KindArray)
	if err != nil {
		return nil, nil, err
	}
	var indexes []int
	if array != nil {
		for i, e := range array.Elements {
			if at := p.nameOf(e); at != nil && at.Text == name {
				indexes = append(indexes, i)
			}
		}
	}
	if len(indexes) == 0 {
		return nil, nil, refuse(object.Span, "The permissions of %q, as they are written here, do not name %q.", library, name)
	}
	return array, indexes, nil
}

// nameOf returns the string that names a permission, or nil.
func (p *Policy) nameOf(element *syntax.Node) *syntax.Node {
	n := p.file.Resolve(element)
	if n.Kind == syntax.KindObject {
		m := n.Property("name")
		if m == nil || !plain(*m) {
			return nil
		}
		n = p.file.Resolve(m.Value)
	}
	if n.Kind != syntax.KindString {
		return nil
	}
	return n
}

// closed reports whether a spread in an array is known not to hold a name.
func (p *Policy) closed(spread *syntax.Node, name string) bool {
	array := p.file.Resolve(spread.Operand)
	if array.Kind != syntax.KindArray {
		return false
	}
	for _, e := range array.Elements {
		if at := p.nameOf(e); at == nil || at.Text == name {
			return false
		}
	}
	return true
}

// addStrings adds strings to an array that does not hold them, in order if it is
// sorted.
func (p *Policy) addStrings(array *syntax.Node, names []string) []Edit {
	l := newList(p.text, array)
	quote := p.quote(l)
	var have []string
	known := true
	for _, e := range array.Elements {
		at := p.nameOf(e)
		if at == nil {
			known = false
			continue
		}
		have = append(have, at.Text)
	}
	var added []string
	for _, name := range distinct(names) {
		if !slices.Contains(have, name) {
			added = append(added, name)
		}
	}
	less := order(have)
	if !known {
		less = nil
	}
	if less != nil {
		slices.SortStableFunc(added, less)
	}
	places := map[int][]item{}
	for _, name := range added {
		place := len(have)
		if less == nil {
			place = len(l.items)
		} else {
			for place > 0 && less(have[place-1], name) > 0 {
				place--
			}
		}
		places[place] = append(places[place], func(string) string { return literal(name, quote) })
	}
	var edits []Edit
	for place := range len(l.items) + 1 {
		edits = append(edits, p.place(l, place, places[place], false)...)
	}
	return p.fit(l, inOrder(edits))
}

// order returns the order that names are sorted in, or nil if they are in none. One
// name tells nothing.
func order(names []string) func(a, b string) int {
	if len(names) < 2 {
		return nil
	}
	folded := func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) }
	for _, less := range []func(a, b string) int{strings.Compare, folded} {
		if slices.IsSortedFunc(names, less) {
			return less
		}
	}
	return nil
}

// renameString replaces a string of an array, however often it stands there.
func (p *Policy) renameString(array *syntax.Node, name, to, what string) ([]Edit, error) {
	var edits []Edit
	if array != nil {
		for _, e := range array.Elements {
			n := p.file.Resolve(e)
			switch {
			case n.Kind != syntax.KindString:
			case n.Text == to:
				return nil, refuse(n.Span, "%q stands here already.", to)
			case n.Text == name:
				if err := p.own(n, what); err != nil {
					return nil, err
				}
				edits = append(edits, p.restring(n, to))
			}
		}
	}
	if len(edits) == 0 {
		return nil, refuse(text.Span{}, "%s that reads %q is not written out in the policy.", what, name)
	}
	return inOrder(edits), nil
}

// restring replaces a string by another in its own quotes.
func (p *Policy) restring(n *syntax.Node, to string) Edit {
	return Edit{Span: n.Span, NewText: literal(to, p.text[n.Span.Start])}
}

// distinct drops repetitions.
func distinct(names []string) []string {
	var out []string
	for _, name := range names {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
