package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/suppress"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// sourceRoot is the name under which SARIF consumers know the folder that relative
// URIs start from. Its own place is left open: where a checkout lies on the machine
// that made the report means nothing elsewhere.
const sourceRoot = "%SRCROOT%"

// fingerprintName carries the version of how finding.Fingerprint is made.
const fingerprintName = "sandboxLspFinding/v1"

var sarifLevels = map[finding.Severity]string{
	finding.Error: sarif.LevelError, finding.Warning: sarif.LevelWarning, finding.Info: sarif.LevelNote, finding.Hint: sarif.LevelNote,
}

// SARIF writes the report in the Static Analysis Results Interchange Format 2.1.0.
// Findings that are suppressed or in the baseline are results with a suppression.
func (r Report) SARIF(w io.Writer) error {
	raw, err := json.Marshal(r.sarif())
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	var document any
	reader := json.NewDecoder(bytes.NewReader(raw))
	reader.UseNumber()
	if err := reader.Decode(&document); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(withoutDefaults(document)); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// withoutDefaults drops the members that say only what their absence says: the
// library spells out empty lists and objects, and -1 for indices that were not given, which is
// nine tenths of a report. A run's results stay even when there are none.
func withoutDefaults(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			member = withoutDefaults(member)
			if isDefault(member) && name != "results" {
				delete(v, name)
			} else {
				v[name] = member
			}
		}
	case []any:
		for i := range v {
			v[i] = withoutDefaults(v[i])
		}
	}
	return v
}

func isDefault(member any) bool {
	switch member := member.(type) {
	case []any:
		return len(member) == 0
	case map[string]any:
		return len(member) == 0
	default:
		return member == json.Number("-1")
	}
}

func (r Report) sarif() *sarif.Report {
	run := sarif.NewRunWithInformationURI(r.Tool.Name, finding.Repository)
	run.Tool.Driver.WithVersion(r.Tool.Version)
	run.WithColumnKind("utf16CodeUnits")
	run.OriginalUriBaseIds = map[string]sarif.ArtifactLocation{sourceRoot: *sarif.NewArtifactLocation().WithDescription(sarif.NewTextMessage("the folder that the command was run in"))}

	rules := map[finding.Code]int{}
	for _, f := range slices.Concat(r.Result.Findings, r.hidden()) {
		rules[f.Code] = 0
	}
	for i, code := range sortedKeys(rules) {
		rules[code] = i
		run.Tool.Driver.AddRule(rule(code))
	}
	seen := map[string]int{}
	add := func(findings []finding.Finding, suppression func(finding.Finding) *sarif.Suppression) {
		for _, f := range findings {
			result := r.result(f, rules[f.Code])
			fingerprint := f.Fingerprint()
			seen[fingerprint]++
			result.PartialFingerprints = map[string]string{fingerprintName: fmt.Sprintf("%s:%d", fingerprint, seen[fingerprint])}
			if suppression != nil {
				result.AddSuppression(suppression(f))
			}
			run.AddResult(result)
		}
	}
	add(r.Result.Findings, nil)
	add(r.Result.Suppressed, func(f finding.Finding) *sarif.Suppression {
		return sarif.NewSuppression().WithKind("inSource").WithStatus("accepted").WithJustification(f.Data[suppress.ReasonKey])
	})
	add(r.Baselined, func(finding.Finding) *sarif.Suppression {
		return sarif.NewSuppression().WithKind("external").WithStatus("accepted").WithJustification("in the baseline")
	})
	return sarif.NewReport().AddRun(run)
}

func sortedKeys(rules map[finding.Code]int) []finding.Code {
	var codes []finding.Code
	for code := range rules {
		codes = append(codes, code)
	}
	slices.Sort(codes)
	return codes
}

// rule describes a code by its page.
func rule(code finding.Code) *sarif.ReportingDescriptor {
	d := sarif.NewReportingDescriptor().WithID(string(code))
	page, ok := finding.PageOf(code)
	if !ok {
		return d
	}
	_, body, _ := strings.Cut(page.Markdown, "\n\n")
	return d.WithHelpURI(code.URL()).
		WithShortDescription(sarif.NewMultiformatMessageString().WithText(page.Title + ".")).
		WithFullDescription(sarif.NewMultiformatMessageString().WithText(page.Section(finding.SectionMeaning))).
		WithHelp(sarif.NewMultiformatMessageString().WithText(body).WithMarkdown(body))
}

func (r Report) result(f finding.Finding, rule int) *sarif.Result {
	result := sarif.NewRuleResult(string(f.Code)).WithRuleIndex(rule).WithLevel(sarifLevels[f.Severity]).
		WithMessage(sarif.NewTextMessage(f.Message)).
		AddLocation(r.location(f.File, f.Range))
	for i, related := range f.Related {
		result.AddRelatedLocation(r.location(related.File, related.Range).WithID(i + 1).WithMessage(sarif.NewTextMessage(related.Message)))
	}
	for _, fix := range f.Fixes {
		// A fix that also makes files has no form here, and a part of it would break things.
		if len(fix.Edits) > 0 && len(fix.Creates) == 0 {
			result.Fixes = append(result.Fixes, r.fix(fix))
		}
	}
	return result
}

func (r Report) location(file string, where text.Range) *sarif.Location {
	return sarif.NewLocationWithPhysicalLocation(sarif.NewPhysicalLocation().WithArtifactLocation(r.artifact(file)).WithRegion(region(where)))
}

// region converts a range: SARIF counts from 1, and its end column, like ours, is
// the first one behind (SARIF 2.1.0 §3.30).
func region(where text.Range) *sarif.Region {
	return sarif.NewRegion().WithStartLine(where.Start.Line + 1).WithStartColumn(where.Start.Character + 1).
		WithEndLine(where.End.Line + 1).WithEndColumn(where.End.Character + 1)
}

func (r Report) artifact(file string) *sarif.ArtifactLocation {
	if filepath.IsAbs(filepath.FromSlash(file)) {
		if !strings.HasPrefix(file, "/") { // a drive
			file = "/" + file
		}
		return sarif.NewArtifactLocation().WithURI((&url.URL{Scheme: "file", Path: file}).String())
	}
	return sarif.NewArtifactLocation().WithURI((&url.URL{Path: r.file(file)}).String()).WithURIBaseID(sourceRoot)
}

// fix converts the edits of a fix, the files in the order in which they are first
// edited.
func (r Report) fix(fix finding.Fix) *sarif.Fix {
	var changes []*sarif.ArtifactChange
	byFile := map[string]*sarif.ArtifactChange{}
	for _, edit := range fix.Edits {
		change := byFile[edit.File]
		if change == nil {
			change = sarif.NewArtifactChange().WithArtifactLocation(r.artifact(edit.File))
			byFile[edit.File] = change
			changes = append(changes, change)
		}
		change.AddReplacement(sarif.NewReplacement().WithDeletedRegion(region(edit.Range)).
			WithInsertedContent(sarif.NewArtifactContent().WithText(edit.NewText)))
	}
	return sarif.NewFix().WithDescription(sarif.NewTextMessage(fix.Title)).WithArtifactChanges(changes)
}
