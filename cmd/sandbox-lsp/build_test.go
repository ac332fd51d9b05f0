package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// outputs reads what a build wrote.
func outputs(t *testing.T, dir string, files []string) map[string]string {
	t.Helper()
	content := map[string]string{}
	for _, name := range files {
		raw, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		content[name] = string(raw)
	}
	return content
}

func TestBuild_writesTheSameBytesAgainAndNoticesStaleFiles(t *testing.T) {
	dir := fixture(t, "storefront")
	built := execute(t, dir, t.TempDir(), "build", "--format", "json")
	if built.code != exitClean {
		t.Fatalf("exit %d\n%s%s", built.code, built.stdout, built.stderr)
	}
	files := parseReport(t, built).Build.Files
	for _, want := range []string{
		"dist/sandbox-manifest.json", "dist/lodash.bundle.js", "dist/lodash.bundle.js.map", "dist/lodash.stats.workload.bundle.js",
		"dist/qs.filters.workload.bundle.js", ".sandbox/proxys/zod-proxy.js", ".sandbox/proxys/zod-proxy.d.ts", ".sandbox/proxys/zod-proxy.js.map",
		".sandbox/proxys/lodash.stats-proxy.js",
	} {
		if !slices.Contains(files, want) {
			t.Errorf("%s was not written", want)
		}
	}
	first := outputs(t, dir, files)
	again := execute(t, dir, t.TempDir(), "build", "--format", "json", "--jobs", "1") // nothing cached, other order of work
	if diff := cmp.Diff(first, outputs(t, dir, parseReport(t, again).Build.Files)); diff != "" {
		t.Errorf("a second build gives other bytes:\n%s", diff)
	}
	if o := execute(t, dir, cacheDir(t), "build", "--check"); o.code != exitClean || !strings.Contains(o.stdout, "up to date") {
		t.Errorf("check of a fresh build: exit %d\n%s", o.code, o.stdout)
	}
	stale := ".sandbox/proxys/qs-proxy.js"
	path := filepath.Join(dir, filepath.FromSlash(stale))
	if err := os.WriteFile(path, []byte("// edited by hand\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	o := execute(t, dir, cacheDir(t), "build", "--check", "--format", "json")
	if diff := cmp.Diff([]string{stale}, parseReport(t, o).Build.Stale); o.code != exitFindings || diff != "" {
		t.Errorf("check of a stale proxy: exit %d, stale (-want +got):\n%s", o.code, diff)
	}
	if raw, err := os.ReadFile(path); err != nil || string(raw) != "// edited by hand\n" {
		t.Errorf("--check wrote: %q %v", raw, err)
	}
	if o := execute(t, dir, cacheDir(t), "build"); o.code != exitClean {
		t.Fatalf("rebuild: exit %d\n%s", o.code, o.stdout)
	}
	if diff := cmp.Diff(first, outputs(t, dir, files)); diff != "" {
		t.Errorf("the rebuild did not restore the proxy:\n%s", diff)
	}
}

func TestBuild_proxiesRunInNode(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("node is not installed; the README names the versions")
	}
	dir := fixture(t, "storefront")
	if o := execute(t, dir, cacheDir(t), "build"); o.code != exitClean {
		t.Fatalf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	script := `
import assert from "node:assert/strict";
import qsNative from "qs";
import _ from "lodash";
import qs, { parse, stringify, disposeLibrary } from "./.sandbox/proxys/qs-proxy.js";
import { parseFilters } from "./.sandbox/proxys/qs.filters-proxy.js";
import lodash, { groupBy, VERSION, disposeLibrary as disposeLodash } from "./.sandbox/proxys/lodash-proxy.js";
import { v4 } from "./.sandbox/proxys/uuid-proxy.js";
for (const query of ["a=1&b[c]=2&b[d][]=3&b[d][]=4", "x=%F0%9F%8E%89", "", "a[]=1&a[]=2"]) {
  assert.deepEqual(parse(query), qsNative.parse(query));
  assert.equal(stringify(qsNative.parse(query)), qsNative.stringify(qsNative.parse(query)));
}
assert.deepEqual(qs.parse("a=b"), { a: "b" });
assert.deepEqual(groupBy([1.2, 1.8, 2.1], Math.floor), _.groupBy([1.2, 1.8, 2.1], Math.floor));
assert.deepEqual(lodash([3, 1, 2]).sortBy().value(), [1, 2, 3]);
assert.equal(VERSION, _.VERSION);
assert.equal(typeof parseFilters, "function");
assert.match(v4(), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
disposeLibrary();
assert.throws(() => parse("a=1"), /disposed/);
disposeLodash();
console.log("proxies ran");
`
	path := filepath.Join(dir, "proxies.e2e.mjs")
	if err := os.WriteFile(path, []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(path) })
	cmd := exec.Command(node, path)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "proxies ran") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestBuild_neverWritesThroughASymlinkOutOfTheProject(t *testing.T) {
	outside := t.TempDir()
	dir := newProject(t, map[string]string{
		".sandbox/sandbox.config.js": "export default { tiny: { permissions: [] } };\n",
		"package.json":               `{"dependencies":{"tiny":"1"}}`,
		"node_modules/tiny/index.js": "exports.one = 1;\n", "node_modules/tiny/package.json": `{"name":"tiny","version":"1.0.0"}`,
	})
	if err := os.Symlink(outside, filepath.Join(dir, "dist")); err != nil {
		t.Fatal(err)
	}
	o := execute(t, dir, cacheDir(t), "build")
	if o.code != exitInternal || !strings.Contains(o.stderr, "dist") {
		t.Errorf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("written outside: %v %v", entries, err)
	}
}

func TestBuild_aBrokenLibraryDoesNotTakeTheOthersAway(t *testing.T) {
	dir := newProject(t, map[string]string{
		".sandbox/sandbox.config.js": "export default { tiny: { permissions: [] }, bad: { permissions: [] } };\n",
		"package.json":               `{"dependencies":{"tiny":"1","bad":"1"}}`,
		"node_modules/tiny/index.js": "exports.one = () => 1;\n", "node_modules/tiny/package.json": `{"name":"tiny","version":"1.0.0"}`,
		"node_modules/bad/index.js": "let = = 1\n", "node_modules/bad/package.json": `{"name":"bad","version":"1.0.0"}`,
	})
	o := execute(t, dir, cacheDir(t), "build", "--format", "json")
	r := parseReport(t, o)
	if o.code != exitFindings || !slices.Contains(r.Build.Files, "dist/tiny.bundle.js") || slices.Contains(r.Build.Files, "dist/bad.bundle.js") {
		t.Errorf("exit %d, files %v", o.code, r.Build.Files)
	}
	proxy := outputs(t, dir, []string{".sandbox/proxys/bad-proxy.js"})[".sandbox/proxys/bad-proxy.js"]
	if !strings.Contains(proxy, "Sandbox Proxy Generation Failed") {
		t.Errorf("proxy of the broken library:\n%s", proxy)
	}
}

func TestBuild_writesNothingFromAPolicyThatFails(t *testing.T) {
	dir := newProject(t, map[string]string{
		".sandbox/sandbox.config.js": "import { more } from './more.js';\nexport default { tiny: { permissions: [{ name: 'fetch', allow: [] }, 'localStorage'] }, ...more };\n",
		".sandbox/more.js":           "export const more = { tiny: { permissions: [{ name: 'fetch', allow: [] }] } };\n",
		"package.json":               `{"dependencies":{"tiny":"1"}}`,
		"node_modules/tiny/index.js": "exports.one = 1;\n", "node_modules/tiny/package.json": `{"name":"tiny","version":"1.0.0"}`,
	})
	if o := execute(t, dir, cacheDir(t), "build"); o.code != exitClean {
		t.Fatalf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	const manifest = "dist/sandbox-manifest.json"
	before := outputs(t, dir, []string{manifest})[manifest]
	if !strings.Contains(before, `"allow": []`) || strings.Contains(before, "localStorage") {
		t.Errorf("the manifest does not say what the policy grants:\n%s", before)
	}
	if err := os.WriteFile(filepath.Join(dir, ".sandbox", "more.js"), []byte("export const more = null.x;\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if o := execute(t, dir, cacheDir(t), "build"); o.code != exitFindings {
		t.Errorf("exit %d\n%s", o.code, o.stdout)
	}
	if after := outputs(t, dir, []string{manifest})[manifest]; after != before {
		t.Errorf("a policy that fails changed the manifest:\n%s", after)
	}
}

func TestBuild_takesAwayWhatLeftThePolicy(t *testing.T) {
	dir := newProject(t, map[string]string{
		".sandbox/sandbox.config.js": "export default { one: { permissions: [] }, two: { permissions: ['localStorage'] } };\n",
		"package.json":               `{"dependencies":{"one":"1","two":"1"}}`,
		"node_modules/one/index.js":  "exports.one = 1;\n", "node_modules/one/package.json": `{"name":"one","version":"1.0.0"}`,
		"node_modules/two/index.js": "exports.two = 2;\n", "node_modules/two/package.json": `{"name":"two","version":"1.0.0"}`,
		"dist/own.js": "// the application's\n",
	})
	if o := execute(t, dir, cacheDir(t), "build"); o.code != exitClean {
		t.Fatalf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	if err := os.WriteFile(filepath.Join(dir, ".sandbox", "sandbox.config.js"), []byte("export default { one: { permissions: [] } };\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	gone := []string{".sandbox/proxys/two-proxy.d.ts", ".sandbox/proxys/two-proxy.js", ".sandbox/proxys/two-proxy.js.map", "dist/two.bundle.js", "dist/two.bundle.js.map"}
	checked := parseReport(t, execute(t, dir, cacheDir(t), "build", "--check", "--format", "json"))
	if diff := cmp.Diff(append(slices.Clone(gone), "dist/sandbox-manifest.json"), checked.Build.Stale, cmpopts.SortSlices(strings.Compare)); diff != "" {
		t.Errorf("stale (-want +got):\n%s", diff)
	}
	if o := execute(t, dir, cacheDir(t), "build"); o.code != exitClean {
		t.Fatalf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	for _, name := range gone {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	outputs(t, dir, []string{"dist/own.js", "dist/one.bundle.js"})
}

func TestBuild_subpathsThatTheApplicationImportsHaveProxies(t *testing.T) {
	policy := func(option string) string { return "export default { one: { permissions: []" + option + " } };\n" }
	dir := newProject(t, map[string]string{
		".sandbox/sandbox.config.js":    policy(", subpaths: true"),
		"package.json":                  `{"dependencies":{"one":"1"}}`,
		"src/app.js":                    "import \"one/below\";\nimport \"one/style.css\";\nimport \"one/One.js\";\nimport \"one/one.js\";\n",
		"node_modules/one/index.js":     "exports.one = 1;\n",
		"node_modules/one/below.js":     "exports.whole = require('./index.js');\nexports.make = function () {};\n",
		"node_modules/one/unused.js":    "exports.unused = 1;\n",
		"node_modules/one/One.js":       "",
		"node_modules/one/one.js":       "",
		"node_modules/one/style.css":    "",
		"node_modules/one/package.json": `{"name":"one","version":"1.0.0"}`,
	})
	first := execute(t, dir, cacheDir(t), "build", "--format", "json")
	if first.code != exitClean {
		t.Fatalf("exit %d\n%s%s", first.code, first.stdout, first.stderr)
	}
	below := []string{".sandbox/proxys/one__below-proxy.d.ts", ".sandbox/proxys/one__below-proxy.js", ".sandbox/proxys/one__below-proxy.js.map"}
	built := outputs(t, dir, append([]string{"dist/one.bundle.js"}, below...))
	if proxy := string(built[below[1]]); !strings.Contains(proxy, `__sandbox.subpath("one/below")`) || !strings.Contains(proxy, `export const make = librarySandbox.fn("make")`) {
		t.Errorf("the proxy of the subpath:\n%s", proxy)
	}
	if code := string(built["dist/one.bundle.js"]); strings.Count(code, "exports.one = 1") != 1 || strings.Contains(code, "unused") {
		t.Errorf("the bundle:\n%s", code)
	}
	// Some file systems would have one file for the two.
	if files := parseReport(t, first).Build.Files; !slices.Contains(files, ".sandbox/proxys/one__One.js-proxy.js") || slices.Contains(files, ".sandbox/proxys/one__one.js-proxy.js") || slices.Contains(files, ".sandbox/proxys/one__style.css-proxy.js") {
		t.Errorf("files: %v", files)
	}
	if o := execute(t, dir, cacheDir(t), "check"); o.code != exitClean {
		t.Errorf("check: exit %d\n%s", o.code, o.stdout)
	}
	if o := execute(t, dir, cacheDir(t), "proxy", "one/below"); o.code != exitClean || o.stdout != string(built[below[1]]) {
		t.Errorf("proxy: exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	// Without the option the proxies go, and the imports are reported.
	if err := os.WriteFile(filepath.Join(dir, ".sandbox", "sandbox.config.js"), []byte(policy("")), 0o644); err != nil {
		t.Fatal(err)
	}
	if o := execute(t, dir, cacheDir(t), "build"); o.code != exitFindings || strings.Count(o.stdout, "SBX031") != 3 {
		t.Errorf("without the option: exit %d\n%s", o.code, o.stdout)
	}
	for _, name := range below {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
}
