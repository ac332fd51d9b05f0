package lsp

import (
	"encoding/json"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// source is what editors show beside a diagnostic as its origin.
const source = "sandbox-lsp"

// diagnosticData is the part of a finding that a diagnostic has no fields for, in
// the finding's own JSON. Together with the diagnostic it is the whole finding, so
// that a client can do what reads the reports of the command line.
type diagnosticData struct {
	File  string            `json:"file"`
	Fixes []finding.Fix     `json:"fixes"`
	Data  map[string]string `json:"data"`
	// Range and Related are set only when the diagnostic cannot carry them as they are:
	// positions that are not in UTF-16, a client without related information.
	Range   *text.Range       `json:"range,omitempty"`
	Related []finding.Related `json:"related,omitempty"`
}

// diagnostic returns a finding as the client is told of it. The numbers of
// finding.Severity are the protocol's.
func (s *server) diagnostic(t *translator, root string, f finding.Finding) protocol.Diagnostic {
	path := absolute(root, f.File)
	d := protocol.Diagnostic{
		Range:    t.toClient(path, f.Range),
		Severity: protocol.DiagnosticSeverity(f.Severity),
		Code:     protocol.String(f.Code),
		Source:   protocol.NewOptional(source),
		Message:  protocol.String(f.Message),
	}
	if s.options.CodeHref != nil && s.client.codeDescription {
		if href := s.options.CodeHref(string(f.Code)); href != "" {
			d.CodeDescription = protocol.CodeDescription{Href: uri.URI(href)}
		}
	}
	data := diagnosticData{File: f.File, Fixes: f.Fixes, Data: f.Data}
	if data.Fixes == nil {
		data.Fixes = []finding.Fix{}
	}
	if data.Data == nil {
		data.Data = map[string]string{}
	}
	if t.encoding != text.UTF16 {
		data.Range = &f.Range
	}
	if s.client.relatedInformation {
		for _, r := range f.Related {
			other := absolute(root, r.File)
			d.RelatedInformation = append(d.RelatedInformation, protocol.DiagnosticRelatedInformation{
				Location: protocol.Location{URI: t.uri(other), Range: t.toClient(other, r.Range)},
				Message:  r.Message,
			})
		}
	}
	if !s.client.relatedInformation || t.encoding != text.UTF16 {
		data.Related = f.Related
	}
	raw, err := json.Marshal(data)
	if err != nil {
		s.log.Error("a finding's data cannot be encoded", "code", f.Code, "error", err)
		return d
	}
	d.Data = raw
	return d
}

// uri returns the URI of a file, in the client's spelling if it has the file open.
func (t *translator) uri(path string) uri.URI {
	if doc := t.view.byPath[path]; doc != nil {
		return doc.uri
	}
	return uriOf(path)
}
