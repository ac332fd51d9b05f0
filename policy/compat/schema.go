package compat

import (
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
)

// Auto is the framework and the engine of a library of which the manifest does not
// say otherwise: whichever fits.
const Auto = "auto"

// Frameworks are the test frameworks whose files can be run.
var Frameworks = []string{Auto, "mocha", "jest", "vitest", "node:test", "tape", "qunit", "ava", "assert"}

// Engines are what tests can be run in.
var Engines = []string{Auto, "embedded", "node", "browser"}

// Kinds are the kinds of difference that a sandbox can make to a test.
var Kinds = []string{"identity", "prototype", "internal slot", "symbol", "Intl", "stack text", "timing", "missing capability", "limit"}

// TypeLimitations is the type of the one option that only this file has.
const TypeLimitations policy.Type = "array of limitations"

// LibraryOptions are the options of one library.
var LibraryOptions = []policy.Option{
	{
		Name: "tests", Type: policy.TypeStrings, Required: true, Snippet: "[\"${1:node_modules/package/test/**/*.js}\"]",
		Doc: "The library's test files, as patterns relative to the project root. `*` matches within a folder, `**` across folders, `{a,b}` either. They may lie in `node_modules`.",
	},
	{
		Name: "framework", Type: policy.TypeString, Values: Frameworks, Snippet: choice("1", Frameworks),
		Doc: "The test framework that the files are written for. `\"auto\"` (the default) tells it from what they import and call; `\"assert\"` is for plain scripts that throw.",
	},
	{
		Name: "engine", Type: policy.TypeString, Values: Engines, Snippet: choice("1", Engines),
		Doc: "What the tests run in. `\"embedded\"` needs nothing installed; `\"node\"` and `\"browser\"` run the tests outside of QuickJS and have to be allowed. `\"auto\"` (the default) picks one and says which.",
	},
	{
		Name: "limitations", Type: TypeLimitations, Snippet: "[{ test: \"$1\", kind: " + choice("2", Kinds) + ", reason: \"$3\" }]", Fields: LimitationOptions,
		Doc: "Tests that are expected to fail inside the sandbox only. They are reported as limitations, never as compatible; one that passes is reported as stale.",
	},
}

// LimitationOptions are the options of one limitation.
var LimitationOptions = []policy.Option{
	{Name: "test", Type: policy.TypeString, Required: true, Snippet: "\"$1\"", Doc: "The test's full name, as reports print it, such as `parse > deep objects`."},
	{
		Name: "kind", Type: policy.TypeString, Required: true, Values: Kinds, Snippet: choice("1", Kinds),
		Doc: "What differs inside the sandbox. It groups limitations in reports.",
	},
	{Name: "reason", Type: policy.TypeString, Required: true, Snippet: "\"$1\"", Doc: "Why the test fails inside the sandbox and why that is accepted, for whoever reads the report."},
}

// choice is the snippet of a string that is one of a few.
func choice(stop string, values []string) string {
	return "\"${" + stop + "|" + strings.Join(values, ",") + "|}\""
}
