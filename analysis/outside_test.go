package analysis

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
)

func TestEdited_refusesWhatLiesOutsideOfTheProject(t *testing.T) {
	top := t.TempDir()
	root, secret := filepath.Join(top, "app"), filepath.Join(top, "secret.js")
	writeFile(t, filepath.Join(root, "a.js"), "old")
	writeFile(t, secret, "old")
	sn := &Snapshot{root: root}
	for _, name := range []string{"../secret.js", "src/../../secret.js", filepath.ToSlash(secret), ".."} {
		for what, fix := range map[string]finding.Fix{
			"an edit":            {Edits: []finding.Edit{{File: name, NewText: "new"}}},
			"an edit among some": {Edits: []finding.Edit{{File: "a.js", NewText: "new"}, {File: name, NewText: "new"}}},
			"a new file":         {Creates: []finding.NewFile{{File: strings.Replace(name, "secret", "fresh", 1), Text: "new"}}},
		} {
			if files, err := sn.edited(fix); err == nil || !strings.Contains(err.Error(), "outside of the project") {
				t.Errorf("%s of %s gives %v %v", what, name, files, err)
			}
		}
		// What writes refuses it too, should it get so far.
		if err := sn.writeFixes(t.Context(), []File{{Path: name, Content: []byte("new")}}); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	for _, file := range []string{secret, filepath.Join(root, "a.js")} {
		if content, err := os.ReadFile(file); err != nil || string(content) != "old" {
			t.Errorf("%s holds %q %v", file, content, err)
		}
	}
}

func TestWatches_ofAWorkspaceTheLockfilesAlone(t *testing.T) {
	root := filepath.FromSlash("/w/apps/a")
	for path, want := range map[string]bool{
		"/w/apps/a/src/i.js": true, "/w/apps/a/package.json": true, "/w/apps/a/dist/x.js": false,
		"/w/package-lock.json": true, "/w/package.json": true, "/w/src/i.js": false, "/w/apps/ab/i.js": false,
	} {
		if Watches(root, filepath.FromSlash(path)) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
}
