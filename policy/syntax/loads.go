package syntax

import (
	"slices"

	"github.com/microsoft/typescript-go/shim/parse"

	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// Load is one place where a script asks for a module that the bundler could not put
// into it, since the code computes which one.
type Load struct {
	Span text.Span
	// Caught says that the place lies in a try whose catch goes on without the module.
	Caught bool
}

// computedLoads finds what a bundle still asks for: import() of anything, calls of the
// function that stands in for require with anything but a text, and that function
// itself where it is handed on. A text in a call of it is a module that the author
// knew might be missing; the bundler refuses any other.
func (f *tree) computedLoads(require string) []Load {
	if f.source == nil {
		return nil
	}
	l := loads{f: f, require: require}
	f.guard("find loads", func() { l.below(f.source.AsNode(), false) })
	return l.out
}

type loads struct {
	f       *tree
	require string
	out     []Load
}

func throwsAgain(block *parse.Node) bool {
	return slices.ContainsFunc(block.Statements(), func(s *parse.Node) bool { return s.Kind == parse.KindThrowStatement })
}

func (l *loads) below(n *parse.Node, caught bool) {
	children(n, func(child *parse.Node) {
		inside := caught
		switch child.Kind {
		case parse.KindBlock:
			if n.Kind == parse.KindTryStatement {
				t := n.AsTryStatement()
				inside = caught || t.TryBlock == child && t.CatchClause != nil && !throwsAgain(t.CatchClause.AsCatchClause().Block)
			}
		case parse.KindFunctionDeclaration, parse.KindFunctionExpression, parse.KindArrowFunction, parse.KindMethodDeclaration,
			parse.KindConstructor, parse.KindGetAccessor, parse.KindSetAccessor:
			inside = false // it runs when it is called, wherever that is
		case parse.KindImportKeyword:
			if n.Kind == parse.KindCallExpression && n.Expression() == child {
				l.out = append(l.out, Load{l.f.span(n), caught})
			}
		case parse.KindIdentifier:
			if child.Text() == l.require && l.computes(child, n) {
				l.out = append(l.out, Load{l.f.span(l.whole(child, n)), caught})
			}
		}
		if !skipped(child) {
			l.below(child, inside)
		}
	})
}

// computes reports whether a mention of the stand-in may load what nobody spelled out.
func (l *loads) computes(id, parent *parse.Node) bool {
	switch parent.Kind {
	case parse.KindVariableDeclaration, parse.KindFunctionExpression, parse.KindFunctionDeclaration:
		return parent.Name() != id
	case parse.KindPropertyAccessExpression, parse.KindTypeOfExpression, parse.KindParameter:
		// require.resolve and require.cache load nothing, and neither does a question.
		return false
	case parse.KindPropertyAssignment:
		return parent.Name() != id
	case parse.KindCallExpression:
		if parent.Expression() != id || len(parent.Arguments()) == 0 {
			return parent.Expression() != id
		}
		argument := unwrap(parent.Arguments()[0])
		return argument.Kind != parse.KindStringLiteral && argument.Kind != parse.KindNoSubstitutionTemplate
	}
	return true
}

// whole returns the call that a mention is part of, or the mention itself.
func (l *loads) whole(id, parent *parse.Node) *parse.Node {
	if parent.Kind == parse.KindCallExpression && parent.Expression() == id {
		return parent
	}
	return id
}
