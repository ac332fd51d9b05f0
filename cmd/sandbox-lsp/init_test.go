package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// dependencies is a project without a policy whose packages are installed and which
// imports none of them.
var dependencies = map[string]string{
	"package.json":                       `{ "name": "app", "dependencies": { "loads": "1.0.0", "absent": "1.0.0", "@types/loads": "1.0.0", "@sandbox-lsp/runtime": "1.0.0" }, "devDependencies": { "tool": "1.0.0" } }`,
	"node_modules/loads/package.json":    `{ "name": "loads", "version": "1.0.0", "main": "index.js" }`,
	"node_modules/loads/index.js":        "exports.get = (url) => fetch(url);\n",
	"node_modules/tool/package.json":     `{ "name": "tool", "version": "1.0.0", "main": "index.js" }`,
	"node_modules/tool/index.js":         "exports.run = () => 1;\n",
	"node_modules/unlisted/package.json": `{ "name": "unlisted", "version": "1.0.0", "main": "index.js" }`,
	"node_modules/unlisted/index.js":     "exports.x = 1;\n",
}

func TestInit_saysWhatItDidAndWhatToDo(t *testing.T) {
	const imports = "no code of the application was found that imports a dependency"
	tests := map[string]struct {
		args      []string
		more      map[string]string
		code      int
		says      []string // on either stream
		libraries []string // of the policy afterwards; nil for none
	}{
		"nothing is imported":            {nil, nil, exitFindings, []string{".sandbox/sandbox.config.js is not written", imports, "init --library NAME", "init --all"}, nil},
		"nothing is imported, dry":       {[]string{"--dry-run"}, nil, exitFindings, []string{imports}, nil},
		"what is imported":               {nil, map[string]string{"src/app.js": "import 'loads';\n"}, exitClean, []string{"loads: [fetch]"}, []string{"loads"}},
		"all":                            {[]string{"--all"}, nil, exitClean, []string{"loads: [fetch]", "absent is left out"}, []string{"loads"}},
		"all and one more":               {[]string{"--all", "--library", "tool"}, nil, exitClean, nil, []string{"loads", "tool"}},
		"all of none":                    {[]string{"--all"}, map[string]string{"package.json": "{}"}, exitFindings, []string{"package.json lists no dependencies"}, nil},
		"one by name":                    {[]string{"--library", "tool"}, nil, exitClean, []string{"tool: []"}, []string{"tool"}},
		"one that is not there":          {[]string{"--library", "absent"}, nil, exitFindings, []string{"absent is left out", "for the reasons above"}, nil},
		"what the policy has":            {[]string{"--library", "tool"}, map[string]string{".sandbox/sandbox.config.js": "export default { tool: { permissions: [] } };\n"}, exitClean, []string{"the policy has it already", "nothing to add"}, []string{"tool"}},
		"a policy, and nothing imported": {nil, map[string]string{".sandbox/sandbox.config.js": "export default { tool: { permissions: [] } };\n"}, exitClean, []string{"nothing to add", imports, "--all"}, []string{"tool"}},
		"much is granted":                {[]string{"--library", "loads"}, nil, exitClean, []string{"fetch is granted, which is much: it sends requests anywhere"}, []string{"loads"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{}
			for _, some := range []map[string]string{dependencies, tt.more} {
				for file, content := range some {
					files[file] = content
				}
			}
			dir := newProject(t, files)
			o := execute(t, dir, cacheDir(t), append([]string{"init"}, tt.args...)...)
			if o.code != tt.code {
				t.Errorf("exit %d, want %d\n%s%s", o.code, tt.code, o.stdout, o.stderr)
			}
			for _, want := range tt.says {
				if !strings.Contains(o.stdout+o.stderr, want) {
					t.Errorf("it does not say %q:\n%s%s", want, o.stdout, o.stderr)
				}
			}
			written, err := os.ReadFile(filepath.Join(dir, ".sandbox", "sandbox.config.js"))
			if (err == nil) != (tt.libraries != nil) {
				t.Fatalf("the policy: %v", err)
			}
			for _, library := range []string{"loads", "absent", "tool", "types", "runtime"} {
				has := strings.Contains(strings.ReplaceAll(string(written), `"`, ""), library+": {")
				want := false
				for _, l := range tt.libraries {
					want = want || l == library
				}
				if has != want {
					t.Errorf("%s is in the policy: %v, want %v\n%s", library, has, want, written)
				}
			}
		})
	}
}

func TestCacheDir_hasToBeAFolder(t *testing.T) {
	dir := newProject(t, dependencies)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, cache := range []string{file, filepath.Join(file, "below")} {
		for _, args := range [][]string{{"check"}, {"build"}, {"init", "--all"}, {"serve"}} {
			o := execute(t, dir, cache, args...)
			if o.code != exitUsage || !strings.Contains(o.stderr, "--cache-dir: "+file+" is a file") {
				t.Errorf("%v with %s: exit %d\n%s%s", args, cache, o.code, o.stdout, o.stderr)
			}
		}
	}
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the file in the way: %v %v", info, err)
	}
}
