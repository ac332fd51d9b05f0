package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// changed is a sound change of a library, after which a build has something to write.
var changed = map[string]string{tinyEntry: "exports.one = 11;\n"}

func changedAnd(more map[string]string) map[string]string {
	files := map[string]string{tinyEntry: changed[tinyEntry]}
	for name, content := range more {
		files[name] = content
	}
	return files
}

func TestBadOutput_folders(t *testing.T) {
	outside := t.TempDir()
	victim := filepath.Join(outside, "victim.js")
	if err := os.WriteFile(victim, []byte("// not ours\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	untouched := func(t *testing.T, _ string) {
		t.Helper()
		entries, err := os.ReadDir(outside)
		raw, errRead := os.ReadFile(victim)
		if err != nil || errRead != nil || len(entries) != 1 || string(raw) != "// not ours\n" {
			t.Errorf("the folder outside has %v, the file in it %q (%v %v)", entries, raw, err, errRead)
		}
	}
	const asTheyWere, real = "files of the last build are as they were", "put a real folder or file in its place"
	file := func(name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := errors.Join(os.RemoveAll(path), os.WriteFile(path, []byte("mine"), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
	}
	runBadCases(t, map[string]badCase{
		"dist leads out":           {files: changed, mess: link("dist", outside), code: exitInternal, says: []string{"dist/", "symbolic link leads out of the project", real, asTheyWere}, check: untouched},
		"dist leads out, relative": {files: changed, mess: link("dist", "../../.."), code: exitInternal, says: []string{"symbolic link leads out", asTheyWere}},
		"dist leads nowhere":       {files: changed, mess: link("dist", "nowhere"), code: exitInternal, says: []string{"make the folder of dist/", asTheyWere}},
		"dist in circles":          {files: changed, mess: link("dist", "dist"), code: exitInternal, says: []string{"dist/", "too many levels of symbolic links", asTheyWere}},
		"dist is a file":           {files: changed, mess: file("dist"), code: exitInternal, says: []string{"dist/", "a file stands where a folder belongs", "move it away", asTheyWere}},
		"the proxies are a file":   {files: changed, mess: file(".sandbox/proxys"), code: exitInternal, says: []string{".sandbox/proxys/", "a file stands where a folder belongs", asTheyWere}},
		"the proxies lead out":     {files: changed, mess: link(".sandbox/proxys", outside), code: exitInternal, says: []string{".sandbox/proxys/", "symbolic link leads out", asTheyWere}, check: untouched},
		"a bundle leads out":       {files: changed, mess: link("dist/tiny.bundle.js", victim), code: exitInternal, says: []string{"dist/tiny.bundle.js", "symbolic link leads out", asTheyWere}, check: untouched},
		"a bundle is a folder":     {files: changedAnd(map[string]string{"dist/tiny.bundle.js": gone, "dist/tiny.bundle.js/x": "mine"}), code: exitInternal, says: []string{"dist/tiny.bundle.js", "a file stands where a folder belongs", asTheyWere}},
		"a proxy leads out":        {files: changed, mess: link(".sandbox/proxys/tiny-proxy.js", victim), code: exitInternal, says: []string{".sandbox/proxys/tiny-proxy.js", "symbolic link leads out", asTheyWere}, check: untouched},
		"the manifest leads out":   {files: changed, mess: link("dist/sandbox-manifest.json", victim), code: exitInternal, says: []string{"dist/sandbox-manifest.json", "symbolic link leads out", asTheyWere}, check: untouched},
		"the manifest is cut off":  {files: changedAnd(map[string]string{"dist/sandbox-manifest.json": `{"libraries":[{"req`}), code: exitClean, fresh: ofTiny},
		"the manifest is an array": {files: changedAnd(map[string]string{"dist/sandbox-manifest.json": `[1]`}), code: exitClean, fresh: ofTiny},
		"the manifest lies": {files: changedAnd(map[string]string{
			"dist/sandbox-manifest.json": `{"libraries":[{"request":"gone","bundle":{"path":"../victim.js"},"proxy":{"path":"src/app.js"}},{"request":"x","bundle":{"path":"/etc/passwd"}}]}`, "src/app.js": "mine",
		}), code: exitClean, fresh: ofTiny, check: func(t *testing.T, dir string) {
			if raw, err := os.ReadFile(filepath.Join(dir, "src", "app.js")); err != nil || string(raw) != "mine" {
				t.Errorf("src/app.js: %q %v", raw, err)
			}
		}},
	})
}

// TestBadOutput_aLibraryThatCannotBeBundled holds for how long the last build of a
// library stands in for one that cannot be made.
func TestBadOutput_aLibraryThatCannotBeBundled(t *testing.T) {
	broken := map[string]string{tinyEntry: gone}
	with := func(policy string) map[string]string {
		return map[string]string{tinyEntry: gone, policyFile: policy}
	}
	removed := func(t *testing.T, dir string) {
		t.Helper()
		files := mustBuilt(t, dir)
		if _, there := files["dist/tiny.bundle.js"]; there || strings.Contains(files["dist/sandbox-manifest.json"], `"tiny"`) {
			t.Error("the sandbox outlives the authority that it was built with")
		}
	}
	says := []string{"error SBX003", "npm install"}
	kept := "kept the last build of tiny, which cannot be bundled now"
	runBadCases(t, map[string]badCase{
		"the same authority":   {files: broken, code: exitFindings, says: append(says, kept)},
		"a grant more":         {files: with(policyOf("{ permissions: ['Intl'] }")), code: exitFindings, says: says, fresh: ofTiny, check: removed},
		"another limit":        {files: with(policyOf("{ permissions: [], limits: { memoryMB: 8 } }")), code: exitFindings, says: says, fresh: ofTiny, check: removed},
		"no longer in policy":  {files: with("export default { other: { permissions: [] } };\n"), code: exitClean, says: []string{"removed dist/tiny.bundle.js"}, fresh: ofTiny, check: removed},
		"a bundle was changed": {files: map[string]string{tinyEntry: gone, "dist/tiny.bundle.js": "// changed\n"}, code: exitFindings, says: says, fresh: ofTiny, check: removed},
		"does not parse":       {files: map[string]string{tinyEntry: "let = = 1;\n"}, code: exitFindings, says: []string{tinyEntry + ":1:7 error SBX040", kept}},
	})
}

// TestBadOutput_leftoversOfKilledBuildsGo plants the unfinished files of a process
// that has ended, of one that runs, and of another program.
func TestBadOutput_leftoversOfKilledBuildsGo(t *testing.T) {
	short := exec.Command(binary, "version")
	if err := short.Run(); err != nil {
		t.Fatal(err)
	}
	ended, running := strconv.Itoa(short.Process.Pid), strconv.Itoa(os.Getpid())
	files := map[string]bool{ // whether they stay
		"dist/tiny.bundle.js." + ended + ".tmp":                   false,
		"dist/sandbox-manifest.json." + ended + ".tmp":            false,
		"dist/long.gone.workload.bundle.js.map." + ended + ".tmp": false,
		".sandbox/proxys/tiny-proxy.d.ts." + ended + ".tmp":       false,
		"dist/tiny.bundle.js." + running + ".tmp":                 true,
		"dist/app.js." + ended + ".tmp":                           true,
		"dist/tiny.bundle.js.tmp":                                 true,
		"src/tiny.bundle.js." + ended + ".tmp":                    true,
	}
	dir := builtProject(t, changed)
	for name := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("half"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if o := start(dir, "build", "--check"); o.code != exitFindings {
		t.Errorf("check: exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	for name := range files {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			t.Errorf("a build that only checks took %s away", name)
		}
	}
	if o := start(dir, "build"); o.code != exitClean {
		t.Errorf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	for name, stays := range files {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); errors.Is(err, fs.ErrNotExist) == stays {
			t.Errorf("%s: %v, stays %v", name, err, stays)
		}
	}
}

func TestBadOutput_twoBuildsAtOnce(t *testing.T) {
	alone := builtProject(t, changed)
	if o := start(alone, "build"); o.code != exitClean {
		t.Fatalf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	want := mustBuilt(t, alone)
	for range 3 {
		dir := builtProject(t, changed)
		second := make(chan ended)
		go func() { second <- start(dir, "build") }()
		for _, o := range []ended{start(dir, "build"), <-second} {
			if o.code != exitClean {
				t.Errorf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
			}
			holds(t, dir, o)
		}
		if diff := cmp.Diff(want, mustBuilt(t, dir)); diff != "" {
			t.Errorf("two builds differ from one (-one +two):\n%s", diff)
		}
	}
}

// TestBadCache_costsTimeAndNothingElse damages a cache that is full in every way that
// a disk, another program or another version may.
func TestBadCache_costsTimeAndNothingElse(t *testing.T) {
	want, err := soundBuild()
	if err != nil {
		t.Fatal(err)
	}
	dir, full, foreign := newProject(t, soundFiles()), filepath.Join(t.TempDir(), "full"), filepath.Join(t.TempDir(), "foreign")
	raw, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other") // the size and the time of a program tell its build
	if err := errors.Join(os.WriteFile(other, raw, 0o755), os.Chtimes(other, time.Time{}, time.Unix(1e9, 0))); err != nil {
		t.Fatal(err)
	}
	for program, cache := range map[string]string{binary: full, other: foreign} {
		cmd := exec.Command(program, "build", "--cache-dir", cache)
		cmd.Dir = dir
		if o := finish(cmd); o.code != exitClean {
			t.Fatalf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
		}
	}
	var project sync.Mutex
	each := func(damage func(path string, raw []byte) error) func(*testing.T, string) {
		return func(t *testing.T, cache string) {
			t.Helper()
			seen := 0
			err := filepath.WalkDir(cache, func(path string, d fs.DirEntry, err error) error {
				if err != nil || !d.Type().IsRegular() {
					return err
				}
				seen++
				raw, err := os.ReadFile(path)
				return errors.Join(err, damage(path, raw))
			})
			if err != nil || seen < 5 {
				t.Fatalf("%d files: %v", seen, err)
			}
		}
	}
	write := func(path string, raw []byte) error { return os.WriteFile(path, raw, 0o600) }
	tests := map[string]func(t *testing.T, cache string){
		"cut short": each(func(path string, raw []byte) error { return write(path, raw[:len(raw)/2]) }),
		"empty":     each(func(path string, _ []byte) error { return write(path, nil) }),
		"one bit":   each(func(path string, raw []byte) error { raw[len(raw)/2] ^= 1; return write(path, raw) }),
		"noise":     each(func(path string, raw []byte) error { return write(path, []byte(strings.Repeat("noise", 1+len(raw)/5))) }),
		"a folder":  each(func(path string, _ []byte) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) }),
		"a circle":  each(func(path string, _ []byte) error { return errors.Join(os.Remove(path), os.Symlink(path, path)) }),
		"gone":      func(t *testing.T, cache string) { _ = os.RemoveAll(cache) },
		"no folders": func(t *testing.T, cache string) {
			for _, name := range []string{"results", "engine"} {
				path := filepath.Join(cache, name)
				if err := errors.Join(os.RemoveAll(path), write(path, nil)); err != nil {
					t.Fatal(err)
				}
			}
		},
		"of another version": func(t *testing.T, cache string) {
			results := filepath.Join(cache, "results")
			if err := errors.Join(os.RemoveAll(results), os.CopyFS(results, os.DirFS(filepath.Join(foreign, "results")))); err != nil {
				t.Fatal(err)
			}
		},
		"whole": func(*testing.T, string) {},
	}
	for name, damage := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cache := filepath.Join(t.TempDir(), "cache")
			if err := os.CopyFS(cache, os.DirFS(full)); err != nil {
				t.Fatal(err)
			}
			damage(t, cache)
			// Results are kept by project, so each case needs the very folder; a lock keeps
			// the cases from each other.
			project.Lock()
			defer project.Unlock()
			for _, out := range []string{"dist", ".sandbox/proxys"} {
				if err := os.RemoveAll(filepath.Join(dir, filepath.FromSlash(out))); err != nil {
					t.Fatal(err)
				}
			}
			o := startWith(dir, cache, "build")
			if diff := cmp.Diff(want, mustBuilt(t, dir)); o.code != exitClean || diff != "" {
				t.Errorf("exit %d\n%s%s (-want +got):\n%.2000s", o.code, o.stdout, o.stderr, diff)
			}
			holds(t, dir, o)
		})
	}
}
