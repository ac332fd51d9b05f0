package analysis

import (
	"slices"

	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// difference is a function that the guest has and answers in another way than the
// engines of browsers and Node: nothing throws, the result is simply not the same.
type difference struct {
	What string
	// Intl is set where granting Intl lets the host answer.
	Intl bool
	// Probe is an expression whose value in the guest is not Elsewhere, its value in
	// V8 with its default locale en-US.
	Probe, Elsewhere string
}

// differences are by the name of the method. A test asks the engine for each, so
// that one which it learns to answer leaves the list.
var differences = map[string]difference{
	"localeCompare":      {"compares by code units, not by the rules of a language", true, `"\u00e4".localeCompare("z") < 0`, "true"},
	"toLocaleString":     {"formats without the separators and names of a locale", true, `(1234.5).toLocaleString()`, "1,234.5"},
	"toLocaleDateString": {"formats dates in one fixed way", true, `new Date(0).toLocaleDateString("de", { timeZone: "UTC" })`, "1.1.1970"},
	"toLocaleTimeString": {"formats times in one fixed way", true, `new Date(0).toLocaleTimeString("de", { timeZone: "UTC" })`, "00:00:00"},
	"toLocaleUpperCase":  {"ignores the locale", true, `"i".toLocaleUpperCase("tr")`, "\u0130"},
	"toLocaleLowerCase":  {"ignores the locale", true, `"I".toLocaleLowerCase("tr")`, "\u0131"},
	"stack":              {"is text of another form: no first line with the message, other names for frames", false, `new Error("m").stack.startsWith("Error: m")`, "true"},
}

// silent is one use of such a function in a script.
type silent struct {
	Method string
	Span   text.Span
	// Own is where the script gives an object of its own a method of that name, which may
	// be the one that is called here; nil when the built-in one is.
	Own *text.Span
}

// silentDifferences finds the uses. The stack of an error counts only where what is
// before the dot is an error for certain: many parsers have a stack of their own.
func silentDifferences(f *syntax.File) []silent {
	names := map[string]bool{}
	for name := range differences {
		names[name] = true
	}
	members := f.Members(names)
	own := map[string]*text.Span{}
	for _, m := range members {
		if m.Declares && own[m.Name] == nil {
			own[m.Name] = &m.Span
		}
	}
	var out []silent
	for _, m := range members {
		declared := own[m.Name]
		switch {
		case m.Declares, declared != nil && m.Self:
			continue
		case m.Name == "stack" && !(m.Receiver != nil && m.Receiver.Kind == syntax.KindNew && m.Receiver.Callee != nil && m.Receiver.Callee.Text == "Error"):
			continue
		case m.Name == "stack", builtIn(m.Receiver):
			declared = nil
		}
		out = append(out, silent{m.Name, m.Span, declared})
	}
	return out
}

// builtIn reports whether a value is one of the language's own for certain.
func builtIn(n *syntax.Node) bool {
	if n == nil {
		return false
	}
	switch n.Kind {
	case syntax.KindString, syntax.KindNumber, syntax.KindBigInt, syntax.KindTemplate, syntax.KindArray:
		return true
	case syntax.KindNew, syntax.KindCall:
		return n.Callee != nil && n.Callee.Kind == syntax.KindIdentifier && slices.Contains([]string{"Date", "String", "Number", "Array", "BigInt"}, n.Callee.Text)
	}
	return false
}

// takesFromIntl reports whether a library uses a function that the host answers once Intl
// is granted, so that the grant does something though nothing spells the name out.
func (a *Authority) takesFromIntl() bool {
	return slices.ContainsFunc(a.Silent, func(s Silent) bool { return differences[s.Method].Intl })
}
