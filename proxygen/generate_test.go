package proxygen

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-sourcemap/sourcemap"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
)

// excerpt keeps goldens readable: a long text is its beginning and its hash.
func excerpt(content []byte) []byte {
	const head = 40
	lines := bytes.SplitAfter(content, []byte("\n"))
	if len(lines) <= head+20 {
		return content
	}
	rest := fmt.Sprintf("… %d more lines, sha256 of all %x\n", len(lines)-head, sha256.Sum256(content))
	return append(bytes.Join(lines[:head], nil), rest...)
}

func TestGenerate_writesTheGoldenProxies(t *testing.T) {
	t.Parallel()
	root := storefront(t)
	libraries := map[string]Library{
		"unknown-types": {Request: "unknown-types", Runtime: &RuntimeExports{Type: "function", Names: []RuntimeExport{
			{"parse", "function"}, {"Parser", "class"}, {"version", "string"}, {"length", "number"}, {"prototype", "object"}, {"odd-name", "number"},
		}}, Permissions: []policy.Permission{{Name: "Intl"}, {Name: "fetch", Allow: []string{"https://api.example.com/*?a&b"}}},
			Limits: policy.Limits{MemoryMB: 64, TimeoutMs: 1000, BundleKB: 5}, Arguments: "data", Results: "live", Snapshot: true, Engine: "1234abcd", Marshallers: "../marshallers/index.js", Bundle: Asset{SHA256: "5678ef90", Bytecode: "abcdef12"}},
		"broken": {Request: "broken"},
	}
	for _, request := range six {
		m := models(t)[request]
		libraries[request] = Library{Request: request, Model: m, Runtime: kept(m)}
	}
	for name, l := range libraries {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l.Dir = proxyFolder(root)
			output, err := Generate(l)
			if err != nil {
				t.Fatal(err)
			}
			base := FileName(l.Request) + "-proxy"
			got := txtar.Format(&txtar.Archive{Files: []txtar.File{
				{Name: base + ".js", Data: excerpt(output.JS)},
				{Name: base + ".d.ts", Data: excerpt(output.DTS)},
				{Name: base + ".js.map", Data: excerpt(output.Map)},
			}})
			golden(t, filepath.Join("testdata", "golden", name+".txtar"), got)
		})
	}
}

// kept returns the exports of a library that keeps every promise of its declarations.
func kept(m *Model) *RuntimeExports {
	types := map[Kind]string{KindFunction: "function", KindCallable: "function", KindClass: "class", KindNamespace: "object", KindValue: "object"}
	r := &RuntimeExports{Type: "object", ESModule: !m.ExportAssign}
	for _, e := range m.Exports {
		switch {
		case e.Kind == KindType:
		case e.Name == "default" && m.ExportAssign:
			r.Type = types[e.Kind]
		default:
			r.Names = append(r.Names, RuntimeExport{e.Name, types[e.Kind]})
		}
	}
	return r
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("run with -update and read the difference (-want +got):\n%s", diff)
	}
}

// exportsOf parses a generated module, which must have no errors and take only the
// host's names that it means to, and returns what it exports.
func exportsOf(t *testing.T, file string, source []byte) []string {
	t.Helper()
	f := syntax.Parse(file, string(source))
	for _, d := range f.Diagnostics {
		t.Errorf("%s: %s: %q", file, d.Message, f.Text[d.Span.Start:d.Span.End])
	}
	for _, r := range f.Unresolved() {
		if r.Name != "URL" && r.Name != "Error" {
			t.Errorf("%s: takes %s from the host", file, r.Name)
		}
	}
	var names []string
	exported, _ := f.ExportedNames()
	for _, e := range exported {
		names = append(names, e.Name)
	}
	slices.Sort(names)
	if len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("%s exports a name twice: %v", file, names)
	}
	return names
}

func TestGenerate_exportsEveryValueOfRealLibraries(t *testing.T) {
	t.Parallel()
	for _, request := range six {
		m := models(t)[request]
		output, err := Generate(Library{Request: request, Dir: proxyFolder(storefront(t)), Model: m})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"__sandbox", "disposeLibrary"}
		for _, e := range m.Exports {
			if e.Kind != KindType {
				want = append(want, e.Name)
			}
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, exportsOf(t, request+".js", output.JS)); diff != "" {
			t.Errorf("%s (-declared +exported):\n%s", request, diff)
		}
	}
}

// lines returns the export statements of a proxy, in order.
func lines(source []byte) []string {
	_, body, _ := strings.Cut(string(source), "librarySandbox.dispose();\n}\n")
	var out []string
	for line := range strings.Lines(body) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			out = append(out, line)
		}
	}
	return out
}

func TestGenerate_laysTheLoadedLibraryOverItsDeclarations(t *testing.T) {
	t.Parallel()
	declared := func(assign bool, exports ...Export) *Model {
		return &Model{Request: "x", Entry: "/x/index.d.ts", Specifier: "x", ExportAssign: assign, Exports: exports}
	}
	for _, c := range []struct {
		name    string
		model   *Model
		runtime *RuntimeExports
		want    []string
	}{
		{
			"declared but absent is left out",
			declared(false, Export{Name: "a", Kind: KindFunction}, Export{Name: "b", Kind: KindFunction}),
			&RuntimeExports{Type: "object", ESModule: true, Names: []RuntimeExport{{"a", "function"}}},
			[]string{`export const a = librarySandbox.fn("a");`},
		},
		{
			"present but undeclared is exported",
			declared(false, Export{Name: "a", Kind: KindFunction}),
			&RuntimeExports{Type: "object", ESModule: true, Names: []RuntimeExport{{"a", "function"}, {"C", "class"}, {"n", "number"}}},
			[]string{`export const C = librarySandbox.cls("C");`, `export const a = librarySandbox.fn("a");`, `export const n = librarySandbox.exports.n;`},
		},
		{
			"a declared class that is a function at run time",
			declared(false, Export{Name: "C", Kind: KindClass}),
			&RuntimeExports{Type: "object", ESModule: true, Names: []RuntimeExport{{"C", "function"}}},
			[]string{`export const C = librarySandbox.cls("C");`},
		},
		{
			"a declared function that is none",
			declared(false, Export{Name: "f", Kind: KindFunction}),
			&RuntimeExports{Type: "object", ESModule: true, Names: []RuntimeExport{{"f", "object"}}},
			[]string{`export const f = librarySandbox.exports.f;`},
		},
		{
			"declarations alone are not trusted to name functions",
			declared(false, Export{Name: "f", Kind: KindFunction}, Export{Name: "T", Kind: KindType}, Export{Name: "v", Kind: KindValue}),
			nil,
			[]string{`export const f = librarySandbox.value("f");`, `export const v = librarySandbox.exports.v;`},
		},
		{
			"a callable singleton is the default",
			declared(true, Export{Name: "default", Kind: KindCallable}, Export{Name: "map", Kind: KindFunction, Property: true}),
			&RuntimeExports{Type: "function", Names: []RuntimeExport{{"map", "function"}, {"name", "string"}, {"length", "number"}}},
			[]string{`export const map = librarySandbox.fn("map");`, `export default librarySandbox.callable();`},
		},
		{
			"module.exports of an object is the default",
			declared(false, Export{Name: "a", Kind: KindFunction}),
			&RuntimeExports{Type: "object", Names: []RuntimeExport{{"a", "function"}}},
			[]string{`export const a = librarySandbox.fn("a");`, `export default librarySandbox.exports;`},
		},
		{
			"the default of an ES module is its own",
			declared(false, Export{Name: "default", Kind: KindFunction}),
			&RuntimeExports{Type: "object", ESModule: true, Names: []RuntimeExport{{"__esModule", "boolean"}, {"default", "function"}}},
			[]string{`export default librarySandbox.fn("default");`},
		},
		{
			"an ES module without a default has none",
			declared(false, Export{Name: "default", Kind: KindFunction}),
			&RuntimeExports{Type: "object", ESModule: true, Names: []RuntimeExport{{"a", "undefined"}}},
			[]string{`export const a = librarySandbox.exports.a;`},
		},
		{
			"export = without a loaded library",
			declared(true, Export{Name: "default", Kind: KindNamespace}, Export{Name: "a", Kind: KindFunction}),
			nil,
			[]string{`export const a = librarySandbox.value("a");`, `export default librarySandbox.exports;`},
		},
		{
			"names that cannot be variables",
			nil,
			&RuntimeExports{Type: "object", ESModule: true, Names: []RuntimeExport{
				{"delete", "function"}, {"a-b", "number"}, {"URL", "class"}, {"librarySandbox", "number"}, {"$_delete", "number"}, {"", "number"},
				{"disposeLibrary", "function"}, {"__sandbox", "number"}, {"a b\n\"", "number"}, {"ünï", "number"},
			}},
			[]string{
				`const $$ = librarySandbox.exports[""];`, `export { $$ as "" };`,
				`const $_$_delete = librarySandbox.exports.$_delete;`, `export { $_$_delete as $_delete };`,
				`const $_URL = librarySandbox.cls("URL");`, `export { $_URL as URL };`,
				`const $$a$20$b$a$$22$ = librarySandbox.exports["a b\n\""];`, `export { $$a$20$b$a$$22$ as "a b\n\"" };`,
				`const $$a$2d$b = librarySandbox.exports["a-b"];`, `export { $$a$2d$b as "a-b" };`,
				`const $_delete = librarySandbox.fn("delete");`, `export { $_delete as delete };`,
				`const $_librarySandbox = librarySandbox.exports.` + "librarySandbox;", `export { $_librarySandbox as librarySandbox };`,
				`export const ünï = librarySandbox.exports.ünï;`,
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			output, err := Generate(Library{Request: "x", Dir: "/p/.sandbox/proxys", Model: c.model, Runtime: c.runtime})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, lines(output.JS)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			exportsOf(t, "x.js", output.JS)
			if f := syntax.Parse("x.d.ts", string(output.DTS)); len(f.Diagnostics) != 0 {
				t.Errorf("types: %v\n%s", f.Diagnostics, output.DTS)
			}
		})
	}
}

func TestGenerate_aCommonJSLibraryHasItsDefaultBeforeItLoads(t *testing.T) {
	t.Parallel()
	const whole = `export default librarySandbox.exports;`
	f := Export{Name: "f", Kind: KindFunction}
	for _, c := range []struct {
		name     string
		commonJS bool
		exports  []Export
		want     []string
	}{
		{"no default is declared", true, []Export{f}, []string{`export const f = librarySandbox.value("f");`, whole}},
		{"only a type is", true, []Export{{Name: "default", Kind: KindType}}, []string{whole}},
		{"one is declared", true, []Export{{Name: "default", Kind: KindValue}}, []string{`export default librarySandbox.exports.default;`}},
		{"an ES module", false, []Export{f}, []string{`export const f = librarySandbox.value("f");`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := &Model{Request: "x", Entry: "/x/index.d.ts", Specifier: "x", Exports: c.exports}
			output, err := Generate(Library{Request: "x", Dir: "/p/.sandbox/proxys", Model: m, CommonJS: c.commonJS})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, lines(output.JS)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			// The types promise what the declarations do, and no more.
			if strings.Contains(string(output.DTS), "default") != (len(c.exports) > 0 && c.exports[0].Name == "default") {
				t.Errorf("types:\n%s", output.DTS)
			}
		})
	}
}

func TestGenerate_throwsWhereNothingIsKnown(t *testing.T) {
	t.Parallel()
	output, err := Generate(Library{Request: "x", Model: &Model{}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(output.JS), `throw new Error("Sandbox Proxy Generation Failed")`) {
		t.Errorf("got\n%s", output.JS)
	}
	if diff := cmp.Diff([]string{"default", "disposeLibrary"}, exportsOf(t, "x.js", output.JS)); diff != "" {
		t.Error(diff)
	}
	known := Library{Request: "x", Runtime: &RuntimeExports{Type: "function"}, Broken: true}
	if output, _ = Generate(known); !strings.Contains(string(output.JS), "Sandbox Proxy Generation Failed") {
		t.Error("Broken is not heeded")
	}
	if _, err := Generate(Library{}); err == nil {
		t.Error("no error for a library without request")
	}
}

func TestGenerate_givesTheSameBytesForTheSameInput(t *testing.T) {
	t.Parallel()
	l := Library{Request: "lodash", Dir: proxyFolder(storefront(t)), Model: models(t)["lodash"], Runtime: &RuntimeExports{Type: "function"}}
	for _, e := range l.Model.Exports {
		l.Runtime.Names = append(l.Runtime.Names, RuntimeExport{e.Name, "function"})
	}
	first, err := Generate(l)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		slices.Reverse(l.Runtime.Names)
		again, err := Generate(l)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first.JS, again.JS) || !bytes.Equal(first.DTS, again.DTS) || !bytes.Equal(first.Map, again.Map) {
			t.Fatal("the output depends on more than the input's meaning")
		}
	}
	if bytes.Contains(append(append(first.JS, first.DTS...), first.Map...), []byte(storefront(t))) {
		t.Error("the output names an absolute path")
	}
}

func TestGenerate_mapsExportsToTheirDeclarations(t *testing.T) {
	t.Parallel()
	for _, request := range six {
		m := models(t)[request]
		dir := proxyFolder(storefront(t))
		output, err := Generate(Library{Request: request, Dir: dir, Model: m})
		if err != nil {
			t.Fatal(err)
		}
		consumer, err := sourcemap.Parse("", output.Map)
		if err != nil {
			t.Fatal(err)
		}
		declared := map[string]Export{}
		for _, e := range m.Exports {
			declared[e.Name] = e
		}
		mapped := 0
		for i, line := range strings.Split(string(output.JS), "\n") {
			name, ok := strings.CutPrefix(line, "export const ")
			if !ok {
				continue
			}
			name, _, _ = strings.Cut(name, " ")
			e := declared[name]
			source, _, fromLine, column, ok := consumer.Source(i+1, 0)
			if !ok || filepath.Join(dir, filepath.FromSlash(source)) != e.File || fromLine != e.Range.Start.Line+1 || column != e.Range.Start.Character {
				t.Errorf("%s: %s maps to %s:%d:%d, declared at %s:%d:%d", request, name, source, fromLine, column, e.File, e.Range.Start.Line+1, e.Range.Start.Character)
			}
			mapped++
		}
		if mapped < 2 {
			t.Errorf("%s: only %d exports are mapped", request, mapped)
		}
	}
}

// TestGenerate_typesOfEveryShapeCompile checks the declarations beside proxies against
// hand-made packages of every form, odd names included.
func TestGenerate_typesOfEveryShapeCompile(t *testing.T) {
	t.Parallel()
	for _, archive := range []string{"named", "assigned", "ambient", "stray", "reexports"} {
		t.Run(archive, func(t *testing.T) {
			t.Parallel()
			a, err := txtar.ParseFile("testdata/declarations/" + archive + ".txtar")
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(string(a.Comment), "\n")
			requests := strings.Fields(strings.TrimPrefix(first, "requests:"))
			root := unpack(t, a)
			models, err := Declarations(context.Background(), root, requests)
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(root, ".sandbox", "proxys")
			for _, request := range requests {
				m := models[request]
				if m.Entry == "" {
					continue
				}
				output, err := Generate(Library{Request: request, Dir: dir, Model: m})
				if err != nil {
					t.Fatal(err)
				}
				file := filepath.Join(dir, FileName(request)+"-proxy.d.ts")
				messages := compile(filepath.ToSlash(root), map[string]string{filepath.ToSlash(file): string(output.DTS)})
				// One export comes from a package that is deliberately not installed.
				messages = slices.DeleteFunc(messages, func(s string) bool { return strings.Contains(s, "'gone'") })
				if len(messages) > 0 {
					t.Errorf("%s: %s\n%s", request, strings.Join(messages, "\n"), output.DTS)
				}
			}
		})
	}
}

func TestAbsent_listsPromisesThatTheLibraryDoesNotKeep(t *testing.T) {
	t.Parallel()
	m := &Model{Exports: []Export{
		{Name: "T", Kind: KindType}, {Name: "a", Kind: KindFunction}, {Name: "b", Kind: KindValue}, {Name: "default", Kind: KindFunction}, {Name: "name", Kind: KindValue},
	}}
	names := func(list []Export) (out []string) {
		for _, e := range list {
			out = append(out, e.Name)
		}
		return out
	}
	for _, c := range []struct {
		name    string
		runtime *RuntimeExports
		assign  bool
		want    []string
	}{
		{"an ES module", &RuntimeExports{Type: "object", ESModule: true, Names: []RuntimeExport{{"a", "function"}, {"b", "accessor that throws"}}}, false, []string{"b", "default", "name"}},
		{"a CommonJS module", &RuntimeExports{Type: "object", Names: []RuntimeExport{{"a", "function"}, {"b", "number"}, {"name", "string"}}}, false, nil},
		{"a function's own name is no export", &RuntimeExports{Type: "function", Names: []RuntimeExport{{"a", "function"}, {"b", "number"}, {"name", "string"}}}, true, []string{"name"}},
		{"not loaded", nil, false, nil},
	} {
		m.ExportAssign = c.assign
		if diff := cmp.Diff(c.want, names(Absent(m, c.runtime))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	if Absent(nil, &RuntimeExports{}) != nil {
		t.Error("a library without declarations promises nothing")
	}
}

func TestFileName_isSafeForEveryRequest(t *testing.T) {
	t.Parallel()
	for request, name := range map[string]string{
		"lodash":                  "lodash",
		"@scope/name":             "scope__name",
		"lodash/fp":               "lodash__fp",
		"@scope/name/sub/path.js": "scope__name__sub__path.js",
		"../evil":                 "_..__evil-#",
		"a:b":                     "a_b-#",
		"":                        "_-#",
	} {
		// # stands for the beginning of the request's hash.
		sum := sha256.Sum256([]byte(request))
		want := strings.Replace(name, "#", fmt.Sprintf("%x", sum[:4]), 1)
		if got := FileName(request); got != want {
			t.Errorf("FileName(%q) = %q, want %q", request, got, want)
		}
	}
}

func TestGenerateWorkload_sharesTheLibrarysSandbox(t *testing.T) {
	t.Parallel()
	output, err := GenerateWorkload(Workload{
		Library: "@scope/name", Name: "stats", Exports: []string{"run", "delete", "workload", "disposeWorkload", "run"},
		Entry: "/p/src/stats.ts", Dir: "/p/.sandbox/proxys",
	})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, filepath.Join("testdata", "golden", "workload.txtar"), txtar.Format(&txtar.Archive{Files: []txtar.File{
		{Name: "scope__name.stats-proxy.js", Data: output.JS}, {Name: "scope__name.stats-proxy.d.ts", Data: output.DTS}, {Name: "scope__name.stats-proxy.js.map", Data: output.Map},
	}}))
	if diff := cmp.Diff([]string{"delete", "disposeWorkload", "run", "workload"}, exportsOf(t, "w.js", output.JS)); diff != "" {
		t.Error(diff)
	}
	if _, err := GenerateWorkload(Workload{Library: "x"}); err == nil {
		t.Error("no error for a workload without name")
	}
	untyped, err := GenerateWorkload(Workload{Library: "x", Name: "w", Exports: []string{"run"}, Entry: "/p/src/w.js"})
	if err != nil || !strings.Contains(string(untyped.DTS), "export declare const run: (...args: any[]) => any;") {
		t.Errorf("got %s, %v", untyped.DTS, err)
	}
}
