package proxygen

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// FileName returns the name that the files of a request carry, without extension:
// "@scope/name" gives scope__name, a subpath follows after __ with its slashes
// written the same way.
//
// "@a/b" and the subpath "a/b" have one name in that scheme, as do names that differ
// in case on some systems; who generates for both has to refuse one of them.
func FileName(request string) string {
	name, safe := plainFileName(request)
	if !safe {
		sum := sha256.Sum256([]byte(request))
		name += "-" + hex.EncodeToString(sum[:4])
	}
	return name
}

// plainFileName maps a request to a file name and reports whether that took no more
// than writing its slashes otherwise.
func plainFileName(request string) (name string, safe bool) {
	safe = true
	name = strings.ReplaceAll(strings.TrimPrefix(request, "@"), "/", "__")
	name = strings.Map(func(r rune) rune {
		if r == '.' || r == '-' || r == '_' || r == '~' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		safe = false
		return '_'
	}, name)
	if name == "" || name[0] == '.' {
		name, safe = "_"+name, false
	}
	return name, safe
}

// quote writes a JavaScript string literal.
func quote(s string) string {
	out, err := json.Marshal(s)
	if err != nil {
		return fmt.Sprintf("%q", s)
	}
	return string(out)
}

var reserved = map[string]bool{}

func init() {
	for _, word := range strings.Fields(`arguments await break case catch class const continue debugger default delete do else enum
		eval export extends false finally for function if implements import in instanceof interface let new null package private
		protected public return static super switch this throw true try typeof var void while with yield`) {
		reserved[word] = true
	}
}

// isIdentifier reports whether the name can be written without quotes after a dot.
func isIdentifier(name string) bool {
	for i, r := range name {
		if r != '_' && r != '$' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return name != ""
}

// isBindable reports whether a module may declare a variable of that name.
func isBindable(name string) bool { return isIdentifier(name) && !reserved[name] }
