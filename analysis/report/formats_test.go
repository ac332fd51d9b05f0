package report

import (
	"bytes"
	"encoding/xml"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/sandbox-lsp/sandbox-lsp/analysis"
	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func span(line, from, toLine, to int) text.Range {
	return text.Range{Start: text.Position{Line: line, Character: from}, End: text.Position{Line: toLine, Character: to}}
}

// full has everything that a finding may have, and what formats have to escape.
var full = Report{
	FailLevel: finding.Warning,
	Tool:      Tool{Name: "sandbox-lsp", Version: "1.2.3"},
	Result: &analysis.Result{
		Libraries: []*analysis.Library{{Policy: policy.Library{Name: "uuid"}}, {Policy: policy.Library{Name: "@scope/kit"}}, {Policy: policy.Library{Name: "qs"}}},
		Findings: []finding.Finding{
			{Code: finding.BadOption, Severity: finding.Error, Message: "100% wrong:\r\n<\"a\" & 'b'>, \x1b[31m", File: ".sandbox/sandbox.config.js", Range: span(0, 0, 0, 0)},
			{
				Code: finding.MissingPermission, Severity: finding.Warning, Message: "\"uuid\" uses crypto.", File: ".sandbox/sandbox.config.js", Range: span(3, 2, 3, 6),
				Related: []finding.Related{{Message: "used here", File: "node_modules/uuid/rng a.js", Range: span(10, 4, 10, 10)}, {Message: "elsewhere", File: "/opt/other, x.js", Range: span(0, 0, 1, 0)}},
				Fixes: []finding.Fix{
					{Title: "Grant crypto", Edits: []finding.Edit{
						{File: ".sandbox/sandbox.config.js", Range: span(3, 20, 3, 20), NewText: "\"crypto\""}, {File: "b.js", Range: span(1, 0, 2, 0), NewText: ""},
						{File: ".sandbox/sandbox.config.js", Range: span(5, 0, 5, 1), NewText: "é"},
					}},
					{Title: "Nothing to change"},
					{Title: "Make a workload", Edits: []finding.Edit{{File: "b.js", Range: span(0, 0, 0, 0), NewText: "x"}}, Creates: []finding.NewFile{{File: "w.js", Text: "y"}}},
				},
				Data: map[string]string{"library": "uuid", "permission": "crypto"},
			},
			{Code: finding.MissingPermission, Severity: finding.Hint, Message: "\"uuid\" asks for crypto.", File: ".sandbox/sandbox.config.js", Range: span(3, 2, 3, 6), Data: map[string]string{"library": "uuid", "permission": "crypto"}},
			{Code: finding.EscapedImport, Severity: finding.Info, Message: "ünïcode 🎉", File: "src/a:b,c%.ts", Range: span(7, 1, 9, 3), Data: map[string]string{"library": "not in the policy"}},
		},
		Suppressed: []finding.Finding{{Code: finding.UnusedPermission, Severity: finding.Warning, Message: "unused", File: ".sandbox/sandbox.config.js", Range: span(4, 2, 4, 6), Data: map[string]string{"library": "@scope/kit", "suppressed": "needed at night"}}},
	},
	Baselined: []finding.Finding{{Code: finding.NoDeclarations, Severity: finding.Warning, Message: "no types", File: ".sandbox/sandbox.config.js", Range: span(4, 2, 4, 6), Data: map[string]string{"library": "@scope/kit"}}},
	Prefix:    "apps/shop",
}

var empty = Report{Tool: full.Tool, Result: &analysis.Result{}}

func written(t *testing.T, r Report, format string) string {
	t.Helper()
	var out bytes.Buffer
	if err := r.Write(&out, format); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// pageText is a page in a report: goldens hold reports, not pages.
var pageText = regexp.MustCompile(`"(text|markdown)": ".{160,}"`)

func TestFormats_areAsTheGoldenFilesSay(t *testing.T) {
	for name, r := range map[string]Report{"full": full, "empty": empty} {
		for _, format := range Formats[1:] {
			t.Run(name+" "+format, func(t *testing.T) {
				got := written(t, r, format)
				if again := written(t, r, format); again != got {
					t.Error("a second report has other bytes")
				}
				got = pageText.ReplaceAllString(got, `"$1": "…"`)
				golden := filepath.Join("testdata", name+"."+format)
				if *update {
					if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(golden)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), got); diff != "" {
					t.Errorf("report (-golden +got):\n%s", diff)
				}
			})
		}
	}
}

func TestWrite_unknownFormat(t *testing.T) {
	if err := full.Write(&bytes.Buffer{}, "yaml"); err == nil || !strings.Contains(err.Error(), "yaml") {
		t.Errorf("error %v", err)
	}
}

func TestSARIF_fitsTheSchema(t *testing.T) {
	for name, r := range map[string]Report{"full": full, "empty": empty} {
		if err := r.sarif().Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		read, err := sarif.FromString(written(t, r, FormatSARIF))
		if err != nil {
			t.Fatal(err)
		}
		if err := read.Validate(); err != nil {
			t.Errorf("%s, as written: %v", name, err)
		}
	}
	broken := full.sarif()
	broken.Runs[0].Results[0].Level = "fatal"
	if broken.Validate() == nil {
		t.Error("the schema lets a level through that does not exist")
	}
}

// A report in which all code has moved has the same fingerprints, and no two results
// of one report share one.
func TestSARIF_fingerprintsOutliveMovedLines(t *testing.T) {
	fingerprints := func(r Report) []string {
		var all []string
		for _, result := range r.sarif().Runs[0].Results {
			all = append(all, result.PartialFingerprints[fingerprintName])
		}
		return all
	}
	moved := full
	result := *full.Result
	result.Findings = nil
	for _, f := range full.Result.Findings {
		f.Range.Start.Line += 40
		f.Range.End.Line += 40
		result.Findings = append(result.Findings, f)
	}
	moved.Result = &result
	before := fingerprints(full)
	if diff := cmp.Diff(before, fingerprints(moved)); diff != "" {
		t.Errorf("fingerprints moved with the lines:\n%s", diff)
	}
	seen := map[string]bool{}
	for _, f := range before {
		if seen[f] || f == "" {
			t.Errorf("fingerprint %q stands twice", f)
		}
		seen[f] = true
	}
}

func TestJUnit_isWellFormedAndAddsUp(t *testing.T) {
	var got struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Skipped  int `xml:"skipped,attr"`
		Suites   []struct {
			Name  string `xml:"name,attr"`
			Cases []struct {
				Failure, Skipped *struct{}
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	decoder := xml.NewDecoder(strings.NewReader(strings.NewReplacer("<failure", "<Failure", "</failure", "</Failure", "<skipped", "<Skipped", "</skipped", "</Skipped").Replace(written(t, full, FormatJUnit))))
	if err := decoder.Decode(&got); err != nil {
		t.Fatal(err)
	}
	cases, failed, skipped, failing := 0, 0, 0, 0
	for _, f := range full.Result.Findings {
		if f.Severity.AtLeast(finding.Warning) {
			failing++
		}
	}
	if failing == 0 || failing == len(full.Result.Findings) {
		t.Fatalf("%d of %d findings make the run fail", failing, len(full.Result.Findings))
	}
	var names []string
	for _, s := range got.Suites {
		names = append(names, s.Name)
		for _, c := range s.Cases {
			cases++
			if c.Failure != nil {
				failed++
			}
			if c.Skipped != nil {
				skipped++
			}
		}
	}
	if cases != got.Tests || failed != got.Failures || skipped != got.Skipped || failed != failing || skipped != 2 {
		t.Errorf("%d cases, %d failed, %d skipped; the report says %d, %d, %d", cases, failed, skipped, got.Tests, got.Failures, got.Skipped)
	}
	if diff := cmp.Diff([]string{"policy", "uuid", "@scope/kit", "qs", "not in the policy"}, names); diff != "" {
		t.Errorf("suites (-want +got):\n%s", diff)
	}
}

// unescape reads a workflow command as GitHub's runner does.
func unescape(s string, property bool) string {
	if property {
		s = strings.NewReplacer("%3A", ":", "%2C", ",").Replace(s)
	}
	return strings.NewReplacer("%0D", "\r", "%0A", "\n", "%25", "%").Replace(s)
}

func TestGitHub_linesReadBackAsTheyWere(t *testing.T) {
	lines := strings.Split(strings.TrimSuffix(written(t, full, FormatGitHub), "\n"), "\n")
	if len(lines) != len(full.Result.Findings) {
		t.Fatalf("%d lines for %d findings:\n%s", len(lines), len(full.Result.Findings), strings.Join(lines, "\n"))
	}
	for i, line := range lines {
		f := full.Result.Findings[i]
		head, message, _ := strings.Cut(strings.TrimPrefix(line, "::"), "::")
		_, properties, _ := strings.Cut(head, " ")
		got := map[string]string{}
		for _, p := range strings.Split(properties, ",") {
			name, value, _ := strings.Cut(p, "=")
			got[name] = unescape(value, true)
		}
		want := map[string]string{
			"file": "apps/shop/" + f.File, "title": string(f.Code),
			"line": fmt.Sprint(f.Range.Start.Line + 1), "endLine": fmt.Sprint(f.Range.End.Line + 1),
			"col": fmt.Sprint(f.Range.Start.Character + 1), "endColumn": fmt.Sprint(f.Range.End.Character + 1),
		}
		if diff := cmp.Diff(want, got); diff != "" || unescape(message, false) != printable(f.Message) {
			t.Errorf("%s\n%s", line, diff)
		}
	}
}

func TestReport_namesFilesOfAWorkspaceFromTheWorkingFolder(t *testing.T) {
	for name, tt := range map[string]struct{ prefix, file, want string }{
		"of the project":          {"apps/shop", "src/a.js", "apps/shop/src/a.js"},
		"hoisted":                 {"apps/shop", "../../node_modules/x/i.js", "node_modules/x/i.js"},
		"run in the project":      {"", "../../node_modules/x/i.js", "../../node_modules/x/i.js"},
		"above the working place": {"shop", "../../node_modules/x/i.js", "../node_modules/x/i.js"},
	} {
		r := Report{Prefix: tt.prefix}
		if got := r.file(tt.file); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
		if got := r.artifact(tt.file); *got.URI != tt.want || *got.URIBaseID != sourceRoot {
			t.Errorf("%s in SARIF: %v %v, want %q", name, *got.URI, *got.URIBaseID, tt.want)
		}
	}
}

func TestPrefix(t *testing.T) {
	top := t.TempDir()
	project := filepath.Join(top, "apps", "shop")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.MkdirAll(project, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(top, link); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ working, root, want string }{
		"the same folder":  {project, project, ""},
		"a project below":  {top, project, "apps/shop"},
		"through a link":   {link, project, "apps/shop"},
		"a project beside": {t.TempDir(), project, ""},
		"from inside":      {project, top, ""},
		"a folder ..x":     {top, filepath.Join(top, "..x"), "..x"},
	} {
		if got := Prefix(tt.working, tt.root); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
