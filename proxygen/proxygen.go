// Package proxygen generates the modules that stand in for sandboxed libraries: it
// reads a library's declarations into a model of its exports (Declarations), lays
// what the loaded library really exports over it, and writes the proxy, the types
// beside it and a source map that leads from each export to its declaration
// (Generate, GenerateWorkload).
//
// Generating is pure: the same input gives the same bytes. It writes no file.
package proxygen

import (
	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// Kind says what an export is, as far as its declaration tells.
type Kind string

// The kinds of exports.
const (
	KindFunction  Kind = "function"
	KindClass     Kind = "class"
	KindCallable  Kind = "callable"  // a function that has properties, or both function and class
	KindNamespace Kind = "namespace" // a module or namespace object
	KindValue     Kind = "value"     // anything else that exists at run time
	KindType      Kind = "type"      // gone at run time
)

// Model is what the declarations of one request say.
type Model struct {
	Request string
	// Entry is the absolute path of the declaration file, or "" when there is none.
	Entry string
	// Specifier is how a file of the project reaches the declarations: the request,
	// or "" when TypeScript does not find them by that name, and they are imported by
	// path.
	Specifier string
	// ExportAssign says that the declarations use `export =`.
	ExportAssign bool
	Exports      []Export // sorted by name
	// Files are the absolute paths of every file that the model was read from,
	// package.json files included, sorted. They are what a cache key must cover.
	Files []string
}

// Export is one declared export.
type Export struct {
	Name string // "default" included
	Kind Kind
	// Property says that the export is a property of the value given to `export =`,
	// not a declaration of a module or namespace. It carries no types.
	Property bool
	File     string // absolute; "" for what the compiler derives
	Range    text.Range
	Doc      string // the documentation comment, without its frame
}

// RuntimeExports is what the loaded library exports.
type RuntimeExports struct {
	// Type is what the exported value itself is: "function", "class", "object" or
	// another typeof.
	Type string
	// ESModule says that the value is the namespace of an ES module, or of one that
	// was compiled to CommonJS: its default export is the property of that name.
	ESModule bool
	Names    []RuntimeExport
}

// RuntimeExport is one property of the exported value.
type RuntimeExport struct {
	Name string
	Type string // "function", "class", "object" or another typeof
}

// Asset says where a proxy finds a bundle.
type Asset struct {
	Path string // relative to the proxy, slash-separated
	URL  string // for browsers
	// SHA256 is the hash of the only bytes that the proxy takes, in hexadecimal; "" takes
	// any.
	SHA256 string
	// Bytecode is the hash of the bytecode that stands beside it; "" says that there is
	// none.
	Bytecode string
}

// Library is what the proxy of one request is generated from.
type Library struct {
	Request string
	// Dir is the absolute folder that the proxy will be written to. It serves to
	// write paths of declarations relative to it.
	Dir string
	// Model is nil or has no Entry when there are no declarations.
	Model *Model
	// Runtime is nil when the library could not be loaded.
	Runtime *RuntimeExports
	// CommonJS says that the library's entry is a CommonJS module, so that its exports
	// as a whole are the default export although no declaration says so. Runtime, where
	// it is known, decides by what the value is.
	CommonJS bool
	// Root is the request of the library that it is a subpath of, whose sandbox it
	// shares; "" for the library itself. What configures a sandbox is Root's then.
	Root string
	// Broken makes the proxy one that throws, whatever else is known.
	Broken bool

	Permissions []policy.Permission
	Limits      policy.Limits
	Arguments   string // "" leaves the runtime's default, as for the next two
	Results     string
	Reads       string
	Snapshot    bool
	// Marshallers is the module that has them, relative to the proxy; "" for none.
	Marshallers string
	// Engine is the hash of the engine that the library was built for, as in Asset.
	Engine string
	// Bundle defaults to dist/<file name>.bundle.js in the project root, two levels
	// above the proxy.
	Bundle Asset
}

// Workload is what the proxy of one workload is generated from.
type Workload struct {
	Library string // the library's request
	Name    string
	Exports []string // the functions that the policy names
	// Entry is the absolute path of the adapter, and Dir the folder of the proxy; the
	// types are taken from the one, relative to the other.
	Entry  string
	Dir    string
	Bundle Asset // defaults to dist/<file name>.<name>.workload.bundle.js
}

// Output is a generated proxy.
type Output struct {
	JS  []byte
	DTS []byte
	Map []byte // source map, version 3, of JS
}

// hasDeclarations reports whether anything is known from declarations.
func (l Library) hasDeclarations() bool { return l.Model != nil && l.Model.Entry != "" }
