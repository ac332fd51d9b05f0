// Package compat reads the compatibility manifest, .sandbox/compat.config.js: which
// tests of a library are run inside and outside of its sandbox, and which failures
// inside are expected.
//
// Reading follows the policy's rules: the syntax tree first, evaluation by the same
// Evaluator for what the tree leaves open, and never the user's Node. What is wrong
// with a manifest is SBX047.
package compat

import (
	"context"
	"fmt"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// ConfigFile is where a new manifest is written, below the project root and
// slash-separated.
const ConfigFile = policy.Folder + "/compat.config.js"

// ConfigFiles are the paths below the project root that a manifest may have. A
// project need not have one; of several the first is read (see policy.ChooseFile).
var ConfigFiles = policy.FileNames("compat.config")

// Manifest is what one manifest says.
type Manifest struct {
	File      string // absolute
	Mapper    *text.Mapper
	Syntax    *syntax.File
	Libraries []Library
	// Findings are those that the manifest alone gives, in order; Check has the others.
	Findings []finding.Finding
	Export   text.Span // of the exported value, or empty when there is none
	// Complete says that every value is known; see policy.Policy.
	Complete bool

	name string // of the file in findings
}

// Library is how one library is tested.
type Library struct {
	Name    string // the package request, as in the policy
	KeySpan text.Span
	Span    text.Span // the whole property
	Tests   []Glob
	// Framework is one of Frameworks and Engine one of Engines, "auto" when the manifest
	// does not say.
	Framework   string
	Engine      string
	Limitations []Limitation
}

// Glob is a pattern of test files, slash-separated and relative to the project root.
type Glob struct {
	Text string
	Span text.Span
}

// Limitation is a test that is expected to fail inside the sandbox only.
type Limitation struct {
	Test     string // the test's full name
	TestSpan text.Span
	Kind     string // one of Kinds, "" when the manifest does not say
	Reason   string
	Span     text.Span // the whole entry
}

// Library returns what the manifest says of a library, if anything.
func (m *Manifest) Library(name string) (Library, bool) {
	for _, l := range m.Libraries {
		if l.Name == name {
			return l, true
		}
	}
	return Library{}, false
}

var dialect = policy.Dialect{
	Noun: "compatibility manifest", Example: `export default { "lodash": { tests: ["test/lodash/*.js"] } }`,
	Unreadable: finding.BadCompatManifest, NotAnObject: finding.BadCompatManifest, BadOption: finding.BadCompatManifest,
}

// Read reads a manifest. It always returns one: what cannot be read is a finding.
//
// With a nil Evaluator only the tree is read, and Manifest.Complete is false when
// that is not all. The only error is the context's.
func Read(ctx context.Context, source policy.Source, evaluator policy.Evaluator) (*Manifest, error) {
	module, err := policy.Load(ctx, source, evaluator, dialect)
	if err != nil {
		return nil, err
	}
	r := &reader{Module: module}
	if v, ok := r.Object("package"); ok {
		r.Duplicates(v, "library")
		for _, p := range v.Members() {
			r.readLibrary(p)
		}
	}
	r.Finish()
	return &Manifest{
		File: r.File, Mapper: r.Mapper, Syntax: r.Syntax, Libraries: r.libraries, Findings: r.Findings,
		Export: r.Export, Complete: r.Complete, name: r.Name,
	}, nil
}

// reader takes a manifest apart.
type reader struct {
	*policy.Module
	libraries []Library
}

func (r *reader) readLibrary(p *policy.Prop) {
	r.Library = p.Key
	defer func() { r.Library = "" }()
	v := p.Value
	l := Library{Name: p.Key, KeySpan: p.KeySpan, Span: p.Span, Framework: Auto, Engine: Auto}
	if !r.Expect(v, policy.Object, fmt.Sprintf("What is said of %q", p.Key), `an object, such as { tests: ["test/lodash/*.js"] }`) {
		if v.Kind == policy.Dynamic {
			r.libraries = append(r.libraries, l)
		}
		return
	}
	r.Require(v, LibraryOptions, fmt.Sprintf("%q", p.Key), p.KeySpan)
	if tests := v.Get("tests"); tests != nil {
		l.Tests = r.tests(tests)
	}
	l.Framework = r.Choice(v, LibraryOptions, "framework", l.Framework)
	l.Engine = r.Choice(v, LibraryOptions, "engine", l.Engine)
	if limitations := v.Get("limitations"); limitations != nil {
		l.Limitations = r.limitations(limitations)
	}
	r.libraries = append(r.libraries, l)
}

// tests reads the patterns, and reports those that can match nothing.
func (r *reader) tests(v *policy.Value) []Glob {
	names := r.Strings(v, "tests", `["node_modules/qs/test/*.js"]`)
	if names != nil && len(v.Elems) == 0 && !v.Open {
		r.Add(finding.BadCompatManifest, finding.Error, v.Span, "tests is empty, so a run would pass without running anything. List the test files, or remove the library from this file.")
	}
	var globs []Glob
	for _, n := range names {
		pattern, why := clean(n.Text)
		if why != "" {
			r.Add(finding.BadCompatManifest, finding.Error, n.Span, "%q is no pattern of test files: %s", n.Text, why)
			continue
		}
		globs = append(globs, Glob{Text: pattern, Span: n.Span})
	}
	return globs
}

func (r *reader) limitations(v *policy.Value) []Limitation {
	if !r.Expect(v, policy.Array, "limitations", "an array of expected failures, such as [{ test: \"parse > deep\", kind: \"limit\", reason: \"needs more memory\" }]") {
		return nil
	}
	var limitations []Limitation
	first := map[string]text.Span{}
	for _, e := range v.Elems {
		if !r.Expect(e, policy.Object, "A limitation", "an object { test, kind, reason }") {
			continue
		}
		r.Require(e, LimitationOptions, "a limitation", e.Span)
		l := Limitation{
			Span:   e.Span,
			Test:   r.Sentence(e, "test", "the full name of a test"),
			Kind:   r.Choice(e, LimitationOptions, "kind", ""),
			Reason: r.Sentence(e, "reason", "a string that says why this fails inside the sandbox"),
		}
		if l.Test == "" {
			continue
		}
		l.TestSpan = e.Get("test").Span
		if at, again := first[l.Test]; again {
			f := r.Add(finding.BadCompatManifest, finding.Error, l.TestSpan, "%q is listed as a limitation twice, and only the first entry counts. Remove one of the two.", l.Test)
			r.Relate(f, at, "first listed here")
			continue
		}
		first[l.Test] = l.TestSpan
		limitations = append(limitations, l)
	}
	return limitations
}

// Options returns the table of options at a path of keys from the exported object
// down; array elements add nothing to the path. It is nil where keys are free, as the
// packages are, or nothing is known.
func Options(path []string) []policy.Option {
	switch {
	case len(path) == 1:
		return LibraryOptions
	case len(path) == 2 && path[1] == "limitations":
		return LimitationOptions
	}
	return nil
}
