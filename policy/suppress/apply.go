package suppress

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// Result is what becomes of the findings of a run.
type Result struct {
	// Kept are the findings that no suppression covers, and those about the
	// suppressions themselves, in order.
	Kept []finding.Finding
	// Suppressed are the others, in order. Their Data holds the reason under ReasonKey.
	Suppressed []finding.Finding
}

// Apply takes out of the findings what the suppressions of the files cover.
//
// of returns the suppressions of a file by its name in findings; it is asked, once
// each, for the given files and for every file in which something was found. Name
// the policy among the files, and whatever else was searched: a suppression in a
// file that nobody names and nothing was found in is not looked at.
//
// complete says that every stage ran which could have found something. Otherwise
// no suppression is called stale, and neither is one of a library that did not get
// through its stages, nor, while there is such a library, one outside of the policy,
// nor any in a file that does not parse.
func Apply(findings []finding.Finding, files []string, of func(file string) (Set, bool), complete bool) Result {
	run := applying{asked: map[string]bool{}}
	for _, file := range files {
		run.ask(file, of)
	}
	for _, f := range findings {
		run.ask(f.File, of)
	}
	var result Result
	for _, f := range findings {
		if reason, covered := run.covered(f); covered {
			f.Data = maps.Clone(f.Data)
			if f.Data == nil {
				f.Data = map[string]string{}
			}
			f.Data[ReasonKey] = reason
			result.Suppressed = append(result.Suppressed, f)
		} else {
			result.Kept = append(result.Kept, f)
		}
	}
	unfinished, unread := unfinished(findings)
	for _, t := range run.sets {
		result.Kept = append(result.Kept, t.faults...)
		if complete && !unread && !t.broken {
			result.Kept = append(result.Kept, t.stale(unfinished)...)
		}
	}
	result.Kept, result.Suppressed = finding.Sort(result.Kept), finding.Sort(result.Suppressed)
	return result
}

// applying is one run of Apply.
type applying struct {
	asked map[string]bool
	sets  []*tally // of the files that hold suppressions
}

// tally is a file's suppressions with what each has covered.
type tally struct {
	Set
	used []map[finding.Code]bool // by directive
}

func (a *applying) ask(file string, of func(string) (Set, bool)) {
	if a.asked[file] {
		return
	}
	a.asked[file] = true
	set, ok := of(file)
	if !ok || len(set.directives)+len(set.faults) == 0 {
		return
	}
	t := &tally{Set: set, used: make([]map[finding.Code]bool, len(set.directives))}
	for i := range t.used {
		t.used[i] = map[finding.Code]bool{}
	}
	a.sets = append(a.sets, t)
}

// covered returns the reason for which a finding is suppressed. Every suppression
// that covers it counts as used, so that none of them is stale; the first on the
// finding's own line gives the reason, else the first for its library.
func (a *applying) covered(f finding.Finding) (reason string, covered bool) {
	onLine := false
	for _, t := range a.sets {
		for i, d := range t.directives {
			byLine := d.subject == "" && t.file == f.File && d.line == f.Range.Start.Line
			byLibrary := d.subject != "" && d.subject == f.Data["library"]
			if !byLine && !byLibrary || !slices.ContainsFunc(d.codes, func(c code) bool { return c.Code == f.Code }) {
				continue
			}
			t.used[i][f.Code] = true
			if !covered || byLine && !onLine {
				reason = d.reason
			}
			covered, onLine = true, onLine || byLine
		}
	}
	return reason, covered
}

// unfinished returns the libraries of which some stage could not run, and whether
// the policy itself could not be read.
func unfinished(findings []finding.Finding) (libraries map[string]bool, unread bool) {
	libraries = map[string]bool{}
	for _, f := range findings {
		switch f.Code {
		case finding.PolicyUnreadable, finding.PolicyNotAnObject:
			unread = unread || f.Severity == finding.Error
		case finding.PackageUnresolved:
			// Merely not listed, it got through all the same. Of no library in particular,
			// it is the application's package.json that is broken.
			library, one := f.Data["library"]
			switch {
			case f.Severity != finding.Error:
			case one:
				libraries[library] = true
			default:
				unread = true
			}
		case finding.BundleFailed, finding.LoadFailed, finding.LoadLimit:
			libraries[f.Data["library"]] = true
		}
	}
	return libraries, unread
}

// stale reports the suppressions that covered nothing.
func (t *tally) stale(unfinished map[string]bool) []finding.Finding {
	var out []finding.Finding
	for i, d := range t.directives {
		if unfinished[d.within] || !t.policy && len(unfinished) > 0 {
			continue
		}
		var idle, busy []code
		for _, c := range d.codes {
			if t.used[i][c.Code] {
				busy = append(busy, c)
			} else {
				idle = append(idle, c)
			}
		}
		if len(idle) == 0 {
			continue
		}
		f := finding.Finding{
			Code: finding.BadSuppression, Severity: finding.Warning, File: t.file, Range: t.mapper.Range(d.comment),
			Message: fmt.Sprintf("%s %s not reported %s, so this comment suppresses nothing now and could hide something else later. Remove it.", names(idle, " and "), is(idle), t.place(d)),
			Data:    map[string]string{"codes": names(idle, " ")},
		}
		if len(busy) == 0 {
			f.Fixes = []finding.Fix{{Title: "Remove the stale suppression", Preferred: true, Edits: []finding.Edit{t.removal(d.comment)}}}
		} else {
			f.Range = t.mapper.Range(idle[0].span)
			f.Message = fmt.Sprintf("%s %s not reported %s. Take %s out of this comment, so that nothing else is hidden later.", names(idle, " and "), is(idle), t.place(d), it(idle))
			f.Fixes = []finding.Fix{{
				Title: "Remove " + names(idle, " and ") + " from the suppression", Preferred: true,
				Edits: []finding.Edit{{
					File: t.file, NewText: names(busy, ", "),
					Range: t.mapper.Range(text.Span{Start: d.codes[0].span.Start, End: d.codes[len(d.codes)-1].span.End}),
				}},
			}}
		}
		out = append(out, f)
	}
	return out
}

func (t *tally) place(d directive) string {
	switch {
	case d.subject != "":
		return fmt.Sprintf("for %q", d.subject)
	case d.line < 0:
		return "here: no code follows"
	default:
		return fmt.Sprintf("on line %d", d.line+1)
	}
}

func names(codes []code, separator string) string {
	list := make([]string, len(codes))
	for i, c := range codes {
		list[i] = string(c.Code)
	}
	return strings.Join(list, separator)
}

func is(codes []code) string {
	if len(codes) == 1 {
		return "is"
	}
	return "are"
}

func it(codes []code) string {
	if len(codes) == 1 {
		return "it"
	}
	return "them"
}
