package authority

import (
	"slices"

	"github.com/microsoft/typescript-go/shim/parse"

	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
)

// constructor starts from an access that takes the constructor of a function, which
// is the one that makes functions from text.
func (e *engine) constructor(p *parse.Node) {
	if p.Kind == parse.KindElementAccessExpression {
		names, ok := e.constants(p.AsElementAccessExpression().ArgumentExpression, nil, 0)
		if !ok {
			e.computedMember(p)
			return
		}
		if !slices.Contains(names, "constructor") {
			return
		}
	}
	if !syntax.IsWrite(p) && e.isFunction(p.Expression(), 0) {
		e.arrive(p, fact{what: maker, root: "constructor"})
	}
}

// computedMember starts from a member whose name is computed, which may be the
// constructor of a function if it is taken from one, or from such a member.
func (e *engine) computedMember(p *parse.Node) {
	if syntax.IsWrite(p) {
		return
	}
	object := last(p.Expression())
	if object.Kind == parse.KindElementAccessExpression {
		if _, ok := e.constants(object.AsElementAccessExpression().ArgumentExpression, nil, 0); ok {
			return
		}
	} else if !e.isFunction(object, 0) && !e.onlyCode(object, 0) {
		return
	}
	e.arrive(p, fact{what: walk})
}

// constructorTaken starts from a member of a pattern that takes the constructor of a
// function.
func (e *engine) constructorTaken(m *parse.Node) {
	names, ok := e.keys(takenKey(m), nil)
	if !ok || !slices.Contains(names, "constructor") {
		return
	}
	made := fact{what: maker, root: "constructor"}
	pattern := m.Parent
	for isTransparent(pattern.Parent) {
		pattern = pattern.Parent
	}
	switch p := pattern.Parent; {
	case takenKey(p) != nil:
		// Whatever made an object is a function.
		if names, ok := e.keys(takenKey(p), nil); !ok || !slices.Contains(names, "constructor") {
			return
		}
	default:
		var from *parse.Node
		switch p.Kind {
		case parse.KindVariableDeclaration, parse.KindParameter:
			from = p.Initializer()
		case parse.KindBinaryExpression:
			from = p.AsBinaryExpression().Right
		}
		if from == nil || !e.isFunction(from, 0) && !e.onlyCode(from, 0) {
			return
		}
	}
	switch m.Kind {
	case parse.KindBindingElement:
		e.declare(m, made)
	case parse.KindPropertyAssignment:
		e.assign(m.Initializer(), made, m.Initializer())
	default:
		e.assign(m.Name(), made, m.Name())
	}
}

// takenKey returns the key under which a member of a pattern takes a value, or nil where
// a node is no such member.
func takenKey(m *parse.Node) *parse.Node {
	switch m.Kind {
	case parse.KindBindingElement:
		b := m.AsBindingElement()
		switch {
		case m.Parent.Kind != parse.KindObjectBindingPattern || b.DotDotDotToken != nil:
			return nil
		case b.PropertyName != nil:
			return b.PropertyName
		}
		return m.Name()
	case parse.KindPropertyAssignment, parse.KindShorthandPropertyAssignment:
		if syntax.IsWrite(m.Parent) {
			return m.Name()
		}
	}
	return nil
}

// isFunction reports whether an expression is certainly a function, or a prototype of
// functions.
func (e *engine) isFunction(n *parse.Node, depth int) bool {
	n = last(n)
	if n == nil || depth > maxConstantDepth || !e.spend() {
		return false
	}
	switch n.Kind {
	case parse.KindFunctionExpression, parse.KindArrowFunction, parse.KindClassExpression:
		return true
	case parse.KindIdentifier:
		symbol := e.symbols[n]
		if symbol == nil {
			return n.Text() == "constructor" || callable(n.Text())
		}
		if len(symbol.Declarations) == 0 {
			return false
		}
		switch d := symbol.Declarations[0]; d.Kind {
		case parse.KindFunctionDeclaration, parse.KindClassDeclaration, parse.KindFunctionExpression, parse.KindClassExpression:
			return true
		case parse.KindVariableDeclaration:
			value, _ := e.only(symbol)
			return value != nil && e.isFunction(value, depth+1)
		}
	case parse.KindPropertyAccessExpression, parse.KindElementAccessExpression:
		var name string
		if n.Kind == parse.KindPropertyAccessExpression {
			name = n.Name().Text()
		} else if names, ok := e.constants(n.AsElementAccessExpression().ArgumentExpression, nil, 0); ok && len(names) == 1 {
			name = names[0]
		}
		object := last(n.Expression())
		switch {
		case name == "":
			return false
		case name == "constructor":
			return true // whatever made the object is a function
		case name == "__proto__":
			return e.isFunction(object, depth+1)
		case name == "prototype":
			return object.Kind == parse.KindIdentifier && object.Text() == "Function" && e.symbols[object] == nil
		case object.Kind == parse.KindIdentifier && e.symbols[object] == nil:
			return callable(object.Text()) || namespaces[object.Text()] && name[0] >= 'a' && name[0] <= 'z'
		}
		switch object.Kind {
		case parse.KindArrayLiteralExpression, parse.KindStringLiteral, parse.KindRegularExpressionLiteral, parse.KindNumericLiteral,
			parse.KindNoSubstitutionTemplate, parse.KindTemplateExpression:
			return name != "length"
		case parse.KindObjectLiteralExpression:
			return inherited[name]
		case parse.KindPropertyAccessExpression:
			base := last(object.Expression())
			return object.Name().Text() == "prototype" && base.Kind == parse.KindIdentifier && e.symbols[base] == nil && callable(base.Text())
		}
	case parse.KindCallExpression:
		// Object.getPrototypeOf(function () {})
		callee := last(n.Expression())
		return callee.Kind == parse.KindPropertyAccessExpression && callee.Name().Text() == "getPrototypeOf" && len(n.Arguments()) == 1 &&
			e.isFunction(n.Arguments()[0], depth+1)
	}
	return false
}

// namespaces are the language's objects that hold functions.
var namespaces = map[string]bool{"Math": true, "JSON": true, "Reflect": true, "Atomics": true}

// callable reports whether a free name is surely a function of the language.
func callable(name string) bool {
	switch name {
	case "Object", "Function", "Array", "String", "Number", "Boolean", "Symbol", "Error", "RegExp", "Date", "Promise", "Map", "Set",
		"WeakMap", "WeakSet", "Proxy", "isNaN", "isFinite", "parseInt", "parseFloat", "eval", "BigInt", "TypeError", "RangeError":
		return true
	}
	return false
}
