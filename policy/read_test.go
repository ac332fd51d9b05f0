package policy

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding/findingtest"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// read reads a policy on a day of which the fixtures know.
func read(t *testing.T, content string, evaluator Evaluator) *Policy {
	t.Helper()
	return readSource(t, Source{Root: "/project", File: "/project/.sandbox/sandbox.config.js", Text: content, Today: Date{2027, time.February, 1}}, evaluator)
}

func readSource(t *testing.T, source Source, evaluator Evaluator) *Policy {
	t.Helper()
	p, err := Read(t.Context(), source, evaluator)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestRead_findsEveryFaultAtItsPlace(t *testing.T) {
	findingtest.Fixtures(t, func(t *testing.T, archive *txtar.Archive) {
		content := string(archive.Files[0].Data)
		p := read(t, content, nil)
		findingtest.Compare(t, findingtest.Parse(t, ConfigFile, content), p.Findings)
	})
}

// forms are the ways in which a policy may be written; each says the same.
var forms = map[string]string{
	"ES default":                  `export default { lodash: { permissions: ["Intl"] } };`,
	"CommonJS":                    `module.exports = { lodash: { permissions: ["Intl"] } };`,
	"exports.default":             `exports.default = { lodash: { permissions: ["Intl"] } };`,
	"const":                       `const config = { lodash: { permissions: ["Intl"] } }; export default config;`,
	"const as default":            `const config = { lodash: { permissions: ["Intl"] } }; export { config as default };`,
	"const in CommonJS":           `"use strict"; const config = { lodash: { permissions: ["Intl"] } }; module.exports = config;`,
	"defineConfig":                `import { defineConfig } from "@sandbox-lsp/runtime"; export default defineConfig({ lodash: { permissions: ["Intl"] } });`,
	"defineConfig of a const":     `import { defineConfig } from "@sandbox-lsp/runtime"; const c = { lodash: { permissions: ["Intl"] } }; export default defineConfig(c);`,
	"required defineConfig":       `const { defineConfig } = require("@sandbox-lsp/runtime"); module.exports = defineConfig({ lodash: { permissions: ["Intl"] } });`,
	"shared parts":                `const p = ["Intl"], l = { permissions: p }; export default { lodash: l };`,
	"spread of a const":           `const base = { lodash: { permissions: ["Intl"] } }; export default { ...base };`,
	"satisfies":                   `export default ({ lodash: { permissions: ["Intl"] } });`,
	"comments, CRLF and a BOM":    "\uFEFF// one\r\n/* 🎉 */ export default {\r\n  lodash: { permissions: [\"Intl\"] }, // end\r\n};\r\n",
	"single quotes, no semicolon": "export default { 'lodash': { 'permissions': ['Intl'] } }",
	"template literal":            "export default { lodash: { permissions: [`Intl`] } }",
}

func TestRead_everyFormSaysTheSameWithoutEvaluation(t *testing.T) {
	for name, content := range forms {
		t.Run(name, func(t *testing.T) {
			p := read(t, content, nil)
			if len(p.Findings) > 0 || !p.Complete {
				t.Fatalf("complete %v, findings %v", p.Complete, p.Findings)
			}
			lib, ok := p.Library("lodash")
			if !ok || len(lib.Permissions) != 1 || lib.Permissions[0].Name != "Intl" {
				t.Fatalf("libraries %+v", p.Libraries)
			}
			span := lib.Permissions[0].Span
			if got := content[span.Start:span.End]; strings.Trim(got, "\"'`") != "Intl" {
				t.Errorf("the permission's range covers %q", got)
			}
		})
	}
}

func TestRead_theExtensionSaysWhatTheFileIs(t *testing.T) {
	const types = `import { defineConfig, type SandboxConfig } from "@sandbox-lsp/runtime";
import type { Grant } from "./types";
interface Local { a: string }
type Names = readonly string[];
const names = ["Intl"] as const satisfies Names;
`
	tests := map[string]struct{ file, content, wrong string }{
		"ES module in .js":         {"sandbox.config.js", `export default { lodash: { permissions: ["Intl"] } };`, ""},
		"CommonJS in .js":          {"sandbox.config.js", `module.exports = { lodash: { permissions: ["Intl"] } };`, ""},
		"ES module in .mjs":        {"sandbox.config.mjs", `export default { lodash: { permissions: ["Intl"] } };`, ""},
		"CommonJS in .cjs":         {"sandbox.config.cjs", `module.exports = { lodash: { permissions: ["Intl"] } };`, ""},
		"types in .ts":             {"sandbox.config.ts", types + `export default { lodash: { permissions: names } } satisfies SandboxConfig;`, ""},
		"a typed helper in .ts":    {"sandbox.config.ts", types + `export default defineConfig({ lodash: { permissions: ["Intl" as const] } } satisfies SandboxConfig);`, ""},
		"a type assertion in .ts":  {"sandbox.config.ts", types + `export default <SandboxConfig>{ lodash: { permissions: names } };`, ""},
		"CommonJS in .ts":          {"sandbox.config.ts", `export = { lodash: { permissions: ["Intl"] } };`, ""},
		"ES module in .mts":        {"sandbox.config.mts", types + `export default { lodash: { permissions: names } } as SandboxConfig;`, ""},
		"ES module in .cts":        {"sandbox.config.cts", `export default { lodash: { permissions: ["Intl"] } };`, ""},
		"module.exports in .mjs":   {"sandbox.config.mjs", `module.exports = { lodash: { permissions: ["Intl"] } };`, "module.exports|ES module.*to .cjs"},
		"exports.default in .mts":  {"sandbox.config.mts", `exports.default = { lodash: { permissions: ["Intl"] } };`, "exports.default|ES module.*to .cts"},
		"export default in .cjs":   {"sandbox.config.cjs", `export default { lodash: { permissions: ["Intl"] } };`, "export|CommonJS.*to .mjs"},
		"types in .js":             {"sandbox.config.js", `export default { lodash: { permissions: ["Intl"] } } satisfies SandboxConfig;`, "SandboxConfig|only be used in TypeScript"},
		"an export clause in .cjs": {"sandbox.config.cjs", `const c = { lodash: { permissions: ["Intl"] } }; export { c as default };`, "export|CommonJS"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			e := &fakeEvaluator{value: obj()}
			p := readSource(t, Source{Root: "/project", File: "/project/.sandbox/" + tt.file, Text: tt.content}, e)
			lib, ok := p.Library("lodash")
			if diff := cmp.Diff([]string{"Intl"}, lib.PermissionNames()); diff != "" || !ok {
				t.Errorf("permissions (-want +got):\n%s", diff)
			}
			if e.asked != 0 {
				t.Error("a literal policy was evaluated")
			}
			if tt.wrong == "" {
				if len(p.Findings) > 0 || !p.Complete {
					t.Errorf("complete %v, findings %+v", p.Complete, p.Findings)
				}
				return
			}
			at, message, _ := strings.Cut(tt.wrong, "|")
			if len(p.Findings) != 1 || p.Findings[0].Code != finding.PolicyUnreadable || p.Findings[0].Severity != finding.Error || p.Complete {
				t.Fatalf("complete %v, findings %+v", p.Complete, p.Findings)
			}
			f := p.Findings[0]
			if span := p.Mapper.Span(f.Range); tt.content[span.Start:span.End] != at || !regexp.MustCompile(message).MatchString(f.Message) || f.File != ".sandbox/"+tt.file {
				t.Errorf("at %q in %s: %s", tt.content[span.Start:span.End], f.File, f.Message)
			}
		})
	}
}

func TestRead_saysWhichOfSeveralFilesCounts(t *testing.T) {
	for content, codes := range map[string][]finding.Code{
		`export default {};`: {finding.PolicyUnreadable},
		``:                   {finding.PolicyUnreadable, finding.PolicyNotAnObject}, // the warning does not excuse the rest
	} {
		p := readSource(t, Source{Root: "/project", File: "/project/.sandbox/sandbox.config.mjs", Text: content, Ignored: []string{".sandbox/sandbox.config.cjs", ".sandbox/sandbox.config.ts"}}, nil)
		var got []finding.Code
		for _, f := range p.Findings {
			got = append(got, f.Code)
			if f.Code == finding.PolicyUnreadable && (f.Severity != finding.Warning || !strings.Contains(f.Message, "This one, .sandbox/sandbox.config.mjs, is read; nothing that .sandbox/sandbox.config.cjs or .sandbox/sandbox.config.ts says")) {
				t.Errorf("finding %+v", f)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, codes) || !p.Complete {
			t.Errorf("%q: complete %v, findings %+v", content, p.Complete, p.Findings)
		}
	}
}

func TestChooseFile_takesTheFirstThatExists(t *testing.T) {
	tests := map[string]struct {
		exist   []string
		used    string
		ignored []string
	}{
		"none":        {nil, ".sandbox/sandbox.config.js", nil},
		"one":         {[]string{".sandbox/sandbox.config.ts"}, ".sandbox/sandbox.config.ts", nil},
		"js first":    {[]string{".sandbox/sandbox.config.ts", ".sandbox/sandbox.config.js"}, ".sandbox/sandbox.config.js", []string{".sandbox/sandbox.config.ts"}},
		"three":       {[]string{".sandbox/sandbox.config.cts", ".sandbox/sandbox.config.cjs", ".sandbox/sandbox.config.mjs"}, ".sandbox/sandbox.config.mjs", []string{".sandbox/sandbox.config.cjs", ".sandbox/sandbox.config.cts"}},
		"others only": {[]string{".sandbox/sandbox.config.json"}, ".sandbox/sandbox.config.js", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			used, ignored := ChooseFile(ConfigFiles, func(name string) bool { return slices.Contains(tt.exist, name) })
			if used != tt.used || !slices.Equal(ignored, tt.ignored) {
				t.Errorf("used %s, ignored %v", used, ignored)
			}
		})
	}
}

// fakeEvaluator answers with a fixed value or error and counts how often it was
// asked.
type fakeEvaluator struct {
	value *Value
	err   error
	asked int
}

func (e *fakeEvaluator) Evaluate(context.Context, Source) (*Value, error) {
	e.asked++
	return e.value, e.err
}

func str(s string) *Value { return &Value{Kind: String, Text: s} }

func obj(pairs ...any) *Value {
	v := &Value{Kind: Object}
	for i := 0; i < len(pairs); i += 2 {
		v.Props = append(v.Props, Prop{Key: pairs[i].(string), Value: pairs[i+1].(*Value)})
	}
	return v
}

func arr(elems ...*Value) *Value { return &Value{Kind: Array, Elems: elems} }

func TestRead_evaluatesOnlyWhatTheTreeLeavesOpen(t *testing.T) {
	evaluated := obj("lodash", obj("permissions", arr(str("Intl"), str("fetch"))))
	tests := map[string]string{
		"spread of an import":        `import base from "./base.js"; export default { ...base };`,
		"call":                       `export default { lodash: make() };`,
		"computed key":               `const k = () => "lodash"; export default { [k()]: { permissions: ["Intl"] } };`,
		"accessor":                   `export default { get lodash() { return {} } };`,
		"prototype key":              `export default { __proto__: { lodash: {} } };`,
		"mutated before the export":  `const c = { lodash: { permissions: ["Intl"] } }; c.lodash.permissions.push("fetch"); export default c;`,
		"mutated after the export":   `const c = { lodash: { permissions: ["Intl"] } }; export default c; Object.assign(c, { x: 1 });`,
		"mutated through exports":    `module.exports = { lodash: { permissions: ["Intl"] } }; module.exports.lodash.permissions.push("fetch");`,
		"import with side effects":   `import "./patch.js"; export default { lodash: { permissions: ["Intl"] } };`,
		"defineConfig of another":    `import { defineConfig } from "./mine.js"; export default defineConfig({ lodash: { permissions: ["Intl"] } });`,
		"reassigned":                 `let c = { lodash: { permissions: ["Intl"] } }; c = { lodash: { permissions: [] } }; export default c;`,
		"conditional":                `export default process.env.CI ? { lodash: {} } : {};`,
		"permission from a variable": `export default { lodash: { permissions: ["Intl", extra] } };`,
	}
	for name, content := range tests {
		t.Run(name, func(t *testing.T) {
			e := &fakeEvaluator{value: evaluated}
			p := read(t, content, e)
			if e.asked != 1 || !p.Complete {
				t.Fatalf("asked %d times, complete %v", e.asked, p.Complete)
			}
			lib, _ := p.Library("lodash")
			if diff := cmp.Diff([]string{"Intl", "fetch"}, lib.PermissionNames()); diff != "" {
				t.Errorf("the evaluated value does not rule: %s", diff)
			}
			for _, permission := range lib.Permissions {
				if permission.Span.End <= permission.Span.Start || permission.Span.End > len(content) {
					t.Errorf("%s has no range: %v", permission.Name, permission.Span)
				}
			}
			if p := read(t, content, nil); p.Complete {
				t.Error("without evaluation the policy counts as complete")
			}
		})
	}
}

func TestRead_evaluatedValuesPointAtTheNearestRange(t *testing.T) {
	const content = `import extra from "./extra.js";
export default {
  lodash: { permissions: ["Intl", ...extra], limits: lim() },
  ...more(),
};
`
	p := read(t, content, &fakeEvaluator{value: obj(
		"lodash", obj("permissions", arr(str("Intl"), str("fetch")), "limits", obj("memoryMB", &Value{Kind: Number, Number: -1})),
		"qs", obj("permissions", arr()),
	)})
	lib, _ := p.Library("lodash")
	at := func(s string) text.Span {
		i := strings.Index(content, s)
		return text.Span{Start: i, End: i + len(s)}
	}
	if lib.Permissions[0].Span != at(`"Intl"`) || lib.Permissions[1].Span != at(`["Intl", ...extra]`) {
		t.Errorf("permissions at %v", lib.Permissions)
	}
	if qs, ok := p.Library("qs"); !ok || qs.KeySpan.Start < at("{\n  lodash").Start {
		t.Errorf("spread library %+v", qs)
	}
	if len(p.Findings) != 1 || p.Findings[0].Range != p.Mapper.Range(at("lim()")) {
		t.Errorf("findings %+v", p.Findings)
	}
}

func TestRead_grantsInAnOpenListKeepTheirPlaces(t *testing.T) {
	const content = `import extra from "./extra.js";
export default { lodash: { permissions: [...extra, "Intl", { name: "fetch", expires: "2020-01-01" }] } };
`
	p := read(t, content, &fakeEvaluator{value: obj("lodash", obj("permissions", arr(
		obj("name", str("fetch"), "expires", str("2020-01-01")), str("URL"), str("Intl"),
	)))})
	at := func(s string) text.Span {
		i := strings.Index(content, s)
		return text.Span{Start: i, End: i + len(s)}
	}
	lib, _ := p.Library("lodash")
	got := []text.Span{lib.Permissions[0].Span, lib.Permissions[1].Span, lib.Permissions[2].Span}
	want := []text.Span{at(`"fetch"`), at(`[...extra, "Intl", { name: "fetch", expires: "2020-01-01" }]`), at(`"Intl"`)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
	if len(p.Findings) != 1 || p.Findings[0].Range != p.Mapper.Range(at(`"2020-01-01"`)) {
		t.Errorf("findings %+v", p.Findings)
	}
}

func TestRead_halfTypedFilesKeepWhatCanBeRead(t *testing.T) {
	tests := map[string]struct {
		content     string
		libraries   []string
		permissions []string
	}{
		"open array":                      {`export default { "lodash": { permissions: ["Intl", `, []string{"lodash"}, []string{"Intl"}},
		"open string":                     {"export default { lodash: { permissions: [\"Intl\", \"fe\n] }, qs: { permissions: [] } }", []string{"lodash", "qs"}, []string{"Intl", "fe"}},
		"open string before a library":    {"export default {\n  lodash: { permissions: [\"Int\n  qs: { permissions: [] },\n};\n", []string{"lodash", "qs"}, []string{"Int"}},
		"open string, CRLF":               {"export default {\r\n  lodash: { permissions: [\"Int\r\n\r\n  qs: { permissions: [] },\r\n};\r\n", []string{"lodash", "qs"}, []string{"Int"}},
		"open string on its own line":     {"export default {\n\tlodash: {\n\t\tpermissions: [\n\t\t\t'Intl',\n\t\t\t'fe\n\t\t],\n\t},\n\tqs: { permissions: [] },\n};\n", []string{"lodash", "qs"}, []string{"Intl", "fe"}},
		"open string before a brace":      {"export default {\n  lodash: {\n    permissions: [\"Int\n  },\n  qs: { permissions: [] },\n};\n", []string{"lodash", "qs"}, []string{"Int"}},
		"open string before an option":    {"export default {\n  lodash: {\n    permissions: [\"Int\n    snapshot: true,\n  },\n  qs: { permissions: [] },\n};\n", []string{"lodash", "qs"}, []string{"Int"}},
		"open string in an object":        {"export default {\n  lodash: { permissions: [{ name: \"fetch\", allow: [\"https://a\n  qs: { permissions: [] },\n};\n", []string{"lodash", "qs"}, []string{"fetch"}},
		"open string before its brackets": {"export default {\n  lodash: { permissions: [\"Intl\", \"fe] },\n  qs: { permissions: [] },\n};\n", []string{"lodash", "qs"}, []string{"Intl", "fe"}},
		"open string in defineConfig":     {"module.exports = defineConfig({\n  lodash: { permissions: [\"Int\n  qs: { permissions: [] },\n});\n", []string{"lodash", "qs"}, []string{"Int"}},
		"open string in a const":          {"const l = {\n  permissions: [\"Int\n};\nexport default {\n  lodash: l,\n  qs: { permissions: [] },\n};\n", []string{"lodash", "qs"}, []string{"Int"}},
		"open key":                        {"export default {\n  lodash: { permissions: [\"Intl\"] },\n  \"day\n  qs: { permissions: [] },\n};\n", []string{"lodash", "qs"}, []string{"Intl"}},
		"missing value":                   {`export default { lodash: { permissions: }, qs: { permissions: [] } }`, []string{"lodash", "qs"}, []string{}},
		"missing comma":                   {`export default { lodash: { permissions: ["Intl"] } qs: { permissions: [] } }`, []string{"lodash", "qs"}, []string{"Intl"}},
		"key only":                        {"export default { lodash: { permissions: [\"Intl\"] },\n  q", []string{"lodash", "q"}, []string{"Intl"}},
		"open CommonJS":                   {`module.exports = { lodash: { permissions: ["Intl"`, []string{"lodash"}, []string{"Intl"}},
		"stray brace":                     {`export default { lodash: { permissions: ["Intl"] } } }`, []string{"lodash"}, []string{"Intl"}},
		"open callchain":                  {`export default defineConfig({ lodash: { permissions: ["Intl"] }, `, []string{"lodash"}, []string{"Intl"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			e := &fakeEvaluator{}
			p := read(t, tt.content, e)
			var names []string
			for _, l := range p.Libraries {
				names = append(names, l.Name)
			}
			if diff := cmp.Diff(tt.libraries, names); diff != "" {
				t.Errorf("libraries (-want +got):\n%s", diff)
			}
			lib, _ := p.Library("lodash")
			if diff := cmp.Diff(tt.permissions, lib.PermissionNames()); diff != "" {
				t.Errorf("permissions (-want +got):\n%s", diff)
			}
			for _, l := range p.Libraries {
				if key := strings.Trim(tt.content[l.KeySpan.Start:l.KeySpan.End], `"`); key != l.Name {
					t.Errorf("the key of %s is at %q", l.Name, key)
				}
			}
			if e.asked != 0 || p.Complete || finding.Worst(p.Findings) != finding.Error || p.Findings[0].Code != finding.PolicyUnreadable {
				t.Errorf("asked %d, complete %v, findings %v", e.asked, p.Complete, p.Findings)
			}
		})
	}
}

func TestRead_grantsSayWhyWhoAndUntilWhen(t *testing.T) {
	const content = `export default { lodash: { permissions: [
  { name: "fetch", allow: ["https://a.example/*"], reason: " loads prices ", owner: "team-web", expires: "2020-02-29" },
  { name: "crypto", reason: "ids" },
] } };`
	source := Source{Root: "/project", File: "/project/.sandbox/sandbox.config.js", Text: content}
	p := readSource(t, source, nil)
	if len(p.Findings) != 0 {
		t.Errorf("without a day there are findings: %+v", p.Findings)
	}
	lib, _ := p.Library("lodash")
	fetch, crypto := lib.Permissions[0], lib.Permissions[1]
	if fetch.Reason != "loads prices" || fetch.Owner != "team-web" || fetch.Expires != (Date{2020, time.February, 29}) || content[fetch.ExpiresSpan.Start:fetch.ExpiresSpan.End] != `"2020-02-29"` {
		t.Errorf("got %+v", fetch)
	}
	if crypto.Allow != nil || crypto.Reason != "ids" || !crypto.Expires.IsZero() {
		t.Errorf("a reason alone does not make a whole grant: %+v", crypto)
	}
	source.Today = DateOf(time.Date(2020, time.March, 1, 23, 59, 0, 0, time.UTC))
	p = readSource(t, source, nil)
	want := map[string]string{"library": "lodash", "permission": "fetch", "owner": "team-web", "expires": "2020-02-29"}
	if len(p.Findings) != 1 || !cmp.Equal(p.Findings[0].Data, want) {
		t.Errorf("findings %+v", p.Findings)
	}
	if lib, _ := p.Library("lodash"); len(lib.Permissions) != 2 {
		t.Error("an expired grant is gone")
	}
}

func TestRead_judgesNothingBehindTheFirstSyntaxError(t *testing.T) {
	p := read(t, "export default {\n  lodash: { permisions: [] },\n  qs: { permissions: [\"fetc },\n  dayjs: { permiss\n", nil)
	for _, f := range p.Findings {
		if f.Code != finding.PolicyUnreadable && f.Range.Start.Line > 1 {
			t.Errorf("a guess of the parser is held against the author: %+v", f)
		}
	}
	if i := slices.IndexFunc(p.Findings, func(f finding.Finding) bool { return f.Code == finding.BadOption }); i < 0 {
		t.Errorf("a fault before the syntax error was dropped: %+v", p.Findings)
	}
}

func TestRead_nothingIsMissingFromWhatIsBeingTyped(t *testing.T) {
	for _, content := range []string{
		"export default { lodash: {", "export default { lodash: { ", "export default { lodash: { perm", "export default { lodash: { permissions: [{ ",
		"export default { lodash: { permissions: [{ na", "export default { lodash: { permissions: [], workloads: { w: {\n",
	} {
		for _, f := range read(t, content, nil).Findings {
			if f.Code != finding.PolicyUnreadable {
				t.Errorf("%q: %s %s", content, f.Code, f.Message)
			}
		}
	}
	p := read(t, "export default { lodash: {}, qs: { ", nil)
	if !slices.ContainsFunc(p.Findings, func(f finding.Finding) bool { return f.Code == finding.NoPermissions }) {
		t.Errorf("a finished entry before it is not judged: %+v", p.Findings)
	}
}

func TestRead_whatIsNotALibraryKeyedObject(t *testing.T) {
	for name, content := range map[string]string{
		"empty file":   "",
		"no export":    "const a = 1;",
		"named export": "export const config = {};",
		"array":        "export default [];",
		"string":       `module.exports = "lodash";`,
		"function":     "export default () => ({});",
		"class":        "export default class {}",
		"null":         "export default null;",
	} {
		t.Run(name, func(t *testing.T) {
			p := read(t, content, nil)
			if len(p.Findings) != 1 || p.Findings[0].Code != finding.PolicyNotAnObject || p.Findings[0].Severity != finding.Error {
				t.Errorf("findings %+v", p.Findings)
			}
		})
	}
}

func TestRead_failedEvaluationIsAFindingWhereItFailed(t *testing.T) {
	const content = "import base from './base.js';\nexport default { qs: { permissions: [] }, ...base(boom) };\n"
	e := &fakeEvaluator{err: &EvaluationError{Message: "ReferenceError: boom is not defined", Stack: "at <module> (x:2:51)", File: "/project/.sandbox/sandbox.config.js", Line: 2, Column: 51}}
	p := read(t, content, e)
	if len(p.Findings) != 1 {
		t.Fatalf("findings %+v", p.Findings)
	}
	f := p.Findings[0]
	want := text.Range{Start: text.Position{Line: 1, Character: 50}, End: text.Position{Line: 1, Character: 54}}
	if f.Code != finding.PolicyUnreadable || f.Range != want || f.Data["stack"] == "" || !strings.Contains(f.Message, "boom is not defined") {
		t.Errorf("finding %+v", f)
	}
	if _, ok := p.Library("qs"); !ok || p.Complete {
		t.Error("the literal part was lost")
	}
	p = read(t, content, &fakeEvaluator{err: errors.New("no engine")})
	if len(p.Findings) != 1 || p.Findings[0].Range != p.Mapper.Range(p.Export) {
		t.Errorf("findings %+v", p.Findings)
	}
}

func TestRead_theContextEndsTheWork(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Read(ctx, Source{Root: "/p", File: "/p/.sandbox/sandbox.config.js", Text: "export default f()"}, &fakeEvaluator{err: context.Canceled})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestRead_boundsThePermissionsOfALibrary: a list beyond the bound is said and left out, and
// nobody claims to know all that the library is granted.
func TestRead_boundsThePermissionsOfALibrary(t *testing.T) {
	t.Parallel()
	for count, want := range map[int]int{MaxPermissions: 0, MaxPermissions + 1: 1, 100_000: 1} {
		var b strings.Builder
		b.WriteString("export default { lodash: { permissions: [")
		for i := range count {
			fmt.Fprintf(&b, "%q,", fmt.Sprintf("n%d", i))
		}
		b.WriteString("] }, qs: { permissions: [\"Intl\"] } };")
		p, err := Read(t.Context(), Source{Root: "/p", File: "/p/.sandbox/sandbox.config.js", Text: b.String()}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Findings) != want || want > 0 && !strings.Contains(p.Findings[0].Message, fmt.Sprintf("has %d entries, and a list of more than 2000 is not read", count)) {
			t.Errorf("%d entries: %+v", count, p.Findings)
		}
		if l := p.Libraries[0]; (len(l.Permissions) == MaxPermissions) != (want == 0) || l.Unsure != (want > 0) {
			t.Errorf("%d entries: %d permissions, unsure %v", count, len(l.Permissions), l.Unsure)
		}
		if l := p.Libraries[1]; len(l.Permissions) != 1 || l.Unsure {
			t.Errorf("the other library: %+v", l)
		}
	}
}
