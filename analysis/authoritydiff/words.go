package authoritydiff

import (
	"regexp"
	"strconv"
	"strings"
)

// Words are a sentence with values in it. What stands in a policy or a lockfile is
// the author's text and not ours, so each output sets the values apart in its own way.
type Words struct {
	format string // {} stands for the next value
	values []string
}

func say(format string, values ...string) Words { return Words{format, values} }

var plain = regexp.MustCompile(`^[\w.@/:*+=?&%#-]+$`)

// Plain writes the words for a terminal: a value that is not a single word stands in
// quotes.
func (w Words) Plain() string {
	return w.write(func(value string) string {
		if plain.MatchString(value) {
			return value
		}
		return strconv.Quote(value)
	})
}

// Markdown writes the words for a comment on a pull request. Values are code, in
// which nothing is markup, a mention of a person or the end of a table's cell.
func (w Words) Markdown() string { return w.write(Code) }

// Code writes a value as a code span that may stand in a cell of a table.
func Code(value string) string {
	value = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, value)
	value = strings.ReplaceAll(value, "|", `\|`)
	fence := "`"
	for strings.Contains(value, fence) {
		fence += "`"
	}
	if len(fence) > 1 || value == "" {
		value = " " + value + " "
	}
	return fence + value + fence
}

func (w Words) write(value func(string) string) string {
	var out strings.Builder
	rest := w.format
	for _, v := range w.values {
		before, after, _ := strings.Cut(rest, "{}")
		out.WriteString(before)
		out.WriteString(value(v))
		rest = after
	}
	out.WriteString(rest)
	return out.String()
}
