package authority

import "github.com/microsoft/typescript-go/shim/parse"

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
			if len(edges) != 1 || edges[0].fn.node.Kind != parse.KindClassDeclaration && edges[0].fn.node.Kind != parse.KindClassExpression && !edges[0].runs() {
				continue
			}
			if call.certain || e.isFactory(call.node, fn) {
				reach(edges[0].fn)
			}
		}
		if fn.node.Kind == parse.KindClassDeclaration || fn.node.Kind == parse.KindClassExpression {
			for _, base := range fn.base {
				reach(base)
			}
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
