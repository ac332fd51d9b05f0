package proxygen

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/microsoft/typescript-go/shim/check"

	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// reader turns the symbols of a program into models.
type reader struct {
	program *check.Program
	checker *check.Checker
	mappers map[string]*fileText
}

// fileText is a file's text with its lines.
type fileText struct {
	content string
	mapper  *text.Mapper
}

// model reads what an import of the probe leads to.
func (r *reader) model(probe *check.SourceFile, specifier *check.Node) (m *Model, err error) {
	defer func() {
		if p := recover(); p != nil {
			m, err = nil, fmt.Errorf("the type checker stopped: %v", p)
		}
	}()
	m = &Model{}
	module := r.checker.ResolveExternalModuleName(specifier)
	m.Files = r.files(r.program.Resolved(probe, specifier), module)
	if module == nil {
		return m, nil
	}
	for _, d := range module.Declarations {
		// A module made of JavaScript has no declarations.
		if name := check.SourceFileOf(d).FileName(); isTypeScript(name) {
			m.Entry = filepath.FromSlash(name)
			break
		}
	}
	if m.Entry == "" {
		return m, nil
	}
	whole := r.checker.ResolveExternalModuleSymbol(module)
	m.ExportAssign = whole != module
	byName := map[string]Export{}
	for _, s := range r.checker.GetExportsAndPropertiesOfModule(module) {
		if s.Name == "" || check.IsInternal(s.Name) || s.Name == "prototype" {
			continue
		}
		e := r.export(s, m.ExportAssign)
		if old, ok := byName[s.Name]; ok && old.Kind != KindType {
			// The property of the value and the member of the namespace merged with it
			// are one thing; the member carries types as well.
			continue
		} else if ok {
			e.Property = false
		}
		byName[s.Name] = e
	}
	if m.ExportAssign {
		e := r.export(whole, true)
		e.Name, e.Property = "default", false
		byName["default"] = e
	}
	for _, e := range byName {
		m.Exports = append(m.Exports, e)
	}
	slices.SortFunc(m.Exports, func(a, b Export) int { return cmp.Compare(a.Name, b.Name) })
	return m, nil
}

// export reads one symbol.
func (r *reader) export(s *check.Symbol, assigned bool) Export {
	target := s
	if s.Flags&check.FlagAlias != 0 {
		target = r.checker.GetAliasedSymbol(s)
	}
	e := Export{Name: s.Name, Kind: r.kind(s, target), Property: assigned && check.IsMember(s)}
	d := declaration(target)
	if d == nil || r.checker.IsUnknownSymbol(target) {
		d = declaration(s)
	}
	if d != nil {
		file := check.SourceFileOf(d)
		t := r.text(file)
		start, end := check.NameSpan(d)
		e.File = filepath.FromSlash(file.FileName())
		e.Range = t.mapper.Range(text.Span{Start: start, End: end})
		start, end = check.DocSpan(d)
		e.Doc = doc(t.content[start:end])
	}
	return e
}

// declaration chooses the declaration to point at: the one of the value, else the
// first.
func declaration(s *check.Symbol) *check.Node {
	if s.ValueDeclaration != nil {
		return s.ValueDeclaration
	}
	if len(s.Declarations) > 0 {
		return s.Declarations[0]
	}
	return nil
}

// kind classifies an export by its symbol and, where that says only "a value", by
// the signatures of its type.
func (r *reader) kind(s, target *check.Symbol) Kind {
	c := r.checker
	if c.IsUnknownSymbol(target) {
		return KindValue // re-exported from a module that is not installed
	}
	flags := target.Flags
	switch {
	case s.Flags&check.FlagAlias != 0 && c.GetTypeOnlyAliasDeclaration(s) != nil:
		return KindType
	case flags&check.FlagValue&^check.FlagConstEnum == 0:
		return KindType // const enums are inlined by who uses them
	case flags&check.FlagClass != 0:
		return KindClass
	case flags&check.FlagEnum != 0:
		return KindValue
	case flags&check.FlagFunction != 0:
		if flags&check.FlagModule != 0 || len(target.Exports) > 0 {
			return KindCallable
		}
		return KindFunction
	}
	t := c.GetTypeOfSymbol(target)
	call, construct := check.HasCall(c, t), check.HasConstruct(c, t)
	switch {
	case call && !construct && len(c.GetPropertiesOfType(t)) == 0:
		return KindFunction
	case call:
		return KindCallable
	case construct:
		return KindClass
	case flags&check.FlagModule != 0:
		return KindNamespace
	}
	return KindValue
}

func (r *reader) text(file *check.SourceFile) *fileText {
	name := file.FileName()
	t := r.mappers[name]
	if t == nil {
		t = &fileText{content: file.Text(), mapper: text.NewMapper(file.Text())}
		r.mappers[name] = t
	}
	return t
}

// files returns what a module was read from: its files, what they import and
// reference, and the package.json files that led there.
func (r *reader) files(resolved string, module *check.Symbol) []string {
	var queue []string
	if resolved != "" {
		queue = append(queue, resolved)
	}
	if module != nil {
		for _, d := range module.Declarations {
			queue = append(queue, check.SourceFileOf(d).FileName())
		}
	}
	seen := map[string]bool{}
	var out []string
	add := func(name string) {
		if !seen[name] && r.program.Read(name) {
			out = append(out, filepath.FromSlash(name))
		}
		seen[name] = true
	}
	for len(queue) > 0 {
		name := queue[0]
		queue = queue[1:]
		if seen[name] {
			continue
		}
		add(name)
		for dir := path.Dir(name); ; dir = path.Dir(dir) {
			add(dir + "/package.json")
			if dir == path.Dir(dir) || path.Base(dir) == "node_modules" {
				break
			}
		}
		if file := r.program.File(name); file != nil {
			queue = append(queue, r.program.Dependencies(file)...)
		}
	}
	slices.Sort(out)
	return out
}

func isTypeScript(name string) bool {
	switch path.Ext(name) {
	case ".ts", ".tsx", ".mts", ".cts":
		return true
	}
	return false
}

// doc takes the frame off a documentation comment.
func doc(comment string) string {
	comment = strings.TrimSuffix(strings.TrimPrefix(comment, "/**"), "*/")
	lines := strings.Split(comment, "\n")
	for i, line := range lines {
		line = strings.TrimSpace(line)
		line = strings.TrimPrefix(line, "*")
		lines[i] = strings.TrimRight(strings.TrimPrefix(line, " "), " \t")
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
