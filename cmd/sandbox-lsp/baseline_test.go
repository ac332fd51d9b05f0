package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBaseline_onlyNewFindingsCount(t *testing.T) {
	dir := newProject(t, map[string]string{policyFile: "export default {\n  lodahs: { permissions: [] },\n  uiud: {},\n};\n"})
	if o := execute(t, dir, cacheDir(t), "check"); o.code != exitFindings {
		t.Fatalf("exit %d\n%s", o.code, o.stdout)
	}
	o := execute(t, dir, cacheDir(t), "check", "--write-baseline", "known.json")
	if o.code != exitClean || !strings.Contains(o.stderr, "Wrote a baseline of 3 findings to known.json") || !strings.Contains(o.stdout, "No findings") {
		t.Fatalf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	first, err := os.ReadFile(filepath.Join(dir, "known.json"))
	if err != nil {
		t.Fatal(err)
	}

	// Lines move and one finding joins.
	change(t, dir, map[string]string{policyFile: "// a comment\n\nexport default {\n  lodahs: { permissions: [] },\n  uiud: {},\n  sq: { permissions: [] },\n};\n"})
	o = execute(t, dir, cacheDir(t), "check", "--baseline", "known.json")
	if o.code != exitFindings || !strings.Contains(o.stdout, `"sq" cannot be found`) || strings.Contains(o.stdout, "lodahs\" cannot") || !strings.Contains(o.stderr, "In the baseline: 3.\n") {
		t.Errorf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	o = execute(t, dir, cacheDir(t), "check", "--baseline", "known.json", "--format", "json")
	if r := parseReport(t, o); r.Summary.Errors != 1 || len(r.Findings) != 1 || !strings.Contains(o.stdout, `"inBaseline": 3`) {
		t.Errorf("report:\n%s", o.stdout)
	}
	if o = execute(t, dir, cacheDir(t), "build", "--baseline", "known.json", "--format", "sarif"); strings.Count(o.stdout, `"justification": "in the baseline"`) != 3 || o.code != exitFindings {
		t.Errorf("exit %d\n%s", o.code, o.stdout)
	}

	// One is mended: its entry is stale.
	change(t, dir, map[string]string{policyFile: "export default {\n  lodahs: { permissions: [] },\n};\n"})
	o = execute(t, dir, cacheDir(t), "check", "--baseline", "known.json")
	if o.code != exitClean || !strings.Contains(o.stderr, `1 × SBX003 of "uiud" in .sandbox/sandbox.config.js, which is not found any more`) || !strings.Contains(o.stderr, "--write-baseline known.json") {
		t.Errorf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}

	// A policy that cannot be read makes nothing stale, and is no known finding.
	change(t, dir, map[string]string{policyFile: "export default {\n"})
	o = execute(t, dir, cacheDir(t), "check", "--baseline", "known.json")
	if o.code != exitFindings || strings.Contains(o.stderr, "not found any more") {
		t.Errorf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	if again, err := os.ReadFile(filepath.Join(dir, "known.json")); err != nil || string(again) != string(first) {
		t.Errorf("reading a baseline changed it: %v", err)
	}
}

func TestBaseline_wrongUse(t *testing.T) {
	dir := newProject(t, map[string]string{policyFile: "export default {};\n", "broken.json": "{"})
	for name, tt := range map[string]struct {
		args []string
		err  string
	}{
		"missing":       {[]string{"--baseline", "none.json"}, "make one with: sandbox-lsp check --write-baseline none.json"},
		"broken":        {[]string{"--baseline", "broken.json"}, "write it anew"},
		"no folder":     {[]string{"--write-baseline", "no/where.json"}, "its folder has to exist"},
		"of a part":     {[]string{"--write-baseline", "a.json", "--changed", "main"}, "without --changed"},
		"read and made": {[]string{"--write-baseline", "a.json", "--baseline", "a.json"}, "leave --baseline out"},
	} {
		t.Run(name, func(t *testing.T) {
			if o := execute(t, dir, cacheDir(t), append([]string{"check"}, tt.args...)...); o.code != exitUsage || !strings.Contains(o.stderr, tt.err) {
				t.Errorf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
			}
		})
	}
}

func TestChanged_showsWhatTheChangeHasToDoWith(t *testing.T) {
	library := func(files map[string]string, name, code string) {
		files["node_modules/"+name+"/package.json"] = fmt.Sprintf(`{"name":%q,"version":"1.0.0"}`, name)
		files["node_modules/"+name+"/index.js"] = code
	}
	files := map[string]string{
		policyFile: `export default {
  one: { permissions: [] },
  two: { permissions: [] },
  dep: { permissions: [], workloads: { w: { entry: "src/w.js", exports: ["run"] } } },
};
`,
		"src/w.js":          "import 'one';\nexport const run = () => 1;\n",
		"package.json":      `{"dependencies":{"one":"1","two":"1","dep":"1"}}`,
		"package-lock.json": `{"packages":{"node_modules/one":{"version":"1.0.0"},"node_modules/two":{"version":"1.0.0","dependencies":{"dep":"1"}},"node_modules/dep":{"version":"1.0.0"}}}`,
	}
	for _, name := range []string{"one", "two", "dep"} { // none of them has types: a finding each
		library(files, name, "exports.one = 1;\n")
	}
	dir := inGit(t, files, nil)
	found := func(args ...string) []string {
		t.Helper()
		var all []string
		for _, f := range parseReport(t, execute(t, dir, cacheDir(t), append([]string{"check", "--format", "json"}, args...)...)).Findings {
			all = append(all, fmt.Sprintf("%s %s %s", f.Code, f.Data["library"], filepath.Base(f.File)))
		}
		slices.Sort(all)
		return all
	}
	all := []string{"SBX023 dep w.js", "SBX030 dep sandbox.config.js", "SBX030 one sandbox.config.js", "SBX030 two sandbox.config.js"}
	if diff := cmp.Diff(all, found()); diff != "" {
		t.Fatalf("findings of all (-want +got):\n%s", diff)
	}
	steps := []struct {
		name, file, old, new string
		want                 []string
	}{
		{"nothing", "src/w.js", "", "", nil},
		{"another file", "src/w.js", "=> 1", "=> 2", []string{"SBX023 dep w.js"}},
		{"line ends", "src/w.js", "\n", "\r\n", nil},
		{"a comment in the policy", policyFile, "export", "// a comment\nexport", nil},
		{"an entry of the policy", policyFile, "one: { permissions: []", "one: { permissions: [], snapshot: true", []string{"SBX030 one sandbox.config.js"}},
		{"a version", "package-lock.json", `"node_modules/one":{"version":"1.0.0"`, `"node_modules/one":{"version":"1.0.1"`, []string{"SBX030 one sandbox.config.js"}},
		{"a dependency's version", "package-lock.json", `"node_modules/dep":{"version":"1.0.0"`, `"node_modules/dep":{"version":"1.0.1"`, []string{"SBX023 dep w.js", "SBX030 dep sandbox.config.js", "SBX030 two sandbox.config.js"}},
	}
	for _, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			changed := files[step.file]
			if step.old != "" {
				changed = strings.ReplaceAll(changed, step.old, step.new)
			}
			change(t, dir, map[string]string{step.file: changed})
			if diff := cmp.Diff(step.want, found("--changed", "main")); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			change(t, dir, map[string]string{step.file: files[step.file]})
		})
	}
	t.Run("a policy that cannot be read", func(t *testing.T) {
		change(t, dir, map[string]string{policyFile: "export default {\n"})
		if o := execute(t, dir, cacheDir(t), "check", "--changed", "main"); o.code != exitFindings || !strings.Contains(o.stdout, "SBX001") {
			t.Errorf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
		}
	})
}
