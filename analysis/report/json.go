package report

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
)

// schemaVersion is that of the JSON report. Fields may be added without changing
// it.
const schemaVersion = 1

type document struct {
	SchemaVersion int               `json:"schemaVersion"`
	Tool          Tool              `json:"tool"`
	Findings      []finding.Finding `json:"findings"`
	Summary       summary           `json:"summary"`
	Libraries     []libraryEntry    `json:"libraries"`
	Build         *buildEntry       `json:"build,omitempty"`
	// Campaigns are there for a test.
	Campaigns []campaignEntry `json:"campaigns,omitempty"`
	// Unsandboxed is there when it was asked for.
	Unsandboxed []dependencyEntry `json:"unsandboxed,omitempty"`
}

type dependencyEntry struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	// ImportedBy is how many of the application's files import it.
	ImportedBy int `json:"importedBy"`
}

type summary struct {
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Infos    int `json:"infos"`
	Hints    int `json:"hints"`
	// Suppressed and InBaseline count findings that are not among the findings.
	Suppressed int `json:"suppressed"`
	InBaseline int `json:"inBaseline"`
}

type libraryEntry struct {
	Name        string   `json:"name"`
	Version     string   `json:"version"`
	Permissions []string `json:"permissions"`
	BundleBytes int      `json:"bundleBytes"`
	Exports     int      `json:"exports"`
	Loads       bool     `json:"loads"`
	Workloads   []string `json:"workloads"`
}

type buildEntry struct {
	Files []string `json:"files"`
	// Stale is what differs on disk, for a build that only checks.
	Stale   []string `json:"stale"`
	Removed []string `json:"removed"`
	// Kept names the libraries that are as the last build left them.
	Kept []string `json:"kept"`
}

func count(findings []finding.Finding) summary {
	var s summary
	for _, f := range findings {
		switch f.Severity {
		case finding.Error:
			s.Errors++
		case finding.Warning:
			s.Warnings++
		case finding.Info:
			s.Infos++
		default:
			s.Hints++
		}
	}
	return s
}

// JSON writes the report as one object.
func (r Report) JSON(w io.Writer) error {
	doc := document{SchemaVersion: schemaVersion, Tool: r.Tool, Findings: r.Result.Findings, Summary: count(r.Result.Findings), Libraries: []libraryEntry{}}
	doc.Summary.Suppressed, doc.Summary.InBaseline = len(r.Result.Suppressed), len(r.Baselined)
	if doc.Findings == nil {
		doc.Findings = []finding.Finding{}
	}
	for _, l := range r.Result.Libraries {
		entry := libraryEntry{
			Name: l.Policy.Name, Version: l.Resolved.Package.Version, Permissions: l.Policy.PermissionNames(),
			BundleBytes: l.Size(), Exports: l.Exports(), Loads: l.Loaded(), Workloads: []string{},
		}
		for _, w := range l.Workloads {
			entry.Workloads = append(entry.Workloads, w.Policy.Name)
		}
		doc.Libraries = append(doc.Libraries, entry)
	}
	for _, d := range r.Result.Unsandboxed {
		doc.Unsandboxed = append(doc.Unsandboxed, dependencyEntry{d.Name, d.Version, d.UsedBy})
	}
	doc.Campaigns = campaignEntries(r.Campaigns)
	if build := r.Build; build != nil {
		doc.Build = &buildEntry{Files: []string{}, Stale: []string{}, Removed: []string{}, Kept: []string{}}
		for _, f := range build.Files {
			doc.Build.Files = append(doc.Build.Files, f.Path)
		}
		doc.Build.Stale = append(doc.Build.Stale, build.Stale...)
		doc.Build.Removed = append(doc.Build.Removed, build.Removed...)
		doc.Build.Kept = append(doc.Build.Kept, build.Kept...)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(doc); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
