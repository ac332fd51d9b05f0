package lsp

import (
	"context"

	"github.com/sandbox-lsp/sandbox-lsp/analysis"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// Core is what the server needs to know about projects. It must be safe for
// concurrent use, and its methods must not block on anything but files.
type Core interface {
	// Root returns the root of the project that a file lies in, or "" when it lies in
	// none. watched says whether the project's findings may depend on the file, so
	// that a change of it calls for another check.
	Root(path string) (root string, watched bool)
	// Snapshot returns an immutable view of a project: the files on disk, with the
	// texts of open documents by absolute path laid over them. The map is not changed
	// afterwards.
	Snapshot(root string, overlay map[string]string) Snapshot
}

// Snapshot is one immutable view of a project. Positions are in UTF-16, paths are
// absolute, the paths in findings are relative to the root with slashes. Methods return
// soon after their context is cancelled.
type Snapshot interface {
	// Parse returns what the texts alone tell, fast enough for every keystroke.
	Parse(ctx context.Context) ([]finding.Finding, error)
	// Check returns everything that there is to say about the project, what Parse
	// returns included.
	Check(ctx context.Context, progress analysis.Progress) ([]finding.Finding, error)
	// Build checks the project and writes what it consists of. It returns all
	// findings and one line that says what was done.
	Build(ctx context.Context, progress analysis.Progress) (findings []finding.Finding, summary string, err error)
	// Hover returns what is known about a place, or nil.
	Hover(ctx context.Context, path string, at text.Position) (*analysis.Hover, error)
	// Complete returns the proposals for a place.
	Complete(ctx context.Context, path string, at text.Position) ([]analysis.Completion, error)
	// Symbols returns the named parts of a file.
	Symbols(ctx context.Context, path string) ([]analysis.Symbol, error)
	// Proxy returns the proxy that a build would write for a request now.
	Proxy(ctx context.Context, request string) (analysis.Preview, error)
}
