package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-lsp/sandbox-lsp/analysis"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// span is a range on one line.
func span(line, from, to int) text.Range {
	return text.Range{Start: text.Position{Line: line, Character: from}, End: text.Position{Line: line, Character: to}}
}

// equalJSON compares an answer with what it should be, in any layout.
func equalJSON(t *testing.T, want string, got json.RawMessage) {
	t.Helper()
	var w, g any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatalf("%v in %s", err, want)
	}
	if err := json.Unmarshal(got, &g); err != nil {
		t.Fatalf("%v in %s", err, got)
	}
	if diff := cmp.Diff(w, g); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestHover(t *testing.T) {
	markdown := map[string]any{"textDocument": map[string]any{"hover": map[string]any{"contentFormat": []string{"markdown", "plaintext"}}}}
	tests := map[string]struct {
		capabilities map[string]any
		hover        *analysis.Hover
		want         string
	}{
		"Markdown":   {markdown, &analysis.Hover{Markdown: "**x**", Range: span(0, 1, 2)}, `{"contents":{"kind":"markdown","value":"**x**"},"range":{"start":{"line":0,"character":1},"end":{"line":0,"character":2}}}`},
		"plain text": {nil, &analysis.Hover{Markdown: "x"}, `{"contents":{"kind":"plaintext","value":"x"},"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}}}`},
		"nothing":    {nil, nil, `null`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := start(t, &fakeCore{hover: func(context.Context, *fakeSnapshot, string, text.Position) (*analysis.Hover, error) {
					return tt.hover, nil
				}}, Options{})
				e.initialize(tt.capabilities, nil)
				e.open(policyURI, "abc")
				equalJSON(t, tt.want, e.call("textDocument/hover", at(policyURI, 0, 1)).Result)
				e.stop()
			})
		})
	}
}

func TestCompletion(t *testing.T) {
	proposals := []analysis.Completion{
		{Label: "lodash", Kind: analysis.KindLibrary, Detail: "4.17.21", Documentation: "*utilities*", NewText: `"lodash": {$0}`, Plain: `"lodash": {}`, Snippet: true, Range: span(0, 2, 4), Sort: "1"},
		{Label: "true", Kind: analysis.KindValue, NewText: "true", Range: span(0, 4, 4)},
	}
	all := map[string]any{"textDocument": map[string]any{"completion": map[string]any{"completionItem": map[string]any{"snippetSupport": true, "documentationFormat": []string{"markdown"}}}}}
	tests := map[string]struct {
		capabilities map[string]any
		proposals    []analysis.Completion
		want         string
	}{
		"snippets": {all, proposals, `{"isIncomplete":false,"items":[
			{"label":"lodash","kind":9,"detail":"4.17.21","documentation":{"kind":"markdown","value":"*utilities*"},"sortText":"1","filterText":"\"lodash\": {}","insertTextFormat":2,
			 "textEdit":{"range":{"start":{"line":0,"character":2},"end":{"line":0,"character":4}},"newText":"\"lodash\": {$0}"}},
			{"label":"true","kind":12,"insertTextFormat":1,"textEdit":{"range":{"start":{"line":0,"character":4},"end":{"line":0,"character":4}},"newText":"true"}}]}`},
		"no snippets": {nil, proposals[:1], `{"isIncomplete":false,"items":[
			{"label":"lodash","kind":9,"detail":"4.17.21","documentation":{"kind":"plaintext","value":"*utilities*"},"sortText":"1","filterText":"\"lodash\": {}","insertTextFormat":1,
			 "textEdit":{"range":{"start":{"line":0,"character":2},"end":{"line":0,"character":4}},"newText":"\"lodash\": {}"}}]}`},
		"nothing": {nil, nil, `{"isIncomplete":false,"items":[]}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := start(t, &fakeCore{complete: func(_ *fakeSnapshot, path string, at text.Position) []analysis.Completion {
					if path != policyPath || at != (text.Position{Line: 0, Character: 4}) {
						t.Errorf("asked about %s %v", path, at)
					}
					return tt.proposals
				}}, Options{})
				e.initialize(tt.capabilities, nil)
				e.open(policyURI, "ab cd")
				equalJSON(t, tt.want, e.call("textDocument/completion", at(policyURI, 0, 4)).Result)
				e.stop()
			})
		})
	}
}

func TestDocumentSymbol(t *testing.T) {
	symbols := []analysis.Symbol{{
		Name: "lodash", Detail: "Intl", Kind: analysis.KindLibrary, Range: span(0, 0, 9), Selection: span(0, 1, 3),
		Children: []analysis.Symbol{{Name: "", Kind: analysis.KindPermission, Range: span(0, 4, 6), Selection: span(0, 4, 6)}},
	}}
	tests := map[string]struct {
		capabilities map[string]any
		symbols      []analysis.Symbol
		want         string
	}{
		"a tree": {map[string]any{"textDocument": map[string]any{"documentSymbol": map[string]any{"hierarchicalDocumentSymbolSupport": true}}}, symbols, `[
			{"name":"lodash","detail":"Intl","kind":2,"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":9}},"selectionRange":{"start":{"line":0,"character":1},"end":{"line":0,"character":3}},
			 "children":[{"name":"(unnamed)","kind":20,"range":{"start":{"line":0,"character":4},"end":{"line":0,"character":6}},"selectionRange":{"start":{"line":0,"character":4},"end":{"line":0,"character":6}}}]}]`},
		"a list": {nil, symbols, `[
			{"name":"lodash","kind":2,"location":{"uri":"file:///p/.sandbox/sandbox.config.js","range":{"start":{"line":0,"character":0},"end":{"line":0,"character":9}}}},
			{"name":"(unnamed)","kind":20,"containerName":"lodash","location":{"uri":"file:///p/.sandbox/sandbox.config.js","range":{"start":{"line":0,"character":4},"end":{"line":0,"character":6}}}}]`},
		"nothing, as a tree": {map[string]any{"textDocument": map[string]any{"documentSymbol": map[string]any{"hierarchicalDocumentSymbolSupport": true}}}, nil, `[]`},
		"nothing":            {nil, nil, `[]`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := start(t, &fakeCore{symbols: func(*fakeSnapshot, string) []analysis.Symbol { return tt.symbols }}, Options{})
				e.initialize(tt.capabilities, nil)
				e.open(policyURI, "0123456789")
				equalJSON(t, tt.want, e.call("textDocument/documentSymbol", doc(policyURI)).Result)
				e.stop()
			})
		})
	}
}

func TestFeatures_answerAboutFilesThatAreNotOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := t.TempDir()
		path := filepath.Join(root, "a.js")
		if err := os.WriteFile(path, []byte("\uFEFFä😀x\r\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		var seen text.Position
		core := &fakeCore{roots: []string{root}, hover: func(_ context.Context, _ *fakeSnapshot, _ string, at text.Position) (*analysis.Hover, error) {
			seen = at
			return &analysis.Hover{Markdown: "x", Range: text.Range{Start: at, End: at}}, nil
		}}
		e := start(t, core, Options{})
		e.initialize(map[string]any{"general": map[string]any{"positionEncodings": []string{"utf-8"}}}, nil)
		var hover struct{ Range text.Range }
		e.result("textDocument/hover", at(string(uriOf(path)), 0, 9), &hover)
		if want := (text.Position{Line: 0, Character: 4}); seen != want {
			t.Errorf("asked about %v, want %v", seen, want)
		}
		if hover.Range != span(0, 9, 9) {
			t.Errorf("answered about %v", hover.Range)
		}
		// Of a file that does not exist nothing is known; the numbers stay.
		e.result("textDocument/hover", at(string(uriOf(filepath.Join(root, "none.js"))), 0, 9), &hover)
		if hover.Range != span(0, 9, 9) {
			t.Errorf("answered about %v", hover.Range)
		}
		e.stop()
	})
}

// fixable is a parse whose finding at "bad" has a fix in the policy, and with more
// words in the text, fixes in other places.
func fixable(_ context.Context, sn *fakeSnapshot) ([]finding.Finding, error) {
	findings := sn.words("bad")
	for i := range findings {
		findings[i].Fixes = []finding.Fix{{Title: "Make it good", Edits: []finding.Edit{{File: findings[i].File, Range: findings[i].Range, NewText: "good"}}}}
	}
	return findings, nil
}

// actions asks for the code actions at a place and returns them.
func (e *editor) actions(uri string, r text.Range, context map[string]any) json.RawMessage {
	e.t.Helper()
	if context == nil {
		context = map[string]any{"diagnostics": []any{}}
	}
	var actions json.RawMessage
	e.result("textDocument/codeAction", map[string]any{"textDocument": map[string]any{"uri": uri}, "range": r, "context": context}, &actions)
	return actions
}

// titles returns the titles of code actions.
func titles(t *testing.T, actions json.RawMessage) []string {
	t.Helper()
	var list []struct{ Title string }
	if err := json.Unmarshal(actions, &list); err != nil {
		t.Fatalf("%v in %s", err, actions)
	}
	names := []string{}
	for _, a := range list {
		names = append(names, a.Title)
	}
	return names
}

func TestCodeAction_fixesBecomeEdits(t *testing.T) {
	tests := map[string]struct {
		capabilities map[string]any
		edit         string
	}{
		"with versions":    {map[string]any{"workspace": map[string]any{"workspaceEdit": map[string]any{"documentChanges": true}}}, `{"documentChanges":[{"textDocument":{"uri":"` + policyURI + `","version":1},"edits":[{"range":{"start":{"line":0,"character":3},"end":{"line":0,"character":6}},"newText":"good"}]}]}`},
		"without versions": {nil, `{"changes":{"` + policyURI + `":[{"range":{"start":{"line":0,"character":3},"end":{"line":0,"character":6}},"newText":"good"}]}}`},
		"in bytes":         {map[string]any{"general": map[string]any{"positionEncodings": []string{"utf-8"}}}, `{"changes":{"` + policyURI + `":[{"range":{"start":{"line":0,"character":5},"end":{"line":0,"character":8}},"newText":"good"}]}}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := start(t, &fakeCore{parse: fixable}, Options{})
				e.initialize(tt.capabilities, nil)
				e.open(policyURI, "😀 bad")
				var diagnostics []json.RawMessage
				if err := json.Unmarshal(e.diagnostics(policyURI).Diagnostics, &diagnostics); err != nil {
					t.Fatal(err)
				}
				want := `[{"title":"Make it good","kind":"quickfix","isPreferred":true,"diagnostics":[` + string(diagnostics[0]) + `],"edit":` + tt.edit + `}]`
				equalJSON(t, want, e.actions(policyURI, span(0, 6, 6), nil))
				e.stop()
			})
		})
	}
}

func TestCodeAction_onlyAFixThatGrantsNothingIsPreferred(t *testing.T) {
	edits := []finding.Edit{{File: ".sandbox/sandbox.config.js", Range: span(0, 0, 3), NewText: "good"}}
	tests := map[string]struct {
		fixes []finding.Fix
		want  []bool
	}{
		"the only one":               {[]finding.Fix{{Edits: edits}}, []bool{true}},
		"the only one, which grants": {[]finding.Fix{{Edits: edits, Grants: true}}, []bool{false}},
		"marked, and grants":         {[]finding.Fix{{Edits: edits, Grants: true, Preferred: true}}, []bool{false}},
		"two":                        {[]finding.Fix{{Edits: edits, Grants: true}, {Edits: edits}}, []bool{false, false}},
		"two of which one is marked": {[]finding.Fix{{Edits: edits, Grants: true}, {Edits: edits, Preferred: true}}, []bool{false, true}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				parse := func(_ context.Context, sn *fakeSnapshot) ([]finding.Finding, error) {
					findings := sn.words("bad")
					for i := range findings {
						findings[i].Fixes = tt.fixes
					}
					return findings, nil
				}
				e := start(t, &fakeCore{parse: parse}, Options{})
				e.initialize(nil, nil)
				e.open(policyURI, "bad")
				e.diagnostics(policyURI)
				var actions []struct{ IsPreferred bool }
				if err := json.Unmarshal(e.actions(policyURI, span(0, 0, 0), nil), &actions); err != nil {
					t.Fatal(err)
				}
				var got []bool
				for _, a := range actions {
					got = append(got, a.IsPreferred)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				e.stop()
			})
		})
	}
}

func TestCodeAction_onlyWhatFitsIsOffered(t *testing.T) {
	kinds := func(only ...string) map[string]any { return map[string]any{"diagnostics": []any{}, "only": only} }
	tests := map[string]struct {
		at      text.Range
		context map[string]any
		want    []string
	}{
		"at the finding":         {span(0, 0, 1), nil, []string{"Make it good"}},
		"behind its last letter": {span(0, 3, 3), nil, []string{"Make it good"}},
		"around both":            {span(0, 0, 9), nil, []string{"Make it good", "Make it good"}},
		"between them":           {span(0, 4, 4), nil, []string{}},
		"on another line":        {span(1, 0, 0), nil, []string{}},
		"quick fixes alone":      {span(0, 0, 0), kinds("quickfix"), []string{"Make it good"}},
		"every kind":             {span(0, 0, 0), kinds(""), []string{"Make it good"}},
		"another kind":           {span(0, 0, 0), kinds("refactor", "source.fixAll"), []string{}},
		"a kind of quick fixes":  {span(0, 0, 0), kinds("quickfix.special"), []string{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := start(t, &fakeCore{parse: fixable}, Options{})
				e.initialize(nil, nil)
				e.open(policyURI, "bad   bad\n")
				e.diagnostics(policyURI)
				if diff := cmp.Diff(tt.want, titles(t, e.actions(policyURI, tt.at, tt.context))); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				e.stop()
			})
		})
	}
}

func TestCodeAction_fixesOfAnotherVersionAreNotOffered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const other = "file:///p/src/x.js"
		hold := make(chan struct{})
		core := &fakeCore{parse: func(ctx context.Context, sn *fakeSnapshot) ([]finding.Finding, error) {
			if sn.policy() == " bad" {
				<-hold
			}
			findings, err := fixable(ctx, sn)
			for i := range findings {
				// A second fix, which changes another file too.
				findings[i].Fixes = append(findings[i].Fixes, finding.Fix{Title: "Both", Edits: []finding.Edit{
					{File: "src/x.js", NewText: "x"},
					{File: findings[i].File, Range: findings[i].Range, NewText: "y"},
				}})
			}
			return findings, err
		}}
		e := start(t, core, Options{})
		e.initialize(map[string]any{"workspace": map[string]any{"workspaceEdit": map[string]any{"documentChanges": true}}}, nil)
		e.open(policyURI, "bad")
		e.diagnostics(policyURI)
		var both []struct {
			Edit struct {
				DocumentChanges []struct {
					TextDocument struct {
						URI     string
						Version *int
					}
				}
			}
		}
		if err := json.Unmarshal(e.actions(policyURI, span(0, 0, 0), nil), &both); err != nil || len(both) != 2 {
			t.Fatalf("%d actions, %v", len(both), err)
		}
		if first := both[1].Edit.DocumentChanges[0].TextDocument; first.URI != other || first.Version != nil {
			t.Errorf("the file that is not open is changed as %v", first)
		}
		// Another file of the fix is opened: what is in it may be something else.
		e.open(other, "something else")
		if got := titles(t, e.actions(policyURI, span(0, 0, 0), nil)); len(got) != 1 {
			synctest.Wait()
			// Unless the worker has seen it already.
			if got = titles(t, e.actions(policyURI, span(0, 0, 0), nil)); len(got) != 2 {
				t.Errorf("offered %v", got)
			}
		}
		// An edit whose findings are not there yet.
		e.replace(policyURI, 2, " bad")
		if got := titles(t, e.actions(policyURI, span(0, 0, 4), nil)); len(got) != 0 {
			t.Errorf("offered %v for a text that is gone", got)
		}
		close(hold)
		synctest.Wait()
		if got := titles(t, e.actions(policyURI, span(0, 1, 4), nil)); len(got) != 2 {
			t.Errorf("offered %v", got)
		}
		e.stop()
	})
}

func TestProxyPreview(t *testing.T) {
	core := &fakeCore{proxy: func(sn *fakeSnapshot, request string) (analysis.Preview, error) {
		if request != "lodash" {
			return analysis.Preview{}, errors.New("the policy has no library \"" + request + "\"")
		}
		return analysis.Preview{Text: "// " + sn.policy(), LanguageID: "javascript"}, nil
	}}
	tests := map[string]struct {
		params  map[string]any
		want    string
		code    int
		message string
	}{
		"a library":              {map[string]any{"uri": policyURI, "request": "lodash"}, `{"text":"// two","languageId":"javascript","version":2}`, 0, ""},
		"by a file not open":     {map[string]any{"uri": "file:///p/src/x.js", "request": "lodash"}, `{"text":"// two","languageId":"javascript","version":null}`, 0, ""},
		"an unknown library":     {map[string]any{"uri": policyURI, "request": "x"}, ``, -32803, `the policy has no library "x"`},
		"no request":             {map[string]any{"uri": policyURI}, ``, -32602, "the params name no request"},
		"no URI":                 {map[string]any{"request": "lodash"}, ``, -32602, "the params name no document"},
		"a file of no project":   {map[string]any{"uri": "file:///elsewhere/x.js", "request": "x"}, ``, -32803, "the document belongs to no project: no folder around it holds .sandbox/sandbox.config.js"},
		"a request of no string": {map[string]any{"uri": policyURI, "request": 7}, ``, -32602, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := start(t, core, Options{})
				e.initialize(nil, nil)
				e.open(policyURI, "one")
				e.replace(policyURI, 2, "two")
				got := e.call("sandbox/proxyPreview", tt.params)
				if got.code() != tt.code || got.Error != nil && tt.message != "" && got.Error.Message != tt.message {
					t.Fatalf("answered %v, want %d %q", got.Error, tt.code, tt.message)
				}
				if tt.want != "" {
					equalJSON(t, tt.want, got.Result)
				}
				e.stop()
			})
		})
	}
}
