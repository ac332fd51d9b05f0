package text

import (
	"sort"
	"unicode/utf8"
)

// stride is how many bytes lie between two marks. What is left to count from a mark
// is less than that.
const stride = 1024

// marks are places in a text up to which the units are counted, so that a place far
// out in a long line, as minified files have, is found without counting the line
// anew. They are made at the first question about such a line.
type marks struct {
	offsets []int // the start of the first character at or behind each stride
	utf16   []int // units before the offset, line breaks included
	utf32   []int
}

func newMarks(content string) *marks {
	m := &marks{}
	count16, count32 := 0, 0
	for i, next := 0, 0; i < len(content); {
		if i >= next {
			m.offsets, m.utf16, m.utf32 = append(m.offsets, i), append(m.utf16, count16), append(m.utf32, count32)
			next += stride
		}
		r, size := utf8.DecodeRuneInString(content[i:])
		count16, count32 = count16+units(r, size, UTF16), count32+1
		i += size
	}
	return m
}

// at returns the units before a mark.
func (m *marks) at(k int, enc Encoding) int {
	switch enc {
	case UTF8:
		return m.offsets[k]
	case UTF32:
		return m.utf32[k]
	default:
		return m.utf16[k]
	}
}

// before returns how many units lie before an offset. An offset inside a character
// counts as the character's start.
func (m *marks) before(content string, offset int, enc Encoding) int {
	k := sort.SearchInts(m.offsets, offset+1) - 1
	if k < 0 {
		return 0
	}
	count := m.at(k, enc)
	for i := m.offsets[k]; i < offset; {
		r, size := utf8.DecodeRuneInString(content[i:])
		if i+size > offset {
			break
		}
		count += units(r, size, enc)
		i += size
	}
	return count
}

// seek returns the last mark between two offsets that has at most so many units
// between it and the first, and how many it has; false when there is none.
func (m *marks) seek(content string, start, end, character int, enc Encoding) (offset, counted int, ok bool) {
	first, last := sort.SearchInts(m.offsets, start), sort.SearchInts(m.offsets, end)
	base := m.before(content, start, enc)
	k := first + sort.Search(last-first, func(i int) bool { return m.at(first+i, enc)-base > character }) - 1
	if k < first {
		return 0, 0, false
	}
	return m.offsets[k], m.at(k, enc) - base, true
}
