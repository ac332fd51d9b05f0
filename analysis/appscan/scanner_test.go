package appscan

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sourcegraph/conc"
	"golang.org/x/tools/txtar"

	"github.com/sandbox-lsp/sandbox-lsp/policy/resolve"
)

// project unpacks an archive and returns a project with lodash in its policy.
func project(t testing.TB, files string) Project {
	t.Helper()
	root := t.TempDir()
	unpack(t, root, txtar.Parse([]byte(files)).Files)
	return Project{Root: root, Libraries: []Library{{Name: "lodash"}}}
}

// places returns the imports as file:line specifier, with a mark for those that are
// covered.
func places(p Project, r *Result) []string {
	var out []string
	for _, i := range r.Imports {
		rel, err := filepath.Rel(p.Root, i.File)
		if err != nil {
			rel = i.File
		}
		s := fmt.Sprintf("%s:%d %s", filepath.ToSlash(rel), i.Range.Start.Line+1, i.Specifier)
		if i.Covered {
			s += " covered"
		}
		out = append(out, s)
	}
	return out
}

func expect(t testing.TB, p Project, r *Result, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, places(p, r)); diff != "" {
		t.Errorf("imports (-want +got):\n%s", diff)
	}
}

func TestScan_readsOpenDocumentsInPlaceOfFiles(t *testing.T) {
	t.Parallel()
	p := project(t, "-- a.js --\nimport \"lodash/fp\";\n-- b.js --\n-- c/x.js --\nimport \"lodash\";\n")
	p.Overlay = map[string]string{
		filepath.Join(p.Root, "a.js"):               "// nothing now",
		filepath.Join(p.Root, "b.js"):               "\nimport \"lodash/get\";",
		filepath.Join(p.Root, "c", "new.ts"):        "export * from \"lodash\"",
		filepath.Join(p.Root, "c", "notes.txt"):     "import \"lodash\"",
		filepath.Join(p.Root, "dist", "built.js"):   "import \"lodash\"",
		filepath.Join(p.Root, "..", "elsewhere.js"): "import \"lodash\"",
	}
	s := NewScanner(Options{})
	expect(t, p, scanned(t, s, p), "b.js:2 lodash/get", "c/new.ts:1 lodash covered", "c/x.js:1 lodash covered")

	if again := scanned(t, s, p); again.Parsed != 0 {
		t.Errorf("%d open documents were parsed though nothing changed", again.Parsed)
	}
	p.Overlay[filepath.Join(p.Root, "b.js")] = "import \"lodash\";"
	p.Overlay[filepath.Join(p.Root, ".gitignore")] = "/c"
	again := scanned(t, s, p)
	expect(t, p, again, "b.js:1 lodash covered")
	if again.Parsed != 1 {
		t.Errorf("%d files were parsed for one change", again.Parsed)
	}
	p.Overlay = nil
	expect(t, p, scanned(t, s, p), "a.js:1 lodash/fp", "c/x.js:1 lodash covered")
}

func TestScan_parsesOnlyWhatChangedAndMayMatter(t *testing.T) {
	t.Parallel()
	p := project(t, "-- a.js --\nimport \"lodash\";\n-- b.js --\nimport \"lodash\";\n-- c.js --\nimport \"other\";\n-- d.js --\n// lodash, in a comment\n")
	s := NewScanner(Options{})
	steps := []struct {
		name   string
		change func()
		parsed int
	}{
		{"the first time", func() {}, 2},
		{"nothing changed", func() {}, 0},
		{"one file changed", func() { write(t, filepath.Join(p.Root, "a.js"), "import \"lodash/fp\";\n") }, 1},
		{"one file has another time", func() { age(t, filepath.Join(p.Root, "b.js"), time.Minute) }, 1},
		{"a file that does not matter changed", func() { write(t, filepath.Join(p.Root, "c.js"), "import \"others\";\n") }, 0},
		{"a file came", func() { write(t, filepath.Join(p.Root, "e.js"), "import \"lodash\";\n") }, 1},
		{"a file went", func() { _ = os.Remove(filepath.Join(p.Root, "e.js")) }, 0},
		{"a library came", func() { p.Libraries = append(p.Libraries, Library{Name: "others"}) }, 1},
		{"a library went", func() { p.Libraries = p.Libraries[:1] }, 0},
	}
	for _, step := range steps {
		step.change()
		if got := scanned(t, s, p).Parsed; got != step.parsed {
			t.Errorf("%s: %d files were parsed, not %d", step.name, got, step.parsed)
		}
	}
	expect(t, p, scanned(t, s, p), "a.js:1 lodash/fp", "b.js:1 lodash covered")
}

// TestScan_doesNotTrustFreshTimes: a file may change twice within the grain of the
// clock and look the same.
func TestScan_doesNotTrustFreshTimes(t *testing.T) {
	t.Parallel()
	p := project(t, "-- a.js --\nimport \"lodash/aa\";\n")
	file := filepath.Join(p.Root, "a.js")
	now := time.Now()
	set := func(content string) {
		write(t, file, content)
		if err := os.Chtimes(file, now, now); err != nil {
			t.Fatal(err)
		}
	}
	set("import \"lodash/aa\";\n")
	s := NewScanner(Options{})
	expect(t, p, scanned(t, s, p), "a.js:1 lodash/aa")
	set("import \"lodash/bb\";\n")
	expect(t, p, scanned(t, s, p), "a.js:1 lodash/bb")
}

func TestScan_doesNotFollowLinks(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	write(t, filepath.Join(outside, "secret.js"), "import \"lodash/fp\";\n")
	p := project(t, "-- src/a.js --\nimport \"lodash\";\n")
	for name, target := range map[string]string{
		"loop": p.Root, "src/up": "..", "src/self": "self", "out": outside, "src/file.js": filepath.Join(outside, "secret.js"), "twice.js": "src/a.js",
	} {
		if err := os.Symlink(target, filepath.Join(p.Root, filepath.FromSlash(name))); err != nil {
			t.Fatal(err)
		}
	}
	result := scanned(t, NewScanner(Options{}), p)
	expect(t, p, result, "src/a.js:1 lodash covered")
	if result.Files != 1 {
		t.Errorf("%d files were looked at", result.Files)
	}
}

func TestScan_acceptsARootThatIsALink(t *testing.T) {
	t.Parallel()
	p := project(t, "-- src/a.js --\nimport \"lodash\";\nimport \"../charts/index.js\";\n-- charts/package.json --\n{\"name\":\"charts\",\"version\":\"1.0.0\"}\n-- charts/index.js --\nimport \"lodash/fp\";\n")
	link := filepath.Join(t.TempDir(), "project")
	if err := os.Symlink(p.Root, link); err != nil {
		t.Fatal(err)
	}
	real, err := filepath.EvalSymlinks(filepath.Join(p.Root, "charts"))
	if err != nil {
		t.Fatal(err)
	}
	// A package of the workspace: its files are its own, and a path to them is a way
	// past the redirect.
	p.Libraries = append(p.Libraries, Library{Name: "@own/charts", Package: resolve.Package{Name: "@own/charts", Version: "1.0.0", Dir: real}})
	for _, root := range []string{p.Root, link} {
		p.Root = root
		result := scanned(t, NewScanner(Options{}), p)
		expect(t, p, result, "src/a.js:1 lodash covered", "src/a.js:2 ../charts/index.js")
		if i := result.Imports[1]; i.Library != "@own/charts" || i.Escape != FilePath {
			t.Errorf("the path leads to %q, escape %d", i.Library, i.Escape)
		}
	}
}

func TestScan_leavesOutWhatIsTooLarge(t *testing.T) {
	t.Parallel()
	p := project(t, "-- a.js --\nimport \"lodash\";\n")
	write(t, filepath.Join(p.Root, "large.js"), "import \"lodash\";\n"+strings.Repeat(" ", maxBytes))
	var log strings.Builder
	s := NewScanner(Options{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	expect(t, p, scanned(t, s, p), "a.js:1 lodash covered")
	if !strings.Contains(log.String(), "large.js") {
		t.Errorf("nothing was said of it: %s", log.String())
	}
}

func TestScan_saysWhenThereAreTooManyFiles(t *testing.T) {
	t.Parallel()
	p := project(t, "-- a.js --\nimport \"lodash\";\n-- b.js --\nimport \"lodash\";\n-- c/d.js --\nimport \"lodash\";\n")
	result := scanned(t, NewScanner(Options{files: 2}), p)
	if !result.Truncated || result.Files != 2 {
		t.Errorf("%d files, truncated %v", result.Files, result.Truncated)
	}
	if result := scanned(t, NewScanner(Options{files: 3}), p); result.Truncated || result.Files != 3 {
		t.Errorf("%d files, truncated %v", result.Files, result.Truncated)
	}
}

// canceller cancels a context at the first thing that is logged.
type canceller struct {
	slog.Handler
	cancel context.CancelFunc
}

func (c canceller) Enabled(context.Context, slog.Level) bool { return true }

func (c canceller) Handle(context.Context, slog.Record) error {
	c.cancel()
	return nil
}

func TestScan_stopsWhenItIsCancelled(t *testing.T) {
	t.Parallel()
	p := project(t, "-- a.js --\nimport \"lodash\";\n-- b/c/d.js --\nimport \"lodash\";\n")
	// The walk says that it leaves this file out, which is where it is cancelled.
	write(t, filepath.Join(p.Root, "b", "large.js"), strings.Repeat(" ", maxBytes+1))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := NewScanner(Options{Logger: slog.New(canceller{slog.DiscardHandler, cancel})})
	if result, err := s.Scan(ctx, p); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", result, err)
	}
	if _, err := s.Unsandboxed(ctx, p); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	expect(t, p, scanned(t, s, p), "a.js:1 lodash covered", "b/c/d.js:1 lodash covered")
}

func TestScan_failsWithoutARoot(t *testing.T) {
	t.Parallel()
	p := Project{Root: filepath.Join(t.TempDir(), "gone")}
	if _, err := NewScanner(Options{}).Scan(t.Context(), p); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestScan_servesManyAtATime(t *testing.T) {
	t.Parallel()
	var files strings.Builder
	for i := range 50 {
		fmt.Fprintf(&files, "-- d%d/f%d.js --\nimport \"lodash\";\n", i%7, i)
	}
	p := project(t, files.String())
	s := NewScanner(Options{Jobs: 4})
	results := make([][]string, 8)
	var work conc.WaitGroup
	for i := range results {
		work.Go(func() {
			mine := p
			mine.Overlay = map[string]string{filepath.Join(p.Root, "d0", "f0.js"): fmt.Sprintf("import \"lodash/%d\";", i)}
			for range 3 {
				result, err := s.Scan(t.Context(), mine)
				if err != nil {
					t.Error(err)
					return
				}
				results[i] = places(mine, result)
			}
		})
	}
	work.Wait()
	for i, got := range results {
		if len(got) != 50 || got[0] != fmt.Sprintf("d0/f0.js:1 lodash/%d", i) || !slices.IsSorted(got) {
			t.Errorf("scan %d found %v", i, got)
		}
	}
}

func TestUnsandboxed_countsTheFilesThatUseADependency(t *testing.T) {
	t.Parallel()
	p := project(t, `-- package.json --
{"dependencies":{"lodash":"4","react":"18","@scope/used":"1","unused":"1","typed":"1","gone":"1","inner":"1"},"devDependencies":{"vitest":"1"}}
-- node_modules/react/package.json --
{"name":"react","version":"18.2.0"}
-- node_modules/@scope/used/package.json --
{"name":"@scope/used","version":"1.2.3"}
-- a.jsx --
import React from "react"; import { x } from "react/jsx-runtime"; import "lodash/fp"; import "vitest"; import "./unused";
-- b.js --
const a = require("react"); export * from "@scope/used/deep"; import("gone");
-- c.ts --
import type { T } from "typed"; import "reactive"; import "node:fs";
-- work.js --
import "inner";
`)
	p.Libraries[0].Workloads = []Workload{{Name: "work", Entry: filepath.Join(p.Root, "work.js")}}
	s := NewScanner(Options{})
	for range 2 {
		got, err := s.Unsandboxed(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		want := []Dependency{
			{"@scope/used", "1.2.3", 1, []string{"@scope/used/deep"}},
			{"gone", "", 1, []string{"gone"}},
			{"react", "18.2.0", 2, []string{"react", "react/jsx-runtime"}},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		expect(t, p, scanned(t, s, p), "a.jsx:1 lodash/fp")
	}
}

// TestScan_takesALibraryForCodeWhateverItsName: an extension says something of a
// file, not of a package.
func TestScan_takesALibraryForCodeWhateverItsName(t *testing.T) {
	t.Parallel()
	p := project(t, "-- a.js --\nimport \"highlight.css\";\nimport \"highlight.css/theme.css\";\nimport \"highlight.css/theme\";\n")
	p.Libraries = []Library{{Name: "highlight.css"}}
	expect(t, p, scanned(t, NewScanner(Options{}), p), "a.js:1 highlight.css covered", "a.js:3 highlight.css/theme")
}

func TestScan_namesTheFilesThatMaySuppress(t *testing.T) {
	t.Parallel()
	const comment = "// sandbox-lsp-ignore SBX031 -- why\n"
	p := project(t, "-- b.vue --\n<script>\n"+comment+"</script>\n-- a.js --\n"+comment+"import \"lodash/fp\";\n-- c.js --\nimport \"lodash/fp\";\n-- inside.js --\n"+comment+"-- dist/d.js --\n"+comment)
	p.Libraries[0].Workloads = []Workload{{Name: "w", Entry: filepath.Join(p.Root, "inside.js")}}
	p.Overlay = map[string]string{filepath.Join(p.Root, "open.ts"): comment}
	s := NewScanner(Options{})
	want := []string{"a.js", "b.vue", "inside.js", "open.ts"}
	for range 2 { // read, and remembered
		got := scanned(t, s, p).Suppressing
		for i, file := range got {
			got[i], _ = filepath.Rel(p.Root, file)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
