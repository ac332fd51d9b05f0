// Package policy reads what the policy files of a project say, with the place of
// every value, and says what is wrong with them.
//
// A policy is a JavaScript module. It is never run by the user's Node: the syntax
// tree is read first, which works on half-typed files too, and only what the tree
// does not tell is evaluated, by an Evaluator that grants no host capability.
package policy

import (
	"context"
	"path/filepath"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// Folder is the folder that marks a project root and holds its policy files.
const Folder = ".sandbox"

// ConfigFile is where a new policy is written, below the project root and
// slash-separated. ConfigFiles has every name that an existing one may have.
const ConfigFile = Folder + "/sandbox.config.js"

// RuntimePackage is the npm package that exports defineConfig, which gives its
// argument back.
const RuntimePackage = "@sandbox-lsp/runtime"

// Policy is what one policy file says.
type Policy struct {
	File      string // absolute
	Mapper    *text.Mapper
	Syntax    *syntax.File // the file's tree
	Libraries []Library
	Findings  []finding.Finding
	// Export is the range of the exported value, or empty when there is none.
	Export text.Span
	// Complete says that every value is known: the tree told all, or the evaluation
	// succeeded. What is absent from an incomplete policy may be there all the same.
	Complete bool
}

// Library is the policy of one library.
type Library struct {
	Name    string // the package request
	KeySpan text.Span
	Span    text.Span // the whole property
	Value   text.Span // the object with the options

	// Permissions is nil when the option is missing or not readable.
	Permissions []Permission
	// Repeated are grants that do not count, since Permissions has their names already.
	Repeated []Permission
	// Unsure says that the library may be granted more than Permissions: the option,
	// or a part of it, is computed and was not evaluated.
	Unsure          bool
	PermissionsSpan text.Span
	Workloads       []Workload
	Limits          Limits
	LimitSpans      map[string]text.Span // of the limits' values, by option name
	Arguments       string               // "membrane" or "data"
	Results         string               // "mirror" or "live"
	Reads           string               // "window" or "exact"
	Subpaths        bool
	Snapshot        bool
}

// Permission is one granted host global.
type Permission struct {
	Name string
	Span text.Span
	// Allow narrows the capability; nil grants all of it.
	Allow []string
	// AllowSpan is the list of rules, empty when allow is no list; AllowSpans are the
	// rules' own places, one for each of Allow.
	AllowSpan  text.Span
	AllowSpans []text.Span
	// Reason says why the library needs the capability, and Owner who answers for
	// that; both are free text, "" when the policy does not say.
	Reason, Owner string
	// Expires is the last day on which the grant is valid; zero for no end.
	Expires     Date
	ExpiresSpan text.Span
}

// PermissionNames returns the names of the granted globals in the policy's order.
func (l Library) PermissionNames() []string {
	names := make([]string, len(l.Permissions))
	for i, p := range l.Permissions {
		names[i] = p.Name
	}
	return names
}

// Workload is an adapter that runs inside its library's sandbox.
type Workload struct {
	Name      string
	KeySpan   text.Span
	Span      text.Span
	Entry     string // relative to the project root, slash-separated; "" when unreadable
	EntrySpan text.Span
	Exports   []Name
	// ExportsSpan is the array of exports, or the workload's name without one.
	ExportsSpan text.Span
}

// Name is a string with its place.
type Name struct {
	Text string
	Span text.Span
}

// Limits are a library's quotas; 0 means that the policy does not say.
type Limits struct {
	MemoryMB  int `json:"memoryMB,omitempty"`
	TimeoutMs int `json:"timeoutMs,omitempty"`
	StackKB   int `json:"stackKB,omitempty"`
	BundleKB  int `json:"bundleKB,omitempty"`
}

// Library returns the policy of a library, if it has one.
func (p *Policy) Library(name string) (Library, bool) {
	for _, l := range p.Libraries {
		if l.Name == name {
			return l, true
		}
	}
	return Library{}, false
}

// Source says which policy to read.
type Source struct {
	Root string // the project root, absolute
	File string // absolute
	Text string
	// Overlay holds the texts of open documents by absolute path, for the helpers
	// that a policy imports.
	Overlay map[string]string
	// Ignored names other files that could have been the policy, below the root and
	// slash-separated. A finding says that they are not read.
	Ignored []string
	// Today is the day against which grants expire. The zero Date reports none as
	// expired.
	Today Date
}

// Relative returns a path as findings name it: slash-separated and relative to the
// root, with ../ where it lies outside, as the packages of a workspace do. So it is the
// same on every machine, wherever the checkout is. Only a path that has no way from the
// root, since it is on another drive or no absolute path, is returned as it is.
func Relative(root, file string) string {
	rel, err := filepath.Rel(root, file)
	if err != nil {
		return filepath.ToSlash(file)
	}
	if name := filepath.ToSlash(rel); !Outside(name) {
		return name
	}
	// Packages are found where they really are, and the root may stand behind a link.
	if real, err := filepath.EvalSymlinks(root); err == nil && real != root {
		if below, err := filepath.Rel(real, file); err == nil && filepath.IsLocal(below) {
			rel = below
		}
	}
	return filepath.ToSlash(rel)
}

// Outside reports whether a name of a file, as Relative makes them, leads out of the
// project root. Such files may be read and shown, and are never written.
func Outside(name string) bool { return !filepath.IsLocal(filepath.FromSlash(name)) }

// Evaluator runs a policy module without any host capability, under a memory
// limit and a time limit that stops native loops too.
type Evaluator interface {
	// Evaluate returns the module's exported value: the default export, or
	// module.exports. Failures of the module are an *EvaluationError; any other error
	// is the evaluator's own.
	Evaluate(ctx context.Context, source Source) (*Value, error)
}

// EvaluationError is a policy module that could not be evaluated.
type EvaluationError struct {
	Message string
	Stack   string // the guest stack, mapped to the files that a person wrote; "" when there is none
	File    string // absolute; "" when the place is not known
	Line    int    // from 1
	Column  int    // from 1, in bytes
	Length  int    // in bytes; 0 when not known
}

func (e *EvaluationError) Error() string { return e.Message }
