package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// elapsed matches what differs from run to run.
var elapsed = regexp.MustCompile(`[0-9.]+ ?(?:ms|µs|s)\b|"elapsedMs": *[0-9.]+|time="[0-9.]+"|timestamp="[^"]*"`)

// inWorkspace makes a project below a workspace whose packages lie above it: one is
// hoisted, one is a link to its sources, and the others are broken in some way.
func inWorkspace(t *testing.T) (top, project string) {
	t.Helper()
	top = newProject(t, map[string]string{
		"package.json":        `{"private": true, "workspaces": ["apps/*", "packages/*"]}`,
		"apps/a/package.json": `{"dependencies": {"hoisted": "1", "tools": "1", "torn": "1", "throws": "1", "leads": "1", "loop": "1"}}`,
		"apps/a/" + policyFile: `export default {
  hoisted: { permissions: ["fetch"] }, tools: { permissions: [] }, torn: { permissions: [] },
  throws: { permissions: [] }, leads: { permissions: [] }, loop: { permissions: [] },
};
`,
		"apps/a/src/i.js":                   "import \"hoisted\";\nimport \"../../../packages/tools/index.js\";\n",
		"node_modules/hoisted/package.json": `{"name": "hoisted", "version": "1.0.0"}`,
		"node_modules/hoisted/index.js":     "exports.go = (k) => { console.log(1); return globalThis[k]; };\nmodule.require(exports.go());\n",
		"node_modules/torn/package.json":    `{"name": "torn", "version": "1.0.0"}`,
		"node_modules/torn/index.js":        "require(\"./gone.js\"); require(\"fs\");\n",
		"node_modules/throws/package.json":  `{"name": "throws", "version": "1.0.0"}`,
		"node_modules/throws/index.js":      "function f() { document.title; }\nf();\n",
		"node_modules/leads/package.json":   `{"name": "leads", "version": "1.0.0", "main": "../../packages/secret.js"}`,
		"packages/secret.js":                "exports.a = 1;\n",
		"packages/tools/package.json":       `{"name": "tools", "version": "1.0.0", "types": "index.d.ts"}`,
		"packages/tools/index.js":           "exports.go = () => fetch(\"/x\");\n",
		"packages/tools/index.d.ts":         "export declare function go(): void;\nexport declare function gone(): void;\n",
	})
	link("node_modules/tools", "../packages/tools")(t, top)
	link("node_modules/loop", "loop")(t, top)
	return top, filepath.Join(top, "apps", "a")
}

func TestWorkspace_noPathOfTheMachineIsSaidOrWritten(t *testing.T) {
	runs := map[string][]string{
		"check": {"check"}, "JSON": {"check", "--format", "json"}, "SARIF": {"check", "--format", "sarif"}, "JUnit": {"check", "--format", "junit"},
		"GitHub": {"check", "--format", "github"}, "init": {"init", "--all"}, "build": {"build"},
	}
	timeless := func(s string) string { return elapsed.ReplaceAllString(s, "TIME") }
	first := map[string]string{}
	for round := range 2 { // the same project in another folder says the same
		top, project := inWorkspace(t)
		for _, name := range []string{"check", "JSON", "SARIF", "JUnit", "GitHub", "init", "build"} {
			o := start(project, runs[name]...)
			said := o.stdout + o.stderr
			if strings.Contains(said, top) || strings.Contains(said, filepath.Base(filepath.Dir(top))) {
				t.Errorf("%s says where the project is:\n%.3000s", name, said)
			}
			if round == 0 {
				first[name] = said
			} else if diff := cmp.Diff(timeless(first[name]), timeless(said)); diff != "" {
				t.Errorf("%s depends on the folder (-first +second):\n%.3000s", name, diff)
			}
		}
		for name, content := range filesOf(t, project) {
			if strings.Contains(content, top) {
				t.Errorf("%s holds the path of the project", name)
			}
		}
	}
	for _, want := range []string{
		"../../node_modules/hoisted/index.js:1:23", "../../packages/tools/index.js:1:20", "../../node_modules/torn/index.js:1:9 error SBX040",
		"../../node_modules/throws/index.js:1:16", "to ../../packages/secret.js", "../../node_modules/loop is a symbolic link",
	} {
		if !strings.Contains(first["check"], want) {
			t.Errorf("%q is not said:\n%s", want, first["check"])
		}
	}
}

// filesOf reads the files of a folder that are no packages.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		files[path] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
