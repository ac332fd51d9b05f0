// Package report prints what an analysis found, for people and for programs.
package report

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sandbox-lsp/sandbox-lsp/analysis"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// Pretty prints reports for a person.
type Pretty struct {
	Color bool
	// Read returns the text of a file by absolute path, for excerpts.
	Read func(path string) (string, error)
}

const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

func (p Pretty) paint(style, s string) string {
	if !p.Color || s == "" {
		return s
	}
	return "\x1b[" + style + "m" + s + "\x1b[0m"
}

var severityStyle = map[finding.Severity]string{finding.Error: red, finding.Warning: yellow, finding.Info: cyan, finding.Hint: dim}

// Check prints the findings of a check with excerpts of the sources, and a summary.
func (p Pretty) Check(w io.Writer, result *analysis.Result, took time.Duration) error {
	out := bufio.NewWriter(w)
	p.findings(out, result)
	p.unsandboxed(out, result)
	p.summary(out, result, took)
	return flush(out)
}

// unsandboxed lists the dependencies without a sandbox, when they were asked for.
func (p Pretty) unsandboxed(out *bufio.Writer, result *analysis.Result) {
	for _, d := range result.Unsandboxed {
		files := fmt.Sprintf("%d files", d.UsedBy)
		if d.UsedBy == 1 {
			files = "1 file"
		}
		fmt.Fprintf(out, "%s %s %s\n", p.paint(dim, "not sandboxed"), d.Name, p.paint(dim, fmt.Sprintf("%s, imported by %s", d.Version, files)))
	}
	if len(result.Unsandboxed) > 0 {
		fmt.Fprintln(out)
	}
}

// Build prints the findings of a build, a table of the libraries, and what was
// written.
func (p Pretty) Build(w io.Writer, build *analysis.Build, dryRun bool, took time.Duration) error {
	out := bufio.NewWriter(w)
	p.findings(out, build.Result)
	p.libraries(out, build.Result)
	p.files(out, build, dryRun)
	p.summary(out, build.Result, took)
	return flush(out)
}

func flush(out *bufio.Writer) error {
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

func (p Pretty) findings(out *bufio.Writer, result *analysis.Result) {
	files := map[string]*text.Mapper{}
	for _, f := range result.Findings {
		style := severityStyle[f.Severity]
		fmt.Fprintf(out, "%s %s %s\n", p.paint(bold, place(f.File, f.Range)), p.paint(style, f.Severity.String()), p.paint(dim, string(f.Code)))
		fmt.Fprintf(out, "  %s\n", strings.ReplaceAll(printable(f.Message), "\n", "\n  "))
		p.excerpt(out, p.mapper(files, result.Root, f.File), f.Range, style)
		for _, r := range f.Related {
			fmt.Fprintf(out, "  %s %s %s\n", p.paint(dim, "see"), place(r.File, r.Range), p.paint(dim, r.Message))
		}
		fmt.Fprintln(out)
	}
}

func place(file string, r text.Range) string {
	return fmt.Sprintf("%s:%d:%d", file, r.Start.Line+1, r.Start.Character+1)
}

// maxExcerpt bounds a printed line: minified files have lines of a megabyte.
const maxExcerpt = 160

// mapper returns the mapper of a file, made once for all findings in it, or nil for a
// file that cannot be read any more.
func (p Pretty) mapper(files map[string]*text.Mapper, root, file string) *text.Mapper {
	m, seen := files[file]
	if seen {
		return m
	}
	path := filepath.FromSlash(file)
	if !filepath.IsAbs(path) {
		path = filepath.Join(root, path)
	}
	if content, err := p.Read(path); err == nil && content != "" {
		m = text.NewMapper(content)
	}
	files[file] = m
	return m
}

// excerpt prints the first line of a range with a marker under it. A file without a
// text gets none.
func (p Pretty) excerpt(out *bufio.Writer, m *text.Mapper, r text.Range, style string) {
	if m == nil {
		return
	}
	line := m.Line(r.Start.Line)
	begin := m.Offset(text.Position{Line: r.Start.Line})
	span := m.Span(r)
	start, end := span.Start-begin, min(span.End-begin, len(line))
	if len(line) > maxExcerpt {
		from := max(start-maxExcerpt/4, 0)
		for from > 0 && !utf8.RuneStart(line[from]) {
			from--
		}
		to := min(from+maxExcerpt, len(line))
		for to < len(line) && !utf8.RuneStart(line[to]) {
			to++
		}
		line, start, end = line[from:to], start-from, min(end-from, to-from)
	}
	number := fmt.Sprintf("%5d", r.Start.Line+1)
	fmt.Fprintf(out, "%s %s\n", p.paint(dim, number+" │"), expand(line))
	width := max(utf8.RuneCountInString(expand(line[start:max(start, end)])), 1)
	pad := strings.Repeat(" ", utf8.RuneCountInString(expand(line[:start])))
	fmt.Fprintf(out, "%s %s%s\n", p.paint(dim, "      │"), pad, p.paint(style, strings.Repeat("^", width)))
}

// expand shows what a terminal would not show one cell wide.
func expand(s string) string {
	return strings.NewReplacer("\n", "·", "\r", "·").Replace(printable(strings.ReplaceAll(s, "\t", "  ")))
}

// printable replaces what a source, or an error that a library throws, could send to
// a terminal as an escape sequence. Line breaks and tabs stay.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r >= 0x7f && r < 0xA0 || r == 0xFEFF {
			return '·'
		}
		return r
	}, s)
}

func (p Pretty) libraries(out *bufio.Writer, result *analysis.Result) {
	if len(result.Libraries) == 0 {
		return
	}
	rows := [][]string{{"LIBRARY", "VERSION", "BUNDLE", "EXPORTS", "PERMISSIONS", "WORKLOADS", "LOADS", "TIME"}}
	for _, l := range result.Libraries {
		loads := "no"
		if l.Loaded() {
			loads = "yes"
		}
		took := l.Elapsed.Round(time.Millisecond).String()
		if l.Cached && l.Loaded() {
			took = "cached"
		}
		var workloads []string
		for _, w := range l.Workloads {
			workloads = append(workloads, w.Policy.Name)
		}
		size, exports := "–", "–"
		if l.Bundle != nil {
			size = kilobytes(l.Size())
		}
		if l.Loaded() {
			exports = fmt.Sprint(l.Exports())
		}
		rows = append(rows, []string{cell(l.Policy.Name), cell(l.Resolved.Package.Version), size, exports,
			list(l.Policy.PermissionNames()), list(workloads), loads, took})
	}
	p.table(out, rows)
	fmt.Fprintln(out)
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	more := ""
	if extra := len(names) - maxListed; extra > 0 {
		names, more = names[:maxListed], fmt.Sprintf(" and %d more", extra)
	}
	shown := make([]string, len(names))
	for i, name := range names {
		shown[i] = cell(name)
	}
	return strings.Join(shown, ", ") + more
}

// Bounds of the table: how many names a cell lists, and how long each may be.
const (
	maxListed = 12
	maxCell   = 60
)

// cell makes a text of the workspace fit for the table.
func cell(s string) string {
	if utf8.RuneCountInString(s) > maxCell {
		s = string([]rune(s)[:maxCell]) + "…"
	}
	return expand(s)
}

func kilobytes(n int) string { return fmt.Sprintf("%.1f KiB", float64(n)/1024) }

func (p Pretty) table(out *bufio.Writer, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for n, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
			}
		}
		if n == 0 {
			fmt.Fprintln(out, p.paint(dim, line.String()))
		} else {
			fmt.Fprintln(out, line.String())
		}
	}
}

func (p Pretty) files(out *bufio.Writer, build *analysis.Build, dryRun bool) {
	if dryRun {
		for _, path := range build.Stale {
			fmt.Fprintf(out, "%s %s\n", p.paint(red, "stale"), path)
		}
		if len(build.Stale) > 0 {
			fmt.Fprintf(out, "%d of %d files are not what the policy gives now. Run: sandbox-lsp build\n\n", len(build.Stale), len(build.Files))
		} else if len(build.Files) > 0 {
			fmt.Fprintf(out, "All %d files are up to date.\n\n", len(build.Files))
		}
		return
	}
	changed := 0
	for _, f := range build.Files {
		if !f.Changed {
			continue
		}
		changed++
		if strings.HasSuffix(f.Path, ".map") {
			continue // each stands beside a file that is named
		}
		fmt.Fprintf(out, "%s %s %s\n", p.paint(green, "wrote"), f.Path, p.paint(dim, kilobytes(len(f.Content))))
	}
	for _, name := range build.Removed {
		if !strings.HasSuffix(name, ".map") {
			fmt.Fprintf(out, "%s %s\n", p.paint(red, "removed"), name)
		}
	}
	for _, name := range build.Kept {
		fmt.Fprintf(out, "%s the last build of %s, which cannot be bundled now\n", p.paint(yellow, "kept"), cell(name))
	}
	if len(build.Files) > 0 {
		fmt.Fprintf(out, "%d files, %d of them changed.\n\n", len(build.Files), changed)
	}
}

// Summary prints the last line of the other reports alone.
func (p Pretty) Summary(w io.Writer, result *analysis.Result, took time.Duration) error {
	out := bufio.NewWriter(w)
	p.summary(out, result, took)
	return flush(out)
}

func (p Pretty) summary(out *bufio.Writer, result *analysis.Result, took time.Duration) {
	s := count(result.Findings)
	var parts []string
	for _, part := range []struct {
		n     int
		name  string
		style string
	}{{s.Errors, "error", red}, {s.Warnings, "warning", yellow}, {s.Infos, "note", cyan}, {s.Hints, "hint", dim}} {
		if part.n > 0 {
			parts = append(parts, p.paint(part.style, plural(part.n, part.name)))
		}
	}
	verdict := p.paint(green, "No findings")
	if len(parts) > 0 {
		verdict = strings.Join(parts, ", ")
	}
	fmt.Fprintf(out, "%s in %s (%v)\n", verdict, plural(len(result.Libraries), "library"), took.Round(time.Millisecond))
}

func plural(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(noun, "y"))
	default:
		return fmt.Sprintf("%d %ss", n, noun)
	}
}
