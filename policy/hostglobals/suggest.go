package hostglobals

import (
	"strings"
	"sync"

	"github.com/agext/levenshtein"
)

// nicknames are what people call a global that is spelled too differently for
// counting letters to find it.
var nicknames = map[string]string{
	"xhr":      "XMLHttpRequest",
	"ajax":     "XMLHttpRequest",
	"dom":      "document",
	"ls":       "localStorage",
	"timeout":  "setTimeout",
	"interval": "setInterval",
	"worker":   "Worker",
	"env":      "process",
}

// folded maps what remains of a name without case and punctuation back to the name.
var folded = sync.OnceValue(func() map[string]string {
	all := make(map[string]string, len(names()))
	for _, name := range names() {
		key := fold(name)
		if other, taken := all[key]; !taken || likelier(name, other) {
			all[key] = name
		}
	}
	return all
})

func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("-_ .:", r) {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// likelier reports whether a person means a name rather than another one that is
// just as near. One that was graded by name is in wider use than one of a family; of
// crypto and Crypto, the object is of use and its class is not.
func likelier(name, than string) bool {
	named, other := byName()[name] != nil, byName()[than] != nil
	switch {
	case named != other:
		return named
	case fold(name) == fold(than):
		return name > than // lower case
	}
	return name < than
}

// Suggest returns the global that an unknown name was probably meant to be: one that
// differs in case or punctuation, or in few letters.
func Suggest(name string) (string, bool) {
	key := fold(name)
	if key == "" || len(name) > 64 {
		return "", false
	}
	if suggestion, ok := folded()[key]; ok && suggestion != name {
		return suggestion, true
	}
	if suggestion, ok := nicknames[key]; ok {
		return suggestion, true
	}
	// One slip in a short name, two in one of ordinary length, three in a long one.
	limit := min(3, (len(key)+2)/5+1)
	if len(key) <= 3 {
		limit = 1
	}
	best, distance := "", limit+1
	for _, candidate := range names() {
		if d := len(candidate) - len(key); d > limit || d < -limit || candidate == name {
			continue
		}
		d := slips(key, fold(candidate))
		if d < distance || d == distance && best != "" && likelier(candidate, best) {
			best, distance = candidate, d
		}
	}
	return best, best != "" && distance < len(key)
}

// slips counts the edits between two words. An exchange of neighbours, the commonest
// slip of the hand, is one.
func slips(a, b string) int {
	d := levenshtein.Distance(a, b, nil)
	if d != 2 || len(a) != len(b) {
		return d
	}
	for i := 0; i+1 < len(a); i++ {
		if a[i] != b[i] {
			if a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:] {
				return 1
			}
			break
		}
	}
	return d
}
