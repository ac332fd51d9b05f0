package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/sandbox-lsp/sandbox-lsp/analysis"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/harness"
)

// shownCases is how many cases of one outcome are printed; the JSON report has all.
const shownCases = 20

// Tests prints what campaigns came to, then the findings and a summary.
func (p Pretty) Tests(w io.Writer, tested *analysis.Tested, result *analysis.Result, took time.Duration) error {
	out := bufio.NewWriter(w)
	for _, c := range tested.Campaigns {
		p.campaign(out, c)
	}
	if len(tested.Campaigns) == 0 {
		fmt.Fprintf(out, "No tests: %s names none that could be run.\n", tested.Manifest)
	}
	p.findings(out, result)
	p.summary(out, result, took)
	return flush(out)
}

func (p Pretty) campaign(out *bufio.Writer, c *analysis.Campaign) {
	how := strings.Join(c.Frameworks, ", ")
	if c.Detected && how != "" {
		how += " (detected)"
	}
	fmt.Fprintf(out, "%s %s\n", p.paint(bold, c.Library), p.paint(dim, strings.Join(notEmpty(c.Version, how, c.Engine, plural(len(c.Files), "file")), ", ")))
	var parts []string
	for _, outcome := range harness.Outcomes {
		if n := c.Count(outcome); n > 0 {
			parts = append(parts, p.paint(outcomeStyle[outcome], fmt.Sprintf("%d %s", n, outcome)))
		}
	}
	took := fmt.Sprintf("native %v, sandbox %v", c.Native.Round(time.Millisecond), c.Sandbox.Round(time.Millisecond))
	if c.Cached {
		took += ", nothing changed since"
	}
	fmt.Fprintf(out, "  %s: %s %s\n", plural(len(c.Verdicts), "case"), strings.Join(parts, ", "), p.paint(dim, "("+took+")"))
	for _, outcome := range []harness.Outcome{harness.Regression, harness.Stale, harness.Flaky, harness.Limitation, harness.NativeFailure} {
		printed := 0
		for _, v := range c.Verdicts {
			if v.Outcome != outcome {
				continue
			}
			if printed++; printed > shownCases {
				fmt.Fprintf(out, "  … and %d more\n", c.Count(outcome)-shownCases)
				break
			}
			p.verdict(out, v)
		}
	}
	fmt.Fprintln(out)
}

// verdict prints one case and how it ended on both sides.
func (p Pretty) verdict(out *bufio.Writer, v harness.Verdict) {
	note := v.Reason
	if v.Kind != "" {
		note = strings.Join(notEmpty(string(v.Kind), note), ": ")
	}
	if note != "" {
		note = " (" + note + ")"
	}
	fmt.Fprintf(out, "  %s %s%s\n", p.paint(outcomeStyle[v.Outcome], string(v.Outcome)), v.Name, p.paint(dim, note))
	sides := []struct {
		name string
		side harness.Side
	}{{"native", v.Native}, {"sandbox", v.Sandbox}}
	for _, s := range sides {
		if e := s.side.Error; e != nil {
			fmt.Fprintf(out, "    %-7s %s\n", s.name, p.paint(dim, oneLine(e)))
		} else if v.Outcome != harness.Limitation && s.side.Status != "" {
			fmt.Fprintf(out, "    %-7s %s\n", s.name, p.paint(dim, string(s.side.Status)))
		}
	}
}

var outcomeStyle = map[harness.Outcome]string{
	harness.Compatible: green, harness.Regression: red, harness.Limitation: yellow, harness.Stale: yellow, harness.Flaky: yellow, harness.NativeFailure: dim, harness.NotRun: dim,
}

// oneLine says what an error says, with the values that it compares.
func oneLine(e *harness.Error) string {
	text := strings.Join(notEmpty(e.Name, e.Message), ": ")
	if e.Actual != "" || e.Expected != "" {
		text += fmt.Sprintf(" (got %s, expected %s)", e.Actual, e.Expected)
	}
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > maxLine {
		text = string(runes[:maxLine]) + "…"
	}
	return text
}

// maxLine bounds what one line shows of an error, in characters.
const maxLine = 300

func notEmpty(parts ...string) []string {
	var kept []string
	for _, part := range parts {
		if part != "" {
			kept = append(kept, part)
		}
	}
	return kept
}

// campaignEntry is a campaign in the JSON report.
type campaignEntry struct {
	Library     string                  `json:"library"`
	Version     string                  `json:"version"`
	Engine      string                  `json:"engine"`
	Frameworks  []string                `json:"frameworks"`
	Detected    bool                    `json:"detected"`
	Files       []string                `json:"files"`
	Totals      map[harness.Outcome]int `json:"totals"`
	NotRunnable []notRunnableEntry      `json:"notRunnable"`
	Cases       []caseEntry             `json:"cases"`
}

type notRunnableEntry struct {
	File    string `json:"file,omitempty"`
	Reason  string `json:"reason"`
	Install string `json:"install,omitempty"`
}

type caseEntry struct {
	File    string          `json:"file"`
	Name    string          `json:"name"`
	Outcome harness.Outcome `json:"outcome"`
	Kind    harness.Kind    `json:"kind,omitempty"`
	Reason  string          `json:"reason,omitempty"`
	Native  sideEntry       `json:"native"`
	Sandbox sideEntry       `json:"sandbox"`
}

// sideEntry leaves times and stacks out, which differ between two runs.
type sideEntry struct {
	Status   harness.Status `json:"status,omitempty"`
	Error    string         `json:"error,omitempty"`
	Actual   string         `json:"actual,omitempty"`
	Expected string         `json:"expected,omitempty"`
}

func campaignEntries(campaigns []*analysis.Campaign) []campaignEntry {
	var entries []campaignEntry
	for _, c := range campaigns {
		e := campaignEntry{
			Library: c.Library, Version: c.Version, Engine: c.Engine, Frameworks: slices.Concat([]string{}, c.Frameworks), Detected: c.Detected, Files: slices.Concat([]string{}, c.Files),
			Totals: map[harness.Outcome]int{}, NotRunnable: []notRunnableEntry{}, Cases: []caseEntry{},
		}
		for _, n := range c.NotRunnable {
			e.NotRunnable = append(e.NotRunnable, notRunnableEntry(n))
		}
		for _, v := range c.Verdicts {
			e.Totals[v.Outcome]++
			e.Cases = append(e.Cases, caseEntry{File: v.File, Name: v.Name, Outcome: v.Outcome, Kind: v.Kind, Reason: v.Reason, Native: sideOf(v.Native), Sandbox: sideOf(v.Sandbox)})
		}
		entries = append(entries, e)
	}
	return entries
}

func sideOf(s harness.Side) sideEntry {
	e := sideEntry{Status: s.Status}
	if s.Error != nil {
		e.Error, e.Actual, e.Expected = strings.Join(notEmpty(s.Error.Name, s.Error.Message), ": "), s.Error.Actual, s.Error.Expected
	}
	return e
}

// junitCampaign adds the cases of a campaign to a suite.
func (r Report) junitCampaign(s *junitSuite, c *analysis.Campaign) {
	for _, v := range c.Verdicts {
		made := junitCase{Name: v.Name, ClassName: r.Tool.Name + "." + s.Name, File: r.file(v.File)}
		switch v.Outcome {
		case harness.Compatible:
		case harness.Regression:
			made.Failure = &junitFailure{Type: string(v.Kind), Message: v.Reason}
			if e := v.Sandbox.Error; e != nil {
				made.Failure.Message, made.Failure.Text = oneLine(e), e.Stack
			}
			s.Failures++
		default:
			made.Skipped = &junitSkipped{strings.Join(notEmpty(string(v.Outcome), v.Reason), ": ")}
			s.Skipped++
		}
		s.Cases = append(s.Cases, made)
	}
}
