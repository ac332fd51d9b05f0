// Package edit changes a policy's text as its author would: one change at a time,
// in the style that the file already has, with every comment left where it is except
// for those that speak of what is removed.
//
// An edit is made only where the text spells the value out. What comes from a
// spread, a call or an import, and what several places share, is refused with a
// sentence that says why: a tool that grants authority must not change more than it
// was asked to.
package edit

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// Edit replaces a part of the text that it was made for.
type Edit struct {
	Span    text.Span // in bytes; empty for an insertion
	NewText string
}

// Refusal is the error of an edit that would not be safe. Its text is a sentence
// for the user.
type Refusal struct {
	Reason string
	Span   text.Span // of what stands in the way
}

func (r *Refusal) Error() string { return r.Reason }

// Apply returns the text with the edits of one operation made. They have to be in
// the order of their places and must not overlap, as this package returns them.
func Apply(content string, edits []Edit) string {
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(content[at:e.Span.Start])
		b.WriteString(e.NewText)
		at = e.Span.End
	}
	b.WriteString(content[at:])
	return b.String()
}

// ApplyAll makes several operations that were computed from the same text. One that
// overlaps or touches an operation before it is left out, since each was made
// without knowing of the other, and its index is returned: compute it anew from the
// new text.
func ApplyAll(content string, operations [][]Edit) (changed string, skipped []int) {
	var all []Edit
	for i, edits := range operations {
		if slices.ContainsFunc(edits, func(e Edit) bool {
			return slices.ContainsFunc(all, func(made Edit) bool {
				return e.Span.Start <= made.Span.End && made.Span.Start <= e.Span.End
			})
		}) {
			skipped = append(skipped, i)
			continue
		}
		all = append(all, edits...)
	}
	return Apply(content, inOrder(all)), skipped
}

// inOrder sorts edits by place and joins those that touch.
func inOrder(edits []Edit) []Edit {
	slices.SortStableFunc(edits, func(a, b Edit) int {
		return cmp.Or(cmp.Compare(a.Span.Start, b.Span.Start), cmp.Compare(a.Span.End, b.Span.End))
	})
	var out []Edit
	for _, e := range edits {
		if last := len(out) - 1; last >= 0 && out[last].Span.End >= e.Span.Start {
			out[last].Span.End = max(out[last].Span.End, e.Span.End)
			out[last].NewText += e.NewText
			continue
		}
		out = append(out, e)
	}
	return out
}
