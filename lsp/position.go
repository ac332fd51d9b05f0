package lsp

import (
	"os"

	"go.lsp.dev/protocol"

	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// positionIn and its kin change the type of a position and not what it counts.
func positionIn(p protocol.Position) text.Position {
	return text.Position{Line: int(p.Line), Character: int(p.Character)}
}

func rangeIn(r protocol.Range) text.Range {
	return text.Range{Start: positionIn(r.Start), End: positionIn(r.End)}
}

func positionOut(p text.Position) protocol.Position {
	return protocol.Position{Line: uint32(max(p.Line, 0)), Character: uint32(max(p.Character, 0))}
}

func rangeOut(r text.Range) protocol.Range {
	return protocol.Range{Start: positionOut(r.Start), End: positionOut(r.End)}
}

// translator converts positions between UTF-16, in which the core counts, and the
// client's encoding. It belongs to one goroutine.
type translator struct {
	encoding text.Encoding
	view     *view
	onDisk   map[string]*text.Mapper // nil for files that cannot be read
}

func (s *server) translator(v *view) *translator {
	return &translator{encoding: s.client.encoding, view: v, onDisk: map[string]*text.Mapper{}}
}

// maxTranslated bounds what is read from the disk to translate positions in it.
const maxTranslated = 64 << 20

// mapper returns the mapper of a file as the view sees it, or nil.
func (t *translator) mapper(path string) *text.Mapper {
	if doc := t.view.byPath[path]; doc != nil {
		return doc.mapper()
	}
	if m, ok := t.onDisk[path]; ok {
		return m
	}
	t.onDisk[path] = nil
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() <= maxTranslated {
		if raw, err := os.ReadFile(path); err == nil {
			t.onDisk[path] = text.NewMapper(string(raw))
		}
	}
	return t.onDisk[path]
}

// toClient converts a UTF-16 range of a file. Without the text there is nothing to
// count in, and the numbers stay: they are right for ASCII.
func (t *translator) toClient(path string, r text.Range) protocol.Range {
	if t.encoding == text.UTF16 {
		return rangeOut(r)
	}
	m := t.mapper(path)
	if m == nil {
		return rangeOut(r)
	}
	return rangeOut(text.Range{Start: m.Recode(r.Start, t.encoding), End: m.Recode(r.End, t.encoding)})
}

// fromClient converts a position of a file to UTF-16.
func (t *translator) fromClient(path string, p protocol.Position) text.Position {
	at := positionIn(p)
	if t.encoding == text.UTF16 {
		return at
	}
	m := t.mapper(path)
	if m == nil {
		return at
	}
	return m.Position(m.OffsetIn(at, t.encoding))
}
