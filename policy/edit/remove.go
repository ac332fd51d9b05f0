package edit

import (
	"slices"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// remove returns the edits that take items out of a list, each with one comma and
// the comments behind it on its line. Comments above an item stay: whether they
// speak of that item alone, only a person can tell.
func (p *Policy) remove(l *list, indexes []int) []Edit { return p.take(l, indexes, false) }

// removeRemarked is remove for items that are remarked on one by one, as permissions
// are: what stands right above an item says why it is there, and would tell of
// something that is gone.
func (p *Policy) removeRemarked(l *list, indexes []int) []Edit { return p.take(l, indexes, true) }

func (p *Policy) take(l *list, indexes []int, remarked bool) []Edit {
	if len(indexes) == 0 {
		return nil
	}
	gone := make([]bool, len(l.items))
	for _, i := range indexes {
		gone[i] = true
	}
	span := func(i int) text.Span {
		if remarked {
			return p.remarked(l, i)
		}
		end, _ := l.tail(i)
		return text.Span{Start: l.items[i].Start, End: end}
	}
	if !slices.Contains(gone, false) && !p.keepsComments(l, span) {
		return []Edit{{Span: text.Span{Start: l.open + 1, End: l.close}}}
	}
	var cuts []text.Span
	taken := make([]bool, len(l.items)) // commas
	for i, item := range l.items {
		if !gone[i] {
			continue
		}
		whole := span(i)
		end := whole.End
		comma := p.separator(l, i, end, taken)
		if i > 0 && whole.Start < l.commas[i-1] && l.commas[i-1] < item.Start && comma != i-1 && !taken[i-1] {
			whole.Start = item.Start // a comma stands between, which has to stay
		}
		cuts = append(cuts, whole)
		if comma < 0 {
			continue
		}
		taken[comma] = true
		if at := l.commas[comma]; comma != i || at >= end {
			cuts = append(cuts, text.Span{Start: at, End: at + 1})
		}
	}
	return p.cut(l, cuts)
}

// separator returns the index of the comma that goes with an item, or -1: its own if
// that is on its line, the one that leads its line, its own wherever it is, or for a
// last item without one, the last that is left before it.
func (p *Policy) separator(l *list, i, end int, taken []bool) int {
	own := l.commas[i]
	switch {
	case own >= 0 && own < end:
		return i
	case i > 0 && !taken[i-1] && l.commas[i-1] >= lineStart(p.text, l.items[i].Start) && firstOnLine(p.text, l.commas[i-1]):
		return i - 1
	case own >= 0:
		return i
	}
	for j := i - 1; j >= 0; j-- {
		if !taken[j] {
			return j
		}
	}
	return -1
}

// remarked returns an item with the comments that speak of it: those behind it on its
// line, and on the lines below as far as they go on with these; and those on the lines
// right above, up to a blank one. Where other items share its line, those above are
// theirs too.
func (p *Policy) remarked(l *list, i int) text.Span {
	item := l.items[i]
	end, last := l.tail(i)
	if !last && (i+1 < len(l.items) || strings.ContainsAny(p.text[end:l.close], "\r\n")) {
		return text.Span{Start: item.Start, End: end}
	}
	from := l.open + 1
	if i > 0 {
		from, _ = l.tail(i - 1)
		from = p.continued(l, i-1, from)
	}
	start, breaks := -1, 0 // of the comments since the last blank line
	own := false           // nothing else stands on the line
	scan(p.text, from, item.Start, func(kind trivia, span text.Span) bool {
		switch kind {
		case newline_:
			if breaks++; breaks > 1 || !own {
				start = -1
			}
			own = true
		case comment_:
			breaks = 0
			if start < 0 && own {
				start = span.Start
			}
		case comma_: // where commas lead the lines, what stands above is above the item
			if !firstOnLine(p.text, span.Start) {
				start, own = -1, false
			}
		}
		return true
	})
	if start < 0 || !firstOnLine(p.text, start) {
		start = item.Start
	}
	if last {
		end = p.continued(l, i, end)
	}
	return text.Span{Start: start, End: end}
}

// keepsComments reports whether comments would stay in a list without its items, each
// of which takes up a span.
func (p *Policy) keepsComments(l *list, span func(i int) text.Span) bool {
	from := l.open + 1
	for i := range len(l.items) + 1 {
		to := l.close
		if i < len(l.items) {
			to = span(i).Start
		}
		if _, found := lastComment(p.text, from, to); found {
			return true
		}
		if i < len(l.items) {
			from = span(i).End
		}
	}
	return false
}

// cut turns what has to go into edits that leave neither empty lines nor double
// spaces.
func (p *Policy) cut(l *list, cuts []text.Span) []Edit {
	slices.SortFunc(cuts, func(a, b text.Span) int { return a.Start - b.Start })
	var merged []text.Span
	for _, c := range cuts {
		if last := len(merged) - 1; last >= 0 && (c.Start <= merged[last].End || blank(p.text[merged[last].End:c.Start])) {
			merged[last].End = max(merged[last].End, c.End)
			continue
		}
		merged = append(merged, c)
	}
	edits := make([]Edit, len(merged))
	for i, c := range merged {
		edits[i] = Edit{Span: p.tidy(l, c)}
	}
	return inOrder(edits)
}

// tidy widens a cut over the white space that it would leave behind.
func (p *Policy) tidy(l *list, c text.Span) text.Span {
	start, end := lineStart(p.text, c.Start), lineEnd(p.text, c.End)
	first, last := blank(p.text[start:c.Start]), blank(p.text[c.End:end])
	switch {
	case first && last:
		return p.wholeLines(l, text.Span{Start: start, End: end + lineBreak(p.text, end)})
	case last || !first && strings.TrimLeft(p.text[c.End:l.close], " \t") == "":
		for c.Start > start && (p.text[c.Start-1] == ' ' || p.text[c.Start-1] == '\t') {
			c.Start--
		}
	case c.End-c.Start > 1 || first || blank(p.text[c.Start-1:c.Start]): // not a comma alone
		for c.End < l.close && (p.text[c.End] == ' ' || p.text[c.End] == '\t') {
			c.End++
		}
	}
	return c
}

// wholeLines takes away a blank line too where two would come together, or one would
// come to stand at a bracket.
func (p *Policy) wholeLines(l *list, c text.Span) text.Span {
	above := strings.TrimRight(p.text[:c.Start], " \t")
	above = strings.TrimSuffix(strings.TrimSuffix(above, "\n"), "\r")
	atTop := len(strings.TrimRight(above, " \t")) == l.open+1
	blankAbove := blank(above[lineStart(above, len(above)):])
	for atTop || blankAbove {
		end := lineEnd(p.text, c.End)
		if !blank(p.text[c.End:end]) || end >= l.close {
			break
		}
		c.End = end + lineBreak(p.text, end)
	}
	// Up to the closing bracket, blank lines above go as well.
	if blank(p.text[c.End:max(c.End, l.close)]) {
		for c.Start > l.open {
			line := lineStart(p.text, previousLine(p.text, c.Start))
			if line <= l.open || !blank(strings.TrimRight(p.text[line:c.Start], "\r\n")) {
				break
			}
			c.Start = line
		}
	}
	return c
}

// previousLine returns an offset on the line before the one that begins at an
// offset: that of its line break.
func previousLine(content string, start int) int {
	start--
	if start > 0 && content[start] == '\n' && content[start-1] == '\r' {
		start--
	}
	return max(start, 0)
}
