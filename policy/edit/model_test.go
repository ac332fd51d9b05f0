package edit

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// tree is an object of a policy as plain data.
type tree = map[string]any

// model reads what a policy says into plain data. What is not literal becomes its
// source.
func model(f *syntax.File) tree {
	n, _, _ := f.Export()
	if n == nil {
		return nil
	}
	root, _ := plainOf(f, n).(tree)
	return root
}

func plainOf(f *syntax.File, n *syntax.Node) any {
	n = f.Resolve(n)
	switch n.Kind {
	case syntax.KindObject:
		t := tree{}
		for _, m := range n.Properties {
			switch {
			case m.Spread:
				inner, ok := plainOf(f, m.Value).(tree)
				if !ok {
					t[f.Text[m.Span.Start:m.Span.End]] = "source"
				}
				for k, v := range inner {
					t[k] = v
				}
			case m.Computed || m.Accessor:
				t[f.Text[m.Span.Start:m.Span.End]] = "source"
			default:
				t[m.Key] = plainOf(f, m.Value)
			}
		}
		return t
	case syntax.KindArray:
		a := []any{}
		for _, e := range n.Elements {
			a = append(a, plainOf(f, e))
		}
		return a
	case syntax.KindString:
		return n.Text
	case syntax.KindNumber:
		return n.Number
	case syntax.KindBool:
		return n.Bool
	}
	return "source " + f.Text[n.Span.Start:n.Span.End]
}

// at follows keys; what is not there gives nil.
func at(t tree, keys ...string) any {
	var v any = t
	for _, k := range keys {
		inner, ok := v.(tree)
		if !ok {
			return nil
		}
		v = inner[k]
	}
	return v
}

func treeAt(t tree, keys ...string) tree {
	inner, _ := at(t, keys...).(tree)
	if inner == nil {
		inner = tree{}
	}
	return inner
}

func nameIn(element any) any {
	if o, ok := element.(tree); ok {
		return o["name"]
	}
	return element
}

// added puts into want, where got has them, the names that an array was to get.
func added(want, got any, names []string) any {
	w, _ := want.([]any)
	g, _ := got.([]any)
	have := map[any]bool{}
	for _, e := range w {
		have[nameIn(e)] = true
	}
	out := []any{}
	for _, e := range g {
		if s, ok := e.(string); ok && slices.Contains(names, s) && !have[s] {
			have[s] = true
			out = append(out, s)
			continue
		}
		if len(w) > 0 {
			out, w = append(out, w[0]), w[1:]
		}
	}
	out = append(out, w...)
	for _, name := range names {
		if !have[name] {
			out = append(out, "missing "+name)
		}
	}
	return out
}

func without(array any, name string, from int) any {
	out, seen := []any{}, 0
	a, _ := array.([]any)
	for _, e := range a {
		if nameIn(e) == name {
			if seen++; seen > from {
				continue
			}
		}
		out = append(out, e)
	}
	return out
}

func renamed(array any, name, to string) any {
	out := []any{}
	a, _ := array.([]any)
	for _, e := range a {
		switch o, object := e.(tree); {
		case object && o["name"] == name:
			o["name"] = to
		case e == name:
			e = to
		}
		out = append(out, e)
	}
	return out
}

func anys(names []string) []any {
	out := []any{}
	for _, name := range names {
		out = append(out, name)
	}
	return out
}

func move(t tree, from, to string) {
	t[to] = t[from]
	delete(t, from)
}

// change does to the model of a policy what the operation is to do to its text. got
// is what came of it, for where the operation may choose a place.
func (o operation) change(want, got tree) {
	a, b, c, d := o.arg(0), o.arg(1), o.arg(2), o.arg(3)
	lib := treeAt(want, a)
	switch o.verb {
	case "grant", "set-permissions":
		lib["permissions"] = added(lib["permissions"], at(got, a, "permissions"), o.rest(1))
	case "revoke":
		lib["permissions"] = without(lib["permissions"], b, 0)
	case "remove-repeated":
		lib["permissions"] = without(lib["permissions"], b, 1)
	case "rename-permission":
		lib["permissions"] = renamed(lib["permissions"], b, c)
	case "narrow":
		for i, e := range lib["permissions"].([]any) {
			if nameIn(e) != b {
				continue
			}
			if p, ok := e.(tree); ok {
				p["allow"] = anys(o.rest(2))
			} else {
				lib["permissions"].([]any)[i] = tree{"name": b, "allow": anys(o.rest(2))}
			}
		}
	case "set-allow":
		for _, e := range lib["permissions"].([]any) {
			if p, ok := e.(tree); ok && nameIn(e) == b {
				p["allow"] = renamed(p["allow"], c, d)
				break // of several the first counts
			}
		}
	case "add-library":
		want[a] = tree{"permissions": anys(o.rest(1))}
	case "add-commented-library":
		want[a] = tree{"permissions": []any{"fetch"}}
	case "add-sample-library":
		want[a] = tree{"permissions": []any{"Intl", tree{"name": "fetch", "allow": []any{"https://api.example.com/*"}}}, "limits": tree{"memoryMB": 64.0}}
	case "rename-library":
		move(want, a, b)
	case "remove-library":
		delete(want, a)
	case "set":
		switch c {
		case "true", "false":
			lib[b] = c == "true"
		case "limits":
			lib[b] = tree{"memoryMB": 64.0, "timeoutMs": 1000.0}
		default:
			lib[b] = c
		}
	case "rename-option":
		move(lib, b, c)
	case "remove-option":
		delete(lib, b)
	case "rename-key":
		everywhere(want, func(t tree) {
			if _, ok := t[a]; ok {
				move(t, a, b)
			}
		})
	case "remove-key":
		everywhere(want, func(t tree) { delete(t, a) })
	case "add-workload":
		w, _ := lib["workloads"].(tree)
		if w == nil {
			w = tree{}
			lib["workloads"] = w
		}
		w[b] = tree{"entry": c, "exports": anys(o.rest(3))}
	case "add-exports":
		w := treeAt(lib, "workloads", b)
		w["exports"] = added(w["exports"], at(got, a, "workloads", b, "exports"), o.rest(2))
	case "rename-export":
		w := treeAt(lib, "workloads", b)
		w["exports"] = renamed(w["exports"], c, d)
	case "remove-export":
		w := treeAt(lib, "workloads", b)
		w["exports"] = without(w["exports"], c, 0)
	}
}

// everywhere visits the objects of a model.
func everywhere(v any, visit func(tree)) {
	switch v := v.(type) {
	case tree:
		visit(v)
		for _, inner := range v {
			everywhere(inner, visit)
		}
	case []any:
		for _, inner := range v {
			everywhere(inner, visit)
		}
	}
}

// faulty reports whether what the operation asks for is itself a fault of a policy.
func (o operation) faulty() bool {
	switch o.verb {
	case "remove-option", "remove-key", "set", "rename-option", "rename-key":
		return true
	case "add-workload":
		return strings.HasPrefix(o.arg(2), "..")
	}
	return false
}

var (
	blockComment = regexp.MustCompile(`(?s)/\*.*?\*/`)
	anyComment   = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\r\n\x{2028}\x{2029}]*`)
	blankLine    = regexp.MustCompile(`[\n\r\x{2028}\x{2029}][ \t]*[\n\r\x{2028}\x{2029}]`)
)

// adjoin reports whether what stands between two places are comments at most, lines
// that follow each other, and one comma.
func adjoin(between string) bool {
	bare := strings.ReplaceAll(anyComment.ReplaceAllString(between, "x"), "\r\n", "\n")
	return !blankLine.MatchString(bare) && strings.TrimFunc(bare, func(r rune) bool { return r == 'x' || r == ',' || r == '\uFEFF' || unicode.IsSpace(r) }) == "" && strings.Count(bare, ",") <= 1
}

// alone reports whether only comments, and a comma that leads the line, stand before a
// place on its line.
func alone(f *syntax.File, at int) bool {
	at = len(strings.TrimRight(f.Text[:at], " \t,"))
	return firstOnLine(f.Text, at) || slices.ContainsFunc(f.Comments(), func(c syntax.Comment) bool {
		return c.Span.End <= at && blank(f.Text[c.Span.End:at]) && alone(f, c.Span.Start)
	})
}

// takes reports whether the operation may take a comment along: one inside of what
// it removes, or behind that on its line; with a permission, one right above it or one
// that goes on below with the comment behind it.
func (o operation) takes(f *syntax.File, comment text.Span) bool {
	for _, s := range o.removed(f) {
		if s.Start <= comment.Start && comment.Start <= s.End {
			return true
		}
		if o.verb == "revoke" || o.verb == "remove-repeated" {
			if comment.Start < s.Start && adjoin(f.Text[comment.End:s.Start]) && alone(f, comment.Start) {
				return true
			}
			column := width(indentOf(f.Text, comment.Start))
			if s.End <= comment.Start && adjoin(f.Text[s.End:comment.Start]) && column > width(indentOf(f.Text, s.Start)) {
				return true
			}
		}
		// A comment before it may go over to another line.
		if between := blockComment.ReplaceAllString(f.Text[min(s.End, comment.Start):comment.Start], ""); s.End <= comment.Start && !strings.ContainsAny(between, "\r\n\"'{[]}:") && strings.Count(between, ",") <= 1 {
			return true
		}
	}
	return false
}

// removed returns the spans of what the operation takes away.
func (o operation) removed(f *syntax.File) []text.Span {
	var spans []text.Span
	p := Open(f)
	elements := func(array *syntax.Node, name string) {
		array = f.Resolve(array)
		for _, e := range array.Elements {
			if n := p.nameOf(e); n != nil && n.Text == name {
				spans = append(spans, e.Whole)
			}
		}
	}
	value := func(n *syntax.Node, keys ...string) *syntax.Node {
		for _, k := range keys {
			m := f.Resolve(n).Property(k)
			if m == nil {
				return &syntax.Node{}
			}
			n = m.Value
		}
		return f.Resolve(n)
	}
	members := func(object *syntax.Node, key string) {
		for _, m := range object.Properties {
			if m.Key == key {
				spans = append(spans, m.Span)
			}
		}
	}
	if p.root == nil {
		return nil
	}
	switch o.verb {
	case "revoke", "remove-repeated", "narrow":
		elements(value(p.root, o.arg(0), "permissions"), o.arg(1))
	case "remove-export":
		elements(value(p.root, o.arg(0), "workloads", o.arg(1), "exports"), o.arg(2))
	case "remove-library":
		members(p.root, o.arg(0))
	case "remove-option", "set":
		members(value(p.root, o.arg(0)), o.arg(1))
	case "remove-key", "remove-duplicate":
		for _, object := range p.objects {
			members(object, o.arg(0))
		}
	}
	return spans
}
