package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

func TestDiagnostics_theTextAtOnceAndTheRestAfterAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core := &fakeCore{}
		e := start(t, core, Options{})
		e.initialize(nil, nil)
		began := time.Now()
		e.open(policyURI, "bad deep")
		if got := e.diagnostics(policyURI); *got.Version != 1 || !cmp.Equal(got.messages(), []string{"bad 1"}) {
			t.Errorf("at once: version %d, %v", *got.Version, got.messages())
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("what the text tells came after %v", took)
		}
		if got := e.diagnostics(policyURI); *got.Version != 1 || !cmp.Equal(got.messages(), []string{"bad 1", "deep 1"}) {
			t.Errorf("after the pause: version %d, %v", *got.Version, got.messages())
		}
		if took := time.Since(began); took != DefaultDebounce {
			t.Errorf("the rest came after %v, want %v", took, DefaultDebounce)
		}
		e.stop()
	})
}

func TestDiagnostics_eachEditStartsThePauseAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core := &fakeCore{}
		e := start(t, core, Options{Debounce: 50 * time.Millisecond})
		e.initialize(nil, nil)
		e.open(policyURI, "1")
		for version := 2; version <= 10; version++ {
			pass(40 * time.Millisecond)
			e.replace(policyURI, version, fmt.Sprint(version))
		}
		pass(50 * time.Millisecond)
		want := []string{"parse 1", "parse 2", "parse 3", "parse 4", "parse 5", "parse 6", "parse 7", "parse 8", "parse 9", "parse 10", "check 10"}
		if diff := cmp.Diff(want, core.asked()); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
		e.stop()
	})
}

func TestDiagnostics_aNewerEditCancelsTheCheckAndNothingOfItIsPublished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stubborn := make(chan struct{})
		core := &fakeCore{check: func(ctx context.Context, sn *fakeSnapshot) ([]finding.Finding, error) {
			switch sn.policy() {
			case "deep": // obeys, late
				<-ctx.Done()
				<-stubborn
				return nil, ctx.Err()
			case "deep deep": // notices nothing and comes to a result
				<-ctx.Done()
				return sn.words("deep"), nil
			}
			return sn.words("bad", "deep"), nil
		}}
		e := start(t, core, Options{})
		e.initialize(nil, nil)
		e.open(policyURI, "deep")
		e.diagnostics(policyURI)
		pass(DefaultDebounce)
		e.replace(policyURI, 2, "deep deep")
		if got := e.diagnostics(policyURI); *got.Version != 2 {
			t.Errorf("while the old check still runs, version %d was published", *got.Version)
		}
		pass(DefaultDebounce)
		for _, event := range core.asked() {
			if event == "check deep deep" {
				t.Error("the second check did not wait for the first one to end")
			}
		}
		close(stubborn)
		pass(0)
		e.replace(policyURI, 3, "bad deep deep deep")
		pass(DefaultDebounce)
		var got []string
		for _, m := range e.settle() {
			var p published
			if err := json.Unmarshal(m.Params, &p); err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprint(*p.Version, p.messages()))
		}
		want := []string{"3 [bad 1]", "3 [bad 1 deep 1 deep 2 deep 3]"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("published (-want +got):\n%s", diff)
		}
		e.stop()
	})
}

func TestDiagnostics_emptyListsAreListsAndRepetitionsAreNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := start(t, &fakeCore{}, Options{})
		e.initialize(nil, nil)
		e.open(policyURI, "good")
		pass(DefaultDebounce)
		got := e.settle()
		if len(got) != 1 {
			t.Fatalf("%d messages for a document without findings, want 1: the check has nothing to add", len(got))
		}
		var p published
		if err := json.Unmarshal(got[0].Params, &p); err != nil || string(p.Diagnostics) != "[]" || *p.Version != 1 {
			t.Errorf("published %s", got[0].Params)
		}
		// News from the disk that change nothing are no news.
		e.notify("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{map[string]any{"uri": "file:///p/src/x.js", "type": 2}}})
		pass(DefaultDebounce)
		if rest := e.settle(); len(rest) > 0 {
			t.Errorf("the server repeated itself: %v", rest)
		}
		e.stop()
	})
}

func TestDiagnostics_areClearedWhenTheFindingsMoveAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The finding is in the file that the policy names.
		core := &fakeCore{check: func(_ context.Context, sn *fakeSnapshot) ([]finding.Finding, error) {
			file := sn.policy()
			if file == "" {
				return nil, nil
			}
			return []finding.Finding{{Code: finding.BundleFailed, Severity: finding.Error, Message: "in " + file, File: file}}, nil
		}}
		e := start(t, core, Options{})
		e.initialize(nil, nil)
		steps := []struct{ policy, filled, cleared string }{
			{"src/a.js", "file:///p/src/a.js", ""},
			{"src/b.js", "file:///p/src/b.js", "file:///p/src/a.js"},
			{"/elsewhere/c.js", "file:///elsewhere/c.js", "file:///p/src/b.js"},
			{"", "", "file:///elsewhere/c.js"},
		}
		for i, step := range steps {
			if i == 0 {
				e.open(policyURI, step.policy)
			} else {
				e.replace(policyURI, i+1, step.policy)
			}
			pass(DefaultDebounce)
			if step.filled != "" {
				if got := e.diagnostics(step.filled); len(got.messages()) != 1 || got.Version != nil {
					t.Errorf("step %d: published %s", i, got.Diagnostics)
				}
			}
			if step.cleared != "" {
				if got := e.diagnostics(step.cleared); string(got.Diagnostics) != "[]" {
					t.Errorf("step %d: not cleared but %s", i, got.Diagnostics)
				}
			}
		}
		e.stop()
	})
}

func TestDiagnostics_areClearedWhenTheDocumentCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := start(t, &fakeCore{}, Options{})
		e.initialize(nil, nil)
		const uri = "file:///p/%2esandbox/sandbox.config.js" // an odd spelling, which has to stay
		e.open(uri, "bad deep")
		pass(DefaultDebounce)
		e.settle()
		e.notify("textDocument/didClose", doc(uri))
		if got := e.diagnostics(uri); string(got.Diagnostics) != "[]" || got.Version != nil {
			t.Errorf("published %s", got.Diagnostics)
		}
		pass(DefaultDebounce)
		if rest := e.settle(); len(rest) > 0 {
			t.Errorf("and then %v", rest)
		}
		e.stop()
	})
}

func TestDiagnostics_ofTwoProjectsAboutOneFileAreJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core := &fakeCore{check: func(_ context.Context, sn *fakeSnapshot) ([]finding.Finding, error) {
			if sn.policy() == "" {
				return nil, nil
			}
			return []finding.Finding{{Code: finding.BundleFailed, Severity: finding.Error, Message: sn.root, File: "/shared/x.js"}}, nil
		}}
		e := start(t, core, Options{})
		e.initialize(nil, nil)
		steps := []struct {
			act  func()
			want []string
		}{
			{func() { e.open(policyURI, "x") }, []string{"/p"}},
			{func() { e.open("file:///q/.sandbox/sandbox.config.js", "x") }, []string{"/p", "/q"}},
			{func() { e.notify("textDocument/didClose", doc(policyURI)) }, []string{"/q"}},
			{func() { e.replace("file:///q/.sandbox/sandbox.config.js", 2, "") }, []string{}},
		}
		for i, step := range steps {
			step.act()
			pass(DefaultDebounce)
			if diff := cmp.Diff(step.want, e.diagnostics("file:///shared/x.js").messages()); diff != "" {
				t.Errorf("step %d (-want +got):\n%s", i, diff)
			}
		}
		e.stop()
	})
}

// rich is a finding with everything that one can have.
var rich = finding.Finding{
	Code: finding.LoadFailed, Severity: finding.Hint, File: ".sandbox/sandbox.config.js",
	Message: "\"x\" cannot be loaded: 😀 < & >",
	Range:   text.Range{Start: text.Position{Line: 0, Character: 3}, End: text.Position{Line: 1, Character: 1}},
	Related: []finding.Related{
		{Message: "here", File: "src/ä b.js", Range: text.Range{Start: text.Position{Line: 4, Character: 2}, End: text.Position{Line: 4, Character: 9}}},
		{Message: "there", File: "/elsewhere/c.js"},
	},
	Fixes: []finding.Fix{
		{Title: "Do it", Edits: []finding.Edit{{File: ".sandbox/sandbox.config.js", NewText: "\"<&>\u2028"}}},
		{Title: "Or that", Edits: []finding.Edit{}, Creates: []finding.NewFile{{File: "src/new.js", Text: "\n"}}, Preferred: true},
	},
	Data: map[string]string{"library": "x", "stack": "at <eval>\n\tat b"},
}

// wireDiagnostic is a diagnostic as a client decodes it.
type wireDiagnostic struct {
	Range           text.Range
	Severity        int
	Code            string
	CodeDescription struct{ Href string }
	Source          string
	Message         string
	Related         []struct {
		Location struct {
			URI   string
			Range text.Range
		}
		Message string
	} `json:"relatedInformation"`
	Data json.RawMessage
}

// findingFromDiagnostic makes a finding of a diagnostic again, as a client can that
// knows the root of the project.
func findingFromDiagnostic(t *testing.T, root string, raw []byte) finding.Finding {
	t.Helper()
	var d wireDiagnostic
	var data diagnosticData
	if err := json.Unmarshal(raw, &d); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(d.Data, &data); err != nil {
		t.Fatal(err)
	}
	f := finding.Finding{
		Code: finding.Code(d.Code), Severity: finding.Severity(d.Severity), Message: d.Message,
		File: data.File, Range: d.Range, Fixes: data.Fixes, Data: data.Data, Related: data.Related,
	}
	if data.Range != nil {
		f.Range = *data.Range
	}
	if data.Related == nil {
		for _, r := range d.Related {
			var id struct{ URI string }
			id.URI = r.Location.URI
			file := strings.NewReplacer("%C3%A4", "ä", "%20", " ").Replace(strings.TrimPrefix(id.URI, "file://"))
			if rel, err := filepath.Rel(root, file); err == nil && !strings.HasPrefix(rel, "..") {
				file = filepath.ToSlash(rel)
			}
			f.Related = append(f.Related, finding.Related{Message: r.Message, File: file, Range: r.Location.Range})
		}
	}
	return f
}

func TestDiagnostics_areWholeFindings(t *testing.T) {
	findings := []finding.Finding{
		rich,
		{Code: finding.BadOption, Severity: finding.Error, Message: "bare", File: ".sandbox/sandbox.config.js"},
	}
	capabilities := map[string]map[string]any{
		"a client that knows everything": {"textDocument": map[string]any{"publishDiagnostics": map[string]any{"relatedInformation": true, "codeDescriptionSupport": true}}},
		"a client that knows nothing":    {},
		"a client that counts bytes": {
			"general":      map[string]any{"positionEncodings": []string{"utf-8"}},
			"textDocument": map[string]any{"publishDiagnostics": map[string]any{"relatedInformation": true}},
		},
	}
	for name, capability := range capabilities {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				core := &fakeCore{parse: func(context.Context, *fakeSnapshot) ([]finding.Finding, error) { return findings, nil }}
				e := start(t, core, Options{CodeHref: func(code string) string { return "https://example.com/" + code }})
				e.initialize(capability, nil)
				e.open(policyURI, "ä😀bc\nde")
				var diagnostics []json.RawMessage
				if err := json.Unmarshal(e.diagnostics(policyURI).Diagnostics, &diagnostics); err != nil {
					t.Fatal(err)
				}
				if len(diagnostics) != len(findings) {
					t.Fatalf("%d diagnostics for %d findings", len(diagnostics), len(findings))
				}
				for i, d := range diagnostics {
					want, got := encode(findings[i]), encode(findingFromDiagnostic(t, "/p", d))
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("finding %d (-want +got):\n%s", i, diff)
					}
				}
				var first wireDiagnostic
				if err := json.Unmarshal(diagnostics[0], &first); err != nil {
					t.Fatal(err)
				}
				knows := name == "a client that knows everything"
				if href := first.CodeDescription.Href; knows != (href == "https://example.com/SBX042") {
					t.Errorf("the code's page is %q", href)
				}
				if related := len(first.Related) > 0; related != (name != "a client that knows nothing") {
					t.Errorf("related information: %v", first.Related)
				}
				if first.Source != "sandbox-lsp" || first.Severity != 4 {
					t.Errorf("source %q, severity %d", first.Source, first.Severity)
				}
				if name == "a client that counts bytes" && first.Range.Start.Character != 6 {
					t.Errorf("the range begins at %d", first.Range.Start.Character)
				}
				e.stop()
			})
		})
	}
}
