package lsp

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// codeAction handles textDocument/codeAction: the fixes of the findings that the
// range touches. They are taken from what was published and not from what the client
// sends back, and only if the texts that they change are still the ones that they
// were made for.
func (s *server) codeAction(p *protocol.CodeActionParams) (reply, error) {
	t, err := s.target(p.TextDocument.URI)
	if err != nil {
		return reply{}, err
	}
	if t.path == "" || !wantsQuickFix(p.Context.Only) {
		return reply{value: []protocol.CommandOrCodeAction{}}, nil
	}
	return reply{later: func(context.Context) (any, error) {
		tr := s.translator(t.view)
		asked := text.Range{Start: tr.fromClient(t.path, p.Range.Start), End: tr.fromClient(t.path, p.Range.End)}
		actions := []protocol.CommandOrCodeAction{}
		for _, r := range s.publisher.about(t.path) {
			for _, f := range r.files[t.path] {
				if !touches(f.Range, asked) {
					continue
				}
				for _, fix := range f.Fixes {
					if a := s.quickFix(tr, r, f, fix, len(f.Fixes) == 1); a != nil {
						actions = append(actions, a)
					}
				}
			}
		}
		return actions, nil
	}}, nil
}

// about returns the reports that say something about a file, in the order of their
// roots.
func (p *publisher) about(path string) []*report {
	p.mu.Lock()
	defer p.mu.Unlock()
	var reports []*report
	for _, r := range p.reports {
		if len(r.files[path]) > 0 {
			reports = append(reports, r)
		}
	}
	slices.SortFunc(reports, func(a, b *report) int { return cmp.Compare(a.owner.root, b.owner.root) })
	return reports
}

// wantsQuickFix reports whether a client that asks for these kinds of actions wants
// quick fixes. Kinds are hierarchical: "" includes every one.
func wantsQuickFix(only []protocol.CodeActionKind) bool {
	return len(only) == 0 || slices.ContainsFunc(only, func(k protocol.CodeActionKind) bool {
		return k == "" || k == protocol.CodeActionKindQuickFix
	})
}

// touches reports whether two ranges have a place in common; a caret at the end of a
// word is at the word.
func touches(a, b text.Range) bool { return !a.End.Before(b.Start) && !b.End.Before(a.Start) }

// quickFix returns a fix as an action, or nil if a text that it changes is another
// one now.
func (s *server) quickFix(tr *translator, r *report, f finding.Finding, fix finding.Fix, only bool) *protocol.CodeAction {
	type change struct {
		uri   uri.URI
		doc   *document
		edits []protocol.TextEdit
	}
	var changes []*change
	byPath := map[string]*change{}
	for _, e := range fix.Edits {
		path := absolute(r.owner.root, e.File)
		doc := tr.view.byPath[path]
		if doc != r.view.byPath[path] {
			return nil
		}
		c := byPath[path]
		if c == nil {
			c = &change{uri: tr.uri(path), doc: doc}
			byPath[path] = c
			changes = append(changes, c)
		}
		c.edits = append(c.edits, protocol.TextEdit{Range: tr.toClient(path, e.Range), NewText: e.NewText})
	}
	if len(changes) == 0 {
		return nil
	}
	edit := &protocol.WorkspaceEdit{}
	for _, c := range changes {
		if !s.client.documentChanges {
			if edit.Changes == nil {
				edit.Changes = map[uri.URI][]protocol.TextEdit{}
			}
			edit.Changes[c.uri] = c.edits
			continue
		}
		var id protocol.OptionalVersionedTextDocumentIdentifier
		id.URI = c.uri
		if c.doc != nil {
			id.Version = new(c.doc.version)
		}
		elements := make([]protocol.TextDocumentEditElement, len(c.edits))
		for i := range c.edits {
			elements[i] = &c.edits[i]
		}
		edit.DocumentChanges = append(edit.DocumentChanges, &protocol.TextDocumentEdit{TextDocument: id, Edits: elements})
	}
	action := &protocol.CodeAction{
		Title:       strings.TrimSpace(fix.Title),
		Kind:        new(protocol.CodeActionKindQuickFix),
		Diagnostics: []protocol.Diagnostic{s.diagnostic(tr, r.owner.root, f)},
		Edit:        edit,
	}
	if only {
		action.IsPreferred = new(true)
	}
	return action
}
