package authority

import (
	"slices"

	"github.com/microsoft/typescript-go/shim/parse"

	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
)

// maxGuards bounds how far out a guard is looked for, and at how many conditions. A
// guard that is not found makes a use look unguarded, never the other way round.
const maxGuards = 200

// guards is the search for what guards one use.
type guards struct {
	*engine
	names []string
	// member is a path, where a member of the one name is looked for and not the name.
	member string
	steps  int
}

// guarded reports whether the code around a use has made sure that what it names
// exists, or that a failure does no harm.
func (e *engine) guarded(n *parse.Node, name, root string) bool {
	g := &guards{engine: e, names: []string{name}}
	if globalNames[root] && root != "globalThis" {
		// Code that asks for window before it takes window.fetch runs where there is one.
		g.names = append(g.names, root)
	}
	return g.search(n)
}

// search goes out from a use.
func (g *guards) search(n *parse.Node) bool {
	inner := true // still in the function of the use
	for range maxGuards {
		p := n.Parent
		if p == nil {
			return false
		}
		switch p.Kind {
		case parse.KindConditionalExpression:
			c := p.AsConditionalExpression()
			if c.WhenTrue == n && g.proves(c.Condition, true) || c.WhenFalse == n && g.proves(c.Condition, false) {
				return true
			}
		case parse.KindIfStatement:
			s := p.AsIfStatement()
			if s.ThenStatement == n && g.proves(s.Expression, true) || s.ElseStatement == n && g.proves(s.Expression, false) {
				return true
			}
		case parse.KindBinaryExpression:
			b := p.AsBinaryExpression()
			switch {
			case b.Right != n:
			case b.OperatorToken.Kind == parse.TokenAmpersandAmpersand && g.proves(b.Left, true),
				b.OperatorToken.Kind == parse.TokenBarBar && g.proves(b.Left, false):
				return true
			}
		case parse.KindBlock, parse.KindSourceFile, parse.KindCaseClause, parse.KindDefaultClause:
			for _, condition := range g.exitsBefore(p, n) {
				if g.proves(condition, false) {
					return true
				}
			}
		case parse.KindTryStatement:
			t := p.AsTryStatement()
			if inner && t.TryBlock == n && t.CatchClause != nil && !rethrows(t.CatchClause.AsCatchClause().Block) {
				return true
			}
		case parse.KindFunctionDeclaration, parse.KindFunctionExpression, parse.KindArrowFunction, parse.KindMethodDeclaration,
			parse.KindConstructor, parse.KindGetAccessor, parse.KindSetAccessor:
			inner = false
		}
		n = p
	}
	return false
}

// rethrows reports whether a catch passes the failure on.
func rethrows(block *parse.Node) bool { return slices.ContainsFunc(block.Statements(), isThrow) }

func isThrow(n *parse.Node) bool { return n.Kind == parse.KindThrowStatement }

// exitsBefore returns the conditions that are false where a statement of a block is
// reached, since the block is left when they are true.
func (e *engine) exitsBefore(block, statement *parse.Node) []*parse.Node {
	list, known := e.exits[block]
	if !known {
		for _, s := range block.Statements() {
			if s.Kind == parse.KindIfStatement && s.AsIfStatement().ElseStatement == nil && e.ends(s.AsIfStatement().ThenStatement) {
				list = append(list, s.AsIfStatement().Expression)
			}
		}
		e.exits[block] = list
	}
	before := 0
	for before < len(list) && list[before].End() <= statement.Pos() {
		if before++; before >= maxGuards {
			break
		}
	}
	return list[:before]
}

// proves reports whether the condition's outcome implies that the name exists.
func (g *guards) proves(condition *parse.Node, outcome bool) bool {
	if g.steps++; g.steps > maxGuards {
		return false
	}
	condition = last(condition)
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
		case parse.TokenIn:
			return outcome && g.isIn(b.Left, b.Right)
		case parse.TokenInstanceOf:
			return outcome && g.denotes(b.Left)
		}
		return g.compares(b.Left, b.OperatorToken.Kind, b.Right, outcome) ||
			g.compares(b.Right, mirrored(b.OperatorToken.Kind), b.Left, outcome)
	case parse.KindIdentifier:
		if g.denotes(condition) {
			return outcome
		}
		// const has = typeof fetch === "function"
		if symbol := g.symbols[condition]; symbol != nil {
			if value, _ := g.only(symbol); value != nil {
				return g.proves(value, outcome)
			}
		}
		return false
	case parse.KindCallExpression:
		return false
	}
	return outcome && g.denotes(condition)
}

// denotes reports whether an expression is what is looked for, or a member of it.
func (g *guards) denotes(n *parse.Node) bool {
	if g.member != "" {
		return g.leadsTo(n, g.member)
	}
	n = last(n)
	if n.Kind == parse.KindIdentifier && g.symbols[n] == nil && slices.Contains(g.names, n.Text()) {
		return true
	}
	for _, f := range g.facts[n] {
		if f.what == host && slices.Contains(g.names, firstName(f.path)) {
			return true
		}
	}
	return false
}

// compares reports whether `operand <operator> literal`, having the outcome, implies
// that the name exists. Minifiers write typeof x < "u" for "is defined": of the
// strings that typeof yields only "undefined" and "unknown" sort after "u".
func (g *guards) compares(operand *parse.Node, operator parse.Kind, literal *parse.Node, outcome bool) bool {
	operand, literal = last(operand), last(literal)
	equal := operator == parse.TokenEqualsEquals || operator == parse.TokenEqualsEqualsEquals
	unequal := operator == parse.TokenExclamationEquals || operator == parse.TokenExclamationEquals2
	if isNothing(literal) {
		return (equal && !outcome || unequal && outcome) && g.denotes(operand)
	}
	if operand.Kind != parse.KindTypeOfExpression || literal.Kind != parse.KindStringLiteral || !g.denotes(operand.Expression()) {
		return false
	}
	undefined := literal.Text() == "undefined"
	switch {
	case equal:
		return outcome != undefined
	case unequal:
		return outcome == undefined
	case operator == parse.TokenLessThan:
		return outcome && literal.Text() == "u"
	case operator == parse.TokenGreaterThan:
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

// certain reports whether no condition decides that a place of a function is reached.
func certain(n *parse.Node) bool {
	for range maxClimb {
		p := n.Parent
		if p == nil {
			return true
		}
		switch p.Kind {
		case parse.KindFunctionDeclaration, parse.KindFunctionExpression, parse.KindArrowFunction, parse.KindMethodDeclaration,
			parse.KindConstructor, parse.KindGetAccessor, parse.KindSetAccessor, parse.KindSourceFile:
			return true
		case parse.KindIfStatement:
			if p.AsIfStatement().Expression != n {
				return false
			}
		case parse.KindConditionalExpression:
			if p.AsConditionalExpression().Condition != n {
				return false
			}
		case parse.KindBinaryExpression:
			b := p.AsBinaryExpression()
			switch b.OperatorToken.Kind {
			case parse.TokenAmpersandAmpersand, parse.TokenBarBar, parse.TokenQuestionQuestion, parse.TokenAmpersandAmpersandEquals,
				parse.TokenBarBarEquals, parse.TokenQuestionQuestionEquals:
				if b.Right == n || syntax.IsWrite(n) {
					return false
				}
			}
		case parse.KindWhileStatement, parse.KindForStatement, parse.KindForInStatement, parse.KindForOfStatement, parse.KindCaseClause,
			parse.KindDefaultClause, parse.KindCatchClause:
			return false
		}
		n = p
	}
	return false
}
