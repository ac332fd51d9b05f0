package lsp

import (
	"context"

	"go.lsp.dev/protocol"

	"github.com/sandbox-lsp/sandbox-lsp/analysis"
)

// completionKinds are how the kinds of proposals are drawn.
var completionKinds = map[analysis.ItemKind]protocol.CompletionItemKind{
	analysis.KindLibrary:    protocol.CompletionItemKindModule,
	analysis.KindOption:     protocol.CompletionItemKindProperty,
	analysis.KindValue:      protocol.CompletionItemKindValue,
	analysis.KindPermission: protocol.CompletionItemKindConstant,
	analysis.KindWorkload:   protocol.CompletionItemKindFunction,
	analysis.KindFile:       protocol.CompletionItemKindFile,
}

// completion handles textDocument/completion.
func (s *server) completion(p *protocol.CompletionParams) (reply, error) {
	t, err := s.target(p.TextDocument.URI)
	if err != nil || t.snapshot == nil {
		return reply{}, err
	}
	return reply{later: func(ctx context.Context) (any, error) {
		tr := s.translator(t.view)
		proposals, err := t.snapshot.Complete(ctx, t.path, tr.fromClient(t.path, p.Position))
		if err != nil {
			return nil, err
		}
		list := &protocol.CompletionList{Items: make([]protocol.CompletionItem, 0, len(proposals))}
		for _, proposal := range proposals {
			list.Items = append(list.Items, s.completionItem(tr, t.path, proposal))
		}
		return list, nil
	}}, nil
}

func (s *server) completionItem(tr *translator, path string, c analysis.Completion) protocol.CompletionItem {
	item := protocol.CompletionItem{
		Label:            c.Label,
		Kind:             completionKinds[c.Kind],
		InsertTextFormat: protocol.InsertTextFormatPlainText,
	}
	content := c.NewText
	if c.Snippet {
		if s.client.snippets {
			item.InsertTextFormat = protocol.InsertTextFormatSnippet
		} else {
			content = c.Plain
		}
	}
	item.TextEdit = &protocol.TextEdit{Range: tr.toClient(path, c.Range), NewText: content}
	if c.Detail != "" {
		item.Detail = protocol.NewOptional(c.Detail)
	}
	if c.Documentation != "" {
		item.Documentation = markup(c.Documentation, s.client.completionMarkdown)
	}
	if c.Sort != "" {
		item.SortText = protocol.NewOptional(c.Sort)
	}
	// Editors filter by what the range covers, quotes included, so the label alone
	// would match nothing where the text to insert begins with one.
	if c.Plain != "" {
		item.FilterText = protocol.NewOptional(c.Plain)
	} else if !c.Snippet && c.NewText != c.Label {
		item.FilterText = protocol.NewOptional(c.NewText)
	}
	return item
}
