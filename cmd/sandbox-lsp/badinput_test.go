package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// These tests give the binary projects in a bad state. Whatever the state, it has to
// end with the right exit code, to say where the fault is, what it is and what to do,
// and to leave every file of the last build whole.

const (
	policyFile   = ".sandbox/sandbox.config.js"
	tinyManifest = "node_modules/tiny/package.json"
	tinyEntry    = "node_modules/tiny/index.js"
)

// gone as a file's content says that the file is not there.
const gone = "\x00gone"

// soundFiles are the files of a project in which nothing is wrong.
func soundFiles() map[string]string {
	return map[string]string{
		policyFile:                        "export default { tiny: { permissions: [] }, other: { permissions: [] } };\n",
		"package.json":                    `{"dependencies":{"tiny":"1","other":"1"}}`,
		tinyManifest:                      `{"name":"tiny","version":"1.0.0"}`,
		tinyEntry:                         "exports.one = 1;\n",
		"node_modules/tiny/index.d.ts":    "export declare const one: number;\n",
		"node_modules/other/package.json": `{"name":"other","version":"1.0.0"}`,
		"node_modules/other/index.js":     "exports.two = () => 2;\n",
		"node_modules/other/index.d.ts":   "export declare function two(): number;\n",
	}
}

// policyOf is the sound policy with other options for tiny.
func policyOf(tiny string) string {
	return "export default { tiny: " + tiny + ", other: { permissions: [] } };\n"
}

// soundBuild returns what a build of the sound project writes, by path.
var soundBuild = sync.OnceValues(func() (map[string]string, error) {
	dir, err := os.MkdirTemp(filepath.Dir(binary), "sound-*")
	if err != nil {
		return nil, err
	}
	for name, content := range soundFiles() {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
			return nil, err
		}
	}
	if o := start(dir, "build"); o.code != exitClean {
		return nil, fmt.Errorf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	return built(dir)
})

// built reads the output folders of a project, without following links in them.
func built(dir string) (map[string]string, error) {
	files := map[string]string{}
	for _, folder := range []string{"dist", ".sandbox/proxys"} {
		err := filepath.WalkDir(filepath.Join(dir, filepath.FromSlash(folder)), func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || d.IsDir() {
				return err
			}
			name, err := filepath.Rel(dir, path)
			if err != nil {
				return err
			}
			name = filepath.ToSlash(name)
			if d.Type()&fs.ModeSymlink != 0 {
				files[name], err = os.Readlink(path)
				files[name] = "link to " + files[name]
				return err
			}
			raw, err := os.ReadFile(path)
			files[name] = string(raw)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

func mustBuilt(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := built(dir)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// builtProject is the sound project as its last build left it, with some files
// changed since.
func builtProject(t *testing.T, changes map[string]string) string {
	t.Helper()
	files := soundFiles()
	outputs, err := soundBuild()
	if err != nil {
		t.Fatal("build the sound project:", err)
	}
	maps.Copy(files, outputs)
	maps.Copy(files, changes)
	maps.DeleteFunc(files, func(_, content string) bool { return content == gone })
	return newProject(t, files)
}

// goInside matches what only a crash of the program prints.
var goInside = regexp.MustCompile(`(?m)panic:|^goroutine \d+|runtime error|\.go:\d+|Go (value|struct)`)

// holds checks what has to be so after every run, good or bad.
func holds(t *testing.T, dir string, o ended) {
	t.Helper()
	said := o.stdout + o.stderr
	if inside := goInside.FindString(said); inside != "" {
		t.Errorf("the inside of the program shows, %q:\n%.3000s", inside, said)
	}
	if strings.ContainsFunc(said, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }) {
		t.Errorf("control characters reach the terminal:\n%.3000q", said)
	}
	files := mustBuilt(t, dir)
	for name := range files {
		if strings.HasSuffix(name, ".tmp") {
			t.Errorf("%s is left over", name)
		}
	}
	type file struct{ Path, SHA256 string }
	var manifest struct {
		Libraries []struct {
			Bundle, Proxy *file
			Workloads     []struct{ Bundle, Proxy *file }
		}
	}
	raw, ok := files["dist/sandbox-manifest.json"]
	if !ok || json.Unmarshal([]byte(raw), &manifest) != nil {
		return // the case is about the manifest itself
	}
	for _, l := range manifest.Libraries {
		for _, f := range []*file{l.Bundle, l.Proxy} {
			if f == nil {
				continue
			}
			if content, there := files[f.Path]; !there || strings.HasPrefix(content, "link to ") {
				continue // the case took it away
			}
			if sum := sha256.Sum256([]byte(files[f.Path])); hex.EncodeToString(sum[:]) != f.SHA256 {
				t.Errorf("%s is not what the manifest says", f.Path)
			}
		}
	}
}

// start runs the binary in a folder with the shared cache.
func start(dir string, args ...string) ended {
	return startWith(dir, filepath.Join(filepath.Dir(binary), "cache"), args...)
}

// startWith is start with a cache of the caller's.
func startWith(dir, cache string, args ...string) ended {
	cmd := exec.Command(binary, slices.Concat(args[:1], []string{"--cache-dir", cache}, args[1:])...)
	cmd.Dir = dir
	return finish(cmd)
}

// finish runs a command to its end.
func finish(cmd *exec.Cmd) ended {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		return ended{-1, "", err.Error()}
	}
	return ended{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

type badCase struct {
	files map[string]string              // laid over the sound project
	mess  func(t *testing.T, dir string) // what files alone cannot say
	args  []string                       // of the command; default: build
	code  int                            // exact
	says  []string                       // on either stream
	fresh []string                       // files that the run may write or remove; all others stay byte for byte
	check func(t *testing.T, dir string) // what is special about the case
}

// ofTiny are the files of a build that the library under attack has.
var ofTiny = []string{
	"dist/tiny.bundle.js", "dist/tiny.bundle.js.map", "dist/sandbox-manifest.json",
	".sandbox/proxys/tiny-proxy.js", ".sandbox/proxys/tiny-proxy.d.ts", ".sandbox/proxys/tiny-proxy.js.map",
}

func runBadCases(t *testing.T, cases map[string]badCase) {
	t.Helper()
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := builtProject(t, tt.files)
			if tt.mess != nil {
				tt.mess(t, dir)
			}
			before := mustBuilt(t, dir)
			args := tt.args
			if args == nil {
				args = []string{"build"}
			}
			o := start(dir, args...)
			if o.code != tt.code {
				t.Errorf("exit %d, want %d\n%.3000s\n%.3000s", o.code, tt.code, o.stdout, o.stderr)
			}
			for _, want := range tt.says {
				if !strings.Contains(o.stdout+o.stderr, want) {
					t.Errorf("%q is not said:\n%.3000s\n%.3000s", want, o.stdout, o.stderr)
				}
			}
			after := mustBuilt(t, dir)
			for _, name := range tt.fresh {
				delete(before, name)
				delete(after, name)
			}
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("files of the last build changed (-before +after):\n%.3000s", diff)
			}
			if tt.check != nil {
				tt.check(t, dir)
			}
			holds(t, dir, o)
		})
	}
}

func link(from, to string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(from))
		if err := errors.Join(os.RemoveAll(path), os.Symlink(to, path)); err != nil {
			t.Fatal(err)
		}
	}
}

// distinct writes so many permissions.
func distinct(count int) string {
	var b strings.Builder
	for i := range count {
		fmt.Fprintf(&b, "%q, ", fmt.Sprintf("n%d", i))
	}
	return b.String()
}

func TestBadInput_policy(t *testing.T) {
	const writesNothing = "a build writes nothing"
	many := strings.Builder{}
	for i := range 10_000 {
		fmt.Fprintf(&many, "  \"lib-%d\": { permissions: [] },\n", i)
	}
	sound := soundFiles()[policyFile]
	runBadCases(t, map[string]badCase{
		"deleted":           {files: map[string]string{policyFile: gone}, code: exitFindings, says: []string{policyFile, "There is no policy", "Create the file with: export default"}},
		"a folder":          {files: map[string]string{policyFile: gone, policyFile + "/x": ""}, code: exitFindings, says: []string{policyFile + ":1:1 error SBX001", "is not a file", writesNothing}},
		"a link in circles": {files: map[string]string{policyFile: gone}, mess: link(policyFile, "sandbox.config.js"), code: exitFindings, says: []string{"SBX001", "too many levels of symbolic links", writesNothing}},
		"empty":             {files: map[string]string{policyFile: ""}, code: exitFindings, says: []string{policyFile + ":1:1 error SBX002", "exports nothing", "Export an object keyed by package"}},
		"only comments":     {files: map[string]string{policyFile: "// nothing\n/* here */\n"}, code: exitFindings, says: []string{"SBX002", "exports nothing", "Export an object"}},
		"NUL bytes":         {files: map[string]string{policyFile: strings.Repeat("\x00", 100)}, code: exitFindings, says: []string{policyFile + ":1:1 error SBX001", "does not parse"}},
		"cut off":           {files: map[string]string{policyFile: sound[:len(sound)/2]}, code: exitFindings, says: []string{"error SBX001", "a build needs the whole file"}},
		"invalid UTF-8":     {files: map[string]string{policyFile: "export default { t\xffiny: {} };\n"}, code: exitFindings, says: []string{"error SBX001", "does not parse"}},
		"byte order mark":   {files: map[string]string{policyFile: "\uFEFF" + sound}, code: exitClean},
		"CRLF":              {files: map[string]string{policyFile: strings.ReplaceAll(sound, " ", "\r\n")}, code: exitClean},
		"lone CR":           {files: map[string]string{policyFile: strings.ReplaceAll(sound, " ", "\r")}, code: exitClean},
		"emoji":             {files: map[string]string{policyFile: "/* \U0001F389 */ " + sound + "// \U0001F389"}, code: exitClean},
		"5 MB":              {files: map[string]string{policyFile: sound + "//" + strings.Repeat("x", 5_000_000)}, code: exitClean},
		"over its bound":    {files: map[string]string{policyFile: sound + "//" + strings.Repeat("x", 16<<20)}, code: exitFindings, says: []string{"error SBX001", "no more than 16 MiB", "into files that it imports"}},
		"10,000 libraries":  {files: map[string]string{policyFile: strings.Replace(sound, "{", "{\n"+many.String(), 1)}, code: exitFindings, says: []string{policyFile + ":10001:3 error SBX003", "\"lib-9999\" cannot be found", "npm install lib-9999", "10000 errors in 10002 libraries"}},
		"300,000 permissions": {
			files: map[string]string{policyFile: policyOf("{ permissions: [" + distinct(300_000) + "] }"), "node_modules/other/index.js": "exports.two = missing;\n"}, args: []string{"check"}, code: exitFindings,
			says: []string{"error SBX004", "permissions has 300000 entries, and a list of more than 2000 is not read", `"other" needs missing while it loads`},
		},
		"20,000 permissions in little memory": {
			files: map[string]string{policyFile: policyOf("{ limits: { memoryMB: 8 }, permissions: [" + distinct(20_000) + "] }"), "node_modules/other/index.js": "exports.two = missing;\n"}, args: []string{"check"}, code: exitFindings,
			says: []string{"error SBX004", "a list of more than 2000 is not read", `"other" needs missing while it loads`},
		},
		"nested brackets":   {files: map[string]string{policyFile: policyOf(strings.Repeat("[", 5000) + strings.Repeat("]", 5000))}, code: exitFindings, says: []string{"SBX001", "could not be evaluated", "Maximum call stack"}},
		"open brackets":     {files: map[string]string{policyFile: "export default " + strings.Repeat("[", 5000)}, code: exitFindings, says: []string{"SBX001", "a build needs the whole file"}},
		"nested parens":     {files: map[string]string{policyFile: strings.Replace(strings.Replace(sound, "{", strings.Repeat("(", 2000)+"{", 1), ";", strings.Repeat(")", 2000)+";", 1)}, code: exitClean},
		"loops":             {files: map[string]string{policyFile: "for (;;);\n" + sound}, code: exitFindings, says: []string{policyFile, "SBX001", "ran longer than the 2s"}},
		"loops in a native": {files: map[string]string{policyFile: "Array.prototype.reverse.call({ length: 2 ** 53 - 1 });\n" + sound}, code: exitFindings, says: []string{"SBX001", "ran longer than the 2s"}},
		"throws 5 MB":       {files: map[string]string{policyFile: "throw new Error('y'.repeat(5e6));\n" + sound}, code: exitFindings, says: []string{policyFile + ":1:", "SBX001", "Error: yyy"}},
	})
}

func TestBadInput_packages(t *testing.T) {
	const again = "npm install"
	tiny := func(manifest string) map[string]string { return map[string]string{tinyManifest: manifest} }
	project := func(manifest string) map[string]string { return map[string]string{"package.json": manifest} }
	at := policyFile + ":1:18 error SBX003"
	runBadCases(t, map[string]badCase{
		"node_modules is missing": {mess: func(t *testing.T, dir string) {
			if err := os.RemoveAll(filepath.Join(dir, "node_modules")); err != nil {
				t.Fatal(err)
			}
		}, code: exitFindings, says: []string{at, "listed in package.json, but not installed", again, "\"other\""}},
		"no package.json":           {files: tiny(gone), code: exitFindings, says: []string{at, "has no package.json", again}},
		"no entry":                  {files: map[string]string{tinyEntry: gone}, code: exitFindings, says: []string{at, "no index.js", again}},
		"no main":                   {files: map[string]string{tinyEntry: gone, tinyManifest: `{"name":"tiny","main":"lib/gone.js"}`}, code: exitFindings, says: []string{at, `"lib/gone.js" as its main file, which is not there`, again}},
		"a link in circles":         {mess: link("node_modules/tiny", "tiny"), code: exitFindings, says: []string{at, "node_modules/tiny is a symbolic link that leads nowhere or in a circle", again}},
		"a link to nowhere":         {mess: link("node_modules/tiny", "../elsewhere/tiny"), code: exitFindings, says: []string{at, "symbolic link that leads nowhere", again}},
		"an entry in circles":       {mess: link(tinyEntry, "index.js"), code: exitFindings, says: []string{at, "no index.js", again}},
		"package.json cut off":      {files: tiny(`{"name":"tiny","vers`), code: exitFindings, says: []string{at, "line 1 of its package.json is not valid JSON", again}},
		"package.json of arrays":    {files: tiny(`[1, 2]`), code: exitFindings, says: []string{at, "its package.json is not a JSON object", again}},
		"package.json of null":      {files: tiny(`null`), code: exitFindings, says: []string{at, "its package.json is not a JSON object", again}},
		"package.json is empty":     {files: tiny(``), code: exitFindings, says: []string{at, "its package.json is not valid JSON", again}},
		"package.json is a folder":  {files: map[string]string{tinyManifest: gone, tinyManifest + "/x": ""}, code: exitFindings, says: []string{at, "its package.json cannot be read", again}},
		"package.json nests":        {files: tiny(`{"x":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`), code: exitFindings, says: []string{at, "its package.json is not valid JSON", again}},
		"package.json with a BOM":   {files: tiny("\uFEFF" + soundFiles()[tinyManifest]), code: exitClean},
		"package.json of 10 MB":     {files: tiny(`{"name":"tiny","version":"1.0.0","x":"` + strings.Repeat("x", 10_000_000) + `"}`), code: exitClean},
		"a name that is a number":   {files: tiny(`{"name":7,"version":[]}`), code: exitClean, fresh: ofTiny},
		"exports is a number":       {files: tiny(`{"name":"tiny","exports":7}`), code: exitFindings, says: []string{at, tinyManifest + ":1:26", again}},
		"exports is null":           {files: tiny(`{"name":"tiny","exports":{".":null}}`), code: exitFindings, says: []string{at, "exports of its package.json name no file", again}},
		"exports mixes keys":        {files: tiny(`{"name":"tiny","exports":{".":"./index.js","import":"./x.js"}}`), code: exitFindings, says: []string{at, tinyManifest + ":1:44", again}},
		"exports nests for nothing": {files: tiny(`{"name":"tiny","exports":{".":{"import":[[{"import":{}}]]}}}`), code: exitFindings, says: []string{at, "exports of its package.json name no file", again}},
		"exports leads out":         {files: map[string]string{tinyManifest: `{"name":"tiny","exports":"../../secret.js"}`, "secret.js": "exports.secret = 1;\n"}, code: exitFindings, says: []string{at, again}},
		"the project's is cut off":  {files: project(`{"dependencies":{"tin`), code: exitFindings, says: []string{"package.json:1:22 error SBX003\n  package.json is not valid JSON: unexpected end", "\n1 error in 2 libraries"}},
		"the project's has a comma": {files: project("{\n  \"dependencies\": { \"tiny\": \"1\", }\n}\n"), code: exitFindings, says: []string{"package.json:2:34 error SBX003\n  package.json is not valid JSON: invalid character '}'", "\n1 error in 2 libraries"}},
		"the project's is a folder": {files: map[string]string{"package.json": gone, "package.json/x": ""}, code: exitFindings, says: []string{"package.json:1:1 error SBX003\n  package.json cannot be read: is a directory"}},
		"the project's is an array": {files: project(`[]`), code: exitClean, says: []string{"package.json:1:1 warning SBX003\n  package.json is not a JSON object, so no package.json lists the libraries", "\n1 warning in 2 libraries"}},
		"the project's has a BOM":   {files: project("\uFEFF" + soundFiles()["package.json"]), code: exitClean},
		"the project's is gone":     {files: project(gone), code: exitClean, says: []string{"warning SBX003", "npm install tiny"}},
		"the project's has 10 MB":   {files: project(`{"dependencies":{"tiny":"1","other":"1"},"x":"` + strings.Repeat("x", 10_000_000) + `"}`), code: exitClean},
		"dependencies is a string":  {files: project(`{"dependencies":"tiny"}`), code: exitClean, says: []string{"warning SBX003"}},
	})
}

func TestBadInput_libraries(t *testing.T) {
	lib := func(source string) map[string]string { return map[string]string{tinyEntry: source} }
	limited := func(limits, source string) map[string]string {
		return map[string]string{policyFile: policyOf("{ permissions: [], limits: { " + limits + " } }"), tinyEntry: source}
	}
	at := policyFile + ":1:18 error "
	atTiny := tinyEntry + ":1:"
	large := strings.Builder{}
	large.WriteString("exports.data = [\n")
	for i := range 20_000 {
		fmt.Fprintf(&large, "%q,\n", strings.Repeat(fmt.Sprintf("%08d", i), 128))
	}
	large.WriteString("];\n")
	runBadCases(t, map[string]badCase{
		"loops":             {files: limited("timeoutMs: 100", "for (;;);\n"), code: exitFindings, fresh: ofTiny, says: []string{at + "SBX043", "exceeded its time limit while loading", "It had 2s"}},
		"loops in a native": {files: limited("timeoutMs: 100", "Array.prototype.reverse.call({ length: 2 ** 53 - 1 });\n"), code: exitFindings, fresh: ofTiny, says: []string{at + "SBX043", "exceeded its time limit"}},
		"recurses":          {files: limited("timeoutMs: 60000", "(function again() { return again() + 1; })();\n"), code: exitFindings, fresh: ofTiny, says: []string{at + "SBX043", "exceeded its stack limit while loading", "calls itself without end"}},
		"endless jobs":      {files: limited("timeoutMs: 60000", "exports.one = 1; (function again() { Promise.resolve().then(again); })();\n"), code: exitFindings, fresh: ofTiny, says: []string{at + "SBX043", "queues promise jobs without end"}},
		"endless buffers":   {files: limited("memoryMB: 8, timeoutMs: 60000", "const all = []; for (;;) all.push(new Uint8Array(1e6));\n"), code: exitFindings, fresh: ofTiny, says: []string{at + "SBX043", "exceeded its memory limit", "It has 8 MiB; raise limits.memoryMB"}},
		"endless objects":   {files: limited("memoryMB: 8, timeoutMs: 60000", "const all = []; for (;;) all.push({ all });\n"), code: exitFindings, fresh: ofTiny, says: []string{at + "SBX043", "exceeded its memory limit"}},
		"endless string":    {files: limited("timeoutMs: 60000", "let s = 'x'; for (;;) s += s;\n"), code: exitFindings, fresh: ofTiny, says: []string{at + "SBX043", "fault of the library"}},
		"recursion":         {files: lib("function f() { f(); } f();\n"), code: exitFindings, fresh: ofTiny, says: []string{at + "SBX043", "calls itself without end", atTiny}},
		"nested JSON":       {files: lib("let a = []; for (let i = 0; i < 1e5; i++) a = [a]; JSON.stringify(a);\n"), code: exitFindings, fresh: ofTiny, says: []string{at + "SBX043", "nests deeper than the guest's stack allows"}},
		"nested source":     {files: lib("exports.one = " + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + ";\n"), code: exitFindings, fresh: ofTiny, says: []string{"error SBX04", "\"tiny\""}},
		"quit":              {files: lib("quit(0);\n"), code: exitFindings, fresh: ofTiny, says: []string{at + "SBX042", "quit is not defined", "has a global quit", atTiny}},
		"process.exit":      {files: lib("process.exit(0);\n"), code: exitFindings, fresh: ofTiny, says: []string{at + "SBX042", "process is not granted", atTiny}},
		"std.exit":          {files: lib("std.exit(0); os.exit(0);\n"), code: exitFindings, fresh: ofTiny, says: []string{at + "SBX042", "has a global std"}},
		"throws null":       {files: lib("throw null;\n"), code: exitFindings, fresh: ofTiny, says: []string{at + "SBX042", "does not load in the sandbox: null"}},
		"throws 5 MB":       {files: lib("throw new Error('y'.repeat(5e6));\n"), code: exitFindings, fresh: ofTiny, says: []string{at + "SBX042", "Error: yyy", "yyy…"}},
		"throws an escape":  {files: lib("throw new Error('a\\0b\\x1b[31m red');\n"), code: exitFindings, fresh: ofTiny, says: []string{at + "SBX042", "[31m red"}},
		"throws a trap":     {files: lib("throw new Proxy(function () {}, { get() { for (;;); }, getPrototypeOf() { for (;;); } });\n"), code: exitFindings, fresh: ofTiny, says: []string{at + "SBX043", "exceeded its time limit"}},
		"takes itself away": {files: lib("for (const k of Reflect.ownKeys(globalThis)) try { delete globalThis[k]; globalThis[k] = null; } catch {}\nexports.one = 1;\n"), code: exitClean, fresh: ofTiny},
		"a NUL":             {files: lib("exports.one = 1;\x00exports.two = 2;\n"), code: exitFindings, says: []string{atTiny + "17 error SBX040", `Unexpected "\x00"`}},
		"a NUL in a string": {files: lib("exports.one = '\x00';\n"), code: exitClean, fresh: ofTiny},
		"invalid UTF-8":     {files: lib("exports.one = '\xff\xfe\x80';\n"), code: exitClean, fresh: ofTiny},
		"invalid name":      {files: lib("exports.\xff\xfe = 1;\n"), code: exitFindings, says: []string{atTiny + "9 error SBX040", "cannot be bundled"}},
		"lone surrogates":   {files: lib("exports.one = '\xed\xa0\x80\\ud800'; exports['\\udfff'] = 1;\n"), code: exitClean, fresh: ofTiny},
		"U+2028":            {files: lib("exports.one = '\u2028\u2029'; // \u2028exports.two = 2;\n"), code: exitClean, fresh: ofTiny},
		"names of exports":  {files: lib(`for (const k of ["a\0", "\u2028", "*/", "</script>", "__proto__", "", "default", "then"]) exports[k] = 1; exports.one = 1;` + "\n"), code: exitClean, fresh: ofTiny},
		"20 MB, no cache":   {files: limited("timeoutMs: 120000, memoryMB: 512", large.String()), args: []string{"build", "--cache-dir", "-"}, code: exitClean, fresh: ofTiny},
	})
}
