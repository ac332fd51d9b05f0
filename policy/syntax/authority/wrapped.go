package authority

import (
	"slices"

	"github.com/microsoft/typescript-go/shim/parse"

	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
)

// isWrapped reports whether a function is a module that the bundler wrapped.
func (s *survey) isWrapped(n *parse.Node) bool {
	call := n.Parent
	if n.Kind == parse.KindMethodDeclaration {
		call = call.Parent
	}
	return call != nil && s.wrapped[call] == n
}

// wrappedModule returns the function that holds a module's code when the call is
// esbuild's wrapper around it, __commonJS({ "path"(exports, module) {} }) or
// __esm({ "path"() {} }), or the minified forms that take a bare function. The
// helpers are told by what they do, since minification renames them.
func (s *survey) wrappedModule(call *parse.Node) *parse.Node {
	callee := call.Expression()
	if call.Kind != parse.KindCallExpression || callee.Kind != parse.KindIdentifier || len(call.Arguments()) != 1 {
		return nil
	}
	module := call.Arguments()[0]
	if module.Kind == parse.KindObjectLiteralExpression {
		if len(module.Properties()) != 1 {
			return nil
		}
		module = module.Properties()[0]
		if module.Kind == parse.KindPropertyAssignment {
			module = module.Initializer()
		}
	}
	switch module.Kind {
	case parse.KindMethodDeclaration, parse.KindFunctionExpression, parse.KindArrowFunction:
	default:
		return nil
	}
	symbol := s.symbols[callee]
	if symbol == nil || len(symbol.Declarations) != 1 || symbol.Declarations[0].Kind != parse.KindVariableDeclaration {
		return nil
	}
	helper := symbol.Declarations[0].Initializer()
	if helper == nil {
		return nil
	}
	lazy, known := s.lazy[helper]
	if !known {
		lazy = isLazy(helper)
		s.lazy[helper] = lazy
	}
	if !lazy {
		return nil
	}
	return module
}

// isLazy reports whether a function is one of esbuild's helpers that run a module's
// code at the first call of what they return.
func isLazy(helper *parse.Node) bool {
	if helper.Kind != parse.KindArrowFunction || len(helper.Parameters()) < 2 || helper.Body() == nil {
		return false
	}
	inner := unwrap(helper.Body())
	code := helper.Parameters()[0].Name()
	if inner.Kind != parse.KindFunctionExpression && inner.Kind != parse.KindArrowFunction || code.Kind != parse.KindIdentifier || len(inner.Parameters()) != 0 {
		return false
	}
	found := false
	var search func(n *parse.Node, depth int)
	search = func(n *parse.Node, depth int) {
		if found || depth > 12 {
			return
		}
		if n.Kind == parse.KindCallExpression && len(n.Arguments()) > 0 && runs(n.Expression(), code.Text()) {
			first := unwrap(n.Arguments()[0])
			found = first.Kind == parse.KindPropertyAccessExpression && first.Name().Text() == "exports" || first.Kind == parse.KindBinaryExpression
		}
		syntax.Children(n, func(child *parse.Node) { search(child, depth+1) })
	}
	search(inner, 0)
	return found
}

// runs reports whether a callee is the parameter, or its first member.
func runs(callee *parse.Node, param string) bool {
	callee = last(callee)
	if callee.Kind == parse.KindElementAccessExpression {
		key := unwrap(callee.AsElementAccessExpression().ArgumentExpression)
		if key.Kind != parse.KindElementAccessExpression {
			return false
		}
		callee = unwrap(callee.Expression())
	}
	return callee.Kind == parse.KindIdentifier && callee.Text() == param
}

// exports returns the variable of the module object that a call of the bundler's
// helper __export(object, { name: () => value }) fills, or nil for any other call.
func (s *survey) exports(call *parse.Node) *parse.Symbol {
	args := call.Arguments()
	if len(args) != 2 || args[0].Kind != parse.KindIdentifier || args[1].Kind != parse.KindObjectLiteralExpression {
		return nil
	}
	helper := s.helper(call)
	if helper == nil || len(helper.Parameters()) != 2 || helper.Body() == nil || helper.Body().Kind != parse.KindBlock {
		return nil
	}
	// for (var name in all) __defProp(target, name, { get: all[name], enumerable: true })
	statements := helper.Body().Statements()
	if len(statements) != 1 || statements[0].Kind != parse.KindForInStatement {
		return nil
	}
	all, param := statements[0].AsForInOrOfStatement().Expression, helper.Parameters()[1].Name()
	if all.Kind != parse.KindIdentifier || param.Kind != parse.KindIdentifier || all.Text() != param.Text() {
		return nil
	}
	return s.symbols[args[0]]
}

// helper returns the arrow function in a variable that a call calls, as the bundler's
// helpers are, or nil.
func (s *survey) helper(call *parse.Node) *parse.Node {
	callee := call.Expression()
	if call.Kind != parse.KindCallExpression || callee.Kind != parse.KindIdentifier {
		return nil
	}
	symbol := s.symbols[callee]
	if symbol == nil {
		return nil
	}
	value, _ := s.only(symbol)
	if value == nil || value.Kind != parse.KindArrowFunction {
		return nil
	}
	return value
}

// moduleHelper is one of the bundler's helpers between CommonJS and ES modules.
type moduleHelper int

const (
	noHelper moduleHelper = iota
	toModule              // __toESM(module): an object with the module as its default and its members
	copies                // __reExport, __copyProps, __toCommonJS: the members of one object go into another
)

// moduleHelper tells whether a call is one of a helper. They are told by what they do,
// since minification renames them.
func (s *survey) moduleHelper(call *parse.Node) moduleHelper {
	helper := s.helper(call)
	if helper == nil || helper.Body() == nil {
		return noHelper
	}
	kind, known := s.helpers[helper]
	if !known {
		kind = helperKind(helper)
		s.helpers[helper] = kind
	}
	return kind
}

func helperKind(helper *parse.Node) moduleHelper {
	body := unwrap(helper.Body())
	switch len(helper.Parameters()) {
	case 1: // (mod) => __copyProps(__defProp({}, "__esModule", { value: true }), mod)
		if body.Kind == parse.KindCallExpression && len(body.Arguments()) == 2 && callsWith(unwrap(body.Arguments()[0]), "__esModule") {
			return copies
		}
	case 3:
		if body.Kind != parse.KindBinaryExpression || body.AsBinaryExpression().OperatorToken.Kind != parse.TokenComma {
			break
		}
		// (target, mod, secondTarget) => (__copyProps(target, mod, "default"), …)
		if callsWith(unwrap(body.AsBinaryExpression().Left), "default") {
			return copies
		}
		// (mod, isNodeMode, target) => (target = …, __copyProps(… !mod.__esModule ? __defProp(target, "default", { value: mod }) : target, mod))
		call := unwrap(body.AsBinaryExpression().Right)
		if call.Kind != parse.KindCallExpression || len(call.Arguments()) != 2 {
			break
		}
		if choice := unwrap(call.Arguments()[0]); choice.Kind == parse.KindConditionalExpression && callsWith(unwrap(choice.AsConditionalExpression().WhenTrue), "default") {
			return toModule
		}
	case 4: // (to, from, except, desc) => { if (from && …) for (let key of __getOwnPropNames(from)) …; return to }
		if body.Kind == parse.KindBlock && len(body.Statements()) == 2 {
			first, second := body.Statements()[0], body.Statements()[1]
			to := helper.Parameters()[0].Name()
			if first.Kind == parse.KindIfStatement && copiesEach(first.AsIfStatement().ThenStatement) && second.Kind == parse.KindReturnStatement && second.Expression() != nil && to.Kind == parse.KindIdentifier &&
				second.Expression().Kind == parse.KindIdentifier && second.Expression().Text() == to.Text() {
				return copies
			}
		}
	}
	return noHelper
}

// copiesEach reports whether a statement is but a loop over the names of an object.
func copiesEach(n *parse.Node) bool {
	if n.Kind == parse.KindBlock && len(n.Statements()) == 1 {
		n = n.Statements()[0]
	}
	return n.Kind == parse.KindForOfStatement
}

// callsWith reports whether an expression is a call with a text among its arguments.
func callsWith(n *parse.Node, content string) bool {
	return n.Kind == parse.KindCallExpression && slices.ContainsFunc(n.Arguments(), func(arg *parse.Node) bool {
		return (arg.Kind == parse.KindStringLiteral || arg.Kind == parse.KindNoSubstitutionTemplate) && arg.Text() == content
	})
}

// throughHelper follows a value into a call of one of the helpers, whose own code nobody
// wrote and no source map knows.
func (e *engine) throughHelper(call *parse.Node, index int, f fact, kind moduleHelper) {
	switch {
	case f.what == code:
		f.fn.escapes = true
	case kind == toModule && index == 0:
		f.namespace = true
		e.arrive(call, f)
	default:
		e.lost(e.carriedFrom(call.Arguments()[index]), f)
	}
}
