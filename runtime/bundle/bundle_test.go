package bundle

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

func unpack(t *testing.T, archive string) string {
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

func library(t *testing.T, root, entry string) (*Bundle, error) {
	t.Helper()
	return OfLibrary(t.Context(), Library{Root: root, Entry: filepath.Join(root, entry), OutDir: filepath.Join(root, "dist"), File: "lib.bundle.js"})
}

func TestOfLibrary_assignsTheGlobalAndListsInputs(t *testing.T) {
	root := unpack(t, `
-- a.js --
import { b } from "./b.js"
import "./style.css"
export const a = b + 1
export default a
-- b.js --
export const b = 1
-- style.css --
body {}
-- c.cjs --
module.exports = function c() {}
`)
	esm, err := library(t, root, "a.js")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(esm.Code), `"use strict"; var __SANDBOXED_LIB__ = (() => {`) {
		t.Errorf("code does not assign the global:\n%s", esm.Code)
	}
	want := []string{filepath.Join(root, "a.js"), filepath.Join(root, "b.js"), filepath.Join(root, "style.css")}
	if diff := cmp.Diff(want, esm.Inputs); diff != "" {
		t.Errorf("inputs (-want +got):\n%s", diff)
	}
	if !strings.Contains(string(esm.Map), `"../a.js"`) {
		t.Errorf("map sources are not relative to the output folder: %s", esm.Map)
	}
	cjs, err := library(t, root, "c.cjs")
	if err != nil {
		t.Fatal(err)
	}
	if !esm.ESM || cjs.ESM {
		t.Errorf("ES module %v, CommonJS %v", esm.ESM, cjs.ESM)
	}
}

func TestOfLibrary_subpathsShareItsModules(t *testing.T) {
	root := unpack(t, `
-- a.mjs --
export * from "./shared.mjs"
-- shared.mjs --
export class Shared {}
-- below.mjs --
export { Shared } from "./shared.mjs"
-- old.cjs --
module.exports = require("./below.mjs").Shared
-- data.json --
{ "a": 1 }
`)
	at := func(name string) string { return filepath.Join(root, name) }
	b, err := OfLibrary(t.Context(), Library{
		Root: root, Entry: at("a.mjs"), OutDir: at("dist"), File: "lib.bundle.js",
		Subpaths: []Subpath{{"lib/below", at("below.mjs")}, {"lib/data.json", at("data.json")}, {"lib/old", at("old.cjs")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	code := string(b.Code)
	if !b.ESM || len(b.Inputs) != 5 || strings.Count(code, "Shared = class") != 1 || !strings.Contains(code, "__SANDBOXED_LIB__ = ") {
		t.Errorf("ES module %v, inputs %v:\n%s", b.ESM, b.Inputs, code)
	}
	for _, request := range []string{"lib/below", "lib/data.json", "lib/old"} {
		if !strings.Contains(code, quote(request)+": () => ") {
			t.Errorf("%s is not in it:\n%s", request, code)
		}
	}
}

func TestOfLibrary_isStrictWhereAllOfItIs(t *testing.T) {
	root := unpack(t, `
-- modules.js --
import data from "./data.json"
import off from "./off.js"
export { data, off }
-- package.json --
{"browser":{"./off.js":false}}
-- off.js --
module.exports = 1
-- data.json --
{}
-- mixed.mjs --
import old from "./old.cjs"
export { old }
-- old.cjs --
module.exports = this
-- script.mjs --
#!/usr/bin/env node
export const a = 1
-- said.mjs --
"use strict"
export const a = 1
`)
	for entry, want := range map[string]string{
		"modules.js": `"use strict"; var `, "mixed.mjs": `var `, "old.cjs": `var `,
		"script.mjs": "#!/usr/bin/env node\n\"use strict\"; var ", "said.mjs": "\"use strict\";",
	} {
		b, err := library(t, root, entry)
		if err != nil {
			t.Fatal(err)
		}
		code := string(b.Code)
		if !strings.HasPrefix(code, want) || strings.Count(code, `"use strict"`) != strings.Count(want, `"use strict"`) {
			t.Errorf("%s begins with %.60q, want %q", entry, code, want)
		}
	}
}

func TestOfLibrary_followsMapsToFilesThatExist(t *testing.T) {
	const head = "{\"version\":3,\"names\":[],\"mappings\":\"AAAA\","
	root := unpack(t, `
-- gone.js --
export const a = 1
//# sourceMappingURL=gone.js.map
-- gone.js.map --
`+head+`"sources":["src/gone.ts"]}
-- here.js --
export const a = 1
//# sourceMappingURL=here.js.map
-- here.js.map --
`+head+`"sourceRoot":"src/","sources":["here.ts"]}
-- src/here.ts --
export const a: number = 1
-- inline.js --
export const a = 1
//# sourceMappingURL=data:application/json;base64,`+base64.StdEncoding.EncodeToString([]byte(head+`"sources":["webpack://x/a.ts"]}`))+`
-- sections.js --
export const a = 1
//# sourceMappingURL=sections.js.map
-- sections.js.map --
{"version":3,"sections":[{"offset":{"line":0,"column":0},"map":`+head+`"sources":["gone.ts"]}}]}
-- text.js --
export const a = "//# sourceMappingURL=" + 1
`)
	for entry, want := range map[string]string{
		"gone.js": "../gone.js", "here.js": "../src/here.ts", "inline.js": "../inline.js", "sections.js": "../sections.js", "text.js": "../text.js",
	} {
		b, err := library(t, root, entry)
		if err != nil {
			t.Fatal(err)
		}
		var m struct{ Sources []string }
		if err := json.Unmarshal(b.Map, &m); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{want}, m.Sources); diff != "" {
			t.Errorf("%s: sources (-want +got):\n%s", entry, diff)
		}
		if entry == "text.js" && !strings.Contains(string(b.Code), `"//# sourceMappingURL=1"`) {
			t.Errorf("a text was taken for a reference:\n%s", b.Code)
		}
	}
}

func TestOfLibrary_sameInputSameBytes(t *testing.T) {
	root := unpack(t, "-- a.js --\nexport * from './b.js'; export * from './c.js'\n-- b.js --\nexport let b = 1\n-- c.js --\nexport let c = 2\n")
	first, err := library(t, root, "a.js")
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		again, err := library(t, root, "a.js")
		if err != nil {
			t.Fatal(err)
		}
		if string(again.Code) != string(first.Code) || string(again.Map) != string(first.Map) {
			t.Fatal("two builds of the same input differ")
		}
	}
}

func TestOfLibrary_nodeBuiltins(t *testing.T) {
	root := unpack(t, `
-- entry.js --
const fs = require("fs");
import { join } from "node:path";
import util from "util";
export const lazy = () => fs.readFileSync("/etc/passwd"), named = () => join, u = util.own;
-- node_modules/util/package.json --
{"name":"util","main":"index.js"}
-- node_modules/util/index.js --
exports.own = "a package, not the built-in";
-- package.json --
{"name":"x"}
`)
	b, err := library(t, root, "entry.js")
	if err != nil {
		t.Fatal(err)
	}
	entry := filepath.Join(root, "entry.js")
	if diff := cmp.Diff([]Import{{"fs", entry}, {"node:path", entry}}, b.Builtins); diff != "" {
		t.Errorf("built-ins (-want +got):\n%s", diff)
	}
	if !strings.Contains(string(b.Code), "a package, not the built-in") {
		t.Error("the installed package of a built-in's name was not bundled")
	}
}

func TestOfLibrary_theBrowserFieldMaySwitchABuiltinOff(t *testing.T) {
	root := unpack(t, "-- package.json --\n{\"name\":\"x\",\"browser\":{\"fs\":false}}\n-- a.js --\nexports.fs = require('fs');\n")
	b, err := library(t, root, "a.js")
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Builtins) != 0 {
		t.Errorf("built-ins %v", b.Builtins)
	}
}

func TestOfLibrary_dataIsALibraryToo(t *testing.T) {
	root := unpack(t, "-- d.json --\n{\"default\":1,\"answer\":42}\n")
	b, err := library(t, root, "d.json")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b.Code), "answer: 42") || !strings.Contains(string(b.Code), "return require_stdin()") {
		t.Errorf("the bundle does not hand the data out:\n%s", b.Code)
	}
	if diff := cmp.Diff([]string{filepath.Join(root, "d.json")}, b.Inputs); diff != "" {
		t.Errorf("inputs: %s", diff)
	}
}

func TestOfLibrary_errorsCarryTheirPlace(t *testing.T) {
	root := unpack(t, "-- a.js --\nimport './gone.js'\n-- bad.js --\nlet = = 1\n-- tla.js --\nawait 1\n")
	tests := map[string]struct {
		line, column int
		text         string
	}{
		"a.js":   {1, 7, `Could not resolve "./gone.js"`},
		"bad.js": {1, 6, `Unexpected "="`},
		"tla.js": {1, 0, "Top-level await is not"},
	}
	for file, want := range tests {
		_, err := library(t, root, file)
		var failed *Error
		if !errors.As(err, &failed) {
			t.Errorf("%s: error %v", file, err)
			continue
		}
		m := failed.Messages[0]
		if m.File != filepath.Join(root, file) || m.Line != want.line || m.Column != want.column || !strings.Contains(m.Text, want.text) {
			t.Errorf("%s: %+v", file, m)
		}
	}
}

func TestOfWorkload_sharesTheLoadedLibrary(t *testing.T) {
	root := unpack(t, `
-- w.js --
import lib, { map } from "sandbox-real/lodash";
import other from "sandbox-real/qs";
import "dep";
export const run = () => map(lib);
-- more.js --
export const starred = 1;
-- node_modules/dep/index.js --
import "lodash";
-- node_modules/lodash/index.js --
export const copy = "SECOND COPY";
`)
	w := Workload{Root: root, Library: "lodash", Entry: filepath.Join(root, "w.js"), OutDir: filepath.Join(root, "dist"), File: "w.js"}
	b, err := OfWorkload(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b.Code), "globalThis.__SANDBOXED_LIB__") {
		t.Errorf("no reference to the loaded library:\n%s", b.Code)
	}
	entry, dep := filepath.Join(root, "w.js"), filepath.Join(root, "node_modules/dep/index.js")
	want := []Import{{"lodash", dep}, {"dep", entry}, {"sandbox-real/lodash", entry}, {"sandbox-real/qs", entry}}
	if diff := cmp.Diff(want, b.Imports); diff != "" {
		t.Errorf("imports (-want +got):\n%s", diff)
	}
	w.Overlay = map[string]string{w.Entry: "export const edited = 1; export * from './more.js'"}
	b, err = OfWorkload(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"edited", "starred"}, b.Exports); diff != "" {
		t.Errorf("the open document was not used: %s", diff)
	}
}

func TestOfPolicy_needsNothingInstalledAndGrantsNothing(t *testing.T) {
	root := unpack(t, `
-- .sandbox/sandbox.config.js --
import { defineConfig } from "@sandbox-lsp/runtime";
import base from "./base.js";
export default defineConfig({ ...base });
-- .sandbox/base.js --
export default { lodash: { permissions: [] } };
-- .sandbox/node.js --
import fs from "node:fs";
export default fs;
`)
	if _, err := OfPolicy(t.Context(), root, filepath.Join(root, ".sandbox/sandbox.config.js"), nil); err != nil {
		t.Fatal(err)
	}
	_, err := OfPolicy(t.Context(), root, filepath.Join(root, ".sandbox/node.js"), nil)
	var failed *Error
	if !errors.As(err, &failed) || !strings.Contains(failed.Messages[0].Text, "node:fs") || failed.Messages[0].Line != 1 {
		t.Errorf("a policy that imports a built-in: %v", err)
	}
}
