package bytecode

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
)

// unpack is the reader of runtime/js, in Go.
func unpack(t *testing.T, engine string, script, packed []byte) []byte {
	t.Helper()
	if !bytes.HasPrefix(packed, []byte(engine)) {
		t.Fatalf("it begins with %q", packed[:min(len(packed), len(engine))])
	}
	rest := packed[len(engine):]
	pieces, total := binary.LittleEndian.Uint32(rest), binary.LittleEndian.Uint32(rest[4:])
	rest = rest[8:]
	table := make([]uint64, 3*pieces)
	for i := range table {
		n, size := binary.Uvarint(rest)
		table[i], rest = n, rest[size:]
	}
	var code []byte
	for i := 0; i < len(table); i += 3 {
		code, rest = append(code, rest[:table[i]]...), rest[table[i]:]
		code = append(code, script[table[i+2]:table[i+2]+table[i+1]]...)
	}
	if len(rest) != 0 || len(code) != int(total) {
		t.Errorf("%d bytes are left over, and %d of %d are there", len(rest), len(code), total)
	}
	return code
}

func TestPack_saysWhereTheScriptHasIt(t *testing.T) {
	t.Parallel()
	inner := "function inner(argument) { return argument + 1; }"
	script := "var f = function () { " + inner + " return inner; };"
	for name, tt := range map[string]struct {
		code string
		most int // bytes of a packed one, the engine's hash apart
	}{
		"nothing":                   {"", 11},
		"less than a window":        {"short", 16},
		"nothing of the script":     {strings.Repeat("\x01\x02\x03", 30), 101},
		"all of the script":         {script, 14},
		"sources inside of sources": {"\x07" + script + "\x08" + inner + "\x09", 40},
		"a script that ends early":  {script[10:] + "\x00", 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			packed := Pack("cafe", []byte(script), []byte(tt.code))
			if got := unpack(t, "cafe", []byte(script), packed); string(got) != tt.code {
				t.Errorf("got %q, want %q", got, tt.code)
			}
			if len(packed) > len("cafe")+tt.most {
				t.Errorf("it takes %d bytes, more than %d", len(packed)-len("cafe"), tt.most)
			}
		})
	}
}
