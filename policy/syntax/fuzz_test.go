package syntax

import (
	"testing"

	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// FuzzParse holds the promises that hold for any text: no panic, spans inside the
// text, children inside their parents.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "export default { \"lodash\": { permissions: [\"Intl\", ", "module.exports = { ...a, [b]: 1n, c() {}, get d() {} }",
		"const a = b, b = a; export default defineConfig(a)", "export { a as default, type B } from 'c'", "export * as a from",
		"/** @typedef {import('x').Y} Z */ /** @type {Z} */ (a)", "for (const [a, {b = c}] of d) { function e() {} } e()",
		"<a b={c}>{...d}</a>", "`a${`b${c}`}`", "/* x", "//", "\"\\u{110000}", "class A { #b = #c in this; static { await } }",
		"@a export default class { accessor b }", "import a, { default as b } from 'c' with { d: 'e' }", "0x, 1_, 1e, .5.5, 08n",
		"typeof a < 'u' && (a, b) ? c : d", "\xff\xfe\x00{", "\ufeffexport default {}", "a\u2028b\r\nc", "enum A { B = C } namespace D.E { export = F }",
		"exports.a = exports.b = c, module.exports.d = e", "export default (", "export default ((x as y)!)", "({ a: }, [ , , ], f(,))",
	} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, content string, typescript bool) {
		name := "a.js"
		if typescript {
			name = "a.ts"
		}
		file := Parse(name, content)
		inside := func(what string, s text.Span) {
			if s.Start < 0 || s.Start > s.End || s.End > len(content) {
				t.Errorf("%s: span %v outside the text of %d bytes", what, s, len(content))
			}
		}
		for _, d := range file.Diagnostics {
			inside("diagnostic", d.Span)
		}
		if n, _, span := file.Export(); n != nil {
			inside("export", span)
			nested(t, file, n, n.Whole)
		}
		for _, i := range file.Imports() {
			inside("import", i.Span)
		}
		names, stars := file.ExportedNames()
		for _, e := range names {
			inside("exported name", e.Span)
		}
		for _, s := range stars {
			inside("export *", s.Span)
		}
		for _, r := range file.Unresolved() {
			inside("reference", r.Span)
		}
		end := 0
		for _, c := range file.Comments() {
			inside("comment", c.Span)
			if c.Span.Start < end {
				t.Errorf("comments overlap at %d", c.Span.Start)
			}
			end = c.Span.End
		}
	})
}

func nested(t *testing.T, file *File, n *Node, parent text.Span) {
	within := func(what string, s text.Span) {
		if s.Start < parent.Start || s.End > parent.End || s.Start > s.End {
			t.Errorf("%s: span %v outside its parent's %v", what, s, parent)
		}
	}
	within(n.Kind.String(), n.Span)
	within("whole "+n.Kind.String(), n.Whole)
	if len(file.Diagnostics) == 0 && n.Kind != KindMissing && (n.Whole.Start > n.Span.Start || n.Whole.End < n.Span.End) {
		t.Errorf("%s: %v is not inside its whole %v", n.Kind, n.Span, n.Whole)
	}
	parent = n.Span
	file.Resolve(n)
	for _, p := range n.Properties {
		within("member", p.Span)
		within("key", p.KeySpan)
		within("value", p.Value.Span)
		nested(t, file, p.Value, p.Span)
	}
	for _, list := range [][]*Node{n.Elements, n.Args, {n.Callee, n.Operand}} {
		for _, child := range list {
			if child != nil {
				nested(t, file, child, n.Span)
			}
		}
	}
}
