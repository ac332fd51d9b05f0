package revision

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// repository makes a repository with one commit that holds the files.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	write(t, dir, files)
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "first")
	return dir
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func TestRead_givesTheFileOfThen(t *testing.T) {
	top := repository(t, map[string]string{"apps/shop/.sandbox/a.js": "old\r\n", "apps/shop/ü [x].js": "odd", "top.json": "{}", "apps/shop/:(top)top.json": "magic"})
	root := filepath.Join(top, "apps", "shop")
	write(t, root, map[string]string{".sandbox/a.js": "new", ".sandbox/b.js": "untracked"})
	if err := os.Symlink("a.js", filepath.Join(root, ".sandbox", "link.js")); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{root, link} {
		r, err := Open(t.Context(), from, "main")
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Commit) != 40 || r.Name != "main" {
			t.Errorf("commit %q of %q", r.Commit, r.Name)
		}
		for path, want := range map[string]string{
			".sandbox/a.js": "old\r\n", "ü [x].js": "odd", ":(top)top.json": "magic", "../../top.json": "{}",
			".sandbox/b.js": "", ".sandbox/link.js": "", ".sandbox": "", "../../../outside": "", "ü *.js": "",
		} {
			got, ok, err := r.Read(t.Context(), filepath.Join(from, filepath.FromSlash(path)))
			if err != nil || got != want || ok != (want != "") {
				t.Errorf("%s: %q %v %v, want %q", path, got, ok, err, want)
			}
		}
		if r.Contains(filepath.Join(from, "..", "..", "..", "x")) || !r.Contains(filepath.Join(from, "x")) {
			t.Error("what lies in the repository is told wrongly")
		}
	}
}

func TestOpen_saysWhatIsMissing(t *testing.T) {
	dir := repository(t, map[string]string{"a": "1"})
	tests := map[string]struct{ root, revision, want string }{
		"no repository":    {t.TempDir(), "main", "in no git repository"},
		"no such revision": {dir, "feature/x", `no revision "feature/x"`},
		"an option":        {dir, "--exec=touch x", "no revision"},
		"nothing":          {dir, "", "no revision"},
		"not a commit":     {dir, "main:a", "no revision"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Open(t.Context(), tt.root, tt.revision)
			var named *Error
			if !errors.As(err, &named) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v", err)
			}
		})
	}
	t.Run("git is not installed", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		if _, err := Open(t.Context(), dir, "main"); err == nil || !strings.Contains(err.Error(), "git is not installed") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := Open(ctx, dir, "main"); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
}

// A repository's own configuration can name programs; reading it must run none.
func TestRead_runsNothingThatTheRepositoryNames(t *testing.T) {
	dir := repository(t, map[string]string{"a.js": "old", ".gitattributes": "*.js diff=evil filter=evil\n"})
	proof := filepath.Join(t.TempDir(), "ran")
	script := filepath.Join(t.TempDir(), "evil.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\ntouch "+proof+"\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"core.fsmonitor", "diff.evil.textconv", "diff.evil.command", "diff.external", "filter.evil.clean", "filter.evil.smudge", "core.pager", "core.sshCommand"} {
		git(t, dir, "config", key, script)
	}
	write(t, dir, map[string]string{"a.js": "new"})
	if err := os.RemoveAll(proof); err != nil { // setting up may have run it
		t.Fatal(err)
	}
	r, err := Open(t.Context(), dir, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := r.Read(t.Context(), filepath.Join(dir, "a.js")); err != nil || got != "old" {
		t.Errorf("%q %v", got, err)
	}
	if _, err := os.Stat(proof); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a program of the repository ran: %v", err)
	}
}
