// Package text converts between the three notations of a place in a file: byte
// offsets (what parsers and edits use), line/character pairs in UTF-16 (what
// findings carry and JSON reports print), and line/character pairs in the
// encoding that an LSP client negotiated.
//
// It is the only package that may do such arithmetic. Everything else keeps
// spans and asks a Mapper.
package text

import (
	"sort"
	"sync"
	"unicode/utf8"
)

// Span is a half-open range of byte offsets, [Start, End).
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Contains reports whether the offset lies in the span or at its end, which is
// where a caret stands after the last character of a word.
func (s Span) Contains(offset int) bool { return s.Start <= offset && offset <= s.End }

// Position is a zero-based place in a text (LSP 3.18, "Position"). Unless a
// function says otherwise, Character counts UTF-16 code units.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// Before reports whether p comes before q.
func (p Position) Before(q Position) bool {
	return p.Line < q.Line || p.Line == q.Line && p.Character < q.Character
}

// Range is a half-open pair of positions (LSP 3.18, "Range").
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Encoding says what Position.Character counts (LSP 3.18, PositionEncodingKind).
type Encoding int

// The three encodings that the protocol knows. UTF16 is the zero value because
// it is the protocol's default.
const (
	UTF16 Encoding = iota
	UTF8
	UTF32
)

// Mapper knows where the lines of one immutable text begin. A Mapper is safe for
// concurrent use.
//
// Offsets and positions outside the text are clamped to it, as the protocol asks
// for characters past the end of a line; no method panics on any input.
type Mapper struct {
	text  string
	lines []int // byte offset of each line's first byte; lines[0] == 0
	marks func() *marks
}

// NewMapper indexes the lines of a text. Lines end at \n, \r\n or a lone \r
// (LSP 3.18, "Text Documents").
func NewMapper(content string) *Mapper {
	lines := []int{0}
	for i := 0; i < len(content); i++ {
		switch content[i] {
		case '\n':
			lines = append(lines, i+1)
		case '\r':
			if i+1 < len(content) && content[i+1] == '\n' {
				i++
			}
			lines = append(lines, i+1)
		}
	}
	return &Mapper{text: content, lines: lines, marks: sync.OnceValue(func() *marks { return newMarks(content) })}
}

// Text returns the text that the mapper was made for.
func (m *Mapper) Text() string { return m.text }

// LineCount returns the number of lines; a text that ends in a line break has an
// empty last line.
func (m *Mapper) LineCount() int { return len(m.lines) }

// Line returns the text of a line without its line break, or "" for a line that
// does not exist.
func (m *Mapper) Line(line int) string {
	if line < 0 || line >= len(m.lines) {
		return ""
	}
	return m.text[m.lines[line]:m.lineEnd(line)]
}

// lineEnd returns the offset of the line's break, or the length of the text.
func (m *Mapper) lineEnd(line int) int {
	if line+1 >= len(m.lines) {
		return len(m.text)
	}
	end := m.lines[line+1] - 1
	if end > m.lines[line] && m.text[end] == '\n' && m.text[end-1] == '\r' {
		end--
	}
	return end
}

// Position converts a byte offset to a UTF-16 position.
func (m *Mapper) Position(offset int) Position { return m.PositionIn(offset, UTF16) }

// PositionIn converts a byte offset to a position in the given encoding. An
// offset inside a character maps to the character's start.
func (m *Mapper) PositionIn(offset int, enc Encoding) Position {
	offset = min(max(offset, 0), len(m.text))
	line := sort.SearchInts(m.lines, offset+1) - 1
	start, end := m.lines[line], m.lineEnd(line)
	offset = min(offset, end)
	if offset-start > 2*stride {
		marks := m.marks()
		return Position{Line: line, Character: marks.before(m.text, offset, enc) - marks.before(m.text, start, enc)}
	}
	character := 0
	for i := start; i < offset; {
		r, size := utf8.DecodeRuneInString(m.text[i:end])
		if i+size > offset {
			break
		}
		character += units(r, size, enc)
		i += size
	}
	return Position{Line: line, Character: character}
}

// Offset converts a UTF-16 position to a byte offset.
func (m *Mapper) Offset(p Position) int { return m.OffsetIn(p, UTF16) }

// OffsetIn converts a position in the given encoding to a byte offset. A
// character past the end of its line maps to the end of the line; a line past
// the end of the text maps to the end of the text; a position inside a surrogate
// pair or a UTF-8 sequence maps to its start.
func (m *Mapper) OffsetIn(p Position, enc Encoding) int {
	if p.Line < 0 {
		return 0
	}
	if p.Line >= len(m.lines) {
		return len(m.text)
	}
	i, end := m.lines[p.Line], m.lineEnd(p.Line)
	character := 0
	if end-i > 2*stride && p.Character > stride {
		if offset, counted, ok := m.marks().seek(m.text, i, end, p.Character, enc); ok {
			i, character = offset, counted
		}
	}
	for i < end {
		r, size := utf8.DecodeRuneInString(m.text[i:end])
		character += units(r, size, enc)
		if character > p.Character {
			break
		}
		i += size
	}
	return i
}

// Range converts a span to a UTF-16 range.
func (m *Mapper) Range(s Span) Range {
	return Range{Start: m.Position(s.Start), End: m.Position(s.End)}
}

// Span converts a UTF-16 range to a span. A range whose end comes before its
// start gives an empty span at the start.
func (m *Mapper) Span(r Range) Span { return m.SpanIn(r, UTF16) }

// SpanIn converts a range in the given encoding to a span, with the same rule
// for reversed ranges as Span.
func (m *Mapper) SpanIn(r Range, enc Encoding) Span {
	start := m.OffsetIn(r.Start, enc)
	return Span{Start: start, End: max(start, m.OffsetIn(r.End, enc))}
}

// WordAt converts a place as compilers print it, a line and a byte column that
// count from 1, to a range of length bytes. Without a length the range covers the
// word that begins there, or one byte.
func (m *Mapper) WordAt(line, column, length int) Range {
	content := m.Line(line - 1)
	start := min(max(column-1, 0), len(content))
	if length <= 0 {
		for length = 0; start+length < len(content) && isWord(content[start+length]); length++ {
		}
		length = max(length, 1)
	}
	base := m.Offset(Position{Line: line - 1})
	return m.Range(Span{Start: base + start, End: base + min(start+length, len(content))})
}

// isWord holds for the bytes of identifiers, all of those outside ASCII included.
func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// Recode converts a UTF-16 position of this text to another encoding.
func (m *Mapper) Recode(p Position, to Encoding) Position {
	if to == UTF16 {
		return p
	}
	return m.PositionIn(m.Offset(p), to)
}

// units returns how many code units of the encoding a decoded rune takes. An
// invalid byte decodes to U+FFFD with size 1 and counts as one unit everywhere.
func units(r rune, size int, enc Encoding) int {
	switch {
	case enc == UTF8:
		return size
	case enc == UTF16 && r > 0xFFFF:
		return 2
	default:
		return 1
	}
}
