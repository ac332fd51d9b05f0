package syntax

import (
	"fmt"
	"strings"
	"testing"
)

func TestExport_findsTheValue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, source string
		form         ExportForm
		want         string
	}{
		{"export default", `export default { a: 1 }`, ExportDefault, `{a:1}`},
		{"export default of a const", `const c = { a: 1 }; export default c`, ExportDefault, `{a:1}`},
		{"a chain of names", `const a = b, b = c; const c = { d: 1 }; export default a`, ExportDefault, `{d:1}`},
		{"a let that is never assigned", `let a = { b: 1 }; export default a`, ExportDefault, `{b:1}`},
		{"a let that is assigned", `let a = { b: 1 }; a = { c: 1 }; export default a`, ExportDefault, `a`},
		{"a var", `var a = { b: 1 }; export default a`, ExportDefault, `a`},
		{"a circle of names", `const a = b; const b = a; export default a`, ExportDefault, `a`},
		{"export specifier", `const a = { b: 1 }; export { a as default }`, ExportSpecifier, `{b:1}`},
		{"export specifier from a module", `export { a as default } from "b"`, ExportSpecifier, `<expression>`},
		{"module.exports", `module.exports = { a: 1 }`, ModuleExports, `{a:1}`},
		{"module.exports twice", `module.exports = { a: 1 }; module.exports = { b: 1 }`, ModuleExports, `{b:1}`},
		{"module[exports]", `module["exports"] = { a: 1 }`, ModuleExports, `{a:1}`},
		{"a chain of assignments", `const c = module.exports = exports = { a: 1 }`, ModuleExports, `{a:1}`},
		{"exports.default", `exports.default = { a: 1 }`, ExportsDefault, `{a:1}`},
		{"module.exports.default", `module.exports.default = { a: 1 }`, ExportsDefault, `{a:1}`},
		{"es wins over commonjs", `module.exports = { a: 1 }; export default { b: 1 }`, ExportDefault, `{b:1}`},
		{"defineConfig", `import { defineConfig } from "x"; export default defineConfig({ a: 1 })`, ExportDefault, `{a:1}`},
		{"defineConfig by require", `const { defineConfig } = require("x"); module.exports = defineConfig({ a: 1 })`, ModuleExports, `{a:1}`},
		{"defineConfig of a name", `const a = { b: 1 }; export default defineConfig(a)`, ExportDefault, `{b:1}`},
		{"defineConfig through a const", `const a = defineConfig({ b: 1 }); export default a`, ExportDefault, `{b:1}`},
		{"defineConfig of a namespace", `import * as s from "x"; export default s.defineConfig({ a: 1 })`, ExportDefault, `{a:1}`},
		{"a defineConfig of the file's own", `function defineConfig(x) { return {} } export default defineConfig({ a: 1 })`, ExportDefault, `defineConfig({a:1})`},
		{"an import", `import a from "b"; export default a`, ExportDefault, `a`},
		{"a call", `export default f({ a: 1 })`, ExportDefault, `f({a:1})`},
		{"a function", `export default function () {}`, ExportDefault, `<function>`},
		{"an async arrow", `export default async () => ({})`, ExportDefault, `<function>`},
		{"a class", `export default class A {}`, ExportDefault, `<function>`},
		{"an object changed afterwards", `const a = {}; a.b = 1; export default a`, ExportDefault, `a`},
		{"an object changed deeply", `const a = { b: {} }; a.b.c = 1; export default a`, ExportDefault, `a`},
		{"an object given away", `const a = {}; fill(a); export default a`, ExportDefault, `a`},
		{"an object changed through another name", `const a = {}; const b = a; b.c = 1; export default a`, ExportDefault, `a`},
		{"an object that is only read", `const a = { b: ["x"] }; const d = a.b; export default a`, ExportDefault, `{b:["x"]}`},
		{"a loop variable", `for (const a = { b: 1 };;) { module.exports = a }`, ExportNone, ``},
		{"no export", `const a = 1`, ExportNone, ``},
		{"an empty file", ``, ExportNone, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n, form, span := Parse("sandbox.config.js", c.source).Export()
			got := ""
			if n != nil {
				got = show(n)
			}
			if got != c.want || form != c.form {
				t.Errorf("%s\ngot  %s, form %d\nwant %s, form %d", c.source, got, form, c.want, c.form)
			}
			if form != ExportNone && !strings.Contains(c.source[span.Start:span.End], "export") {
				t.Errorf("the statement's span covers %q", c.source[span.Start:span.End])
			}
		})
	}
	n, form, _ := Parse("a.ts", `const a = { b: 1 } as const; export = a`).Export()
	if form != ExportAssignment || show(n) != `{b:1}` {
		t.Errorf("export =: got %v, form %d", n, form)
	}
}

func TestResolve_followsNestedNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, source, want string }{
		{"a name", `const shared = { permissions: ["x"] }; export default { value: shared }`, `{permissions:["x"]}`},
		{"a member", `const s = { a: { b: ["x"] } }; export default { value: s.a.b }`, `["x"]`},
		{"a member of an object with a spread", `const s = { a: 1, ...t }; export default { value: s.a }`, `s.a`},
		{"shorthand", `const value = ["x"]; export default { value }`, `["x"]`},
		{"a string", `const value = "x"; use(value); export default { value }`, `"x"`},
		{"a parameter", `const f = (value) => ({ value }); export default { value: f }`, `<function>`},
		{"a read-only method", `const value = ["x"]; export default { value, more: value.concat("y") }`, `["x"]`},
		{"a method that changes", `const value = ["x"]; value.push("y"); export default { value }`, `value`},
		{"a free name", `export default { value: elsewhere }`, `elsewhere`},
		{"a destructured name", `const { value } = { value: 1 }; export default { value }`, `value`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := Parse("a.js", c.source)
			n, _, _ := f.Export()
			if got := show(f.Resolve(n.Property("value").Value)); got != c.want {
				t.Errorf("%s\ngot  %s\nwant %s", c.source, got, c.want)
			}
		})
	}
}

func TestImports_findsEveryForm(t *testing.T) {
	t.Parallel()
	const source = `import "side";
import a from "one"; import b, { c as d, default as e } from "two"; import * as f from "three";
import type { T } from "types"; import { type U } from "types2"; import g = require("four");
export { x as y } from "five"; export * from "six"; export * as ns from "seven"; export type { V } from "types3";
import("eight"); const { h, i: j } = require("nine"); require("ten").k(); require("eleven"); use(require("twelve"));
import(dynamic); require(dynamic); let t: import("types4").W; import(` + "`thirteen`" + `);
function s(require) { require("not") }`
	var got []string
	f := Parse("a.ts", source)
	for _, i := range f.Imports() {
		got = append(got, fmt.Sprintf("%d %s %v", i.Kind, i.Specifier, i.Names))
		if s := source[i.Span.Start:i.Span.End]; s[1:len(s)-1] != i.Specifier {
			t.Errorf("span of %s covers %s", i.Specifier, s)
		}
	}
	want := []string{
		"0 side []", "0 one [default]", "0 two [default c default]", "0 three [*]",
		"4 types []", "4 types2 []", "2 four [*]",
		"3 five [x]", "3 six [*]", "3 seven [*]", "4 types3 []",
		"1 eight [*]", "2 nine [h i]", "2 ten [k]", "2 eleven []", "2 twelve [*]",
		"4 types4 []", "1 thirteen [*]",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestExportedNames_findsEveryForm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, file, source, want string }{
		{"declarations", "a.ts", `export const a = 1, { b, c: [d] } = x; export function f() {} export class C {} export enum E {} export namespace N {}`,
			"a b d f() C() E N"},
		{"arrow functions", "a.js", `export const run = async () => {}; export let stop = function () {}`, "run() stop()"},
		{"types", "a.ts", `export interface I {} export type T = 1; export type { I as J }; export { type T as U }`, "I~ T~ J~ U~"},
		{"specifiers", "a.js", `function f() {} const g = f; export { f, g as h, f as "a b" }`, `f() h() a b()`},
		{"re-exports", "a.js", `export { a, b as c } from "x"; export * as ns from "y"; export * from "z"`, "a<x c<x ns<y *<z"},
		{"default function", "a.js", `export default function f() {}`, "default()"},
		{"default value", "a.js", `const f = () => 1; export default f`, "default()"},
		{"commonjs", "a.js", `exports.a = () => 1; module.exports.b = 2; exports["c"] = function () {}; exports.d = exports.e = f; function f() {}`,
			"a() b c() d() e()"},
		{"module.exports of an object", "a.js", `function f() {} module.exports = { f, g: 1, h() {}, ...rest }`, "f() g h()"},
		{"the interop mark", "a.js", `exports.__esModule = true; exports.a = 1`, "a"},
		{"broken", "a.js", `export { a, `, "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			names, stars := Parse(c.file, c.source).ExportedNames()
			var got []string
			for _, e := range names {
				s := e.Name
				if e.Function {
					s += "()"
				}
				if e.TypeOnly {
					s += "~"
				}
				if e.From != nil {
					s += "<" + e.From.Specifier
				}
				got = append(got, s)
			}
			for _, s := range stars {
				got = append(got, "*<"+s.Specifier)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%s\ngot  %s\nwant %s", c.source, strings.Join(got, " "), c.want)
			}
		})
	}
}

func TestComments_standBetweenTokens(t *testing.T) {
	t.Parallel()
	const source = "#! /usr/bin/env node // not\n// one\nconst a = \"// no\" /* two */, b = /\\/\\/ no/, c = `// no ${ /* three */ d } /* no */`;\n" +
		"f(/* four */); function g(/* five */) { /* six */ } const o = {/* seven */}; [/* eight */]; a / b; ; // nine\n/* ten"
	var got []string
	for _, c := range Parse("a.js", source).Comments() {
		if c.Text != source[c.Span.Start:c.Span.End] {
			t.Errorf("span and text differ: %q", c.Text)
		}
		got = append(got, c.Text)
	}
	want := "// one|/* two */|/* three */|/* four */|/* five */|/* six */|/* seven */|/* eight */|// nine|/* ten"
	if strings.Join(got, "|") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "|"), want)
	}
}
