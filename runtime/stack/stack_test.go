package stack

import (
	"path/filepath"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/google/go-cmp/cmp"
)

func TestParse_readsWhatTheEnginePrints(t *testing.T) {
	got := Parse("    at inner (lib.js:3:17)\n    at <anonymous> (lib.js:9:2)\n    at forEach (native)\nnot a frame\n    at lib.js:12\n    at a b (c) (x y.js:1:1)\n")
	want := []Frame{
		{"inner", "lib.js", 3, 17},
		{"<anonymous>", "lib.js", 9, 2},
		{"forEach", "native", 0, 0},
		{"", "lib.js", 12, 0},
		{"a b", "c) (x y.js", 1, 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("frames (-want +got):\n%s", diff)
	}
}

// TestMap_ofNothing: a library of comments alone has a map without mappings.
func TestMap_ofNothing(t *testing.T) {
	m, err := NewMap([]byte(`{"version":3,"sources":[],"mappings":"","names":[]}`), "lib.js", "/")
	if err != nil {
		t.Fatal(err)
	}
	frame := Frame{"f", "lib.js", 1, 1}
	if got, ok := m.Frame(frame); ok || got != frame {
		t.Errorf("got %v, %v", got, ok)
	}
	for _, bad := range []string{"", "{", `{"version":3}`} {
		if _, err := NewMap([]byte(bad), "lib.js", "/"); err == nil {
			t.Errorf("%q is read as a map", bad)
		}
	}
}

func TestMap_findsTheSourceOfAFrame(t *testing.T) {
	dir := t.TempDir()
	result := api.Build(api.BuildOptions{
		AbsWorkingDir: dir,
		Stdin:         &api.StdinOptions{Contents: "\n\nexport function f() {\n  throw new Error('x')\n}\n", Sourcefile: "src/f.js", ResolveDir: dir},
		Outfile:       filepath.Join(dir, "dist", "f.bundle.js"),
		Bundle:        true, Format: api.FormatIIFE, GlobalName: "L", Sourcemap: api.SourceMapExternal,
	})
	if len(result.Errors) > 0 {
		t.Fatal(result.Errors)
	}
	var raw []byte
	line := 0
	for _, f := range result.OutputFiles {
		if filepath.Ext(f.Path) == ".map" {
			raw = f.Contents
			continue
		}
		for i, text := range splitLines(string(f.Contents)) {
			if text == `    throw new Error("x");` {
				line = i + 1
			}
		}
	}
	m, err := NewMap(raw, "f.bundle.js", filepath.Join(dir, "dist"))
	if err != nil {
		t.Fatal(err)
	}
	got := m.Frames([]Frame{{"f", "f.bundle.js", line, 5}, {"forEach", "native", 0, 0}, {"", "other.js", 1, 1}})
	want := []Frame{{"f", filepath.Join(dir, "src", "f.js"), 4, 3}, {"", "other.js", 1, 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("frames (-want +got):\n%s", diff)
	}
	if text := Format(want[:1]); text != "    at f ("+want[0].File+":4:3)" {
		t.Errorf("format %q", text)
	}
}

func TestNewMap_refusesWhatIsNotAMap(t *testing.T) {
	if _, err := NewMap([]byte("{"), "x", "/"); err == nil {
		t.Error("no error")
	}
}

func splitLines(s string) []string {
	var out []string
	for start, i := 0, 0; i <= len(s); i++ {
		if i == len(s) || s[i] == '\n' {
			out = append(out, s[start:i])
			start = i + 1
		}
	}
	return out
}
