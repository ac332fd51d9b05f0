package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/resolve"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// The checks that every configuration file needs. Each reports what is wrong with
// the code for bad options; a value that is not known passes in silence.

// Options reports duplicate and unknown keys of an object and returns the required
// ones that are missing. owner names the object.
func (m *Module) Options(v *Value, table []Option, owner string) (missing []Option) {
	m.Duplicates(v, "option")
	misspelt := map[string]bool{}
	for _, p := range v.Props {
		if _, known := option(table, p.Key); known {
			continue
		}
		hint := "Known options: " + strings.Join(optionNames(table), ", ") + "."
		suggestion := resolve.Nearest(p.Key, optionNames(table))
		if suggestion != "" {
			hint = fmt.Sprintf("Did you mean %q?", suggestion)
			misspelt[suggestion] = true
		}
		f := m.Add(m.dialect.BadOption, finding.Error, p.KeySpan, "%s has no option %q, and nothing reads it. %s", capital(owner), p.Key, hint)
		f.Data["option"] = p.Key
		if suggestion != "" {
			f.Data["suggestion"] = suggestion
		}
	}
	if v.Open || m.cut(v) {
		return nil
	}
	for _, o := range table {
		// One slip of the hand is one finding: what is there under a misspelt name is
		// not missing as well.
		if o.Required && v.Prop(o.Name) == nil && !misspelt[o.Name] {
			missing = append(missing, o)
		}
	}
	return missing
}

// Require is Options for objects whose missing options are reported at near.
func (m *Module) Require(v *Value, table []Option, owner string, near text.Span) {
	for _, o := range m.Options(v, table, owner) {
		m.Add(m.dialect.BadOption, finding.Error, near, "%s has no %s, which is required: %s", capital(owner), o.Name, firstSentence(o.Doc))
	}
}

// Duplicates reports the keys that an object has twice. what names them.
func (m *Module) Duplicates(v *Value, what string) {
	first := map[string]text.Span{}
	for _, p := range v.Props {
		at, seen := first[p.Key]
		if !seen {
			first[p.Key] = p.KeySpan
			continue
		}
		f := m.Add(m.dialect.BadOption, finding.Error, p.KeySpan, "Duplicate %s %q: JavaScript keeps only the last one, so the first is silently lost. Remove or merge one of them.", what, p.Key)
		f.Data[what] = p.Key
		m.Relate(f, at, "first written here")
	}
}

// Expect reports a value of the wrong kind. A value that is not known passes in
// silence and gives false.
func (m *Module) Expect(v *Value, kind Kind, owner, want string) bool {
	if v.Kind == kind {
		return true
	}
	if v.Kind != Dynamic {
		m.Add(m.dialect.BadOption, finding.Error, v.Span, "%s has to be %s, not %s.", owner, want, describe(v))
	}
	return false
}

// Sentence reads an option that is free text for people.
func (m *Module) Sentence(v *Value, name, want string) string {
	got := v.Get(name)
	if got == nil || !m.Expect(got, String, name, want) {
		return ""
	}
	text := strings.TrimSpace(got.Text)
	if text == "" {
		m.Add(m.dialect.BadOption, finding.Error, got.Span, "%s has to be %s; this one is empty. Fill it in or remove the option.", name, want)
	}
	return text
}

// Strings reads an array of distinct, non-empty strings.
func (m *Module) Strings(v *Value, name, example string) []Name {
	if !m.Expect(v, Array, name, "an array of strings, such as "+example) {
		return nil
	}
	names := []Name{}
	seen := map[string]bool{}
	for _, e := range v.Elems {
		if !m.Expect(e, String, "Each entry of "+name, "a string") {
			continue
		}
		switch {
		case e.Text == "":
			m.Add(m.dialect.BadOption, finding.Error, e.Span, "An entry of %s is empty.", name)
		case seen[e.Text]:
			m.Add(m.dialect.BadOption, finding.Warning, e.Span, "%q stands twice in %s. Remove one of the two.", e.Text, name)
		default:
			seen[e.Text] = true
			names = append(names, Name{Text: e.Text, Span: e.Span})
		}
	}
	return names
}

// Choice reads an option that takes one of a few strings.
func (m *Module) Choice(v *Value, table []Option, name, otherwise string) string {
	got := v.Get(name)
	if got == nil {
		return otherwise
	}
	o, _ := option(table, name)
	want := listed(quotedAll(o.Values), "or")
	if !m.Expect(got, String, name, want) {
		return otherwise
	}
	if slices.Contains(o.Values, got.Text) {
		return got.Text
	}
	hint, suggestion := "", resolve.Nearest(got.Text, o.Values)
	if suggestion != "" {
		hint = fmt.Sprintf(" Did you mean %q?", suggestion)
	}
	f := m.Add(m.dialect.BadOption, finding.Error, got.Span, "%s has to be %s, not %q.%s", name, want, shorten(got.Text), hint)
	if suggestion != "" {
		f.Data["value"], f.Data["suggestion"] = got.Text, suggestion
	}
	return otherwise
}

// Boolean reads an option that is true or false; it is false when it is missing.
func (m *Module) Boolean(v *Value, name string) bool {
	got := v.Get(name)
	return got != nil && m.Expect(got, Bool, name, "true or false") && got.Bool
}

// describe names a value for a message.
func describe(v *Value) string {
	switch v.Kind {
	case String:
		return fmt.Sprintf("the string %q", shorten(v.Text))
	case Number:
		return fmt.Sprintf("the number %v", v.Number)
	case Bool:
		return fmt.Sprintf("%v", v.Bool)
	case Other:
		if v.Text != "" {
			return v.Text
		}
	}
	return v.Kind.String()
}

func shorten(s string) string {
	if runes := []rune(s); len(runes) > 40 {
		return string(runes[:40]) + "…"
	}
	return s
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func firstSentence(doc string) string {
	if i := strings.Index(doc, ". "); i > 0 {
		return doc[:i+1]
	}
	return doc
}
