package syntax

import "github.com/microsoft/typescript-go/shim/parse"

// maxGuards bounds how far out a guard is looked for.
const maxGuards = 1000

// isGuarded reports whether a condition around the reference has established, by
// typeof, that the name exists.
func isGuarded(id *parse.Node) bool {
	name := id.Text()
	n := id
	for range maxGuards {
		parent := n.Parent
		if parent == nil {
			return false
		}
		switch parent.Kind {
		case parse.KindConditionalExpression:
			c := parent.AsConditionalExpression()
			if c.WhenTrue == n && proves(c.Condition, true, name) || c.WhenFalse == n && proves(c.Condition, false, name) {
				return true
			}
		case parse.KindIfStatement:
			s := parent.AsIfStatement()
			if s.ThenStatement == n && proves(s.Expression, true, name) || s.ElseStatement == n && proves(s.Expression, false, name) {
				return true
			}
		case parse.KindBinaryExpression:
			b := parent.AsBinaryExpression()
			switch {
			case b.Right != n:
			case b.OperatorToken.Kind == parse.TokenAmpersandAmpersand:
				if proves(b.Left, true, name) {
					return true
				}
			case b.OperatorToken.Kind == parse.TokenBarBar:
				if proves(b.Left, false, name) {
					return true
				}
			}
		}
		n = parent
	}
	return false
}

// proves reports whether the condition's outcome implies that the name exists.
func proves(condition *parse.Node, outcome bool, name string) bool {
	condition = unwrap(condition)
	switch condition.Kind {
	case parse.KindPrefixUnaryExpression:
		u := condition.AsPrefixUnaryExpression()
		return u.Operator == parse.TokenExclamation && proves(u.Operand, !outcome, name)
	case parse.KindBinaryExpression:
		b := condition.AsBinaryExpression()
		switch b.OperatorToken.Kind {
		case parse.TokenAmpersandAmpersand:
			return outcome && (proves(b.Left, true, name) || proves(b.Right, true, name))
		case parse.TokenBarBar:
			return !outcome && (proves(b.Left, false, name) || proves(b.Right, false, name))
		case parse.TokenComma:
			return proves(b.Right, outcome, name)
		}
		return compares(b.Left, b.OperatorToken.Kind, b.Right, outcome, name) ||
			compares(b.Right, mirrored(b.OperatorToken.Kind), b.Left, outcome, name)
	}
	return false
}

// compares reports whether `typeof name <operator> literal`, having the outcome,
// implies that the name exists. Minifiers write typeof x < "u" for "is defined":
// of the strings that typeof yields only "undefined" and "unknown" sort after "u".
func compares(operand *parse.Node, operator parse.Kind, literal *parse.Node, outcome bool, name string) bool {
	operand, literal = unwrap(operand), unwrap(literal)
	if operand.Kind != parse.KindTypeOfExpression || literal.Kind != parse.KindStringLiteral {
		return false
	}
	if id := unwrap(operand.Expression()); id.Kind != parse.KindIdentifier || id.Text() != name {
		return false
	}
	undefined := literal.Text() == "undefined"
	switch operator {
	case parse.TokenEqualsEquals, parse.TokenEqualsEqualsEquals:
		return outcome != undefined
	case parse.TokenExclamationEquals, parse.TokenExclamationEquals2:
		return outcome == undefined
	case parse.TokenLessThan:
		return outcome && literal.Text() == "u"
	case parse.TokenGreaterThan:
		return !outcome && literal.Text() == "u"
	}
	return false
}

// mirrored returns the operator for exchanged operands.
func mirrored(operator parse.Kind) parse.Kind {
	switch operator {
	case parse.TokenLessThan:
		return parse.TokenGreaterThan
	case parse.TokenGreaterThan:
		return parse.TokenLessThan
	}
	return operator
}
