package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/sandbox-lsp/sandbox-lsp/"

// layers are the top-level folders from the command down. A package may import its
// own layer and those that are listed for it, and nothing above.
var layers = map[string][]string{
	"cmd":      {"lsp", "analysis", "proxygen", "runtime", "policy"},
	"lsp":      {"analysis", "policy"},
	"analysis": {"proxygen", "runtime", "policy"},
	"proxygen": {"policy"},
	"runtime":  {"policy"},
	"policy":   {},
}

// only names the packages that alone may import a module.
var only = map[string][]string{
	"go.lsp.dev/":                              {"lsp"},
	"github.com/tetratelabs/wazero":            {"runtime/quickjs"},
	"github.com/microsoft/typescript-go/shim/": {"policy/syntax", "policy/syntax/authority", "policy/hostglobals", "proxygen"},
	"github.com/evanw/esbuild":                 {"runtime/bundle", "policy/resolve"},
	"github.com/spf13/cobra":                   {"cmd/sandbox-lsp"},
}

func TestImports_goOneWay(t *testing.T) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		seen++
		from := strings.TrimPrefix(p.ImportPath, module)
		layer, _, _ := strings.Cut(from, "/")
		allowed, known := layers[layer]
		if !known {
			t.Errorf("%s is in no layer", from)
		}
		for _, imported := range p.Imports {
			if to, ours := strings.CutPrefix(imported, module); ours {
				if target, _, _ := strings.Cut(to, "/"); target != layer && !slices.Contains(allowed, target) {
					t.Errorf("%s imports %s, against the direction cmd → lsp → analysis → {proxygen, runtime} → policy", from, to)
				}
			}
			for prefix, owners := range only {
				if strings.HasPrefix(imported, prefix) && !slices.Contains(owners, from) {
					t.Errorf("%s imports %s, which only %v may", from, imported, owners)
				}
			}
		}
	}
	if seen < 15 {
		t.Errorf("only %d packages were looked at", seen)
	}
}
