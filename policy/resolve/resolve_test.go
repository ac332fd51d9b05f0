package resolve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// project unpacks an archive into a temporary folder. A file whose name ends in
// .link becomes a symbolic link to the path that is its content.
func project(t *testing.T, archive string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		path := filepath.Join(root, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if link, ok := strings.CutSuffix(path, ".link"); ok {
			err = os.Symlink(strings.TrimSpace(string(f.Data)), link)
		} else {
			err = os.WriteFile(path, f.Data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

const shapes = `
-- app/package.json --
{"dependencies":{"plain":"1","esm":"1","browserish":"1","@scope/lib":"1","linked":"1","gone":"1","work":"*","cut":"1","torn":"1","loop":"1"}}
-- app/node_modules/plain/package.json --
{"name":"plain","version":"1.2.3","main":"lib/main.js"}
-- app/node_modules/plain/lib/main.js --
module.exports = 1
-- app/node_modules/plain/lib/package.json --
{"type":"commonjs"}
-- app/node_modules/esm/package.json --
{"name":"esm","version":"2.0.0","exports":{".":{"types":"./x.d.ts","browser":"./b.mjs","node":"./n.mjs","require":"./c.cjs","default":"./d.mjs"},"./sub/*":"./sub/*.mjs","./hidden":null}}
-- app/node_modules/esm/b.mjs --
export {}
-- app/node_modules/esm/n.mjs --
export {}
-- app/node_modules/esm/d.mjs --
export {}
-- app/node_modules/esm/sub/one.mjs --
export {}
-- app/node_modules/esm/hidden.mjs --
export {}
-- app/node_modules/browserish/package.json --
{"name":"browserish","version":"3.0.0","main":"./node.js","browser":{"./node.js":"./web.js"}}
-- app/node_modules/browserish/node.js --
-- app/node_modules/browserish/web.js --
-- app/node_modules/@scope/lib/package.json --
{"name":"@scope/lib","version":"4.0.0"}
-- app/node_modules/@scope/lib/index.js --
-- app/node_modules/linked.link --
.pnpm/linked@5.0.0/node_modules/linked
-- app/node_modules/.pnpm/linked@5.0.0/node_modules/linked/package.json --
{"name":"linked","version":"5.0.0","module":"m.js","main":"c.js"}
-- app/node_modules/.pnpm/linked@5.0.0/node_modules/linked/m.js --
export {}
-- app/node_modules/.pnpm/linked@5.0.0/node_modules/linked/c.js --
-- app/node_modules/cut/package.json --
{"name":"cut","version":"1.0.0","main":"not-there.js"}
-- app/node_modules/thief/package.json --
{"name":"thief","version":"1.0.0","main":"../../secret.js"}
-- app/secret.js --
exports.key = 1
-- app/node_modules/torn/package.json --
{"name":"torn",
-- app/node_modules/loop.link --
loop
-- app/node_modules/alias/package.json --
{"name":"real-name","version":"9.0.0"}
-- app/node_modules/alias/index.js --
-- node_modules/hoisted/package.json --
{"name":"hoisted","version":"6.0.0"}
-- node_modules/hoisted/index.js --
-- node_modules/work.link --
../packages/tool
-- packages/tool/package.json --
{"name":"work","version":"0.0.0","main":"src/index.js"}
-- packages/tool/src/index.js --
-- package.json --
{"devDependencies":{"hoisted":"6"}}
`

// What answers for a name that is in no node_modules as a folder.
func TestPackages_askTheBundlerWhereverItMayKnow(t *testing.T) {
	const files = `
-- package.json --
{"name":"itself","exports":"./src/index.js","browser":{"replaced":"./src/index.js"}}
-- src/index.js --
export {}
-- node_modules/single.js --
module.exports = 1
`
	for _, request := range []string{"itself", "replaced", "single"} {
		root := project(t, files)
		got, err := Packages(t.Context(), root, []string{"gone", request})
		if err != nil {
			t.Fatal(err)
		}
		if got[0].Entry != "" || got[1].Entry == "" || got[1].Problem != nil {
			t.Errorf("%s: %+v", request, got)
		}
	}
}

func TestPackages_resolveAsBundlersDo(t *testing.T) {
	top := project(t, shapes)
	root := filepath.Join(top, "app")
	tests := map[string]struct {
		request, entry, version string
		listed                  bool
		problem                 ProblemKind
		suggestion              string
	}{
		"main field":                          {request: "plain", entry: "app/node_modules/plain/lib/main.js", version: "1.2.3", listed: true},
		"exports map with browser condition":  {request: "esm", entry: "app/node_modules/esm/b.mjs", version: "2.0.0", listed: true},
		"subpath pattern":                     {request: "esm/sub/one", entry: "app/node_modules/esm/sub/one.mjs", version: "2.0.0", listed: true},
		"subpath that the map closes":         {request: "esm/hidden", version: "2.0.0", listed: true, problem: NoEntry},
		"browser field":                       {request: "browserish", entry: "app/node_modules/browserish/web.js", version: "3.0.0", listed: true},
		"scoped name":                         {request: "@scope/lib", entry: "app/node_modules/@scope/lib/index.js", version: "4.0.0", listed: true},
		"symlinked store":                     {request: "linked", entry: "app/node_modules/.pnpm/linked@5.0.0/node_modules/linked/m.js", version: "5.0.0", listed: true},
		"hoisted to the workspace root":       {request: "hoisted", entry: "node_modules/hoisted/index.js", version: "6.0.0", listed: true},
		"workspace package":                   {request: "work", entry: "packages/tool/src/index.js", version: "0.0.0", listed: true},
		"npm alias, installed but not listed": {request: "alias", entry: "app/node_modules/alias/index.js", version: "9.0.0"},
		"listed but not installed":            {request: "gone", listed: true, problem: NotInstalled},
		"near miss":                           {request: "plian", problem: Unknown, suggestion: "plain"},
		"near miss of a listed name":          {request: "gon", problem: Unknown, suggestion: "gone"},
		"unlike anything":                     {request: "zzzzzzzz", problem: Unknown},
		"main file missing":                   {request: "cut", version: "1.0.0", listed: true, problem: NoEntry},
		"main outside of the package":         {request: "thief", version: "1.0.0", problem: NoEntry},
		"torn manifest":                       {request: "torn", listed: true, problem: BadManifest},
		"symlink loop":                        {request: "loop", listed: true, problem: BadManifest},
		"built-in":                            {request: "fs", problem: Builtin},
		"built-in with scheme":                {request: "node:fs", problem: Builtin},
		"relative path":                       {request: "./plain", problem: NotARequest},
		"URL":                                 {request: "https://x/y", problem: NotARequest},
		"empty":                               {request: "", problem: NotARequest},
		"scope only":                          {request: "@scope", problem: NotARequest},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Packages(t.Context(), root, []string{tt.request})
			if err != nil {
				t.Fatal(err)
			}
			r := got[0]
			if want := tt.entry; want != "" {
				want = filepath.Join(top, filepath.FromSlash(want))
				if r.Entry != want {
					t.Errorf("entry %s, want %s", r.Entry, want)
				}
			} else if r.Entry != "" && tt.problem != BadManifest {
				t.Errorf("entry %s, want none", r.Entry)
			}
			if r.Package.Version != tt.version || r.Listed != tt.listed {
				t.Errorf("version %q listed %v, want %q %v", r.Package.Version, r.Listed, tt.version, tt.listed)
			}
			var kind ProblemKind
			var suggestion string
			if r.Problem != nil {
				kind, suggestion = r.Problem.Kind, r.Problem.Suggestion
			}
			if kind != tt.problem || suggestion != tt.suggestion {
				t.Errorf("problem %+v, want kind %d suggestion %q", r.Problem, tt.problem, tt.suggestion)
			}
		})
	}
}

func TestOwner_skipsManifestsWithoutName(t *testing.T) {
	top := project(t, shapes)
	dir, ok := owner(filepath.Join(top, "app/node_modules/plain/lib/main.js"))
	if want := filepath.Join(top, "app", "node_modules", "plain"); !ok || dir != want {
		t.Errorf("owner %s %v, want %s", dir, ok, want)
	}
}

func TestSplitRequest(t *testing.T) {
	for request, want := range map[string][2]string{
		"a": {"a", ""}, "a/b/c": {"a", "b/c"}, "@s/a": {"@s/a", ""}, "@s/a/b": {"@s/a", "b"},
	} {
		name, sub, ok := SplitRequest(request)
		if !ok || name != want[0] || sub != want[1] {
			t.Errorf("SplitRequest(%q) = %q %q %v", request, name, sub, ok)
		}
	}
	for _, request := range []string{"", "@", "@s", "a//b", "../a", "/a", "a/../b", "http://x", ".hidden"} {
		if name, _, ok := SplitRequest(request); ok {
			t.Errorf("SplitRequest(%q) took it for the package %q", request, name)
		}
	}
}
