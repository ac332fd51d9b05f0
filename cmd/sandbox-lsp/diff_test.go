package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
)

// inGit commits a project's files, and then writes what changed; an empty text
// removes a file.
func inGit(t *testing.T, files, changes map[string]string) string {
	t.Helper()
	dir := newProject(t, files)
	gitIn(t, dir, "init", "-q", "-b", "main")
	gitIn(t, dir, "add", "-Af", ".")
	gitIn(t, dir, "commit", "-q", "-m", "first")
	change(t, dir, changes)
	return dir
}

func change(t *testing.T, dir string, changes map[string]string) {
	t.Helper()
	for name, content := range changes {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if content == "" {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// authority is a project whose policy is made of two files, so that comparing has to
// evaluate both states, each with its own helper.
var authority = map[string]string{
	policyFile:           "import { shared } from './shared';\nexport default { lodash: { permissions: [...shared] }, uuid: { permissions: ['crypto'], limits: { timeoutMs: 500 } } };\n",
	".sandbox/shared.js": "export const shared = ['URL'];\n",
	"package-lock.json":  `{"packages": {"node_modules/lodash": {"version": "4.17.20", "integrity": "sha512-a"}, "node_modules/uuid": {"version": "9.0.0", "integrity": "sha512-u"}}}`,
}

func TestDiff_evaluatesBothStates(t *testing.T) {
	dir := inGit(t, authority, map[string]string{
		policyFile:           "import { shared } from './shared';\nexport default { lodash: { permissions: [...shared] }, uuid: { permissions: ['crypto'] } };\n",
		".sandbox/shared.js": "export const shared = ['URL', 'localStorage'];\n",
		"package-lock.json":  `{"packages": {"node_modules/lodash": {"version": "4.17.21", "integrity": "sha512-b"}, "node_modules/uuid": {"version": "9.0.0", "integrity": "sha512-x"}}}`,
	})
	o := execute(t, dir, cacheDir(t), "diff", "main")
	if o.code != exitFindings {
		t.Errorf("exit %d\n%s", o.code, o.stderr)
	}
	for _, want := range []string{
		"lodash\n  widened   is granted localStorage, which it was not at main.",
		"  changed   is version 4.17.21; at main it was 4.17.20.\n",
		"uuid\n  widened   ALARM has other bytes under the same version, \"uuid 9.0.0\"",
		"  widened   may use any amount of time for a call; at main it was 500 ms of time for a call.\n",
		"3 widened, 1 changed, 0 narrowed in 2 libraries since main (",
	} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("no %q in\n%s", want, o.stdout)
		}
	}
	md := execute(t, dir, cacheDir(t), "diff", "main", "--format", "markdown").stdout
	if want := "| `lodash` | **widened** | is granted `localStorage`, which it was not at `main`."; !strings.Contains(md, want) {
		t.Errorf("no %s in\n%s", want, md)
	}
	var doc struct {
		SchemaVersion    int
		Revision, Commit string
		Libraries        []struct {
			Name    string
			Changes []struct {
				Effect, Kind, Subject, Message string
				Alarm                          bool
			}
		}
		Findings []finding.Finding
		Summary  struct{ Widened, Changed, Narrowed int }
	}
	first := execute(t, dir, cacheDir(t), "diff", "main", "--format", "json").stdout
	if err := json.Unmarshal([]byte(first), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.SchemaVersion != 1 || doc.Revision != "main" || len(doc.Commit) != 40 || doc.Summary.Widened != 3 || len(doc.Findings) != 3 || doc.Libraries[1].Changes[0].Kind != "integrity" || !doc.Libraries[1].Changes[0].Alarm {
		t.Errorf("report:\n%s", first)
	}
	if again := execute(t, dir, t.TempDir(), "diff", "main", "--format", "json").stdout; again != first {
		t.Errorf("a second report differs:\n%s", cmp.Diff(first, again))
	}
	for format, want := range map[string]string{"sarif": `"ruleId": "SBX060"`, "github": "title=SBX060::"} {
		if o := execute(t, dir, cacheDir(t), "diff", "main", "--format", format); !strings.Contains(o.stdout, want) {
			t.Errorf("%s has no %s:\n%s", format, want, o.stdout)
		}
	}
}

func TestDiff_exitCodesAndErrors(t *testing.T) {
	same := inGit(t, authority, nil)
	narrowed := inGit(t, authority, map[string]string{".sandbox/shared.js": "export const shared = [];\n"})
	widened := inGit(t, authority, map[string]string{".sandbox/shared.js": "export const shared = ['URL', 'fetch'];\n"})
	added := inGit(t, map[string]string{"README.md": "x"}, authority)
	deleted := inGit(t, authority, map[string]string{policyFile: "", ".sandbox/shared.js": "export const shared = [];\n"})
	half := inGit(t, authority, map[string]string{policyFile: "export default {\n"})
	// What is only on disk today must not stand in for what git did not have.
	ignored := maps.Clone(authority)
	delete(ignored, ".sandbox/shared.js")
	missing := inGit(t, ignored, map[string]string{".sandbox/shared.js": authority[".sandbox/shared.js"]})
	tests := map[string]struct {
		dir      string
		args     []string
		code     int
		out, err string
	}{
		"nothing changed":         {same, nil, exitClean, "No library may do more or less since main", ""},
		"by the hash":             {same, []string{"--fail-on", "changed"}, exitClean, "No library", ""},
		"narrowed":                {narrowed, nil, exitClean, "narrowed  is no longer granted URL", ""},
		"any change":              {narrowed, []string{"--fail-on", "changed"}, exitFindings, "narrowed", ""},
		"widened":                 {widened, nil, exitFindings, "is granted fetch", ""},
		"widened, told only":      {widened, []string{"--fail-on", "none"}, exitClean, "is granted fetch", ""},
		"the first policy":        {added, nil, exitClean, "runs in a sandbox now", ""},
		"the policy is gone":      {deleted, nil, exitFindings, "it runs outside of any sandbox", ""},
		"half a policy":           {half, nil, exitFindings, "", "sandbox.config.js cannot be read whole"},
		"a helper that git lacks": {missing, nil, exitFindings, "", `imports "./shared", which is not in the repository at that revision`},
		"unknown format":          {same, []string{"--format", "junit"}, exitUsage, "", "--format"},
		"unknown level":           {same, []string{"--fail-on", "all"}, exitUsage, "", "--fail-on"},
		"in a folder":             {filepath.Dir(same), []string{"--dir", filepath.Base(same)}, exitClean, "No library", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := execute(t, tt.dir, cacheDir(t), append([]string{"diff", "main"}, tt.args...)...)
			if o.code != tt.code || !strings.Contains(o.stdout, tt.out) || !strings.Contains(o.stderr, tt.err) {
				t.Errorf("exit %d, want %d\nstdout: %s\nstderr: %s", o.code, tt.code, o.stdout, o.stderr)
			}
		})
	}
	for name, tt := range map[string]struct{ dir, revision, err string }{
		"no repository": {newProject(t, authority), "main", "is in no git repository"},
		"no revision":   {same, "nowhere", `there is no revision "nowhere"`},
		"an option":     {same, "--output=x", "unknown flag"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, args := range [][]string{{"diff", tt.revision}, {"check", "--changed=" + tt.revision}} {
				o := execute(t, tt.dir, cacheDir(t), args...)
				if want := tt.err; o.code != exitUsage || !strings.Contains(o.stderr, want) && name != "an option" {
					t.Errorf("%v: exit %d, no %q in %s", args, o.code, want, o.stderr)
				}
			}
		})
	}
}

func TestServer_hintsAtWhatIsNotCommitted(t *testing.T) {
	dir := inGit(t, map[string]string{policyFile: "export default { uuid: { permissions: ['crypto'] } };\n"}, nil)
	change(t, dir, map[string]string{policyFile: "export default { uuid: { permissions: ['crypto', 'fetch'] } };\n"})
	e := startEditor(t, dir)
	policy := filepath.Join(dir, filepath.FromSlash(policyFile))
	e.open(policy)
	e.call("workspace/executeCommand", map[string]any{"command": "sandbox-lsp.build", "arguments": []any{toURI(policy)}})
	var got []string
	for _, f := range e.findings(dir) {
		if f.Code == finding.WidenedAuthority {
			got = append(got, fmt.Sprintf("%s %s:%v %s", f.Severity, f.File, f.Range, f.Message))
		}
	}
	if len(got) != 1 || !strings.HasPrefix(got[0], `hint .sandbox/sandbox.config.js:{{0 49} {0 56}} "uuid" is granted fetch, which it was not at HEAD.`) {
		t.Errorf("%q", got)
	}
	gitIn(t, dir, "commit", "-q", "-am", "second")
	e.notify("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{map[string]any{"uri": toURI(filepath.Join(dir, ".git", "logs", "HEAD")), "type": 2}}})
	hinted := func(d diagnostic) bool { return d.Code == finding.WidenedAuthority }
	for slices.ContainsFunc(e.diagnostics[toURI(policy)], hinted) { // the watchdog ends a server that never takes it back
		e.receive()
	}
	change(t, dir, map[string]string{policyFile: "export default { uuid: { permissions: ['crypto', 'fetch', 'URL'] } };\n"})
	for _, f := range parseReport(t, execute(t, dir, cacheDir(t), "check", "--format", "json")).Findings {
		if f.Code == finding.WidenedAuthority {
			t.Errorf("check prints it too: %s", f.Message)
		}
	}
}
