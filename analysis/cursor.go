package analysis

import (
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// cursor says where in a policy, or in a compatibility manifest, a place lies: which
// keys lead to it, and whether a key or a value stands, or would stand, there.
type cursor struct {
	file     *syntax.File
	manifest bool // the file is the compatibility manifest
	// options returns the table of options that a path leads to, nil where keys are
	// free or nothing is known.
	options func(path []string) []policy.Option
	// path is the keys from the exported object down; array elements add nothing.
	path []string
	// object is the object literal around a key, whose other keys are taken.
	object *syntax.Node
	// owner is the innermost object literal around a value, and array the innermost
	// array literal; nil when there is none.
	owner, array *syntax.Node
	// property is the member under the cursor, nil in the space between members.
	property *syntax.Property
	value    *syntax.Node // the value under the cursor, nil at a key
	atKey    bool
	// replace is the word under the cursor, quotes included, or an empty span.
	replace text.Span
}

// locate moves the cursor to an offset of its file. It reports false outside of the
// exported value.
func (c *cursor) locate(offset int) bool {
	node, _, _ := c.file.Export()
	return node != nil && c.descend(node, offset, 0)
}

func (c *cursor) descend(node *syntax.Node, offset, depth int) bool {
	node = c.file.Resolve(node)
	if depth > 16 {
		return false
	}
	if !extent(c.file.Text, node).Contains(offset) {
		return c.elsewhere(node, offset, depth)
	}
	switch node.Kind {
	case syntax.KindObject:
		return c.inObject(node, offset, depth)
	case syntax.KindArray:
		if offset == node.Span.Start {
			return false // before the bracket
		}
		if offset == node.Span.End && closed(c.file.Text, node.Span, ']') { // behind it
			c.value, c.replace = node, text.Span{Start: offset, End: offset}
			return true
		}
		c.array = node
		for _, e := range node.Elements {
			if c.descend(e, offset, depth+1) {
				return true
			}
			c.array = node
		}
		c.value, c.replace = node, text.Span{Start: offset, End: offset}
		return true
	default:
		c.value, c.replace = node, node.Span
		if node.Kind == syntax.KindString && !closed(c.file.Text, node.Span, c.file.Text[node.Span.Start]) {
			c.replace.End = offset // the parser ends an open string at the end of its line
		}
		return true
	}
}

// extent returns where a node reaches. The parser ends a half-typed object or array
// at its last token; whoever types behind that, at the end of the file, is still
// inside.
func extent(content string, node *syntax.Node) text.Span {
	span := node.Span
	open := node.Kind == syntax.KindObject && !closed(content, span, '}') || node.Kind == syntax.KindArray && !closed(content, span, ']')
	if open && strings.TrimSpace(content[span.End:]) == "" {
		span.End = len(content)
	}
	return span
}

// elsewhere follows the members of an object whose values were written in another
// place of the file, behind a name.
func (c *cursor) elsewhere(node *syntax.Node, offset, depth int) bool {
	path := c.path
	for i := range node.Properties {
		p := &node.Properties[i]
		value := c.file.Resolve(p.Value)
		if node.Span.Contains(value.Span.Start) && value.Kind != syntax.KindObject {
			continue
		}
		c.path = path
		if !p.Spread {
			c.path = append(path[:len(path):len(path)], p.Key)
		}
		if c.descend(value, offset, depth+1) {
			return true
		}
	}
	c.path = path
	return false
}

func (c *cursor) inObject(node *syntax.Node, offset, depth int) bool {
	if offset == node.Span.Start || offset == node.Span.End && closed(c.file.Text, node.Span, '}') {
		return false // outside of the braces
	}
	for i := range node.Properties {
		p := &node.Properties[i]
		switch {
		case p.Spread:
			if p.Span.Contains(offset) {
				return c.descend(p.Value, offset, depth+1)
			}
		case p.KeySpan.Contains(offset):
			c.atKey, c.object, c.property, c.replace = true, node, p, p.KeySpan
			return true
		default:
			path, owner := c.path, c.owner
			c.path, c.owner = append(c.path[:len(c.path):len(c.path)], p.Key), node
			if c.inValue(p, offset, depth) {
				return true
			}
			c.path, c.owner = path, owner
		}
	}
	c.atKey, c.object, c.replace = true, node, text.Span{Start: offset, End: offset}
	return true
}

// inValue handles the value of a member: what stands there, or the place behind the
// colon when nothing does yet.
func (c *cursor) inValue(p *syntax.Property, offset, depth int) bool {
	if p.Value.Kind != syntax.KindMissing {
		return c.descend(p.Value, offset, depth+1)
	}
	if offset < p.KeySpan.End || offset > len(c.file.Text) {
		return false
	}
	between := strings.TrimSpace(c.file.Text[p.KeySpan.End:offset])
	if between != ":" {
		return false
	}
	c.property, c.value, c.replace = p, p.Value, text.Span{Start: offset, End: offset}
	return true
}

// closed reports whether a literal ends in its brace, bracket or quote, which a
// half-typed one does not.
func closed(content string, span text.Span, end byte) bool {
	return span.End > span.Start+1 && span.End <= len(content) && content[span.End-1] == end
}

// options are the policy's, see cursor.options.
func options(path []string) []policy.Option {
	switch {
	case len(path) == 1:
		return policy.LibraryOptions
	case len(path) == 2 && path[1] == "limits":
		return policy.LimitOptions
	case len(path) == 2 && path[1] == "permissions":
		return policy.PermissionOptions
	case len(path) == 3 && path[1] == "workloads":
		return policy.WorkloadOptions
	}
	return nil
}

// option returns the description of the option that a path ends in.
func (c cursor) option(path []string) (policy.Option, bool) {
	if len(path) == 0 {
		return policy.Option{}, false
	}
	for _, o := range c.options(path[:len(path)-1]) {
		if o.Name == path[len(path)-1] {
			return o, true
		}
	}
	return policy.Option{}, false
}
