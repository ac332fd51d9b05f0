package authority

import (
	"slices"
	"strings"

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
	switch {
	case syntax.IsWrite(p):
	case e.isFunction(p.Expression(), 0):
		e.arrive(p, fact{what: maker, root: "constructor"})
	case !e.isNoFunction(p.Expression()):
		e.perhaps = append(e.perhaps, p)
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
		if isCallee(p) && e.givenCode(callOf(p)) {
			e.unknown(ConstructorWalk, Read, callOf(p))
		}
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
			e.perhaps = append(e.perhaps, m)
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
			if from == nil || !e.isNoFunction(from) {
				e.perhaps = append(e.perhaps, m)
			}
			return
		}
	}
	e.takenAs(m, made)
}

// takenAs gives a value to the target of a member of a pattern.
func (e *engine) takenAs(m *parse.Node, made fact) {
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

// walked starts from the constructors of what may be a function and may be any other
// object. An object's own constructor makes an object: only where the result is called,
// or what is given to it is code, was it the constructor of a function.
func (e *engine) walked() {
	list := e.perhaps
	e.perhaps = nil
	for _, n := range list {
		switch {
		case slices.ContainsFunc(e.facts[n], func(f fact) bool { return f.what == maker || f.what == builtin }):
			// It is known what it is.
		case takenKey(n) != nil:
			e.takenAs(n, fact{what: walk})
		default:
			e.arrive(n, fact{what: walk})
		}
	}
}

// givenCode reports whether the last argument of a call is a text that is the body of a
// function: it returns something, or calls something.
func (e *engine) givenCode(call *parse.Node) bool {
	args := call.Arguments()
	if len(args) == 0 {
		return false
	}
	texts, ok := e.constants(args[len(args)-1], nil, 0)
	if !ok {
		return strings.HasPrefix(firstText(args[len(args)-1]), "return ")
	}
	return slices.ContainsFunc(texts, func(content string) bool {
		if known, ok := e.bodies[content]; ok {
			return known
		}
		e.steps += len(content)
		e.bodies[content] = e.spend() && isBody(content)
		return e.bodies[content]
	})
}

// isBody reports whether a text is the body of a function that does something.
func isBody(content string) bool {
	if !strings.Contains(content, "return") && !strings.Contains(content, "(") {
		return false
	}
	file := syntax.Parse("text.js", "(function () {\n"+content+"\n})")
	tree := syntax.TreeOf(file)
	if tree.Root == nil || len(file.Diagnostics) > 0 || len(tree.Root.Statements()) != 1 || tree.Root.Statements()[0].Kind != parse.KindExpressionStatement {
		return false
	}
	fn := unwrap(tree.Root.Statements()[0].Expression())
	return fn.Kind == parse.KindFunctionExpression && slices.ContainsFunc(fn.Body().Statements(), func(s *parse.Node) bool {
		switch s.Kind {
		case parse.KindReturnStatement:
			return s.Expression() != nil
		case parse.KindExpressionStatement:
			return last(s.Expression()).Kind == parse.KindCallExpression
		}
		return false
	})
}

// firstText returns the text that an expression begins with, or "".
func firstText(n *parse.Node) string {
	for range maxConstantDepth {
		n = last(n)
		switch {
		case n.Kind == parse.KindStringLiteral || n.Kind == parse.KindNoSubstitutionTemplate:
			return n.Text()
		case n.Kind == parse.KindTemplateExpression:
			return n.AsTemplateExpression().Head.Text()
		case n.Kind == parse.KindBinaryExpression && n.AsBinaryExpression().OperatorToken.Kind == parse.TokenPlus:
			n = n.AsBinaryExpression().Left
		default:
			return ""
		}
	}
	return ""
}

// isNoFunction reports whether an expression is certainly an object that is none, or no
// object.
func (e *engine) isNoFunction(n *parse.Node) bool {
	switch last(n).Kind {
	case parse.KindArrayLiteralExpression, parse.KindObjectLiteralExpression, parse.KindStringLiteral, parse.KindNumericLiteral,
		parse.KindRegularExpressionLiteral, parse.KindNoSubstitutionTemplate, parse.KindTemplateExpression:
		return true
	}
	return false
}

// isClass reports whether a this is the class itself, as it is in its static members.
func isClass(this *parse.Node) bool {
	for n := this; n.Parent != nil; n = n.Parent {
		switch p := n.Parent; p.Kind {
		case parse.KindFunctionDeclaration, parse.KindFunctionExpression, parse.KindConstructor, parse.KindSourceFile:
			return false
		case parse.KindClassStaticBlockDeclaration:
			return true
		case parse.KindMethodDeclaration, parse.KindGetAccessor, parse.KindSetAccessor, parse.KindPropertyDeclaration:
			if n != p.Name() {
				return parse.IsStatic(p)
			}
		}
	}
	return false
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
	case parse.KindThisKeyword:
		return isClass(n)
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
		case object.Kind == parse.KindIdentifier && object.Text() == "arguments" && e.functionAt(object) != e.script:
			return name == "callee"
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
