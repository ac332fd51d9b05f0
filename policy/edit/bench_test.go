package edit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
)

// large is a policy of a thousand libraries.
func large() *syntax.File {
	var b strings.Builder
	b.WriteString("export default {\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "  \"library-%d\": { // why\n    permissions: [\"Intl\", \"URL\", { name: \"fetch\", allow: [\"https://api.example.com/*\"] }],\n    limits: { memoryMB: 64 },\n  },\n", i)
	}
	b.WriteString("};\n")
	return syntax.Parse("sandbox.config.js", b.String())
}

func BenchmarkOpen(b *testing.B) {
	file := large()
	for b.Loop() {
		Open(file)
	}
}

func BenchmarkGrant(b *testing.B) {
	p := Open(large())
	for b.Loop() {
		if _, err := p.Grant("library-500", "Blob"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAddLibrary(b *testing.B) {
	p := Open(large())
	for b.Loop() {
		if _, err := p.AddLibrary("lodash", sample); err != nil {
			b.Fatal(err)
		}
	}
}
