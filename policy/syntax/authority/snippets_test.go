package authority_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
	"golang.org/x/tools/txtar"

	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax/authority"
)

// language are the names that every engine has, which the tables leave out.
var language = strings.Fields(`Object Function Array String Number Boolean Symbol Error RegExp Date Promise Map Set WeakMap WeakSet Proxy
	Reflect Math JSON isNaN isFinite parseInt parseFloat eval BigInt TypeError RangeError SyntaxError EvalError ReferenceError URIError
	AggregateError ArrayBuffer SharedArrayBuffer DataView Float32Array Float64Array Int8Array Int16Array Int32Array Uint8Array
	Uint8ClampedArray Uint16Array Uint32Array BigInt64Array BigUint64Array WeakRef FinalizationRegistry Atomics Iterator
	encodeURIComponent decodeURIComponent encodeURI decodeURI escape unescape`)

// verdict is the result as the tables have it: sorted, without places.
func verdict(r authority.Result) []string {
	var out []string
	for _, u := range r.Uses {
		if !slices.Contains(language, u.Name) {
			out = append(out, perhaps(u.Doubt)+u.Kind.String()+" "+u.Path)
		}
	}
	for _, u := range r.Unknowns {
		out = append(out, perhaps(u.Doubt)+"unknown "+u.Reason.String()+" "+u.Kind.String())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func perhaps(d authority.Doubt) string {
	if d == authority.NoDoubt {
		return ""
	}
	return "perhaps "
}

// forms are the ways in which a snippet can come to be part of a bundle.
var forms = []struct {
	name string
	make func(t *testing.T, source string) string
}{
	{"as it is", func(_ *testing.T, source string) string { return source }},
	{"nested", func(_ *testing.T, source string) string { return nested(source) }},
	{"renamed", func(t *testing.T, source string) string {
		return transform(t, nested(source), api.TransformOptions{MinifyIdentifiers: true})
	}},
	{"minified", func(t *testing.T, source string) string {
		return transform(t, nested(source), api.TransformOptions{MinifyIdentifiers: true, MinifySyntax: true, MinifyWhitespace: true})
	}},
	{"cjs", func(t *testing.T, source string) string {
		return bundle(t, "require('snippet')", source, api.BuildOptions{})
	}},
	{"cjs minified", func(t *testing.T, source string) string {
		return bundle(t, "require('snippet')", source, minified)
	}},
	{"esm", func(t *testing.T, source string) string {
		return bundle(t, "import 'snippet'", source+"\nexport {}", api.BuildOptions{})
	}},
	{"esm minified", func(t *testing.T, source string) string {
		return bundle(t, "import 'snippet'", source+"\nexport {}", minified)
	}},
}

var minified = api.BuildOptions{MinifyIdentifiers: true, MinifySyntax: true, MinifyWhitespace: true}

func nested(source string) string { return "(function () {\n" + source + "\n})();" }

func transform(t *testing.T, source string, options api.TransformOptions) string {
	t.Helper()
	out := api.Transform(source, options)
	if len(out.Errors) > 0 {
		t.Fatalf("esbuild: %s", out.Errors[0].Text)
	}
	return string(out.Code)
}

// bundle bundles an entry that takes in the snippet.
func bundle(t *testing.T, entry, source string, options api.BuildOptions) string {
	t.Helper()
	options.Bundle, options.Format, options.GlobalName = true, api.FormatIIFE, "__SANDBOXED_LIB__"
	options.Platform, options.Target = api.PlatformBrowser, api.ESNext
	options.Stdin = &api.StdinOptions{Contents: entry}
	options.TreeShaking = api.TreeShakingFalse
	options.LogLevel = api.LogLevelSilent
	options.Plugins = []api.Plugin{{Name: "snippet", Setup: func(build api.PluginBuild) {
		build.OnResolve(api.OnResolveOptions{Filter: "^snippet$"}, func(api.OnResolveArgs) (api.OnResolveResult, error) {
			return api.OnResolveResult{Path: "snippet", Namespace: "snippet"}, nil
		})
		build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: "snippet"}, func(api.OnLoadArgs) (api.OnLoadResult, error) {
			return api.OnLoadResult{Contents: &source, Loader: api.LoaderJS}, nil
		})
	}}}
	out := api.Build(options)
	if len(out.Errors) > 0 {
		t.Fatalf("esbuild: %s", out.Errors[0].Text)
	}
	return string(out.OutputFiles[0].Contents)
}

// snippet is one file of a table.
type snippet struct {
	name, source string
	want         []string
	except       []string
}

func snippets(t testing.TB, path string) []snippet {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []snippet
	for _, f := range txtar.Parse(data).Files {
		s := snippet{name: strings.TrimSuffix(f.Name, ".js"), source: string(f.Data)}
		for line := range strings.Lines(s.source) {
			line = strings.TrimSpace(line)
			if want, ok := strings.CutPrefix(line, "// want "); ok {
				s.want = append(s.want, want)
			}
			if except, ok := strings.CutPrefix(line, "// except "); ok {
				form, reason, _ := strings.Cut(except, ": ")
				if reason == "" {
					t.Errorf("%s: an exception without a reason", s.name)
				}
				s.except = append(s.except, form, form+" minified")
			}
		}
		slices.Sort(s.want)
		out = append(out, s)
	}
	return out
}

func TestInfer_findsTheAuthorityOfEverySnippetInEveryForm(t *testing.T) {
	t.Parallel()
	list := snippets(t, "testdata/snippets.txtar")
	if len(list) < 28 {
		t.Fatalf("only %d snippets", len(list))
	}
	for _, s := range list {
		if len(s.want) == 0 {
			t.Errorf("%s wants nothing", s.name)
		}
		inEveryForm(t, s)
	}
}

func TestInfer_findsNothingWhereThereIsNothing(t *testing.T) {
	t.Parallel()
	list := snippets(t, "testdata/misses.txtar")
	if len(list) < 30 {
		t.Fatalf("only %d snippets", len(list))
	}
	for _, s := range list {
		inEveryForm(t, s)
	}
}

func inEveryForm(t *testing.T, s snippet) {
	for _, form := range forms {
		if slices.Contains(s.except, form.name) {
			continue
		}
		t.Run(s.name+", "+form.name, func(t *testing.T) {
			t.Parallel()
			source := form.make(t, s.source)
			got := verdict(authority.Infer(syntax.Parse("a.js", source)))
			if !slices.Equal(got, s.want) {
				t.Errorf("%s\ngot  %q\nwant %q", source, got, s.want)
			}
		})
	}
}

// marks prints what is found in source order: ! written, ? asked for, & guarded,
// ^ while loading.
func marks(source string) string {
	type place struct {
		at   int
		text string
	}
	var out []place
	r := authority.Infer(syntax.Parse("a.js", source))
	flag := func(on bool, mark string) string {
		if on {
			return mark
		}
		return ""
	}
	for _, u := range r.Uses {
		if !slices.Contains(language, u.Name) {
			out = append(out, place{u.Span.Start, u.Path + [...]string{"", "!", "?"}[u.Kind] + flag(u.Guarded, "&") + flag(u.Loading, "^")})
		}
	}
	for _, u := range r.Unknowns {
		out = append(out, place{u.Span.Start, fmt.Sprintf("<%s>%s", u.Reason, flag(u.Loading, "^"))})
	}
	slices.SortStableFunc(out, func(a, b place) int { return cmp.Compare(a.at, b.at) })
	var words []string
	for _, p := range out {
		words = append(words, p.text)
	}
	return strings.Join(words, " ")
}

// What a module hands out is told where it does that, not where the bundler takes it to.
func TestInfer_namesThePlaceInTheModuleThatHandsItOut(t *testing.T) {
	t.Parallel()
	for entry, exported := range map[string]string{
		`import g from "snippet"; export const r = g`:                          `module.exports = self.valueOf()`,
		`import g from "snippet"; export default g`:                            `module.exports = self.valueOf()`,
		`export { default } from "snippet"`:                                    `module.exports = self.valueOf()`,
		`export * from "snippet"`:                                              `module.exports = self.valueOf()`,
		`import * as ns from "snippet"; const { a } = ns; export const b = ns`: `module.exports = self.valueOf()`,
		`module.exports = require("snippet")`:                                  `module.exports = self.valueOf()`,
		`import g from "snippet"; export const r = g()`:                        `module.exports = () => self.valueOf()`,
		`const r = self.valueOf(), s = r; export { s }`:                        ``,
	} {
		t.Run(entry, func(t *testing.T) {
			t.Parallel()
			source := bundle(t, entry, exported, api.BuildOptions{})
			r := authority.Infer(syntax.Parse("a.js", source))
			if !slices.ContainsFunc(r.Unknowns, func(u authority.Unknown) bool {
				return u.Reason == authority.Escapes && u.Detail == "self.valueOf()" && source[u.Span.Start:u.Span.End] == u.Detail
			}) {
				t.Errorf("%s\ngot %+v", source, r.Unknowns)
			}
		})
	}
}

// A sloppy function that is exported is one, whatever the library wraps itself in.
func TestInfer_findsExportedFunctionsInEveryWrapper(t *testing.T) {
	t.Parallel()
	handed := func(body string) string {
		return `(function (global, factory) { typeof exports === "object" && typeof module !== "undefined" ? factory(exports) : typeof define === "function" && define.amd ? define(["exports"], factory) : (global = typeof globalThis !== "undefined" ? globalThis : global || self, factory(global.lib = {})); })(this, (function (exports) { ` + body + ` }));`
	}
	returned := func(body string) string {
		return `(function (root, factory) { if (typeof define === "function" && define.amd) define([], factory); else if (typeof module === "object" && module.exports) module.exports = factory(); else root.lib = factory(); })(this, function () { ` + body + ` });`
	}
	for name, wrap := range map[string]string{
		"a member":                     `exports.a = FN;`,
		"the module":                   `module.exports = FN;`,
		"handed":                       handed(`exports.a = FN;`),
		"handed, declared":             handed(`var a = FN; exports.a = a;`),
		"handed, by a getter":          handed(`var a = FN; Object.defineProperty(exports, "a", { enumerable: true, get: function () { return a; } });`),
		"handed, defined":              handed(`Object.defineProperty(exports, "a", { value: FN });`),
		"handed, all defined":          handed(`Object.defineProperties(exports, { a: { value: FN } });`),
		"returned":                     returned(`return FN;`),
		"returned in a literal":        returned(`return { a: FN };`),
		"returned in a variable":       returned(`var api = {}; api.a = FN; return api;`),
		"returned in a frozen literal": returned(`var a = FN; return Object.freeze({ a });`),
		"returned with a default":      returned(`var api = typeof known === "object" ? known : { a: FN }; return api || {};`),
		"through a parameter":          `(function (e) { e.a = FN; })(exports);`,
		"through a module's parameter": `(function (m) { m.exports = { a: FN }; })(module);`,
		"through a variable":           `var o = module.exports; o.a = FN;`,
		"through two names":            `var o = exports = module.exports = {}; o.a = FN;`,
		"of an object":                 `exports.o = {}; exports.o.a = FN;`,
		"in an object":                 `exports.o = { a: FN };`,
		"as the default":               `exports.default = { a: FN };`,
		"assigned":                     `Object.assign(exports, { a: FN });`,
		"assigned from a variable":     `var o = { a: FN }; Object.assign(module.exports, o);`,
		"made by a function":           `module.exports = make(); function make() { var o = {}; o.a = FN; return o; }`,
		"of a function":                `function lib() {} lib.a = FN; module.exports = lib;`,
		"taken off an object":          `var inner = { a: FN }; (function (e) { e.b = inner.a; })(exports);`,
		"a member of a class":          `class A {} A.a = FN; module.exports = A;`,
	} {
		for form, options := range map[string]api.BuildOptions{"": {}, ", minified": minified} {
			t.Run(name+form, func(t *testing.T) {
				t.Parallel()
				for fn, want := range map[string]string{
					`function () { return this.fetch("/a"); }`:   "perhaps read fetch",
					`function () { return this; }`:               "perhaps unknown escapes read",
					`function (k) { return this[k]; }`:           "perhaps unknown computed key read",
					`function () { "use strict"; return this; }`: "",
					`() => 1`: "",
					`function () { return this.fetch; }.bind({})`: "",
				} {
					if strings.Contains(fn, "bind") && name == "taken off an object" {
						continue // only the member's name is followed
					}
					source := bundle(t, `module.exports = require("snippet")`, strings.ReplaceAll(wrap, "FN", fn), options)
					got := slices.DeleteFunc(verdict(authority.Infer(syntax.Parse("a.js", source))), func(v string) bool {
						return strings.Contains(v, " define") || strings.Contains(v, " known")
					})
					if got := strings.Join(got, ", "); got != want {
						t.Errorf("%s\ngot  %q\nwant %q", source, got, want)
					}
				}
			})
		}
	}
	for name, source := range map[string]string{
		"a method of a prototype": `function A() {} A.prototype.a = function () { return this.fetch; }; exports.A = A;`,
		"a prototype":             `exports.A = function () {}; exports.A.prototype.a = function () { return this; };`,
		"an object of its own":    `var o = { a: function () { return this; } }; exports.b = () => o.a() && 1;`,
		"what an instance has":    `exports.make = () => ({ a: function () { return this; } });`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := verdict(authority.Infer(syntax.Parse("a.js", bundle(t, `module.exports = require("snippet")`, source, api.BuildOptions{})))); len(got) > 0 {
				t.Errorf("got %q", got)
			}
		})
	}
}

// What a library exports goes to whoever loads it.
func TestInfer_findsWhatIsExported(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, entry, exported, want string }{
		{"the global object", `module.exports = globalThis`, ``, "read globalThis, unknown escapes read"},
		{"the global object of another module", `module.exports = require("snippet")`, `module.exports = self`, "read self, unknown escapes read"},
		{"a function that returns it", `const g = window; module.exports = () => g`, ``, "read window, unknown escapes read"},
		{"a function in a function", `exports.a = () => () => globalThis`, ``, "read globalThis, unknown escapes read"},
		{"a variable of an ES module", `export const g = globalThis`, ``, "read globalThis, unknown escapes read"},
		{"a member of what another module exports", `import g from "snippet"; export const a = g.fetch("/a")`, `module.exports = globalThis`, "read fetch"},
		{"a member through the namespace", `import * as ns from "snippet"; export const a = ns.fetch("/a")`, `module.exports = globalThis`, "read fetch"},
		{"everything of another module", `export * from "snippet"`, `module.exports = window`, "read window, unknown escapes read"},
		{"the default of another module", `export { default } from "snippet"`, `module.exports = globalThis`, "read globalThis, unknown escapes read"},
		{"Function", `exports.F = Function`, ``, "unknown code from text read"},
		{"eval", `export default eval`, ``, "unknown code from text read"},
		{"a function of its own", `module.exports = () => 1`, ``, ""},
		{"a function", `module.exports = function () { return this.fetch; }`, ``, "perhaps read fetch"},
		{"a function under a name", `exports.a = function () { return this; }`, ``, "perhaps unknown escapes read"},
		{"a method", `module.exports = { a(name) { return this[name]; } }`, ``, "perhaps unknown computed key read"},
		{"a method of another object", `const o = { a() { return this.fetch; } }; exports.a = o.a`, ``, "perhaps read fetch"},
		{"an object with methods", `exports.o = { x: 1, get: function () { return this.x + this.fetch; } }`, ``, "perhaps read fetch"},
		{"the constructor of what it exports", `exports.a = () => exports.a.constructor("return this")()`, ``, "unknown constructor walk read"},
		{"the constructor of a member of what it exports", `exports.o = { m() {} }; exports.a = (code) => exports.o.m.constructor(code)()`, ``, "unknown constructor walk read"},
		{"the constructor of the callee", `exports.a = () => arguments.callee.constructor("return fetch")()("x")`, ``, "read fetch"},
		{"an object", `import * as ns from "snippet"; export default { ns, a: 1 }`, `exports.b = 1`, ""},
	} {
		for form, options := range map[string]api.BuildOptions{"": {}, ", minified": minified} {
			t.Run(c.name+form, func(t *testing.T) {
				t.Parallel()
				source := bundle(t, c.entry, c.exported, options)
				if got := strings.Join(verdict(authority.Infer(syntax.Parse("a.js", source))), ", "); got != c.want {
					t.Errorf("%s\ngot  %q\nwant %q", source, got, c.want)
				}
			})
		}
	}
}
