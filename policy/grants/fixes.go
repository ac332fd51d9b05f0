package grants

import (
	"fmt"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// literal reports whether a span of the policy is exactly a string with this value,
// without escapes. A value that was computed has the span of what it was computed
// from, which a fix must not replace.
func (j *judge) literal(span text.Span, value string) bool {
	source := j.policy.Mapper.Text()
	if span.Start < 0 || span.End > len(source) || span.End-span.Start != len(value)+2 {
		return false
	}
	quote := source[span.Start]
	return strings.IndexByte("\"'`", quote) >= 0 && source[span.End-1] == quote && source[span.Start+1:span.End-1] == value
}

// fixText offers another text for a string, and names it for tools.
func (j *judge) fixText(f *finding.Finding, span text.Span, value, suggestion string) {
	f.Data["suggestion"] = suggestion
	if !j.literal(span, value) || strings.ContainsAny(suggestion, "\"'`\\\n$") {
		return
	}
	inside := text.Span{Start: span.Start + 1, End: span.End - 1}
	f.Fixes = append(f.Fixes, finding.Fix{
		Title: fmt.Sprintf("Replace with %q", suggestion),
		Edits: []finding.Edit{{File: f.File, Range: j.policy.Mapper.Range(inside), NewText: suggestion}},
	})
}

// fixRemoval offers to take a permission out of its list, with the comma that
// belongs to it. It offers nothing for the object form, of which only the name's
// place is known.
func (j *judge) fixRemoval(f *finding.Finding, p policy.Permission) {
	if !j.literal(p.Span, p.Name) {
		return
	}
	source := j.policy.Mapper.Text()
	before, after := strings.TrimRight(source[:p.Span.Start], " \t\r\n"), strings.TrimLeft(source[p.Span.End:], " \t\r\n")
	cut := p.Span
	switch {
	case strings.HasPrefix(after, ",") && (strings.HasSuffix(before, "[") || strings.HasSuffix(before, ",")):
		rest := after[1:]
		cut.End = len(source) - len(rest) + len(rest) - len(strings.TrimLeft(rest, " \t"))
		if strings.HasPrefix(strings.TrimLeft(rest, " \t\r"), "\n") { // alone on its line
			cut.Start = len(before)
		}
	case strings.HasPrefix(after, "]") && strings.HasSuffix(before, ","):
		cut.Start = len(before) - 1
	case strings.HasPrefix(after, "]") && strings.HasSuffix(before, "["):
	default:
		return
	}
	f.Fixes = append(f.Fixes, finding.Fix{
		Title: fmt.Sprintf("Remove %q", p.Name),
		Edits: []finding.Edit{{File: f.File, Range: j.policy.Mapper.Range(cut)}},
	})
}
