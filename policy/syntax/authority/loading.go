package authority

import (
	"slices"

	"github.com/microsoft/typescript-go/shim/parse"
)

// findLoading marks the functions that certainly run while the script is evaluated:
// those that code which runs calls without a condition.
func (e *engine) findLoading() {
	e.script.loading = true
	queue := []*function{e.script}
	reach := func(fn *function) {
		if !fn.loading && !parse.IsGenerator(fn.node) {
			fn.loading = true
			queue = append(queue, fn)
		}
	}
	for len(queue) > 0 {
		fn := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, call := range fn.calls {
			edges := e.callees[call.node]
			if len(edges) == 1 && edges[0].runs() && e.covered(call.node) && (call.certain || e.isFactory(call.node, fn)) {
				reach(edges[0].fn)
			}
		}
		for _, base := range fn.base {
			reach(base)
		}
	}
}

// runs reports whether an edge runs the function, as all do but bind.
func (c edge) runs() bool {
	callee := last(c.call.Expression())
	return c.receiver < 0 || callee.Kind != parse.KindPropertyAccessExpression || callee.Name().Text() != "bind"
}

// isFactory reports whether a call calls a function that was handed to the function
// around it where that was written, as universal module definitions do. They call it
// in each of their branches, and so in any case.
func (e *engine) isFactory(call *parse.Node, fn *function) bool {
	callee := last(call.Expression())
	symbol := e.symbols[callee]
	if symbol == nil || len(symbol.Declarations) != 1 || symbol.Declarations[0].Parent != fn.node || len(fn.callers) != 1 {
		return false
	}
	return symbol.Declarations[0].Kind == parse.KindParameter && last(e.calleeOf(fn.callers[0].call)) == fn.node
}

// isLoading reports whether code is reached while the script is evaluated.
func (e *engine) isLoading(n *parse.Node) bool {
	fn := e.functionAt(n)
	if !fn.loading {
		return false
	}
	// A branch for the case that an argument is given, in a function that is called
	// without it.
	for range maxClimb {
		p := n.Parent
		if p == nil || n == fn.node {
			break
		}
		var condition *parse.Node
		var outcome bool
		switch p.Kind {
		case parse.KindConditionalExpression:
			c := p.AsConditionalExpression()
			condition, outcome = c.Condition, c.WhenTrue == n
		case parse.KindIfStatement:
			s := p.AsIfStatement()
			condition, outcome = s.Expression, s.ThenStatement == n
		}
		if condition != nil && condition != n {
			asked, seen := e.asks[condition]
			if !seen {
				asked.outcome, asked.known = e.withoutArgument(condition, fn)
				e.asks[condition] = asked
			}
			if asked.known && asked.outcome != outcome {
				return false
			}
		}
		n = p
	}
	return true
}

// withoutArgument returns the outcome of a condition that only asks whether a
// parameter was given, when nobody gives it while the script loads.
func (e *engine) withoutArgument(condition *parse.Node, fn *function) (outcome, known bool) {
	asked, outcome := last(condition), false
	for asked.Kind == parse.KindPrefixUnaryExpression && asked.AsPrefixUnaryExpression().Operator == parse.TokenExclamation {
		asked, outcome = last(asked.AsPrefixUnaryExpression().Operand), !outcome
	}
	if asked.Kind == parse.KindBinaryExpression {
		b := asked.AsBinaryExpression()
		switch b.OperatorToken.Kind {
		case parse.TokenEqualsEquals, parse.TokenEqualsEqualsEquals:
			outcome = !outcome
		case parse.TokenExclamationEquals, parse.TokenExclamationEquals2:
		default:
			return false, false
		}
		asked = last(b.Left)
		if isNothing(asked) {
			asked = last(b.Right)
		} else if !isNothing(b.Right) {
			return false, false
		}
	}
	symbol := e.symbols[asked]
	if symbol == nil || len(symbol.Declarations) != 1 {
		return false, false
	}
	param := symbol.Declarations[0]
	i := slices.Index(fn.params, param)
	if i < 0 || param.AsParameterDeclaration().DotDotDotToken != nil || param.Initializer() != nil || len(fn.arguments) > 0 {
		return false, false
	}
	for _, w := range e.writes(symbol) {
		// p = p == null ? a : b asks before it writes.
		if w.Pos() < condition.Pos() && (w.Parent.Kind != parse.KindBinaryExpression || w.Parent.End() < condition.End()) {
			return false, false
		}
	}
	for _, c := range fn.callers {
		if e.functionAt(c.call).loading && (c.first < 0 || len(c.call.Arguments()) > i+c.first) {
			return false, false
		}
	}
	return outcome, true
}
