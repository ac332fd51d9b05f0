package syntax

import (
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// Kind tells what a Node is.
type Kind int

// The kinds of nodes. Parentheses, `as T`, `satisfies T`, `<T>x` and `x!` leave no
// trace: the node is what stands inside them.
const (
	KindMissing    Kind = iota // nothing was typed where a value must stand
	KindObject                 // Properties
	KindArray                  // Elements
	KindString                 // Text; templates without substitutions too
	KindNumber                 // Number; signs are folded in
	KindBool                   // Bool
	KindNull                   //
	KindUndefined              // undefined, void 0, a hole in an array
	KindBigInt                 // Text, with sign and n
	KindRegexp                 // Text, with slashes and flags
	KindTemplate               // a template with substitutions
	KindIdentifier             // Text
	KindMember                 // Operand.Text or Operand["Text"]
	KindCall                   // Callee, Args
	KindNew                    // Callee, Args
	KindFunction               // functions, arrows, methods, classes
	KindSpread                 // Operand, in Elements and Args
	KindOther                  // any other expression; only its span is known
)

var kindNames = [...]string{
	"missing", "object", "array", "string", "number", "boolean", "null", "undefined", "bigint", "regular expression",
	"template", "identifier", "member", "call", "new", "function", "spread", "expression",
}

// String names the kind as a message to a user would.
func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return "unknown"
	}
	return kindNames[k]
}

// Node is one expression. Which fields are set depends on Kind. The span of a
// child lies within its parent's, except for what Resolve reached through a name.
type Node struct {
	Kind Kind
	Span text.Span
	// Whole is Span with the parentheses and the type annotations that Kind leaves out.
	Whole      text.Span
	Text       string
	Number     float64
	Bool       bool
	Properties []Property
	Elements   []*Node
	Callee     *Node
	Args       []*Node
	Operand    *Node

	syntax any // what the node was read from, see code
}

// Property is one member of an object literal.
type Property struct {
	Key       string    // "" when Computed or Spread
	KeySpan   text.Span // quotes and brackets included
	Span      text.Span // the whole member
	Computed  bool      // the key is an expression whose value is not literal
	Spread    bool      // ...Value
	Shorthand bool      // { name }; Value is the Identifier
	Method    bool      // { name() {} }
	Accessor  bool      // { get name() {} } or set; Value is KindOther
	Value     *Node     // never nil
}

// Property returns the last member with the given key, which is the one that
// JavaScript keeps, or nil. Spreads are not looked into.
func (n *Node) Property(key string) *Property {
	if n == nil {
		return nil
	}
	for i := len(n.Properties) - 1; i >= 0; i-- {
		if p := &n.Properties[i]; p.Key == key && !p.Computed && !p.Spread {
			return p
		}
	}
	return nil
}

// Literal reports whether the node spells out its whole value, so that nothing
// has to be evaluated to know it. Names that Resolve could follow are not literal.
func (n *Node) Literal() bool {
	switch n.Kind {
	case KindString, KindNumber, KindBool, KindNull, KindUndefined, KindBigInt, KindRegexp:
		return true
	case KindArray:
		for _, e := range n.Elements {
			if !e.Literal() {
				return false
			}
		}
		return true
	case KindObject:
		for _, p := range n.Properties {
			if p.Computed || p.Spread || p.Accessor || !p.Value.Literal() {
				return false
			}
		}
		return true
	default:
		return false
	}
}
