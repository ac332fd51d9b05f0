package edit

import (
	"strings"
	"unicode/utf8"

	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// list is an object or array literal as a sequence of items between brackets.
// Between two items stand only white space, comments and one comma, so commas can
// be found without a tokenizer.
type list struct {
	node   *syntax.Node
	text   string
	open   int // of the opening bracket
	close  int // of the closing bracket
	items  []text.Span
	commas []int // the comma behind each item; -1 behind a last one without
}

func newList(content string, n *syntax.Node) *list {
	l := &list{node: n, text: content, open: n.Span.Start, close: max(n.Span.End-1, n.Span.Start)}
	for _, m := range n.Properties {
		l.items = append(l.items, m.Span)
	}
	for _, e := range n.Elements {
		l.items = append(l.items, e.Whole)
	}
	for i, item := range l.items {
		comma := -1
		scan(content, item.End, l.limit(i), func(kind trivia, span text.Span) bool {
			if kind == comma_ {
				comma = span.Start
			}
			return comma < 0
		})
		l.commas = append(l.commas, comma)
	}
	return l
}

// limit returns where the gap behind an item ends: at the next item, or at the
// closing bracket. The gap behind item -1 follows the opening bracket.
func (l *list) limit(i int) int {
	if i+1 < len(l.items) {
		return l.items[i+1].Start
	}
	return l.close
}

// multiline reports whether a line ends between the brackets.
func (l *list) multiline() bool { return strings.ContainsAny(l.text[l.open:l.close], "\r\n") }

// trivia is what stands between the items of a list.
type trivia int

const (
	comment_ trivia = iota
	comma_
	newline_
)

// scan calls visit for the comments, commas and line ends between two offsets until
// it returns false. The line end behind a line comment is not part of it.
func scan(content string, from, to int, visit func(trivia, text.Span) bool) {
	for i := from; i < to; {
		kind, end := comment_, i+1
		switch c := content[i]; {
		case strings.HasPrefix(content[i:to], "//"):
			end = i
			for end < to && lineBreak(content, end) == 0 {
				end++
			}
		case strings.HasPrefix(content[i:to], "/*"):
			end = to
			if n := strings.Index(content[i+2:to], "*/"); n >= 0 {
				end = i + 2 + n + 2
			}
		case c == ',':
			kind = comma_
		default:
			n := lineBreak(content, i)
			if n == 0 {
				i++
				continue
			}
			kind, end = newline_, i+n
		}
		if !visit(kind, text.Span{Start: i, End: end}) {
			return
		}
		i = end
	}
}

// lineBreak returns the length of the line break at an offset, or 0.
func lineBreak(content string, at int) int {
	switch rest := content[at:]; {
	case strings.HasPrefix(rest, "\r\n"):
		return 2
	case strings.HasPrefix(rest, "\n"), strings.HasPrefix(rest, "\r"):
		return 1
	case strings.HasPrefix(rest, "\u2028"), strings.HasPrefix(rest, "\u2029"): // they end line comments too
		return 3
	}
	return 0
}

// tail returns where what belongs to an item ends: its comma and the comments
// behind it on its line. last says that nothing else stands on that line.
func (l *list) tail(i int) (end int, last bool) {
	end = l.items[i].End
	behind := end // end, as long as the line does not go on with another item
	comma := false
	scan(l.text, end, l.limit(i), func(kind trivia, span text.Span) bool {
		if kind == newline_ {
			last = true
			return false
		}
		behind = span.End
		if kind == comma_ {
			comma = true
		}
		if kind == comma_ || !comma {
			end = span.End
		}
		return true
	})
	if last {
		end = behind
	}
	return end, last
}

// lead returns where the comments begin that stand above or before an item, without
// a blank line between them.
func (l *list) lead(i int) int {
	from := l.open + 1
	if i > 0 {
		from, _ = l.tail(i - 1)
	}
	start, breaks := l.items[i].Start, 0
	var above []text.Span // the comments since the last blank line
	own := i > 0          // a line has ended since the opening bracket
	scan(l.text, from, start, func(kind trivia, span text.Span) bool {
		switch kind {
		case newline_:
			if breaks++; breaks > 1 {
				above = nil
			}
			if !own { // what stood on the line of the bracket belongs to the bracket
				own, above = true, nil
			}
		case comment_:
			breaks = 0
			above = append(above, span)
		case comma_:
			above = nil
		}
		return true
	})
	if len(above) > 0 {
		start = above[0].Start
	}
	return start
}

// lineStart returns the offset at which the line of an offset begins.
func lineStart(content string, at int) int {
	return strings.LastIndexAny(content[:at], "\r\n") + 1
}

// lineEnd returns the offset of the line's break, or the length of the text.
func lineEnd(content string, at int) int {
	if n := strings.IndexAny(content[at:], "\r\n"); n >= 0 {
		return at + n
	}
	return len(content)
}

// indentOf returns the white space that the line of an offset begins with.
func indentOf(content string, at int) string {
	line := strings.TrimPrefix(content[lineStart(content, at):lineEnd(content, at)], "\uFEFF")
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// firstOnLine reports whether only white space stands before an offset on its line. It
// looks no further back than that: a list of many thousands may stand on one line.
func firstOnLine(content string, at int) bool {
	before := strings.TrimRight(content[:at], " \t")
	return before == "" || strings.ContainsAny(before[len(before)-1:], "\r\n")
}

func blank(s string) bool { return strings.Trim(s, " \t") == "" }

// lineComment reports whether a stretch of trivia ends with a comment that the line
// end closes.
func lineComment(content string, from, to int) bool {
	line := false
	scan(content, from, to, func(kind trivia, span text.Span) bool {
		line = kind == comment_ && strings.HasPrefix(content[span.Start:], "//")
		return true
	})
	return line
}

// tabWidth is how many columns a tab counts when a line's length is judged.
const tabWidth = 4

// width returns the columns that a stretch of text takes.
func width(s string) int {
	return utf8.RuneCountInString(s) + strings.Count(s, "\t")*(tabWidth-1)
}
