package authority_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax/authority"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata")

// packages are libraries of a fixture, each with a statement that hands out what it
// exports.
var packages = []struct{ name, fixture, entry string }{
	{"d3", "corpus", `export * from "d3"`},
	{"date-fns", "projects/storefront", `export * from "date-fns"`},
	{"dayjs", "projects/storefront", `module.exports = require("dayjs")`},
	{"lodash", "projects/storefront", `module.exports = require("lodash")`},
	{"qs", "projects/storefront", `module.exports = require("qs")`},
	{"uuid", "projects/storefront", `export * from "uuid"`},
	{"zod", "projects/storefront", `export * from "zod"`},
}

// installed bundles a package of a fixture as the product does.
func installed(t testing.TB, fixture, entry string, options api.BuildOptions) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("../../../testdata", fixture))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "node_modules")); err != nil {
		t.Fatalf("the packages of %s are not installed; run `make deps`", fixture)
	}
	options.Bundle, options.Format, options.GlobalName = true, api.FormatIIFE, "__SANDBOXED_LIB__"
	options.Platform, options.Target, options.TsconfigRaw = api.PlatformBrowser, api.ESNext, "{}"
	options.Define = map[string]string{"process.env.NODE_ENV": `"production"`}
	options.LogLevel = api.LogLevelSilent
	options.AbsWorkingDir = root
	options.Stdin = &api.StdinOptions{Contents: entry, ResolveDir: root}
	out := api.Build(options)
	if len(out.Errors) > 0 {
		t.Fatalf("esbuild: %s", out.Errors[0].Text)
	}
	// What comes from ES modules stays strict code.
	if strings.HasPrefix(entry, "export") {
		return "\"use strict\"; " + string(out.OutputFiles[0].Contents)
	}
	return string(out.OutputFiles[0].Contents)
}

// summary prints what is found, once for each way in which a path is used.
func summary(r authority.Result) string {
	lines := map[string]bool{}
	flags := func(guarded, loading bool) string {
		s := ""
		if guarded {
			s += ", guarded"
		}
		if loading {
			s += ", loading"
		}
		return s
	}
	for _, u := range r.Uses {
		if !slices.Contains(language, u.Name) {
			lines[fmt.Sprintf("%s%s %s%s", perhaps(u.Doubt), u.Kind, u.Path, flags(u.Guarded, u.Loading))] = true
		}
	}
	for _, u := range r.Unknowns {
		lines[fmt.Sprintf("%sunknown %s %s: %s%s", perhaps(u.Doubt), u.Reason, u.Kind, u.Detail, flags(false, u.Loading))] = true
	}
	for _, name := range r.Defines {
		lines["defines "+name] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(lines)), "\n") + "\n"
}

func TestInfer_readsRealPackages(t *testing.T) {
	t.Parallel()
	for _, p := range packages {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			r := authority.Infer(syntax.Parse("a.js", installed(t, p.fixture, p.entry, api.BuildOptions{})))
			got := summary(r)
			golden := filepath.Join("testdata", "packages", p.name+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			// Minification changes the code that is shown, and nothing else.
			minified := authority.Infer(syntax.Parse("a.js", installed(t, p.fixture, p.entry, minified)))
			if diff := cmp.Diff(verdict(r), verdict(minified)); diff != "" {
				t.Errorf("as written and minified\n%s", diff)
			}
		})
	}
}

// BenchmarkInfer measures the inference alone, on a file that is parsed and whose
// scopes are resolved.
func BenchmarkInfer(b *testing.B) {
	for _, p := range packages {
		b.Run(p.name, func(b *testing.B) {
			source := installed(b, p.fixture, p.entry, api.BuildOptions{})
			file := syntax.Parse("a.js", source)
			syntax.TreeOf(file)
			for b.Loop() {
				authority.Infer(file)
			}
			b.ReportMetric(float64(len(source))/1000, "kB")
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/op")
		})
	}
}
