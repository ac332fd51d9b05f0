// Package bytecode packs a script's bytecode into what has to be shipped beside the
// script itself.
//
// Every function in it holds its own source text, and so do the functions around it, which
// makes it several times as large as the script. All of that stands in the script, so that
// a packed one says where.
package bytecode

import "encoding/binary"

const (
	// window is the shortest text that is found again.
	window = 24
	// candidates is how many places are tried for one.
	candidates = 8
)

// Pack returns bytecode as it is shipped beside its script: the hash of the engine that can
// run it, in hexadecimal; the number of pieces and the length of the whole; for each piece
// how many bytes stand here, how many are copied from the script after them, and from where;
// then the bytes that stand here. runtime/js/bytecode.js reads it.
func Pack(engine string, script, code []byte) []byte {
	places := index(script)
	var table, literals []byte
	pieces, from := uint32(0), 0
	piece := func(to, length, offset int) {
		for _, n := range []int{to - from, length, offset} {
			table = binary.AppendUvarint(table, uint64(n))
		}
		literals = append(literals, code[from:to]...)
		from = to + length
		pieces++
	}
	for at := 0; at+window <= len(code); {
		length, offset := longest(places, script, code[at:])
		if length == 0 {
			at++
			continue
		}
		piece(at, length, offset)
		at = from
	}
	piece(len(code), 0, 0)
	packed := append([]byte(engine), binary.LittleEndian.AppendUint32(nil, pieces)...)
	packed = binary.LittleEndian.AppendUint32(packed, uint32(len(code)))
	return append(append(packed, table...), literals...)
}

// index lists where each text of the window's length begins.
func index(script []byte) map[string][]int {
	places := make(map[string][]int, len(script))
	for at := 0; at+window <= len(script); at++ {
		key := string(script[at : at+window])
		if len(places[key]) < candidates {
			places[key] = append(places[key], at)
		}
	}
	return places
}

// longest returns the longest beginning of code that stands in the script, and where.
func longest(places map[string][]int, script, code []byte) (length, offset int) {
	for _, at := range places[string(code[:window])] {
		n := window
		for n < len(code) && at+n < len(script) && code[n] == script[at+n] {
			n++
		}
		if n > length {
			length, offset = n, at
		}
	}
	return length, offset
}
