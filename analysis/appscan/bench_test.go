package appscan

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkScan scans 5,000 files of about 5 KiB, of which one in ten imports a
// library of the policy, with 50 libraries in it: the first time, and again when
// nothing has changed.
func BenchmarkScan(b *testing.B) {
	root := b.TempDir()
	write(b, filepath.Join(root, ".gitignore"), "node_modules\n/build\n*.log\n.env*\ncoverage/\n*.tsbuildinfo\n.next/\nout/\n.DS_Store\n.cache\n")
	p := Project{Root: root}
	for i := range 50 {
		p.Libraries = append(p.Libraries, Library{Name: fmt.Sprintf("library-%d", i)})
	}
	body := strings.Repeat("export function f(a, b) {\n  const text = \"a/b\" + 'c';\n  return a ? b(text, `x ${a}`) : [a, b, 1, 2, 3];\n}\n", 45)
	for i := range 5000 {
		head := "import React from \"react\";\nimport { x } from \"../common/x\";\n"
		if i%10 == 0 {
			head += fmt.Sprintf("import l from \"library-%d\";\n", i%50)
		}
		write(b, filepath.Join(root, fmt.Sprintf("packages/p%d/src/d%d/f%d.ts", i%20, i%7, i)), head+body)
	}
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			if r := scanned(b, NewScanner(Options{}), p); len(r.Imports) != 500 || r.Parsed != 500 {
				b.Fatalf("%d imports, %d files parsed", len(r.Imports), r.Parsed)
			}
		}
	})
	b.Run("warm", func(b *testing.B) {
		s := NewScanner(Options{})
		scanned(b, s, p)
		for b.Loop() {
			if r := scanned(b, s, p); len(r.Imports) != 500 || r.Parsed != 0 {
				b.Fatalf("%d imports, %d files parsed", len(r.Imports), r.Parsed)
			}
		}
	})
}
