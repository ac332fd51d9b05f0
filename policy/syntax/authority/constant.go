package authority

import (
	"slices"
	"strconv"
	"strings"

	"github.com/microsoft/typescript-go/shim/parse"

	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
)

// maxConstants bounds how many texts one expression may stand for, maxJoined their
// length in bytes when they are put together, and maxConstantDepth how far they are
// looked for.
const (
	maxConstants     = 64
	maxJoined        = 4096
	maxConstantDepth = 24
)

// constants returns the texts that an expression can have as a key; false when
// there may be others.
func (e *engine) constants(n *parse.Node, ctx *context, depth int) ([]string, bool) {
	n = last(n)
	if n == nil || depth > maxConstantDepth || !e.spend() {
		return nil, false
	}
	switch n.Kind {
	case parse.KindStringLiteral, parse.KindNoSubstitutionTemplate:
		return []string{n.Text()}, true
	case parse.KindNumericLiteral:
		return []string{n.Text()}, true
	case parse.KindTemplateExpression:
		t := n.AsTemplateExpression()
		out := []string{t.Head.Text()}
		for _, span := range t.TemplateSpans.Nodes {
			s := span.AsTemplateSpan()
			values, ok := e.constants(s.Expression, ctx, depth+1)
			if !ok {
				return nil, false
			}
			if out, ok = joined(out, values); !ok {
				return nil, false
			}
			if out, ok = joined(out, []string{s.Literal.Text()}); !ok {
				return nil, false
			}
		}
		return out, true
	case parse.KindBinaryExpression:
		b := n.AsBinaryExpression()
		left, ok := e.constants(b.Left, ctx, depth+1)
		if !ok {
			return nil, false
		}
		right, ok := e.constants(b.Right, ctx, depth+1)
		if !ok {
			return nil, false
		}
		switch b.OperatorToken.Kind {
		case parse.TokenPlus:
			if unwrap(b.Left).Kind == parse.KindNumericLiteral && unwrap(b.Right).Kind == parse.KindNumericLiteral {
				return nil, false
			}
			return joined(left, right)
		case parse.TokenBarBar, parse.TokenQuestionQuestion, parse.TokenAmpersandAmpersand:
			return merged(left, right)
		}
		return nil, false
	case parse.KindConditionalExpression:
		c := n.AsConditionalExpression()
		left, ok := e.constants(c.WhenTrue, ctx, depth+1)
		if !ok {
			return nil, false
		}
		right, ok := e.constants(c.WhenFalse, ctx, depth+1)
		if !ok {
			return nil, false
		}
		return merged(left, right)
	case parse.KindIdentifier:
		return e.constantsOf(e.symbols[n], ctx, depth+1)
	}
	return nil, false
}

// constantsOf returns the texts that a variable can have.
func (e *engine) constantsOf(symbol *parse.Symbol, ctx *context, depth int) ([]string, bool) {
	if symbol == nil || len(symbol.Declarations) != 1 || depth > maxConstantDepth {
		return nil, false
	}
	if e.evaluating[symbol] {
		return nil, true // what it is made of elsewhere
	}
	e.evaluating[symbol] = true
	defer delete(e.evaluating, symbol)

	declaration := symbol.Declarations[0]
	if declaration.Name() == nil || declaration.Name().Kind != parse.KindIdentifier {
		return nil, false
	}
	written, ok := e.assigned(symbol)
	if !ok {
		return nil, false
	}
	var out []string
	switch declaration.Kind {
	case parse.KindVariableDeclaration:
		list := declaration.Parent
		if list == nil || list.Parent == nil || list.Kind != parse.KindVariableDeclarationList {
			return nil, false
		}
		switch list.Parent.Kind {
		case parse.KindForInStatement:
			return nil, false
		case parse.KindForOfStatement:
			of := unwrap(list.Parent.AsForInOrOfStatement().Expression)
			if of.Kind != parse.KindArrayLiteralExpression {
				return nil, false
			}
			written = append(written, of.Elements()...)
		default:
			if declaration.Initializer() != nil {
				written = append(written, declaration.Initializer())
			}
		}
	case parse.KindParameter:
		values, ok := e.arguments(declaration, ctx, depth)
		if !ok {
			return nil, false
		}
		out = values
		if declaration.Initializer() != nil {
			written = append(written, declaration.Initializer())
		}
	default:
		return nil, false
	}
	for _, value := range written {
		values, ok := e.constants(value, ctx, depth+1)
		if !ok {
			return nil, false
		}
		if out, ok = merged(out, values); !ok {
			return nil, false
		}
	}
	return out, len(out) > 0
}

// arguments returns the texts that callers give for a parameter.
func (e *engine) arguments(param *parse.Node, ctx *context, depth int) ([]string, bool) {
	fn := e.byNode[param.Parent]
	if fn == nil || param.AsParameterDeclaration().DotDotDotToken != nil {
		return nil, false
	}
	i := slices.Index(fn.params, param)
	for c := ctx; c != nil; c = c.up {
		if c.edge.fn == fn {
			arg := c.edge.argument(i)
			if arg == nil {
				return nil, false
			}
			return e.constants(arg, c.up, depth+1)
		}
	}
	if fn.escapes || len(fn.callers) == 0 || len(fn.callers) > maxConstants {
		return nil, false
	}
	var out []string
	for _, c := range fn.callers {
		arg := c.argument(i)
		if arg == nil {
			return nil, false
		}
		values, ok := e.constants(arg, nil, depth+1)
		if !ok {
			return nil, false
		}
		if out, ok = merged(out, values); !ok {
			return nil, false
		}
	}
	return out, true
}

// assigned returns the values that assignments give a variable, its declaration not
// included; false when there are writes of other kinds.
func (e *engine) assigned(symbol *parse.Symbol) ([]*parse.Node, bool) {
	var out []*parse.Node
	for _, id := range e.writes(symbol) {
		b := id.Parent
		if b.Kind != parse.KindBinaryExpression || b.AsBinaryExpression().OperatorToken.Kind != parse.TokenEquals {
			return nil, false
		}
		out = append(out, b.AsBinaryExpression().Right)
	}
	return out, true
}

// writes returns the places where a variable is written after its declaration.
func (s *survey) writes(symbol *parse.Symbol) []*parse.Node {
	if known, ok := s.written[symbol]; ok {
		return known
	}
	var out []*parse.Node
	for _, id := range s.tree.Uses[symbol] {
		if syntax.IsWrite(id) {
			out = append(out, id)
		}
	}
	s.written[symbol] = out
	return out
}

func joined(left, right []string) ([]string, bool) {
	if len(left)*len(right) > maxConstants {
		return nil, false
	}
	var out []string
	for _, l := range left {
		for _, r := range right {
			if len(l)+len(r) > maxJoined {
				return nil, false
			}
			out = append(out, l+r)
		}
	}
	return out, true
}

func merged(left, right []string) ([]string, bool) {
	for _, r := range right {
		if !slices.Contains(left, r) {
			left = append(left, r)
		}
	}
	return left, len(left) <= maxConstants
}

// truth returns the outcome of a condition that is the same in every run.
func (s *survey) truth(n *parse.Node, depth int) (outcome, known bool) {
	n = last(n)
	if n == nil || depth > maxConstantDepth {
		return false, false
	}
	switch n.Kind {
	case parse.KindTrueKeyword:
		return true, true
	case parse.KindFalseKeyword, parse.KindNullKeyword:
		return false, true
	case parse.KindStringLiteral, parse.KindNoSubstitutionTemplate:
		return n.Text() != "", true
	case parse.KindNumericLiteral:
		v, err := strconv.ParseFloat(n.Text(), 64)
		return v != 0, err == nil
	case parse.KindVoidExpression:
		return false, true
	case parse.KindPrefixUnaryExpression:
		u := n.AsPrefixUnaryExpression()
		if u.Operator != parse.TokenExclamation {
			return false, false
		}
		outcome, known = s.truth(u.Operand, depth+1)
		return !outcome, known
	case parse.KindIdentifier:
		return s.truthOf(n, depth+1)
	case parse.KindPropertyAccessExpression:
		if value := s.fixedMember(n); value != nil {
			return s.truth(value, depth+1)
		}
	case parse.KindBinaryExpression:
		b := n.AsBinaryExpression()
		switch operator := b.OperatorToken.Kind; operator {
		case parse.TokenAmpersandAmpersand, parse.TokenBarBar:
			decides := operator == parse.TokenBarBar
			left, knowsLeft := s.truth(b.Left, depth+1)
			right, knowsRight := s.truth(b.Right, depth+1)
			switch {
			case knowsLeft && left == decides, knowsRight && right == decides:
				return decides, true
			case knowsLeft && knowsRight:
				return !decides, true
			}
		case parse.TokenEqualsEquals, parse.TokenEqualsEqualsEquals, parse.TokenExclamationEquals, parse.TokenExclamationEquals2:
			left, right := s.literal(b.Left, depth+1), s.literal(b.Right, depth+1)
			if left != "" && right != "" {
				equal := operator == parse.TokenEqualsEquals || operator == parse.TokenEqualsEqualsEquals
				return (left == right) == equal, true
			}
		case parse.TokenLessThan, parse.TokenGreaterThan:
			// Minifiers write typeof x < "u" for "is defined".
			left, right := s.literal(b.Left, depth+1), s.literal(b.Right, depth+1)
			if strings.HasPrefix(left, "s") && strings.HasPrefix(right, "s") {
				return (left < right) == (operator == parse.TokenLessThan) && left != right, true
			}
		}
	}
	return false, false
}

// truthOf returns whether a variable is always true or always false.
func (s *survey) truthOf(id *parse.Node, depth int) (outcome, known bool) {
	symbol := s.symbols[id]
	if symbol == nil {
		return false, id.Text() == "undefined" || id.Text() == "NaN"
	}
	if s.untouched(symbol) && s.modules[symbol] != nil {
		return true, true
	}
	value, constant := s.only(symbol)
	if value == nil {
		return false, false
	}
	t, ok := s.truths[symbol]
	if !ok {
		s.truths[symbol] = truth{} // unknown, should it depend on itself
		t.outcome, t.known = s.truth(value, depth)
		s.truths[symbol] = t
	}
	// A var is undefined before its declaration is reached.
	return t.outcome, t.known && (constant || !t.outcome || s.settled(symbol.Declarations[0], id))
}

// truth is the outcome of a condition, and whether it is known.
type truth struct{ outcome, known bool }

// only returns the only value that a variable is given, and whether nobody can read it
// before it has it, as is so with const and let.
func (s *survey) only(symbol *parse.Symbol) (*parse.Node, bool) {
	if len(symbol.Declarations) != 1 || symbol.Declarations[0].Kind != parse.KindVariableDeclaration || !s.untouched(symbol) {
		return nil, false
	}
	declaration := symbol.Declarations[0]
	if declaration.Initializer() == nil || declaration.Name().Kind != parse.KindIdentifier {
		return nil, false
	}
	return declaration.Initializer(), parse.IsConst(declaration.Parent) || parse.IsLet(declaration.Parent)
}

// untouched reports whether a variable is never written after its declaration.
func (s *survey) untouched(symbol *parse.Symbol) bool {
	return len(s.writes(symbol)) == 0
}

// literal returns a text that two equal primitive values share, or "".
func (s *survey) literal(n *parse.Node, depth int) string {
	n = last(n)
	if n == nil || depth > maxConstantDepth {
		return ""
	}
	switch n.Kind {
	case parse.KindStringLiteral, parse.KindNoSubstitutionTemplate:
		return "s" + n.Text()
	case parse.KindNumericLiteral:
		return "n" + n.Text()
	case parse.KindTrueKeyword:
		return "true"
	case parse.KindFalseKeyword:
		return "false"
	case parse.KindTypeOfExpression:
		operand := unwrap(n.Expression())
		if symbol := s.symbols[operand]; symbol != nil && s.modules[symbol] != nil && s.untouched(symbol) {
			return "sobject"
		}
	case parse.KindIdentifier:
		if symbol := s.symbols[n]; symbol != nil {
			if value, constant := s.only(symbol); value != nil {
				if text := s.literal(value, depth+1); text != "" && (constant || s.settled(symbol.Declarations[0], n)) {
					return text
				}
			}
		}
	}
	return ""
}
