package text

import (
	"testing"
	"unicode/utf8"
)

func TestMapper_positionsInEveryEncoding(t *testing.T) {
	// One line per line-break style; an emoji (2 UTF-16 units, 4 bytes), an
	// umlaut (1 unit, 2 bytes), a byte-order mark (1 unit, 3 bytes).
	const content = "\uFEFFa😀b\r\nüx\rlast\n"
	tests := map[string]struct {
		offset             int
		utf16, utf8, utf32 Position
	}{
		"start":            {0, Position{0, 0}, Position{0, 0}, Position{0, 0}},
		"after the mark":   {3, Position{0, 1}, Position{0, 3}, Position{0, 1}},
		"before the emoji": {4, Position{0, 2}, Position{0, 4}, Position{0, 2}},
		"after the emoji":  {8, Position{0, 4}, Position{0, 8}, Position{0, 3}},
		"end of line one":  {9, Position{0, 5}, Position{0, 9}, Position{0, 4}},
		"line two":         {11, Position{1, 0}, Position{1, 0}, Position{1, 0}},
		"after the umlaut": {13, Position{1, 1}, Position{1, 2}, Position{1, 1}},
		"after a lone CR":  {15, Position{2, 0}, Position{2, 0}, Position{2, 0}},
		"end of text":      {20, Position{3, 0}, Position{3, 0}, Position{3, 0}},
	}
	m := NewMapper(content)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for enc, want := range map[Encoding]Position{UTF16: tt.utf16, UTF8: tt.utf8, UTF32: tt.utf32} {
				if got := m.PositionIn(tt.offset, enc); got != want {
					t.Errorf("PositionIn(%d, %d) = %v, want %v", tt.offset, enc, got, want)
				}
				if got := m.OffsetIn(want, enc); got != tt.offset {
					t.Errorf("OffsetIn(%v, %d) = %d, want %d", want, enc, got, tt.offset)
				}
			}
		})
	}
}

func TestMapper_clampsWhatIsOutside(t *testing.T) {
	m := NewMapper("ab\ncd")
	tests := map[string]struct {
		in   Position
		want int
	}{
		"past the line":     {Position{0, 99}, 2},
		"past the text":     {Position{9, 0}, 5},
		"negative line":     {Position{-1, 4}, 0},
		"negative column":   {Position{1, -4}, 3},
		"end of last line":  {Position{1, 2}, 5},
		"start of the text": {Position{0, 0}, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := m.Offset(tt.in); got != tt.want {
				t.Errorf("Offset(%v) = %d, want %d", tt.in, got, tt.want)
			}
		})
	}
	if got := m.Position(-3); got != (Position{}) {
		t.Errorf("Position(-3) = %v", got)
	}
	if got := m.Position(99); got != (Position{1, 2}) {
		t.Errorf("Position(99) = %v", got)
	}
	if got := m.Span(Range{Position{1, 1}, Position{0, 0}}); got != (Span{4, 4}) {
		t.Errorf("reversed range gives %v", got)
	}
}

func TestMapper_lines(t *testing.T) {
	m := NewMapper("one\r\ntwo\rthree\n")
	for i, want := range []string{"one", "two", "three", ""} {
		if got := m.Line(i); got != want {
			t.Errorf("Line(%d) = %q, want %q", i, got, want)
		}
	}
	if m.LineCount() != 4 || m.Line(-1) != "" || m.Line(4) != "" {
		t.Errorf("count %d", m.LineCount())
	}
}

func TestMapper_wordAtPlacesThatCompilersPrint(t *testing.T) {
	m := NewMapper("one\nlet ünder = 1 + $x\n")
	tests := map[string]struct {
		line, column, length int
		want                 Range
	}{
		"a word":               {2, 5, 0, Range{Position{1, 4}, Position{1, 9}}},
		"a given length":       {2, 1, 3, Range{Position{1, 0}, Position{1, 3}}},
		"not on a word":        {2, 12, 0, Range{Position{1, 10}, Position{1, 11}}},
		"to the end":           {2, 18, 0, Range{Position{1, 16}, Position{1, 18}}},
		"past the line's end":  {1, 99, 5, Range{Position{0, 3}, Position{0, 3}}},
		"past the text's end":  {99, 1, 1, Range{Position{2, 0}, Position{2, 0}}},
		"longer than the line": {1, 2, 99, Range{Position{0, 1}, Position{0, 3}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := m.WordAt(tt.line, tt.column, tt.length); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func FuzzMapper(f *testing.F) {
	f.Add("a😀\r\nb", 3)
	f.Add("\xff\xfe\r", 1)
	for _, content := range long() {
		f.Add(content, len(content)-3)
	}
	f.Fuzz(func(t *testing.T, content string, offset int) {
		m := NewMapper(content)
		for _, enc := range []Encoding{UTF16, UTF8, UTF32} {
			p := m.PositionIn(offset, enc)
			got := m.OffsetIn(p, enc)
			if got < 0 || got > len(content) {
				t.Fatalf("offset %d of %d bytes", got, len(content))
			}
			if again := m.PositionIn(got, enc); again != p {
				t.Fatalf("%v became %v", p, again)
			}
			if offset >= 0 && offset < len(content) && utf8.RuneStart(content[offset]) && utf8.ValidString(content) &&
				m.Line(p.Line) != "" && got != offset && content[offset] != '\n' {
				t.Fatalf("offset %d came back as %d", offset, got)
			}
		}
	})
}
