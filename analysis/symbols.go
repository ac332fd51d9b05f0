package analysis

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// Symbols returns the libraries of the policy with their permissions and workloads.
// Another file has none.
func (sn *Snapshot) Symbols(ctx context.Context, path string) ([]Symbol, error) {
	if filepath.Clean(path) != sn.PolicyFile() {
		return nil, nil
	}
	p, _, err := sn.policy(ctx, nil)
	if err != nil || p == nil {
		return nil, err
	}
	var symbols []Symbol
	for _, l := range p.Libraries {
		s := symbol(p.Mapper, l.Name, KindLibrary, l.Span, l.KeySpan)
		s.Detail = strings.Join(l.PermissionNames(), ", ")
		for _, permission := range l.Permissions {
			s.Children = append(s.Children, symbol(p.Mapper, permission.Name, KindPermission, permission.Span, permission.Span))
		}
		for _, w := range l.Workloads {
			child := symbol(p.Mapper, w.Name, KindWorkload, w.Span, w.KeySpan)
			child.Detail = w.Entry
			s.Children = append(s.Children, child)
		}
		// A part that was reached through a name or a spread lies outside of the
		// library's own range; editors want children inside their parents.
		s.Children = inside(s.Range, s.Children)
		symbols = append(symbols, s)
	}
	return symbols, nil
}

func symbol(m *text.Mapper, name string, kind ItemKind, whole, selection text.Span) Symbol {
	if selection.Start < whole.Start || selection.End > whole.End {
		selection = whole
	}
	return Symbol{Name: name, Kind: kind, Range: m.Range(whole), Selection: m.Range(selection)}
}

func inside(parent text.Range, children []Symbol) []Symbol {
	var kept []Symbol
	for _, c := range children {
		if !c.Range.Start.Before(parent.Start) && !parent.End.Before(c.Range.End) {
			kept = append(kept, c)
		}
	}
	return kept
}
