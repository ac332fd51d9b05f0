package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// nobody is a user without any right of its own.
const nobody = 65534

// asNobody runs the binary as a user for whom mode bits count; a test that is not
// root's cannot become one.
func asNobody(t *testing.T, dir string, args ...string) ended {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can run the binary as another user; run the tests as root, as a container does")
	}
	for _, path := range []string{filepath.Dir(binary), filepath.Dir(dir), dir} {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(binary, args...)
	cmd.Dir, cmd.Env = dir, []string{"HOME=/nonexistent", "TMPDIR=/tmp"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return finish(cmd)
}

// give makes files of a project the other user's, with everything below them.
func give(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		err := filepath.WalkDir(filepath.Join(dir, name), func(path string, _ os.DirEntry, err error) error {
			return errors.Join(err, os.Lchown(path, nobody, nobody))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestBadOutput_withoutTheRight(t *testing.T) {
	const asTheyWere, right = "files of the last build are as they were", "needs the right to write there"
	tests := map[string]struct {
		mess func(t *testing.T, dir string)
		args []string
		code int
		says []string
	}{
		"nothing may be written":  {nil, nil, exitInternal, []string{"write ", "permission denied", right, asTheyWere}},
		"dist may not be written": {func(t *testing.T, dir string) { give(t, dir, ".sandbox") }, nil, exitInternal, []string{"write dist/", right, asTheyWere}},
		"dist may not be made": {func(t *testing.T, dir string) {
			if err := os.RemoveAll(filepath.Join(dir, "dist")); err != nil {
				t.Fatal(err)
			}
			give(t, dir, ".sandbox")
		}, nil, exitInternal, []string{"make the folder of dist/", right, asTheyWere}},
		"the policy may not be read": {func(t *testing.T, dir string) {
			if err := os.Chmod(filepath.Join(dir, policyFile), 0o600); err != nil {
				t.Fatal(err)
			}
		}, nil, exitFindings, []string{policyFile, "SBX001", "permission denied", "the user who runs sandbox-lsp may read"}},
		"a package may not be read": {func(t *testing.T, dir string) {
			if err := os.Chmod(filepath.Join(dir, tinyManifest), 0o600); err != nil {
				t.Fatal(err)
			}
		}, []string{"check", "--cache-dir", "-"}, exitFindings, []string{"SBX003", "its package.json cannot be read: permission denied", "npm install"}},
		"a source may not be read": {func(t *testing.T, dir string) {
			if err := os.Chmod(filepath.Join(dir, tinyEntry), 0o600); err != nil {
				t.Fatal(err)
			}
		}, []string{"check", "--cache-dir", "-"}, exitFindings, []string{"SBX040", "cannot be bundled", "ermission denied"}},
		"a check needs no right": {nil, []string{"check", "--cache-dir", "-"}, exitClean, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := builtProject(t, changed)
			if tt.mess != nil {
				tt.mess(t, dir)
			}
			before := mustBuilt(t, dir)
			args := tt.args
			if args == nil {
				args = []string{"build", "--cache-dir", "-"}
			}
			o := asNobody(t, dir, args...)
			if o.code != tt.code {
				t.Errorf("exit %d, want %d\n%s%s", o.code, tt.code, o.stdout, o.stderr)
			}
			for _, want := range tt.says {
				if !strings.Contains(o.stdout+o.stderr, want) {
					t.Errorf("%q is not said:\n%s%s", want, o.stdout, o.stderr)
				}
			}
			if diff := cmp.Diff(before, mustBuilt(t, dir)); diff != "" {
				t.Errorf("files of the last build changed:\n%s", diff)
			}
			holds(t, dir, o)
		})
	}
}

func TestBadCache_thatMayNotBeWritten(t *testing.T) {
	want, err := soundBuild()
	if err != nil {
		t.Fatal(err)
	}
	dir, cache := newProject(t, soundFiles()), filepath.Join(t.TempDir(), "cache")
	for _, name := range []string{"results", "engine"} {
		if err := os.MkdirAll(filepath.Join(cache, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Dir(filepath.Dir(cache)), 0o755); err != nil {
		t.Fatal(err)
	}
	give(t, filepath.Dir(dir), filepath.Base(dir))
	o := asNobody(t, dir, "build", "--cache-dir", cache)
	if diff := cmp.Diff(want, mustBuilt(t, dir)); o.code != exitClean || diff != "" {
		t.Errorf("exit %d\n%s%s(-want +got)\n%.2000s", o.code, o.stdout, o.stderr, diff)
	}
	holds(t, dir, o)
}

// TestBadOutput_aFullDisk builds into a disk on which the old files fit, and the new
// ones beside them do not.
func TestBadOutput_aFullDisk(t *testing.T) {
	dir := builtProject(t, map[string]string{tinyEntry: "exports.one = '" + strings.Repeat("x", 2<<20) + "';\n"})
	dist := filepath.Join(dir, "dist")
	old := filepath.Join(dir, "old")
	if err := errors.Join(os.Rename(dist, old), os.Mkdir(dist, 0o755)); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dist, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("a disk of 1 MiB cannot be mounted; run the tests as root with the right to mount: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dist, syscall.MNT_DETACH) })
	if err := os.CopyFS(dist, os.DirFS(old)); err != nil {
		t.Fatal(err)
	}
	before := mustBuilt(t, dir)
	o := start(dir, "build")
	if o.code != exitInternal {
		t.Errorf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	for _, want := range []string{"write dist/tiny.bundle.js", "no space left on device", "free some space and build again", "files of the last build are as they were"} {
		if !strings.Contains(o.stderr, want) {
			t.Errorf("%q is not said:\n%s", want, o.stderr)
		}
	}
	if diff := cmp.Diff(before, mustBuilt(t, dir)); diff != "" {
		t.Errorf("files of the last build changed:\n%.2000s", diff)
	}
	holds(t, dir, o)
}

// manyLibraries is a project whose build writes some dozens of files; text is in all
// of its bundles.
func manyLibraries(text string) map[string]string {
	files := map[string]string{"package.json": "{}"}
	policy := strings.Builder{}
	for i := range 10 {
		name := fmt.Sprintf("lib%d", i)
		fmt.Fprintf(&policy, "  %s: { permissions: [] },\n", name)
		files["node_modules/"+name+"/package.json"] = fmt.Sprintf(`{"name":%q,"version":"1.0.0","types":"index.d.ts"}`, name)
		files["node_modules/"+name+"/index.js"] = fmt.Sprintf("exports.one = %q;\n", text)
		files["node_modules/"+name+"/index.d.ts"] = "export declare const one: string;\n"
	}
	files[policyFile] = "export default {\n" + policy.String() + "};\n"
	return files
}

// TestBadOutput_killedAtAnyPoint kills a build twenty times. Where the dice fall on a
// busy machine does not matter: what is asserted holds at every point.
func TestBadOutput_killedAtAnyPoint(t *testing.T) {
	states := [2]map[string]string{}
	dir := newProject(t, nil)
	put := func(files map[string]string) {
		t.Helper()
		for name, content := range files {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
	}
	var took time.Duration
	for i, text := range []string{"old", "new"} {
		put(manyLibraries(text))
		for range 2 { // the second one finds everything cached, as those below do
			began := time.Now()
			if o := start(dir, "build"); o.code != exitClean {
				t.Fatalf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
			}
			took = time.Since(began)
		}
		states[i] = mustBuilt(t, dir)
	}
	dice := rand.New(rand.NewPCG(1, 2))
	killed := 0
	for range 20 {
		put(states[0]) // what the next build finds is the old state, and what the last one left
		cmd := exec.Command(binary, "build", "--cache-dir", filepath.Join(filepath.Dir(binary), "cache"))
		cmd.Dir = dir
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(float64(took) * 1.2 * dice.Float64())) // not for order: any point will do
		_ = cmd.Process.Kill()
		if err := cmd.Wait(); err != nil {
			killed++
		}
		for name, content := range mustBuilt(t, dir) {
			if !strings.HasSuffix(name, ".tmp") && content != states[0][name] && content != states[1][name] {
				t.Fatalf("%s is neither the old file nor the new one:\n%.300q", name, content)
			}
		}
	}
	t.Logf("%d of 20 builds were killed", killed)
	o := start(dir, "build")
	if diff := cmp.Diff(states[1], mustBuilt(t, dir)); o.code != exitClean || diff != "" {
		t.Errorf("the next build: exit %d\n%s%s(-want +got)\n%.2000s", o.code, o.stdout, o.stderr, diff)
	}
	holds(t, dir, o)
}

// TestBadOutput_interrupted interrupts a build while it loads a library that never
// ends, and looks whether its processes end too.
func TestBadOutput_interrupted(t *testing.T) {
	for name, signal := range map[string]os.Signal{"SIGINT": os.Interrupt, "SIGTERM": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := builtProject(t, map[string]string{
				policyFile: policyOf("{ permissions: [], limits: { timeoutMs: 600000 } }"),
				tinyEntry:  "Array.prototype.reverse.call({ length: 2 ** 53 - 1 });\n",
			})
			before := mustBuilt(t, dir)
			cmd := exec.Command(binary, "build", "--cache-dir", filepath.Join(filepath.Dir(binary), "cache"))
			cmd.Dir = dir
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			done := make(chan ended, 1)
			go func() {
				_ = cmd.Wait() // how it ended is in its state
				done <- ended{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
			}()
			worker := childOf(t, cmd.Process.Pid, done)
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			o := <-done
			if o.code != exitInternal || !strings.Contains(o.stderr, "interrupted; no file was left half-written") {
				t.Errorf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
			}
			if diff := cmp.Diff(before, mustBuilt(t, dir)); diff != "" {
				t.Errorf("files of the last build changed:\n%s", diff)
			}
			if _, err := os.Stat(fmt.Sprintf("/proc/%d", worker)); err == nil {
				t.Errorf("process %d still loads the library", worker)
			}
			holds(t, dir, o)
		})
	}
}

// childOf waits until a process has started a process and returns its id.
func childOf(t *testing.T, pid int, done <-chan ended) int {
	t.Helper()
	for {
		select {
		case o := <-done:
			t.Fatalf("the build ended by itself: exit %d\n%s%s", o.code, o.stdout, o.stderr)
		case <-time.After(5 * time.Millisecond):
		}
		lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
		if err != nil {
			t.Fatal(err)
		}
		for _, list := range lists {
			raw, _ := os.ReadFile(list) // a thread may have ended
			var child int
			if _, err := fmt.Sscan(string(raw), &child); err == nil {
				return child
			}
		}
	}
}
