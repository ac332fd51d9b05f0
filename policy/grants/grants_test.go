package grants

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding/findingtest"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

var guest = map[string]bool{"Map": true, "Promise": true, "Function": true, "performance": true}

func read(t *testing.T, content string) *policy.Policy {
	t.Helper()
	p, err := policy.Read(t.Context(), policy.Source{Root: "/project", File: "/project/.sandbox/sandbox.config.js", Text: content}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestFindings_standAtTheirPlaces(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			content := string(archive.Files[0].Data)
			p := read(t, content)
			findingtest.Compare(t, findingtest.Parse(t, archive.Files[0].Name, content), append(p.Findings, Findings(p, guest)...))
		})
	}
}

// apply makes the edits of a fix in a text.
func apply(content string, fix finding.Fix) string {
	m := text.NewMapper(content)
	for _, e := range fix.Edits {
		span := m.Span(e.Range)
		content = content[:span.Start] + e.NewText + content[span.End:]
	}
	return content
}

func TestFixes_writeWhatTheMessageProposes(t *testing.T) {
	const head, tail = "export default { lodash: { permissions: ", " } };"
	tests := map[string]struct{ before, after string }{
		"another spelling":           {`["fecth"]`, `["fetch"]`},
		"in the quotes that stand":   {`['fecth']`, `['fetch']`},
		"in the object form":         {`[{ name: "fecth" }]`, `[{ name: "fetch" }]`},
		"a member":                   {`["window.fetch"]`, `["fetch"]`},
		"a rule":                     {`[{ name: "fetch", allow: ["https://a.example*"] }]`, `[{ name: "fetch", allow: ["https://a.example/*"] }]`},
		"the only permission":        {`["Map"]`, `[]`},
		"the first of two":           {`["Map", "Intl"]`, `["Intl"]`},
		"the last of two":            {`["Intl", "Map"]`, `["Intl"]`},
		"with a comma behind":        {`["Intl", "Map",]`, `["Intl", ]`},
		"on a line of its own":       {"[\n  \"Map\",\n  \"Intl\",\n]", "[\n  \"Intl\",\n]"},
		"nothing for the object":     {`[{ name: "Map" }]`, ``},
		"nothing for a computed one": {`["fec" + "th"]`, ``},
		"nothing for an escape":      {`["\u0066ecth"]`, ``},
		"nothing for process.env":    {`["process.env"]`, ``},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			findings := Findings(read(t, head+tt.before+tail), guest)
			if tt.after == "" {
				for _, f := range findings {
					if len(f.Fixes) > 0 {
						t.Errorf("a fix: %+v", f.Fixes)
					}
				}
				return
			}
			if len(findings) != 1 || len(findings[0].Fixes) != 1 {
				t.Fatalf("findings %+v", findings)
			}
			if diff := cmp.Diff(head+tt.after+tail, apply(head+tt.before+tail, findings[0].Fixes[0])); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFindings_carryWhatToolsNeed(t *testing.T) {
	findings := Findings(read(t, `export default { lodash: { permissions: ["fecth", "window", { name: "fetch", allow: ["https://*"] }] } };`), nil)
	var got []map[string]string
	for _, f := range findings {
		if f.File != ".sandbox/sandbox.config.js" {
			t.Errorf("file %q", f.File)
		}
		got = append(got, f.Data)
	}
	want := []map[string]string{
		{"library": "lodash", "permission": "fecth", "suggestion": "fetch"},
		{"library": "lodash", "permission": "window", "grade": "realm"},
		{"library": "lodash", "permission": "fetch", "problem": "any-host", "rule": "https://*"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
}

func TestFindings_withoutTheGuestsNames(t *testing.T) {
	findings := Findings(read(t, `export default { lodash: { permissions: ["Map", "Function"] } };`), nil)
	if len(findings) != 1 || findings[0].Code != finding.WholeRealm {
		t.Errorf("findings %+v", findings)
	}
}
