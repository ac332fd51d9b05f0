package syntax

import "github.com/microsoft/typescript-go/shim/parse"

// assignment is one assignment to CommonJS exports.
type assignment struct {
	name      string // "" for module.exports itself
	target    *parse.Node
	value     *parse.Node
	statement *parse.Node
}

// commonJS returns the assignments to module.exports and exports.name that the
// file's top level makes, in source order; chains (exports.a = exports.b = f),
// comma expressions and initialisers (const api = module.exports = {}) included.
func (f *tree) commonJS() []assignment {
	var out []assignment
	for _, s := range f.statements() {
		switch s.Kind {
		case parse.KindExpressionStatement:
			assignments(s.Expression(), s, &out)
		case parse.KindVariableStatement:
			for _, d := range s.AsVariableStatement().DeclarationList.AsVariableDeclarationList().Declarations.Nodes {
				if d.Initializer() != nil {
					assignments(d.Initializer(), s, &out)
				}
			}
		}
	}
	return out
}

func assignments(e, statement *parse.Node, out *[]assignment) {
	e = unwrap(e)
	if e.Kind != parse.KindBinaryExpression {
		return
	}
	b := e.AsBinaryExpression()
	switch b.OperatorToken.Kind {
	case parse.TokenComma:
		assignments(b.Left, statement, out)
		assignments(b.Right, statement, out)
	case parse.TokenEquals:
		if name, ok := commonJSTarget(b.Left); ok {
			*out = append(*out, assignment{name: name, target: b.Left, value: lastValue(b.Right), statement: statement})
		}
		assignments(b.Right, statement, out)
	}
}

// lastValue returns what a chain of assignments yields.
func lastValue(e *parse.Node) *parse.Node {
	for {
		e = unwrap(e)
		if e.Kind != parse.KindBinaryExpression || e.AsBinaryExpression().OperatorToken.Kind != parse.TokenEquals {
			return e
		}
		e = e.AsBinaryExpression().Right
	}
}

// commonJSTarget reads module.exports (name "") and exports.name, with
// module.exports.name and bracketed forms.
func commonJSTarget(e *parse.Node) (name string, ok bool) {
	object, property := member(e)
	if object == nil {
		return "", false
	}
	if isName(object, "exports") || isModuleExports(object) {
		return property, true
	}
	return "", isModuleExports(e)
}

func isModuleExports(e *parse.Node) bool {
	object, property := member(e)
	return object != nil && property == "exports" && isName(object, "module")
}

func isName(e *parse.Node, name string) bool {
	return e.Kind == parse.KindIdentifier && e.Text() == name
}

// member splits a.b and a["b"].
func member(e *parse.Node) (object *parse.Node, property string) {
	e = unwrap(e)
	switch e.Kind {
	case parse.KindPropertyAccessExpression:
		return unwrap(e.Expression()), e.Name().Text()
	case parse.KindElementAccessExpression:
		if key := e.AsElementAccessExpression().ArgumentExpression; key != nil && key.Kind == parse.KindStringLiteral {
			return unwrap(e.Expression()), key.Text()
		}
	}
	return nil, ""
}
