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
}

// Place is a place in a file of a library, or in the bundle where the source map
// knows nothing better.
type Place struct {
	File  string // as findings name files
	Range text.Range
	// Package is the package that the file belongs to, or "" for the project's own.
	Package string
}

// String prints the place as a compiler would.
func (p Place) String() string {
	return fmt.Sprintf("%s:%d:%d", p.File, p.Range.Start.Line+1, p.Range.Start.Character+1)
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
		a.Silent = append(a.Silent, Silent{u.Method, m.place(u.Span)})
	}
	return a, false, cache.Remember(sn.session.store, sn, key, a, nil, began)
}

// touches places what was recorded while a library and its workloads loaded.
func (sn *Snapshot) touches(recorded []observe.Touch, scripts []script) ([]Touch, error) {
	if len(recorded) == 0 {
		return nil, nil
	}
	raw, err := json.Marshal(recorded)
	if err != nil {
		return nil, fmt.Errorf("encode what was recorded: %w", err)
	}
	parts := []string{string(raw)}
	for _, s := range scripts {
		parts = append(parts, s.File, s.Code.String(), s.Map.String())
	}
	key := sn.key("touches", parts...)
	if out, ok := cache.Recall[[]Touch](sn.session.store, sn, key); ok {
		return out, nil
	}
	began := time.Now()
	var mappings []*mapping
	for _, s := range scripts {
		code, sourceMap, ok := sn.bytes(s)
		if !ok {
			return nil, fmt.Errorf("the cache lost %s, which it held a moment ago", s.File)
		}
		m, err := sn.newMapping(s, string(code), sourceMap)
		if err != nil {
			return nil, err
		}
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

// innermost returns the place of the innermost frame that lies in one of the scripts.
func innermost(trace string, mappings []*mapping) Place {
	for _, frame := range stack.Parse(trace) {
		for _, m := range mappings {
			if frame.File == m.script && frame.Line > 0 {
				return m.at(frame.Line, frame.Column)
			}
		}
	}
	return Place{}
}

// mapping leads from places in a bundle to places in the files it was made of.
type mapping struct {
	sn     *Snapshot
	script string
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

// place maps a span of the bundle.
func (m *mapping) place(span text.Span) Place {
	where := m.bundle.Range(span)
	p := m.at(where.Start.Line+1, where.Start.Character+1)
	if strings.HasPrefix(p.File, OutputFolder+"/") {
		p.Range = where
	}
	return p
}

// at maps a line and a column of the bundle, both counted from 1.
func (m *mapping) at(line, column int) Place {
	frame, ok := m.source.Frame(stack.Frame{File: m.script, Line: line, Column: column})
	if ok {
		if file := m.file(frame.File); file != nil {
			start := file.Offset(text.Position{Line: frame.Line - 1, Character: frame.Column - 1})
			where := file.Position(start)
			return Place{
				File:    policy.Relative(m.sn.root, frame.File),
				Range:   file.WordAt(where.Line+1, start-file.Offset(text.Position{Line: where.Line})+1, 0),
				Package: packageOf(frame.File),
			}
		}
	}
	start := text.Position{Line: line - 1, Character: column - 1}
	return Place{File: OutputFolder + "/" + m.script, Range: text.Range{Start: start, End: start}}
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
	for _, s := range scripts {
		a, cached, err := c.sn.infer(ctx, s)
		if err != nil {
			return fmt.Errorf("infer what %s takes from the global object: %w", s.File, err)
		}
		l.Cached = l.Cached && cached
		l.Authority.Uses = append(l.Authority.Uses, a.Uses...)
		l.Authority.Unknowns = append(l.Authority.Unknowns, a.Unknowns...)
		l.Authority.Silent = append(l.Authority.Silent, a.Silent...)
		l.Authority.Defines = append(l.Authority.Defines, a.Defines...)
		l.Authority.Received = append(l.Authority.Received, a.Received...)
	}
	return nil
}
