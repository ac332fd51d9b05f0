package compat

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding/findingtest"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

func project(t *testing.T, files ...txtar.File) string {
	t.Helper()
	root := t.TempDir()
	for _, f := range files {
		path := filepath.Join(root, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func read(t *testing.T, root, content string, evaluator policy.Evaluator) *Manifest {
	t.Helper()
	m, err := Read(t.Context(), policy.Source{Root: root, File: filepath.Join(root, filepath.FromSlash(ConfigFile)), Text: content}, evaluator)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func readPolicy(t *testing.T, content string) *policy.Policy {
	t.Helper()
	p, err := policy.Read(t.Context(), policy.Source{Root: "/p", File: "/p/" + policy.ConfigFile, Text: content}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestManifest_findsEveryFaultAtItsPlace(t *testing.T) {
	findingtest.Fixtures(t, func(t *testing.T, archive *txtar.Archive) {
		contents := map[string]string{}
		for _, f := range archive.Files {
			contents[f.Name] = string(f.Data)
		}
		root := project(t, archive.Files...)
		m := read(t, root, contents[ConfigFile], nil)
		checked, err := m.Check(t.Context(), root, readPolicy(t, contents[policy.ConfigFile]))
		if err != nil {
			t.Fatal(err)
		}
		findingtest.Compare(t, findingtest.Parse(t, ConfigFile, contents[ConfigFile]), slices.Concat(m.Findings, checked))
		if !m.Complete {
			t.Error("a literal manifest is not complete")
		}
	})
}

func TestRead_givesWhatTheManifestSays(t *testing.T) {
	const content = `export default { qs: {
  tests: ["./test/*.js", "node_modules/qs/test/*.js"], framework: "tape",
  limitations: [{ test: " a > b ", kind: "stack text", reason: " other engine " }],
}, lodash: { tests: ["t.js"] } };`
	span := func(s string) text.Span {
		i := strings.Index(content, s)
		return text.Span{Start: i, End: i + len(s)}
	}
	m := read(t, "/p", content, nil)
	if len(m.Findings) > 0 || len(m.Libraries) != 2 {
		t.Fatalf("libraries %+v findings %+v", m.Libraries, m.Findings)
	}
	qs, _ := m.Library("qs")
	want := Library{
		Name: "qs", KeySpan: span("qs"), Span: qs.Span, Framework: "tape", Engine: "auto",
		Tests: []Glob{{"test/*.js", span(`"./test/*.js"`)}, {"node_modules/qs/test/*.js", span(`"node_modules/qs/test/*.js"`)}},
		Limitations: []Limitation{{
			Test: "a > b", TestSpan: span(`" a > b "`), Kind: "stack text", Reason: "other engine",
			Span: span(`{ test: " a > b ", kind: "stack text", reason: " other engine " }`),
		}},
	}
	if diff := cmp.Diff(want, qs); diff != "" {
		t.Errorf("qs (-want +got):\n%s", diff)
	}
	if l, ok := m.Library("lodash"); !ok || l.Framework != "auto" || l.Engine != "auto" {
		t.Errorf("lodash %+v", l)
	}
	if _, ok := m.Library("dayjs"); ok {
		t.Error("a library that is not there was found")
	}
}

func TestRead_whatIsNoManifest(t *testing.T) {
	for name, content := range map[string]string{
		"empty":          "",
		"array":          "export default [];",
		"does not parse": "export default { qs: { tests: [",
	} {
		t.Run(name, func(t *testing.T) {
			m := read(t, "/p", content, nil)
			if len(m.Findings) == 0 || m.Findings[0].Code != finding.BadCompatManifest || !strings.Contains(m.Findings[0].Message, "The compatibility manifest") {
				t.Errorf("findings %+v", m.Findings)
			}
		})
	}
}

// evaluator gives a fixed answer.
type evaluator struct {
	value *policy.Value
	err   error
}

func (e evaluator) Evaluate(context.Context, policy.Source) (*policy.Value, error) {
	return e.value, e.err
}

func TestRead_evaluatesWhatIsNotLiteral(t *testing.T) {
	const content = `import base from "./base.js"; export default { ...base };`
	str := func(s string) *policy.Value { return &policy.Value{Kind: policy.String, Text: s} }
	value := &policy.Value{Kind: policy.Object, Props: []policy.Prop{{Key: "qs", Value: &policy.Value{Kind: policy.Object, Props: []policy.Prop{
		{Key: "tests", Value: &policy.Value{Kind: policy.Array, Elems: []*policy.Value{str("a.js")}}},
	}}}}}
	m := read(t, "/p", content, evaluator{value: value})
	if l, ok := m.Library("qs"); !ok || len(l.Tests) != 1 || l.Tests[0].Text != "a.js" || !m.Complete || len(m.Findings) > 0 {
		t.Errorf("manifest %+v", m)
	}
	m = read(t, "/p", content, evaluator{err: &policy.EvaluationError{Message: "boom"}})
	if len(m.Findings) != 1 || m.Findings[0].Code != finding.BadCompatManifest || !strings.Contains(m.Findings[0].Message, "boom") || m.Complete {
		t.Errorf("findings %+v", m.Findings)
	}
	if m = read(t, "/p", content, nil); m.Complete || len(m.Findings) > 0 {
		t.Errorf("without evaluation: complete %v, findings %+v", m.Complete, m.Findings)
	}
}

func TestCheck_doesNotHoldWhatIsNotKnownAgainstTheManifest(t *testing.T) {
	root := project(t, txtar.File{Name: "a.js"})
	m := read(t, root, `export default { qs: { tests: ["a.js"] } };`, nil)
	for name, p := range map[string]*policy.Policy{
		"no policy":                           nil,
		"a policy of which parts are unknown": readPolicy(t, `import b from "./b.js"; export default { ...b };`),
		"a policy that has it":                readPolicy(t, `export default { qs: { permissions: [] } };`),
	} {
		if findings, err := m.Check(t.Context(), root, p); err != nil || len(findings) > 0 {
			t.Errorf("%s: %v %+v", name, err, findings)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Check(ctx, root, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestFiles_areSortedAndFollowOnlyLinksThatThePatternNames(t *testing.T) {
	root := project(t, txtar.File{Name: "store/qs/test/b.js"}, txtar.File{Name: "store/qs/test/a.js"}, txtar.File{Name: "test/c.js"}, txtar.File{Name: "test/d.js/e.js"})
	for link, target := range map[string]string{
		"node_modules/qs": "../store/qs", "store/qs/loop": "..", "test/f.js": "c.js", "test/g.js": "../store", "test/gone.js": "nowhere",
	} {
		path := filepath.Join(root, filepath.FromSlash(link))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.FromSlash(target), path); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	for pattern, want := range map[string][]string{
		"node_modules/qs/test/*.js": {"node_modules/qs/test/a.js", "node_modules/qs/test/b.js"},
		"test/*.js":                 {"test/c.js", "test/f.js"},
		"store/**/*.js":             {"store/qs/test/a.js", "store/qs/test/b.js"},
		"{test,test}/c.js":          {"test/c.js"},
		"nothing/*":                 {},
	} {
		got, err := Files(t.Context(), root, pattern)
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", pattern, diff)
		}
	}
}

func TestOptions_describeEveryPlace(t *testing.T) {
	for _, tt := range []struct {
		path []string
		has  string
	}{{[]string{"qs"}, "framework"}, {[]string{"qs", "limitations"}, "reason"}} {
		options := Options(tt.path)
		if !slices.ContainsFunc(options, func(o policy.Option) bool { return o.Name == tt.has }) {
			t.Errorf("%v has no %s", tt.path, tt.has)
		}
		for _, o := range options {
			if o.Doc == "" || o.Snippet == "" || o.Type == "" {
				t.Errorf("%s is not described", o.Name)
			}
		}
	}
	if Options(nil) != nil || Options([]string{"qs", "tests"}) != nil {
		t.Error("free keys have options")
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`export default { qs: { tests: ["a/**/{b,c}.js"], limitations: [{ test: "a", kind: "limit", reason: "b" }] } };`,
		`export default { qs: { tests: ["[a", "../b", "{a,{b,c}}"], framework: `, "", "\x00", "\ufeffmodule.exports = { a: [] }",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) {
		m := read(t, "/p", content, nil)
		for _, l := range m.Libraries {
			for _, g := range l.Tests {
				if g.Span.Start < 0 || g.Span.End > len(content) || g.Span.Start > g.Span.End {
					t.Fatalf("span %v of %d bytes", g.Span, len(content))
				}
				if again, why := clean(g.Text); why != "" || again != g.Text {
					t.Fatalf("the pattern %q cleans to %q: %s", g.Text, again, why)
				}
			}
		}
	})
}
