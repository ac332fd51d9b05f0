package lsp

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// document is one version of an open document. It never changes; an edit makes a
// new one.
type document struct {
	uri     uri.URI // as the client spells it
	key     string  // the same for every spelling
	path    string  // "" when the document is not a file
	version int32
	text    string
	mapper  func() *text.Mapper // of text, made when it is first needed
}

func newDocument(u uri.URI, version int32, content string) *document {
	return &document{
		uri:     u,
		key:     keyOf(u),
		path:    pathOf(u),
		version: version,
		text:    content,
		mapper:  sync.OnceValue(func() *text.Mapper { return text.NewMapper(content) }),
	}
}

// edited returns the next version of the document.
func (d *document) edited(version int32, content string) *document {
	next := *d
	next.version, next.text = version, content
	next.mapper = sync.OnceValue(func() *text.Mapper { return text.NewMapper(content) })
	return &next
}

// view is an immutable picture of the open documents that are files.
type view struct {
	byPath  map[string]*document
	overlay map[string]string
}

// documents are the documents that the client has open. They belong to the dispatch
// loop.
type documents struct {
	open map[string]*document // by key
	seen *view                // what view returned last; nil when a document has changed since
}

func newDocuments() *documents { return &documents{open: map[string]*document{}} }

// view returns the documents as they are now.
func (d *documents) view() *view {
	if d.seen == nil {
		v := &view{byPath: map[string]*document{}, overlay: map[string]string{}}
		for doc := range maps.Values(d.open) {
			if doc.path != "" {
				v.byPath[doc.path] = doc
				v.overlay[doc.path] = doc.text
			}
		}
		d.seen = v
	}
	return d.seen
}

func (d *documents) set(doc *document) {
	d.open[doc.key] = doc
	d.seen = nil
}

func (d *documents) remove(key string) {
	delete(d.open, key)
	d.seen = nil
}

// apply returns the text after the changes of one didChange, which apply one after
// the other (LSP 3.18, "DidChangeTextDocumentParams").
func apply(content string, changes []protocol.TextDocumentContentChangeEvent, encoding text.Encoding) (string, error) {
	for i, change := range changes {
		switch c := change.(type) {
		case *protocol.TextDocumentContentChangeWholeDocument:
			content = c.Text
		case *protocol.TextDocumentContentChangePartial:
			span := text.NewMapper(content).SpanIn(rangeIn(c.Range), encoding)
			content = content[:span.Start] + c.Text + content[span.End:]
		default:
			return "", fmt.Errorf("change %d is neither a range nor a whole text", i)
		}
	}
	return content, nil
}

// didOpen takes a document over from the disk. It gets the raw params for the sake
// of the URI's spelling.
func (s *server) didOpen(params []byte) error {
	var p protocol.DidOpenTextDocumentParams
	if err := decode(params, &p); err != nil {
		return err
	}
	if p.TextDocument.URI == "" {
		return errors.New("the document has no URI")
	}
	// The text is cloned to let go of the message that it is a part of.
	doc := newDocument(spelling(params, p.TextDocument.URI), p.TextDocument.Version, strings.Clone(p.TextDocument.Text))
	s.docs.set(doc)
	s.changed(doc.path, nil)
	return nil
}

func (s *server) didChange(p *protocol.DidChangeTextDocumentParams) error {
	doc := s.docs.open[keyOf(p.TextDocument.URI)]
	if doc == nil {
		return fmt.Errorf("%s is not open", p.TextDocument.URI)
	}
	if p.TextDocument.Version <= doc.version {
		return fmt.Errorf("version %d of %s comes after version %d", p.TextDocument.Version, doc.uri, doc.version)
	}
	content, err := apply(doc.text, p.ContentChanges, s.client.encoding)
	if err != nil {
		return fmt.Errorf("change %s: %w", doc.uri, err)
	}
	s.docs.set(doc.edited(p.TextDocument.Version, content))
	s.changed(doc.path, nil)
	return nil
}

func (s *server) didClose(p *protocol.DidCloseTextDocumentParams) error {
	doc := s.docs.open[keyOf(p.TextDocument.URI)]
	if doc == nil {
		return fmt.Errorf("%s is not open", p.TextDocument.URI)
	}
	s.docs.remove(doc.key)
	s.changed(doc.path, nil)
	s.dropUnneeded()
	return nil
}

func (s *server) didSave(p *protocol.DidSaveTextDocumentParams) error {
	doc := s.docs.open[keyOf(p.TextDocument.URI)]
	if doc == nil {
		return fmt.Errorf("%s is not open", p.TextDocument.URI)
	}
	var build *buildRequest
	if s.settings.BuildOnSave {
		build = &buildRequest{}
	}
	s.changed(doc.path, build)
	return nil
}
