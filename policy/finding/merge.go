package finding

import (
	"cmp"
	"slices"

	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// Preferred returns the preferred fix of each finding that has one, in the order of
// the findings and each fix once. What grants something is never among them.
func Preferred(findings []Finding) []Fix {
	var fixes []Fix
	for _, f := range findings {
		if i := slices.IndexFunc(f.Fixes, func(fix Fix) bool { return fix.Preferred && !fix.Grants }); i >= 0 {
			if !slices.ContainsFunc(fixes, func(other Fix) bool {
				return slices.Equal(other.Edits, f.Fixes[i].Edits) && slices.Equal(other.Creates, f.Fixes[i].Creates)
			}) {
				fixes = append(fixes, f.Fixes[i])
			}
		}
	}
	return fixes
}

// Merge makes one change of several fixes for the same texts, with its edits in the
// order of their places. A fix that overlaps or touches one before it is left out and
// counted, since each was made without knowing of the other: it has to be asked for
// again when the change is made. So is one that creates a file that another creates.
func Merge(fixes []Fix) (merged Fix, skipped int) {
	for _, fix := range fixes {
		clash := slices.ContainsFunc(fix.Edits, func(e Edit) bool {
			return slices.ContainsFunc(merged.Edits, func(made Edit) bool {
				return e.File == made.File && touches(e.Range, made.Range)
			})
		}) || slices.ContainsFunc(fix.Creates, func(n NewFile) bool {
			return slices.ContainsFunc(merged.Creates, func(made NewFile) bool { return n.File == made.File })
		})
		if clash {
			skipped++
			continue
		}
		merged.Edits = append(merged.Edits, fix.Edits...)
		merged.Creates = append(merged.Creates, fix.Creates...)
	}
	slices.SortStableFunc(merged.Edits, func(a, b Edit) int {
		return cmp.Or(
			cmp.Compare(a.File, b.File),
			cmp.Compare(a.Range.Start.Line, b.Range.Start.Line),
			cmp.Compare(a.Range.Start.Character, b.Range.Start.Character),
			cmp.Compare(a.Range.End.Line, b.Range.End.Line),
			cmp.Compare(a.Range.End.Character, b.Range.End.Character),
		)
	})
	return merged, skipped
}

func touches(a, b text.Range) bool { return !a.End.Before(b.Start) && !b.End.Before(a.Start) }

// Apply returns a file's text with those edits made that are for it. The edits are in
// the order of their places and do not overlap.
func Apply(content, file string, edits []Edit) string {
	m := text.NewMapper(content)
	changed, at := []byte{}, 0
	for _, e := range edits {
		if e.File != file {
			continue
		}
		span := m.Span(e.Range)
		changed = append(changed, content[at:span.Start]...)
		changed = append(changed, e.NewText...)
		at = span.End
	}
	return string(append(changed, content[at:]...))
}
