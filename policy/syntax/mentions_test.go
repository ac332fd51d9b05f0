package syntax

import (
	"fmt"
	"strings"
	"testing"
)

func TestMentions_findsEveryForm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, file, source, want string }{
		{"what is imported", "a.ts", `import "a"; import b from "b"; export * from "c"; import("d"); require("e"); import f = require("f"); import type { G } from "g"; let h: import("h").H; export type { I } from "i"`,
			"import a|import b|export from c|import() d|require() e|import = require() f|import type g|import type h|import type i"},
		{"a template without holes", "a.js", "import(`a`); require(`b`)", "import() a|require() b"},
		{"a template", "a.js", "import(`a/${x}.js`); require(`${y}/a`)", "import() a/~"},
		{"a template that begins with a constant", "a.js", "const y = 'b'; require(`${y}/a`)", "require() b~"},
		{"a concatenation", "a.js", `import("a" + x); require("b/" + x + "/c"); import(x + "d")`, "import() a~|require() b/~"},
		{"a constant", "a.js", `const a = "x"; let b = "y"; b = "z"; import(a); import(b)`, "import() x~"},
		{"a condition", "a.js", `import(x ? "a" : y ? "b" : "c"); require(x ? d : "e")`, "import() a~|import() b~|import() c~|require() e~"},
		{"require.resolve", "a.js", `require.resolve("a"); import.meta.resolve("b"); import.meta.url("c")`, "require.resolve() a|import.meta.resolve() b"},
		{"a URL", "a.js", `new URL("a", import.meta.url); new URL("b"); new URL("c", base); function f(URL) { new URL("d", import.meta.url) }`, "new URL() a"},
		{"module.require", "a.js", `module.require("a"); other.require("b"); module["require"]("c")`, "module.require() a|module.require() c"},
		{"the require of another module", "a.js", `process.mainModule.require("a"); require.main.require("b"); f.mainModule.require("c"); function g(process) { process.mainModule.require("d") }`, "module.require() a|module.require() b"},
		{"a copy of require", "a.js", `const r = require; r("a"); let s = (require), u; s("b"); u("c"); function f(require) { const t = require; t("d") }`, "copy of require() a|copy of require() b"},
		{"a require of the file's own", "a.js", `function require(x) {} require("a"); require.resolve("b")`, ""},
		{"createRequire", "a.mjs", `import { createRequire } from "m"; const require = createRequire(import.meta.url); require("a"); require.resolve("b"); createRequire(x)("c")`,
			"import m|createRequire() a|require.resolve() b|createRequire() c"},
		{"createRequire by another name", "a.mjs", `import { createRequire as make } from "m"; const load = make(import.meta.url); load("a"); other("b")`, "import m|createRequire() a"},
		{"createRequire of a namespace", "a.mjs", `import * as m from "m"; const load = m.createRequire(x); load("a")`, "import m|createRequire() a"},
		{"importScripts", "a.js", `importScripts("a", "b"); self.importScripts("c")`, "importScripts() a|importScripts() b"},
		{"casts and parentheses", "a.ts", `import(("a" as string)); (require)("b")`, "import() a|require() b"},
		{"nothing known", "a.js", `import(x); require(f()); require(); import()`, ""},
		{"half typed", "a.js", `import x from ; require("a`, "require() a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, m := range Parse(c.file, c.source).Mentions() {
				s := fmt.Sprintf("%s %s", m.Form, m.Specifier)
				if m.Computed {
					s += "~"
				} else if shown := c.source[m.Span.Start:m.Span.End]; !strings.Contains(shown, m.Specifier) {
					t.Errorf("the span of %q covers %s", m.Specifier, shown)
				}
				got = append(got, s)
			}
			if strings.Join(got, "|") != c.want {
				t.Errorf("%s\ngot  %s\nwant %s", c.source, strings.Join(got, "|"), c.want)
			}
		})
	}
}

func TestImports_leavesOutWhatIsNoImport(t *testing.T) {
	t.Parallel()
	const source = "import('a' + b); require(`c/${d}`); require.resolve('e'); new URL('f', import.meta.url); import(g ? 'h' : 'i'); module.require('j'); importScripts('k')"
	if got := Parse("a.js", source).Imports(); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}
