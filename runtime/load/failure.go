package load

import (
	"errors"
	"unicode/utf8"

	"github.com/sandbox-lsp/sandbox-lsp/runtime/quickjs"
)

// Bounds of what a failure carries, in bytes: a guest may throw an error whose message
// fills its memory, and people read the first lines.
const (
	maxMessage = 2 << 10
	maxStack   = 64 << 10
)

// overflow is what the engine's error says when the guest's own stack is full. The guest
// may catch it, so it ends no guest; one that leaves the script uncaught ends the load.
const overflow = "Maximum call stack size exceeded"

// failure says how an evaluation ended.
func failure(err error) *Failure {
	var f Failure
	var thrown *quickjs.JSError
	var limit *quickjs.LimitError
	switch {
	case errors.As(err, &limit):
		f = Failure{Kind: Limited, Limit: string(limit.Kind), Message: limit.Error(), Stack: limit.Stack}
	case errors.As(err, &thrown) && thrown.Name == "RangeError" && thrown.Message == overflow:
		f = Failure{Kind: Limited, Limit: string(quickjs.LimitStack), Message: thrown.Message, Stack: thrown.Stack}
	case errors.As(err, &thrown):
		f = Failure{Kind: Threw, Name: thrown.Name, Message: thrown.Message, Stack: thrown.Stack}
	default:
		f = Failure{Kind: Crashed, Message: err.Error()}
	}
	f.clip()
	return &f
}

// clip bounds what a failure carries.
func (f *Failure) clip() {
	f.Name, f.Message, f.Stack = clip(f.Name, maxMessage), clip(f.Message, maxMessage), clip(f.Stack, maxStack)
}

// clip cuts a text off at a character's end.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}
