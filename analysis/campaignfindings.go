package analysis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/compat"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/harness"
)

// namedCases is how many cases a message names; reports list all.
const namedCases = 3

// campaignFindings says what campaigns found out: one finding for each library and
// kind of outcome, at the tests in the manifest, and for a limitation that is stale at
// its entry.
func (sn *Snapshot) campaignFindings(m *compat.Manifest, tested *Tested) []finding.Finding {
	file, p := tested.Manifest, tested.Policy
	fixes := &fixer{policy: p, file: policy.Relative(sn.root, p.File)}
	var findings []finding.Finding
	for _, c := range tested.Campaigns {
		add := func(code finding.Code, severity finding.Severity, span text.Span, data map[string]string, format string, args ...any) {
			data["library"] = c.Library
			findings = append(findings, finding.Finding{
				Code: code, Severity: severity, File: file, Range: m.Mapper.Range(span), Message: fmt.Sprintf(format, args...), Data: data,
			})
		}
		at := c.tests.KeySpan
		if len(c.tests.Tests) > 0 {
			at = c.tests.Tests[0].Span
		}
		regressions := map[harness.Kind][]harness.Verdict{}
		others := map[harness.Outcome][]harness.Verdict{}
		for _, v := range c.Verdicts {
			switch v.Outcome {
			case harness.Regression:
				regressions[v.Kind] = append(regressions[v.Kind], v)
			case harness.Stale:
				for _, l := range c.tests.Limitations {
					if l.Test == v.Name {
						add(finding.StaleLimitation, finding.Warning, l.Span, map[string]string{"test": v.Name}, "%q is listed as a limitation, and it passes inside the sandbox of %q. Remove the entry: it would hide the day on which the test fails again.", v.Name, c.Library)
					}
				}
			default:
				others[v.Outcome] = append(others[v.Outcome], v)
			}
		}
		for _, kind := range harness.Kinds {
			verdicts := regressions[kind]
			if len(verdicts) == 0 {
				continue
			}
			data := map[string]string{"kind": string(kind), "cases": strconv.Itoa(len(verdicts)), "test": verdicts[0].Name}
			if kind == harness.Unclassified {
				add(finding.UnclassifiedDifference, finding.Error, at, data, "%s of %q %s natively and %s inside its sandbox, and nothing says why: %s. Look at both sides with sandbox-lsp test --library %s; what is a fault of the sandbox should be reported.", casesOf(len(verdicts)), c.Library, plural(len(verdicts), "passes", "pass"), plural(len(verdicts), "fails", "fail"), named(verdicts), c.Library)
				continue
			}
			advice := kind.Advice()
			grants := grantsOf(verdicts)
			if len(grants) > 0 {
				data["permissions"] = strings.Join(grants, ",")
				advice = fmt.Sprintf("%s when %s granted, which was tried. Grant it if %q may have it, or declare the limitation.", plural(len(verdicts), "It passes", "They pass"), list(grants, 5)+plural(len(grants), " is", " are"), c.Library)
			}
			add(finding.SandboxRegression, finding.Error, at, data, "%s of %q %s natively and %s inside its sandbox (%s): %s. %s", casesOf(len(verdicts)), c.Library, plural(len(verdicts), "passes", "pass"), plural(len(verdicts), "fails", "fail"), kind, named(verdicts), advice)
			if len(grants) > 0 {
				findings[len(findings)-1].Fixes = fixes.granting(c.Library, grants)
			}
		}
		if failing := others[harness.NativeFailure]; len(failing) > 0 {
			add(finding.NativeFailure, finding.Info, at, map[string]string{"cases": strconv.Itoa(len(failing)), "test": failing[0].Name}, "%s of %q %s against the library itself, which says nothing of its sandbox: %s.", casesOf(len(failing)), c.Library, plural(len(failing), "fails", "fail"), named(failing))
		}
		if flaky := others[harness.Flaky]; len(flaky) > 0 {
			add(finding.FlakyTest, finding.Warning, at, map[string]string{"cases": strconv.Itoa(len(flaky)), "test": flaky[0].Name}, "%s of %q %s between two native runs, which says nothing of its sandbox: %s.", casesOf(len(flaky)), c.Library, plural(len(flaky), "differs", "differ"), named(flaky))
		}
		for _, n := range c.NotRunnable {
			message := n.Reason
			if n.File != "" {
				message = n.File + ": " + message
			}
			if n.Install != "" {
				message += ". Install it: " + n.Install
			}
			add(finding.NotRunnable, finding.Warning, at, map[string]string{"install": n.Install}, "Tests of %q cannot run in the engine %s: %s.", c.Library, c.Engine, message)
		}
		if c.ran() == 0 {
			add(finding.NotRunnable, finding.Error, at, map[string]string{}, "The campaign of %q ran no test that passes natively, so nothing is known of its compatibility.", c.Library)
		}
	}
	return findings
}

// ran counts the cases that say something of the sandbox.
func (c *Campaign) ran() int {
	return c.Count(harness.Compatible) + c.Count(harness.Regression) + c.Count(harness.Limitation) + c.Count(harness.Stale)
}

func casesOf(n int) string {
	if n == 1 {
		return "1 test case"
	}
	return fmt.Sprintf("%d test cases", n)
}

// grantsOf returns the grants with which cases were seen to pass, sorted.
func grantsOf(verdicts []harness.Verdict) []string {
	var grants []string
	for _, v := range verdicts {
		if v.Grant != "" && !slices.Contains(grants, v.Grant) {
			grants = append(grants, v.Grant)
		}
	}
	slices.Sort(grants)
	return grants
}

// named names the first of some cases.
func named(verdicts []harness.Verdict) string {
	var names []string
	for i, v := range verdicts {
		if i == namedCases {
			names = append(names, fmt.Sprintf("and %d more", len(verdicts)-namedCases))
			break
		}
		names = append(names, strconv.Quote(v.Name))
	}
	return strings.Join(names, ", ")
}
