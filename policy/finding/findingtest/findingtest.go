// Package findingtest reads the findings that a test expects out of the very files
// that they are expected in.
//
// An expectation is a comment line whose carets stand under the range on the
// nearest line above that is not an expectation itself:
//
//	"lodahs": { permissions: [] },
//	// ^^^^ SBX003 error `Did you mean "lodash"`
//
// Carets cannot stand under the slashes, so `<` before the first caret means that
// the range begins at the start of the line: `//<^^` marks columns 0 to 5. The text in
// backquotes is a regular expression that the message has to match.
package findingtest

import (
	"fmt"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// Fixtures runs a subtest for each archive in the testdata folder.
func Fixtures(t *testing.T, run func(t *testing.T, archive *txtar.Archive)) {
	t.Helper()
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			run(t, archive)
		})
	}
}

// Want is one expected finding.
type Want struct {
	File     string
	Range    text.Range
	Code     finding.Code
	Severity string
	Message  *regexp.Regexp
}

var pattern = regexp.MustCompile("^(\\s*//\\s*<?)(\\^+) (SBX\\d{3}|NCP\\d{3}) (error|warning|info|hint)(?: `([^`]*)`)?\\s*$")

// Parse reads the expectations of one file. file is the name that findings carry.
func Parse(t *testing.T, file, content string) []Want {
	t.Helper()
	var wants []Want
	target := -1
	for i, line := range strings.Split(content, "\n") {
		m := pattern.FindStringSubmatch(strings.TrimRight(line, "\r"))
		if m == nil {
			target = i
			continue
		}
		start, end := len(m[1]), len(m[1])+len(m[2])
		if strings.HasSuffix(m[1], "<") {
			start = 0
		}
		wants = append(wants, Want{
			File:     file,
			Range:    text.Range{Start: text.Position{Line: target, Character: start}, End: text.Position{Line: target, Character: end}},
			Code:     finding.Code(m[3]),
			Severity: m[4],
			Message:  regexp.MustCompile(m[5]),
		})
	}
	return wants
}

// Compare fails the test for every expectation that no finding meets and for every
// finding that nothing expects. A range of several lines is compared by its start
// alone, since carets cannot draw it.
func Compare(t *testing.T, wants []Want, got []finding.Finding) {
	t.Helper()
	used := make([]bool, len(got))
	var problems []string
	for _, w := range wants {
		found := false
		for i, f := range got {
			if used[i] || f.File != w.File || f.Code != w.Code || f.Severity.String() != w.Severity || f.Range.Start != w.Range.Start || !w.Message.MatchString(f.Message) {
				continue
			}
			if f.Range.Start.Line == f.Range.End.Line && f.Range != w.Range {
				continue
			}
			used[i], found = true, true
			break
		}
		if !found {
			problems = append(problems, fmt.Sprintf("missing    %s %s %s %s `%s`", w.File, place(w.Range), w.Code, w.Severity, w.Message))
		}
	}
	for i, f := range got {
		if !used[i] {
			problems = append(problems, fmt.Sprintf("unexpected %s %s %s %s %s", f.File, place(f.Range), f.Code, f.Severity, f.Message))
		}
	}
	sort.Strings(problems)
	for _, p := range problems {
		t.Error(p)
	}
}

func place(r text.Range) string {
	return fmt.Sprintf("%d:%d-%d:%d", r.Start.Line+1, r.Start.Character+1, r.End.Line+1, r.End.Character+1)
}
