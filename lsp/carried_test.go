package lsp

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

func TestCarried_findingsStayWhereTheirTextStays(t *testing.T) {
	// The finding is at "deep" in the text before.
	const before = "one\ntwo deep three\nfour"
	tests := map[string]struct {
		now  string
		want string // what the finding is at, "" for gone
	}{
		"nothing changed":       {before, "deep"},
		"an edit behind it":     {before + " and more\n", "deep"},
		"an edit before it":     {"😀\n" + before, "deep"},
		"right behind it":       {"one\ntwo deeper three\nfour", "deep"},
		"right before it":       {"one\ntwo xdeep three\nfour", "deep"},
		"in it":                 {"one\ntwo de ep three\nfour", ""},
		"it was deleted":        {"one\ntwo  three\nfour", ""},
		"all is new":            {"something else", ""},
		"all was deleted":       {"", ""},
		"on its line, before":   {"one\ntwoo deep three\nfour", "deep"},
		"across the whole line": {"one\nfour", ""},
		"line breaks":           {strings.ReplaceAll(before, "\n", "\r\n"), ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			old := newDocument("file:///p/a.js", 1, before)
			now := old.edited(2, tt.now)
			at := strings.Index(before, "deep")
			f := finding.Finding{File: "a.js", Range: old.mapper().Range(text.Span{Start: at, End: at + 4})}
			f.Fixes = []finding.Fix{{Title: "fix", Edits: []finding.Edit{{File: "a.js", Range: f.Range}, {File: "other.js"}}}}
			views := [2]*view{{byPath: map[string]*document{"/p/a.js": old}}, {byPath: map[string]*document{"/p/a.js": now}}}
			kept := newCarried("/p", views[0], []finding.Finding{f}, nil).onto("/p", views[1])
			got := ""
			if len(kept) > 0 {
				got = textAt(now, kept[0].Range)
				if fix := textAt(now, kept[0].Fixes[0].Edits[0].Range); fix != got {
					t.Errorf("the fix is at %q and the finding at %q", fix, got)
				}
			}
			if got != tt.want {
				t.Errorf("the finding is at %q, want %q", got, tt.want)
			}
		})
	}
}

func textAt(d *document, r text.Range) string {
	s := d.mapper().Span(r)
	return d.text[s.Start:s.End]
}

func TestCarried_partsThatLostTheirPlaceAreLeftOut(t *testing.T) {
	old := newDocument("file:///p/a.js", 1, "bad related fix")
	now := old.edited(2, "bad rela-ted fi-x")
	place := func(word string) text.Range {
		at := strings.Index(old.text, word)
		return old.mapper().Range(text.Span{Start: at, End: at + len(word)})
	}
	f := finding.Finding{
		File: "a.js", Range: place("bad"),
		Related: []finding.Related{{Message: "gone", File: "a.js", Range: place("related")}, {Message: "kept", File: "b.js"}},
		Fixes:   []finding.Fix{{Title: "gone", Edits: []finding.Edit{{File: "b.js"}, {File: "a.js", Range: place("fix")}}}, {Title: "kept", Edits: []finding.Edit{{File: "b.js"}}}},
	}
	whole := encode(f)
	views := [2]*view{{byPath: map[string]*document{"/p/a.js": old}}, {byPath: map[string]*document{"/p/a.js": now}}}
	carried := newCarried("/p", views[0], []finding.Finding{f}, nil)
	kept := carried.onto("/p", views[1])
	if len(kept) != 1 {
		t.Fatalf("kept %v", kept)
	}
	want := f
	want.Related, want.Fixes = f.Related[1:], f.Fixes[1:]
	if diff := cmp.Diff(want, kept[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if again := encode(carried.findings[0]); again != whole {
		t.Errorf("the finding itself was changed to %s", again)
	}
}

func TestCarried_openingKeepsAndClosingDrops(t *testing.T) {
	closed := &view{}
	opened := &view{byPath: map[string]*document{"/p/a.js": newDocument("file:///p/a.js", 1, "x")}}
	f := []finding.Finding{{File: "a.js"}}
	if kept := newCarried("/p", closed, f, nil).onto("/p", opened); len(kept) != 1 {
		t.Error("opening the document lost the finding")
	}
	if kept := newCarried("/p", opened, f, nil).onto("/p", closed); len(kept) != 0 {
		t.Error("a finding in a document outlived it")
	}
}

func TestCarried_findingsDoNotFlickerWhileOneTypes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := start(t, &fakeCore{}, Options{})
		e.initialize(nil, nil)
		e.open(policyURI, "bad deep\n")
		pass(DefaultDebounce)
		e.settle()
		e.replace(policyURI, 2, "bad bad deep\n")
		synctest.Wait()
		got := e.diagnostics(policyURI)
		if diff := cmp.Diff([]string{"bad 1", "bad 2", "deep 1"}, got.messages()); diff != "" {
			t.Errorf("at once (-want +got):\n%s", diff)
		}
		var diagnostics []wireDiagnostic
		if err := json.Unmarshal(got.Diagnostics, &diagnostics); err != nil {
			t.Fatal(err)
		}
		if deep := diagnostics[2].Range; deep != span(0, 8, 12) {
			t.Errorf("the finding that was carried over is at %v", deep)
		}
		pass(DefaultDebounce)
		if rest := e.settle(); len(rest) > 0 {
			t.Errorf("the check found the same, and yet the server said %v", rest)
		}
		e.stop()
	})
}
