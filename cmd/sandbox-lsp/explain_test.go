package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
)

func TestExplain(t *testing.T) {
	dir := t.TempDir()
	tests := map[string]struct {
		args     []string
		code     int
		out, err string
	}{
		"a page":             {[]string{"explain", "SBX014"}, exitClean, "SBX014: A global that the library uses is not granted\n\nWhat it means\n", ""},
		"in lower case":      {[]string{"explain", "sbx003"}, exitClean, "    // .sandbox/sandbox.config.js\n    export default {\n", ""},
		"in colour":          {[]string{"explain", "SBX014", "--color", "always"}, exitClean, "\x1b[1mWhat it means\x1b[0m", ""},
		"all codes":          {[]string{"explain"}, exitClean, "SBX005  A library has no permissions\n", ""},
		"a slip":             {[]string{"explain", "SBX0144"}, exitUsage, "", "did you mean SBX014?"},
		"a global":           {[]string{"explain", "fetch"}, exitClean, "Authority: powerful. It sends requests anywhere", ""},
		"a global's kind":    {[]string{"explain", "localStorage"}, exitClean, "localStorage (object, in windows and Node)\n", ""},
		"a slip of a global": {[]string{"explain", "fecth"}, exitUsage, "", "did you mean fetch?"},
		"unknown":            {[]string{"explain", "frobnicate"}, exitUsage, "", "sandbox-lsp explain lists all codes"},
		"bad colour":         {[]string{"explain", "--color", "blue"}, exitUsage, "", "auto, always or never"},
		"too many":           {[]string{"explain", "SBX001", "SBX002"}, exitUsage, "", "at most 1 arg"},
		"no colour in pipe":  {[]string{"explain", "SBX001"}, exitClean, "`export default {};`", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := execute(t, dir, "-", tt.args...)
			if o.code != tt.code || !strings.Contains(o.stdout, tt.out) || !strings.Contains(o.stderr, tt.err) {
				t.Errorf("exit %d, want %d\nstdout: %s\nstderr: %s", o.code, tt.code, o.stdout, o.stderr)
			}
		})
	}
}

var (
	exampleFile  = regexp.MustCompile("(?ms)^```\\w+ title=\"([^\"]+)\"\n(.*?)^```$")
	exampleSays  = regexp.MustCompile("(?ms)^```text\n(.*?)^```$")
	exampleEntry = regexp.MustCompile(`(?m)^  "?([\w-]+)"?: \{`)
)

// unseen are the codes whose examples `check` of the files alone does not give: a
// change needs an earlier revision, a changed file an earlier build, and how long a
// test takes is left to chance.
var unseen = []finding.Code{finding.HashMismatch, finding.FlakyTest, finding.WidenedAuthority}

// TestPages_theExamplesGiveWhatTheySay lays every page's example out as a project and
// looks for the page's message in the report.
func TestPages_theExamplesGiveWhatTheySay(t *testing.T) {
	for _, code := range finding.Codes() {
		if slices.Contains(unseen, code) {
			continue
		}
		t.Run(string(code), func(t *testing.T) {
			page, _ := finding.PageOf(code)
			example := page.Section(finding.SectionExample)
			command := "check"
			if strings.HasPrefix(string(code), "SBX05") { // what campaigns find
				command = "test"
			}
			o := execute(t, exampleProject(t, example), cacheDir(t), command, "--color", "never")
			for _, line := range says(t, code) {
				if !strings.Contains(o.stdout, line) {
					t.Errorf("the report has no %q:\n%s%s", line, o.stdout, o.stderr)
				}
			}
		})
	}
}

// exampleProject writes the files of an example, and a package for every library
// that its policy names and the example does not bring itself.
func exampleProject(t *testing.T, example string) string {
	t.Helper()
	files := map[string]string{}
	for _, m := range exampleFile.FindAllStringSubmatch(example, -1) {
		files[m[1]] = m[2]
	}
	if files[".sandbox/sandbox.config.js"] == "" {
		files[".sandbox/sandbox.config.js"] = "export default {\n  qs: { permissions: [] },\n};\n"
	}
	packages := map[string]bool{"lodash": true}
	for _, m := range exampleEntry.FindAllStringSubmatch(files[".sandbox/sandbox.config.js"], -1) {
		packages[m[1]] = m[1] != "lodahs"
	}
	maps.DeleteFunc(packages, func(_ string, installed bool) bool { return !installed })
	listed := map[string]string{}
	for name := range packages {
		listed[name] = "1.0.0"
		files["node_modules/"+name+"/package.json"] = fmt.Sprintf(`{"name":%q,"version":"1.0.0"}`, name)
		if files["node_modules/"+name+"/index.js"] == "" {
			filling := ""
			if name == "moment" { // of the page on budgets
				filling = strings.Repeat("x", 300_000)
			}
			files["node_modules/"+name+"/index.js"] = fmt.Sprintf("exports.text = %q;\n", filling)
			files["node_modules/"+name+"/index.d.ts"] = "export const text: string;\n"
		}
	}
	for _, name := range slices.Collect(maps.Keys(files)) { // packages that an example shows by their manifest
		if entry := strings.TrimSuffix(name, "package.json") + "index.js"; entry != name+"index.js" && files[entry] == "" {
			files[entry] = "exports.text = \"\";\n"
		}
	}
	manifest, err := json.Marshal(map[string]any{"dependencies": listed})
	if err != nil {
		t.Fatal(err)
	}
	files["package.json"] = string(manifest)
	return newProject(t, files)
}

// says are the lines that a page's example shows as printed.
func says(t *testing.T, code finding.Code) []string {
	t.Helper()
	page, _ := finding.PageOf(code)
	m := exampleSays.FindStringSubmatch(page.Section(finding.SectionExample))
	if m == nil {
		t.Fatal("the example shows no message")
	}
	return strings.Split(strings.TrimSuffix(m[1], "\n"), "\n")
}

func TestPages_theExampleOfAChangedFile(t *testing.T) {
	dir := exampleProject(t, "```js title=\".sandbox/sandbox.config.js\"\nexport default {\n  lodash: { permissions: [] },\n};\n```\n")
	if o := execute(t, dir, cacheDir(t), "build"); o.code != exitClean {
		t.Fatalf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	bundle := outputs(t, dir, []string{"dist/lodash.bundle.js"})["dist/lodash.bundle.js"]
	change(t, dir, map[string]string{"dist/lodash.bundle.js": bundle + "// a quick fix\n"})
	o := execute(t, dir, cacheDir(t), "check", "--color", "never")
	for _, line := range says(t, finding.HashMismatch) {
		if !strings.Contains(o.stdout, line) {
			t.Errorf("the report has no %q:\n%s", line, o.stdout)
		}
	}
}

func TestPages_theExampleOfAWidenedPermission(t *testing.T) {
	page, _ := finding.PageOf(finding.WidenedAuthority)
	now := exampleFile.FindStringSubmatch(page.Section(finding.SectionExample))[2]
	dir := inGit(t, map[string]string{policyFile: "export default { uuid: { permissions: [\"crypto\"] } };\n"}, map[string]string{policyFile: now})
	o := execute(t, dir, cacheDir(t), "diff", "main", "--color", "never")
	for _, line := range says(t, finding.WidenedAuthority) {
		if !strings.Contains(o.stdout, line) {
			t.Errorf("the report has no %q:\n%s", line, o.stdout)
		}
	}
}
