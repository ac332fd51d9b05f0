package report

import (
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/analysis"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
)

// Report is what a command has to say about a project, for programs to read. It
// holds nothing that differs between two runs over the same input.
type Report struct {
	Tool   Tool
	Result *analysis.Result // its findings are those that count
	Build  *analysis.Build  // nil for a check
	// Campaigns are those of a test, nil otherwise.
	Campaigns []*analysis.Campaign
	// Baselined are the findings that the baseline lists.
	Baselined []finding.Finding
	// Prefix is the project's folder as seen from where the files that annotations
	// name are looked up, slash-separated, or "" when it is that folder.
	Prefix string
	// FailLevel is the least severity that makes the run fail, or 0 when none does.
	FailLevel finding.Severity
}

// Tool names the program in reports.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// The formats of a report.
const (
	FormatPretty = "pretty"
	FormatJSON   = "json"
	FormatSARIF  = "sarif"
	FormatJUnit  = "junit"
	FormatGitHub = "github"
)

var writers = map[string]func(Report, io.Writer) error{
	FormatJSON: Report.JSON, FormatSARIF: Report.SARIF, FormatJUnit: Report.JUnit, FormatGitHub: Report.GitHub,
}

// Formats lists the formats, the one for people first.
var Formats = []string{FormatPretty, FormatJSON, FormatSARIF, FormatJUnit, FormatGitHub}

// Write writes the report in one of the formats for programs.
func (r Report) Write(w io.Writer, format string) error {
	write, known := writers[format]
	if !known {
		return fmt.Errorf("no report has the format %q", format)
	}
	return write(r, w)
}

// Prefix returns what Report.Prefix is for a project when files are looked up from a
// working folder: annotations of a project in a folder of its repository name files
// from the folder that the command was run in.
func Prefix(workingFolder, root string) string {
	rel, err := filepath.Rel(real(workingFolder), real(root))
	if err != nil || rel == "." || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return ""
	}
	return filepath.ToSlash(rel)
}

// real resolves symbolic links where it can.
func real(folder string) string {
	if resolved, err := filepath.EvalSymlinks(folder); err == nil {
		return resolved
	}
	return folder
}

// file returns a finding's file as annotations name it.
func (r Report) file(name string) string {
	if filepath.IsAbs(filepath.FromSlash(name)) {
		return name
	}
	return path.Join(r.Prefix, name)
}

// hidden returns the findings that a report shows without counting them.
func (r Report) hidden() []finding.Finding {
	return slices.Concat(r.Result.Suppressed, r.Baselined)
}
