package analysis

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/sandbox-lsp/sandbox-lsp/analysis/cache"
	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax/authority"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/bundle"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/observe"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/stack"
)

// Authority is what a script takes from the global object, at the places of the
// files that a person can open.
type Authority struct {
	Uses     []Use
	Unknowns []Unknown
	// Defines are globals that the script makes itself before it first reads them.
	Defines []string
	// Received are the names that methods take from the object that they are called on,
	// which is the global object for somebody who takes the method off its own first.
	Received []string
	Silent   []Silent
	// Computed are the places where it loads modules whose names it computes.
	Computed []Computed
}

// Place is a place in a file of a library. What the bundler wrote itself, and what comes
// from no file, has the library's entry for its place, with no range.
type Place struct {
	File  string // as findings name files
	Range text.Range
	// Package is the package that the file belongs to, or "" for the project's own.
	Package string
}

// String prints the place as a compiler would.
func (p Place) String() string {
	if p.Range == (text.Range{}) {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Range.Start.Line+1, p.Range.Start.Character+1)
}

// or returns another place for the zero Place.
func (p Place) or(other Place) Place {
	if p.File == "" {
		return other
	}
	return p
}

// Use is one use of a name of the global object.
type Use struct {
	authority.Use
	Place Place
}

// Unknown is one place where the script reaches the global object in a way that
// cannot be followed.
type Unknown struct {
	authority.Unknown
	Place Place
}

// Silent is one call of a function that the guest answers in another way.
type Silent struct {
	Method string
	Place  Place
	Own    *Place // where the script has a method of that name, which may be what is called
}

// Computed is one place where a script loads a module that nobody can name beforehand.
type Computed struct {
	Caught bool // it goes on without
	Place  Place
}

// Touch is one use of a name that was seen while the library loaded.
type Touch struct {
	Name      string
	Operation observe.Operation
	Place     Place // zero when no frame of the stack could be placed
}

// infer runs the authority stage of one script.
func (sn *Snapshot) infer(ctx context.Context, s script) (*Authority, bool, error) {
	key := sn.key("authority", s.Code.String(), s.Map.String())
	if a, ok := cache.Recall[*Authority](sn.session.store, sn, key); ok {
		return a, true, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	began := time.Now()
	code, sourceMap, ok := sn.bytes(s)
	if !ok {
		return nil, false, fmt.Errorf("the cache lost %s, which it held a moment ago", s.File)
	}
	file := syntax.Parse(s.File, string(code))
	found := authority.Infer(file)
	m, err := sn.newMapping(s, string(code), sourceMap)
	if err != nil {
		return nil, false, err
	}
	a := &Authority{Defines: found.Defines, Received: found.Received}
	for _, u := range found.Uses {
		a.Uses = append(a.Uses, Use{u, m.place(u.Span)})
	}
	for _, u := range found.Unknowns {
		a.Unknowns = append(a.Unknowns, Unknown{u, m.place(u.Span)})
	}
	for _, u := range silentDifferences(file) {
		s := Silent{Method: u.Method, Place: m.place(u.Span)}
		if u.Own != nil {
			own := m.place(*u.Own)
			s.Own = &own
		}
		a.Silent = append(a.Silent, s)
	}
	for _, load := range file.ComputedLoads(bundle.RequireStandIn) {
		a.Computed = append(a.Computed, Computed{load.Caught, m.place(load.Span)})
	}
	return a, false, cache.Remember(sn.session.store, sn, key, a, nil, began)
}

// touches places what was recorded while a library and its workloads loaded, whose
// entries are in the order of the scripts.
func (sn *Snapshot) touches(recorded []observe.Touch, scripts []script, entries []string) ([]Touch, error) {
	if len(recorded) == 0 {
		return nil, nil
	}
	raw, err := json.Marshal(recorded)
	if err != nil {
		return nil, fmt.Errorf("encode what was recorded: %w", err)
	}
	parts := []string{string(raw)}
	for i, s := range scripts {
		parts = append(parts, s.File, s.Code.String(), s.Map.String(), entries[i])
	}
	key := sn.key("touches", parts...)
	if out, ok := cache.Recall[[]Touch](sn.session.store, sn, key); ok {
		return out, nil
	}
	began := time.Now()
	var mappings []*mapping
	for i, s := range scripts {
		code, sourceMap, ok := sn.bytes(s)
		if !ok {
			return nil, fmt.Errorf("the cache lost %s, which it held a moment ago", s.File)
		}
		m, err := sn.newMapping(s, string(code), sourceMap)
		if err != nil {
			return nil, err
		}
		m.entry = entries[i]
		mappings = append(mappings, m)
	}
	var out []Touch
	seen := map[Touch]bool{}
	for _, t := range recorded {
		touch := Touch{Name: t.Name, Operation: t.Operation, Place: innermost(t.Stack, mappings)}
		if !seen[touch] {
			seen[touch] = true
			out = append(out, touch)
		}
	}
	return out, cache.Remember(sn.session.store, sn, key, out, nil, began)
}

// innermost returns the place of the innermost frame that lies in one of the scripts, at
// code that somebody wrote if there is such a frame.
func innermost(trace string, mappings []*mapping) Place {
	var first Place
	for _, frame := range stack.Parse(trace) {
		for _, m := range mappings {
			if frame.File != m.script || frame.Line <= 0 {
				continue
			}
			if place, ok := m.at(frame.Line, frame.Column); ok {
				return place
			}
			if first.File == "" {
				first = Place{File: policy.Relative(m.sn.root, m.entry), Package: packageOf(m.entry)}
			}
		}
	}
	return first
}

// mapping leads from places in a bundle to places in the files it was made of.
type mapping struct {
	sn     *Snapshot
	script string
	entry  string // the file that the script was made from
	bundle *text.Mapper
	source stack.Map
	files  map[string]*text.Mapper // nil for one that cannot be read
}

func (sn *Snapshot) newMapping(s script, code string, sourceMap []byte) (*mapping, error) {
	m := &mapping{sn: sn, script: s.File, bundle: text.NewMapper(code), files: map[string]*text.Mapper{}}
	var err error
	m.source, err = stack.NewMap(sourceMap, s.File, filepath.Join(sn.root, OutputFolder))
	return m, err
}

// place maps a span of the bundle. It is the zero Place where the span lies in no file.
func (m *mapping) place(span text.Span) Place {
	start := m.bundle.Range(span).Start
	p, _ := m.at(start.Line+1, start.Character+1)
	return p
}

// at maps a line and a column of the bundle, both counted from 1.
func (m *mapping) at(line, column int) (Place, bool) {
	frame, ok := m.source.Frame(stack.Frame{File: m.script, Line: line, Column: column})
	if ok {
		if file := m.file(frame.File); file != nil {
			start := file.Offset(text.Position{Line: frame.Line - 1, Character: frame.Column - 1})
			where := file.Position(start)
			return Place{
				File:    policy.Relative(m.sn.root, frame.File),
				Range:   file.WordAt(where.Line+1, start-file.Offset(text.Position{Line: where.Line})+1, 0),
				Package: packageOf(frame.File),
			}, true
		}
	}
	return Place{}, false
}

func (m *mapping) file(path string) *text.Mapper {
	mapper, known := m.files[path]
	if !known {
		if content, err := m.sn.Read(path); err == nil {
			mapper = text.NewMapper(content)
		}
		m.files[path] = mapper
	}
	return mapper
}

// packageOf returns the name of the installed package that a file belongs to.
func packageOf(file string) string {
	const folder = "/node_modules/"
	file = filepath.ToSlash(file)
	i := strings.LastIndex(file, folder)
	if i < 0 {
		return ""
	}
	parts := strings.SplitN(file[i+len(folder):], "/", 3)
	if strings.HasPrefix(parts[0], "@") && len(parts) > 1 {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// entries returns the files that the bundles of a library were made from, in the order
// of scripts.
func (l *Library) entries() []string {
	var all []string
	if l.Bundle != nil {
		all = append(all, l.Resolved.Entry)
	}
	for _, w := range l.Workloads {
		if w.Bundle != nil {
			all = append(all, w.Entry)
		}
	}
	return all
}

// scripts returns the bundles of a library: its own and those of its workloads.
func (l *Library) scripts() []script {
	var all []script
	if l.Bundle != nil {
		all = append(all, *l.Bundle)
	}
	for _, w := range l.Workloads {
		if w.Bundle != nil {
			all = append(all, *w.Bundle)
		}
	}
	return all
}

// infer finds what a library and its workloads take; they share one realm and one
// set of permissions.
func (c *check) infer(ctx context.Context, l *Library) error {
	scripts := l.scripts()
	if len(scripts) == 0 {
		return nil
	}
	l.Authority = &Authority{}
	entries := l.entries()
	for i, s := range scripts {
		a, cached, err := c.sn.infer(ctx, s)
		if err != nil {
			return fmt.Errorf("infer what %s takes from the global object: %w", s.File, err)
		}
		l.Cached = l.Cached && cached
		entry := Place{File: policy.Relative(c.sn.root, entries[i]), Package: packageOf(entries[i])}
		for _, u := range a.Uses {
			u.Place = u.Place.or(entry)
			l.Authority.Uses = append(l.Authority.Uses, u)
		}
		for _, u := range a.Unknowns {
			u.Place = u.Place.or(entry)
			l.Authority.Unknowns = append(l.Authority.Unknowns, u)
		}
		for _, u := range a.Silent {
			u.Place = u.Place.or(entry)
			if u.Own != nil {
				own := u.Own.or(entry)
				u.Own = &own
			}
			l.Authority.Silent = append(l.Authority.Silent, u)
		}
		l.Authority.Defines = append(l.Authority.Defines, a.Defines...)
		l.Authority.Received = append(l.Authority.Received, a.Received...)
		for _, load := range a.Computed {
			load.Place = load.Place.or(entry)
			l.Authority.Computed = append(l.Authority.Computed, load)
		}
	}
	return nil
}
