package authority

import (
	"cmp"
	"maps"
	"slices"

	"github.com/microsoft/typescript-go/shim/parse"
)

// findEscaping marks the functions that are arguments of calls whose functions are not
// all known. Whether they are known can depend on what escapes.
func (e *engine) findEscaping() {
	calls := slices.SortedFunc(maps.Keys(e.handed), func(a, b *parse.Node) int {
		return cmp.Or(cmp.Compare(a.Pos(), b.Pos()), cmp.Compare(a.End(), b.End()))
	})
	const rounds = 8
	for round := 0; ; round++ {
		changed := false
		clear(e.full)
		clear(e.pure)
		for _, call := range calls {
			if round < rounds && e.covered(call) {
				continue
			}
			for _, a := range e.handed[call] {
				changed = changed || !a.fact.fn.escapes
				a.fact.fn.escapes = true
				a.fact.fn.adrift = a.fact.fn.adrift || !a.fact.bound && !e.setsReceiver(call, a.index)
			}
		}
		for _, fn := range e.functions {
			if fn.escapes {
				changed = handOut(fn) || changed
			}
		}
		if !changed || round == rounds {
			break
		}
	}
	clear(e.full)
	clear(e.pure)
}

// handOut marks what a function returns to code that is not known. It reports whether
// that was news.
func handOut(fn *function) bool {
	if fn.handedOut {
		return false
	}
	fn.handedOut = true
	news := false
	for _, f := range fn.returned {
		news = news || !f.fn.escapes
		f.fn.escapes = true
		f.fn.adrift = f.fn.adrift || !f.bound
		news = handOut(f.fn) || news
	}
	return news
}

// isPlain reports whether a call certainly calls a function without a receiver, so that
// a sloppy `this` is the global object. A function that went through other functions'
// parameters and results may have been meant for any receiver, and does not count.
func (e *engine) isPlain(c edge) bool {
	if !c.plain {
		return false
	}
	callee := last(c.call.Expression())
	if callee.Kind == parse.KindPropertyAccessExpression {
		callee = last(callee.Expression()) // .call()
	}
	if callee == c.fn.node {
		return true
	}
	symbol := e.symbols[callee]
	if symbol == nil || len(symbol.Declarations) == 0 {
		return false
	}
	switch d := symbol.Declarations[0]; d.Kind {
	case parse.KindParameter:
		// A factory that is handed to a function where that is written.
		outer := e.byNode[d.Parent]
		if outer == nil || len(outer.callers) != 1 || last(e.calleeOf(outer.callers[0].call)) != outer.node {
			return false
		}
		return last(outer.callers[0].argument(slices.Index(outer.params, d))) == c.fn.node
	case parse.KindVariableDeclaration:
		value, _ := e.only(symbol)
		return value != nil && last(value) == c.fn.node
	}
	return slices.Contains(symbol.Declarations, c.fn.node)
}

// returns notes what a function returns.
func (e *engine) returns(fn *function, f fact, at *parse.Node) {
	if fn == e.script {
		return
	}
	if fn.node.Kind != parse.KindArrowFunction && fn.method && fn.node.Kind != parse.KindMethodDeclaration ||
		parse.IsGenerator(fn.node) || parse.IsAsync(fn.node) {
		e.lost(at, f)
		return
	}
	if f.what != walk && f.what != woven && (fn.gives == nil || at.Pos() < fn.gives.Pos()) {
		fn.gives = at
	}
	if f.doubt != NoDoubt && !fn.escapes {
		return // to be used by the script in some way that it knows
	}
	if fn.derived && f.what == global && f.doubt == NoDoubt {
		e.lost(at, f) // it is what new makes of a class that extends the function
	}
	if f.what == code {
		fn.returned = append(fn.returned, f)
		for _, c := range fn.callers {
			if c.result {
				e.arrive(c.call, f)
			}
		}
		return
	}
	if f.ctx != nil && f.ctx.edge.fn == fn {
		call := f.ctx.edge
		f.ctx = f.ctx.up
		if call.result {
			e.arrive(call.call, f)
			return
		}
		// Bound there, and called elsewhere.
	}
	for _, c := range fn.callers {
		if c.result {
			e.arrive(c.call, f)
		}
	}
	if fn.escapes {
		if e.exporting(fn.node) != nil {
			at = e.carriedFrom(at) // the bundler wrote the getter
		}
		e.lost(at, f)
	}
}

// call notes that a call reaches a function.
func (e *engine) call(c edge) {
	for _, known := range e.callees[c.call] {
		if known == c {
			return
		}
	}
	if len(e.callees[c.call]) >= maxFunctions {
		c.fn.escapes = true
		return
	}
	e.callees[c.call] = append(e.callees[c.call], c)
	c.fn.callers = append(c.fn.callers, c)
	if c.result {
		for _, f := range c.fn.returned {
			e.arrive(c.call, f)
		}
	}
	for _, a := range e.handed[c.call] {
		e.hand(c, a)
	}
}

// hand gives an argument to the parameter that takes it.
func (e *engine) hand(c edge, a argument) {
	if a.index == c.receiver {
		if a.fact.what == global {
			for _, n := range c.fn.receivers() {
				e.arrive(n, e.within(c, a.fact))
			}
		}
		return
	}
	if a.fact.doubt != NoDoubt && a.fact.ctx != nil {
		return // far enough for a guess
	}
	arg := c.call.Arguments()[a.index]
	if c.first < 0 {
		e.lost(arg, a.fact)
		return
	}
	i := a.index - c.first
	if i < 0 {
		return
	}
	if len(c.fn.arguments) > 0 {
		e.lost(arg, a.fact)
	}
	if i >= len(c.fn.params) {
		if n := len(c.fn.params); n > 0 && c.fn.params[n-1].AsParameterDeclaration().DotDotDotToken != nil {
			e.lost(arg, a.fact)
		}
		if c.fn.node.Kind == parse.KindClassDeclaration || c.fn.node.Kind == parse.KindClassExpression {
			e.lost(arg, a.fact) // a base class may take it
		}
		return
	}
	param := c.fn.params[i]
	if param.AsParameterDeclaration().DotDotDotToken != nil || c.argument(i) != arg {
		e.lost(arg, a.fact)
		return
	}
	e.declare(param, e.within(c, a.fact))
}

// within notes the call in a fact that goes through it.
func (e *engine) within(c edge, f fact) fact {
	if f.what == code {
		return f
	}
	// A receiver that may be the global object is one of many things that a function with
	// several callers is given.
	f.silent = f.silent || f.doubt != NoDoubt && len(c.fn.callers) > 1
	next := context{edge: c, up: f.ctx, depth: 1}
	if f.ctx != nil {
		next.depth = f.ctx.depth + 1
	}
	if next.depth > maxContext {
		f.ctx = nil
		return f
	}
	known := e.contexts[next]
	if known == nil {
		known = &next
		e.contexts[next] = known
	}
	f.ctx = known
	return f
}

// covered reports whether every function that a call may reach is known.
func (e *engine) covered(call *parse.Node) bool {
	full, known := e.full[call]
	if !known {
		full = len(e.callees[call]) > 0 && e.onlyCode(e.calleeOf(call), 0)
		e.full[call] = full
	}
	return full
}

// calleeOf returns what a call calls, without .call and .apply.
func (e *engine) calleeOf(call *parse.Node) *parse.Node {
	callee := last(call.Expression())
	for _, c := range e.callees[call] {
		if (c.receiver >= 0 || c.first < 0) && callee.Kind == parse.KindPropertyAccessExpression {
			return callee.Expression()
		}
	}
	return callee
}

// onlyCode reports whether an expression is one of the functions that were followed
// to it, and nothing else that could be called.
func (e *engine) onlyCode(n *parse.Node, depth int) bool {
	n = last(n)
	if n == nil || depth > maxConstantDepth || !e.spend() {
		return false
	}
	switch n.Kind {
	case parse.KindFunctionExpression, parse.KindArrowFunction, parse.KindClassExpression:
		return true
	case parse.KindConditionalExpression:
		c := n.AsConditionalExpression()
		return e.onlyCode(c.WhenTrue, depth+1) && e.onlyCode(c.WhenFalse, depth+1)
	case parse.KindBinaryExpression:
		b := n.AsBinaryExpression()
		switch b.OperatorToken.Kind {
		case parse.TokenAmpersandAmpersand, parse.TokenEquals:
			return e.onlyCode(b.Right, depth+1)
		case parse.TokenBarBar, parse.TokenQuestionQuestion:
			return e.onlyCode(b.Left, depth+1) && e.onlyCode(b.Right, depth+1)
		}
	case parse.KindCallExpression:
		if e.wrapped[n] != nil {
			return true
		}
		if callee := last(n.Expression()); callee.Kind == parse.KindPropertyAccessExpression && callee.Name().Text() == "bind" {
			return e.onlyCode(callee.Expression(), depth+1)
		}
	case parse.KindIdentifier:
		return e.onlyCodeIn(e.symbols[n], depth)
	}
	return false
}

// onlyCodeIn is onlyCode of a variable.
func (e *engine) onlyCodeIn(symbol *parse.Symbol, depth int) bool {
	if symbol == nil || len(symbol.Declarations) == 0 || e.carried[symbol] > maxFunctions {
		return false
	}
	if known, ok := e.pure[symbol]; ok {
		return known
	}
	if e.evaluating[symbol] {
		return true
	}
	outermost := len(e.evaluating) == 0
	e.evaluating[symbol] = true
	given, ok := e.given(symbol)
	for _, value := range given {
		ok = ok && e.onlyCode(value, depth+1)
	}
	delete(e.evaluating, symbol)
	if outermost {
		// Inside of another question the answer may have been presumed.
		e.pure[symbol] = ok
	}
	return ok
}

// given returns the expressions that a variable gets its values from, its own
// functions and classes left out; false when there are other sources.
func (e *engine) given(symbol *parse.Symbol) ([]*parse.Node, bool) {
	out, ok := e.assigned(symbol)
	if !ok {
		return nil, false
	}
	for _, d := range symbol.Declarations {
		switch d.Kind {
		case parse.KindFunctionDeclaration, parse.KindClassDeclaration, parse.KindFunctionExpression, parse.KindClassExpression:
		case parse.KindVariableDeclaration:
			if d.Name().Kind != parse.KindIdentifier || !e.plainDeclaration(d) {
				return nil, false
			}
			if d.Initializer() != nil {
				out = append(out, d.Initializer())
			}
		case parse.KindParameter:
			fn := e.byNode[d.Parent]
			if fn == nil || fn.escapes || len(fn.callers) == 0 || d.Name().Kind != parse.KindIdentifier {
				return nil, false
			}
			i := slices.Index(fn.params, d)
			for _, c := range fn.callers {
				arg := c.argument(i)
				if arg == nil {
					return nil, false
				}
				out = append(out, arg)
			}
		default:
			return nil, false
		}
	}
	return out, true
}

// plainDeclaration reports whether a variable has its value from its initializer,
// and not from a loop or a catch.
func (e *engine) plainDeclaration(d *parse.Node) bool {
	list := d.Parent
	if list == nil || list.Kind != parse.KindVariableDeclarationList || list.Parent == nil {
		return false
	}
	return list.Parent.Kind != parse.KindForInStatement && list.Parent.Kind != parse.KindForOfStatement
}
