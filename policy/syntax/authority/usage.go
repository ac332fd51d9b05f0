package authority

import (
	"github.com/microsoft/typescript-go/shim/parse"

	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
)

// maxClimb bounds how far out the fate of a value is looked for.
const maxClimb = 200

// usage says what becomes of an expression's value.
type usage int

const (
	asValue    usage = iota // it is used in some way
	asTest                  // it is only asked whether it is there
	asPassage               // it goes into a variable or through an operator and can be met again
	asExtended              // a member of it is taken at once
	asWritten
)

// usage climbs out of operators and parentheses to where a value ends.
func (e *engine) usage(n *parse.Node) usage {
	moved := false
	for range maxClimb {
		p := n.Parent
		if p == nil {
			return asValue
		}
		if syntax.IsWrite(n) && (parse.IsWriteOnly(n) || isDeleted(n)) {
			return asWritten
		}
		switch p.Kind {
		case parse.KindParenthesizedExpression, parse.KindAsExpression, parse.KindNonNullExpression, parse.KindSatisfiesExpression,
			parse.KindTypeAssertionExpression:
		case parse.KindTypeOfExpression:
			return asTest
		case parse.KindPrefixUnaryExpression:
			if p.AsPrefixUnaryExpression().Operator == parse.TokenExclamation {
				return asTest
			}
			return asValue
		case parse.KindBinaryExpression:
			b := p.AsBinaryExpression()
			right := b.Right == n
			switch b.OperatorToken.Kind {
			case parse.TokenEqualsEquals, parse.TokenEqualsEqualsEquals, parse.TokenExclamationEquals, parse.TokenExclamationEquals2:
				other := b.Right
				if right {
					other = b.Left
				}
				// Two ways to the same name are compared to learn whether they lead to the
				// same realm.
				if isNothing(other) || memberName(unwrap(n)) != "" && memberName(unwrap(n)) == memberName(unwrap(other)) {
					return asTest
				}
				return asValue
			case parse.TokenAmpersandAmpersand:
				if !right {
					return asTest
				}
				moved = true
			case parse.TokenBarBar, parse.TokenQuestionQuestion:
				moved = true
			case parse.TokenComma:
				if !right {
					return asValue
				}
			case parse.TokenEquals, parse.TokenBarBarEquals, parse.TokenQuestionQuestionEquals, parse.TokenAmpersandAmpersandEquals:
				if right && e.follows(b.Left) {
					return asPassage
				}
				return asValue
			default:
				return asValue
			}
		case parse.KindConditionalExpression:
			if p.AsConditionalExpression().Condition == n {
				return asTest
			}
			moved = true
		case parse.KindIfStatement, parse.KindWhileStatement, parse.KindDoStatement, parse.KindForStatement:
			return asTest
		case parse.KindVariableDeclaration, parse.KindParameter, parse.KindBindingElement:
			if e.follows(p.Name()) {
				return asPassage
			}
			return asValue
		case parse.KindPropertyAccessExpression, parse.KindElementAccessExpression:
			if p.Expression() != n || !e.extends(p) {
				return asValue
			}
			if moved {
				return asPassage
			}
			return asExtended
		case parse.KindCallExpression, parse.KindNewExpression:
			if p.Expression() != n && e.covered(p) {
				return asPassage
			}
			return asValue
		default:
			return asValue
		}
		n = p
	}
	return asValue
}

// extends reports whether a member access goes on with the path of its object.
func (e *engine) extends(p *parse.Node) bool {
	if p.Kind == parse.KindElementAccessExpression {
		names, ok := e.constants(p.AsElementAccessExpression().ArgumentExpression, nil, 0)
		return ok && len(names) > 0 && !inherited[names[0]] && !isIndex(names[0])
	}
	name := p.Name()
	switch {
	case name.Kind != parse.KindIdentifier || inherited[name.Text()]:
		return false
	case name.Text() == "call" || name.Text() == "apply" || name.Text() == "bind":
		return !isCallee(p) || memberName(unwrap(p.Expression())) == "Reflect"
	}
	return true
}

// follows reports whether what is given to a target is met again.
func (e *engine) follows(target *parse.Node) bool {
	target = unwrap(target)
	switch target.Kind {
	case parse.KindIdentifier:
		return true
	case parse.KindObjectBindingPattern:
		for _, m := range target.Elements() {
			if key := m.AsBindingElement().PropertyName; key != nil && key.Kind == parse.KindComputedPropertyName {
				if _, ok := e.keys(key, nil); !ok {
					return false
				}
			}
		}
		return len(target.Elements()) > 0
	case parse.KindObjectLiteralExpression:
		for _, m := range target.Properties() {
			if m.Name() != nil && m.Name().Kind == parse.KindComputedPropertyName {
				if _, ok := e.keys(m.Name(), nil); !ok {
					return false
				}
			}
		}
		return len(target.Properties()) > 0
	}
	return false
}

// isNothing reports whether an expression is undefined or null.
func isNothing(n *parse.Node) bool {
	n = unwrap(n)
	switch n.Kind {
	case parse.KindNullKeyword, parse.KindVoidExpression:
		return true
	case parse.KindIdentifier:
		return n.Text() == "undefined"
	}
	return false
}
