package grants

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding/findingtest"
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
	findingtest.Fixtures(t, func(t *testing.T, archive *txtar.Archive) {
		content := string(archive.Files[0].Data)
		p := read(t, content)
		findingtest.Compare(t, findingtest.Parse(t, archive.Files[0].Name, content), append(p.Findings, Findings(p, guest)...))
	})
}

func TestFindings_carryWhatToolsNeed(t *testing.T) {
	findings := Findings(read(t, `export default { lodash: { permissions: ["fecth", "document", { name: "fetch", allow: ["https://*"] }] } };`), nil)
	var got []map[string]string
	for _, f := range findings {
		if f.File != ".sandbox/sandbox.config.js" {
			t.Errorf("file %q", f.File)
		}
		got = append(got, f.Data)
	}
	want := []map[string]string{
		{"library": "lodash", "permission": "fecth", "suggestion": "fetch"},
		{"library": "lodash", "permission": "document", "grade": "realm"},
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
