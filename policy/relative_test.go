package policy_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
)

func TestRelative_isTheSameOnEveryMachine(t *testing.T) {
	for name, tt := range map[string]struct{ root, file, want string }{
		"inside":                     {"/w/app", "/w/app/src/a.js", "src/a.js"},
		"the root":                   {"/w/app", "/w/app", "."},
		"hoisted above":              {"/w/apps/a", "/w/node_modules/x/i.js", "../../node_modules/x/i.js"},
		"a folder above":             {"/w/apps/a", "/w", "../.."},
		"a sibling of a like name":   {"/w/app", "/w/app-2/i.js", "../app-2/i.js"},
		"a name that begins with ..": {"/w/app", "/w/app/..x/i.js", "..x/i.js"},
		"no absolute path":           {"/w/app", "lodash.bundle.js", "lodash.bundle.js"},
	} {
		if got := policy.Relative(filepath.FromSlash(tt.root), filepath.FromSlash(tt.file)); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestRelative_toARootBehindALink(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	real, link := filepath.Join(top, "real", "app"), filepath.Join(top, "link")
	if err := os.MkdirAll(real, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		filepath.Join(real, "node_modules", "x.js"):        "node_modules/x.js",
		filepath.Join(link, "a.js"):                        "a.js",
		filepath.Join(top, "real", "node_modules", "x.js"): "../real/node_modules/x.js",
	} {
		got := policy.Relative(link, file)
		if got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
		if policy.Outside(got) && filepath.Join(link, filepath.FromSlash(got)) != file {
			t.Errorf("%s does not lead back to %s", got, file)
		}
	}
}

func TestOutside_isWhateverMayNotBeWritten(t *testing.T) {
	for name, want := range map[string]bool{
		"a.js": false, "src/../a.js": false, "..x/a.js": false, ".sandbox/sandbox.config.js": false,
		"../a.js": true, "..": true, "src/../../a.js": true, "/etc/passwd": true, "": true,
	} {
		if policy.Outside(name) != want {
			t.Errorf("Outside(%q) is %v", name, !want)
		}
	}
}
