package syntax

import (
	"strconv"

	"github.com/microsoft/typescript-go/shim/parse"

	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// value reads an expression.
func (f *tree) value(e *parse.Node) *Node {
	if e == nil {
		return &Node{Kind: KindMissing}
	}
	whole := e
	for parse.IsSynthesized(whole) && unwrapOnce(whole) != nil { // made of a JSDoc comment
		whole = unwrapOnce(whole)
	}
	e = unwrap(e)
	n := &Node{Kind: KindOther, Span: f.span(e), Whole: f.span(whole), syntax: e}
	if parse.IsMissing(e) && e.Kind == parse.KindIdentifier {
		n.Kind = KindMissing
		return n
	}
	switch e.Kind {
	case parse.KindObjectLiteralExpression:
		n.Kind = KindObject
		for _, member := range e.Properties() {
			n.Properties = append(n.Properties, f.property(member))
		}
	case parse.KindArrayLiteralExpression:
		n.Kind, n.Elements = KindArray, f.values(e.Elements())
	case parse.KindStringLiteral, parse.KindNoSubstitutionTemplate:
		n.Kind, n.Text = KindString, e.Text()
	case parse.KindNumericLiteral:
		n.number(e.Text(), 1)
	case parse.KindBigIntLiteral:
		n.Kind, n.Text = KindBigInt, e.Text()
	case parse.KindPrefixUnaryExpression:
		f.signed(n, e)
	case parse.KindTrueKeyword:
		n.Kind, n.Bool = KindBool, true
	case parse.KindFalseKeyword:
		n.Kind = KindBool
	case parse.KindNullKeyword:
		n.Kind = KindNull
	case parse.KindOmittedExpression:
		n.Kind = KindUndefined
	case parse.KindVoidExpression:
		if operand := f.value(e.Expression()); operand.Literal() {
			n.Kind = KindUndefined
		}
	case parse.KindRegularExpressionLiteral:
		n.Kind, n.Text = KindRegexp, e.Text()
	case parse.KindTemplateExpression:
		n.Kind = KindTemplate
	case parse.KindIdentifier:
		n.Kind, n.Text = KindIdentifier, e.Text()
		if n.Text == "undefined" {
			n.Kind = KindUndefined
		}
	case parse.KindPropertyAccessExpression:
		if name := e.Name(); name.Kind == parse.KindIdentifier {
			n.Kind, n.Text, n.Operand = KindMember, name.Text(), f.value(e.Expression())
		}
	case parse.KindElementAccessExpression:
		if key := f.value(e.AsElementAccessExpression().ArgumentExpression); key.Kind == KindString {
			n.Kind, n.Text, n.Operand = KindMember, key.Text, f.value(e.Expression())
		}
	case parse.KindCallExpression:
		n.Kind, n.Callee, n.Args = KindCall, f.value(e.Expression()), f.values(e.Arguments())
	case parse.KindNewExpression:
		n.Kind, n.Callee, n.Args = KindNew, f.value(e.Expression()), f.values(e.Arguments())
	case parse.KindSpreadElement:
		n.Kind, n.Operand = KindSpread, f.value(e.Expression())
	case parse.KindFunctionExpression, parse.KindArrowFunction, parse.KindClassExpression,
		parse.KindFunctionDeclaration, parse.KindClassDeclaration, parse.KindMethodDeclaration:
		n.Kind = KindFunction
		if name := e.Name(); name != nil && name.Kind == parse.KindIdentifier {
			n.Text = name.Text()
		}
	}
	n.embrace()
	return n
}

// embrace keeps the spans of children inside their parent's. Only what the parser
// made up to go on after an error can lie outside: it has no tokens, and so may
// stand before the white space that its parent's span leaves out.
func (n *Node) embrace() {
	for i := range n.Properties {
		p := &n.Properties[i]
		p.Span = within(p.Span, n.Span)
		p.KeySpan = within(p.KeySpan, p.Span)
		p.Value.embraced(p.Span)
	}
	for _, list := range [][]*Node{n.Elements, n.Args, {n.Callee, n.Operand}} {
		for _, child := range list {
			if child != nil {
				child.embraced(n.Span)
			}
		}
	}
}

func (n *Node) embraced(outer text.Span) {
	n.Span = within(n.Span, outer)
	n.Whole = within(n.Whole, outer)
}

func within(s, outer text.Span) text.Span {
	start := min(max(s.Start, outer.Start), outer.End)
	return text.Span{Start: start, End: min(max(s.End, start), outer.End)}
}

func (f *tree) values(list []*parse.Node) []*Node {
	var out []*Node
	for _, e := range list {
		out = append(out, f.value(e))
	}
	return out
}

// number fills a node from the scanner's normal form of a numeric literal.
func (n *Node) number(literal string, sign float64) {
	// Too large a number parses to an infinity and an error; JavaScript agrees
	// with the infinity.
	v, _ := strconv.ParseFloat(literal, 64)
	n.Kind, n.Number, n.Text = KindNumber, sign*v, literal
	if sign < 0 {
		n.Text = "-" + literal
	}
}

func (f *tree) signed(n *Node, e *parse.Node) {
	unary := e.AsPrefixUnaryExpression()
	if unary.Operator != parse.TokenMinus && unary.Operator != parse.TokenPlus {
		return
	}
	operand := unwrap(unary.Operand)
	switch {
	case operand.Kind == parse.KindNumericLiteral && unary.Operator == parse.TokenMinus:
		n.number(operand.Text(), -1)
	case operand.Kind == parse.KindNumericLiteral:
		n.number(operand.Text(), 1)
	case operand.Kind == parse.KindBigIntLiteral && unary.Operator == parse.TokenMinus:
		n.Kind, n.Text = KindBigInt, "-"+operand.Text()
	}
}

// property reads one member of an object literal.
func (f *tree) property(member *parse.Node) Property {
	p := Property{Span: f.span(member)}
	switch member.Kind {
	case parse.KindSpreadAssignment:
		p.Spread, p.Value = true, f.value(member.Expression())
		p.KeySpan = text.Span{Start: p.Span.Start, End: p.Span.Start}
		return p
	case parse.KindShorthandPropertyAssignment:
		p.Shorthand, p.Value = true, f.value(member.Name())
	case parse.KindMethodDeclaration:
		p.Method, p.Value = true, f.value(member)
	case parse.KindGetAccessor, parse.KindSetAccessor:
		p.Accessor, p.Value = true, &Node{Kind: KindOther, Span: p.Span, Whole: p.Span, syntax: member}
	default:
		p.Value = f.value(member.Initializer())
		if code(p.Value) == nil {
			p.Value.Span = text.Span{Start: p.Span.End, End: p.Span.End}
			p.Value.Whole = p.Value.Span
		}
	}
	f.key(&p, member.Name())
	return p
}

// key reads the name of a member. A computed key with a literal string or number
// is as good as a plain one.
func (f *tree) key(p *Property, name *parse.Node) {
	if name == nil {
		p.KeySpan = text.Span{Start: p.Span.Start, End: p.Span.Start}
		return
	}
	p.KeySpan = f.span(name)
	if name.Kind != parse.KindComputedPropertyName {
		p.Key = name.Text()
		return
	}
	switch key := f.value(name.Expression()); key.Kind {
	case KindString, KindNumber:
		p.Key = key.Text
	default:
		p.Computed = true
	}
}

// unwrap takes off what changes an expression's type or grouping, not its value.
func unwrap(e *parse.Node) *parse.Node {
	for e != nil {
		inner := unwrapOnce(e)
		if inner == nil {
			return e
		}
		e = inner
	}
	return e
}

// unwrapOnce takes off one layer, or returns nil when there is none.
func unwrapOnce(e *parse.Node) *parse.Node {
	switch e.Kind {
	case parse.KindParenthesizedExpression, parse.KindAsExpression, parse.KindSatisfiesExpression,
		parse.KindNonNullExpression, parse.KindTypeAssertionExpression:
		return e.Expression()
	}
	return nil
}
