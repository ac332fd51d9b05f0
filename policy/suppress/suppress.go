// Package suppress reads the comments by which people say that a finding is known
// and accepted, and takes those findings out of the report.
//
//	// sandbox-lsp-ignore SBX013 -- kept for the plugin that loads on demand
//	// sandbox-lsp-ignore-library SBX016, SBX034 -- reviewed in full, see docs/qs.md
//
// The first form covers findings of its codes on one line: its own when code stands
// there too, else the next line that has code. The second stands in the policy,
// inside or above the entry of a library, and covers that library wherever it is
// found fault with. Block comments do the same.
//
// A suppression is a decision that somebody has to be able to look up, so it needs a
// reason; and one that no longer hides anything could hide something else tomorrow,
// so it is reported as stale. Both are SBX046.
package suppress

import (
	"slices"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// The words that begin a suppression.
const (
	prefix      = "sandbox-lsp-"
	lineWord    = prefix + "ignore"
	libraryWord = lineWord + "-library"
)

// ReasonKey is the key in a suppressed finding's Data under which the reason stands.
const ReasonKey = "suppressed"

// never are the codes that cannot be suppressed: those without which nothing else
// can be believed, and the suppressions' own.
var never = []finding.Code{finding.PolicyUnreadable, finding.PolicyNotAnObject, finding.HashMismatch, finding.BadSuppression}

// Mentions reports whether a text may hold a suppression. It spares parsing the
// many that do not.
func Mentions(content string) bool { return strings.Contains(content, prefix) }

// Set is the suppressions of one file. It is immutable. The zero Set is empty.
type Set struct {
	file       string
	mapper     *text.Mapper
	policy     bool // the file is the policy
	directives []directive
	faults     []finding.Finding
	// broken marks a file that does not parse. What is missing from the findings about
	// it proves nothing.
	broken bool
}

// directive is one well-formed suppression.
type directive struct {
	comment text.Span
	codes   []code
	reason  string
	line    int    // the line that is covered, from 0; -1 for none
	subject string // the library that is covered, "" for a line
	within  string // the library in whose entry the comment stands or whose line it covers
}

type code struct {
	finding.Code
	span text.Span
}

// Parse reads the suppressions of a file. name is the file's name in findings, and
// content its text, of which parsed may show a part only, each thing in its place;
// libraries are the policy's when the file is the policy, else nil.
func Parse(name, content string, parsed *syntax.File, libraries []policy.Library) Set {
	s := Set{file: name, mapper: text.NewMapper(content), policy: libraries != nil, broken: len(parsed.Diagnostics) > 0}
	if !Mentions(content) {
		return s
	}
	comments := parsed.Comments()
	lines := newCodeLines(s.mapper, comments)
	entries := entriesOf(libraries)
	for _, c := range comments {
		w, ok := split(c)
		if !ok {
			continue
		}
		d := directive{comment: c.Span, line: lines.covered(c.Span)}
		if d.codes, d.reason, ok = s.read(w, c); !ok {
			continue
		}
		d.within = entries.at(s.mapper, c.Span, d.line)
		if w.word == libraryWord {
			if d.subject = d.within; d.subject == "" {
				s.fault(c.Span, "This suppression covers a library, but it stands neither inside nor above the entry of one in the policy, so it has no effect. Move it there, or use %s for one line.", lineWord)
				continue
			}
		}
		s.directives = append(s.directives, d)
	}
	return s
}

// entries are the places of the libraries in a policy.
type entries []policy.Library

// entriesOf leaves out the libraries that only the evaluation of the policy shows:
// their ranges are those of whatever is around them.
func entriesOf(libraries []policy.Library) entries {
	return slices.DeleteFunc(slices.Clone(libraries), func(l policy.Library) bool { return l.KeySpan.End <= l.KeySpan.Start })
}

// at returns the library whose entry a comment stands in, or else begins on the line
// that the comment covers, or else reaches into it; "" for none.
func (all entries) at(m *text.Mapper, comment text.Span, line int) string {
	for _, l := range all {
		if l.Span != l.KeySpan && l.Span.Start <= comment.Start && comment.End <= l.Span.End {
			return l.Name
		}
	}
	reaches := ""
	for _, l := range all {
		key := m.Range(l.KeySpan)
		switch {
		case key.Start.Line != key.End.Line: // no key reaches over a line: the range of something around it
		case key.Start.Line == line:
			return l.Name
		case m.Position(l.Span.Start).Line <= line && line <= m.Position(l.Span.End).Line:
			reaches = l.Name
		}
	}
	return reaches
}

// codeLines knows which lines of a text hold more than comments.
type codeLines struct {
	mapper *text.Mapper
	code   string // the text with its comments blanked, at the same offsets
}

func newCodeLines(m *text.Mapper, comments []syntax.Comment) codeLines {
	blanked := []byte(strings.Replace(m.Text(), "\uFEFF", "   ", 1))
	for _, c := range comments {
		for i := c.Span.Start; i < c.Span.End; i++ {
			if blanked[i] != '\n' && blanked[i] != '\r' {
				blanked[i] = ' '
			}
		}
	}
	return codeLines{mapper: m, code: string(blanked)}
}

// covered returns the line that a comment covers, or -1.
func (l codeLines) covered(comment text.Span) int {
	first, last := l.mapper.Position(comment.Start).Line, l.mapper.Position(comment.End).Line
	if strings.TrimSpace(l.code[l.start(first):comment.Start]) != "" {
		return first
	}
	for line := last; line < l.mapper.LineCount(); line++ {
		from := l.start(line)
		if line == last {
			from = comment.End
		}
		if strings.TrimSpace(l.code[from:l.start(line+1)]) != "" {
			return line
		}
	}
	return -1
}

func (l codeLines) start(line int) int {
	return l.mapper.Offset(text.Position{Line: line})
}
