package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/analysis"
	"github.com/sandbox-lsp/sandbox-lsp/analysis/authoritydiff"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// The formats of a difference of authority, beside FormatJSON, FormatSARIF and
// FormatGitHub.
const (
	FormatText     = "text"
	FormatMarkdown = "markdown"
)

// DiffFormats lists the formats of a difference, the one for people first.
var DiffFormats = []string{FormatText, FormatMarkdown, FormatJSON, FormatSARIF, FormatGitHub}

// Diff is a difference of authority to be written.
type Diff struct {
	Tool   Tool
	Report *authoritydiff.Report
	Root   string // of the project
	Prefix string // as in Report
	Color  bool   // of the text
}

// Write writes the difference in one of DiffFormats.
func (d Diff) Write(w io.Writer, format string) error {
	switch format {
	case FormatText:
		return d.text(w)
	case FormatMarkdown:
		return d.markdown(w)
	case FormatJSON:
		return d.json(w)
	}
	result := &analysis.Result{Root: d.Root, Findings: d.Report.Findings()}
	return Report{Tool: d.Tool, Result: result, Prefix: d.Prefix}.Write(w, format)
}

var effectStyle = map[authoritydiff.Effect]string{authoritydiff.Widened: red, authoritydiff.Narrowed: green, authoritydiff.Changed: yellow}

// since names the revision with the beginning of its hash, when that adds anything.
func (d Diff) since() string {
	r := d.Report
	if strings.HasPrefix(r.Commit, r.Revision) || len(r.Commit) < 12 {
		return r.Revision
	}
	return fmt.Sprintf("%s (%s)", r.Revision, r.Commit[:12])
}

func (d Diff) total() string {
	r := d.Report
	if len(r.Libraries) == 0 {
		return "No library may do more or less"
	}
	return fmt.Sprintf("%d widened, %d changed, %d narrowed in %s",
		r.Count(authoritydiff.Widened), r.Count(authoritydiff.Changed), r.Count(authoritydiff.Narrowed), plural(len(r.Libraries), "library"))
}

func (d Diff) text(w io.Writer) error {
	out := bufio.NewWriter(w)
	p := Pretty{Color: d.Color}
	for _, l := range d.Report.Libraries {
		fmt.Fprintln(out, p.paint(bold, printable(l.Name)))
		for _, c := range l.Changes {
			alarm := ""
			if c.Alarm {
				alarm = p.paint(red, "ALARM ")
			}
			effect := p.paint(effectStyle[c.Effect], string(c.Effect)) + strings.Repeat(" ", len(authoritydiff.Narrowed)-len(c.Effect))
			fmt.Fprintf(out, "  %s  %s%s\n", effect, alarm, printable(c.Words.Plain()))
		}
		fmt.Fprintln(out)
	}
	for _, note := range d.Report.Notes {
		fmt.Fprintf(out, "%s %s\n", p.paint(dim, "note:"), printable(note))
	}
	fmt.Fprintf(out, "%s since %s.\n", d.total(), printable(d.since()))
	return flush(out)
}

// markdown writes a table for a comment on a pull request. Everything that is not
// ours stands in code spans, where it is neither markup nor a mention.
func (d Diff) markdown(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "### Authority of sandboxed libraries\n\n%s since %s.\n", d.total(), authoritydiff.Code(d.since()))
	if len(d.Report.Libraries) > 0 {
		fmt.Fprint(out, "\n| Library | | What changed |\n|---|---|---|\n")
	}
	for _, l := range d.Report.Libraries {
		for _, c := range l.Changes {
			effect := string(c.Effect)
			if c.Effect == authoritydiff.Widened {
				effect = "**" + effect + "**"
			}
			if c.Alarm {
				effect += " **ALARM**"
			}
			fmt.Fprintf(out, "| %s | %s | %s |\n", authoritydiff.Code(l.Name), effect, c.Words.Markdown())
		}
	}
	for _, note := range d.Report.Notes {
		fmt.Fprintf(out, "\nNote: %s\n", authoritydiff.Code(note))
	}
	return flush(out)
}

type diffDocument struct {
	SchemaVersion int               `json:"schemaVersion"`
	Tool          Tool              `json:"tool"`
	Revision      string            `json:"revision"`
	Commit        string            `json:"commit"`
	Libraries     []diffLibrary     `json:"libraries"`
	Notes         []string          `json:"notes"`
	Findings      []finding.Finding `json:"findings"`
	Summary       diffSummary       `json:"summary"`
}

type diffLibrary struct {
	Name    string       `json:"name"`
	Changes []diffChange `json:"changes"`
}

type diffChange struct {
	Effect  authoritydiff.Effect `json:"effect"`
	Kind    authoritydiff.Kind   `json:"kind"`
	Subject string               `json:"subject"`
	Alarm   bool                 `json:"alarm"`
	Message string               `json:"message"`
	File    string               `json:"file"`
	Range   text.Range           `json:"range"`
}

type diffSummary struct {
	Widened  int `json:"widened"`
	Changed  int `json:"changed"`
	Narrowed int `json:"narrowed"`
}

func (d Diff) json(w io.Writer) error {
	r := d.Report
	doc := diffDocument{
		SchemaVersion: schemaVersion, Tool: d.Tool, Revision: r.Revision, Commit: r.Commit,
		Libraries: []diffLibrary{}, Notes: slices.Concat([]string{}, r.Notes), Findings: slices.Concat([]finding.Finding{}, r.Findings()),
		Summary: diffSummary{r.Count(authoritydiff.Widened), r.Count(authoritydiff.Changed), r.Count(authoritydiff.Narrowed)},
	}
	for _, l := range r.Libraries {
		entry := diffLibrary{Name: l.Name}
		for _, c := range l.Changes {
			entry.Changes = append(entry.Changes, diffChange{c.Effect, c.Kind, c.Subject, c.Alarm, c.Words.Plain(), r.File, r.Range(c)})
		}
		doc.Libraries = append(doc.Libraries, entry)
	}
	if doc.Notes == nil {
		doc.Notes = []string{}
	}
	if doc.Findings == nil {
		doc.Findings = []finding.Finding{}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(doc); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
