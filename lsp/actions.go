package lsp

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// kindFixAll is the kind of the action that makes every preferred fix of a document at
// once.
const kindFixAll protocol.CodeActionKind = "source.fixAll.sandbox-lsp"

// codeAction handles textDocument/codeAction: the fixes of the findings that the
// range touches, and for clients that ask for it the one action that fixes the whole
// document. They are taken from what was published and not from what the client
// sends back, and only if the texts that they change are still the ones that they
// were made for.
func (s *server) codeAction(p *protocol.CodeActionParams) (reply, error) {
	t, err := s.target(p.TextDocument.URI)
	if err != nil {
		return reply{}, err
	}
	// An action on the whole document is no answer to a client that did not name its
	// kind: it would stand beside the fixes of every finding.
	quick, all := wants(p.Context.Only, protocol.CodeActionKindQuickFix), len(p.Context.Only) > 0 && wants(p.Context.Only, kindFixAll)
	if t.path == "" || !quick && !all {
		return reply{value: []protocol.CommandOrCodeAction{}}, nil
	}
	return reply{later: func(context.Context) (any, error) {
		tr := s.translator(t.view)
		asked := text.Range{Start: tr.fromClient(t.path, p.Range.Start), End: tr.fromClient(t.path, p.Range.End)}
		actions := []protocol.CommandOrCodeAction{}
		for _, r := range s.publisher.about(t.path) {
			for _, f := range r.files[t.path] {
				if !quick || !touches(f.Range, asked) {
					continue
				}
				for _, fix := range f.Fixes {
					if a := s.quickFix(tr, r, f, fix); a != nil {
						actions = append(actions, a)
					}
				}
			}
		}
		if all {
			if a := s.fixAll(tr, t.path); a != nil {
				actions = append(actions, a)
			}
		}
		return actions, nil
	}}, nil
}

// fixAll returns the action that makes every preferred fix of the findings in a
// document that changes nothing else, or nil without any. Fixes that get in each
// other's way wait for the next time.
func (s *server) fixAll(tr *translator, path string) *protocol.CodeAction {
	for _, r := range s.publisher.about(path) {
		var fixes []finding.Fix
		for _, fix := range finding.Preferred(r.files[path]) {
			elsewhere := func(e finding.Edit) bool { return absolute(r.owner.root, e.File) != path }
			if len(fix.Creates) == 0 && !slices.ContainsFunc(fix.Edits, elsewhere) {
				fixes = append(fixes, fix)
			}
		}
		merged, _ := finding.Merge(fixes)
		if edit := s.workspaceEdit(tr, r, merged); edit != nil {
			return &protocol.CodeAction{Title: "Make every fix that needs no decision", Kind: new(kindFixAll), Edit: edit}
		}
	}
	return nil
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

// wants reports whether a client that asks for these kinds of actions wants one of a
// kind. Kinds are hierarchical: "" includes every one. Without a list it wants all.
func wants(only []protocol.CodeActionKind, kind protocol.CodeActionKind) bool {
	return len(only) == 0 || slices.ContainsFunc(only, func(k protocol.CodeActionKind) bool {
		return k == "" || k == kind || strings.HasPrefix(string(kind), string(k)+".")
	})
}

// touches reports whether two ranges have a place in common; a caret at the end of a
// word is at the word.
func touches(a, b text.Range) bool { return !a.End.Before(b.Start) && !b.End.Before(a.Start) }

// quickFix returns a fix as an action, or nil if it cannot be made any more. It is the
// preferred one, which a key of the editor makes, if it is marked so or is the only
// one; never if it grants something, which takes a look.
func (s *server) quickFix(tr *translator, r *report, f finding.Finding, fix finding.Fix) *protocol.CodeAction {
	edit := s.workspaceEdit(tr, r, fix)
	if edit == nil {
		return nil
	}
	action := &protocol.CodeAction{
		Title:       strings.TrimSpace(fix.Title),
		Kind:        new(protocol.CodeActionKindQuickFix),
		Diagnostics: []protocol.Diagnostic{s.diagnostic(tr, r.owner.root, f)},
		Edit:        edit,
	}
	if !fix.Grants && (fix.Preferred || len(f.Fixes) == 1) {
		action.IsPreferred = new(true)
	}
	return action
}

// workspaceEdit returns what a fix changes, or nil if a text that it changes is
// another one now, if a file that it creates is there, or if the client cannot create
// files.
func (s *server) workspaceEdit(tr *translator, r *report, fix finding.Fix) *protocol.WorkspaceEdit {
	edit := &protocol.WorkspaceEdit{}
	for _, n := range fix.Creates {
		path := absolute(r.owner.root, n.File)
		_, err := os.Lstat(path)
		if !s.client.createFiles || tr.view.byPath[path] != nil || !errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		created := &protocol.CreateFile{Kind: string(protocol.ResourceOperationKindCreate), URI: tr.uri(path)}
		// The new file is empty, so its text goes to the start of it.
		edit.DocumentChanges = append(edit.DocumentChanges, created, documentEdit(created.URI, nil, []protocol.TextEdit{{NewText: n.Text}}))
	}
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
	if len(changes) == 0 && len(fix.Creates) == 0 {
		return nil
	}
	for _, c := range changes {
		if s.client.documentChanges {
			edit.DocumentChanges = append(edit.DocumentChanges, documentEdit(c.uri, c.doc, c.edits))
			continue
		}
		if edit.Changes == nil {
			edit.Changes = map[uri.URI][]protocol.TextEdit{}
		}
		edit.Changes[c.uri] = c.edits
	}
	return edit
}

// documentEdit returns edits of one document, with its version if it is open.
func documentEdit(at uri.URI, doc *document, edits []protocol.TextEdit) *protocol.TextDocumentEdit {
	var id protocol.OptionalVersionedTextDocumentIdentifier
	id.URI = at
	if doc != nil {
		id.Version = new(doc.version)
	}
	elements := make([]protocol.TextDocumentEditElement, len(edits))
	for i := range edits {
		elements[i] = &edits[i]
	}
	return &protocol.TextDocumentEdit{TextDocument: id, Edits: elements}
}
