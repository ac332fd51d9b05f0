package syntax

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParse_refusesWhatWouldOverflowTheStack(t *testing.T) {
	t.Parallel()
	const n = 400_000
	for name, unit := range map[string]string{
		"arrays": "[", "calls": "f(", "not": "!", "arrows": "x=>", "objects": "{a:", "ternaries": "a?", "if": "if(a)", "else": "if(a);else ",
		"sums": "a+", "members": "a.", "templates": "`${", "typeof": "typeof ", "assignments": "a=", "blocks": "{", "empty objects": "{}+",
		"called results": "()", "indexed results": "[0]", "tags": "``", "comma operators": "a,", "in": "a in ", "labels": "a:", "jsx": "<a>",
		"jsx with text": "<a>{b}c", "templates in a sum": "`${a}b`+a+", "functions in a sum": "function(){}+",
	} {
		f := Parse("a.js", "x="+strings.Repeat(unit, n))
		if len(f.Diagnostics) != 1 || !strings.Contains(f.Diagnostics[0].Message, "too deeply") {
			t.Errorf("%s: not refused", name)
		}
		if f.Unresolved() != nil || f.Imports() != nil || f.Comments() != nil {
			t.Errorf("%s: a refused file has contents", name)
		}
		if n, _, _ := f.Export(); n != nil {
			t.Errorf("%s: a refused file exports something", name)
		}
	}
	if f := Parse("a.ts", "x="+strings.Repeat("A<", 3000)); len(f.Diagnostics) != 1 {
		t.Error("nested type arguments: not refused")
	}
}

func TestParse_survivesWhatItDoesNotRefuse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, unit string }{
		"arrays": {"a.js", "["}, "arrows": {"a.js", "x=>"}, "called results": {"a.js", "()()"}, "templates": {"a.js", "`${"},
		"functions": {"a.js", "function(){return "}, "type arguments": {"a.ts", "A<"}, "function types": {"a.ts", "(x:("},
	} {
		n := 1
		for step := 1 << 16; step > 0; step >>= 1 {
			if TooDeep(c.file, "x="+strings.Repeat(c.unit, n+step)) == "" {
				n += step
			}
		}
		f := Parse(c.file, "x="+strings.Repeat(c.unit, n))
		f.Unresolved()
		f.Comments()
		f.Imports()
		if n < 300 || len(f.Diagnostics) == 0 || strings.Contains(f.Diagnostics[0].Message, "too deeply") {
			t.Errorf("%s: refused at a depth of %d", name, n)
		}
	}
}

func TestTooDeep_letsRealTextsPass(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]string{
		"embedded base64":       `x="` + strings.Repeat("AGFzbQEAAAABmAgCMGADf39/AX9gAn9AX9gkABgA39fgh7bQEAAAABmq9+zoq0ab", 40_000) + `"`,
		"a long array":          "x=[" + strings.Repeat("1,", 500_000) + "]",
		"rows of data":          "x=[" + strings.Repeat("{a:1,b:[1,2]},", 100_000) + "]",
		"a large object":        "x={" + strings.Repeat("a:1,", 100_000) + "}",
		"no semicolons":         strings.Repeat("function f(a, b) { return a + b }\n", 20_000),
		"a long comma sequence": strings.Repeat("a=b,", 50_000),
		"a long switch":         "switch(x){" + strings.Repeat("case 1: f(); break;", 5_000) + "}",
	} {
		if why := TooDeep("a.js", source); why != "" {
			t.Errorf("%s: %s", name, why)
		}
	}
}

// lodash returns the source of a library that uses most of the language.
func lodash(tb testing.TB) string {
	tb.Helper()
	content, err := os.ReadFile(filepath.FromSlash("../../testdata/projects/storefront/node_modules/lodash/lodash.js"))
	if err != nil {
		tb.Fatal("the storefront's packages are not installed; run `make deps`")
	}
	return string(content)
}

func TestUnresolved_ofARealLibrary(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, r := range Parse("lodash.js", lodash(t)).Unresolved() {
		names[r.Name] = true
	}
	want := map[string]bool{
		"Function": true, "RegExp": true, "parseFloat": true, "parseInt": true, "global": true, "self": true, "Object": true,
		"exports": true, "module": true, "define": true, "Uint8Array": true, "isNaN": true, "isFinite": true,
		"ArrayBuffer": true, "DataView": true, "WeakMap": true, "Promise": true, "Uint16Array": true,
	}
	for name := range names {
		switch name {
		case "Infinity", "NaN", "undefined", "Array", "Date", "Error", "Math", "String", "TypeError", "Symbol", "Map", "Set", "JSON":
		default:
			if !want[name] {
				t.Errorf("%s is not free in lodash", name)
			}
		}
	}
	for _, name := range []string{"Function", "global", "self", "exports", "module"} {
		if !names[name] {
			t.Errorf("%s is free in lodash and was not found", name)
		}
	}
}

func BenchmarkUnresolved_ofLodash(b *testing.B) {
	source := lodash(b)
	b.SetBytes(int64(len(source)))
	for b.Loop() {
		if len(Parse("lodash.js", source).Unresolved()) == 0 {
			b.Fatal("nothing found")
		}
	}
}
