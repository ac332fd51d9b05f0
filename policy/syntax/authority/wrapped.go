package authority

import (
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
	all := statements[0].AsForInOrOfStatement().Expression
	if all.Kind != parse.KindIdentifier || all.Text() != helper.Parameters()[1].Name().Text() {
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
