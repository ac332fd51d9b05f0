package syntax

import "github.com/microsoft/typescript-go/shim/parse"

// changes judges whether an object, once made, may get other contents through the
// expressions that name it. The places where an object is only read are listed;
// any other counts as a change.
type changes struct {
	file *tree
	seen map[*parse.Symbol]bool // variables judged or being judged
}

// readers are the methods that neither change their receiver nor hand it on.
var readers = map[string]bool{"concat": true, "slice": true, "includes": true, "indexOf": true, "join": true, "at": true}

// mayChange reports whether the object that the expression yields may be changed
// through it, directly or by code that receives it.
func (c *changes) mayChange(n *parse.Node) bool {
	parent := n.Parent
	switch parent.Kind {
	case parse.KindParenthesizedExpression, parse.KindAsExpression, parse.KindSatisfiesExpression, parse.KindNonNullExpression, parse.KindTypeAssertionExpression:
		return c.mayChange(parent)
	case parse.KindExportAssignment, parse.KindExportSpecifier, parse.KindTypeOfExpression, parse.KindExpressionStatement:
		return false
	case parse.KindPropertyAssignment, parse.KindShorthandPropertyAssignment, parse.KindSpreadAssignment, parse.KindSpreadElement:
		// A part of a larger literal. A spread copies only the first level, so what
		// is done to the literal counts for the parts as well.
		return c.mayChange(parent)
	case parse.KindObjectLiteralExpression, parse.KindArrayLiteralExpression:
		return c.mayChange(parent)
	case parse.KindVariableDeclaration:
		return parent.Initializer() == n && c.variable(parent)
	case parse.KindPropertyAccessExpression, parse.KindElementAccessExpression:
		if parent.Expression() != n {
			return false
		}
		if call := parent.Parent; call.Kind == parse.KindCallExpression && call.Expression() == parent {
			_, method := member(parent)
			return !readers[method]
		}
		return isWrite(parent) || c.mayChange(parent)
	case parse.KindBinaryExpression:
		b := parent.AsBinaryExpression()
		if b.Right == n && b.OperatorToken.Kind == parse.TokenEquals {
			name, ok := commonJSTarget(b.Left)
			return !ok || name != "" && name != "default"
		}
		return true
	case parse.KindCallExpression:
		return parent.Expression() == n || !c.file.isDefineConfig(c.file.value(parent.Expression())) || c.mayChange(parent)
	}
	return true
}

// variable reports whether the object may be changed through another variable
// that was declared to hold it.
func (c *changes) variable(declaration *parse.Node) bool {
	name := declaration.Name()
	if name.Kind != parse.KindIdentifier {
		return true
	}
	x := c.file.scopes()
	symbol := x.lookup(name)
	if symbol == nil {
		return true
	}
	if c.seen[symbol] {
		return false
	}
	c.seen[symbol] = true
	for _, reference := range x.bound[symbol] {
		if c.mayChange(reference) {
			return true
		}
	}
	return false
}
