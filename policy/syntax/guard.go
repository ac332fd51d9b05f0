package syntax

import "github.com/microsoft/typescript-go/shim/parse"

// maxGuards bounds how far out a guard is looked for, and at how many conditions. A
// guard that is not found makes a use look unguarded, never the other way round.
const maxGuards = 200

// guards is the search for what guards one use of a name.
type guards struct {
	name  string
	steps int
}

// isGuarded reports whether a condition around the reference has established, by
// typeof, that the name exists.
func isGuarded(id *parse.Node) bool {
	g := &guards{name: id.Text()}
	n := id
	for range maxGuards {
		parent := n.Parent
		if parent == nil {
			return false
		}
		switch parent.Kind {
		case parse.KindConditionalExpression:
			c := parent.AsConditionalExpression()
			if c.WhenTrue == n && g.proves(c.Condition, true) || c.WhenFalse == n && g.proves(c.Condition, false) {
				return true
			}
		case parse.KindIfStatement:
			s := parent.AsIfStatement()
			if s.ThenStatement == n && g.proves(s.Expression, true) || s.ElseStatement == n && g.proves(s.Expression, false) {
				return true
			}
		case parse.KindBinaryExpression:
			b := parent.AsBinaryExpression()
			switch {
			case b.Right != n:
			case b.OperatorToken.Kind == parse.TokenAmpersandAmpersand:
				if g.proves(b.Left, true) {
					return true
				}
			case b.OperatorToken.Kind == parse.TokenBarBar:
				if g.proves(b.Left, false) {
					return true
				}
			}
		}
		n = parent
	}
	return false
}

// proves reports whether the condition's outcome implies that the name exists.
func (g *guards) proves(condition *parse.Node, outcome bool) bool {
	if g.steps++; g.steps > maxGuards {
		return false
	}
	condition = unwrap(condition)
	switch condition.Kind {
	case parse.KindPrefixUnaryExpression:
		u := condition.AsPrefixUnaryExpression()
		return u.Operator == parse.TokenExclamation && g.proves(u.Operand, !outcome)
	case parse.KindBinaryExpression:
		b := condition.AsBinaryExpression()
		switch b.OperatorToken.Kind {
		case parse.TokenAmpersandAmpersand:
			return outcome && (g.proves(b.Left, true) || g.proves(b.Right, true))
		case parse.TokenBarBar:
			return !outcome && (g.proves(b.Left, false) || g.proves(b.Right, false))
		case parse.TokenComma:
			return g.proves(b.Right, outcome)
		}
		return compares(b.Left, b.OperatorToken.Kind, b.Right, outcome, g.name) ||
			compares(b.Right, mirrored(b.OperatorToken.Kind), b.Left, outcome, g.name)
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
