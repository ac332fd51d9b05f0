package appscan

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// check unpacks a project with the given policy and source and returns its findings.
func check(t *testing.T, config, source string) (root string, found []finding.Finding) {
	t.Helper()
	root = t.TempDir()
	unpack(t, root, txtar.Parse([]byte("-- node_modules/lodash/package.json --\n{\"name\":\"lodash\",\"version\":\"1.0.0\",\"main\":\"l.js\"}\n-- node_modules/lodash/l.js --\n")).Files)
	write(t, filepath.Join(root, ".sandbox", "sandbox.config.js"), config)
	write(t, filepath.Join(root, "src", "app.js"), source)
	p, project := open(t, root)
	return root, Findings(project, p, scanned(t, NewScanner(Options{}), project).Imports)
}

// TestFindings_offerFixesThatWork applies the fix of the one finding and scans again.
func TestFindings_offerFixesThatWork(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, config, source, fixed string }{
		{"a subpath", "export default { lodash: {} };", "import 'lodash/fp';", ""},
		{"a subpath, with the option", "export default { lodash: { subpaths: true } };", "import 'lodash/fp';", ""},
		{"a misspelt workload", "export default { lodash: { workloads: { stats: { entry: 'src/w.js', exports: ['x'] } } } };", "/* 🎉 */ import 'sandbox-workload/lodash/stast';", "/* 🎉 */ import 'sandbox-workload/lodash/stats';"},
		{"a path", "export default { lodash: {} };", "import '../node_modules/lodash/l.js';", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root, found := check(t, c.config, c.source)
			if len(found) != 1 {
				t.Fatalf("findings: %v", found)
			}
			if c.fixed == "" {
				if len(found[0].Fixes) != 0 {
					t.Errorf("a fix is offered: %v", found[0].Fixes)
				}
				return
			}
			if len(found[0].Fixes) != 1 || len(found[0].Fixes[0].Edits) != 1 {
				t.Fatalf("fixes: %v", found[0].Fixes)
			}
			edit := found[0].Fixes[0].Edits[0]
			file := filepath.Join(root, filepath.FromSlash(edit.File))
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			span := text.NewMapper(string(content)).Span(edit.Range)
			fixed := string(content[:span.Start]) + edit.NewText + string(content[span.End:])
			if fixed != c.fixed {
				t.Errorf("got  %s\nwant %s", fixed, c.fixed)
			}
			write(t, file, fixed)
			p, project := open(t, root)
			if again := Findings(project, p, scanned(t, NewScanner(Options{}), project).Imports); len(again) != 0 {
				t.Errorf("after the fix: %v", again)
			}
		})
	}
}

// TestFindings_holdNothingAgainstAHalfKnownPolicy: what is absent from it may be
// there all the same.
func TestFindings_holdNothingAgainstAHalfKnownPolicy(t *testing.T) {
	t.Parallel()
	const source = "import 'lodash/fp';\nimport 'sandbox-workload/lodash/x';\nimport 'sandbox-real/lodash';\n"
	_, found := check(t, "export default { lodash: { permissions: [], ...more() } };", source)
	if len(found) != 1 || found[0].Range.Start.Line != 2 {
		t.Errorf("findings: %v", found)
	}
}

func TestFindings_leadToThePolicyAndCarryData(t *testing.T) {
	t.Parallel()
	_, found := check(t, "export default {\n  lodash: { permissions: [] } };", "import 'lodash/fp';")
	if len(found) != 1 {
		t.Fatalf("findings: %v", found)
	}
	f := found[0]
	if f.File != "src/app.js" || f.Data["library"] != "lodash" || f.Data["specifier"] != "lodash/fp" || f.Data["form"] != "import" {
		t.Errorf("file %s, data %v", f.File, f.Data)
	}
	want := text.Range{Start: text.Position{Line: 1, Character: 2}, End: text.Position{Line: 1, Character: 8}}
	if len(f.Related) != 1 || f.Related[0].File != policy.ConfigFile || f.Related[0].Range != want {
		t.Errorf("related: %v", f.Related)
	}
}

func TestForms_explainEveryForm(t *testing.T) {
	t.Parallel()
	for form, c := range forms {
		if c.why == "" || strings.HasSuffix(c.why, ".") || c.covered && !c.certain {
			t.Errorf("%s: %+v", form, c)
		}
	}
}
