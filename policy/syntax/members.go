package syntax

import (
	"cmp"
	"slices"

	"github.com/microsoft/typescript-go/shim/parse"

	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// Member is an access to a property whose name is written in the code, or code that gives
// an object such a property.
type Member struct {
	Name string
	Span text.Span // of the name
	// Receiver is what stands before the dot. It is nil where a pattern takes the property,
	// as in `const { name } = value`, and where a literal or a class declares it.
	Receiver *Node
	// Self is set where the receiver is `this` or `super`.
	Self bool
	// Declares is set where an object is given the property.
	Declares bool
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
		if key := memberKey(child); key != nil && names[key.Text()] {
			m := Member{Name: key.Text(), Span: f.span(key), Declares: declares(child)}
			switch child.Kind {
			case parse.KindPropertyAccessExpression, parse.KindElementAccessExpression:
				on := child.Expression()
				m.Receiver = f.value(on)
				m.Self = on.Kind == parse.KindThisKeyword || on.Kind == parse.KindSuperKeyword
			}
			*out = append(*out, m)
		}
		if !skipped(child) {
			f.accesses(child, names, out)
		}
	})
}

// memberKey returns the name of the property that a node takes or declares, where it is
// written out, or nil.
func memberKey(n *parse.Node) *parse.Node {
	var key *parse.Node
	switch n.Kind {
	case parse.KindPropertyAccessExpression, parse.KindMethodDeclaration, parse.KindGetAccessor, parse.KindSetAccessor,
		parse.KindPropertyDeclaration, parse.KindPropertyAssignment, parse.KindShorthandPropertyAssignment:
		key = n.Name()
	case parse.KindBindingElement:
		if n.Parent.Kind != parse.KindObjectBindingPattern {
			return nil
		}
		e := n.AsBindingElement()
		key = e.PropertyName
		if key == nil && e.DotDotDotToken == nil {
			key = n.Name()
		}
	case parse.KindElementAccessExpression:
		key = n.AsElementAccessExpression().ArgumentExpression
		if key != nil && key.Kind == parse.KindIdentifier {
			return nil // a variable's value
		}
	}
	if key != nil && key.Kind == parse.KindComputedPropertyName {
		key = key.Expression()
		if key.Kind == parse.KindIdentifier {
			return nil
		}
	}
	if key == nil || key.Kind != parse.KindIdentifier && key.Kind != parse.KindStringLiteral && key.Kind != parse.KindNoSubstitutionTemplate {
		return nil
	}
	return key
}

// declares tells whether a node with a member's key gives an object that property.
func declares(n *parse.Node) bool {
	switch n.Kind {
	case parse.KindPropertyAccessExpression, parse.KindElementAccessExpression:
		return parse.IsWriteOnly(n)
	case parse.KindPropertyAssignment, parse.KindShorthandPropertyAssignment:
		return !isWrite(n.Parent) // a pattern takes it
	}
	return n.Kind != parse.KindBindingElement
}
