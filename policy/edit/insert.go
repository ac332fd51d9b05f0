package edit

import (
	"slices"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// item renders something new for a list at an indentation.
type item func(indent string) string

// insert returns the edits that put items into a list, all of them before the item
// with the given index, or at the end. broken asks for a line of its own where an
// empty list leaves the choice.
func (p *Policy) insert(l *list, index int, items []item, broken bool) []Edit {
	return p.fit(l, p.place(l, index, items, broken))
}

// place is insert without regard to how long the line gets.
func (p *Policy) place(l *list, index int, items []item, broken bool) []Edit {
	switch {
	case len(items) == 0:
		return nil
	case len(l.items) == 0:
		return p.fill(l, items, broken)
	case index == 0:
		return p.prepend(l, items)
	}
	return p.append(l, index-1, items)
}

// render renders items at an indentation, with what has to stand between them.
func render(items []item, indent, between string) string {
	parts := make([]string, len(items))
	for i, item := range items {
		parts[i] = item(indent)
	}
	return strings.Join(parts, between)
}

// insertion is the edit that adds text at an offset.
func insertion(at int, s string) Edit {
	return Edit{Span: text.Span{Start: at, End: at}, NewText: s}
}

// fill puts the first items into an empty list, keeping the comments in it.
func (p *Policy) fill(l *list, items []item, broken bool) []Edit {
	outer := indentOf(p.text, l.open)
	inner := outer + p.style.unit
	newline := p.style.newline
	last := text.Span{Start: -1}
	scan(p.text, l.open+1, l.close, func(kind trivia, span text.Span) bool {
		if kind == comment_ {
			last = span
		}
		return true
	})
	trailing := ""
	if p.style.trailing {
		trailing = ","
	}
	interior := text.Span{Start: l.open + 1, End: l.close}
	switch {
	case last.Start < 0 && !broken && !l.multiline():
		pad := p.style.brackets
		if p.text[l.open] == '{' {
			pad = p.style.braces
		}
		return []Edit{{Span: interior, NewText: pad + render(items, outer, ", ") + pad}}
	case last.Start < 0:
		return []Edit{{Span: interior, NewText: newline + inner + render(items, inner, ","+newline+inner) + trailing + newline + outer}}
	case !l.multiline():
		return []Edit{insertion(last.End, " "+render(items, outer, ", "))}
	}
	if firstOnLine(p.text, last.Start) {
		inner = indentOf(p.text, last.Start)
	}
	s := newline + inner + render(items, inner, ","+newline+inner) + trailing
	if !strings.ContainsAny(p.text[last.End:l.close], "\r\n") {
		s += newline + outer
	}
	return []Edit{insertion(last.End, s)}
}

// prepend puts items before the first one and the comments that belong to it.
func (p *Policy) prepend(l *list, items []item) []Edit {
	at := l.lead(0)
	if !firstOnLine(p.text, at) {
		return []Edit{insertion(at, render(items, indentOf(p.text, at), ", ")+", ")}
	}
	indent := indentOf(p.text, at)
	between := "," + p.style.newline + indent
	return []Edit{insertion(at, render(items, indent, between)+between)}
}

// append puts items behind another one and the comments that belong to it.
func (p *Policy) append(l *list, i int, items []item) []Edit {
	end, last := l.tail(i)
	start, comma := l.items[i].Start, l.commas[i]
	newline := p.style.newline
	line := lineStart(p.text, start)
	before := p.text[line:start] // on the item's line
	behind := comma >= 0 && comma < end
	switch {
	case comma >= 0 && !behind && firstOnLine(p.text, comma):
		// Commas lead the lines.
		indent := indentOf(p.text, comma)
		return []Edit{insertion(end, newline+indent+", "+render(items, indent, newline+indent+", "))}
	case comma < 0 && strings.Trim(before, " \t") == "," && i > 0:
		indent := indentOf(p.text, start)
		return []Edit{insertion(end, newline+before+render(items, indent, newline+before))}
	case firstOnLine(p.text, start) && (last || i == len(l.items)-1) && (behind || comma < 0):
		indent := indentOf(p.text, start)
		if last {
			end = p.continued(l, i, end)
		}
		blank := ""
		if p.spaced(l) {
			blank = newline
		}
		between := "," + newline + blank + indent
		s := newline + blank + indent + render(items, indent, between)
		if behind {
			return []Edit{insertion(end, s+",")}
		}
		return joined(insertion(l.items[i].End, ","), insertion(end, s))
	case behind && lineComment(p.text, comma, end), comma < 0 && lineComment(p.text, l.items[i].End, end):
		indent := p.itemIndent(l)
		s := newline + indent + render(items, indent, ","+newline+indent)
		if behind {
			return []Edit{insertion(end, s+",")}
		}
		return joined(insertion(l.items[i].End, ","), insertion(end, s))
	}
	indent := indentOf(p.text, start)
	s := render(items, indent, ", ")
	switch {
	case i+1 < len(l.items) && behind && !last:
		return []Edit{insertion(l.lead(i+1), s+", ")}
	case behind:
		return []Edit{insertion(end, " "+s+",")}
	case comma >= 0: // comments and line ends stand before it
		return []Edit{insertion(comma+1, " "+s+",")}
	}
	return []Edit{insertion(end, ", "+s)}
}

// joined returns two edits, or one when they are at the same place.
func joined(a, b Edit) []Edit { return inOrder([]Edit{a, b}) }

// continued returns the end of the comments on the lines below an item that are
// indented deeper than it, which go on with the comment behind it.
func (p *Policy) continued(l *list, i, end int) int {
	column := width(indentOf(p.text, l.items[i].Start))
	if _, comment := lastComment(p.text, l.items[i].End, end); !comment {
		return end
	}
	breaks := 0
	scan(p.text, end, l.limit(i), func(kind trivia, span text.Span) bool {
		if kind == newline_ {
			breaks++
			return breaks < 2
		}
		if kind == comma_ || width(indentOf(p.text, span.Start)) <= column || !firstOnLine(p.text, span.Start) {
			return false
		}
		end, breaks = span.End, 0
		return true
	})
	return end
}

// lastComment returns the last comment of a stretch of trivia.
func lastComment(content string, from, to int) (span text.Span, found bool) {
	scan(content, from, to, func(kind trivia, s text.Span) bool {
		if kind == comment_ {
			span, found = s, true
		}
		return true
	})
	return span, found
}

// spaced reports whether the items of a list are set apart by blank lines.
func (p *Policy) spaced(l *list) bool {
	if len(l.items) < 2 {
		return false
	}
	for i := range len(l.items) - 1 {
		breaks, blank := 0, false
		scan(p.text, l.items[i].End, l.items[i+1].Start, func(kind trivia, _ text.Span) bool {
			switch kind {
			case newline_:
				breaks++
				blank = blank || breaks > 1
			case comment_:
				breaks = 0
			}
			return true
		})
		if !blank {
			return false
		}
	}
	return true
}

// itemIndent returns the indentation of the items of a list that have a line of
// their own.
func (p *Policy) itemIndent(l *list) string {
	for _, item := range l.items {
		if firstOnLine(p.text, item.Start) {
			return indentOf(p.text, item.Start)
		}
	}
	return indentOf(p.text, l.open) + p.style.unit
}

// fit breaks a list that stood on one line and would grow past maxColumns into
// lines, one for each item.
func (p *Policy) fit(l *list, edits []Edit) []Edit {
	if l.multiline() || slices.ContainsFunc(edits, func(e Edit) bool { return strings.ContainsAny(e.NewText, "\r\n") }) {
		return edits
	}
	line := p.text[lineStart(p.text, l.open):p.codeEnd(l.close)]
	grown := width(line)
	for _, e := range edits {
		grown += width(e.NewText) - width(p.text[e.Span.Start:e.Span.End])
	}
	if grown <= maxColumns || width(line) > maxColumns {
		return edits
	}
	// The list with the edits made, split at its commas.
	shifted := make([]Edit, len(edits))
	for i, e := range edits {
		shifted[i] = Edit{Span: text.Span{Start: e.Span.Start - l.open, End: e.Span.End - l.open}, NewText: e.NewText}
	}
	inside := Apply(p.text[l.open:l.close+1], shifted)
	const lead = "export default "
	node, _, _ := syntax.Parse(p.file.Path, lead+inside).Export()
	if node == nil || node.Span.Start != len(lead) {
		return edits
	}
	var lines []string
	from := 1
	grownList := newList(lead+inside, node)
	for _, comma := range grownList.commas {
		to := len(inside) - 1
		if comma >= 0 {
			to = comma - len(lead)
		}
		lines = append(lines, strings.TrimSpace(inside[from:to]))
		from = to + 1
	}
	outer := indentOf(p.text, l.open)
	inner := outer + p.style.unit
	interior := p.lines(lines, inner, p.style.trailing)
	if from < len(inside) {
		if rest := strings.TrimSpace(inside[from : len(inside)-1]); rest != "" { // comments
			interior = p.lines(lines, inner, true) + p.style.newline + inner + rest
		}
	}
	return []Edit{{Span: text.Span{Start: l.open + 1, End: l.close}, NewText: interior + p.style.newline + outer}}
}
