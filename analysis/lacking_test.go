package analysis

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
)

// installed makes a project with a policy and with libraries of one CommonJS file
// each, which have declarations.
func installed(t *testing.T, policy string, libraries map[string]string) *Snapshot {
	t.Helper()
	root := t.TempDir()
	dependencies := map[string]string{}
	for name, source := range libraries {
		dependencies[name] = "1.0.0"
		folder := filepath.Join(root, "node_modules", filepath.FromSlash(name))
		writeFile(t, filepath.Join(folder, "package.json"), fmt.Sprintf(`{ "name": %q, "version": "1.0.0", "main": "index.js", "types": "index.d.ts" }`, name))
		writeFile(t, filepath.Join(folder, "index.js"), source)
		writeFile(t, filepath.Join(folder, "index.d.ts"), "export {};\n")
	}
	manifest, err := json.Marshal(map[string]any{"name": "app", "dependencies": dependencies})
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(root, "package.json"), string(manifest))
	writeFile(t, filepath.Join(root, ".sandbox", "sandbox.config.js"), policy)
	return newSession(t).Snapshot(root, nil)
}

// about returns what a check says of a library, by code and severity.
func about(result *Result, library string) map[string]finding.Finding {
	found := map[string]finding.Finding{}
	for _, f := range result.Findings {
		if f.Data["library"] == library {
			found[fmt.Sprintf("%s %s %s", f.Code, f.Severity, f.Data["permission"])] = f
		}
	}
	return found
}

func TestCheck_namesTheGlobalForLackOfWhichALibraryDoesNotLoad(t *testing.T) {
	tests := map[string]struct{ source, lacks string }{
		"a free name":              {"document.title = 1;", "document"},
		"a written member":         {"globalThis.document.title = 1;", "document"},
		"a read member":            {"exports.t = globalThis.document.title;", "document"},
		"an alias":                 {"const g = globalThis; const d = g.document;\nexports.t = d.title;", "document"},
		"a call":                   {"globalThis.setTimeout(() => {});", "setTimeout"},
		"a construction":           {"new globalThis.URL('x');", "URL"},
		"a parent class":           {"class A extends globalThis.HTMLElement {}\nexports.A = A;", "HTMLElement"},
		"a pattern":                {"const { document: d } = globalThis;\nd.title = 2;", "document"},
		"a pattern of the absent":  {"const { title } = globalThis.document;\nexports.t = title;", "document"},
		"in a function":            {"function init() { return globalThis.navigator.userAgent; }\nexports.i = init();", "navigator"},
		"in a callback":            {"[2].forEach(() => { exports.z = globalThis.navigator.userAgent; });", "navigator"},
		"as an argument":           {"const d = globalThis.document;\nfunction f(x) {\n  return x.title;\n}\nexports.t = f(d);", "document"},
		"instanceof":               {"exports.x = {} instanceof globalThis.Event;", "Event"},
		"a computed key":           {"const n = ['docu', 'ment'].join('');\nexports.t = globalThis[n].title;", "document"},
		"the first of two":         {"globalThis.window.document.title = 1;", "window"},
		"a fault of its own":       {"let x;\nexports.t = x.title; exports.f = () => globalThis.document.title;", ""},
		"a fault beside a guard":   {"let x; exports.d = typeof globalThis.document === 'undefined' ? '' : globalThis.document.title; exports.t = x.title;", ""},
		"a fault on another line":  {"exports.d = globalThis.document;\nlet x;\nexports.t = x.title;", ""},
		"what the guest has":       {"globalThis.JSON.parse.x.y;", ""},
		"what no host has":         {"globalThis.someOtherScript.run();", ""},
		"an error of another kind": {"exports.d = globalThis.document; throw new RangeError('no');", ""},
	}
	var policy strings.Builder
	sources := map[string]string{}
	names := map[string]string{}
	for name, tt := range tests {
		library := strings.ReplaceAll(name, " ", "-")
		names[name], sources[library] = library, tt.source
		fmt.Fprintf(&policy, "  %q: { permissions: [] },\n", library)
	}
	result, err := installed(t, "export default {\n"+policy.String()+"};\n", sources).Check(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			found := about(result, names[name])
			failed, ok := found["SBX042 error "+tt.lacks]
			if !ok {
				t.Fatalf("the load does not fail as expected: %v", found)
			}
			if tt.lacks == "" {
				for key := range found {
					if strings.HasPrefix(key, "SBX014 error") {
						t.Errorf("%s, though the library lacks nothing that it needs to load", key)
					}
				}
				return
			}
			if !strings.Contains(failed.Message, tt.lacks+" is not granted to it") {
				t.Errorf("the failure does not name %s: %s", tt.lacks, failed.Message)
			}
			if missing, ok := found["SBX014 error "+tt.lacks]; !ok || !strings.Contains(missing.Message, "needs "+tt.lacks+" while it loads") {
				t.Errorf("no error says that it needs %s: %v", tt.lacks, found)
			}
		})
	}
}

func TestCheck_saysNothingOfPermissionsThatNobodyKnows(t *testing.T) {
	const uses = "exports.f = () => fetch('x'); exports.sort = (l) => l.sort((a, b) => a.localeCompare(b));"
	const needs = "exports.t = globalThis.document.title;"
	tests := map[string]struct {
		entry   string // of both libraries
		unknown bool
	}{
		"the list":               {"{ permissions: process.env.X ? [\"fetch\"] : [] }", true},
		"a part of the list":     {"{ permissions: [\"Intl\", ...process.env.X] }", true},
		"one permission":         {"{ permissions: [\"Intl\", process.env.X] }", true},
		"the name of one":        {"{ permissions: [{ name: process.env.X }] }", true},
		"the library":            {"process.env.X", true},
		"spread options":         {"{ ...process.env }", true},
		"a computed option":      {"{ [process.env.X]: [] }", true},
		"an option's accessor":   {"{ get permissions() { return process.env.X; } }", true},
		"a slip for the list":    {"{ permissions: \"fetch\" }", false},
		"another option":         {"{ permissions: [], limits: { memoryMB: process.env.X } }", false},
		"the rules of one":       {"{ permissions: [{ name: \"Intl\", allow: process.env.X }] }", false},
		"a slip beside the rest": {"{ permissions: [\"Intl\", 7] }", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			policy := fmt.Sprintf("export default {\n  uses: %s,\n  needs: %[1]s,\n};\n", tt.entry)
			result, err := installed(t, policy, map[string]string{"uses": uses, "needs": needs}).Check(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			seen := map[finding.Code]bool{}
			for _, f := range result.Findings {
				seen[f.Code] = true
			}
			for _, code := range []finding.Code{finding.MissingPermission, finding.LoadFailed} {
				if seen[code] == tt.unknown {
					t.Errorf("%s is reported: %v, want %v", code, seen[code], !tt.unknown)
				}
			}
			for _, code := range []finding.Code{finding.NoPermissions, finding.SilentDifference, finding.NoDeclarations} {
				if tt.unknown && seen[code] {
					t.Errorf("%s is reported, though nobody knows the permissions: %v", code, result.Findings)
				}
			}
		})
	}
}
