package analysis

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// fixesFor reads a policy and returns the fixes of a finding at the first place of a
// text in it. Without a message the finding is made up of the code and the data;
// with one it is the reader's own.
func fixesFor(t *testing.T, content string, code finding.Code, severity finding.Severity, place, message string, data map[string]string) []finding.Fix {
	t.Helper()
	p, err := policy.Read(t.Context(), policy.Source{Root: "/p", File: "/p/.sandbox/sandbox.config.js", Text: content}, nil)
	if err != nil {
		t.Fatal(err)
	}
	start := strings.Index(content, place)
	f := finding.Finding{Code: code, Severity: severity, File: ".sandbox/sandbox.config.js", Data: data, Range: p.Mapper.Range(text.Span{Start: start, End: start + len(place)})}
	if message != "" {
		found := false
		for _, own := range p.Findings {
			if own.Code == code && strings.Contains(own.Message, message) {
				f, found = own, true
				break
			}
		}
		if !found {
			t.Fatalf("no %s %q among %+v", code, message, p.Findings)
		}
	}
	sn := &Snapshot{root: "/p"}
	return sn.withFixes(p, []finding.Finding{f})[0].Fixes
}

func TestFixes_ofFindings(t *testing.T) {
	wrap := func(inside string) string {
		return "// 😀\nexport default {\n  /* 😀 */ lodash: { " + inside + " },\n};\n"
	}
	type data = map[string]string
	tests := map[string]struct {
		code     finding.Code
		severity finding.Severity
		inside   string
		place    string
		message  string
		data     data
		// want are the fixes: a star when preferred, a plus when it grants, the title, and what the policy of
		// lodash is afterwards.
		want []string
	}{
		"a package of another name": {
			finding.PackageUnresolved, finding.Error, `permissions: []`, "lodash", "", data{"library": "lodash", "suggestion": "lodash-es"},
			[]string{`Change to "lodash-es" => "lodash-es": { permissions: [] }`},
		},
		"a package of no name": {
			finding.PackageUnresolved, finding.Error, `permissions: []`, "lodash", "", data{"library": "lodash"}, nil,
		},
		"an unknown option": {
			finding.BadOption, finding.Error, `permision: []`, "", "permision", nil,
			[]string{`+ Change to "permissions" => lodash: { permissions: [] }`, `Remove "permision" => lodash: {}`},
		},
		"an unknown option like no other": {
			finding.BadOption, finding.Error, `permissions: [], zzzzzzzzzz: 1`, "", "zzzzz", nil,
			[]string{`Remove "zzzzzzzzzz" => lodash: { permissions: [] }`},
		},
		"an unknown option of limits": {
			finding.BadOption, finding.Error, `permissions: [], limits: { memoryMb: 1 }`, "", "memoryMb", nil,
			[]string{`+ Change to "memoryMB" => lodash: { permissions: [], limits: { memoryMB: 1 } }`, `Remove "memoryMb" => lodash: { permissions: [], limits: {} }`},
		},
		"an option that stands twice": {
			finding.BadOption, finding.Error, `permissions: ["a"], permissions: ["Intl"]`, "", "Duplicate", nil,
			[]string{`* Keep only the last one => lodash: { permissions: ["Intl"] }`},
		},
		"a permission that stands twice": {
			finding.BadOption, finding.Warning, `permissions: ["Intl", "URL", { name: "Intl" }]`, "", "granted twice", nil,
			[]string{`* Keep only the first "Intl" => lodash: { permissions: ["Intl", "URL"] }`},
		},
		"a value of the wrong type": {
			finding.BadOption, finding.Error, `permissions: [], subpaths: 1`, "", "true or false", nil, nil,
		},
		"no permissions, and none known": {
			finding.NoPermissions, finding.Error, `subpaths: true`, "", "no permissions", nil,
			[]string{`Grant nothing => lodash: { permissions: [], subpaths: true }`},
		},
		"no permissions, and some are needed": {
			finding.NoPermissions, finding.Error, ``, "lodash", "", data{"library": "lodash", "permissions": "Intl,URL"},
			[]string{`+ Grant what it was seen to need: Intl, URL => lodash: { permissions: ["Intl", "URL"] }`, `Grant nothing => lodash: { permissions: [] }`},
		},
		"no permissions, and none are needed": {
			finding.NoPermissions, finding.Error, ``, "lodash", "", data{"library": "lodash", "permissions": ""},
			[]string{`* Grant nothing => lodash: { permissions: [] }`},
		},
		"a misspelt global": {
			finding.UnknownGlobal, finding.Error, `permissions: ["fecth"]`, `"fecth"`, "", data{"library": "lodash", "permission": "fecth", "suggestion": "fetch"},
			[]string{`+ Change to "fetch" => lodash: { permissions: ["fetch"] }`},
		},
		"a misspelt global beside the right one": {
			finding.UnknownGlobal, finding.Error, `permissions: ["fecth", "fetch"]`, `"fecth"`, "", data{"library": "lodash", "permission": "fecth", "suggestion": "fetch"},
			[]string{`* Remove "fecth", since "fetch" is granted => lodash: { permissions: ["fetch"] }`},
		},
		"an unknown global": {
			finding.UnknownGlobal, finding.Error, `permissions: ["zzz"]`, `"zzz"`, "", data{"library": "lodash", "permission": "zzz"}, nil,
		},
		"what the guest has": {
			finding.RedundantPermission, finding.Warning, `permissions: ["Map", "Intl"]`, `"Map"`, "", data{"library": "lodash", "permission": "Map"},
			[]string{`* Remove "Map" => lodash: { permissions: ["Intl"] }`},
		},
		"a path to a global": {
			finding.RedundantPermission, finding.Warning, `permissions: ["window.fetch"]`, `"window.fetch"`, "", data{"library": "lodash", "permission": "window.fetch", "suggestion": "fetch"},
			[]string{`+ Change to "fetch" => lodash: { permissions: ["fetch"] }`},
		},
		"unused": {
			finding.UnusedPermission, finding.Warning, `permissions: ["Intl", { name: "fetch", allow: ["https://a.example/*"] }]`, `"fetch"`, "", data{"library": "lodash", "permission": "fetch"},
			[]string{`* Remove "fetch" => lodash: { permissions: ["Intl"] }`},
		},
		"perhaps unused": {
			finding.UnusedPermission, finding.Hint, `permissions: ["Intl"]`, `"Intl"`, "", data{"library": "lodash", "permission": "Intl"},
			[]string{`Remove "Intl" => lodash: { permissions: [] }`},
		},
		"expired": {
			finding.ExpiredGrant, finding.Warning, `permissions: [{ name: "Intl", expires: "2020-01-01" }]`, `"2020-01-01"`, "", data{"permission": "Intl"},
			[]string{`Remove "Intl" => lodash: { permissions: [] }`},
		},
		"missing": {
			finding.MissingPermission, finding.Error, `permissions: []`, `[]`, "", data{"library": "lodash", "permission": "fetch"},
			[]string{`+ Grant fetch to "lodash" => lodash: { permissions: ["fetch"] }`},
		},
		"missing several, not all of which may be granted lightly": {
			finding.MissingPermission, finding.Hint, `permissions: []`, `[]`, "", data{"library": "lodash", "permissions": "fetch,document,nobodyHasThis,URL"},
			[]string{`+ Grant fetch and URL to "lodash" => lodash: { permissions: ["fetch", "URL"] }`},
		},
		"missing the whole realm": {
			finding.MissingPermission, finding.Error, `permissions: []`, `[]`, "", data{"library": "lodash", "permission": "document"}, nil,
		},
		"a loose rule": {
			finding.LooseAttenuation, finding.Warning, `permissions: [{ name: "fetch", allow: ["https://a.example*"] }]`, `https://a.example*`, "",
			data{"library": "lodash", "permission": "fetch", "rule": "https://a.example*", "suggestion": "https://a.example/*"},
			[]string{`+ Change to "https://a.example/*" => lodash: { permissions: [{ name: "fetch", allow: ["https://a.example/*"] }] }`},
		},
		"an export that is not there": {
			finding.WorkloadNoExport, finding.Error, `permissions: [], workloads: { w: { entry: "w.js", exports: ["rum", "go"] } }`, `"rum"`, "", data{"library": "lodash", "suggestion": "run"},
			[]string{
				`Change to "run" => lodash: { permissions: [], workloads: { w: { entry: "w.js", exports: ["run", "go"] } } }`,
				`Remove "rum" from the exports => lodash: { permissions: [], workloads: { w: { entry: "w.js", exports: ["go"] } } }`,
			},
		},
		"an export that is not named": {
			finding.WorkloadUnnamed, finding.Info, `permissions: [], workloads: { v: {}, w: { entry: "w.js", exports: [] } }`, `exports: []`, "", data{"library": "lodash", "workload": "w", "export": "run"},
			[]string{`Add "run" to the exports => lodash: { permissions: [], workloads: { v: {}, w: { entry: "w.js", exports: ["run"] } } }`},
		},
		"a finding without a fix": {
			finding.WholeRealm, finding.Warning, `permissions: ["document"]`, `"document"`, "", data{"library": "lodash", "permission": "document"}, nil,
		},
		"a place that is not literal": {
			finding.MissingPermission, finding.Error, `permissions: make()`, `make()`, "", data{"library": "lodash", "permission": "fetch"}, nil,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			content := wrap(tt.inside)
			var got []string
			for _, fix := range fixesFor(t, content, tt.code, tt.severity, tt.place, tt.message, tt.data) {
				mark := ""
				if fix.Grants {
					mark = "+ "
				}
				if fix.Preferred {
					mark += "* "
				}
				after := finding.Apply(content, ".sandbox/sandbox.config.js", fix.Edits)
				after, head := strings.CutPrefix(after, "// 😀\nexport default {\n  /* 😀 */ ")
				after, tail := strings.CutSuffix(after, ",\n};\n")
				if !head || !tail {
					t.Errorf("more was changed than the library: %s", after)
				}
				got = append(got, fmt.Sprintf("%s%s => %s", mark, fix.Title, after))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestFixes_createTheEntryOfAWorkload(t *testing.T) {
	const content = `export default { lodash: { permissions: [], workloads: { w: { entry: "ENTRY", exports: ["run"] } } } };`
	for entry, want := range map[string]string{"src/w.js": "export function run()", "src/w.cjs": "exports.run = function ()", "src/w.ts": "export function run()", "src/w.json": "", "src/w": ""} {
		fixes := fixesFor(t, strings.Replace(content, "ENTRY", entry, 1), finding.WorkloadNoEntry, finding.Warning, `"`+entry+`"`, "", map[string]string{"library": "lodash"})
		if want == "" {
			if len(fixes) > 0 {
				t.Errorf("%s: %+v", entry, fixes)
			}
			continue
		}
		if len(fixes) != 1 || fixes[0].Preferred || len(fixes[0].Creates) != 1 || fixes[0].Creates[0].File != entry || !strings.Contains(fixes[0].Creates[0].Text, want) {
			t.Errorf("%s: %+v", entry, fixes)
		}
	}
}

func TestCheck_saysHowToInstallDeclarations(t *testing.T) {
	s := newSession(t)
	for name, tt := range map[string]struct{ request, manifest, says, install string }{
		"listed":           {"@s/a", `{"dependencies": {"@s/a": "1.0.0"}, "devDependencies": {"@types/s__a": "1.0.0"}}`, "package.json lists @types/s__a, which is not installed", "npm install"},
		"not known":        {"@s/a", `{"dependencies": {"@s/a": "1.0.0"}, "devDependencies": {"@types/a": "1.0.0"}}`, "DefinitelyTyped may have some", "npm install --save-dev @types/s__a"},
		"known":            {"lodash", `{"dependencies": {"lodash": "1.0.0"}}`, "DefinitelyTyped has them", "npm install --save-dev @types/lodash"},
		"known, scoped":    {"@babel/core", `{"dependencies": {"@babel/core": "1.0.0"}}`, "DefinitelyTyped has them", "npm install --save-dev @types/babel__core"},
		"known, a subpath": {"lodash/fp.js", `{"dependencies": {"lodash": "1.0.0"}}`, "DefinitelyTyped has them", "npm install --save-dev @types/lodash"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			writeFile(t, filepath.Join(root, ".sandbox", "sandbox.config.js"), fmt.Sprintf("export default { %q: { permissions: [] } };\n", tt.request))
			writeFile(t, filepath.Join(root, "package.json"), tt.manifest)
			folder := filepath.Join(root, "node_modules", filepath.FromSlash(strings.TrimSuffix(tt.request, "/fp.js")))
			writeFile(t, filepath.Join(folder, "package.json"), `{"version": "1.0.0"}`)
			writeFile(t, filepath.Join(folder, "index.js"), "exports.a = 1;\n")
			writeFile(t, filepath.Join(folder, "fp.js"), "exports.a = 1;\n")
			result, err := s.Snapshot(root, nil).Check(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(result.Findings) != 1 || result.Findings[0].Code != finding.NoDeclarations || result.Findings[0].Data["install"] != tt.install {
				t.Fatalf("found %+v", result.Findings)
			}
			for _, want := range []string{tt.says, tt.install} {
				if message := result.Findings[0].Message; !strings.Contains(message, want) {
					t.Errorf("%q does not say %q", message, want)
				}
			}
		})
	}
}

// preferred makes the preferred fixes of what a policy's text tells until there are
// none, and returns what the text is then, how often it was read, and the codes that
// are left.
func preferred(t *testing.T, sn *Snapshot, content string) (after string, rounds int, left []string) {
	t.Helper()
	for ; rounds < 10; rounds++ {
		now := sn.session.Snapshot(sn.root, map[string]string{sn.PolicyFile(): content})
		p, _, err := now.policy(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		found, err := now.ofPolicy(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		found = now.withFixes(p, finding.Sort(found))
		merged, _ := finding.Merge(finding.Preferred(found))
		if len(merged.Edits) == 0 {
			for _, f := range found {
				left = append(left, string(f.Code))
			}
			return content, rounds, left
		}
		content = finding.Apply(content, policy.ConfigFile, merged.Edits)
	}
	t.Fatalf("still something to fix in\n%s", content)
	return "", 0, nil
}

func TestFixes_thatArePreferredCanBeMadeUntilNoneIsLeft(t *testing.T) {
	// Those of neighbours touch, so they take more than one round; what is not
	// preferred stays.
	const before = `export default {
  lodash: {
    permissions: ["a"], // one
    permissions: ["b"], // two
    permissions: ["fetch", "Map", "Promise", "fetch", "Date"], // three
    permision: ["URL"],
  },
};
`
	const want = `export default {
  lodash: {
    permissions: ["fetch"], // three
    permision: ["URL"],
  },
};
`
	after, rounds, left := preferred(t, newSession(t).Snapshot(t.TempDir(), nil), before)
	if diff := cmp.Diff(want, after); diff != "" {
		t.Errorf("after %d rounds (-want +got):\n%s", rounds, diff)
	}
	if diff := cmp.Diff([]string{"SBX004"}, left); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	if rounds < 2 {
		t.Errorf("%d rounds, so no two fixes got in each other's way", rounds)
	}
}
