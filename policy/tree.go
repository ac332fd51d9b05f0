package policy

import "github.com/sandbox-lsp/sandbox-lsp/policy/syntax"

// maxDepth bounds how deep identifiers and literals are followed; a policy has
// five levels.
const maxDepth = 64

func fromNode(parsed *syntax.File, node *syntax.Node, depth int) *Value {
	if node == nil || depth > maxDepth {
		return &Value{Kind: Dynamic}
	}
	node = parsed.Resolve(node)
	v := &Value{Span: node.Span, Text: node.Text, Number: node.Number, Bool: node.Bool}
	switch node.Kind {
	case syntax.KindObject:
		v.Kind = Object
		for _, p := range node.Properties {
			addProperty(parsed, v, p, depth)
		}
	case syntax.KindArray:
		v.Kind = Array
		for _, e := range node.Elements {
			if e.Kind == syntax.KindSpread {
				v.Open = true
				continue
			}
			v.Elems = append(v.Elems, fromNode(parsed, e, depth+1))
		}
	case syntax.KindString:
		v.Kind = String
	case syntax.KindNumber:
		v.Kind = Number
	case syntax.KindBool:
		v.Kind = Bool
	case syntax.KindNull:
		v.Kind = Null
	case syntax.KindUndefined:
		v.Kind = Undefined
	case syntax.KindFunction:
		v.Kind = Function
	case syntax.KindBigInt, syntax.KindRegexp:
		v.Kind = Other
	default:
		v.Kind = Dynamic
	}
	return v
}

// addProperty adds a property of the tree. A spread of an object that stands in
// the same file is taken in place; everything else that is not a plain key and
// value leaves the object open.
func addProperty(parsed *syntax.File, v *Value, p syntax.Property, depth int) {
	if p.Spread {
		inner := fromNode(parsed, p.Value, depth+1)
		if inner.Kind != Object {
			v.Open = true
			return
		}
		v.Open = v.Open || inner.Open
		for _, q := range inner.Props {
			// A key that a later one overrides through a spread is not a slip, so the
			// earlier one goes.
			dropKey(v, q.Key)
			v.Props = append(v.Props, q)
		}
		return
	}
	// `__proto__: x` sets the prototype and makes no own property.
	if p.Computed || p.Accessor || p.Key == "__proto__" && !p.Shorthand && !p.Method {
		v.Open = true
		return
	}
	value := fromNode(parsed, p.Value, depth+1)
	if p.Method {
		value = &Value{Kind: Function, Span: p.Span}
	}
	v.Props = append(v.Props, Prop{Key: p.Key, KeySpan: p.KeySpan, Span: p.Span, Value: value})
}

func dropKey(v *Value, key string) {
	for i := range v.Props {
		if v.Props[i].Key == key {
			v.Props = append(v.Props[:i], v.Props[i+1:]...)
			return
		}
	}
}
