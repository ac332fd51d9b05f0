package edit

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

var update = flag.Bool("update", false, "rewrite the expected texts of the fixtures")

// operation is one line of a fixture: a verb and its operands.
type operation struct {
	verb string
	args []string
}

func (o operation) arg(i int) string {
	if i < len(o.args) {
		return o.args[i]
	}
	return ""
}

func (o operation) rest(i int) []string { return o.args[min(i, len(o.args)):] }

// keyAt finds the nth member, from 1, with a key.
func keyAt(p *Policy, key, n string) text.Span {
	count := 0
	for _, object := range p.objects {
		for _, m := range object.Properties {
			if m.Key == key {
				if count++; n == "" || n == fmt.Sprint(count) {
					return m.KeySpan
				}
			}
		}
	}
	return text.Span{}
}

// sample is what set and add-library write when the case does not care.
var sample = Object{{"permissions", Array{String("Intl"), Object{{"name", String("fetch")}, {"allow", Strings("https://api.example.com/*")}}}}, {"limits", Object{{"memoryMB", Number(64)}}}}

// run performs an operation.
func (o operation) run(p *Policy) ([]Edit, error) {
	a, b, c, d := o.arg(0), o.arg(1), o.arg(2), o.arg(3)
	switch o.verb {
	case "grant":
		return p.Grant(a, o.rest(1)...)
	case "set-permissions":
		return p.SetPermissions(a, o.rest(1))
	case "revoke":
		return p.Revoke(a, b)
	case "remove-repeated":
		return p.RemoveRepeated(a, b)
	case "rename-permission":
		return p.RenamePermission(a, b, c)
	case "narrow":
		return p.NarrowPermission(a, b, o.rest(2))
	case "set-allow":
		return p.SetAllow(a, b, c, d)
	case "add-library":
		return p.AddLibrary(a, Object{{"permissions", Strings(o.rest(1)...)}})
	case "add-commented-library":
		return p.AddLibrary(a, Object{{"permissions", Commented{o.rest(1), Strings("fetch")}}})
	case "add-sample-library":
		return p.AddLibrary(a, sample)
	case "rename-library":
		return p.RenameLibrary(a, b)
	case "remove-library":
		return p.RemoveLibrary(a)
	case "set":
		switch c {
		case "true", "false":
			return p.SetOption(a, b, Bool(c == "true"))
		case "limits":
			return p.SetOption(a, b, Object{{"memoryMB", Number(64)}, {"timeoutMs", Number(1000)}})
		}
		return p.SetOption(a, b, String(c))
	case "rename-option":
		return p.RenameOption(a, b, c)
	case "remove-option":
		return p.RemoveOption(a, b)
	case "rename-key":
		return p.RenameKey(keyAt(p, a, c), b)
	case "remove-key":
		return p.RemoveKey(keyAt(p, a, b))
	case "remove-duplicate":
		return p.RemoveDuplicateKey(keyAt(p, a, b))
	case "add-workload":
		return p.AddWorkload(a, b, c, o.rest(3))
	case "add-exports":
		return p.AddWorkloadExports(a, b, o.rest(2)...)
	case "rename-export":
		return p.RenameWorkloadExport(a, b, c, d)
	case "remove-export":
		return p.RemoveWorkloadExport(a, b, c)
	}
	return nil, fmt.Errorf("unknown verb %q", o.verb)
}

// TestEdit_fixtures: each file of an archive is a case, with the operation and, on
// further lines, in what form the policy is given; then the text before and the text
// after, or the refusal, each behind a line of dashes.
func TestEdit_fixtures(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range archive.Files {
			t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar")+"/"+f.Name, func(t *testing.T) {
				parts := strings.SplitN(string(f.Data), "---\n", 3)
				if len(parts) != 3 && !(*update && len(parts) == 2) {
					t.Fatalf("%d parts", len(parts))
				}
				got := fixture(t, parts[0], parts[1])
				if *update {
					archive.Files[i].Data = []byte(parts[0] + "---\n" + parts[1] + "---\n" + got)
					return
				}
				if diff := cmp.Diff(parts[2], got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
		if *update {
			if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// fixture runs one case and returns the text after, in the form in which the fixture
// has it.
func fixture(t *testing.T, head, before string) string {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(head), "\n")
	words := strings.Fields(lines[0])
	o := operation{words[0], words[1:]}
	file, undo := "sandbox.config.js", func(s string) string { return s }
	for _, form := range lines[1:] {
		inner := undo
		switch form {
		case "crlf":
			before = strings.ReplaceAll(before, "\n", "\r\n")
			undo = func(s string) string {
				if bare := strings.Count(s, "\n") - strings.Count(s, "\r\n"); bare > 0 || strings.Contains(s, "\r\r") {
					t.Errorf("%d line ends are not CRLF in %q", bare, s)
				}
				return inner(strings.ReplaceAll(s, "\r\n", "\n"))
			}
		case "bom":
			before = "\uFEFF" + before
			undo = func(s string) string { return inner(strings.TrimPrefix(s, "\uFEFF")) }
		case "no final newline":
			before = strings.TrimSuffix(before, "\n")
			undo = func(s string) string { return inner(s) + "\n" }
		case "ts":
			file = "sandbox.config.ts"
		default:
			t.Fatalf("unknown form %q", form)
		}
	}
	parsed := syntax.Parse(file, before)
	edits, err := o.run(Open(parsed))
	if err != nil {
		var refused *Refusal
		if !errors.As(err, &refused) {
			t.Fatal(err)
		}
		if refused.Span.End > len(before) || !strings.HasSuffix(err.Error(), ".") {
			t.Errorf("refusal %+v", refused)
		}
		return "refused: " + err.Error() + "\n"
	}
	after := Apply(before, edits)
	checkMeaning(t, o, file, before, after, edits)
	return undo(after)
}

// checkMeaning holds what every edit promises: the policy afterwards says what the
// operation was asked for and nothing else, it has no fault that it had not before,
// and the comments are still there.
func checkMeaning(t *testing.T, o operation, file, before, after string, edits []Edit) {
	t.Helper()
	for i, e := range edits {
		if e.Span.Start > e.Span.End || e.Span.End > len(before) || i > 0 && e.Span.Start < edits[i-1].Span.End {
			t.Errorf("edit %d at %v overlaps or lies outside", i, e.Span)
		}
	}
	was, is := syntax.Parse(file, before), syntax.Parse(file, after)
	if len(is.Diagnostics) > 0 {
		t.Fatalf("%v\nafter the edit the policy does not parse: %v\n%s", o, is.Diagnostics, after)
	}
	want, got := model(was), model(is)
	o.change(want, got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%v\nthe policy does not mean what it should (-want +got):\n%s\nbefore:\n%s\nafter:\n%s", o, diff, before, after)
	}
	known := map[string]int{}
	for _, f := range findings(t, file, before) {
		known[string(f.Code)]++
	}
	for _, f := range findings(t, file, after) {
		if known[string(f.Code)]--; known[string(f.Code)] < 0 && !o.faulty() {
			t.Errorf("%v\nthe edit brought %s %s\nbefore:\n%s\nafter:\n%s", o, f.Code, f.Message, before, after)
		}
	}
	var left []string
	for _, c := range is.Comments() {
		left = append(left, c.Text)
	}
	for _, c := range was.Comments() {
		if len(left) > 0 && left[0] == c.Text {
			left = left[1:]
			continue
		}
		if !o.takes(was, c.Span) {
			t.Errorf("%v\nthe comment %s is gone or out of order\nbefore:\n%s\nafter:\n%s", o, c.Text, before, after)
		}
	}
	if len(left) > 0 && o.verb != "add-commented-library" {
		t.Errorf("%v\nthere are new comments: %q\nafter:\n%s", o, left, after)
	}
}

func findings(t *testing.T, file, content string) []finding.Finding {
	t.Helper()
	p, err := policy.Read(t.Context(), policy.Source{Root: "/project", File: "/project/.sandbox/" + file, Text: content}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p.Findings
}

func TestApplyAll_leavesOutWhatOverlaps(t *testing.T) {
	const before = `export default { a: { permissions: ["x", "y"] }, b: { permissions: [] } };`
	p := Open(syntax.Parse("a.js", before))
	var operations [][]Edit
	for _, o := range []operation{{"revoke", []string{"a", "x"}}, {"revoke", []string{"a", "y"}}, {"grant", []string{"b", "z"}}, {"grant", []string{"b", "w"}}} {
		edits, err := o.run(p)
		if err != nil {
			t.Fatal(err)
		}
		operations = append(operations, edits)
	}
	after, skipped := ApplyAll(before, operations)
	if want := `export default { a: { permissions: ["y"] }, b: { permissions: ["z"] } };`; after != want {
		t.Errorf("got  %s\nwant %s", after, want)
	}
	if !slices.Equal(skipped, []int{1, 3}) {
		t.Errorf("skipped %v", skipped)
	}
}
