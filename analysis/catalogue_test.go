package analysis_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/hostglobals"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/evaluate"
)

// grantable returns the globals that a person may think of granting: those that were
// graded one by one and that a guest has not of its own.
func grantable(t *testing.T) []hostglobals.Global {
	t.Helper()
	e := evaluate.New(filepath.Join(os.TempDir(), "sandbox-lsp-test-engine"))
	t.Cleanup(func() { _ = e.Close(t.Context()) })
	guest, err := e.Globals(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(hostglobals.All(), func(g hostglobals.Global) bool {
		return !g.Listed || slices.Contains(guest, g.Name)
	})
}

// The catalogue of globals is one table. What people read of it elsewhere is made from
// it, and this test makes it with -update.
func TestCatalogue_isWhatTheTypesAndTheDocumentationSay(t *testing.T) {
	all := grantable(t)
	marked := regexp.MustCompile(`(?s)// <globals>\n.*// </globals>\n`)
	for file, want := range map[string]func(old string) string{
		"../runtime/js/index.d.ts": func(old string) string {
			return marked.ReplaceAllLiteralString(old, "// <globals>\n"+union(all)+"// </globals>\n")
		},
		"../policy/hostglobals/globals.md": func(string) string { return documented(all) },
	} {
		raw, err := os.ReadFile(filepath.FromSlash(file))
		if err != nil {
			t.Fatal(err)
		}
		now := want(string(raw))
		if *update {
			if err := os.WriteFile(filepath.FromSlash(file), []byte(now), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if diff := cmp.Diff(now, string(raw)); diff != "" || !strings.Contains(now, "fetch") {
			t.Errorf("%s is not what the catalogue says; rewrite it with -update (-want +got):\n%s", file, diff)
		}
	}
}

// The options of a grant are one table too.
func TestOptions_areWhatTheTypesSay(t *testing.T) {
	raw, err := os.ReadFile(filepath.FromSlash("../runtime/js/index.d.ts"))
	if err != nil {
		t.Fatal(err)
	}
	for name, options := range map[string][]policy.Option{
		"Grant": policy.PermissionOptions, "LibraryPolicy": policy.LibraryOptions, "Limits": policy.LimitOptions, "Workload": policy.WorkloadOptions,
	} {
		body := regexp.MustCompile(`(?s)export interface ` + name + ` \{\n(.*?)\n\}`).FindStringSubmatch(string(raw))
		if body == nil {
			t.Fatalf("no interface %s", name)
		}
		var got, want []string
		for _, m := range regexp.MustCompile(`(?m)^  (\w+)(\??):`).FindAllStringSubmatch(body[1], -1) {
			got = append(got, m[1]+m[2])
		}
		for _, o := range options {
			if o.Required {
				want = append(want, o.Name)
			} else {
				want = append(want, o.Name+"?")
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func union(all []hostglobals.Global) string {
	var b strings.Builder
	b.WriteString("/** The host globals that are well known. Made from the catalogue of sandbox-lsp. */\nexport type HostGlobal =\n")
	for i, g := range all {
		end := "\n"
		if i == len(all)-1 {
			end = ";\n"
		}
		fmt.Fprintf(&b, "  | %q%s", g.Name, end)
	}
	return b.String()
}

// documented is the catalogue for people, the greatest authority first.
func documented(all []hostglobals.Global) string {
	var b strings.Builder
	b.WriteString(`# Host globals

What a library gets with each global that it may be granted, by what can be reached from it.
Made from the catalogue of sandbox-lsp; ` + "`sandbox-lsp explain fetch`" + ` says the same of one. Classes and
event handlers of the page that are not listed here are graded by their kind.
`)
	for _, grade := range []struct {
		grade       hostglobals.Grade
		title, what string
	}{
		{hostglobals.Realm, "Realm", "Hands over everything that the host has, directly or by a path of properties."},
		{hostglobals.Powerful, "Powerful", "Reaches the network, storage, the user or devices."},
		{hostglobals.Ambient, "Ambient", "Reads time, randomness or the environment, or makes its presence felt a little."},
		{hostglobals.Pure, "Pure", "Computes from what it is given and reaches nothing."},
	} {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| Globals | In | What a library gets | Instead |\n|---|---|---|---|\n", grade.title, grade.what)
		var rows []string
		names := map[string][]string{}
		for _, g := range all {
			if g.Grade != grade.grade {
				continue
			}
			row := fmt.Sprintf("%s | %s | %s", g.Realms, g.Reason, g.Narrower)
			if names[row] == nil {
				rows = append(rows, row)
			}
			names[row] = append(names[row], "`"+g.Name+"`")
		}
		for _, row := range rows {
			fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(names[row], ", "), row)
		}
	}
	return b.String()
}
