package suppress

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/resolve"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

var (
	// opening is what may stand before the first word of a comment.
	opening = regexp.MustCompile(`^(?://+|/\*+)[\s*]*`)
	word    = regexp.MustCompile(`^` + prefix + `[\w-]+`)
	dashes  = regexp.MustCompile(`(?:^|\s)--(?:\s|$)`)
	token   = regexp.MustCompile(`[^\s,]+`)
	codeish = regexp.MustCompile(`^[A-Za-z]{3}\d+$`)
	// gutter is the decoration at the start of a line of a block comment.
	gutter = regexp.MustCompile(`(?m)^[ \t]*\*+[ \t]?`)
)

// words is a comment that means to suppress something, taken apart.
type words struct {
	word   string
	rest   string // what follows the word, the end of a block comment left off
	offset int    // of rest, in the file
}

// meant returns the word that another one was meant to be, or "".
func meant(w string) string {
	near := resolve.Nearest(strings.TrimPrefix(w, prefix), []string{strings.TrimPrefix(lineWord, prefix), strings.TrimPrefix(libraryWord, prefix)})
	if near == "" {
		return ""
	}
	return prefix + near
}

// split takes a comment apart; false for one that is about something else.
func split(c syntax.Comment) (words, bool) {
	at := len(opening.FindString(c.Text))
	w := word.FindString(c.Text[at:])
	if w == "" || !strings.HasPrefix(w, lineWord) && meant(w) == "" {
		return words{}, false
	}
	at += len(w)
	rest := c.Text[at:]
	if strings.HasPrefix(c.Text, "/*") {
		rest = strings.TrimSuffix(rest, "*/")
	}
	return words{word: w, rest: rest, offset: c.Span.Start + at}, true
}

// read returns what a suppression covers and why, or reports what is wrong with it.
// Codes that are wrong are left out; without any other the result is false.
func (s *Set) read(w words, c syntax.Comment) ([]code, string, bool) {
	if w.word != lineWord && w.word != libraryWord {
		f := s.fault(c.Span, "There is no %s, so this comment suppresses nothing. Use %s for the next line or %s for a library.", w.word, lineWord, libraryWord)
		if suggestion := meant(w.word); suggestion != "" {
			f.Data = map[string]string{"suggestion": suggestion}
			at := text.Span{Start: w.offset - len(w.word), End: w.offset}
			f.Fixes = []finding.Fix{{Title: "Change to " + suggestion, Edits: []finding.Edit{{File: s.file, Range: s.mapper.Range(at), NewText: suggestion}}}}
		}
		return nil, "", false
	}
	listed, reason := w.rest, ""
	if at := dashes.FindStringIndex(w.rest); at != nil {
		listed, reason = w.rest[:at[0]], clean(w.rest[at[1]:])
	}
	var codes []code
	for _, at := range token.FindAllStringIndex(listed, -1) {
		if strings.Trim(listed[at[0]:at[1]], "*") != "" { // the gutter of a block comment
			codes = append(codes, code{
				Code: finding.Code(listed[at[0]:at[1]]),
				span: text.Span{Start: w.offset + at[0], End: w.offset + at[1]},
			})
		}
	}
	if reason == "" {
		s.fault(c.Span, "This suppression gives no reason, so it suppresses nothing: a decision that nobody can look up cannot be reviewed. Write the reason behind two dashes: %s", example(w.word, codes))
		return nil, "", false
	}
	if len(codes) == 0 {
		s.fault(c.Span, "This suppression names no code, so it suppresses nothing. Say which findings are meant: %s", example(w.word, nil))
		return nil, "", false
	}
	valid := slices.DeleteFunc(codes, func(c code) bool { return !s.valid(c) })
	return valid, reason, len(valid) > 0
}

// valid reports a code that is unknown or cannot be suppressed.
func (s *Set) valid(c code) bool {
	known := finding.Codes()
	if slices.Contains(never, c.Code) {
		s.fault(c.span, "%s cannot be suppressed: what it says has to be put right before the other findings mean anything. Remove it from this comment.", c.Code)
		return false
	}
	if slices.Contains(known, c.Code) {
		return true
	}
	names := make([]string, len(known))
	for i, k := range known {
		names[i] = string(k)
	}
	suggestion := resolve.Nearest(string(c.Code), names)
	if !codeish.MatchString(string(c.Code)) {
		suggestion = ""
	}
	hint := "The codes are listed by: sandbox-lsp explain"
	if suggestion != "" {
		hint = fmt.Sprintf("Did you mean %s?", suggestion)
	}
	f := s.fault(c.span, "There is no finding %q, so nothing is suppressed by that name. %s", c.Code, hint)
	if suggestion != "" {
		f.Data = map[string]string{"suggestion": suggestion}
		f.Fixes = []finding.Fix{{
			Title: fmt.Sprintf("Change to %s", suggestion),
			Edits: []finding.Edit{{File: s.file, Range: s.mapper.Range(c.span), NewText: suggestion}},
		}}
	}
	return false
}

// example writes a suppression as it should be.
func example(word string, codes []code) string {
	var names []string
	for _, c := range codes {
		if !codeish.MatchString(string(c.Code)) {
			break // where the author's prose begins
		}
		names = append(names, string(c.Code))
	}
	if len(names) == 0 {
		names = []string{string(finding.UnusedPermission)}
	}
	return "// " + word + " " + strings.Join(names, ", ") + " -- why this is accepted"
}

// clean makes one line of a reason that a block comment spreads over several.
func clean(reason string) string {
	return strings.Join(strings.Fields(gutter.ReplaceAllString(reason, "")), " ")
}

// fault reports a suppression that does not do what its author meant.
func (s *Set) fault(span text.Span, format string, args ...any) *finding.Finding {
	s.faults = append(s.faults, finding.Finding{
		Code: finding.BadSuppression, Severity: finding.Error, File: s.file,
		Range: s.mapper.Range(span), Message: fmt.Sprintf(format, args...),
	})
	return &s.faults[len(s.faults)-1]
}
