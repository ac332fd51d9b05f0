package suppress

import (
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// removal returns the edit that takes a comment out of its file and leaves the lines
// around it as if it had never been there.
func (s Set) removal(comment text.Span) finding.Edit {
	m := s.mapper
	first, last := m.Position(comment.Start).Line, m.Position(comment.End).Line
	start, end := m.Offset(text.Position{Line: first}), len(m.Text())
	if last+1 < m.LineCount() {
		end = m.Offset(text.Position{Line: last + 1})
	}
	if first == 0 && strings.HasPrefix(m.Text(), "\uFEFF") {
		start += len("\uFEFF")
	}
	before, after := m.Text()[start:comment.Start], m.Text()[comment.End:end]
	blank := func(s string) bool { return strings.TrimSpace(s) == "" }
	span := comment
	switch {
	case blank(before) && blank(after):
		span = text.Span{Start: start, End: end}
		switch {
		case last+1 < m.LineCount():
			// Blank lines on both sides would become one gap of two.
			if (first == 0 || blank(m.Line(first-1))) && last+2 < m.LineCount() && blank(m.Line(last+1)) {
				span.End = m.Offset(text.Position{Line: last + 2})
			}
		case first > 0:
			// The last line has no break of its own; the one before it goes instead.
			span.Start = m.Offset(text.Position{Line: first - 1}) + len(m.Line(first-1))
		}
	case blank(after):
		span = text.Span{Start: start + len(strings.TrimRight(before, " \t")), End: comment.End + len(after) - len(strings.TrimLeft(after, " \t"))}
	case before == "" || strings.HasSuffix(before, " ") || strings.HasSuffix(before, "\t"):
		span.End = comment.End + len(after) - len(strings.TrimLeft(after, " \t"))
	}
	return finding.Edit{File: s.file, Range: m.Range(span)}
}
