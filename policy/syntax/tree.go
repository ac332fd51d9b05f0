package syntax

import (
	"github.com/microsoft/typescript-go/shim/parse"

	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// Tree is the compiler's own view of a file, for the packages below this one that
// ask more of the code than the facade answers. Everybody else uses the facade:
// what stands here changes with the compiler.
type Tree struct {
	// Root is nil when the text could not be parsed at all.
	Root *parse.Node
	// Free are the uses of names that the file does not declare, in source order.
	Free []*parse.Node
	// Uses are the uses of each variable, declarations not included, in source order.
	Uses map[*parse.Symbol][]*parse.Node
	// Module tells an ES module, which is strict code, from a script.
	Module bool
}

// TreeOf returns the tree with its scopes. It is shared: nobody may change it.
func TreeOf(file *File) Tree {
	f := inside(file)
	x := f.scopes()
	if f.source == nil {
		return Tree{}
	}
	return Tree{Root: f.source.AsNode(), Free: x.free, Uses: x.bound, Module: parse.IsModule(f.source)}
}

// SpanOf returns where a node of the file's tree stands, without the trivia before it.
func SpanOf(f *File, n *parse.Node) text.Span { return inside(f).span(n) }

// Children calls visit for a node's children in source order, leaving out what the
// compiler derived from JSDoc comments.
func Children(n *parse.Node, visit func(*parse.Node)) { children(n, visit) }

// IsWrite reports whether an expression is assigned to, incremented, destructured
// into or deleted where it stands.
func IsWrite(n *parse.Node) bool { return isWrite(n) }
