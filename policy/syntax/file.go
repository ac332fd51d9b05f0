package syntax

import "github.com/sandbox-lsp/sandbox-lsp/policy/text"

// The questions that a File answers. None may be inlined into its callers, which
// would show them the types that File hides.

// Comments returns the file's comments in source order, a hashbang not included.
//
// The parser keeps none. They stand only between tokens, and what may contain the
// look of a comment without being one (strings, templates, regular expressions,
// JSX text) are leaves of the tree; so the gaps between leaves are searched.
//
//go:noinline
func (f *File) Comments() []Comment { return inside(f).comments() }

// Declarative reports whether what Export returns is all that running the file
// would do: every statement declares, imports or exports, nothing is imported
// except from the named packages, whose modules do nothing when they load, and
// module.exports is touched only by the one assignment. Export itself already
// leaves alone every value that other code in the file may change.
//
//go:noinline
func (f *File) Declarative(inert ...string) bool { return inside(f).declarative(inert...) }

// Export returns the value that the file exports, how it does so and where the
// exporting statement stands. Names are followed to their initialisers and
// defineConfig(X) to X, as Resolve does; what cannot be known from the text comes
// back as the node it is, for the caller to evaluate. Without an export the node
// is nil.
//
// ES exports win over CommonJS ones; of several assignments the last wins, as it
// does when the file runs.
//
//go:noinline
func (f *File) Export() (*Node, ExportForm, text.Span) { return inside(f).export() }

// ExportedNames returns the names that the file exports, in source order, and the
// modules whose exports it passes on with `export *`. In CommonJS files these are
// the names set on exports or in the object literal given to module.exports.
//
//go:noinline
func (f *File) ExportedNames() (names []Exported, starFrom []Import) {
	return inside(f).exportedNames()
}

// Imports returns the modules that the file imports by literal specifiers, in source
// order. Calls of a require that the file declares itself do not count.
//
//go:noinline
func (f *File) Imports() []Import { return inside(f).imports() }

// Members returns every access to a property with one of the names, in source
// order: x.name, x?.name and x["name"].
//
//go:noinline
func (f *File) Members(names map[string]bool) []Member { return inside(f).memberAccesses(names) }

// ComputedLoads returns the places where a bundle asks for modules that it does not
// hold because their names are computed. require is the name of the function that the
// bundler put in the place of CommonJS's.
//
//go:noinline
func (f *File) ComputedLoads(require string) []Load { return inside(f).computedLoads(require) }

// Mentions returns every place where the file names another module, in source
// order: what Imports returns, and the forms that reach a module in a roundabout
// way. Expressions that show nothing of their value are left out, and so are calls
// of functions that the file declares itself, unless createRequire made them.
//
//go:noinline
func (f *File) Mentions() []Mention { return inside(f).mentions() }

// Resolve follows a node to the expression that gives it its value, within the
// file: a name to the initialiser of its const or let, a member of an object
// literal to its value, defineConfig(X) to X, and so on through chains.
//
// It is sound rather than complete. A variable that is assigned to anywhere, or
// whose object is changed or handed to code that could change it, is left alone:
// its initialiser is not its value. What cannot be followed is returned as it is.
//
//go:noinline
func (f *File) Resolve(n *Node) *Node { return inside(f).resolve(n) }

// Unresolved returns every use of a name that no declaration of the file binds,
// in source order: what a script takes from the global object, or a module from
// the host. Property names, labels, types and JSDoc do not count.
//
//go:noinline
func (f *File) Unresolved() []Reference { return inside(f).unresolved() }
