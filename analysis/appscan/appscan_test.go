package appscan

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding/findingtest"
	"github.com/sandbox-lsp/sandbox-lsp/policy/resolve"
)

// unpack writes the files of an archive into a folder. They are as old as files that
// nobody has touched for a while.
func unpack(t testing.TB, root string, files []txtar.File) {
	t.Helper()
	for _, f := range files {
		write(t, filepath.Join(root, filepath.FromSlash(f.Name)), string(f.Data))
	}
}

// write writes a file whose time can be relied on.
func write(t testing.TB, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	age(t, file, time.Hour)
}

// age sets back the time of a file's last change.
func age(t testing.TB, file string, by time.Duration) {
	t.Helper()
	then := time.Now().Add(-by)
	if err := os.Chtimes(file, then, then); err != nil {
		t.Fatal(err)
	}
}

// open reads the policy of an unpacked project and resolves its libraries.
func open(t testing.TB, root string) (*policy.Policy, Project) {
	t.Helper()
	file := filepath.Join(root, filepath.FromSlash(policy.ConfigFile))
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Read(t.Context(), policy.Source{Root: root, File: file, Text: string(content)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var requests []string
	for _, l := range p.Libraries {
		requests = append(requests, l.Name)
	}
	resolved, err := resolve.Packages(t.Context(), root, requests)
	if err != nil {
		t.Fatal(err)
	}
	return p, ProjectOf(root, nil, p, resolved)
}

func scanned(t testing.TB, s *Scanner, p Project) *Result {
	t.Helper()
	result, err := s.Scan(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// TestFindings_standWhereTheProjectsSay scans each project of testdata, whose files
// say in place what has to be found in them.
func TestFindings_standWhereTheProjectsSay(t *testing.T) {
	t.Parallel()
	findingtest.Fixtures(t, func(t *testing.T, archive *txtar.Archive) {
		t.Parallel()
		root := t.TempDir()
		unpack(t, root, archive.Files)
		p, project := open(t, root)
		if len(p.Findings) > 0 || !p.Complete {
			t.Fatalf("the policy: complete %v, %v", p.Complete, p.Findings)
		}
		var wants []findingtest.Want
		for _, f := range archive.Files {
			wants = append(wants, findingtest.Parse(t, f.Name, string(f.Data))...)
		}
		s := NewScanner(Options{})
		got := Findings(project, p, scanned(t, s, project).Imports)
		findingtest.Compare(t, wants, got)
		for _, f := range got {
			if f.Data["library"] != "" && len(f.Related) == 0 {
				t.Errorf("%s %s leads nowhere", f.File, f.Message)
			}
		}
		again := scanned(t, s, project)
		findingtest.Compare(t, wants, Findings(project, p, again.Imports))
		if again.Parsed != 0 {
			t.Errorf("%d files were parsed again", again.Parsed)
		}
	})
}
