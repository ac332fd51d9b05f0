package proxygen

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata")

// unpack writes an archive's files to a folder of their own and returns it.
func unpack(t *testing.T, archive *txtar.Archive) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		name := filepath.Join(root, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// describe prints models with paths relative to the root.
func describe(root string, requests []string, models map[string]*Model) []byte {
	rel := func(file string) string {
		if r, err := filepath.Rel(root, file); err == nil && file != "" {
			return filepath.ToSlash(r)
		}
		return file
	}
	var b bytes.Buffer
	for _, request := range requests {
		m := models[request]
		fmt.Fprintf(&b, "%s: entry %q, specifier %q, export = %v\n", m.Request, rel(m.Entry), m.Specifier, m.ExportAssign)
		for _, e := range m.Exports {
			fmt.Fprintf(&b, "  %s %s", e.Name, e.Kind)
			if e.Property {
				b.WriteString(" property")
			}
			if e.File != "" {
				fmt.Fprintf(&b, " %s:%d:%d", rel(e.File), e.Range.Start.Line+1, e.Range.Start.Character+1)
			}
			if e.Doc != "" {
				fmt.Fprintf(&b, " %q", e.Doc)
			}
			b.WriteString("\n")
		}
		for _, f := range m.Files {
			fmt.Fprintf(&b, "  reads %s\n", rel(f))
		}
	}
	return b.Bytes()
}

// TestDeclarations_resolveAsTypeScriptDoes runs the archives of testdata/declarations.
// The first line of each names the requests; its section "want" is what is found.
func TestDeclarations_resolveAsTypeScriptDoes(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/declarations/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(string(archive.Comment), "\n")
			requests := strings.Fields(strings.TrimPrefix(first, "requests:"))
			var want []byte
			if i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == "want" }); i >= 0 {
				want = archive.Files[i].Data
				archive.Files = slices.Delete(archive.Files, i, i+1)
			}
			root := unpack(t, archive)
			models, err := Declarations(context.Background(), root, requests)
			if err != nil {
				t.Fatal(err)
			}
			got := describe(root, requests, models)
			if *update {
				archive.Files = append(archive.Files, txtar.File{Name: "want", Data: got})
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("run with -update and read the difference (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDeclarations_stopWhenCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Declarations(ctx, t.TempDir(), []string{"x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
}

func TestDeclarations_refuseFilesThatWouldOverflowTheStack(t *testing.T) {
	t.Parallel()
	root := unpack(t, txtar.Parse([]byte(`
-- node_modules/hostile/package.json --
{"name": "hostile", "types": "index.d.ts"}
-- node_modules/hostile/index.d.ts --
export declare const x: `+strings.Repeat("[", 200_000)+`
-- node_modules/good/package.json --
{"name": "good", "types": "index.d.ts"}
-- node_modules/good/index.d.ts --
export declare const x: number;
`)))
	models, err := Declarations(context.Background(), root, []string{"hostile", "good"})
	if err != nil {
		t.Fatal(err)
	}
	if models["hostile"].Entry != "" {
		t.Error("the hostile package has a model")
	}
	if len(models["good"].Exports) != 1 {
		t.Errorf("the other package has the exports %v", models["good"].Exports)
	}
}
