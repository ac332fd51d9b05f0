package lsp

import (
	"context"

	"go.lsp.dev/protocol"
)

// hover handles textDocument/hover.
func (s *server) hover(p *protocol.HoverParams) (reply, error) {
	t, err := s.target(p.TextDocument.URI)
	if err != nil || t.snapshot == nil {
		return reply{}, err
	}
	return reply{later: func(ctx context.Context) (any, error) {
		tr := s.translator(t.view)
		hover, err := t.snapshot.Hover(ctx, t.path, tr.fromClient(t.path, p.Position))
		if err != nil || hover == nil {
			return nil, err
		}
		return &protocol.Hover{
			Contents: markup(hover.Markdown, s.client.hoverMarkdown),
			Range:    new(tr.toClient(t.path, hover.Range)),
		}, nil
	}}, nil
}

// markup wraps Markdown, which reads well enough as plain text for clients that
// cannot draw it.
func markup(content string, markdown bool) *protocol.MarkupContent {
	kind := protocol.MarkupKindPlainText
	if markdown {
		kind = protocol.MarkupKindMarkdown
	}
	return &protocol.MarkupContent{Kind: kind, Value: content}
}
