package analysis

import (
	"context"
	"fmt"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/resolve"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// Hover says what stands at a place of the policy or of the compatibility manifest: a
// library with the package that it resolves to, an option with its meaning, a
// permission with what it hands over. Elsewhere it is nil.
func (sn *Snapshot) Hover(ctx context.Context, path string, at text.Position) (*Hover, error) {
	c, m, ok, err := sn.cursor(path, at)
	if err != nil || !ok {
		return nil, err
	}
	if c.value != nil && c.value.Kind == syntax.KindString {
		switch c.site() {
		case sitePermission, siteName:
			return &Hover{Markdown: hoverPermission(c.value.Text, sn.guestNames(ctx)), Range: m.Range(c.replace)}, nil
		case siteRule:
			global, _ := member(c.owner, "name")
			return &Hover{Markdown: hoverRule(global, c.value.Text), Range: m.Range(c.replace)}, nil
		}
	}
	if !c.atKey || c.property == nil {
		if o, ok := c.option(c.path); ok && c.value != nil && c.value.Kind != syntax.KindMissing {
			return &Hover{Markdown: describeOption(o), Range: m.Range(c.replace)}, nil
		}
		return nil, nil
	}
	if len(c.path) == 0 {
		markdown, err := sn.hoverLibrary(ctx, c.property.Key)
		if err != nil {
			return nil, err
		}
		return &Hover{Markdown: markdown, Range: m.Range(c.replace)}, nil
	}
	if o, ok := c.option(append(c.path[:len(c.path):len(c.path)], c.property.Key)); ok {
		return &Hover{Markdown: describeOption(o), Range: m.Range(c.replace)}, nil
	}
	return nil, nil
}

func describeOption(o policy.Option) string {
	required := ""
	if o.Required {
		required = ", required"
	}
	return fmt.Sprintf("**%s** (%s%s)\n\n%s", o.Name, o.Type, required, o.Doc)
}

// hoverLibrary describes a library from its package, and from the last load where
// the cache has it.
func (sn *Snapshot) hoverLibrary(ctx context.Context, name string) (string, error) {
	resolved, err := resolve.Packages(ctx, sn.root, []string{name})
	if err != nil {
		return "", err
	}
	r := resolved[0]
	if r.Problem != nil {
		return fmt.Sprintf("**%s** does not resolve to an installed package.", name), nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** %s", r.Package.Name, r.Package.Version)
	if detail := strings.TrimSpace(strings.TrimPrefix(sn.describe(name), r.Package.Version)); detail != "" {
		fmt.Fprintf(&b, "\n\n%s", detail)
	}
	fmt.Fprintf(&b, "\n\nEntry: `%s`", policy.Relative(sn.root, r.Entry))
	if l, ok := sn.session.lastSeen(sn.root, name); ok && l.Resolved.Entry == r.Entry {
		if l.Bundle != nil {
			fmt.Fprintf(&b, "  \nBundle: %.1f KiB", float64(l.Size())/1024)
		}
		if l.Loaded() {
			fmt.Fprintf(&b, "  \nExports: %d, loads under its permissions", l.Exports())
		} else if l.Load != nil {
			b.WriteString("  \nDoes not load under its permissions")
		}
	}
	return b.String(), nil
}
