package analysis_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sandbox-lsp/sandbox-lsp/analysis"
	"github.com/sandbox-lsp/sandbox-lsp/policy/hostglobals"
	"github.com/sandbox-lsp/sandbox-lsp/policy/nodecap"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax/authority"
	"github.com/sandbox-lsp/sandbox-lsp/proxygen"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/bundle"
)

// firstNames is how many of a long list of exports a golden shows; what follows is
// held by a hash.
const firstNames = 20

// page writes one golden file.
type page struct {
	strings.Builder
}

func (p *page) fact(name, format string, args ...any) {
	fmt.Fprintf(p, "%-9s %s\n", name, fmt.Sprintf(format, args...))
}

// table writes a titled list of rows; none without rows.
func (p *page) table(title string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(p, "\n%s\n", title)
	// The first column alone is aligned: one long name would push away the others.
	width := 0
	for _, row := range rows {
		width = max(width, len(row[0]))
	}
	for _, row := range rows {
		fmt.Fprintf(p, "  %-*s  %s\n", width, row[0], strings.Join(row[1:], "  "))
	}
}

// relative names a file from the project's root, slash-separated.
func (c *corpus) relative(file string) string {
	if rel, err := filepath.Rel(c.root, file); err == nil {
		return filepath.ToSlash(rel)
	}
	return file
}

// render writes what the check says of a library, and what of it is its verdict: all
// but the wording of the findings, which may be improved without judging anew.
func (c *corpus) render(t *testing.T, l *analysis.Library) (text, verdict string) {
	t.Helper()
	p := &page{}
	p.fact("package", "%s %s", l.Resolved.Package.Name, l.Resolved.Package.Version)
	p.fact("shapes", "%s", strings.Join(c.reasons[l.Policy.Name].Shapes, ", "))
	p.fact("entry", "%s", c.relative(l.Resolved.Entry))
	if l.Bundle != nil {
		format := "CommonJS"
		if l.Bundle.ESM {
			format = "ES module"
		}
		p.fact("bundle", "%s, %d KiB", format, (l.Bundle.Bytes+512)/1024)
	}
	c.declarations(p, l.Model)
	c.loaded(p, l)
	if l.Bundle != nil {
		p.table("modules of Node", c.builtins(l.Bundle.Builtins))
	}
	c.proxy(p, l)
	c.inferred(p, l.Authority)
	p.table("observed while loading", c.observed(l.Touches))
	judged := &page{}
	judged.WriteString(p.String())
	var findings, facts [][]string
	for _, f := range c.findings {
		if f.Data["library"] != l.Policy.Name {
			continue
		}
		findings = append(findings, []string{string(f.Code), f.Severity.String(), f.Message})
		row := []string{string(f.Code), f.Severity.String(), fmt.Sprintf("%s:%d:%d", f.File, f.Range.Start.Line+1, f.Range.Start.Character+1)}
		for _, key := range slices.Sorted(maps.Keys(f.Data)) {
			row = append(row, fmt.Sprintf("%s=%q", key, f.Data[key]))
		}
		facts = append(facts, row)
	}
	p.table("findings", findings)
	judged.table("findings", facts)
	text = p.String()
	if strings.Contains(text+judged.String(), c.root) {
		t.Errorf("an absolute path got into the golden of %s", l.Policy.Name)
	}
	return text, digest(judged.String())
}

// digest returns the beginning of the SHA-256 of a text.
func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])[:digits]
}

func (c *corpus) declarations(p *page, m *proxygen.Model) {
	if m == nil || m.Entry == "" {
		p.fact("declared", "nothing")
		return
	}
	types := 0
	for _, e := range m.Exports {
		if e.Kind == proxygen.KindType {
			types++
		}
	}
	assigned := ""
	if m.ExportAssign {
		assigned = "export =, "
	}
	p.fact("declared", "%s (%s%d values, %d types)", c.relative(m.Entry), assigned, len(m.Exports)-types, types)
}

func (c *corpus) loaded(p *page, l *analysis.Library) {
	switch {
	case l.Load == nil:
		p.fact("load", "not tried")
	case l.Load.Failure != nil:
		f := l.Load.Failure
		first, _, _ := strings.Cut(f.Message, "\n")
		p.fact("load", "%s: %s", strings.TrimSpace(string(f.Kind)+" "+f.Limit+f.Name), first)
	default:
		mark := ""
		if l.Load.Exports.ESModule {
			mark = " with the ES module mark"
		}
		p.fact("load", "%s%s, %d names", l.Load.Exports.Type, mark, len(l.Load.Exports.Names))
	}
}

// builtins lists the modules of Node that the library reaches, with what the
// capability manifest decides and who asks.
func (c *corpus) builtins(reached []bundle.Import) [][]string {
	byModule := map[string][]string{}
	for _, i := range reached {
		byModule[i.Request] = append(byModule[i.Request], c.relative(i.Importer))
	}
	var rows [][]string
	for _, module := range slices.Sorted(maps.Keys(byModule)) {
		disposition, known := nodecap.Lookup(module)
		if !known {
			disposition = "unknown"
		}
		files := byModule[module]
		rows = append(rows, []string{module, string(disposition), files[0] + more(len(files)-1)})
	}
	return rows
}

func more(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// statement matches what a proxy exports: the name that it is declared by, and how
// it is reached in the sandbox.
var (
	statement = regexp.MustCompile(`(?m)^(?:export )?(?:const (\S+) =|(default)) librarySandbox(?:\.(fn|cls|callable|value)\(|\.(exports)|)`)
	renamed   = regexp.MustCompile(`(?m)^export \{ (\S+) as (.+) \};$`)
	reachedBy = map[string]string{"fn": "function", "cls": "class", "callable": "callable", "value": "unverified", "exports": "value"}
)

// proxy lists what the generated proxy exports, and of what kind.
func (c *corpus) proxy(p *page, l *analysis.Library) {
	source, ok := c.files[path.Join(analysis.ProxyFolder, proxygen.FileName(l.Policy.Name)+"-proxy.js")]
	if !ok {
		return
	}
	names := map[string]string{}
	for _, m := range renamed.FindAllStringSubmatch(string(source), -1) {
		names[m[1]] = m[2]
	}
	byKind := map[string][]string{}
	total := 0
	for _, m := range statement.FindAllStringSubmatch(string(source), -1) {
		name := m[1] + m[2]
		if name == "librarySandbox" {
			continue
		}
		if other, ok := names[name]; ok {
			name = other
		}
		kind := reachedBy[m[3]+m[4]]
		byKind[kind] = append(byKind[kind], name)
		total++
	}
	fmt.Fprintf(p, "\nproxy of %d exports\n", total)
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		list := byKind[kind]
		slices.Sort(list)
		shown := strings.Join(list[:min(len(list), firstNames)], ", ")
		if len(list) > firstNames {
			sum := sha256.Sum256([]byte(strings.Join(list, "\n")))
			shown += fmt.Sprintf(" … %d in all, %s", len(list), hex.EncodeToString(sum[:6]))
		}
		fmt.Fprintf(p, "  %s: %s\n", kind, shown)
	}
	if total == 0 {
		fmt.Fprintf(p, "  %s\n", "a function that throws")
	}
}

// inferred lists what the library takes from the global object by its code: each
// path once for each way of using it, with the place that stands first in the bundle.
// Names of the guest's own are listed only where they are written to.
func (c *corpus) inferred(p *page, a *analysis.Authority) {
	if a == nil {
		return
	}
	uses := newTally()
	for _, u := range a.Uses {
		if c.guest[u.Name] && u.Kind != authority.Write {
			continue
		}
		var how []string
		if u.Doubt != authority.NoDoubt {
			if _, known := hostglobals.Known(u.Name); !known {
				continue // members of the library's own objects
			}
			how = append(how, "perhaps")
		}
		path := short(u.Path)
		if u.Root != "" {
			path = u.Root + ": " + path
		}
		how = append(how, u.Kind.String())
		if u.Guarded {
			how = append(how, "guarded")
		}
		if u.Loading {
			how = append(how, "loading")
		}
		uses.add(c.place(u.Place), strings.Join(how, " "), path)
	}
	p.table("inferred", uses.rows())
	unknowns := newTally()
	for _, u := range a.Unknowns {
		how := u.Reason.String() + ", " + u.Kind.String()
		if u.Doubt != authority.NoDoubt {
			how = "perhaps " + how
		}
		if u.Loading {
			how += " loading"
		}
		unknowns.add(c.place(u.Place), how, strings.Join(strings.Fields(u.Detail), " "))
	}
	p.table("unknown", unknowns.rows())
	silent := newTally()
	for _, s := range a.Silent {
		method := s.Method
		if s.Own != nil {
			method += ", unless it is " + c.place(*s.Own)
		}
		silent.add(c.place(s.Place), method)
	}
	p.table("answered otherwise by the guest", silent.rows())
	if len(a.Defines) > 0 {
		fmt.Fprintf(p, "\ndefines\n  %s\n", strings.Join(a.Defines, ", "))
	}
}

// short cuts a path behind three members: which parent of a parent is read tells
// nothing about authority.
func short(path string) string {
	parts := strings.SplitN(path, ".", 5)
	if len(parts) < 5 {
		return path
	}
	return strings.Join(parts[:4], ".") + ".…"
}

// observed lists what the library asked of the global object while it loaded, each
// once with the place that asked first.
func (c *corpus) observed(touches []analysis.Touch) [][]string {
	seen := newTally()
	for _, touch := range touches {
		seen.add(c.place(touch.Place), string(touch.Operation), touch.Name)
	}
	return seen.rows()
}

// place prints a place with its line alone: columns would tire who reads a golden.
func (c *corpus) place(p analysis.Place) string {
	if p.File == "" {
		return "nowhere"
	}
	return fmt.Sprintf("%s:%d", p.File, p.Range.Start.Line+1)
}

// tally groups rows that differ in their place only.
type tally struct {
	keys  [][]string
	first map[string]string // place by key
	count map[string]int
}

func newTally() *tally { return &tally{first: map[string]string{}, count: map[string]int{}} }

func (t *tally) add(place string, key ...string) {
	k := strings.Join(key, "\x00")
	if t.count[k]++; t.count[k] == 1 {
		t.keys = append(t.keys, key)
		t.first[k] = place
	}
}

// rows returns one row for each key, sorted, with its first place and how many more
// there are.
func (t *tally) rows() [][]string {
	slices.SortFunc(t.keys, slices.Compare)
	rows := make([][]string, 0, len(t.keys))
	for _, key := range t.keys {
		k := strings.Join(key, "\x00")
		rows = append(rows, append(slices.Clone(key), t.first[k]+more(t.count[k]-1)))
	}
	return rows
}
