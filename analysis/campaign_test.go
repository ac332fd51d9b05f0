package analysis

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/sandbox-lsp/sandbox-lsp/policy/compat"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/harness"
)

// wantFile is the part of a fixture that says what its campaigns come to: a line for
// each case and each finding of theirs.
const wantFile = "want.txt"

func TestTest_runsWhatEachFrameworkHas(t *testing.T) {
	fixtures, err := filepath.Glob(filepath.Join("testdata", "campaigns", "*.txtar"))
	if err != nil || len(fixtures) == 0 {
		t.Fatal(err, fixtures)
	}
	session := newSession(t)
	for _, fixture := range fixtures {
		t.Run(strings.TrimSuffix(filepath.Base(fixture), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(fixture)
			if err != nil {
				t.Fatal(err)
			}
			root, want := t.TempDir(), ""
			for _, f := range archive.Files {
				if f.Name == wantFile {
					want = string(f.Data)
					continue
				}
				path := filepath.Join(root, filepath.FromSlash(f.Name))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, f.Data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			got := campaignText(t, session, root)
			if *updateCampaigns {
				rewriteFixture(t, fixture, archive, got)
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("campaigns (-want +got):\n%s", diff)
			}
		})
	}
}

var updateCampaigns = flag.Bool("update-campaigns", false, "rewrite what the fixtures of campaigns come to")

func rewriteFixture(t *testing.T, file string, archive *txtar.Archive, want string) {
	t.Helper()
	kept := &txtar.Archive{Comment: archive.Comment}
	for _, f := range archive.Files {
		if f.Name != wantFile {
			kept.Files = append(kept.Files, f)
		}
	}
	kept.Files = append(kept.Files, txtar.File{Name: wantFile, Data: []byte(want)})
	if err := os.WriteFile(file, txtar.Format(kept), 0o644); err != nil {
		t.Fatal(err)
	}
}

// campaignText says in lines what the campaigns of a project come to.
func campaignText(t *testing.T, session *Session, root string) string {
	t.Helper()
	tested, err := session.Snapshot(root, nil).Test(t.Context(), TestOptions{Engine: compat.Auto}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, c := range tested.Campaigns {
		fmt.Fprintf(&out, "%s: %s\n", c.Library, strings.Join(c.Frameworks, ", "))
		for _, v := range c.Verdicts {
			fmt.Fprintf(&out, "%s: %s", v.Outcome, v.Name)
			if v.Kind != "" {
				fmt.Fprintf(&out, " (%s)", v.Kind)
			}
			for _, side := range []harness.Side{v.Native, v.Sandbox} {
				if side.Error != nil {
					first, _, _ := strings.Cut(side.Error.Message, "\n")
					fmt.Fprintf(&out, " [%s: %s]", side.Error.Name, first)
				}
			}
			fmt.Fprintln(&out)
		}
	}
	for _, f := range tested.Findings {
		if strings.HasPrefix(string(f.Code), "SBX05") {
			fmt.Fprintf(&out, "%s %s\n", f.Code, f.Message)
		}
	}
	return out.String()
}
