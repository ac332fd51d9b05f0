package evaluate

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
)

func project(t *testing.T, archive string) string {
	t.Helper()
	root := t.TempDir()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		path := filepath.Join(root, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func source(root, content string) policy.Source { return named(root, "sandbox.config.js", content) }

func named(root, file, content string) policy.Source {
	return policy.Source{Root: root, File: filepath.Join(root, ".sandbox", file), Text: content}
}

// newEvaluator shares the compiled engine between the tests of this package.
func newEvaluator(t *testing.T) *Evaluator {
	t.Helper()
	e := New(filepath.Join(os.TempDir(), "sandbox-lsp-test-engine"))
	t.Cleanup(func() {
		if err := e.Close(t.Context()); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	})
	return e
}

const helpers = `
-- .sandbox/base.js --
export default { lodash: { permissions: ["Intl"] } };
-- .sandbox/grant.cjs --
module.exports = (...names) => ({ permissions: names });
-- .sandbox/data.json --
{ "qs": { "permissions": [] } }
-- .sandbox/throws.js --
export function check(value) {
  if (!value) throw new TypeError("no value");
  return value;
}
`

func TestEvaluate_runsTheFormsThatTheTreeCannotRead(t *testing.T) {
	root, e := project(t, helpers), newEvaluator(t)
	for name, content := range map[string]string{
		"import and spread": `import base from "./base.js"; export default { ...base };`,
		"require and call":  `const grant = require("./grant.cjs"); module.exports = { lodash: grant("Intl") };`,
		"computed key":      `const name = ["lod", "ash"].join(""); export default { [name]: { permissions: ["Intl"] } };`,
		"defineConfig":      `import { defineConfig } from "@sandbox-lsp/runtime"; import base from "./base.js"; export default defineConfig(base);`,
		"mutation":          `const c = { lodash: { permissions: [] } }; c.lodash.permissions.push("Intl"); export default c;`,
		"transpiled":        `Object.defineProperty(exports, "__esModule", { value: true }); exports.default = { lodash: { permissions: ["Intl"] } };`,
	} {
		t.Run(name, func(t *testing.T) {
			v, err := e.Evaluate(t.Context(), source(root, content))
			if err != nil {
				t.Fatal(err)
			}
			permissions := v.Get("lodash").Get("permissions")
			if permissions == nil || len(permissions.Elems) != 1 || permissions.Elems[0].Text != "Intl" {
				t.Errorf("value %+v", v)
			}
		})
	}
}

func TestEvaluate_runsEveryExtension(t *testing.T) {
	root, e := project(t, helpers+`
-- .sandbox/types.ts --
export interface Grant { permissions: readonly string[] }
export const intl = { permissions: ["Intl"] } as const satisfies Grant;
-- .sandbox/extra.cjs --
exports.intl = { permissions: ["Intl"] };
`), newEvaluator(t)
	tests := map[string]struct{ file, content string }{
		".js":                     {"sandbox.config.js", `import { intl } from "./types"; export default { lodash: intl };`},
		".mjs":                    {"sandbox.config.mjs", `import extra from "./extra.cjs"; export default { lodash: extra.intl };`},
		".cjs":                    {"sandbox.config.cjs", `const { intl } = require("./extra.cjs"); module.exports = { lodash: { ...intl } };`},
		".cjs with exports":       {"sandbox.config.cjs", `exports.default = { lodash: require("./extra.cjs").intl };`},
		".ts":                     {"sandbox.config.ts", `import { intl, type Grant } from "./types"; import type { SandboxConfig } from "@sandbox-lsp/runtime"; const l: Grant = intl; export default { lodash: l } satisfies SandboxConfig;`},
		".ts without type":        {"sandbox.config.ts", `import { SandboxConfig, defineConfig } from "@sandbox-lsp/runtime"; import { Gone } from "./gone"; export default defineConfig({ lodash: { permissions: [String("Intl")] } } as Gone as SandboxConfig);`},
		".ts with an enumeration": {"sandbox.config.ts", `enum Name { Intl = "Intl" } export default { lodash: { permissions: [Name.Intl] } } as const;`},
		".ts with export =":       {"sandbox.config.ts", `import extra = require("./extra.cjs"); export = { lodash: extra.intl };`},
		".mts":                    {"sandbox.config.mts", `import { intl } from "./types.js"; export default { lodash: intl };`},
		".cts":                    {"sandbox.config.cts", `import extra = require("./extra.cjs"); export = { lodash: extra.intl as { permissions: string[] } };`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v, err := e.Evaluate(t.Context(), named(root, tt.file, tt.content))
			if err != nil {
				t.Fatal(err)
			}
			permissions := v.Get("lodash").Get("permissions")
			if permissions == nil || len(permissions.Elems) != 1 || permissions.Elems[0].Text != "Intl" {
				t.Errorf("value %+v", v)
			}
		})
	}
	_, err := e.Evaluate(t.Context(), named(root, "sandbox.config.ts", "type A = { b: string };\nconst f = (a: A): A => boom(a);\nexport default { x: f({ b: '' }) };"))
	var failed *policy.EvaluationError
	if !errors.As(err, &failed) || filepath.Base(failed.File) != "sandbox.config.ts" || failed.Line != 2 {
		t.Errorf("a failure of a .ts policy is not at its place: %+v", err)
	}
}

func TestEvaluate_keepsApartWhatJSONBlurs(t *testing.T) {
	root, e := project(t, helpers), newEvaluator(t)
	v, err := e.Evaluate(t.Context(), source(root, `
		import data from "./data.json";
		const loop = {}; loop.self = loop;
		export default {
			u: undefined, n: null, f() {}, c: class {}, nan: NaN, inf: -Infinity, zero: -0, half: 0.5, yes: true,
			s: "a\u0000b\u{1f389}", d: new Date(0), m: new Map(), r: /x/, y: Symbol("y"), b: 1n, loop, ...data,
		};`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]policy.Kind{
		"u": policy.Undefined, "n": policy.Null, "f": policy.Function, "c": policy.Function, "nan": policy.Number, "inf": policy.Number,
		"zero": policy.Number, "half": policy.Number, "yes": policy.Bool, "s": policy.String, "d": policy.Other, "m": policy.Other,
		"r": policy.Other, "y": policy.Other, "b": policy.Other, "loop": policy.Object, "qs": policy.Object,
	}
	got := map[string]policy.Kind{}
	for _, p := range v.Props {
		got[p.Key] = p.Value.Kind
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
	if s := v.Get("s").Text; s != "a\x00b🎉" {
		t.Errorf("string %q", s)
	}
	if v.Get("half").Number != 0.5 || !v.Get("yes").Bool || v.Get("d").Text != "a Date" || v.Get("loop").Get("self").Text != "an object that contains itself" {
		t.Errorf("values %+v %+v", v.Get("d"), v.Get("loop").Get("self"))
	}
}

func TestEvaluate_hostilePoliciesFailClearlyAndTheNextOneWorks(t *testing.T) {
	root, e := project(t, helpers), newEvaluator(t)
	tests := map[string]struct {
		content, message, file string
		line                   int
		stack                  string
	}{
		"throws":                    {content: "\nexport default boom();", message: "boom", file: "sandbox.config.js", line: 2},
		"throws in a helper":        {content: "import { check } from './throws.js';\nexport default { x: check(0) };", message: "TypeError: no value", file: "throws.js", line: 2, stack: ".sandbox/sandbox.config.js:2"},
		"missing import":            {content: "import x from './gone.js';\nexport default x;", message: `Could not resolve "./gone.js"`, file: "sandbox.config.js", line: 1},
		"built-in of Node":          {content: "import fs from 'node:fs';\nexport default fs;", message: `node:fs`, file: "sandbox.config.js", line: 1},
		"environment":               {content: "export default { x: process.env.HOME };", message: "process", file: "sandbox.config.js", line: 1},
		"host globals":              {content: "export default { x: fetch('https://example.com') };", message: "fetch", file: "sandbox.config.js", line: 1},
		"top-level await":           {content: "const a = 1;\nconst b = await fetch('x');\nexport default { b };", message: "it uses await at the top level, and a configuration file cannot wait", file: "sandbox.config.js", line: 2},
		"endless loop":              {content: "import './throws.js';\nfunction spin() {\n  for (;;) Math.abs(1);\n}\nspin();\nexport default {};", message: "longer than the 2s", file: "sandbox.config.js", line: 5, stack: "at spin (.sandbox/sandbox.config.js)\n"},
		"endless native loop":       {content: "Array.prototype.reverse.call({ length: 2 ** 53 - 1 });\nexport default {};", message: "longer than the 2s"},
		"memory bomb":               {content: "import './throws.js';\nconst a = [];\nfor (;;) a.push(new Uint8Array(32 << 20));\nexport default {};", message: "more than the 64 MB of memory", file: "sandbox.config.js", line: 3, stack: ".sandbox/sandbox.config.js:3"},
		"deep recursion":            {content: "const f = () => f() + 1;\nexport default { x: f() };", message: "call stack", file: "sandbox.config.js", line: 1},
		"promise":                   {content: "export default (async () => ({}))();", message: ""},
		"getter that never returns": {content: "export default { get x() { for (;;) {} } };", message: "longer than the 2s"},
		"value too deep":            {content: "let v = {}; for (let i = 0; i < 1000; i++) v = { v }; export default v;", message: "nested too deeply"},
		"array too long":            {content: "export default { x: new Array(1e9) };", message: "too large"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v, err := e.Evaluate(t.Context(), source(root, tt.content))
			if tt.message == "" {
				if err != nil || v.Kind != policy.Other || !strings.Contains(v.Text, "promise") {
					t.Errorf("value %+v error %v", v, err)
				}
				return
			}
			var failed *policy.EvaluationError
			if !errors.As(err, &failed) {
				t.Fatalf("value %+v error %v", v, err)
			}
			if !strings.Contains(failed.Message, tt.message) {
				t.Errorf("message %q does not say %q", failed.Message, tt.message)
			}
			if tt.file != "" && (filepath.Base(failed.File) != tt.file || failed.Line != tt.line) {
				t.Errorf("at %s:%d, want %s:%d (stack %s)", failed.File, failed.Line, tt.file, tt.line, failed.Stack)
			}
			if !strings.Contains(failed.Stack, tt.stack) {
				t.Errorf("stack %q does not name %q", failed.Stack, tt.stack)
			}
		})
	}
	if _, err := e.Evaluate(t.Context(), source(root, "import base from './base.js'; export default base;")); err != nil {
		t.Errorf("after all that an honest policy fails: %v", err)
	}
}
