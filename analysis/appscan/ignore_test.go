package appscan

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

func walked(t *testing.T, root string) []string {
	t.Helper()
	w := &walker{root: root, limit: maxFiles, jobs: 1, log: slog.New(slog.DiscardHandler)}
	tree, err := w.walk(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, f := range tree.files {
		files = append(files, f.rel)
	}
	return files
}

func TestWalk_heedsTheRepositoryAround(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, files, want string }{
		{"ignore files above the root", "-- .git/HEAD --\n-- .gitignore --\n*.gen.js\n/apps/web/out\n-- apps/.gitignore --\n/web/tmp\n!kept.gen.js\n", "a.js kept.gen.js src/kept.gen.js src/out/d.js"},
		{"the repository's own exclude file", "-- .git/info/exclude --\n/apps/web/out\na.js\n", "kept.gen.js src/b.gen.js src/kept.gen.js src/out/d.js tmp/e.js"},
		{"a worktree", "-- .git --\ngitdir: elsewhere/worktrees/one\n-- elsewhere/worktrees/one/commondir --\n../..\n-- elsewhere/info/exclude --\nout\n", "a.js kept.gen.js src/b.gen.js src/kept.gen.js tmp/e.js"},
		{"no repository", "-- .gitignore --\n*\n", "a.js kept.gen.js out/c.js src/b.gen.js src/kept.gen.js src/out/d.js tmp/e.js"},
		{"a project that its repository ignores", "-- .git/HEAD --\n-- .gitignore --\n/apps/*\n*.gen.js\n", "a.js kept.gen.js out/c.js src/b.gen.js src/kept.gen.js src/out/d.js tmp/e.js"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			top := t.TempDir()
			unpack(t, top, txtar.Parse([]byte(c.files)).Files)
			root := filepath.Join(top, "apps", "web")
			for _, file := range []string{"a.js", "kept.gen.js", "out/c.js", "src/b.gen.js", "src/kept.gen.js", "src/out/d.js", "tmp/e.js"} {
				write(t, filepath.Join(root, filepath.FromSlash(file)), "")
			}
			if got := strings.Join(walked(t, root), " "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestWalk_missesNothingThatGitSees asks git itself about random trees and ignore
// files. Looking at more than git does is allowed, since it hides nothing, but not
// often.
func TestWalk_missesNothingThatGitSees(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("git is not installed; install it to compare the walk with git's own listing")
	}
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"a", "b", "ab", "src", "lib"}
	patterns := []string{"a", "b/", "/a", "/src/", "*.js", "a*", "!a", "!*.js", "!b/", "src/*", "!src/a", "**/b", "a/**", "a/**/b.js", "src/**", "**/lib/**", "/b/**/", "!lib/**", "[ab].js", "!/src/b.js", "?b", "*", "!*/", "# a", "\\!a", "lib/a/", "b.js "}
	more, all := 0, 0
	for seed := range uint64(12) {
		random := rand.New(rand.NewPCG(seed, 7))
		root := t.TempDir()
		for range 60 {
			parts := []string{root}
			for range random.IntN(4) {
				parts = append(parts, names[random.IntN(len(names))])
			}
			dir := filepath.Join(parts...)
			write(t, filepath.Join(dir, names[random.IntN(len(names))]+".js"), "")
			if random.IntN(4) == 0 {
				var ignore strings.Builder
				for range 1 + random.IntN(4) {
					fmt.Fprintln(&ignore, patterns[random.IntN(len(patterns))])
				}
				write(t, filepath.Join(dir, ".gitignore"), ignore.String())
			}
		}
		run := func(args ...string) string {
			cmd := exec.Command(git, args...)
			cmd.Dir = root
			// Nothing of the machine's or the user's settings may play a part.
			cmd.Env = []string{"HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "PATH=" + filepath.Dir(git)}
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("git %v: %v", args, err)
			}
			return string(out)
		}
		run("init", "-q")
		seen := slices.DeleteFunc(strings.Split(run("ls-files", "--others", "--exclude-standard"), "\n"), func(s string) bool { return !isSource(s) })
		got := walked(t, root)
		all += len(seen)
		for _, file := range seen {
			if !slices.Contains(got, file) {
				t.Errorf("seed %d: %s is seen by git and was left out", seed, file)
			}
		}
		for _, file := range got {
			if !slices.Contains(seen, file) {
				more++
			}
		}
	}
	if all < 100 {
		t.Errorf("git saw only %d files; the trees are too small to tell anything", all)
	}
	if more*20 > all {
		t.Errorf("%d files were looked at that git ignores, beside %d that it sees", more, all)
	}
	t.Logf("git sees %d files; %d more were looked at", all, more)
}
