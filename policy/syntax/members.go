package syntax

import (
	"cmp"
	"slices"

	"github.com/microsoft/typescript-go/shim/parse"

	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// Member is an access to a property whose name is written in the code.
type Member struct {
	Name     string
	Span     text.Span // of the name
	Receiver *Node     // what stands before the dot
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
		if !skipped(child) {
			f.accesses(child, names, out)
		}
	})
}
