package hostglobals

import (
	"strings"
	"sync"

	"github.com/microsoft/typescript-go/shim/lib"
)

// The embedded declaration files are 3 MB of text, and parsing them takes far longer
// than an editor should wait for a keystroke. Everything that declares a global
// starts its own line with `declare`, so finding those lines is enough; a test holds
// the result against what the parser says.

// entry is one name as it was found. Everything else is read from its place when it
// is asked for.
type entry struct {
	realms Realms
	place
}

// place is where something is declared: a file's whole text, "" for what only our
// own tables know, and an offset in it.
type place struct {
	text string
	at   int
}

// realmsOf says which hosts a declaration file is about, 0 for one that is about
// none of them.
func realmsOf(file string) Realms {
	switch {
	case strings.HasPrefix(file, "lib.dom."):
		return Window
	case strings.HasPrefix(file, "lib.webworker."):
		return Worker
	case strings.HasPrefix(file, "lib.es"):
		return everywhere
	}
	return 0
}

const declare = "\ndeclare "

// scanLibraries adds every global that a declaration file declares.
func scanLibraries(entries map[string]entry) {
	for _, file := range lib.Names() {
		realms := realmsOf(file)
		if realms == 0 {
			continue
		}
		text, _ := lib.Read(file)
		for at := 0; ; {
			i := strings.Index(text[at:], declare)
			if i < 0 {
				break
			}
			at += i + 1
			name, keyword, _ := declaration(text, at)
			if name != "" && keyword != "type" {
				e := entries[name]
				e.realms |= realms
				if e.text == "" {
					e.place = place{text, at}
				}
				entries[name] = e
			}
			at += len(declare) - 1
		}
	}
}

// declaration reads the declaration that starts at an offset: the name, the keyword
// that says what it declares, and what follows the name. `declare global` has no name.
func declaration(text string, at int) (name, keyword, rest string) {
	keyword, rest, _ = strings.Cut(text[at+len(declare)-1:], " ")
	if keyword == "abstract" {
		keyword, rest, _ = strings.Cut(rest, " ")
	}
	name = identifier(rest)
	return name, keyword, rest[len(name):]
}

// shape reads what kind of value a declaration declares and, of a variable, the
// interface that describes it.
func (p place) shape() (Shape, string) {
	if p.text == "" {
		return "", ""
	}
	_, keyword, rest := declaration(p.text, p.at)
	switch keyword {
	case "function":
		return Function, ""
	case "class":
		return Class, ""
	case "namespace":
		return Object, ""
	}
	return variable(rest)
}

// identifier returns the identifier that a text starts with.
func identifier(text string) string {
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c|0x20 < 'a' || c|0x20 > 'z' {
			if c != '_' && c != '$' && (c < '0' || c > '9' || i == 0) {
				return text[:i]
			}
		}
	}
	return text
}

// variable reads what stands behind a variable's name: its type, and from that its
// shape.
func variable(rest string) (Shape, string) {
	typ := strings.TrimPrefix(rest, ": ")
	if strings.HasPrefix(typ, "{") {
		body, _, _ := strings.Cut(typ, "\n};")
		if strings.Contains(body, "\n    new") || strings.Contains(body, "\n    prototype:") {
			return Class, ""
		}
		return Object, ""
	}
	typ, _, _ = strings.Cut(typ, ";")
	switch typ {
	case "string", "number", "boolean", "void":
		return Value, ""
	case "BigIntConstructor", "SymbolConstructor": // callable only
		return Function, ""
	}
	if strings.HasPrefix(typ, "(") { // an event handler, or null
		return Value, ""
	}
	if strings.HasSuffix(typ, "Constructor") || strings.HasPrefix(typ, "typeof ") {
		return Class, strings.TrimPrefix(typ, "typeof ")
	}
	return Object, identifier(typ)
}

const iface = "\ninterface "

// interfaces finds the documented interfaces: for classes, and for objects such as
// console, the description stands there and not at the variable.
var interfaces = sync.OnceValue(func() map[string]place {
	found := make(map[string]place, 1600)
	for _, file := range lib.Names() {
		if realmsOf(file) == 0 {
			continue
		}
		text, _ := lib.Read(file)
		for at := 0; ; {
			i := strings.Index(text[at:], iface)
			if i < 0 {
				break
			}
			at += i + 1
			name := identifier(text[at+len(iface)-1:])
			if _, again := found[name]; !again && documented(text, at) {
				found[name] = place{text, at}
			}
		}
	}
	return found
})

// documented reports whether a comment ends on the line above an offset.
func documented(text string, at int) bool {
	return strings.HasSuffix(strings.TrimRight(text[max(at-4, 0):at], "\r\n"), "*/")
}

// documentation returns the first sentence and the address of the documentation of a
// global whose type has the given name. Ours comes first, since it was written where
// the other says too little.
func documentation(name, typed string, declared place) (doc, link string) {
	doc = docs[name]
	if doc == "" {
		doc = ownTable()[name].doc
	}
	places := []place{declared}
	for _, described := range []string{name, typed, strings.TrimSuffix(typed, "Constructor")} {
		if i, ok := interfaces()[described]; ok && described != "" {
			places = append(places, i)
		}
	}
	for _, p := range places {
		sentence, address := p.comment()
		if doc == "" {
			doc = sentence
		}
		if link == "" {
			link = address
		}
	}
	return doc, link
}

// comment reads the documentation comment that ends above a place.
func (p place) comment() (sentence, link string) {
	if p.text == "" || !documented(p.text, p.at) {
		return "", ""
	}
	start := strings.LastIndex(p.text[:p.at], "/**")
	if start < 0 {
		return "", ""
	}
	var words []string
	for line := range strings.SplitSeq(p.text[start+len("/**"):p.at], "\n") {
		line = strings.TrimSpace(line)
		line = strings.TrimSpace(strings.TrimSuffix(line, "*/"))
		line = strings.TrimSpace(strings.TrimPrefix(line, "*"))
		if address, ok := strings.CutPrefix(line, "[MDN Reference]("); ok {
			link, _, _ = strings.Cut(address, ")")
			continue
		}
		if strings.HasPrefix(line, "@") {
			break
		}
		if line != "" {
			words = append(words, line)
		}
	}
	return firstSentence(strings.Join(words, " ")), link
}

// firstSentence cuts a text at the first full stop that ends a sentence: one before
// a capital that does not end an abbreviation.
func firstSentence(text string) string {
	for i := 0; i+2 < len(text); i++ {
		if text[i] != '.' || text[i+1] != ' ' {
			continue
		}
		before := text[:i]
		if strings.HasSuffix(before, "e.g") || strings.HasSuffix(before, "i.e") || strings.HasSuffix(before, "etc") {
			continue
		}
		if c := text[i+2]; c >= 'A' && c <= 'Z' || c == '*' || c == '`' {
			return text[:i+1]
		}
	}
	return text
}
