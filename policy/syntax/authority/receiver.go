package authority

import (
	"maps"
	"slices"
	"strings"

	"github.com/microsoft/typescript-go/shim/parse"

	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
)

// A function that is not strict code gets the global object as its `this` when it is
// called without an object. Which calls those are is known of a function that is called
// where its name stands. Of one that goes elsewhere it is a guess: a callback most often
// is, a method is when somebody takes it off its object first.

// receivers returns the places where a function has the object it is called on.
func (fn *function) receivers() []*parse.Node {
	if fn.method {
		return fn.own
	}
	return fn.this
}

// keep notes that a function is a member of some object.
func (fn *function) keep(names []string) {
	fn.stored = true
	for _, name := range names {
		if !slices.Contains(fn.names, name) {
			fn.names = append(fn.names, name)
		}
	}
}

// receive starts from the `this` of the functions that are not strict code.
func (e *engine) receive() {
	under := map[string][]string{} // the names under which a member goes on
	for _, a := range e.aliases {
		under[a[0]] = append(under[a[0]], a[1])
	}
	waiting := slices.Sorted(maps.Keys(e.loose))
	for len(waiting) > 0 {
		name := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		for _, next := range under[name] {
			if !e.loose[next] {
				e.loose[next] = true
				waiting = append(waiting, next)
			}
		}
	}
	for _, fn := range e.functions[1:] {
		if fn.strict || len(fn.receivers()) == 0 {
			continue
		}
		f, ok := e.receiver(fn)
		for _, n := range fn.receivers() {
			if ok {
				e.arrive(n, f)
			}
		}
	}
}

// receiver returns what a function that is not strict code may have as its `this`; false
// where that is surely not the global object.
func (e *engine) receiver(fn *function) (fact, bool) {
	f := fact{what: global, root: "this"}
	plain := slices.ContainsFunc(fn.callers, func(c edge) bool { return c.plain }) || fn.tagged
	switch {
	case !fn.method && !fn.built && !fn.stored && (fn.tagged || slices.ContainsFunc(fn.callers, e.isPlain)):
	case plain, fn.adrift, slices.ContainsFunc(fn.names, func(name string) bool { return e.loose[name] }):
		// Constructors do all kinds of things with what they make.
		f.doubt, f.silent = SomeDoubt, fn.built
	case fn.stored:
		f.doubt = GreatDoubt
	default:
		return f, false
	}
	return f, true
}

// received follows a receiver into a member. Only the name of the member counts: what
// else is done with it says nothing about the global object that is not known of a host
// which has one of that name.
func (e *engine) received(p *parse.Node, f fact, name string) {
	if isIndex(name) || inherited[name] {
		return
	}
	if reads, _ := access(p); !reads {
		return
	}
	switch {
	case f.doubt == GreatDoubt || e.ownNames[name]:
		e.fromOwn[name] = true
	case e.usage(p) == asTest:
		e.use(p, f.at(name), Presence)
	default:
		e.use(p, f.at(name), Read)
	}
	if globalNames[name] && !e.ownNames[name] && p.Kind != parse.KindIdentifier {
		e.arrive(p, f)
	}
}

// setsReceiver reports whether a call tells the function in one of its arguments, by the
// argument behind it, what to have as its `this`.
func (e *engine) setsReceiver(call *parse.Node, index int) bool {
	callee := last(call.Expression())
	if index < 0 || callee.Kind != parse.KindPropertyAccessExpression || len(call.Arguments()) <= index+1 || isNothing(call.Arguments()[index+1]) {
		return false
	}
	switch callee.Name().Text() {
	case "forEach", "map", "filter", "some", "every", "find", "findIndex", "findLast", "findLastIndex", "flatMap":
		return index == 0
	case "from":
		return index == 1
	}
	return false
}

// passesOn reports whether an argument is the receiver of the function that a call calls
// by way of call, apply or bind.
func (e *engine) passesOn(call *parse.Node, index int) bool {
	callee := last(call.Expression())
	if callee.Kind != parse.KindPropertyAccessExpression {
		return false
	}
	object := last(callee.Expression())
	switch callee.Name().Text() {
	case "call", "bind":
		return index == 0
	case "apply":
		return index == 0 || index == 1 && object.Kind == parse.KindIdentifier && object.Text() == "Reflect"
	}
	return false
}

// isExports reports whether an expression is what a CommonJS module exports.
func (s *survey) isExports(n *parse.Node) bool {
	n = last(n)
	if n.Kind == parse.KindPropertyAccessExpression {
		if n.Name().Text() != "exports" {
			return false
		}
		n = last(n.Expression())
	}
	symbol := s.symbols[n]
	return symbol != nil && s.modules[symbol] != nil
}

// isExported reports whether an object is made to be what a CommonJS module exports.
func (s *survey) isExported(literal *parse.Node) bool {
	for isTransparent(literal.Parent) {
		literal = literal.Parent
	}
	p := literal.Parent
	return p.Kind == parse.KindBinaryExpression && p.AsBinaryExpression().Right == literal && p.AsBinaryExpression().OperatorToken.Kind == parse.TokenEquals &&
		s.isExports(p.AsBinaryExpression().Left)
}

// isForAll reports whether a member is made for the prototype of all objects, and so for
// the global object too: by an assignment, or in the literal that a call defines it with.
func (s *survey) isForAll(n *parse.Node) bool {
	for range maxContext {
		switch {
		case n == nil:
			return false
		case n.Kind == parse.KindPropertyAccessExpression || n.Kind == parse.KindElementAccessExpression:
			return s.isObjectPrototype(n.Expression())
		case n.Kind == parse.KindCallExpression:
			return len(n.Arguments()) > 0 && s.isObjectPrototype(n.Arguments()[0])
		}
		n = n.Parent
		for n != nil && (n.Kind == parse.KindPropertyAssignment || isTransparent(n)) {
			n = n.Parent
		}
	}
	return false
}

func (s *survey) isObjectPrototype(n *parse.Node) bool {
	n = last(n)
	if n.Kind != parse.KindPropertyAccessExpression || n.Name().Text() != "prototype" {
		return false
	}
	object := last(n.Expression())
	return object.Kind == parse.KindIdentifier && object.Text() == "Object" && s.symbols[object] == nil
}

// memberNames returns the names that a member of an object is spelled with.
func memberNames(n *parse.Node) []string {
	var key *parse.Node
	computed := false
	switch n.Kind {
	case parse.KindPropertyAccessExpression:
		key = n.Name()
	case parse.KindElementAccessExpression:
		key, computed = unwrap(n.AsElementAccessExpression().ArgumentExpression), true
	default:
		if key = n.Name(); key != nil && key.Kind == parse.KindComputedPropertyName {
			key, computed = unwrap(key.Expression()), true
		}
	}
	if key == nil {
		return nil
	}
	switch key.Kind {
	case parse.KindStringLiteral, parse.KindNoSubstitutionTemplate:
		return []string{key.Text()}
	case parse.KindIdentifier:
		if !computed {
			return []string{key.Text()}
		}
	}
	return nil
}

// spelled notes what the script does with the names of members: which it gives, and which
// it takes off their objects to call them alone or hand them on.
func (s *survey) spelled(n *parse.Node) {
	if key := takenKey(n); key != nil {
		if key.Kind != parse.KindComputedPropertyName {
			s.loose[key.Text()] = true
		}
		return
	}
	names := memberNames(n)
	if n.Kind == parse.KindElementAccessExpression {
		if text, ok := strings.CutPrefix(s.literal(n.AsElementAccessExpression().ArgumentExpression, 0), "s"); ok {
			names = []string{text}
		}
	}
	if len(names) == 0 || n.Kind == parse.KindBindingElement {
		return
	}
	name := names[0]
	switch n.Kind {
	case parse.KindPropertyAccessExpression, parse.KindElementAccessExpression:
	default:
		s.ownNames[name] = true
		return
	}
	if syntax.IsWrite(n) {
		s.ownNames[name] = true
		return
	}
	to, off := s.fate(n)
	switch {
	case off:
		s.loose[name] = true
	case to != "" && to != name:
		s.aliases = append(s.aliases, [2]string{to, name})
	}
}

// fate tells what becomes of a member of an object: whether it is taken off the object,
// or to which member of another object it goes.
func (s *survey) fate(n *parse.Node) (to string, off bool) {
	for range maxClimb {
		p := n.Parent
		switch p.Kind {
		case parse.KindParenthesizedExpression, parse.KindAsExpression, parse.KindNonNullExpression, parse.KindSatisfiesExpression,
			parse.KindTypeAssertionExpression:
		case parse.KindCallExpression, parse.KindNewExpression:
			return "", p.Expression() != n
		case parse.KindPropertyAccessExpression:
			// o.m.call(undefined)
			name := p.Name().Text()
			if name != "call" && name != "apply" && name != "bind" || !isCallee(p) {
				return "", false
			}
			args := callOf(p).Arguments()
			return "", len(args) == 0 || isNothing(args[0])
		case parse.KindElementAccessExpression, parse.KindTypeOfExpression, parse.KindPrefixUnaryExpression, parse.KindPostfixUnaryExpression,
			parse.KindVoidExpression, parse.KindDeleteExpression, parse.KindExpressionStatement, parse.KindIfStatement,
			parse.KindWhileStatement, parse.KindDoStatement, parse.KindForStatement, parse.KindForInStatement, parse.KindForOfStatement,
			parse.KindSwitchStatement, parse.KindCaseClause, parse.KindTemplateSpan, parse.KindComputedPropertyName,
			parse.KindExpressionWithTypeArguments:
			return "", false
		case parse.KindConditionalExpression:
			if p.AsConditionalExpression().Condition == n {
				return "", false
			}
		case parse.KindPropertyAssignment:
			if names := memberNames(p); len(names) > 0 && !s.isExported(p.Parent) {
				return names[0], false
			}
			return "", true
		case parse.KindBinaryExpression:
			b := p.AsBinaryExpression()
			switch b.OperatorToken.Kind {
			case parse.TokenEquals:
				target := unwrap(b.Left)
				if target.Kind == parse.KindPropertyAccessExpression && !s.isExports(target) && !s.isExports(target.Expression()) && p.Parent.Kind == parse.KindExpressionStatement {
					return target.Name().Text(), false
				}
				return "", true
			case parse.TokenBarBar, parse.TokenQuestionQuestion:
			case parse.TokenAmpersandAmpersand:
				if b.Right != n {
					return "", false
				}
			case parse.TokenComma:
				return "", b.Right == n // (0, o.m)()
			default:
				return "", false
			}
		default:
			return "", true
		}
		n = p
	}
	return "", true
}
