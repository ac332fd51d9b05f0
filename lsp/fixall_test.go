package lsp

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// preferring is a parse like fixable, whose fixes at "bad" are preferred and of which
// the one at "worse" also changes another file.
func preferring(ctx context.Context, sn *fakeSnapshot) ([]finding.Finding, error) {
	findings, err := fixable(ctx, sn)
	for i := range findings {
		findings[i].Fixes[0].Preferred = true
		findings[i].Fixes = append([]finding.Fix{{Title: "Another way", Edits: findings[i].Fixes[0].Edits}}, findings[i].Fixes...)
	}
	for _, f := range sn.words("worse") {
		f.Fixes = []finding.Fix{{Title: "Elsewhere", Preferred: true, Edits: []finding.Edit{{File: f.File, Range: f.Range}, {File: "src/x.js", NewText: "x"}}}}
		findings = append(findings, f)
	}
	for _, f := range sn.words("wrong") {
		f.Fixes = []finding.Fix{{Title: "New", Preferred: true, Creates: []finding.NewFile{{File: "src/new.js", Text: "x"}}}}
		findings = append(findings, f)
	}
	return findings, err
}

func TestFixAll_makesThePreferredFixesOfTheDocument(t *testing.T) {
	all := func(only ...string) map[string]any { return map[string]any{"diagnostics": []any{}, "only": only} }
	tests := map[string]struct {
		content string
		context map[string]any
		want    []string // the new text at each column
	}{
		"every one of them":        {"bad 😀 bad", all("source.fixAll.sandbox-lsp"), []string{"0 good", "7 good"}},
		"by a wider kind":          {"bad bad", all("source.fixAll"), []string{"0 good", "4 good"}},
		"by the widest":            {"bad bad", all("source"), []string{"0 good", "4 good"}},
		"not those that touch":     {"badbad bad", all("source.fixAll"), []string{"0 good", "7 good"}},
		"nothing of other files":   {"worse bad", all("source.fixAll"), []string{"6 good"}},
		"no new files":             {"wrong bad", all("source.fixAll"), []string{"6 good"}},
		"nothing to do":            {"fine", all("source.fixAll"), nil},
		"another server's":         {"bad", all("source.fixAll.eslint"), nil},
		"a name that only begins":  {"bad", all("source.fix"), nil},
		"unless it was asked for":  {"bad", all("refactor"), nil},
		"unless nothing was named": {"bad", map[string]any{"diagnostics": []any{}}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := start(t, &fakeCore{parse: preferring}, Options{})
				e.initialize(map[string]any{"workspace": map[string]any{"workspaceEdit": map[string]any{"documentChanges": true, "resourceOperations": []string{"create"}}}}, nil)
				e.open(policyURI, tt.content)
				e.diagnostics(policyURI)
				// The range says nothing: the action is for the document.
				var actions []struct {
					Kind string
					Edit struct {
						DocumentChanges []struct {
							TextDocument struct {
								URI     string
								Version int
							}
							Edits []struct {
								Range   text.Range
								NewText string
							}
						}
					}
				}
				if err := json.Unmarshal(e.actions(policyURI, span(9, 0, 0), tt.context), &actions); err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, a := range actions {
					if a.Kind != "source.fixAll.sandbox-lsp" || len(a.Edit.DocumentChanges) != 1 || a.Edit.DocumentChanges[0].TextDocument.URI != policyURI || a.Edit.DocumentChanges[0].TextDocument.Version != 1 {
						t.Fatalf("action %+v", a)
					}
					for _, edit := range a.Edit.DocumentChanges[0].Edits {
						got = append(got, string(rune('0'+edit.Range.Start.Character))+" "+edit.NewText)
					}
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				e.stop()
			})
		})
	}
}

func TestFixAll_ofAnotherVersionIsNotOffered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		core := &fakeCore{parse: func(ctx context.Context, sn *fakeSnapshot) ([]finding.Finding, error) {
			if sn.policy() == " bad" {
				<-hold
			}
			return preferring(ctx, sn)
		}}
		e := start(t, core, Options{})
		e.initialize(nil, nil)
		e.open(policyURI, "bad")
		e.diagnostics(policyURI)
		e.replace(policyURI, 2, " bad")
		only := map[string]any{"diagnostics": []any{}, "only": []string{"source.fixAll"}}
		if got := titles(t, e.actions(policyURI, span(0, 0, 0), only)); len(got) != 0 {
			t.Errorf("offered %v for a text that is gone", got)
		}
		close(hold)
		synctest.Wait()
		if got := titles(t, e.actions(policyURI, span(0, 0, 0), only)); len(got) != 1 {
			t.Errorf("offered %v", got)
		}
		e.stop()
	})
}

func TestCodeAction_thePreferredOfSeveralFixesIsMarked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := start(t, &fakeCore{parse: preferring}, Options{})
		e.initialize(nil, nil)
		e.open(policyURI, "bad")
		e.diagnostics(policyURI)
		var actions []struct{ IsPreferred bool }
		if err := json.Unmarshal(e.actions(policyURI, span(0, 0, 0), nil), &actions); err != nil {
			t.Fatal(err)
		}
		if len(actions) != 2 || actions[0].IsPreferred || !actions[1].IsPreferred {
			t.Errorf("actions %+v", actions)
		}
		e.stop()
	})
}

func TestCodeAction_aFixThatCreatesAFile(t *testing.T) {
	root := t.TempDir()
	config := filepath.Join(root, ".sandbox", "sandbox.config.js")
	if err := os.MkdirAll(filepath.Join(root, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "src", "there.js"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	core := &fakeCore{roots: []string{root}, parse: func(_ context.Context, sn *fakeSnapshot) ([]finding.Finding, error) {
		findings := sn.words("bad")
		for i := range findings {
			for _, file := range []string{"src/new.js", "src/there.js", "src/open.js"} {
				findings[i].Fixes = append(findings[i].Fixes, finding.Fix{
					Title:   file,
					Creates: []finding.NewFile{{File: file, Text: "export {}\n"}},
					Edits:   []finding.Edit{{File: findings[i].File, Range: findings[i].Range, NewText: "good"}},
				})
			}
		}
		return findings, nil
	}}
	tests := map[string]struct {
		edit map[string]any
		want string
	}{
		"a client that creates files": {
			map[string]any{"documentChanges": true, "resourceOperations": []string{"create", "rename"}},
			`{"documentChanges":[` +
				`{"kind":"create","uri":"` + string(uriOf(filepath.Join(root, "src/new.js"))) + `"},` +
				`{"textDocument":{"uri":"` + string(uriOf(filepath.Join(root, "src/new.js"))) + `","version":null},"edits":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"newText":"export {}\n"}]},` +
				`{"textDocument":{"uri":"` + string(uriOf(config)) + `","version":1},"edits":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":3}},"newText":"good"}]}]}`,
		},
		"a client that only renames": {map[string]any{"documentChanges": true, "resourceOperations": []string{"rename"}}, ""},
		"a client without versions":  {map[string]any{"resourceOperations": []string{"create"}}, ""},
		"a client that says nothing": {nil, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := start(t, core, Options{})
				e.initialize(map[string]any{"workspace": map[string]any{"workspaceEdit": tt.edit}}, nil)
				e.open(string(uriOf(filepath.Join(root, "src", "open.js"))), "")
				e.open(string(uriOf(config)), "bad")
				e.diagnostics(string(uriOf(config)))
				synctest.Wait()
				var actions []struct {
					Title string
					Edit  json.RawMessage
				}
				if err := json.Unmarshal(e.actions(string(uriOf(config)), span(0, 0, 0), nil), &actions); err != nil {
					t.Fatal(err)
				}
				switch {
				case tt.want == "" && len(actions) > 0:
					t.Errorf("offered %+v", actions)
				case tt.want != "" && (len(actions) != 1 || actions[0].Title != "src/new.js"):
					t.Errorf("offered %+v", actions)
				case tt.want != "":
					equalJSON(t, tt.want, actions[0].Edit)
				}
				e.stop()
			})
		})
	}
}
