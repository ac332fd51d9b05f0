package lsp

import (
	"bytes"
	"path/filepath"
	"slices"
	"sync"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
)

// publisher knows what the client was told about each file. Several projects may
// have something to say about one file, so it joins what they say.
type publisher struct {
	server *server

	// mu guards everything below, and is held while messages are queued: what is told
	// about a file goes out in the order in which it was decided.
	mu      sync.Mutex
	reports map[string]*report // the latest report of each project, by its root
	sent    map[string]sent    // what was published last, by the document's key
}

// report is what a project has to say, as of a view of the documents.
type report struct {
	owner *project
	view  *view
	files map[string][]finding.Finding // by path
}

// sent is a publication.
type sent struct {
	uri     uri.URI
	payload []byte
	empty   bool
}

func newPublisher(s *server) *publisher {
	return &publisher{server: s, reports: map[string]*report{}, sent: map[string]sent{}}
}

// absolute returns the path of a finding's file.
func absolute(root, file string) string {
	path := filepath.FromSlash(file)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(root, path)
}

// publish replaces what the project said before. A document that is open is
// published even if there is nothing to say about it: so the client learns that this
// version was looked at.
func (p *publisher) publish(owner *project, v *view, findings []finding.Finding) {
	files := map[string][]finding.Finding{}
	for _, f := range findings {
		path := absolute(owner.root, f.File)
		files[path] = append(files[path], f)
	}
	for path := range v.byPath {
		if root, watched := p.server.core.Root(path); watched && root == owner.root && files[path] == nil {
			files[path] = []finding.Finding{}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.reports[owner.root]
	p.reports[owner.root] = &report{owner: owner, view: v, files: files}
	affected := files
	if before != nil {
		affected = map[string][]finding.Finding{}
		for path := range before.files {
			affected[path] = nil
		}
		for path := range files {
			affected[path] = nil
		}
		p.closed(before.view, v)
	}
	p.tell(affected, v)
}

// withdraw takes back everything that a project said, unless another worker speaks
// for its root by now.
func (p *publisher) withdraw(owner *project) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.reports[owner.root]
	if before == nil || before.owner != owner {
		return
	}
	delete(p.reports, owner.root)
	p.tell(before.files, &view{})
}

// closed takes back what was said about documents that were open in the earlier view
// and are not any more: it was said about a text that is gone. If the file on disk
// has findings too, they follow. The caller holds mu.
func (p *publisher) closed(before, now *view) {
	for path, doc := range before.byPath {
		if now.byPath[path] == nil && !p.sent[doc.key].empty {
			p.send(doc.key, doc.uri, nil, []protocol.Diagnostic{})
		}
	}
}

// tell publishes the files anew. The caller holds mu.
func (p *publisher) tell(files map[string][]finding.Finding, v *view) {
	paths := make([]string, 0, len(files))
	for path := range files {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	var roots []string
	for root := range p.reports {
		roots = append(roots, root)
	}
	slices.Sort(roots)
	for _, path := range paths {
		diagnostics := []protocol.Diagnostic{} // [] and never null, which clients do not take for empty
		for _, root := range roots {
			r := p.reports[root]
			t := p.server.translator(r.view)
			for _, f := range r.files[path] {
				diagnostics = append(diagnostics, p.server.diagnostic(t, root, f))
			}
		}
		u, doc := uriOf(path), v.byPath[path]
		key := keyOf(u)
		if doc != nil {
			u = doc.uri
		} else if before, ok := p.sent[key]; ok {
			u = before.uri
		}
		p.send(key, u, doc, diagnostics)
	}
}

// send publishes diagnostics unless the client knows them. The caller holds mu.
func (p *publisher) send(key string, u uri.URI, doc *document, diagnostics []protocol.Diagnostic) {
	params := &protocol.PublishDiagnosticsParams{URI: u, Diagnostics: diagnostics}
	if doc != nil {
		params.Version = protocol.NewOptional(doc.version)
	}
	payload, err := protocol.Marshal(params)
	if err != nil {
		p.server.log.Error("diagnostics cannot be encoded", "uri", u, "error", err)
		return
	}
	before, known := p.sent[key]
	if known && before.uri != u && !before.empty {
		// The same file under another spelling: clients that compare strings would show
		// the findings twice.
		p.server.conn.notify(protocol.MethodTextDocumentPublishDiagnostics, &protocol.PublishDiagnosticsParams{URI: before.uri, Diagnostics: []protocol.Diagnostic{}})
	}
	empty := len(diagnostics) == 0
	switch {
	case known && bytes.Equal(before.payload, payload):
		return
	case doc == nil && empty && (!known || before.empty):
		delete(p.sent, key)
		return // nothing to take back
	}
	if doc == nil && empty {
		delete(p.sent, key)
	} else {
		p.sent[key] = sent{u, payload, empty}
	}
	p.server.conn.notifyRaw(protocol.MethodTextDocumentPublishDiagnostics, payload)
}
