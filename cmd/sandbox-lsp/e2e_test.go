package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
)

// These tests run the built binary, as a shell or an editor would.

var update = flag.Bool("update", false, "rewrite the golden files")

// binary is the program under test, built once for all tests.
var binary string

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "sandbox-lsp-e2e-*")
	if err == nil {
		binary = filepath.Join(dir, "sandbox-lsp")
		var out []byte
		if out, err = exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
			err = fmt.Errorf("%w\n%s", err, out)
		}
	}
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, "build the binary:", err)
	} else {
		code = m.Run()
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// fixture returns the folder of a fixture project whose packages are installed.
func fixture(t *testing.T, name string) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "..", "testdata", "projects", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		t.Fatalf("the packages of %s are not installed; run: make deps", name)
	}
	return dir
}

type ended struct {
	code           int
	stdout, stderr string
}

// execute runs the binary with a cache of its own, or with the one given.
func execute(t *testing.T, dir, cache string, args ...string) ended {
	t.Helper()
	cmd := exec.Command(binary, append(args, "--cache-dir", cache)...)
	cmd.Dir = dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return ended{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

type jsonReport struct {
	SchemaVersion int
	Tool          struct{ Name, Version string }
	Findings      []finding.Finding
	Summary       struct{ Errors, Warnings, Infos, Hints int }
	Build         *struct{ Files, Stale []string }
}

func parseReport(t *testing.T, o ended) jsonReport {
	t.Helper()
	var r jsonReport
	if err := json.Unmarshal([]byte(o.stdout), &r); err != nil {
		t.Fatalf("the report is not JSON: %v\n%s\n%s", err, o.stdout, o.stderr)
	}
	return r
}

// cacheDir is shared by the tests that do not look at the cache itself.
func cacheDir(t *testing.T) string {
	t.Helper()
	return filepath.Join(filepath.Dir(binary), "cache")
}

// TestCheck_findsEveryMarkedFault holds the findings of the faulty project against
// the `want CODE` comments in its files.
func TestCheck_findsEveryMarkedFault(t *testing.T) {
	dir := fixture(t, "faulty")
	o := execute(t, dir, cacheDir(t), "check", "--format", "json")
	if o.code != exitFindings {
		t.Errorf("exit code %d\n%s", o.code, o.stderr)
	}
	var got []string
	for _, f := range parseReport(t, o).Findings {
		got = append(got, fmt.Sprintf("%s:%d %s", f.File, f.Range.Start.Line+1, f.Code))
	}
	if diff := cmp.Diff(markers(t, dir), sorted(got)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

var marker = regexp.MustCompile(`want (SBX\d{3})`)

func markers(t *testing.T, dir string) []string {
	t.Helper()
	var wants []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "dist" || d.Name() == "proxys"):
			return filepath.SkipDir
		case filepath.Ext(path) != ".js":
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		for i, line := range strings.Split(string(raw), "\n") {
			for _, m := range marker.FindAllStringSubmatch(line, -1) {
				wants = append(wants, fmt.Sprintf("%s:%d %s", filepath.ToSlash(rel), i+1, m[1]))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return sorted(wants)
}

func sorted(s []string) []string {
	slices.Sort(s)
	return s
}

// TestCheck_reportsTheSameBytesColdAndWarm compares the JSON report with its golden
// file, with an empty cache and with a full one.
func TestCheck_reportsTheSameBytesColdAndWarm(t *testing.T) {
	for _, name := range []string{"storefront", "faulty"} {
		t.Run(name, func(t *testing.T) {
			dir, cache := fixture(t, name), t.TempDir()
			cold := execute(t, dir, cache, "check", "--format", "json")
			warm := execute(t, dir, cache, "check", "--format", "json", "--jobs", "1")
			if diff := cmp.Diff(cold.stdout, warm.stdout); diff != "" {
				t.Errorf("cold and warm differ:\n%s", diff)
			}
			golden := filepath.Join("testdata", name+".json")
			if *update {
				if err := os.WriteFile(golden, []byte(cold.stdout), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), cold.stdout); diff != "" {
				t.Errorf("report (-golden +got):\n%s", diff)
			}
		})
	}
}

// Every format for programs has standard output to itself.
func TestCheck_formatsForPrograms(t *testing.T) {
	dir := newProject(t, map[string]string{"apps/shop/.sandbox/sandbox.config.js": "export default { lodahs: {} };\n"})
	for format, want := range map[string]string{
		"json":   `"file": ".sandbox/sandbox.config.js"`,
		"sarif":  `"uri": "apps/shop/.sandbox/sandbox.config.js"`,
		"junit":  `<testcase name="SBX005 at apps/shop/.sandbox/sandbox.config.js:1:18" classname="sandbox-lsp.lodahs"`,
		"github": "::error file=apps/shop/.sandbox/sandbox.config.js,line=1,endLine=1,col=18,endColumn=24,title=SBX003::",
	} {
		for _, command := range []string{"check", "build"} {
			t.Run(command+" "+format, func(t *testing.T) {
				o := execute(t, dir, cacheDir(t), command, "apps/shop", "--format", format)
				if o.code != exitFindings || !strings.Contains(o.stdout, want) {
					t.Errorf("exit %d, no %s in\n%s", o.code, want, o.stdout)
				}
				if !strings.Contains(o.stderr, "2 errors in 1 library") || strings.Contains(o.stdout, "2 errors in") {
					t.Errorf("the summary is not on standard error alone:\n%s\n%s", o.stdout, o.stderr)
				}
			})
		}
	}
}

func TestExitCodes(t *testing.T) {
	clean := newProject(t, map[string]string{".sandbox/sandbox.config.js": "export default {};\n"})
	broken := newProject(t, map[string]string{".sandbox/sandbox.config.js": "export default {\n"})
	none := newProject(t, map[string]string{"package.json": "{}"})
	tests := map[string]struct {
		dir  string
		args []string
		code int
		out  string // on stdout
		err  string // on stderr
	}{
		"clean":                {clean, []string{"check"}, exitClean, "No findings", ""},
		"findings":             {broken, []string{"check"}, exitFindings, "SBX001", ""},
		"no policy":            {none, []string{"check"}, exitFindings, "There is no policy at .sandbox/sandbox.config.js", ""},
		"below fail level":     {broken, []string{"check", "--fail-level", "none"}, exitClean, "SBX001", ""},
		"unknown command":      {clean, []string{"chekc"}, exitUsage, "", "unknown command"},
		"unknown flag":         {clean, []string{"check", "--frobnicate"}, exitUsage, "", "unknown flag"},
		"negative jobs":        {clean, []string{"check", "--jobs", "-1"}, exitUsage, "", "--jobs"},
		"jobs of no number":    {clean, []string{"check", "--jobs", "many"}, exitUsage, "", "--jobs"},
		"unknown format":       {clean, []string{"check", "--format", "xml"}, exitUsage, "", "unknown format"},
		"unknown level":        {clean, []string{"check", "--fail-level", "bad"}, exitUsage, "", "--fail-level"},
		"not a folder":         {clean, []string{"check", "nowhere"}, exitUsage, "", "not a folder"},
		"missing argument":     {clean, []string{"proxy"}, exitUsage, "", "accepts 1 arg"},
		"version":              {clean, []string{"version"}, exitClean, "sandbox-lsp ", ""},
		"help":                 {clean, nil, exitClean, "Usage:", ""},
		"proxy of the unknown": {clean, []string{"proxy", "lodash"}, exitFindings, "", `no library "lodash"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := execute(t, tt.dir, cacheDir(t), tt.args...)
			if o.code != tt.code || !strings.Contains(o.stdout, tt.out) || !strings.Contains(o.stderr, tt.err) {
				t.Errorf("exit %d, want %d\nstdout: %s\nstderr: %s", o.code, tt.code, o.stdout, o.stderr)
			}
		})
	}
}

// TestCacheDir_isWhereResultsAreKept gives each run a home of its own, so that what a
// run keeps elsewhere shows.
func TestCacheDir_isWhereResultsAreKept(t *testing.T) {
	dir := newProject(t, map[string]string{
		".sandbox/sandbox.config.js": "export default { tiny: { permissions: [] } };\n",
		"package.json":               `{"dependencies":{"tiny":"1"}}`,
		"node_modules/tiny/index.js": "exports.one = 1;\n", "node_modules/tiny/package.json": `{"name":"tiny","version":"1.0.0"}`,
	})
	own, fresh := t.TempDir(), t.TempDir()
	for name, tt := range map[string]struct {
		cache        string
		inHome, here bool
	}{
		"the user's":          {"", true, false},
		"a folder":            {own, false, true},
		"a folder to be made": {filepath.Join(fresh, "a", "b"), false, true},
		"none":                {"-", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			args := []string{"check", "--format", "json"}
			if tt.cache != "" {
				args = append(args, "--cache-dir", tt.cache)
			}
			cmd := exec.Command(binary, args...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME=", "TMPDIR="+home, "LocalAppData="+home)
			out, err := cmd.Output()
			if err != nil || !strings.Contains(string(out), `"loads": true`) {
				t.Errorf("%v\n%s", err, out)
			}
			holds := func(folder string) bool {
				found := false
				_ = filepath.WalkDir(folder, func(_ string, d os.DirEntry, err error) error {
					found = found || err == nil && !d.IsDir()
					return nil
				})
				return found
			}
			if got := holds(home); got != tt.inHome {
				t.Errorf("kept at home: %v", got)
			}
			if tt.here && !holds(tt.cache) {
				t.Error("nothing is kept in the folder")
			}
		})
	}
}

// newProject writes files into a new folder.
func newProject(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
