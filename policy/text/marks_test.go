package text

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// count is how many units stand before a column, counted one by one.
func count(line string, column int, enc Encoding) int {
	n := 0
	for i := 0; i < column; {
		r, size := utf8.DecodeRuneInString(line[i:])
		if i+size > column {
			break
		}
		n += units(r, size, enc)
		i += size
	}
	return n
}

// long returns texts whose lines are far longer than what lies between two marks.
func long() map[string]string {
	mixed := strings.Repeat("aé🎉\xff世\u2028b", 700)
	return map[string]string{
		"mixed characters":   mixed,
		"several lines":      "short\r\n" + mixed + "\r\n" + mixed + "x\rend\n" + strings.Repeat("🎉", 2000),
		"plain":              strings.Repeat("x", 5*stride),
		"continuation bytes": strings.Repeat("\x80", 4*stride),
		"cut at the end":     strings.Repeat("é", 2*stride) + "\xf0\x9f",
		"cut before a break": strings.Repeat("é", 2*stride) + "\xf0\x9f\r\n" + strings.Repeat("é", 2*stride),
	}
}

func TestMapper_countsLongLinesAsShortOnes(t *testing.T) {
	for name, content := range long() {
		t.Run(name, func(t *testing.T) {
			m := NewMapper(content)
			for _, enc := range []Encoding{UTF16, UTF8, UTF32} {
				for line := range m.LineCount() {
					text, start := m.Line(line), m.lines[line]
					for column := 0; column <= len(text); column += 1 + column%41 {
						want := Position{Line: line, Character: count(text, column, enc)}
						if got := m.PositionIn(start+column, enc); got != want {
							t.Fatalf("encoding %d: offset %d is %v, want %v", enc, start+column, got, want)
						}
						// The start of the character that the column lies in.
						if at := m.OffsetIn(want, enc); count(text, at-start, enc) != want.Character || at > start+column || start+column-at >= utf8.UTFMax {
							t.Fatalf("encoding %d: %v is offset %d, from %d", enc, want, at, start+column)
						}
					}
					if at := m.OffsetIn(Position{Line: line, Character: 1 << 30}, enc); at != start+len(text) {
						t.Fatalf("past the end of line %d is offset %d, want %d", line, at, start+len(text))
					}
				}
			}
		})
	}
}

func BenchmarkMapper_longLine(b *testing.B) {
	content := strings.Repeat("aé🎉", 1_000_000)
	m := NewMapper(content)
	for b.Loop() {
		m.OffsetIn(m.PositionIn(len(content)-1, UTF16), UTF16)
	}
}
