package lockfile

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const v3 = `{
  "lockfileVersion": 3,
  "packages": {
    "": { "dependencies": { "a": "1" } },
    "apps/shop": { "version": "9.0.0", "dependencies": { "b": "2" } },
    "apps/shop/node_modules/b": { "version": "2.1.0", "integrity": "sha512-b21" },
    "node_modules/a": { "version": "1.0.0", "integrity": "sha512-a", "dependencies": { "b": "1", "gone": "1" }, "peerDependencies": { "@s/c": "*" } },
    "node_modules/a/node_modules/b": { "version": "1.5.0", "integrity": "sha512-b15", "optionalDependencies": { "a": "1" } },
    "node_modules/b": { "version": "2.0.0", "integrity": "sha512-b2" },
    "node_modules/@s/c": { "version": "3.0.0" },
    "node_modules/shop": { "resolved": "apps/shop", "link": true }
  }
}`

const v1 = `{
  "lockfileVersion": 1,
  "dependencies": {
    "a": { "version": "1.0.0", "integrity": "sha512-a", "requires": { "b": "1" }, "dependencies": { "b": { "version": "1.5.0", "requires": true } } },
    "b": { "version": "2.0.0" }
  }
}`

func lock(t *testing.T, text string) *Lock {
	t.Helper()
	l, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestFind_followsNodesRules(t *testing.T) {
	locks := map[string]*Lock{"v3": lock(t, v3), "v1": lock(t, v1), "none": nil}
	tests := map[string]struct {
		lock, folder, request, want string
	}{
		"at the top":             {"v3", "", "b", "b 2.0.0"},
		"of a workspace":         {"v3", "apps/shop", "b", "apps/shop/node_modules/b 2.1.0"},
		"from a workspace above": {"v3", "apps/shop", "a", "a 1.0.0"},
		"nested":                 {"v3", "node_modules/a", "b", "a/node_modules/b 1.5.0"},
		"a subpath":              {"v3", "", "@s/c/sub", "@s/c 3.0.0"},
		"a link":                 {"v3", "", "shop", "shop 9.0.0"},
		"unknown":                {"v3", "apps/shop", "d", ""},
		"not a request":          {"v3", "", "./b", ""},
		"out of the folder":      {"v3", "../..", "b", "b 2.0.0"},
		"version 1":              {"v1", "", "b", "b 2.0.0"},
		"version 1, nested":      {"v1", "node_modules/a", "b", "a/node_modules/b 1.5.0"},
		"no lockfile":            {"none", "", "b", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p, ok := locks[tt.lock].Find(tt.folder, tt.request)
			if got := p.Describe(); got != tt.want || ok != (tt.want != "") {
				t.Errorf("got %q %v", got, ok)
			}
		})
	}
}

func TestClosure_isWhatABundleMayBeMadeOf(t *testing.T) {
	tests := map[string]struct {
		text, folder, request string
		want                  []string
	}{
		"with peers, and round in a circle": {v3, "", "a", []string{"@s/c 3.0.0", "a 1.0.0", "a/node_modules/b 1.5.0"}},
		"a link":                            {v3, "", "shop", []string{"apps/shop/node_modules/b 2.1.0", "shop 9.0.0"}},
		"version 1":                         {v1, "", "a", []string{"a 1.0.0", "a/node_modules/b 1.5.0"}},
		"unknown":                           {v3, "", "nobody", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range lock(t, tt.text).Closure(tt.folder, tt.request) {
				got = append(got, p.Describe())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("closure (-want +got):\n%s", diff)
			}
		})
	}
	a := lock(t, v3).Closure("", "a")
	if !Same(a, lock(t, v3).Closure("", "a")) || Same(a, lock(t, v1).Closure("", "a")) || Same(a, a[1:]) {
		t.Error("closures are compared wrongly")
	}
}

func TestParse_garbage(t *testing.T) {
	for _, text := range []string{"", "[]", "{", `{"packages": 1}`} {
		if l, err := Parse(text); err == nil {
			t.Errorf("%q parses as %v", text, l)
		}
	}
}
