package edit

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// maxColumns is how long a line may become before a list on it is broken up.
const maxColumns = 100

// style is how the file as a whole is written. What stands next to a change goes
// before it; see the methods of Policy below.
type style struct {
	newline  string
	unit     string // of indentation
	quote    byte
	braces   string // inside the braces of an object on one line
	brackets string // inside the brackets of an array on one line
	trailing bool   // a comma behind the last item of a list of several lines
}

// votes counts the evidence for a habit against the evidence for its contrary.
type votes struct{ yes, no int }

func (v *votes) add(yes bool) {
	if yes {
		v.yes++
	} else {
		v.no++
	}
}

// won returns the majority's habit, or the fallback when there is none.
func (v votes) won(fallback bool) bool {
	if v.yes == v.no {
		return fallback
	}
	return v.yes > v.no
}

func readStyle(p *Policy) style {
	s := style{newline: "\n", quote: '"'}
	if at := strings.IndexAny(p.text, "\r\n"); at >= 0 {
		s.newline = p.text[at : at+lineBreak(p.text, at)]
	}
	var double, trailing, braces, brackets votes
	for _, l := range p.lists {
		l.strings(func(span text.Span) { double.add(p.text[span.Start] == '"') })
		if s.unit == "" {
			s.unit = l.unit()
		}
		switch n := len(l.items); {
		case n == 0:
		case !l.multiline():
			padded := p.text[l.open+1] == ' '
			if l.node.Kind == syntax.KindObject {
				braces.add(padded)
			} else {
				brackets.add(padded)
			}
		// In a list that is not closed yet, the parser may see the end before the item's.
		case l.items[n-1].End <= l.close && strings.ContainsAny(p.text[l.items[n-1].End:l.close], "\r\n"):
			trailing.add(l.commas[n-1] >= 0)
		}
	}
	for _, i := range p.file.Imports() {
		double.add(p.text[i.Span.Start] == '"')
	}
	if !double.won(true) {
		s.quote = '\''
	}
	s.trailing = trailing.won(true)
	if braces.won(true) {
		s.braces = " "
	}
	if brackets.won(false) {
		s.brackets = " "
	}
	if s.unit == "" {
		s.unit = unitOf(p.text)
	}
	return s
}

// strings calls visit for the quoted keys and strings that stand in the list
// itself.
func (l *list) strings(visit func(text.Span)) {
	quoted := func(span text.Span) {
		if span.Start < span.End && (l.text[span.Start] == '"' || l.text[span.Start] == '\'') {
			visit(span)
		}
	}
	for _, m := range l.node.Properties {
		quoted(m.KeySpan)
		if m.Value.Kind == syntax.KindString {
			quoted(m.Value.Span)
		}
	}
	for _, e := range l.node.Elements {
		if e.Kind == syntax.KindString {
			quoted(e.Span)
		}
	}
}

// unit returns by how much the items of a list are indented, or "" when that does
// not show.
func (l *list) unit() string {
	for _, item := range l.items {
		if firstOnLine(l.text, item.Start) {
			unit, _ := strings.CutPrefix(indentOf(l.text, item.Start), indentOf(l.text, l.open))
			return unit
		}
	}
	return ""
}

// unitOf guesses the unit of indentation from any code of the file.
func unitOf(content string) string {
	unit := ""
	for line := range strings.Lines(content) {
		indent := indentOf(line, 0)
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line[len(indent):], "*") { // of a comment
			continue
		}
		if strings.HasPrefix(indent, "\t") {
			return "\t"
		}
		if indent != "" && (unit == "" || len(indent) < len(unit)) {
			unit = indent
		}
	}
	if unit == "" {
		return "  "
	}
	return unit
}

// quote returns the quote character of the strings in a list, or else the file's.
func (p *Policy) quote(l *list) byte {
	var double votes
	l.strings(func(span text.Span) { double.add(p.text[span.Start] == '"') })
	if double.won(p.style.quote == '"') {
		return '"'
	}
	return '\''
}

var identifier = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

// bare reports whether keys that need no quotes go without them in an object: as its
// other keys do, or else the keys of the objects on its level, or any in the file.
// Without evidence the names of libraries are quoted and options are not.
func (p *Policy) bare(object text.Span, depth int) bool {
	var own, level, all votes
	for _, o := range p.objects {
		for _, m := range o.Properties {
			if m.Spread || m.Computed || m.Shorthand || !identifier.MatchString(m.Key) {
				continue
			}
			bare := p.text[m.KeySpan.Start] != '"' && p.text[m.KeySpan.Start] != '\''
			all.add(bare)
			if p.depth[o.Span] == depth {
				level.add(bare)
			}
			if o.Span == object {
				own.add(bare)
			}
		}
	}
	return own.won(level.won(all.won(depth > 0)))
}

// key returns a name as the key of an object, quoted or not.
func key(name string, quote byte, bare bool) string {
	switch {
	case name == "__proto__": // which would set the prototype
		return "[" + literal(name, quote) + "]"
	case bare && identifier.MatchString(name):
		return name
	}
	return literal(name, quote)
}

// rekey returns another name for a key in the form that the key has.
func (p *Policy) rekey(l *list, m syntax.Property, name string) string {
	old := p.text[m.KeySpan.Start:m.KeySpan.End]
	switch {
	case m.Shorthand:
		return key(name, p.quote(l), p.bare(l.node.Span, p.depth[l.node.Span])) + ": " + old
	case name == "__proto__":
		return key(name, p.quote(l), false)
	case old != "" && strings.ContainsRune(`"'`, rune(old[0])):
		return literal(name, old[0])
	case identifier.MatchString(name) && !strings.HasPrefix(old, "["):
		return name
	}
	return literal(name, p.quote(l))
}

// literal returns a string as source.
func literal(s string, quote byte) string {
	var b strings.Builder
	b.WriteByte(quote)
	for _, r := range s {
		switch {
		case r == rune(quote) || r == '\\' || quote == '`' && r == '$':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r < ' ' || r == 0x7F || r == '\u2028' || r == '\u2029' || r == '\uFEFF':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte(quote)
	return b.String()
}

// Value is a value to be written into a policy: a String, Number, Bool, Array,
// Object, or one that is Commented.
type Value interface{ isValue() }

// The values that a policy is made of.
type (
	String string
	Number float64
	Bool   bool
	Array  []Value
	Object []Member // in the order in which they are written
)

// Member is a key of an Object with its value.
type Member struct {
	Key   string
	Value Value
}

// Commented is the value of a Member with lines of comment above the key.
type Commented struct {
	Lines []string // without slashes
	Value Value
}

// commented reports whether a value holds comments, which need lines of their own.
func commented(v Value) bool {
	switch v := v.(type) {
	case Commented:
		return true
	case Object:
		return slices.ContainsFunc(v, func(m Member) bool { return commented(m.Value) })
	}
	return false
}

func (Commented) isValue() {}
func (String) isValue()    {}
func (Number) isValue()    {}
func (Bool) isValue()      {}
func (Array) isValue()     {}
func (Object) isValue()    {}

// Strings returns an Array of strings.
func Strings(names ...string) Array {
	a := make(Array, len(names))
	for i, name := range names {
		a[i] = String(name)
	}
	return a
}

// writer renders values for one place of the policy.
type writer struct {
	p     *Policy
	quote byte
	in    text.Span // the object that gets the member; its habits count
	depth int       // of the object whose members are written
}

// writer returns a writer of what goes into a list.
func (p *Policy) writer(l *list) writer {
	return writer{p: p, quote: p.quote(l), in: l.node.Span, depth: p.depth[l.node.Span]}
}

// inside returns the writer of what an item holds.
func (w writer) inside() writer {
	w.in, w.depth = text.Span{}, w.depth+1
	return w
}

func (w writer) key(name string) string { return key(name, w.quote, w.p.bare(w.in, w.depth)) }

// member renders a key and its value at an indentation. A value that would not fit
// on the line, or that has to be broken up, takes several.
func (w writer) member(m Member, indent string, broken bool) string {
	above := ""
	if c, ok := m.Value.(Commented); ok {
		for _, line := range c.Lines {
			above += "// " + strings.Join(strings.Fields(line), " ") + w.p.style.newline + indent
		}
		m.Value = c.Value
	}
	key := w.key(m.Key)
	return above + key + ": " + w.value(m.Value, indent, width(indent)+width(key)+3, broken || commented(m.Value))
}

// value renders a value. column is how much of the line is taken already, the comma
// behind the value included.
func (w writer) value(v Value, indent string, column int, broken bool) string {
	line := w.oneLine(v)
	if !broken && column+width(line) <= maxColumns {
		return line
	}
	inner := indent + w.p.style.unit
	w = w.inside()
	var items []string
	open, closing := "[", "]"
	switch v := v.(type) {
	case Array:
		for _, e := range v {
			items = append(items, w.value(e, inner, width(inner)+1, false))
		}
	case Object:
		open, closing = "{", "}"
		for _, m := range v {
			items = append(items, w.member(m, inner, false))
		}
	}
	if len(items) == 0 {
		return line
	}
	return open + w.p.lines(items, inner, w.p.style.trailing) + w.p.style.newline + indent + closing
}

// lines renders items one on a line, each on a new one.
func (p *Policy) lines(items []string, indent string, trailing bool) string {
	s := p.style.newline + indent + strings.Join(items, ","+p.style.newline+indent)
	if trailing {
		s += ","
	}
	return s
}

// oneLine renders a value on one line.
func (w writer) oneLine(v Value) string {
	var items []string
	open, pad, closing := "[", w.p.style.brackets, "]"
	w = w.inside()
	switch v := v.(type) {
	case String:
		return literal(string(v), w.quote)
	case Number:
		return strconv.FormatFloat(float64(v), 'g', -1, 64)
	case Bool:
		return strconv.FormatBool(bool(v))
	case Array:
		for _, e := range v {
			items = append(items, w.oneLine(e))
		}
	case Object:
		open, pad, closing = "{", w.p.style.braces, "}"
		for _, m := range v {
			items = append(items, w.key(m.Key)+": "+w.oneLine(m.Value))
		}
	}
	if len(items) == 0 {
		return open + closing
	}
	return open + pad + strings.Join(items, ", ") + pad + closing
}
