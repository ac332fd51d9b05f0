package policy

import (
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// While somebody types a string its quote is missing, and with it, often, the
// brackets behind: the parser then takes the libraries that follow for parts of the
// one that is being typed. They are kept by reading the value from a text in which
// the string ends and the brackets close that the indentation says are closed.
// What is reported as wrong is still what the parser says of the file as it is.

// insertion is a text put in at an offset of another.
type insertion struct {
	at   int
	text string
}

// mended returns the value of a file whose first fault is a string without its end,
// read as if it had one, or nil when that is not the fault or makes nothing better.
func mended(parsed *syntax.File) *Value {
	if len(parsed.Diagnostics) == 0 || !strings.HasPrefix(parsed.Diagnostics[0].Message, "Unterminated string") {
		return nil
	}
	node, _, _ := parsed.Export()
	end := lineEnd(parsed.Text, parsed.Diagnostics[0].Span.Start)
	open, found := unclosed(parsed, node, end)
	if !found {
		return nil
	}
	for _, in := range open.endings(parsed.Text) {
		again := syntax.Parse(parsed.Path, parsed.Text[:in.at]+in.text+parsed.Text[in.at:])
		if len(again.Diagnostics) >= len(parsed.Diagnostics) {
			continue
		}
		if node, _, _ := again.Export(); node != nil {
			v := fromNode(again, node, 0)
			in.undo(v)
			return v
		}
	}
	return nil
}

// openString is a string without its end, and the brackets around it.
type openString struct {
	span     text.Span // to the end of its line
	key      bool      // it is the key of a member
	brackets []text.Span
}

// unclosed finds the string that runs to the end of a line.
func unclosed(parsed *syntax.File, node *syntax.Node, end int) (openString, bool) {
	var open openString
	for depth := 0; node != nil && depth < maxDepth; depth++ {
		node = parsed.Resolve(node)
		if node.Kind == syntax.KindString && node.Span.End == end {
			open.span = node.Span
			return open, true
		}
		if node.Kind != syntax.KindObject && node.Kind != syntax.KindArray {
			return open, false
		}
		open.brackets = append(open.brackets, node.Span)
		var next *syntax.Node
		for _, e := range node.Elements {
			if e.Span.Start < end && end <= e.Span.End {
				next = e
				break
			}
		}
		for i := range node.Properties {
			p := &node.Properties[i]
			if p.KeySpan.Start < end && end == p.KeySpan.End {
				open.span, open.key = p.KeySpan, true
				return open, true
			}
			if value := parsed.Resolve(p.Value); value.Span.Start < end && end <= value.Span.End {
				next = value
				break
			}
		}
		node = next
	}
	return open, false
}

// endings returns what could be put in to end the string, the likeliest first.
func (s openString) endings(content string) []insertion {
	quote := content[s.span.Start : s.span.Start+1]
	if s.key {
		return []insertion{{s.span.End, quote + ": void 0,"}}
	}
	var endings []insertion
	// Only the quote may be missing, in front of brackets that are there.
	if i := strings.IndexAny(content[s.span.Start:s.span.End], ",]}"); i > 0 {
		endings = append(endings, insertion{s.span.Start + i, quote})
	}
	next, depth := nextLine(content, s.span.End)
	closing := quote
	for i := len(s.brackets) - 1; i >= 0; i-- {
		bracket := content[s.brackets[i].Start]
		closer := map[byte]string{'{': "}", '[': "]"}[bracket]
		opened := indentation(content, s.brackets[i].Start)
		if opened < depth || opened == depth && strings.HasPrefix(next, closer) {
			break
		}
		closing += closer
	}
	return append(endings, insertion{s.span.End, closing + ","})
}

// nextLine returns the first line behind an offset that is not blank, from its first
// character on, with its indentation.
func nextLine(content string, from int) (line string, indent int) {
	rest := strings.TrimLeft(content[from:], " \t\r\n")
	return rest, indentation(content, len(content)-len(rest))
}

// indentation returns how many bytes of white space begin the line of an offset.
func indentation(content string, offset int) int {
	start := strings.LastIndexAny(content[:offset], "\r\n") + 1
	line := content[start:]
	return len(line) - len(strings.TrimLeft(line, " \t"))
}

func lineEnd(content string, from int) int {
	if i := strings.IndexAny(content[from:], "\r\n"); i >= 0 {
		return from + i
	}
	return len(content)
}

// undo moves the places of a value to where they are without the insertion.
func (in insertion) undo(v *Value) {
	in.move(&v.Span)
	for i := range v.Props {
		p := &v.Props[i]
		in.move(&p.KeySpan)
		in.move(&p.Span)
		in.undo(p.Value)
	}
	for _, e := range v.Elems {
		in.undo(e)
	}
}

func (in insertion) move(s *text.Span) {
	for _, offset := range []*int{&s.Start, &s.End} {
		if *offset > in.at {
			*offset = max(in.at, *offset-len(in.text))
		}
	}
}
