// Package syntax reads JavaScript and TypeScript texts without running them: the
// values that a policy file spells out, what a file imports and exports, which
// names it takes from the global object, its comments.
//
// It is a facade over the parser and binder of typescript-go (package tsgo/parse,
// the only one it may import from there, so that what only parses never links the
// type checker). Everything it hands out is a plain value with byte spans.
//
// Editors show files that do not parse most of the time, so nothing here fails: a
// half-typed file yields what can be read of it, and the rest as KindMissing.
package syntax

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/microsoft/typescript-go/shim/parse"

	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// Diagnostic is an error that the parser found.
type Diagnostic struct {
	Span    text.Span
	Message string
}

// File is one parsed text. It is immutable and safe for concurrent use; scopes
// are resolved on the first question that needs them.
type File struct {
	Path        string
	Text        string
	Diagnostics []Diagnostic // in order of place

	// tree is a *tree. Its type is hidden because every package that sees the
	// compiler's node types through this one would compile some ten thousand methods
	// of them anew.
	tree any
}

// tree is what is behind a File.
type tree struct {
	*File
	source *parse.SourceFile // nil when the text could not be parsed at all

	once  sync.Once
	index *index
}

func inside(f *File) *tree { return f.tree.(*tree) }

// code returns what a node was read from, or nil if it has no code of its own.
func code(n *Node) *parse.Node {
	c, _ := n.syntax.(*parse.Node)
	return c
}

// Parse reads a text as JavaScript or TypeScript by the path's extension
// (JavaScript when it tells neither). It never fails and never panics: errors,
// the parser's own included, become Diagnostics.
func Parse(name, content string) *File {
	f := &tree{File: &File{Path: name, Text: content}}
	f.tree = f
	if why := TooDeep(name, content); why != "" {
		f.Diagnostics = []Diagnostic{{Span: text.Span{End: len(content)}, Message: why}}
		return f.File
	}
	f.guard("parse", func() {
		// The parser wants a rooted path; only the extension matters to it.
		source := parse.File("/"+path.Base(strings.ReplaceAll(name, "\\", "/")), content)
		for _, d := range parse.Diagnostics(source) {
			f.Diagnostics = append(f.Diagnostics, Diagnostic{Span: f.clamp(d.Pos, d.End), Message: d.Message})
		}
		f.source = source
	})
	slices.SortStableFunc(f.Diagnostics, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Span.Start, b.Span.Start), cmp.Compare(a.Span.End, b.Span.End))
	})
	return f.File
}

// guard runs a step of the compiler's code over a text that nobody vouches for
// and turns its panic into a diagnostic: a defect there must not end a server.
func (f *tree) guard(step string, do func()) {
	defer func() {
		if r := recover(); r != nil {
			f.Diagnostics = append(f.Diagnostics, Diagnostic{
				Span:    text.Span{End: len(f.Text)},
				Message: fmt.Sprintf("the TypeScript parser stopped (%s): %v", step, r),
			})
		}
	}()
	do()
}

// span returns where a node's code stands, without the trivia before it.
func (f *tree) span(n *parse.Node) text.Span { return f.clamp(parse.Start(f.source, n), n.End()) }

func (f *tree) clamp(start, end int) text.Span {
	start = min(max(start, 0), len(f.Text))
	return text.Span{Start: start, End: min(max(end, start), len(f.Text))}
}

// statements returns the file's top-level statements as written: what the parser
// derives from JSDoc comments is left out.
func (f *tree) statements() []*parse.Node {
	if f.source == nil || f.source.Statements == nil {
		return nil
	}
	var out []*parse.Node
	for _, s := range f.source.Statements.Nodes {
		if !parse.IsSynthesized(s) {
			out = append(out, s)
		}
	}
	return out
}

// children calls visit for the node's children in source order, leaving out what
// was derived from JSDoc comments.
func children(n *parse.Node, visit func(*parse.Node)) {
	n.ForEachChild(func(child *parse.Node) bool {
		if !parse.IsSynthesized(child) {
			visit(child)
		}
		return false
	})
}
