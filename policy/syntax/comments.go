package syntax

import (
	"slices"
	"strings"

	"github.com/microsoft/typescript-go/shim/parse"

	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// Comment is one comment with its delimiters.
type Comment struct {
	Span text.Span
	Text string
}

func (f *tree) comments() []Comment {
	if f.source == nil {
		return nil
	}
	var leaves []text.Span
	f.leaves(f.source.AsNode(), &leaves)
	slices.SortFunc(leaves, func(a, b text.Span) int { return a.Start - b.Start })
	var out []Comment
	at := 0
	if strings.HasPrefix(f.Text, "#!") {
		at = lineEnd(f.Text, 0)
	}
	for _, leaf := range leaves {
		if leaf.Start > at {
			out = f.commentsIn(at, leaf.Start, out)
		}
		at = max(at, leaf.End)
	}
	return f.commentsIn(at, len(f.Text), out)
}

// leaves collects the spans of the nodes without children.
func (f *tree) leaves(n *parse.Node, out *[]text.Span) {
	leaf := true
	children(n, func(child *parse.Node) {
		leaf = false
		f.leaves(child, out)
	})
	// A leaf made of brackets, such as an empty block, may hold a comment.
	if span := f.span(n); leaf && span.End > span.Start && !strings.ContainsAny(f.Text[span.Start:span.Start+1], "{[(;") {
		*out = append(*out, span)
	}
}

// commentsIn appends the comments of a stretch of punctuation, keywords and white
// space. After a parse error it may hold skipped tokens, so quoted strings are
// passed over.
func (f *tree) commentsIn(start, end int, out []Comment) []Comment {
	for i := start; i < end; i++ {
		stop := i
		switch rest := f.Text[i:end]; {
		case strings.HasPrefix(rest, "//"):
			stop = min(lineEnd(f.Text, i), end)
		case strings.HasPrefix(rest, "/*"):
			stop = end
			if closing := strings.Index(rest[2:], "*/"); closing >= 0 {
				stop = i + 2 + closing + 2
			}
		case rest[0] == '"' || rest[0] == '\'':
			if closing := strings.IndexAny(rest[1:], rest[:1]+"\r\n"); closing >= 0 {
				i += 1 + closing
			}
			continue
		default:
			continue
		}
		out = append(out, Comment{Span: text.Span{Start: i, End: stop}, Text: f.Text[i:stop]})
		i = stop - 1
	}
	return out
}

func lineEnd(s string, from int) int {
	if n := strings.IndexAny(s[from:], "\r\n"); n >= 0 {
		return from + n
	}
	return len(s)
}
