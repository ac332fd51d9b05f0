// Package appscan finds where a project's own code reaches a sandboxed library:
// which of its imports the redirect takes to the proxy, which run the library past
// its sandbox, and which would mean another version of it by Node's rules.
//
// It reads the sources below a project root as text and syntax tree, never runs
// them, and resolves nothing that it does not have to. What a bundler's
// configuration does to requests (aliases in vite.config.js, loaders) is out of its
// sight, and so is a name that the source spells with escapes or puts together from
// pieces.
package appscan

import (
	"path/filepath"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/resolve"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// Bounds on what one scan reads.
const (
	// maxFiles is far above the largest repositories that one front end is built from.
	maxFiles = 200_000
	// maxBytes leaves out bundles and data; people do not write files this long.
	maxBytes = 2 << 20
)

// The prefixes of the requests that exist only because of the policy.
const (
	workloadPrefix = "sandbox-workload/"
	realPrefix     = "sandbox-real/"
)

// Project says what to scan, and for which libraries.
type Project struct {
	Root string // the folder that holds .sandbox, absolute
	// Overlay holds the texts of open documents by absolute path; it must not change
	// while a scan runs.
	Overlay   map[string]string
	Libraries []Library
}

// Library is what the redirect knows of one library.
type Library struct {
	Name     string // the request, a key of the policy
	Subpaths bool   // the policy has requests below it redirected too
	// Package is what the policy's request resolves to from the root; zero when it
	// does not resolve.
	Package   resolve.Package
	Workloads []Workload
}

// Workload is an adapter that runs inside its library's sandbox.
type Workload struct {
	Name  string
	Entry string // absolute; "" when the policy does not say
}

// ProjectOf returns the project that a policy describes. resolved holds a result for
// each of the policy's libraries, in their order, or is empty.
func ProjectOf(root string, overlay map[string]string, p *policy.Policy, resolved []resolve.Result) Project {
	project := Project{Root: filepath.Clean(root), Overlay: overlay}
	for i, l := range p.Libraries {
		library := Library{Name: l.Name, Subpaths: l.Subpaths}
		if i < len(resolved) && resolved[i].Problem == nil {
			library.Package = resolved[i].Package
		}
		for _, w := range l.Workloads {
			workload := Workload{Name: w.Name}
			if w.Entry != "" {
				workload.Entry = filepath.Join(project.Root, filepath.FromSlash(w.Entry))
			}
			library.Workloads = append(library.Workloads, workload)
		}
		project.Libraries = append(project.Libraries, library)
	}
	return project
}

// Import is one place where application code reaches a sandboxed library, or names
// something that only the policy gives a meaning to.
type Import struct {
	File      string     // absolute
	Span      text.Span  // of the specifier, quotes included
	Range     text.Range // the same in UTF-16
	Specifier string     // as written; of a computed one what the text shows
	Form      syntax.Form
	Library   string // the policy's key, "" when the policy has none for it
	Covered   bool   // the redirect takes it to a proxy
	Subpath   bool   // covered, as a request below the library's
	// Escape says why it is not covered.
	Escape Escape
	// Why is Escape in words, or why the form is covered.
	Why string
	// Suggestion is a specifier that was probably meant, or "".
	Suggestion string
	// Here is the package that Node would load from the file's folder, if that is not
	// the one in the sandbox; else nil. Only covered imports have it.
	Here *resolve.Package
}

// Escape is a way past the redirect.
type Escape int

// The ways past the redirect.
const (
	None            Escape = iota
	Subpath                // a request below the library's, which the policy does not redirect
	NoSubpath              // one that the policy redirects and the package does not have
	Computed               // a specifier that is only known at run time
	OtherForm              // a form that bundlers do not resolve, or not as a module
	Decorated              // a loader or a query makes another request of it
	FilePath               // a path to the library's files
	Alias                  // another name that leads to the library
	UnknownWorkload        // sandbox-workload/… that the policy does not have
	InsideOnly             // sandbox-real/…, which exists only inside of workloads
)

// Result is what one scan found.
type Result struct {
	Imports []Import // by file, then by place
	// Suppressing are the files, absolute and in order, that may hold comments which
	// suppress findings.
	Suppressing []string
	Files       int // source files that were looked at
	Parsed      int // files that had to be parsed for this scan
	// Truncated says that the project has more files than are looked at, so that
	// Imports is not all.
	Truncated bool
}
