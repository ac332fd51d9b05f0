package authority

import (
	"slices"

	"github.com/microsoft/typescript-go/shim/parse"

	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
)

// Whatever a library wraps itself in, what it exports may be called without the object
// that it is a member of. The object that a CommonJS module exports goes by many names:
// universal module definitions hand it to a function, or export what a function returns.

// exporting is the search for the expressions that are objects which are exported.
type exporting struct {
	*engine
	objects map[*parse.Node]bool
	modules map[*parse.Node]bool // the module objects, whose member exports one is
	known   map[*parse.Symbol]bool
	later   []func()
}

// findExported marks the functions that are members of exported objects, and of the
// objects in those: somebody may take them off.
func (e *engine) findExported() {
	x := &exporting{engine: e, objects: map[*parse.Node]bool{}, modules: map[*parse.Node]bool{}, known: map[*parse.Symbol]bool{}}
	for _, fn := range e.functions {
		if !fn.module {
			continue
		}
		for i, param := range fn.params {
			then := x.isExported
			if i > 0 {
				then = x.isModule
			}
			x.each(param.Symbol(), then)
		}
	}
	for len(x.later) > 0 && e.spend() {
		next := x.later[len(x.later)-1]
		x.later = x.later[:len(x.later)-1]
		next()
	}
	for object, members := range e.owned {
		for _, f := range members {
			f.fn.adrift = f.fn.adrift || x.objects[object] && !f.bound
		}
	}
}

// each goes on with the uses of a variable.
func (x *exporting) each(symbol *parse.Symbol, then func(*parse.Node)) {
	for _, id := range x.tree.Uses[symbol] {
		x.later = append(x.later, func() { then(id) })
	}
}

// isModule notes that an expression is the module object.
func (x *exporting) isModule(n *parse.Node) {
	if x.modules[n] {
		return
	}
	x.modules[n] = true
	p := n.Parent
	switch {
	case isTransparent(p):
		x.isModule(p)
	case p.Kind == parse.KindPropertyAccessExpression && p.Expression() == n && p.Name().Text() == "exports":
		x.isExported(p)
	case p.Kind == parse.KindCallExpression:
		x.through(p, n, x.isModule)
	}
}

// through goes on with the uses of a parameter where an argument is given to functions
// of the script.
func (x *exporting) through(call, argument *parse.Node, then func(*parse.Node)) {
	index := slices.Index(call.Arguments(), argument)
	for _, c := range x.callees[call] {
		i := index - c.first
		if index < 0 || c.first < 0 || i < 0 || i >= len(c.fn.params) || c.argument(i) != argument {
			continue
		}
		if param := c.fn.params[i]; param.Symbol() != nil && param.Name().Kind == parse.KindIdentifier {
			x.each(param.Symbol(), then)
		}
	}
}

// isExported notes that an expression is an exported object, wherever it goes from there.
func (x *exporting) isExported(n *parse.Node) {
	if n == nil || x.objects[n] || x.isDead(n) {
		return
	}
	x.objects[n] = true
	p := n.Parent
	switch {
	case isTransparent(p):
		x.isExported(p)
	case p.Kind == parse.KindBinaryExpression:
		switch b := p.AsBinaryExpression(); b.OperatorToken.Kind {
		case parse.TokenEquals:
			if b.Left == n {
				x.comesFrom(b.Right)
			} else if target := unwrap(b.Left); target.Kind == parse.KindIdentifier {
				x.each(x.symbols[target], x.isExported)
			}
			x.isExported(p)
		case parse.TokenBarBar, parse.TokenQuestionQuestion, parse.TokenAmpersandAmpersand:
			x.isExported(p)
		}
	case p.Kind == parse.KindConditionalExpression:
		if p.AsConditionalExpression().Condition != n {
			x.isExported(p)
		}
	case p.Kind == parse.KindVariableDeclaration:
		if p.Initializer() == n && p.Name().Kind == parse.KindIdentifier {
			x.each(p.Symbol(), x.isExported)
		}
	case p.Kind == parse.KindPropertyAccessExpression || p.Kind == parse.KindElementAccessExpression:
		if p.Expression() == n {
			x.memberOf(p)
		}
	case p.Kind == parse.KindCallExpression:
		if p.Expression() != n {
			x.given(p, n)
		}
	}
}

// memberOf notes a member of an exported object, which may be an object with members of
// its own. What is made with new is called on what it made.
func (x *exporting) memberOf(access *parse.Node) {
	if names := memberNames(access); len(names) > 0 && names[0] == "prototype" {
		return
	}
	if !syntax.IsWrite(access) {
		if nested(access) {
			x.isExported(access)
		}
		return
	}
	target := access
	for isTransparent(target.Parent) {
		target = target.Parent
	}
	if b := target.Parent; b.Kind == parse.KindBinaryExpression && b.AsBinaryExpression().Left == target && b.AsBinaryExpression().OperatorToken.Kind == parse.TokenEquals {
		x.taken(b.AsBinaryExpression().Right)
	}
}

// nested reports whether a member of a member is written: exports.a.b = 1.
func nested(access *parse.Node) bool {
	p := access.Parent
	return p.Kind == parse.KindPropertyAccessExpression && p.Expression() == access && syntax.IsWrite(p)
}

// taken notes what an exported member is: one that was taken off another object, or an
// object with members.
func (x *exporting) taken(value *parse.Node) {
	switch value = last(value); value.Kind {
	case parse.KindPropertyAccessExpression:
		x.loose[value.Name().Text()] = true
	case parse.KindObjectLiteralExpression:
		x.comesFrom(value)
	}
}

// given follows an exported object into a call.
func (x *exporting) given(call, argument *parse.Node) {
	args := call.Arguments()
	switch x.objectMethod(call) {
	case "assign":
		for _, source := range args {
			x.comesFrom(source)
		}
	case "defineProperty":
		if args[0] != argument {
			return
		}
		if len(args) > 2 {
			x.defined(args[2])
		}
	case "defineProperties":
		if args[0] != argument {
			return
		}
		if all := unwrap(args[len(args)-1]); all.Kind == parse.KindObjectLiteralExpression {
			for _, m := range all.Properties() {
				if m.Kind == parse.KindPropertyAssignment {
					x.defined(m.Initializer())
				}
			}
		}
	case "freeze", "seal", "preventExtensions", "setPrototypeOf":
	default:
		x.through(call, argument, x.isExported)
		return
	}
	x.isExported(call)
}

// defined notes what a descriptor makes of a member of an exported object.
func (x *exporting) defined(descriptor *parse.Node) {
	if descriptor = unwrap(descriptor); descriptor.Kind != parse.KindObjectLiteralExpression {
		return
	}
	for _, m := range descriptor.Properties() {
		if names := memberNames(m); len(names) == 0 || names[0] != "value" {
			continue
		}
		switch m.Kind {
		case parse.KindPropertyAssignment:
			x.taken(m.Initializer())
			for _, f := range x.owned[descriptor] {
				f.fn.adrift = f.fn.adrift || !f.bound && slices.Contains(f.fn.names, "value")
			}
		case parse.KindMethodDeclaration:
			x.byNode[m].adrift = true
		}
	}
}

// objectMethod returns the name of the method of Object that a call calls, or "".
func (x *exporting) objectMethod(call *parse.Node) string {
	callee := last(call.Expression())
	if callee.Kind != parse.KindPropertyAccessExpression || len(call.Arguments()) == 0 {
		return ""
	}
	object := last(callee.Expression())
	if object.Kind != parse.KindIdentifier || object.Text() != "Object" || x.symbols[object] != nil {
		return ""
	}
	return callee.Name().Text()
}

// comesFrom notes that the value of an expression is an exported object, wherever it
// comes from.
func (x *exporting) comesFrom(n *parse.Node) {
	n = last(n)
	if n == nil || !x.spend() || x.isDead(n) {
		return
	}
	switch n.Kind {
	case parse.KindObjectLiteralExpression:
		if x.objects[n] {
			return
		}
		x.objects[n] = true
		for _, m := range n.Properties() {
			switch m.Kind {
			case parse.KindPropertyAssignment:
				x.taken(m.Initializer())
			case parse.KindMethodDeclaration:
				x.byNode[m].adrift = true
			}
		}
	case parse.KindConditionalExpression:
		c := n.AsConditionalExpression()
		x.comesFrom(c.WhenTrue)
		x.comesFrom(c.WhenFalse)
	case parse.KindBinaryExpression:
		switch b := n.AsBinaryExpression(); b.OperatorToken.Kind {
		case parse.TokenBarBar, parse.TokenQuestionQuestion:
			x.comesFrom(b.Left)
			x.comesFrom(b.Right)
		case parse.TokenEquals, parse.TokenAmpersandAmpersand:
			x.comesFrom(b.Right)
		}
	case parse.KindCallExpression:
		x.comesFromCall(n)
	case parse.KindIdentifier:
		x.comesFromVariable(x.symbols[n])
	}
}

func (x *exporting) comesFromCall(call *parse.Node) {
	if x.objects[call] {
		return
	}
	x.objects[call] = true
	switch x.objectMethod(call) {
	case "assign", "defineProperty", "defineProperties", "freeze", "seal", "preventExtensions", "setPrototypeOf":
		x.comesFrom(call.Arguments()[0])
		x.given(call, call.Arguments()[0])
	}
	for _, c := range x.callees[call] {
		if c.result {
			for _, value := range c.fn.results {
				x.later = append(x.later, func() { x.comesFrom(value) })
			}
		}
	}
}

func (x *exporting) comesFromVariable(symbol *parse.Symbol) {
	if symbol == nil || x.known[symbol] {
		return
	}
	x.known[symbol] = true
	x.each(symbol, x.isExported)
	for _, d := range symbol.Declarations {
		switch d.Kind {
		case parse.KindVariableDeclaration:
			if d.Initializer() != nil && d.Name().Kind == parse.KindIdentifier {
				x.comesFrom(d.Initializer())
			}
		case parse.KindParameter:
			fn := x.byNode[d.Parent]
			if fn == nil {
				continue
			}
			i := slices.Index(fn.params, d)
			for _, c := range fn.callers {
				if arg := c.argument(i); arg != nil {
					x.later = append(x.later, func() { x.comesFrom(arg) })
				}
			}
		}
	}
	for _, id := range x.writes(symbol) {
		if b := id.Parent; b.Kind == parse.KindBinaryExpression && b.AsBinaryExpression().OperatorToken.Kind == parse.TokenEquals {
			x.comesFrom(b.AsBinaryExpression().Right)
		}
	}
}
