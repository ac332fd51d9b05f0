package appscan

import (
	"context"
	"fmt"
	"log/slog"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/conc/iter"

	"github.com/sandbox-lsp/sandbox-lsp/policy/resolve"
	"github.com/sandbox-lsp/sandbox-lsp/policy/suppress"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// settled is how old a file's last change has to be before its time can be relied
// on: within the clock's grain a file may change twice and look the same.
const settled = 2 * time.Second

// Options configure a Scanner.
type Options struct {
	// Jobs is how many files are read at a time; 0 means one per core.
	Jobs   int
	Logger *slog.Logger

	files int // how many files a scan looks at; 0 means maxFiles
}

// Scanner scans projects and remembers what their files say, so that a scan of a
// project that has hardly changed costs little more than walking its folders. It
// belongs to a session and is safe for concurrent use.
type Scanner struct {
	options Options

	mu sync.Mutex
	// known is what the last scan of a root learned of its files. The inner maps are
	// never changed once they are here.
	known map[string]map[string]record
}

// record is what is known of one file.
type record struct {
	source source
	text   string // of an open document
	filter string // the filter that the file did not pass; "" when it was parsed
	// mentions are all that the file names, of a file that was parsed.
	mentions []mention
	// suppresses says that the file may hold suppressions.
	suppresses bool
}

// mention is a mention with its place in UTF-16.
type mention struct {
	syntax.Mention
	where text.Range
}

// NewScanner returns a scanner that knows nothing yet.
func NewScanner(options Options) *Scanner {
	if options.Jobs <= 0 {
		options.Jobs = runtime.GOMAXPROCS(0)
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if options.files <= 0 {
		options.files = maxFiles
	}
	return &Scanner{options: options, known: map[string]map[string]record{}}
}

// Scan returns the imports of a project that have to do with its policy. An error
// means that the context ended or that the root cannot be read.
func (s *Scanner) Scan(ctx context.Context, p Project) (*Result, error) {
	sc, err := s.begin(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("scan %s: %w", p.Root, err)
	}
	real, err := filepath.EvalSymlinks(sc.walker.root)
	if err != nil {
		return nil, fmt.Errorf("scan %s: %w", p.Root, err)
	}
	// The packages of a workspace are found by their real paths.
	j := newJudge(p, real)
	j.aliases = sc.walker.aliases(sc.tree.manifests, j)
	f := newFilter(p.Libraries, j.aliases)
	sc.lasting = f.id
	records, err := sc.read(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("scan %s: %w", p.Root, err)
	}
	v := versions{root: j.root, modules: sc.tree.modules, libraries: j.libraries}
	result := &Result{Files: len(sc.tree.files), Parsed: int(sc.parsed.Load()), Truncated: sc.tree.truncated}
	for i, f := range sc.tree.files {
		if records[i].suppresses {
			result.Suppressing = append(result.Suppressing, sc.walker.abs(f.rel))
		}
		if _, inside := sc.inside[f.rel]; inside {
			continue
		}
		for _, m := range records[i].mentions {
			found, ok := j.mention(f.rel, m.Mention)
			if !ok || found.Form == syntax.FormURL && found.Escape != FilePath && sc.has(path.Join(path.Dir(f.rel), found.Specifier)) {
				continue
			}
			found.File, found.Range = sc.walker.abs(f.rel), m.where
			if found.Covered && !strings.HasPrefix(found.Specifier, workloadPrefix) {
				found.Here = v.other(path.Dir(f.rel), found.Library)
			}
			result.Imports = append(result.Imports, found)
		}
	}
	if result.Imports, err = resolveSubpaths(ctx, real, result.Imports); err != nil {
		return nil, fmt.Errorf("scan %s: %w", p.Root, err)
	}
	return result, nil
}

// resolveSubpaths drops the subpaths that a package maps to a file without code, as in
// "swiper/css", and finds those that it does not have. Only a resolver knows.
func resolveSubpaths(ctx context.Context, root string, imports []Import) ([]Import, error) {
	mapped := func(i Import) bool {
		return i.Subpath || i.Escape == Subpath && !extensions[path.Ext(i.Specifier)] && !strings.HasSuffix(i.Specifier, "/")
	}
	var requests []string
	for _, i := range imports {
		if mapped(i) {
			requests = append(requests, i.Specifier)
		}
	}
	if len(requests) == 0 {
		return imports, nil
	}
	slices.Sort(requests)
	resolved, err := resolve.Packages(ctx, root, slices.Compact(requests))
	if err != nil {
		return nil, err
	}
	data, missing := map[string]bool{}, map[string]bool{}
	for _, r := range resolved {
		data[r.Request], missing[r.Request] = isAsset(r.Entry), r.Problem != nil && r.Problem.Kind == resolve.NoEntry
	}
	for n := range imports {
		if i := &imports[n]; i.Subpath && i.Here == nil && missing[i.Specifier] {
			i.Covered, i.Subpath = false, false
			i.Escape, i.Why = NoSubpath, "the package has no such entry"
		}
	}
	return slices.DeleteFunc(imports, func(i Import) bool { return mapped(i) && data[i.Specifier] }), nil
}

// scan is one scan under way.
type scan struct {
	scanner *Scanner
	walker  *walker
	tree    *tree
	before  map[string]record // immutable
	// inside holds the files that run inside of sandboxes.
	inside map[string]record
	// lasting is the filter of which later scans will ask again; that a file did not
	// pass another one is not kept.
	lasting string
	parsed  atomic.Int64
}

// begin walks the project.
func (s *Scanner) begin(ctx context.Context, p Project) (*scan, error) {
	root := filepath.Clean(p.Root)
	w := &walker{root: root, overlay: p.Overlay, skip: map[string]bool{}, limit: s.options.files, jobs: s.options.Jobs, log: s.options.Logger}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		for _, l := range p.Libraries {
			if rel, err := filepath.Rel(real, l.Package.Dir); err == nil && l.Package.Dir != "" && filepath.IsLocal(rel) && rel != "." {
				w.skip[filepath.ToSlash(rel)] = true
			}
		}
	}
	t, err := w.walk(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	before := s.known[root]
	s.mu.Unlock()
	sc := &scan{scanner: s, walker: w, tree: t, before: before, inside: map[string]record{}}
	sc.enter(p)
	return sc, nil
}

// read returns a record for each of the tree's files, in their order, and keeps them
// for the next scan. A scan that is cancelled keeps what it has learned so far.
func (sc *scan) read(ctx context.Context, f *filter) ([]record, error) {
	records := make([]record, len(sc.tree.files))
	iter.Iterator[source]{MaxGoroutines: sc.scanner.options.Jobs}.ForEachIdx(sc.tree.files, func(i int, src *source) {
		if r, inside := sc.inside[src.rel]; inside {
			records[i] = r
		} else if ctx.Err() == nil {
			records[i] = sc.record(*src, f)
		} else {
			records[i] = sc.before[src.rel]
		}
	})
	sc.keep(records)
	return records, ctx.Err()
}

// keep makes the records the state for later scans of the root.
func (sc *scan) keep(records []record) {
	now := time.Now()
	known := make(map[string]record, len(records))
	for i, r := range records {
		src := sc.tree.files[i]
		if r.filter != "" && r.filter != sc.lasting {
			r = sc.before[src.rel]
		}
		if r.source == src && (src.open || now.Sub(time.Unix(0, src.changed)) > settled) {
			known[src.rel] = r
		}
	}
	sc.scanner.mu.Lock()
	defer sc.scanner.mu.Unlock()
	sc.scanner.known[sc.walker.root] = known
}

// record returns what a file says. Files that the filter rules out are not parsed; a
// nil filter rules out none.
func (sc *scan) record(src source, f *filter) record {
	known, ok := sc.before[src.rel]
	ok = ok && known.source == src && (known.filter == "" || f != nil && known.filter == f.id)
	if ok && !src.open {
		return known
	}
	raw, readable := sc.walker.overlay[sc.walker.abs(src.rel)], true
	if !src.open {
		var content []byte
		content, readable = sc.walker.read(sc.walker.abs(src.rel))
		raw = string(content)
	} else if ok && known.text == raw {
		return known
	}
	r := record{source: src, suppresses: suppress.Mentions(raw)}
	if src.open {
		r.text = raw
	}
	switch {
	case !readable:
		return record{}
	case f != nil && !f.matches(raw):
		r.filter = f.id
		return r
	}
	sc.parsed.Add(1)
	mapper := text.NewMapper(raw)
	for _, m := range Parse(src.rel, raw).Mentions() {
		r.mentions = append(r.mentions, mention{m, mapper.Range(m.Span)})
	}
	return r
}

// enter finds the files that run inside of sandboxes: the workloads' entries and what
// they import by relative paths. A file that the application imports as well counts
// as one of these.
func (sc *scan) enter(p Project) {
	var open []string
	for _, l := range p.Libraries {
		for _, w := range l.Workloads {
			if rel, err := filepath.Rel(sc.walker.root, w.Entry); w.Entry != "" && err == nil {
				open = append(open, filepath.ToSlash(rel))
			}
		}
	}
	if len(open) == 0 {
		return
	}
	files := make(map[string]source, len(sc.tree.files))
	for _, f := range sc.tree.files {
		files[f.rel] = f
	}
	for len(open) > 0 {
		rel := open[0]
		open = open[1:]
		src, ok := files[rel]
		if _, known := sc.inside[rel]; !ok || known {
			continue
		}
		r := sc.record(src, nil)
		sc.inside[rel] = r
		for _, m := range r.mentions {
			if !strings.HasPrefix(m.Specifier, ".") || m.Form == syntax.FormType {
				continue
			}
			for _, candidate := range candidates(path.Join(path.Dir(rel), m.Specifier)) {
				if _, ok := files[candidate]; ok {
					open = append(open, candidate)
					break
				}
			}
		}
	}
}

// candidates are the files that a relative import may mean, the likeliest first.
func candidates(target string) []string {
	out := []string{target}
	for _, pair := range [][2]string{{".js", ".ts"}, {".js", ".tsx"}, {".jsx", ".tsx"}, {".mjs", ".mts"}, {".cjs", ".cts"}} {
		if stem, ok := strings.CutSuffix(target, pair[0]); ok {
			out = append(out, stem+pair[1])
		}
	}
	for _, ext := range []string{".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"} {
		out = append(out, target+ext, path.Join(target, "index"+ext))
	}
	return out
}

// has reports whether the project has a file at a path relative to its root.
func (sc *scan) has(rel string) bool {
	_, ok := sc.walker.read(sc.walker.abs(rel))
	return ok
}
