package analysis

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
)

func TestCheck_findsStaleSuppressionsInFilesWithoutFindings(t *testing.T) {
	const (
		comment = "// sandbox-lsp-ignore SBX031 -- moved soon\n"
		library = "package.json"
	)
	tests := map[string]struct {
		files map[string]string
		want  []string
	}{
		"a source file":                    {map[string]string{"src/a.js": comment + "import 'a';\n"}, []string{"src/a.js:1"}},
		"one that is needed":               {map[string]string{"src/a.js": comment + "import 'a/deep';\n"}, nil},
		"one without a reason":             {map[string]string{"src/a.ts": "f();\n// sandbox-lsp-ignore SBX031\n"}, []string{"src/a.ts:2"}},
		"a component":                      {map[string]string{"src/a.vue": "<template><b/></template>\n<script>\n" + comment + "import 'a';\n</script>\n"}, []string{"src/a.vue:3"}},
		"a component that needs it":        {map[string]string{"src/a.vue": "<script>\n" + comment + "import 'a/deep';\n</script>\n"}, nil},
		"text that is no comment":          {map[string]string{"src/a.js": "f(`" + comment + "`);\n"}, nil},
		"a file that does not parse":       {map[string]string{"src/a.js": comment + "import { 'a\n"}, nil},
		"a file that git ignores":          {map[string]string{"src/a.js": comment, ".gitignore": "src\n"}, nil},
		"the compatibility manifest":       {map[string]string{".sandbox/compat.config.js": comment + "export default {};\n"}, []string{".sandbox/compat.config.js:1"}},
		"while a library is not installed": {map[string]string{"src/a.js": comment + "import 'a';\n", "node_modules/a/" + library: ""}, nil},
	}
	s := newSession(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			writeFile(t, filepath.Join(root, ".sandbox", "sandbox.config.js"), "export default { a: { permissions: [] } };\n")
			writeFile(t, filepath.Join(root, "node_modules", "a", library), `{"name": "a", "version": "1.0.0", "main": "index.js"}`)
			writeFile(t, filepath.Join(root, "node_modules", "a", "index.js"), "exports.a = 1;\n")
			writeFile(t, filepath.Join(root, "node_modules", "a", "deep.js"), "exports.b = 1;\n")
			for file, content := range tt.files {
				writeFile(t, filepath.Join(root, filepath.FromSlash(file)), content)
			}
			result, err := s.Snapshot(root, nil).Check(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range result.Findings {
				if f.Code == finding.BadSuppression {
					got = append(got, fmt.Sprintf("%s:%d", f.File, f.Range.Start.Line+1))
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestFix_removesStaleSuppressions(t *testing.T) {
	s := newSession(t)
	root := t.TempDir()
	const stale = "// sandbox-lsp-ignore SBX031, SBX044 -- once\n"
	files := map[string][2]string{ // before and after
		".sandbox/sandbox.config.js": {stale + "export default { a: { permissions: [] } };\n", "export default { a: { permissions: [] } };\n"},
		"src/a.js":                   {stale + "import 'a';\n", "import 'a';\n"},
		"src/b.js":                   {stale + "import 'a/deep';\n", "// sandbox-lsp-ignore SBX031 -- once\nimport 'a/deep';\n"},
		"src/c.vue":                  {"<script>" + stale + "</script>\n", "<script>\n</script>\n"},
	}
	for file, content := range files {
		writeFile(t, filepath.Join(root, filepath.FromSlash(file)), content[0])
	}
	writeFile(t, filepath.Join(root, "node_modules", "a", "package.json"), `{"name": "a", "version": "1.0.0"}`)
	writeFile(t, filepath.Join(root, "node_modules", "a", "index.js"), "exports.a = 1;\n")
	if _, err := s.Fix(t.Context(), root, nil); err != nil {
		t.Fatal(err)
	}
	for file, content := range files {
		got, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(content[1], string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
}
