package authority_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax/authority"
)

func TestInfer_tellsWhatIsReachedWhileLoading(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, source, want string }{
		{"the top level", `fetch(1)`, "fetch^"},
		{"a function that is only declared", `function f() { fetch(1) }`, "fetch"},
		{"a function called at once", `(function () { fetch(1) })(); (() => print(1))()`, "fetch^ print^"},
		{"a function called by name", `f(); function f() { g() } const g = () => fetch(1)`, "fetch^"},
		{"a function called under a condition", `function f() { fetch(1) } if (x) f()`, "fetch x^"},
		{"a function called in a loop", `function f() { fetch(1) } for (const x of list) f()`, "fetch list^"},
		{"a function called from a function that nobody calls", `function f() { fetch(1) } function g() { f() }`, "fetch"},
		{"a function that goes elsewhere", `later(() => fetch(1))`, "later^ fetch"},
		{"the factory of a universal module", `(function (f) { typeof define == "function" ? define(f) : f() })(function () { fetch(1) })`, "define?^ define&^ fetch^"},
		{"a constructor", `class A { constructor() { fetch(1) } go() { print(1) } } new A()`, "fetch^ print"},
		{"a constructor of a base class", `class A { x = fetch(1) } class B extends A {} new B()`, "fetch^"},
		{"a class that is only declared", `class A { x = fetch(1); static y = print(1); static { alert(1) } [name]() {} }`, "fetch print^ alert^ name^"},
		{"an instance after a method", `class A { go() {} x = fetch(1) }`, "fetch"},
		{"a generator", `function* f() { fetch(1) } f()`, "fetch"},
		{"an asynchronous function", `async function f() { fetch(1) } f()`, "fetch^"},
		{"one of two functions", `function f() { fetch(1) } function g() { print(1) } (x ? f : g)()`, "fetch print x^"},
		{"called with a receiver", `(function () { fetch(1) }).call(null)`, "fetch^"},
		{"bound only", `(function () { fetch(1) }).bind(null)`, "fetch"},
		{"a branch for an argument that nobody gives", `function f(w) { w = w == null ? window : pick(w, fetch); w.print() } f()`, "pick fetch print^"},
		{"a branch for an argument that is given", `function f(w) { w == null ? print(1) : alert(w) } f(x)`, "print^ alert^ x&^ x^"},
		{"an Unknown", `window[Math.random()]; () => window[Math.random()]`, "window^ <computed key>^ window <computed key>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := marks(c.source); got != c.want {
				t.Errorf("%s\ngot  %q\nwant %q", c.source, got, c.want)
			}
		})
	}
}

func TestInfer_tellsWhichCodeIsReached(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, source, want string }{
		{"a const that is asked before it is set throws", `late(); const is = true; function late() { if (!is) fetch(1) }`, ""},
		{"a var that is asked before it is set is undefined", `late(); var is = true; function late() { if (!is) fetch(1) }`, "fetch^"},
		{"a var behind its declaration", `var is = true; late(); function late() { if (!is) fetch(1) }`, ""},
		{"a var in a loop", `for (var i = 0; i < 2; i++) { is || fetch(1); var is = true }`, "fetch^"},
		{"a function of a case that is not met", `switch (1) { case 2: function late() { fetch(1) } case 1: late() }`, "fetch"},
		{"a case whose text is computed", `switch (1) { case x: fetch(1); break; case 1: print(1) }`, "x^ fetch^ print^"},
		{"a default behind the case that is met", `switch (1) { default: fetch(1); case 1: print(1) }`, "print^"},
		{"a default that is met", `switch (1) { case 2: print(1); default: fetch(1) }`, "fetch^"},
		{"a member of an object that goes elsewhere", `const o = { dev: false }; f(o); o.dev && fetch(1)`, "f^ fetch^"},
		{"a member that an own method may change", `const o = { dev: false, set() { this.dev = true } }; o.dev && fetch(1)`, "fetch^"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := marks(c.source); got != c.want {
				t.Errorf("%s\ngot  %q\nwant %q", c.source, got, c.want)
			}
		})
	}
}

func TestInfer_tellsWhatIsGuarded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ source, want string }{
		{`() => { fetch(1) }`, "fetch"},
		{`() => { typeof fetch !== "undefined" && fetch(1) }`, "fetch? fetch&"},
		{`() => { if (typeof fetch === "function") fetch(1); else fetch(2) }`, "fetch? fetch& fetch"},
		{`() => { if (typeof fetch > "u") return; fetch(1) }`, "fetch? fetch&"},
		{`() => { fetch(0); if (typeof fetch === "undefined") { throw 1 } fetch(1) }`, "fetch fetch? fetch&"},
		{`() => { if (window.fetch) fetch(1) }`, "fetch? fetch&"},
		{`() => { if ("fetch" in window) window.fetch(1) }`, "fetch? fetch&"},
		{`() => { window.fetch ? window.fetch(1) : window.fetch(2) }`, "fetch? fetch& fetch"},
		{`() => { window.fetch != null && window.fetch(1) }`, "fetch? fetch&"},
		{`() => { const w = window; w.fetch && w.fetch(1) }`, "fetch? fetch&"},
		{`() => { const has = typeof fetch === "function"; if (has) fetch(1) }`, "fetch? fetch&"},
		{`() => { if (typeof window !== "undefined") window.fetch(1) }`, "window? fetch&"},
		{`() => { if (typeof globalThis !== "undefined") globalThis.fetch(1) }`, "globalThis? fetch"},
		{`() => { if (typeof navigator !== "undefined") navigator.clipboard.x(1) }`, "navigator? navigator.clipboard.x&"},
		{`() => { navigator.clipboard && navigator.clipboard.x(1) }`, "navigator.clipboard navigator.clipboard.x&"},
		{`() => { typeof print !== "undefined" && fetch(1) }`, "print? fetch"},
		{`() => { try { fetch(1) } catch {} }`, "fetch&"},
		{`() => { try { fetch(1) } catch (e) { throw e } }`, "fetch"},
		{`() => { try { fetch(1) } finally {} }`, "fetch"},
		{`() => { try { later(() => fetch(1)) } catch {} }`, "later& fetch"},
		{`() => { const f = window.fetch || other; f(1) }`, "fetch& other"},
		{`() => { window.navigator?.clipboard }`, "navigator.clipboard&"},
		{`() => { const f = typeof fetch === "function" ? fetch : null; return f(1) }`, "fetch? fetch&"},
		{`() => { const f = window.fetch; if (f) f(1) }`, "fetch&"},
	} {
		if got := marks(c.source); got != c.want {
			t.Errorf("%s\ngot  %q\nwant %q", c.source, got, c.want)
		}
	}
}

// A name that does not exist can be given a value in code that is not strict, and in no
// other.
func TestInfer_tellsWhatIsAssignedInStrictCode(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		`"use strict"; onmessage = f`:                                                             "strict loading",
		`"use strict"; exports.a = () => { onmessage = f }`:                                       "strict",
		`exports.a = function () { "use strict"; onmessage = f }`:                                 "strict",
		`exports.a = function () { "use strict"; return () => { onmessage = f } }`:                "strict",
		`class A { go() { onmessage = f } }`:                                                      "strict",
		`export const a = () => { onmessage = f }`:                                                "strict",
		`"use strict"; exports.a = () => { [onmessage] = f() }`:                                   "strict",
		`"use strict"; exports.a = () => { ({ x: onmessage } = f()) }`:                            "strict",
		`"use strict"; exports.a = () => { for (onmessage of f()) {} }`:                           "strict",
		`exports.a = () => (0, eval)("'use strict'; onmessage = f")`:                              "strict",
		`exports.a = () => Function("'use strict'; onmessage = f")`:                               "strict",
		`"use strict"; exports.a = () => { try { onmessage = f } catch {} }`:                      "strict guarded",
		`"use strict"; exports.a = () => { typeof onmessage !== "undefined" && (onmessage = f) }`: "strict guarded",
		`"use strict"; exports.a = () => { if ("onmessage" in self) onmessage = f }`:              "strict guarded",
		`exports.a = () => { onmessage = f }`:                                                     "",
		`exports.a = () => { try { onmessage = f } catch {} }`:                                    "",
		`"use strict"; exports.a = () => { self.onmessage = f }`:                                  "",
		`"use strict"; exports.a = () => { onmessage.x = f }`:                                     "",
		`"use strict"; exports.a = () => (0, eval)("onmessage = f")`:                              "",
		`"use strict"; exports.a = Function("onmessage = f")`:                                     "",
		`exports.a = () => { onmessage = f; (function () { "use strict"; })() }`:                  "",
	} {
		got := "none"
		for _, u := range authority.Infer(syntax.Parse("a.js", source)).Uses {
			if u.Name != "onmessage" || u.Kind != authority.Write {
				continue
			}
			var words []string
			for word, on := range map[string]bool{"strict": u.Strict, "guarded": u.Guarded, "loading": u.Loading} {
				if on && (u.Strict || word != "loading") {
					words = append(words, word)
				}
			}
			slices.SortFunc(words, func(a, b string) int { return strings.Compare(b, a) })
			got = strings.Join(words, " ")
		}
		if got != want {
			t.Errorf("%s\ngot  %q\nwant %q", source, got, want)
		}
	}
}

// What a script does with a member counts, not with the object: a host may give the object
// and not that member.
func TestInfer_tellsWhetherTheMemberWasAskedFor(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]bool{ // whether every use does without crypto.subtle
		`() => crypto.subtle.digest(1)`:                                                           false,
		`() => { typeof crypto !== "undefined" && crypto.subtle.digest(1) }`:                      false,
		`() => { const c = globalThis.crypto || globalThis.msCrypto; return c.subtle.digest(1) }`: false,
		`() => { const c = globalThis.crypto; if (c) c.subtle.digest(1) }`:                        false,
		`() => globalThis.crypto?.subtle.digest(1)`:                                               false,
		`() => crypto.subtle.digest?.(1)`:                                                         false,
		`() => { const { subtle } = crypto; return subtle.digest(1) }`:                            false,
		`() => { const { crypto: { subtle } } = globalThis; return subtle.digest(1) }`:            false,
		`() => { const s = crypto && crypto.subtle; return s.digest(1) }`:                         false,
		`() => { if (crypto.subtle.digest) f() }`:                                                 false,
		`() => { if (crypto.getRandomValues) crypto.subtle.digest(1) }`:                           false,
		`() => { if ("crypto" in globalThis) crypto.subtle.digest(1) }`:                           false,
		`() => f(crypto.subtle)`:                                                                  false,
		`() => { if (crypto.subtle) f() }`:                                                        true,
		`() => typeof crypto.subtle`:                                                              true,
		`() => !!(crypto && crypto.subtle)`:                                                       true,
		`() => { crypto.subtle && crypto.subtle.digest(1) }`:                                      true,
		`() => { if (!crypto.subtle) return; crypto.subtle.digest(1) }`:                           true,
		`() => { if (typeof crypto < "u" && crypto.subtle) return crypto.subtle.digest(1) }`:      true,
		`() => { const has = !!crypto.subtle; if (has) crypto.subtle.digest(1) }`:                 true,
		`() => { const s = crypto.subtle; if (s) s.digest(1) }`:                                   true,
		`() => { const s = crypto.subtle || crypto.webkitSubtle || f; s.digest(1) }`:              true,
		`() => { const { subtle = f } = crypto; subtle.digest(1) }`:                               true,
		`() => crypto.subtle?.digest(1)`:                                                          true,
		`() => { if ("subtle" in crypto) crypto.subtle.digest(1) }`:                               true,
		`() => { try { return crypto.subtle.digest(1) } catch { return f() } }`:                   true,
		`() => { const s = crypto.subtle; }`:                                                      true,
	} {
		without, found := true, false
		for _, u := range authority.Infer(syntax.Parse("a.js", source)).Uses {
			if strings.HasPrefix(u.Path+".", "crypto.subtle.") {
				found = true
				without = without && u.MemberGuarded
			} else if u.MemberGuarded && !strings.Contains(u.Path, ".") {
				t.Errorf("%s: %s has no member", source, u.Path)
			}
		}
		if !found || without != want {
			t.Errorf("%s: found %v, does without %v, want %v", source, found, without, want)
		}
	}
}

func TestInfer_tellsWhetherTheRootWasAskedFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		source string
		want   bool // of the last use with a root
	}{
		{`window.fetch(1)`, false},
		{`const w = window; w.fetch(1)`, false},
		{`const w = globalThis; w.fetch(1)`, true},
		{`typeof window !== "undefined" && window.fetch(1)`, true},
		{`typeof window !== "undefined" && typeof window.fetch`, true},
		{`typeof print !== "undefined" && window.fetch(1)`, false},
		{`const root = typeof self === "object" && self || typeof global === "object" && global; root.fetch(1)`, true},
		{`const root = typeof self !== "undefined" ? self : this; (() => root.fetch(1))()`, true},
		{`function f(w) { w.fetch(1) } f(self); typeof self === "object" && f(self)`, false},
		{`document.defaultView.fetch(1)`, false},
		{`document.defaultView && document.defaultView.fetch(1)`, false},
		{`typeof document === "object" && document.defaultView.fetch(1)`, true},
		{`try { window.fetch(1) } catch {}`, true},
	} {
		got := false
		for _, u := range authority.Infer(syntax.Parse("a.js", c.source)).Uses {
			if u.Root != "" {
				got = u.RootGuarded
			}
		}
		if got != c.want {
			t.Errorf("%s\ngot %v", c.source, got)
		}
	}
}

func TestInfer_saysWhatTheScriptDefines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ source, want string }{
		{`foo = 1; foo + 1`, "foo"},
		{`window.foo = 1; window.foo + 1`, "foo"},
		{`window.foo + 1; window.foo = 1`, ""},
		{`if (x) window.foo = 1`, ""},
		{`(function () { globalThis.foo = 1 })(); foo`, "foo"},
		{`function f() { foo = 1 }`, ""},
		{`window.foo ||= {}; window.foo.x`, "foo"},
		{`window.foo ?? (window.foo = {}); window.foo.x`, "foo"},
		{`delete window.foo`, ""},
		{`foo.bar = 1`, ""},
		{`var foo = 1`, ""},
		{`foo++`, ""},
	} {
		if got := strings.Join(authority.Infer(syntax.Parse("a.js", c.source)).Defines, " "); got != c.want {
			t.Errorf("%s\ngot  %q\nwant %q", c.source, got, c.want)
		}
	}
}

func TestInfer_givesPlaceRootAndDetail(t *testing.T) {
	t.Parallel()
	const source = "const w = window;\nw.navigator.clipboard.readText(w[Math.random()])"
	r := authority.Infer(syntax.Parse("a.js", source))
	i := slices.IndexFunc(r.Uses, func(u authority.Use) bool { return u.Name == "navigator" })
	if i < 0 || len(r.Unknowns) != 1 {
		t.Fatalf("got %+v", r)
	}
	if u := r.Uses[i]; source[u.Span.Start:u.Span.End] != "w.navigator.clipboard.readText" || u.Root != "window" || u.Kind != authority.Read {
		t.Errorf("got %+v", u)
	}
	if u := r.Unknowns[0]; u.Detail != "w[Math.random()]" || source[u.Span.Start:u.Span.End] != u.Detail {
		t.Errorf("got %+v", u)
	}
}

func TestInfer_keepsOddKeysInOnePart(t *testing.T) {
	t.Parallel()
	r := authority.Infer(syntax.Parse("a.js", `window["a.b"].c; window[""]()`))
	if len(r.Uses) != 2 || r.Uses[0].Name != `["a\u002eb"]` || r.Uses[0].Path != r.Uses[0].Name+".c" || r.Uses[1].Name != `[""]` {
		t.Errorf("got %+v", r.Uses)
	}
}

func TestInfer_saysSoWhenAScriptCannotBeRead(t *testing.T) {
	t.Parallel()
	r := authority.Infer(syntax.Parse("a.js", strings.Repeat("(", 20_000)))
	if len(r.Unknowns) != 1 {
		t.Errorf("got %+v", r)
	}
}

// A time that grows with the square of the size would take minutes here.
func TestInfer_followsLongChainsOfMembers(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, "o.x%d=o.x%d;", i+1, i)
	}
	b.WriteString("exports.a = function () { return this.fetch }; o.x0 = exports.a; (0, o.x20000)()")
	if r := authority.Infer(syntax.Parse("a.js", b.String())); len(r.Uses)+len(r.Unknowns) == 0 {
		t.Error("nothing is found at the end of the chain")
	}
}

func TestInfer_givesTheSameEveryTime(t *testing.T) {
	t.Parallel()
	var source strings.Builder
	for _, s := range snippets(t, "testdata/snippets.txtar") {
		source.WriteString(nested(s.source) + "\n")
	}
	file := syntax.Parse("a.js", source.String())
	first := authority.Infer(file)
	for range 10 {
		again := authority.Infer(file)
		if !slices.Equal(again.Uses, first.Uses) || !slices.Equal(again.Unknowns, first.Unknowns) {
			t.Fatal("two runs differ")
		}
	}
}

func FuzzInfer(f *testing.F) {
	for _, path := range []string{"testdata/snippets.txtar", "testdata/misses.txtar"} {
		for _, s := range snippets(f, path) {
			f.Add(s.source)
		}
	}
	for _, seed := range []string{
		"", "window", "window[", "({...window", "const {a: {b = window} = window, ...c} = this", "with (window) {", "a = a || window; a = a.b = a[a]",
		"function f(x) { return f(f(x)) } f(f(window))", "x => x(x)(window)", "class A extends window { static [window] = this }",
		"for (window in window) of", "import(window)", "window`${window}`", "@window class A {}", "new new Function()()", "\xff\xfewindow",
		"Function('return Function(\"return this\")()')()", "eval('eval(\"this\")')", "(a, b = window, {c} = b) => arguments[c]",
		"var z = {}; var h = (t, {y}) => { for (var n in z) t[n] = 1 }; var o = {}; h(o, { a: () => globalThis[K] }); var K = 'fetch'",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		r := authority.Infer(syntax.Parse("a.js", source))
		inside := func(start, end int) {
			if start < 0 || start > end || end > len(source) {
				t.Errorf("span %d to %d outside the text of %d bytes", start, end, len(source))
			}
		}
		for i, u := range r.Uses {
			inside(u.Span.Start, u.Span.End)
			if u.Name == "" || !strings.HasPrefix(u.Path, u.Name) {
				t.Errorf("name %q of path %q", u.Name, u.Path)
			}
			if i > 0 && r.Uses[i-1].Span.Start > u.Span.Start {
				t.Error("uses out of order")
			}
		}
		for i, u := range r.Unknowns {
			inside(u.Span.Start, u.Span.End)
			if strings.HasPrefix(u.Detail, "the inference stopped") {
				t.Error(u.Detail)
			}
			if i > 0 && r.Unknowns[i-1].Span.Start > u.Span.Start {
				t.Error("unknowns out of order")
			}
		}
	})
}

func TestInfer_tellsWhichUsesAreGuarded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ source, want string }{
		{`typeof fetch !== "undefined" && fetch()`, "fetch? fetch&"},
		{`typeof fetch === "undefined" || fetch()`, "fetch? fetch&"},
		{`typeof fetch === "undefined" && fetch()`, "fetch? fetch"},
		{`typeof fetch == "function" ? fetch : other`, "fetch? fetch& other"},
		{`"undefined" == typeof fetch ? 1 : fetch`, "fetch? fetch&"},
		{`typeof fetch < "u" && fetch; typeof fetch > "u" || fetch; "u" > typeof fetch && fetch`, "fetch? fetch& fetch? fetch& fetch? fetch&"},
		{`if (a && typeof fetch !== "undefined") fetch(); else fetch()`, "a fetch? fetch& fetch"},
		{`if (a || typeof fetch !== "undefined") fetch()`, "a fetch? fetch"},
		{`if (!(typeof fetch !== "undefined")) fetch(); else fetch()`, "fetch? fetch fetch&"},
		{`typeof a !== "undefined" && b`, "a? b"},
		{`if (typeof x === "object") { function f() { return () => x.y } }`, "x? x&"},
	} {
		var got []string
		for _, u := range authority.Infer(syntax.Parse("a.js", c.source)).Uses {
			mark := u.Name
			switch {
			case u.Kind == authority.Presence:
				mark += "?"
			case u.Guarded:
				mark += "&"
			}
			got = append(got, mark)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s\ngot  %q\nwant %q", c.source, got, c.want)
		}
	}
}
