package harness

import (
	"regexp"
	"slices"
)

// Batch is test files that one realm runs, one after the other.
type Batch struct {
	Framework string
	Files     []string
}

var (
	imported = regexp.MustCompile(`(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)["']([^"'\n]+)["']`)
	ownCalls = []struct {
		pattern   *regexp.Regexp
		framework string
	}{
		{regexp.MustCompile(`\bQUnit\s*\.`), "qunit"},
		{regexp.MustCompile(`\bvi\.\w+\(`), "vitest"},
		{regexp.MustCompile(`\bjest\.\w+\(`), "jest"},
		{regexp.MustCompile(`(?m)^\s*(?:suite|setup)\s*\(`), "mocha"},
	}
	describes = regexp.MustCompile(`(?m)^\s*(?:describe|it|test)(?:\.\w+)*\s*(?:\(|` + "`" + `)`)
	expects   = regexp.MustCompile(`\bexpect\s*\(`)
)

// detect tells the test framework that a file is written for by what it imports, else
// by what it calls; "" when it does neither, as a helper.
func detect(source string) string {
	var requests []string
	for _, m := range imported.FindAllStringSubmatch(source, -1) {
		requests = append(requests, m[1])
	}
	for _, f := range frameworks {
		for _, request := range f.requests {
			if slices.Contains(requests, request) || slices.Contains(requests, "node:"+request) {
				return f.name
			}
		}
	}
	for _, c := range ownCalls {
		if c.pattern.MatchString(source) {
			return c.framework
		}
	}
	if !describes.MatchString(source) {
		return ""
	}
	brings := slices.ContainsFunc(requests, func(r string) bool { return r == "chai" || r == "expect" || r == "expect.js" || r == "unexpected" })
	if expects.MatchString(source) && !brings {
		return "jest"
	}
	return "mocha"
}

// Batches divides test files among realms: those of a framework that runs all in one
// stay together, in their order. With "auto" the framework of each file is told from
// its text; files that tell nothing go with the first that does, and are plain scripts
// where none does.
func Batches(framework string, files []string, read func(file string) string) []Batch {
	names := make([]string, len(files))
	first := "assert"
	for i := len(files) - 1; i >= 0; i-- {
		names[i] = framework
		if framework == "auto" {
			names[i] = detect(read(files[i]))
		}
		if names[i] != "" {
			first = names[i]
		}
	}
	var batches []Batch
	for i, file := range files {
		if names[i] == "" {
			names[i] = first
		}
		f, _ := frameworkOf(names[i])
		at := slices.IndexFunc(batches, func(b Batch) bool { return b.Framework == names[i] && !f.isolated })
		if at < 0 {
			batches = append(batches, Batch{Framework: names[i]})
			at = len(batches) - 1
		}
		batches[at].Files = append(batches[at].Files, file)
	}
	return batches
}
