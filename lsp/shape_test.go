package lsp

import (
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestShape_ofThePackage holds the rules that keep the package readable and the
// protocol in its place.
func TestShape_ofThePackage(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	const module = "github.com/sandbox-lsp/sandbox-lsp/"
	allowed := map[string]bool{"analysis": true, "policy/finding": true, "policy/text": true}
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(string(raw), "\n"); lines > 400 {
			t.Errorf("%s has %d lines, more than 400", name, lines)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, raw, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if path == "go.lsp.dev/jsonrpc2" && !strings.HasPrefix(name, "wire") {
				t.Errorf("%s imports the transport, which is the business of wire*.go", name)
			}
			if own, ok := strings.CutPrefix(path, module); ok && !allowed[own] {
				t.Errorf("%s imports %s: the server knows analysis and the types of findings and positions, nothing else", name, own)
			}
		}
		for _, print := range []string{"fmt.Print", "os.Stdout", "println("} {
			if strings.Contains(string(raw), print) {
				t.Errorf("%s has %s: the standard output belongs to the protocol", name, print)
			}
		}
	}
}
