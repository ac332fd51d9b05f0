package lsp

import (
	"path/filepath"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// pathOf returns the file that a URI names on this machine, or "" when it names
// none: untitled documents, revisions in a version control system, files of another
// host or of another operating system have no path here, and code that makes one up
// would read or write some other file.
func pathOf(u uri.URI) string {
	if !u.IsFile() {
		return ""
	}
	if host := u.Authority(); host != "" && host != "localhost" && filepath.Separator == '/' {
		return ""
	}
	if u.Authority() == "localhost" {
		// The same as no host at all (RFC 8089, section 2).
		local, err := uri.From(uri.Components{Scheme: "file", Path: u.Path()})
		if err != nil {
			return ""
		}
		u = local
	}
	path := u.FsPath()
	if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return ""
	}
	return filepath.Clean(path)
}

// uriOf returns the URI of a file.
func uriOf(path string) uri.URI { return uri.File(path) }

// keyOf returns what two spellings of one document's URI have in common: clients
// differ in what they percent-encode and in the case of drive letters.
func keyOf(u uri.URI) string {
	if path := pathOf(u); path != "" {
		return uriOf(path).String()
	}
	if parsed, err := uri.Parse(string(u)); err == nil {
		return parsed.String()
	}
	return string(u)
}

// spelling returns the URI of a text document as the client wrote it. Decoding
// normalises URIs; what is published goes out in the client's own spelling, because
// some clients compare strings.
func spelling(params []byte, decoded uri.URI) uri.URI {
	var raw struct {
		TextDocument struct {
			URI string `json:"uri"`
		} `json:"textDocument"`
	}
	if err := protocol.Unmarshal(params, &raw); err != nil || raw.TextDocument.URI == "" {
		return decoded
	}
	return uri.URI(strings.Clone(raw.TextDocument.URI))
}
