package analysis

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding/findingtest"
)

// unpack writes an archive of testdata into a new project.
func unpack(t *testing.T, name string) string {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for _, f := range archive.Files {
		writeFile(t, filepath.Join(root, filepath.FromSlash(f.Name)), string(f.Data))
	}
	return root
}

func TestCheck_holdsWhatLibrariesAskAgainstTheirGrants(t *testing.T) {
	root := unpack(t, "authority.txtar")
	sn := newSession(t).Snapshot(root, nil)
	result, err := sn.Check(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	content, err := sn.Read(sn.PolicyFile())
	if err != nil {
		t.Fatal(err)
	}
	findingtest.Compare(t, findingtest.Parse(t, policy.ConfigFile, content), result.Findings)

	evidence, access := map[string]string{}, map[string]string{}
	for _, f := range result.Findings {
		if f.Code == finding.MissingPermission {
			evidence[f.Data["library"]], access[f.Data["library"]] = f.Data["evidence"], f.Data["access"]
			if f.Severity != finding.Hint && len(f.Related) == 0 {
				t.Errorf("no place is related to %q", f.Message)
			}
		}
	}
	for library, want := range map[string]string{"uses-fetch": "static", "needs-document": "both", "seen-only": "observed", "asks-first": "static", "looks-up": "static", "lists-window": "both"} {
		if evidence[library] != want {
			t.Errorf("the evidence for %s is %q, want %q", library, evidence[library], want)
		}
	}
	for library, want := range map[string]string{"uses-fetch": "read", "goes-away": "write", "moves-on": "read,write", "asks-first": ""} {
		if access[library] != want {
			t.Errorf("the access of %s is %q, want %q", library, access[library], want)
		}
	}
}

// Each probe is asked of the engine: one that it learns to answer as browsers do
// leaves the table.
func TestDifferences_areReal(t *testing.T) {
	session := newSession(t)
	for name, d := range differences {
		root := t.TempDir()
		overlay := map[string]string{filepath.Join(root, ".sandbox", "sandbox.config.js"): "const value = String(" + d.Probe + ");\nexport default { [value]: { permissions: [] } };\n"}
		result, err := session.Snapshot(root, overlay).Check(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(result.Libraries) != 1 {
			t.Fatalf("%s: the probe gave %v", name, result.Findings)
		}
		if got := result.Libraries[0].Policy.Name; got == d.Elsewhere {
			t.Errorf("%s: %s is %q in the guest too", name, d.Probe, got)
		}
	}
}

func TestPropose_grantsWhatIsUsedAndSaysTheRest(t *testing.T) {
	root := unpack(t, "authority.txtar")
	if err := os.Remove(filepath.Join(root, ".sandbox", "sandbox.config.js")); err != nil {
		t.Fatal(err)
	}
	sn := newSession(t).Snapshot(root, nil)
	p, err := sn.Propose(t.Context(), Selection{Names: []string{"uses-fetch", "needs-document", "asks-first", "clean", "hides", "callback-this", "listens", "strict-writes", "leaks-at-load", "digests", "digests-too", "brings-fetch", "not-there"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"clean: {\n    permissions: [],",
		"\"uses-fetch\": {\n    // fetch is granted, which is much: it sends requests anywhere",
		"permissions: [\"fetch\"],",
		"// It looks for navigator and does without.\n    permissions: []",
		"// Unknown authority, computed key: globalThis[name] at node_modules/hides/index.js:1",
		"// It uses document (node_modules/needs-document/index.js:",
		"\"callback-this\": {\n    // It may take fetch from the global object: this.fetch at node_modules/callback-this/index.js:1:55.\n    permissions: [],",
		"listens: {\n    // It assigns to onmessage (node_modules/listens/index.js:1:23), which does nothing outside of the sandbox.\n    permissions: [],",
		"\"strict-writes\": {\n    // It assigns to leaked (node_modules/strict-writes/index.js:3:24), which no host is known to have: strict code throws there.\n    // It assigns to onmessage (node_modules/strict-writes/index.js:2:27), which does nothing outside of the sandbox; strict code throws there unless it is granted.\n",
		"\"leaks-at-load\": {\n    // It assigns to leaked (node_modules/leaks-at-load/index.js:2:1), which no host is known to have: strict code throws there.\n",
		"digests: {\n    // It uses crypto.subtle (node_modules/digests/index.js:1:23), which no grant gives: a sandbox gets no more of crypto than getRandomValues and randomUUID.\n    permissions: [],",
		"// It uses crypto.subtle (node_modules/digests-too/index.js:2:23) too, which no grant gives: a sandbox gets no more of crypto than getRandomValues and randomUUID.\n    permissions: [\"crypto\"],",
		"\"brings-fetch\": {\n    permissions: [],",
	} {
		if !strings.Contains(p.Text, want) {
			t.Errorf("the policy lacks %q:\n%s", want, p.Text)
		}
	}
	if len(p.Skipped) != 1 || p.Skipped[0].Library != "not-there" {
		t.Errorf("skipped %v", p.Skipped)
	}
	if err := sn.WriteProposal(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	again, err := sn.Propose(t.Context(), Selection{Names: []string{"clean", "unused"}}, nil)
	if err != nil || len(again.Added) != 1 || !strings.HasPrefix(again.Text, strings.TrimSuffix(p.Text, "};\n")) {
		t.Errorf("a second proposal: %v %+v\n%s", err, again, again.Text)
	}
}

// TestPropose_namesLibrariesAsTheyAreImported: what is written is what the redirect answers.
func TestPropose_namesLibrariesAsTheyAreImported(t *testing.T) {
	root := t.TempDir()
	for name, content := range map[string]string{
		"package.json":                    `{"dependencies":{"kit":"1","whole":"1"}}`,
		"src/a.js":                        `import "kit/deep"; import "whole"; import "whole/part";`,
		"node_modules/kit/package.json":   `{"name":"kit","version":"1.0.0","main":"index.js"}`,
		"node_modules/kit/index.js":       `throw new Error("nobody imports it");`,
		"node_modules/kit/deep.js":        `exports.deep = () => fetch("/a");`,
		"node_modules/whole/package.json": `{"name":"whole","version":"1.0.0","main":"index.js"}`,
		"node_modules/whole/index.js":     `exports.a = 1;`,
		"node_modules/whole/part.js":      `exports.b = 1;`,
	} {
		writeFile(t, filepath.Join(root, filepath.FromSlash(name)), content)
	}
	sn := newSession(t).Snapshot(root, nil)
	p, err := sn.Propose(t.Context(), Selection{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, added := range p.Added {
		names = append(names, added.Library)
	}
	if diff := cmp.Diff([]string{"kit/deep", "whole", "whole/part"}, names); diff != "" {
		t.Errorf("libraries (-want +got):\n%s", diff)
	}
	if err := sn.WriteProposal(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	result, err := newSession(t).Snapshot(root, nil).Check(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range result.Findings {
		if f.Severity == finding.Error {
			t.Errorf("what init wrote fails the check: %s %s", f.Code, f.Message)
		}
	}
}

func TestCheck_findingsStandWhereTheArchivesMarkThem(t *testing.T) {
	for archive, names := range map[string][]string{
		"compat.txtar":   {".sandbox/compat.config.js"},
		"crossing.txtar": {policy.ConfigFile},
		"marshallers.txtar": {
			".sandbox/marshallers/array.js", ".sandbox/marshallers/decimals.js", ".sandbox/marshallers/idle.js", ".sandbox/marshallers/shared.js",
		},
		"marshallers-object.txtar": {MarshallersFile},
		"marshallers-none.txtar":   {MarshallersFile, ".sandbox/marshallers/decimals.js"},
		"marshallers-alone.txtar":  {".sandbox/marshallers/decimals.js"},
	} {
		t.Run(archive, func(t *testing.T) {
			root := unpack(t, archive)
			sn := newSession(t).Snapshot(root, nil)
			result, err := sn.Check(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var want []findingtest.Want
			for _, name := range names {
				content, err := sn.Read(filepath.Join(root, filepath.FromSlash(name)))
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, findingtest.Parse(t, name, content)...)
			}
			findingtest.Compare(t, want, result.Findings)
		})
	}
}
