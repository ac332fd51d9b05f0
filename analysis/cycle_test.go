package analysis

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
)

// TestFix_leavesNothingThatAdviceBrings writes policies over libraries of every kind,
// makes the fixes that need no decision, does what the remaining findings advise, and
// expects that neither a second round of fixes nor one after the advice undoes anything.
func TestFix_leavesNothingThatAdviceBrings(t *testing.T) {
	own, err := os.ReadFile(filepath.Join(unpack(t, "authority.txtar"), filepath.FromSlash(policy.ConfigFile)))
	if err != nil {
		t.Fatal(err)
	}
	libraries := []string{"uses-fetch", "reads-intl", "sorts", "picks-method", "unused", "maybe-unused", "hides", "asks-first", "asks-root", "takes-root", "through-view", "callback-this", "method-this", "listens", "moves-on", "clean"}
	every := func(options string) string {
		var b strings.Builder
		b.WriteString("export default {\n")
		for _, l := range libraries {
			fmt.Fprintf(&b, "  %q: { %s },\n", l, options)
		}
		b.WriteString("};\n")
		return b.String()
	}
	for name, content := range map[string]string{
		"the fixture's own": string(own),
		"nothing granted":   every("permissions: []"),
		"no permissions":    every(""),
		"Intl":              every(`permissions: ["Intl"]`),
		"much":              every(`permissions: ["Intl", "fetch", "Map", "window", "fetch", { name: "Intl" }, "document", "onmessage", "location", "navigator"]`),
		"misspelt":          every(`permissions: ["fecth", "fetch", "intl", "Intl"], snapshots: true`),
	} {
		t.Run(name, func(t *testing.T) {
			root := unpack(t, "authority.txtar")
			file := filepath.Join(root, filepath.FromSlash(policy.ConfigFile))
			writeFile(t, file, content)
			session := newSession(t)
			fix := func(settled string) (string, []finding.Finding) {
				fixed, err := session.Fix(t.Context(), root, nil)
				if err != nil {
					t.Fatal(err)
				}
				now, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if settled != "" && (fixed.Made != 0 || string(now) != settled) {
					t.Errorf("%d fixes were made in a settled policy:\n%s\nwas\n%s", fixed.Made, now, settled)
				}
				return string(now), fixed.Findings
			}
			first, found := fix("")
			fix(first)
			// What a finding proposes to grant, and what SBX034 says in words.
			var grants []finding.Fix
			for _, f := range found {
				if f.Code == finding.MissingPermission && len(f.Fixes) > 0 {
					grants = append(grants, f.Fixes[0])
				}
			}
			merged, _ := finding.Merge(grants)
			advised := finding.Apply(first, policy.ConfigFile, merged.Edits)
			for _, f := range found {
				if f.Code == finding.SilentDifference && strings.Contains(f.Message, "Grant Intl") {
					advised = strings.Replace(advised, fmt.Sprintf("%q: { permissions: []", f.Data["library"]), fmt.Sprintf("%q: { permissions: [\"Intl\"]", f.Data["library"]), 1)
				}
			}
			writeFile(t, file, advised)
			if _, left := fix(advised); strings.Contains(advised, `"Intl"`) {
				for _, f := range left {
					if f.Code == finding.UnusedPermission && f.Data["permission"] == "Intl" && f.Data["library"] == "reads-intl" {
						t.Errorf("after the advice: %s", f.Message)
					}
				}
			}
		})
	}
}
