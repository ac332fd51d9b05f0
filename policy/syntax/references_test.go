package syntax

import (
	"strings"
	"testing"
)

// marks prints free names with what is known of each use: ? typeof,
// = written.
func marks(refs []Reference) string {
	var out []string
	for _, r := range refs {
		s := r.Name
		if r.TypeOf {
			s += "?"
		}
		if r.Write {
			s += "="
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func TestUnresolved_findsFreeNamesOnly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, source, want string }{
		{"a plain global", `fetch("x")`, "fetch"},
		{"property names", `a.fetch; ({ fetch: 1 }); x?.y`, "a x"},
		{"computed keys", `({ [key]: 1 })[other]`, "key other"},
		{"shorthand", `({ fetch })`, "fetch"},
		{"a hoisted var", `use(x); { var x = 1 }`, "use"},
		{"a hoisted function", `f(); function f() {}`, ""},
		{"a name below its block", `{ let x; } x`, "x"},
		{"a shadowed name", `function f(fetch) { fetch() } fetch()`, "fetch"},
		{"destructured parameters", `(({ a, b: { c } = d, ...e }, [g]) => a + c + e + g + b)`, "d b"},
		{"a default that names a later parameter", `(a = b, b) => a`, ""},
		{"a default does not see the body", `(a = inner) => { var inner; return a }`, "inner"},
		{"catch", `try {} catch (e) { e } e`, "e"},
		{"catch without a name", `try {} catch { e }`, "e"},
		{"a function expression's name", `(function me() { me() }); me()`, "me"},
		{"a class expression's name", `(class Me { m() { Me } }); Me`, "Me"},
		{"class heritage and fields", `class A extends B { x = y; static { z } #p = 1; q() { this.#p } }`, "B y z"},
		{"arguments", `function f() { arguments } (() => arguments)`, "arguments"},
		{"arguments through an arrow", `function f() { () => arguments }`, ""},
		{"labels", `outer: for (;;) { break outer }`, ""},
		{"imports and exports", `import a, { b as c } from "x"; import * as d from "y"; export { a, c as z, d }; export { q } from "z"; b`, "b"},
		{"export of a free name", `export { missing }`, "missing"},
		{"new.target and import.meta", `function f() { new.target } import.meta.url`, ""},
		{"for loops", `for (const a of b) a; for (c in d) c; for (let i = 0; i < n; i++) {}`, "b c= d c n"},
		{"commonjs names are the host's", `module.exports = require("x"); exports.y = 1`, "module require exports"},
		{"commonjs names inside functions", `(function (exports) { exports.a = 1; module })`, "module"},
		{"templates and tags", "tag`a${b}`", "tag b"},
		{"a function in a block, seen outside", `if (a) { function f() {} } f()`, "a"},
		{"a function in a block of a module", `if (1) { function f() {} } f(); export {}`, "f"},
		{"undefined and globalThis", `undefined; globalThis.x`, "undefined globalThis"},
		{"eval and with", `eval("x"); with (o) { p }`, "eval o p"},
		{"getters and setters", `({ get a() { return b }, set a(v) { v; c } })`, "b c"},
		{"a class used before", `new A(); class A {}`, ""},
		{"switch scope", `switch (a) { case b: let c; c; default: c } c`, "a b c"},
		{"jsdoc", `/** @type {Foo} @param {Bar} x */ function f(x) {} /** @typedef {Baz} T */`, ""},
		{"unicode escapes", `f\u0065tch()`, "fetch"},
		{"regexp and string contents", `/fetch/; "fetch"`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := Parse("a.js", c.source)
			if len(f.Diagnostics) != 0 && c.name != "eval and with" {
				t.Fatalf("does not parse: %v", f.Diagnostics)
			}
			if got := marks(f.Unresolved()); got != c.want {
				t.Errorf("%s\ngot  %q\nwant %q", c.source, got, c.want)
			}
			for _, r := range f.Unresolved() {
				if s := c.source[r.Span.Start:r.Span.End]; s != r.Name && !strings.Contains(s, `\u`) {
					t.Errorf("span of %s covers %q", r.Name, s)
				}
			}
		})
	}
}

func TestUnresolved_leavesTypesOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ source, want string }{
		{`let x: Foo<Bar> = y as Baz; type T = typeof z; interface I extends J { a: K }`, "y"},
		{`class A<T> extends B<C> implements D { m(this: A, x?: E): F { return g } }`, "B g"},
		{`declare const fetch: any; declare function f(): void; f(fetch)`, ""},
		{`enum E { A = 1, B = A | c } namespace N { export const q = 1; q } E; N; q`, "c q"},
		{`import type { X } from "x"; import y = require("y"); import z = N.M; y; z`, "N"},
		{`@dec class A { @dec2() m(@dec3 x) {} }`, "dec dec2 dec3"},
		{`function f(x): asserts x is Foo { return <Bar>x! }`, ""},
	} {
		if got := marks(Parse("a.ts", c.source).Unresolved()); got != c.want {
			t.Errorf("%s\ngot  %q\nwant %q", c.source, got, c.want)
		}
	}
	if got := marks(Parse("a.jsx", `const e = <div a={b}><Foo.Bar c="d" />{e}<Baz></Baz></div>`).Unresolved()); got != "b Foo Baz" {
		t.Errorf("jsx: got %q", got)
	}
}

func TestUnresolved_tellsHowANameIsUsed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ source, want string }{
		{`typeof fetch; typeof (fetch); fetch`, "fetch? fetch? fetch"},
		{`a = 1; b += 1; c++; delete d; [e, ...f] = [g]; ({ h, i: j, ...k } = l); (m) = 1`, "a= b= c= d= e= f= g h= j= k= l m="},
		{`for (a of b); for (c in d);`, "a= b c= d"},
		{`a.b = 1; a[c] = 2`, "a a c"},
	} {
		if got := marks(Parse("a.js", c.source).Unresolved()); got != c.want {
			t.Errorf("%s\ngot  %q\nwant %q", c.source, got, c.want)
		}
	}
}

func TestUnresolved_isSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	f := Parse("a.js", strings.Repeat("a(b => c(d));", 200))
	results := make(chan int, 8)
	for range cap(results) {
		go func() { results <- len(f.Unresolved()) }()
	}
	for range cap(results) {
		if got := <-results; got != 600 {
			t.Errorf("got %d uses, want 600", got)
		}
	}
}
