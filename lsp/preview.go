package lsp

import (
	"context"
	"errors"

	"go.lsp.dev/uri"
)

// methodProxyPreview is a request beyond the protocol, advertised under the
// experimental capabilities: the proxy that a build would write now.
const methodProxyPreview = "sandbox/proxyPreview"

// proxyPreviewParams name the project, by any document in it, and the module that
// application code asks for.
type proxyPreviewParams struct {
	URI     uri.URI `json:"uri"`
	Request string  `json:"request"`
}

// proxyPreviewResult is the text of a proxy, and the version of the document at the
// given URI that it was generated for: null when that is not open.
type proxyPreviewResult struct {
	Text       string `json:"text"`
	LanguageID string `json:"languageId"`
	Version    *int32 `json:"version"`
}

// proxyPreview handles sandbox/proxyPreview.
func (s *server) proxyPreview(p *proxyPreviewParams) (reply, error) {
	t, err := s.target(p.URI)
	if err != nil {
		return reply{}, err
	}
	if p.Request == "" {
		return reply{}, invalidParams("the params name no request")
	}
	if t.snapshot == nil {
		return reply{}, errors.New("the document belongs to no project: no folder around it holds " + projectFile)
	}
	return reply{later: func(ctx context.Context) (any, error) {
		preview, err := t.snapshot.Proxy(ctx, p.Request)
		if err != nil {
			return nil, err
		}
		result := &proxyPreviewResult{Text: preview.Text, LanguageID: preview.LanguageID}
		if t.document != nil {
			result.Version = new(t.document.version)
		}
		return result, nil
	}}, nil
}
