package analysis

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
)

// git runs git in a folder, as nobody in particular.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// writeFile writes a file and the folders above it.
func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// widened returns the findings about what the policy gives since the last commit, each
// with its severity and the text that it stands at.
func widened(t *testing.T, s *Session, root, content string) []string {
	t.Helper()
	path := filepath.Join(root, ".sandbox", "sandbox.config.js")
	result, err := s.Snapshot(root, map[string]string{path: content}).Check(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range result.Findings {
		if f.Code == finding.WidenedAuthority {
			span := result.Policy.Mapper.Span(f.Range)
			out = append(out, f.Severity.String()+" at "+content[span.Start:span.End]+": "+f.Data["problem"])
		}
	}
	return out
}

func TestCheck_hintsAtWhatTheLastCommitDidNotGive(t *testing.T) {
	const (
		before   = "export default { a: { permissions: ['URL', { name: 'fetch', allow: ['https://a.example/'] }] } };\n"
		lock     = `{"lockfileVersion": 3, "packages": {"node_modules/a": {"version": "1.0.0", "integrity": "sha512-a"}}}`
		withB    = `{"lockfileVersion": 3, "packages": {"node_modules/a": {"version": "1.0.0", "integrity": "sha512-x"}, "node_modules/b": {"version": "1.0.0"}}}`
		addedB   = "export default { a: { permissions: ['URL', { name: 'fetch', allow: ['https://a.example/'] }] }, b: { permissions: ['URL'] } };\n"
		evaluate = "import { shared } from './shared';\nexport default { a: { permissions: [...shared, 'Intl'] } };\n"
	)
	tests := map[string]struct {
		commit, change map[string]string // files besides the policy
		before, now    string            // the policy; "" in before leaves it out of the commit
		want           []string
	}{
		"the same":                          {before: before, now: before},
		"a permission more":                 {before: before, now: "export default { a: { permissions: ['URL', 'crypto', { name: 'fetch', allow: ['https://a.example/'] }] } };\n", want: []string{"hint at 'crypto': permission-added"}},
		"all instead of a list":             {before: before, now: "export default { a: { permissions: ['URL', 'fetch'] } };\n", want: []string{"hint at 'fetch': permission-whole"}},
		"a rule more":                       {before: before, now: "export default { a: { permissions: ['URL', { name: 'fetch', allow: ['https://a.example/', 'https://b.example/'] }] } };\n", want: []string{"hint at 'https://b.example/': rule-added"}},
		"a permission less":                 {before: before, now: "export default { a: { permissions: ['URL'] } };\n"},
		"a library that was there before":   {commit: map[string]string{"package-lock.json": withB}, before: before, now: addedB},
		"a library that is new as well":     {commit: map[string]string{"package-lock.json": lock}, change: map[string]string{"package-lock.json": withB}, before: before, now: addedB, want: []string{"warning at a: integrity", "hint at 'URL': permission-added"}},
		"other bytes in the lockfile":       {commit: map[string]string{"package-lock.json": lock}, change: map[string]string{"package-lock.json": withB}, before: before, now: before, want: []string{"warning at a: integrity"}},
		"no hash in the lockfile any more":  {commit: map[string]string{"package-lock.json": lock}, change: map[string]string{"package-lock.json": strings.Replace(lock, "sha512-a", "", 1)}, before: before, now: before, want: []string{"hint at a: integrity"}},
		"another version in the lockfile":   {commit: map[string]string{"package-lock.json": lock}, change: map[string]string{"package-lock.json": strings.NewReplacer("1.0.0", "1.0.1", "sha512-a", "sha512-b").Replace(lock)}, before: before, now: before},
		"a policy that is not committed":    {commit: map[string]string{"a.txt": "a"}, now: before},
		"a policy that is half typed":       {before: before, now: "export default { a: { permissions: ['URL', 'crypto', \n"},
		"a committed one that is half done": {before: "export default { a: { permissions: [\n", now: before},
		"helpers of then and of now": {
			commit: map[string]string{".sandbox/shared.js": "export const shared = ['URL'];\n"}, before: evaluate,
			change: map[string]string{".sandbox/shared.js": "export const shared = ['URL', 'crypto'];\n"}, now: evaluate,
			want: []string{"hint at [...shared, 'Intl']: permission-added"},
		},
	}
	s := newSession(t)
	s.options.Uncommitted = true
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			write := func(files map[string]string) {
				for file, content := range files {
					writeFile(t, filepath.Join(root, filepath.FromSlash(file)), content)
				}
			}
			git(t, root, "init", "-q")
			write(tt.commit)
			if tt.before != "" {
				write(map[string]string{".sandbox/sandbox.config.js": tt.before})
			}
			git(t, root, "add", "-A")
			git(t, root, "commit", "-q", "-m", "first")
			write(tt.change)
			if diff := cmp.Diff(tt.want, widened(t, s, root, tt.now)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheck_hintsFollowTheCommits(t *testing.T) {
	const before, now = "export default { a: { permissions: [] } };\n", "export default { a: { permissions: ['URL'] } };\n"
	s := newSession(t)
	root := t.TempDir()
	writeFile(t, filepath.Join(root, ".sandbox", "sandbox.config.js"), before)
	if got := widened(t, s, root, now); got != nil {
		t.Errorf("without being asked: %q", got)
	}
	s.options.Uncommitted = true
	if got := widened(t, s, root, now); got != nil {
		t.Errorf("without a repository: %q", got)
	}
	git(t, root, "init", "-q")
	if got := widened(t, s, root, now); got != nil {
		t.Errorf("without a commit: %q", got)
	}
	git(t, root, "add", "-A")
	git(t, root, "commit", "-q", "-m", "first")
	if got := widened(t, s, root, now); len(got) != 1 {
		t.Errorf("after the first commit: %q", got)
	}
	read := s.committed[root]
	if widened(t, s, root, before); s.committed[root] != read {
		t.Error("the same commit was read twice")
	}
	writeFile(t, filepath.Join(root, ".sandbox", "sandbox.config.js"), now)
	git(t, root, "commit", "-q", "-am", "second")
	if got := widened(t, s, root, now); got != nil {
		t.Errorf("after committing it: %q", got)
	}
	t.Setenv("PATH", t.TempDir())
	if got := widened(t, s, root, now); got != nil {
		t.Errorf("without git: %q", got)
	}
}
