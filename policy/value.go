package policy

import "github.com/sandbox-lsp/sandbox-lsp/policy/text"

// Kind says what a value is.
type Kind int

// The kinds of values. Dynamic is a part of the source that the tree alone does
// not tell: a call, a spread of something imported, a computed key.
const (
	Dynamic Kind = iota
	Object
	Array
	String
	Number
	Bool
	Null
	Undefined
	Function
	Other // what no option takes: a bigint, a symbol, a regular expression, a class instance
)

func (k Kind) String() string {
	return [...]string{"an expression", "an object", "an array", "a string", "a number", "a boolean", "null", "undefined", "a function", "a value of another kind"}[k]
}

// Value is a value of the policy with the place that it was written at.
type Value struct {
	Kind   Kind
	Text   string // of a String; for Other, what it is
	Number float64
	Bool   bool
	Props  []Prop
	Elems  []*Value
	Span   text.Span
	// Open marks an object or array of which the tree shows only a part, because it
	// holds a spread, a computed key or an accessor.
	Open bool
	// Computed marks a value that came from evaluation and has no literal of its own;
	// Span is then the nearest range.
	Computed bool
}

// Prop is a property of an object, in source order. A key that was written twice
// stands twice; the last one counts, as in JavaScript.
type Prop struct {
	Key     string
	KeySpan text.Span
	Span    text.Span
	Value   *Value
}

// Get returns the value that counts for a key, or nil.
func (v *Value) Get(key string) *Value {
	if p := v.Prop(key); p != nil {
		return p.Value
	}
	return nil
}

// Prop returns the property that counts for a key, or nil.
func (v *Value) Prop(key string) *Prop {
	if v == nil {
		return nil
	}
	for i := len(v.Props) - 1; i >= 0; i-- {
		if v.Props[i].Key == key {
			return &v.Props[i]
		}
	}
	return nil
}

// Members returns the properties that count, in source order: of a key that was
// written twice the last.
func (v *Value) Members() []*Prop {
	last := make(map[string]int, len(v.Props))
	for i, p := range v.Props {
		last[p.Key] = i
	}
	members := make([]*Prop, 0, len(last))
	for i := range v.Props {
		if last[v.Props[i].Key] == i {
			members = append(members, &v.Props[i])
		}
	}
	return members
}

// dynamic reports whether evaluation could tell more than the tree did.
func (v *Value) dynamic() bool {
	if v == nil {
		return false
	}
	if v.Kind == Dynamic || v.Open {
		return true
	}
	for _, p := range v.Props {
		if p.Value.dynamic() {
			return true
		}
	}
	for _, e := range v.Elems {
		if e.dynamic() {
			return true
		}
	}
	return false
}

// overlay lays an evaluated value over the tree. What the evaluation says is what
// counts, since it is what a build would see; what the tree says is where. A part
// that the tree does not show takes the nearest range around it.
func overlay(tree, evaluated *Value, near text.Span) *Value {
	out := *evaluated
	out.Span, out.Computed = near, true
	if tree != nil {
		out.Span = tree.Span
		out.Computed = tree.Kind != evaluated.Kind
	}
	switch evaluated.Kind {
	case Object:
		out.Props = overlayProps(tree, evaluated, out.Span)
	case Array:
		out.Elems = make([]*Value, len(evaluated.Elems))
		for i, e := range evaluated.Elems {
			var at *Value
			if tree != nil && tree.Kind == Array {
				at = element(tree, e, i)
			}
			out.Elems[i] = overlay(at, e, out.Span)
		}
	}
	return &out
}

// overlayProps keeps the source order, and the repetitions, of the keys that the
// tree shows, and appends what only the evaluation knows.
func overlayProps(tree, evaluated *Value, near text.Span) []Prop {
	var props []Prop
	shown := map[string]bool{}
	values := make(map[string]*Value, len(evaluated.Props))
	for _, p := range evaluated.Props {
		values[p.Key] = p.Value
	}
	if tree != nil && tree.Kind == Object {
		for _, p := range tree.Props {
			e := values[p.Key]
			if e == nil { // deleted, or replaced, by code that ran
				continue
			}
			shown[p.Key] = true
			props = append(props, Prop{Key: p.Key, KeySpan: p.KeySpan, Span: p.Span, Value: overlay(p.Value, e, p.Span)})
		}
	}
	for _, p := range evaluated.Props {
		if !shown[p.Key] {
			props = append(props, Prop{Key: p.Key, KeySpan: near, Span: near, Value: overlay(nil, p.Value, near)})
		}
	}
	return props
}

// element finds the part of a literal array that an evaluated element was written
// at: the same index when the array is closed, else an equal string, or an object of the
// same name.
func element(tree, evaluated *Value, index int) *Value {
	if !tree.Open {
		if index < len(tree.Elems) {
			return tree.Elems[index]
		}
		return nil
	}
	for _, e := range tree.Elems {
		// An object with a name is a grant in its long form.
		if e.sameText(evaluated) || e.Get("name").sameText(evaluated.Get("name")) {
			return e
		}
	}
	return nil
}

// sameText reports whether both are the same string.
func (v *Value) sameText(other *Value) bool {
	return v != nil && other != nil && v.Kind == String && other.Kind == String && v.Text == other.Text
}
