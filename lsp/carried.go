package lsp

import (
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// carried are the findings of a complete check that the texts alone do not tell.
// While the next check is on its way they are shown where they still hold: before
// and behind an edit, and not inside of it.
type carried struct {
	view     *view
	findings []finding.Finding
}

// newCarried keeps of the findings those that are not among the parsed ones.
func newCarried(root string, v *view, findings, parsed []finding.Finding) carried {
	known := make(map[sameness]bool, len(parsed))
	for _, f := range parsed {
		known[identity(f)] = true
	}
	c := carried{view: v}
	for _, f := range findings {
		if !known[identity(f)] {
			c.findings = append(c.findings, f)
		}
	}
	return c
}

// sameness is what two findings have in common that say the same of the same place.
// What they offer to do about it may differ: a check knows more than a text.
type sameness struct {
	code     finding.Code
	severity finding.Severity
	message  string
	file     string
	where    text.Range
}

func identity(f finding.Finding) sameness {
	return sameness{f.Code, f.Severity, f.Message, f.File, f.Range}
}

// onto returns the findings that still hold in another view of the documents, with
// their places moved to where the text has moved.
func (c carried) onto(root string, now *view) []finding.Finding {
	var kept []finding.Finding
	shifts := map[string]*shift{}
	move := func(file string, r *text.Range) bool {
		s, ok := shifts[file]
		if !ok {
			path := absolute(root, file)
			s = newShift(c.view.byPath[path], now.byPath[path])
			shifts[file] = s
		}
		return s.move(r)
	}
	for _, f := range c.findings {
		if !move(f.File, &f.Range) {
			continue
		}
		related := f.Related
		f.Related = nil
		for _, r := range related {
			if move(r.File, &r.Range) {
				f.Related = append(f.Related, r)
			}
		}
		fixes := f.Fixes
		f.Fixes = nil
		for _, fix := range fixes {
			edits, whole := make([]finding.Edit, 0, len(fix.Edits)), true
			for _, e := range fix.Edits {
				whole = whole && move(e.File, &e.Range)
				edits = append(edits, e)
			}
			if whole {
				fix.Edits = edits
				f.Fixes = append(f.Fixes, fix)
			}
		}
		kept = append(kept, f)
	}
	return kept
}

// shift is how the places of one text became those of another, taken as one
// replacement: the part between what both begin with and what both end with.
type shift struct {
	before, now *text.Mapper
	start       int  // where the replacement begins, in both texts
	end         int  // where it ends in the text before
	delta       int  // by how much what follows it has moved
	gone        bool // no place can be found again
}

// newShift compares two versions of a document. It returns nil, which moves nothing,
// when they are the same, and when the document was not open before: then it has the
// text that the disk has, as far as anyone can tell. What was found in a document
// that is closed now was found in a text that may never have been saved.
func newShift(before, now *document) *shift {
	switch {
	case before == nil:
		return nil
	case now == nil:
		return &shift{gone: true}
	case before.text == now.text:
		return nil
	}
	a, b := before.text, now.text
	start := 0
	for start < min(len(a), len(b)) && a[start] == b[start] {
		start++
	}
	tail := 0
	for tail < min(len(a), len(b))-start && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return &shift{before: before.mapper(), now: now.mapper(), start: start, end: len(a) - tail, delta: len(b) - len(a)}
}

// move moves a range, or reports that the replacement touched it.
func (s *shift) move(r *text.Range) bool {
	if s == nil {
		return true
	}
	if s.gone {
		return false
	}
	span := s.before.Span(*r)
	switch {
	case span.End < s.start || span.End == s.start && span.Start < span.End:
		return true
	case span.Start >= s.end && (span.Start > s.end || span.Start < span.End):
		*r = s.now.Range(text.Span{Start: span.Start + s.delta, End: span.End + s.delta})
		return true
	default:
		return false
	}
}
