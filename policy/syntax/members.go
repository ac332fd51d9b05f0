package syntax

import (
	"cmp"
	"slices"

	"github.com/microsoft/typescript-go/shim/parse"

	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// Member is an access to a property whose name is written in the code.
type Member struct {
	Name string
	Span text.Span // of the name
	// Receiver is what stands before the dot. It is nil where a pattern takes the property,
	// as in `const { name } = value`.
	Receiver *Node
}

func (f *tree) memberAccesses(names map[string]bool) []Member {
	if f.source == nil {
		return nil
	}
	var out []Member
	f.guard("find members", func() { f.accesses(f.source.AsNode(), names, &out) })
	slices.SortFunc(out, func(a, b Member) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	return out
}

func (f *tree) accesses(n *parse.Node, names map[string]bool, out *[]Member) {
	children(n, func(child *parse.Node) {
		switch child.Kind {
		case parse.KindPropertyAccessExpression:
			if name := child.Name(); name != nil && names[name.Text()] {
				*out = append(*out, Member{name.Text(), f.span(name), f.value(child.Expression())})
			}
		case parse.KindElementAccessExpression:
			key := child.AsElementAccessExpression().ArgumentExpression
			if key != nil && key.Kind == parse.KindStringLiteral && names[key.Text()] {
				*out = append(*out, Member{key.Text(), f.span(key), f.value(child.Expression())})
			}
		}
		if key := patternKey(child); key != nil && names[key.Text()] {
			*out = append(*out, Member{key.Text(), f.span(key), nil})
		}
		if !skipped(child) {
			f.accesses(child, names, out)
		}
	})
}

// patternKey returns the name of the property that an element of a destructuring
// declaration takes, or nil.
func patternKey(n *parse.Node) *parse.Node {
	if n.Kind != parse.KindBindingElement || n.Parent == nil || n.Parent.Kind != parse.KindObjectBindingPattern {
		return nil
	}
	e := n.AsBindingElement()
	key := e.PropertyName
	if key == nil && e.DotDotDotToken == nil {
		key = n.Name()
	}
	if key == nil || key.Kind != parse.KindIdentifier && key.Kind != parse.KindStringLiteral {
		return nil
	}
	return key
}
