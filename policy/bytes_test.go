package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

func TestRead_oddBytes(t *testing.T) {
	const body = `export default { "lodash": { permissions: ["Intl"] } };`
	tests := map[string]struct {
		content string
		at      text.Position // of the permission
		codes   []finding.Code
	}{
		"plain":                      {body, text.Position{Line: 0, Character: 43}, nil},
		"byte order mark":            {"\ufeff" + body, text.Position{Line: 0, Character: 44}, nil},
		"byte order mark and CRLF":   {"\ufeff// a\r\n\r\n" + body + "\r\n", text.Position{Line: 2, Character: 43}, nil},
		"CRLF":                       {"// a\r\n" + strings.ReplaceAll(body, "{ ", "{\r\n"), text.Position{Line: 3, Character: 14}, nil},
		"lone CR":                    {"// a\r" + body, text.Position{Line: 1, Character: 43}, nil},
		"emoji before":               {"/* \U0001F389 */ " + body, text.Position{Line: 0, Character: 52}, nil},
		"emoji in a key":             {strings.Replace(body, `"lodash"`, "\"\U0001F389\": {permissions: []}, \"lodash\"", 1), text.Position{Line: 0, Character: 68}, nil},
		"combining marks":            {"/* e\u0301 */ " + body, text.Position{Line: 0, Character: 52}, nil},
		"line separator":             {"/* \u2028 */ " + body, text.Position{Line: 0, Character: 51}, nil},
		"hashbang":                   {"#!/usr/bin/env node\n" + body, text.Position{Line: 1, Character: 43}, nil},
		"no-break spaces":            {strings.ReplaceAll(body, " ", "\u00a0"), text.Position{Line: 0, Character: 43}, nil},
		"an escape in a key":         {strings.Replace(body, "lodash", `lo\u0064ash`, 1), text.Position{Line: 0, Character: 48}, nil},
		"NUL in a comment":           {"/* \x00 */ " + body, text.Position{Line: 0, Character: 51}, nil},
		"invalid UTF-8 in a comment": {"/* \xff\xfe */ " + body, text.Position{Line: 0, Character: 52}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := read(t, tt.content, nil)
			lib, ok := p.Library("lodash")
			if !ok || len(lib.Permissions) != 1 {
				t.Fatalf("libraries %+v, findings %+v", p.Libraries, p.Findings)
			}
			span := lib.Permissions[0].Span
			if lib.Permissions[0].Name != "Intl" || tt.content[span.Start:span.End] != `"Intl"` {
				t.Errorf("permission %q at %q", lib.Permissions[0].Name, tt.content[span.Start:span.End])
			}
			if at := p.Mapper.Position(span.Start); at != tt.at {
				t.Errorf("at %+v, want %+v", at, tt.at)
			}
			if len(p.Findings) > 0 || !p.Complete {
				t.Errorf("complete %v, findings %+v", p.Complete, p.Findings)
			}
		})
	}
}

func TestRead_filesWithoutAPolicy(t *testing.T) {
	for name, tt := range map[string]struct {
		content string
		code    finding.Code
	}{
		"empty":                    {"", finding.PolicyNotAnObject},
		"only a byte order mark":   {"\ufeff", finding.PolicyNotAnObject},
		"only white space":         {" \t\r\n\n", finding.PolicyNotAnObject},
		"only a comment":           {"// to do", finding.PolicyNotAnObject},
		"only a comment, unclosed": {"/* to do", finding.PolicyUnreadable},
		"only NUL bytes":           {"\x00\x00\x00", finding.PolicyUnreadable},
		"NUL between the tokens":   {"export default {\x00 lodash: { permissions: [] } }", finding.PolicyUnreadable},
		"not a text":               {"\x7fELF\x02\x01\x01\x00\xff\xfe", finding.PolicyUnreadable},
		"UTF-16":                   {"\xff\xfee\x00x\x00p\x00o\x00r\x00t\x00", finding.PolicyUnreadable},
		"nested beyond any reader": {"export default " + strings.Repeat("[", 100_000), finding.PolicyUnreadable},
		"keys nested as deep":      {"export default " + strings.Repeat("{a:", 100_000), finding.PolicyUnreadable},
	} {
		t.Run(name, func(t *testing.T) {
			p := read(t, tt.content, nil)
			if !slices.ContainsFunc(p.Findings, func(f finding.Finding) bool { return f.Code == tt.code && f.Severity == finding.Error }) {
				t.Errorf("findings %+v", p.Findings)
			}
		})
	}
}

// large returns a policy of more than five million bytes with n libraries, each of
// which a fault can be put into.
func large(n int, entry string) string {
	var b strings.Builder
	b.WriteString("export default {\n")
	for i := range n {
		fmt.Fprintf(&b, entry, i, strings.Repeat("x", 5_000_000/n))
	}
	b.WriteString("};\n")
	return b.String()
}

func TestRead_aLargePolicyIsReadToItsEnd(t *testing.T) {
	const n = 20_000
	for name, tt := range map[string]struct {
		content  string
		findings int
	}{
		"without faults":                     {large(n, "  \"lib%d\": { permissions: [\"Intl\", { name: \"fetch\", reason: \"%s\" }] },\n"), 0},
		"with one in every part":             {large(n, "  \"lib%d\": { permissions: [\"Intl\", { nam: \"fetch\", reason: \"%s\" }] },\n"), n},
		"in one line":                        {large(n, "  \"lib%d\": { permissions: [\"Intl\", { name: \"fetch\", reason: \"%s\" }] },"), 0},
		"with one in every part of one line": {large(n, "  \"lib%d\": { permissions: [\"Intl\", { nam: \"fetch\", reason: \"%s\" }] },"), n},
	} {
		t.Run(name, func(t *testing.T) {
			p := read(t, tt.content, nil)
			if len(p.Libraries) != n || len(p.Findings) != tt.findings {
				t.Fatalf("%d libraries, %d findings of %d bytes", len(p.Libraries), len(p.Findings), len(tt.content))
			}
			last := p.Libraries[n-1]
			if last.Name != fmt.Sprintf("lib%d", n-1) || last.Permissions[0].Name != "Intl" || tt.content[last.KeySpan.Start:last.KeySpan.End] != fmt.Sprintf("%q", last.Name) {
				t.Errorf("the last library is %+v", last)
			}
		})
	}
}

func TestRead_aLargeEvaluatedPolicyIsReadToItsEnd(t *testing.T) {
	const n = 20_000
	content := "import base from './base.js';\nexport default { ...base };\n"
	value := &Value{Kind: Object}
	for i := range n {
		value.Props = append(value.Props, Prop{Key: fmt.Sprintf("lib%d", i), Value: obj("permissions", arr(str("Intl")))})
	}
	p := read(t, content, &fakeEvaluator{value: value})
	if len(p.Libraries) != n || len(p.Findings) != 0 || !p.Complete {
		t.Errorf("%d libraries, %d findings", len(p.Libraries), len(p.Findings))
	}
}

// asIs evaluates to whatever the tree says, so that laying one over the other is
// fuzzed as well.
type asIs struct{}

func (asIs) Evaluate(ctx context.Context, source Source) (*Value, error) {
	m, err := Load(ctx, source, nil, dialect)
	if err != nil || m.Value == nil {
		return &Value{Kind: Undefined}, err
	}
	return m.Value, nil
}

// FuzzRead holds what holds for any text: reading ends, every place lies inside the
// text and inside what is around it, findings are in order, and reading twice gives
// the same.
func FuzzRead(f *testing.F) {
	for _, content := range forms {
		f.Add(content)
	}
	for _, seed := range []string{
		`export default { "lodash": { permissions: ["Intl", `, "export default { lodash: { permissions: [\"Int\n  qs: {} }", "", "\ufeff", "\x00", "// c", "\xff{",
		`export default { a: { permissions: [{ name: "fetch", allow: ["x"], expires: "2020-01-01", owner: "o", reason: "r" }, ...b], limits: { memoryMB: 1e9 } } }`,
		`import a from "./a"; export default { ...a, "b": { permisions: [], workloads: { "w/": { entry: "../x", exports: ["a", "a", 1] } } } }`,
		`module.exports = { a: { arguments: "dta", results: 1, reads: null, snapshot: "", subpaths: undefined }, a: [], __proto__: {} }`,
		"const c = { a: c }; export default { c, [c]: c, get x() {}, m() {}, ...c };", "export default {\r\n\"\U0001F389\": {}}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) {
		for _, evaluator := range []Evaluator{nil, asIs{}} {
			p := read(t, content, evaluator)
			in := func(what string, s, outer text.Span) {
				t.Helper()
				if s.Start < outer.Start || s.End < s.Start || s.End > outer.End {
					t.Fatalf("%s at %v is not inside %v", what, s, outer)
				}
			}
			whole := text.Span{End: len(content)}
			in("the export", p.Export, whole)
			for _, l := range p.Libraries {
				for what, s := range map[string]text.Span{"key": l.KeySpan, "property": l.Span, "value": l.Value, "permissions": l.PermissionsSpan} {
					in(what, s, whole)
				}
				in("the key", l.KeySpan, l.Span)
				for _, g := range l.Permissions {
					in("a permission", g.Span, whole)
					in("its end", g.ExpiresSpan, whole)
					for _, s := range g.AllowSpans {
						in("a rule", s, whole)
					}
				}
				for _, w := range l.Workloads {
					in("a workload", w.KeySpan, w.Span)
					in("a workload", w.Span, whole)
					in("its exports", w.ExportsSpan, whole)
				}
			}
			end := p.Mapper.Position(len(content))
			for _, found := range p.Findings {
				if end.Before(found.Range.End) || found.Range.End.Before(found.Range.Start) || found.Message == "" || found.File == "" {
					t.Fatalf("finding %+v", found)
				}
			}
			if sorted := finding.Sort(slices.Clone(p.Findings)); !cmp.Equal(sorted, p.Findings) {
				t.Fatalf("findings are not in order: %+v", p.Findings)
			}
			if again := read(t, content, evaluator); !cmp.Equal(again.Findings, p.Findings) || !cmp.Equal(again.Libraries, p.Libraries) {
				t.Fatal("reading twice gives two results")
			}
		}
	})
}
