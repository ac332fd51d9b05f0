package proxygen

import (
	"encoding/json"
	"strings"
)

// writer collects a module's text together with the places that its lines come from.
type writer struct {
	file     string // name of the module, without folder
	dir      string // absolute folder of the module
	text     strings.Builder
	line     int // lines written so far
	marks    []mark
	sources  []string
	numbered map[string]int
}

// mark says that a generated line comes from a declaration.
type mark struct {
	line            int
	source          int
	fromLine, fromC int // zero-based, UTF-16, as positions and source maps have it
}

func newWriter(file, dir string) *writer {
	return &writer{file: file, dir: dir, numbered: map[string]int{}}
}

func (w *writer) print(s string) {
	w.text.WriteString(s)
	w.line += strings.Count(s, "\n")
}

// mark maps the lines of the next statement to the export's declaration.
func (w *writer) mark(e emission) {
	if e.declared == nil || e.declared.File == "" {
		return
	}
	source := relative(w.dir, e.declared.File)
	n, ok := w.numbered[source]
	if !ok {
		n = len(w.sources)
		w.numbered[source] = n
		w.sources = append(w.sources, source)
	}
	from := e.declared.Range.Start
	lines := strings.Count(statement(e), "\n")
	for i := range lines {
		w.marks = append(w.marks, mark{w.line + i, n, from.Line, from.Character})
	}
}

// finish ends the module with the reference to its map and returns it.
func (w *writer) finish() []byte {
	return []byte(w.text.String() + "//# sourceMappingURL=" + w.file + ".map\n")
}

// sourceMap writes the source map (ECMA-426).
func (w *writer) sourceMap() []byte {
	var mappings strings.Builder
	line, source, fromLine, fromColumn := 0, 0, 0, 0
	for i, m := range w.marks {
		if i > 0 && m.line == line {
			mappings.WriteByte(',')
		}
		for ; line < m.line; line++ {
			mappings.WriteByte(';')
		}
		vlq(&mappings, 0) // the generated column: statements start their lines
		vlq(&mappings, m.source-source)
		vlq(&mappings, m.fromLine-fromLine)
		vlq(&mappings, m.fromC-fromColumn)
		source, fromLine, fromColumn = m.source, m.fromLine, m.fromC
	}
	sources := w.sources
	if sources == nil {
		sources = []string{}
	}
	// Strings and numbers always encode.
	out, _ := json.MarshalIndent(struct {
		Version  int      `json:"version"`
		File     string   `json:"file"`
		Sources  []string `json:"sources"`
		Names    []string `json:"names"`
		Mappings string   `json:"mappings"`
	}{3, w.file, sources, []string{}, mappings.String()}, "", " ")
	return append(out, '\n')
}

// vlq writes a number as base64 digits of five bits, the least first, with the sign
// in the lowest bit (ECMA-426, "Base64 VLQ").
func vlq(b *strings.Builder, n int) {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	v := n << 1
	if n < 0 {
		v = -n<<1 | 1
	}
	for {
		digit := v & 31
		if v >>= 5; v > 0 {
			digit |= 32
		}
		b.WriteByte(digits[digit])
		if v == 0 {
			return
		}
	}
}
