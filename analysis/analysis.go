// Package analysis turns the state of a workspace into findings, builds and
// previews. It is the one core that the command line and the language server
// share: both call the methods of Session and Snapshot, and neither adds to what
// they say.
//
// A Session lives as long as the process and owns what is expensive: the engine,
// the worker processes, the cache. A Snapshot is one immutable view of one
// project, the files on disk overlaid with what an editor holds; every method of
// it is a function of that view and may be cancelled through its context.
package analysis

import "github.com/sandbox-lsp/sandbox-lsp/policy/text"

// Event is one step of a long operation, for progress displays. Callers receive
// events one at a time and must not block.
type Event struct {
	Library string // the library in work; empty for the project as a whole
	Stage   string // "resolve", "bundle", "load", "declarations", "proxy", …
	Done    int    // libraries finished
	Total   int    // libraries in all
	Cached  bool   // the stage's result came from the cache
}

// Progress receives the events of one operation. A nil Progress is allowed.
type Progress func(Event)

// Hover is what is known about the thing under the cursor.
type Hover struct {
	Markdown string
	Range    text.Range
}

// ItemKind says what a completion item or a symbol is, in terms that any client
// can draw.
type ItemKind int

// The kinds of items and symbols.
const (
	KindLibrary ItemKind = iota + 1
	KindOption
	KindValue
	KindPermission
	KindWorkload
	KindFile
)

// Completion is one proposal at a place in a file.
type Completion struct {
	Label         string
	Kind          ItemKind
	Detail        string
	Documentation string // Markdown
	// NewText replaces Range. When Snippet is set it is in LSP snippet syntax, and
	// Plain is the same text for clients without snippets.
	NewText string
	Plain   string
	Snippet bool
	Range   text.Range
	Sort    string
}

// Symbol is a named part of a policy file.
type Symbol struct {
	Name      string
	Detail    string
	Kind      ItemKind
	Range     text.Range // the whole part
	Selection text.Range // its name
	Children  []Symbol
}

// Preview is a generated file as it would be written now.
type Preview struct {
	Text       string
	LanguageID string
}
