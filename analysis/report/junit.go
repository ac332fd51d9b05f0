package report

import (
	"encoding/xml"
	"fmt"
	"io"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/suppress"
)

// The form is the one that CI servers agree on; times are left out, so that two runs
// over the same input give the same bytes.
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name      string        `xml:"name,attr"`
	ClassName string        `xml:"classname,attr"`
	File      string        `xml:"file,attr,omitempty"`
	Line      int           `xml:"line,attr,omitempty"`
	Failure   *junitFailure `xml:"failure"`
	Skipped   *junitSkipped `xml:"skipped"`
	Output    string        `xml:"system-out,omitempty"`
}

type junitFailure struct {
	Type    string `xml:"type,attr"` // the severity
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

type junitSkipped struct {
	Message string `xml:"message,attr"`
}

// policySuite holds the findings that belong to no library.
const policySuite = "policy"

// JUnit writes a test suite for each library, in which every finding that makes the run
// fail is a failed test case, every other one a case that passed and says it, and a library
// without findings one that passed. Findings that are suppressed or in the baseline are
// skipped cases. A campaign is a suite of its own, in which what says nothing of the
// sandbox is skipped.
func (r Report) JUnit(w io.Writer) error {
	order := []string{policySuite}
	suites := map[string]*junitSuite{policySuite: {Name: policySuite}}
	suite := func(name string) *junitSuite {
		if suites[name] == nil {
			suites[name] = &junitSuite{Name: name}
			order = append(order, name)
		}
		return suites[name]
	}
	for _, l := range r.Result.Libraries {
		suite(l.Policy.Name)
	}
	owner := func(f finding.Finding) *junitSuite {
		if library := f.Data["library"]; library != "" {
			return suite(library)
		}
		return suites[policySuite]
	}
	for _, f := range r.Result.Findings {
		s := owner(f)
		c := r.junitCase(s.Name, f)
		said := place(c.File, f.Range) + " " + f.Message
		if f.Severity.AtLeast(r.FailLevel) {
			c.Failure = &junitFailure{Type: f.Severity.String(), Message: f.Message, Text: said}
			s.Failures++
		} else {
			c.Output = f.Severity.String() + ": " + said
		}
		s.Cases = append(s.Cases, c)
	}
	skip := func(findings []finding.Finding, why func(finding.Finding) string) {
		for _, f := range findings {
			s := owner(f)
			c := r.junitCase(s.Name, f)
			c.Skipped = &junitSkipped{why(f)}
			s.Cases, s.Skipped = append(s.Cases, c), s.Skipped+1
		}
	}
	skip(r.Result.Suppressed, func(f finding.Finding) string { return "suppressed: " + f.Data[suppress.ReasonKey] })
	skip(r.Baselined, func(finding.Finding) string { return "in the baseline" })
	for _, c := range r.Campaigns {
		r.junitCampaign(suite(c.Library+" tests"), c)
	}
	all := junitSuites{Name: r.Tool.Name}
	for _, name := range order {
		s := suites[name]
		if len(s.Cases) == s.Skipped {
			s.Cases = append([]junitCase{{Name: "no findings", ClassName: r.Tool.Name + "." + name}}, s.Cases...)
		}
		s.Tests = len(s.Cases)
		all.Suites = append(all.Suites, *s)
		all.Tests, all.Failures, all.Skipped = all.Tests+s.Tests, all.Failures+s.Failures, all.Skipped+s.Skipped
	}
	raw, err := xml.MarshalIndent(all, "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, raw)
	}
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

func (r Report) junitCase(suite string, f finding.Finding) junitCase {
	file := r.file(f.File)
	return junitCase{
		Name: fmt.Sprintf("%s at %s", f.Code, place(file, f.Range)), ClassName: r.Tool.Name + "." + suite,
		File: file, Line: f.Range.Start.Line + 1,
	}
}
