package lsp

import (
	"context"

	"go.lsp.dev/protocol"

	"github.com/sandbox-lsp/sandbox-lsp/analysis"
)

// symbolKinds are how the kinds of symbols are drawn.
var symbolKinds = map[analysis.ItemKind]protocol.SymbolKind{
	analysis.KindLibrary:    protocol.SymbolKindModule,
	analysis.KindOption:     protocol.SymbolKindProperty,
	analysis.KindValue:      protocol.SymbolKindConstant,
	analysis.KindPermission: protocol.SymbolKindKey,
	analysis.KindWorkload:   protocol.SymbolKindFunction,
	analysis.KindFile:       protocol.SymbolKindFile,
}

// documentSymbol handles textDocument/documentSymbol: a tree, or a list for clients
// that know no trees.
func (s *server) documentSymbol(p *protocol.DocumentSymbolParams) (reply, error) {
	t, err := s.target(p.TextDocument.URI)
	if err != nil {
		return reply{}, err
	}
	if t.snapshot == nil {
		return reply{value: protocol.DocumentSymbolSlice{}}, nil
	}
	return reply{later: func(ctx context.Context) (any, error) {
		symbols, err := t.snapshot.Symbols(ctx, t.path)
		if err != nil {
			return nil, err
		}
		tr := s.translator(t.view)
		if s.client.hierarchicalSymbols {
			return protocol.DocumentSymbolSlice(symbolTree(tr, t.path, symbols)), nil
		}
		return symbolList(tr, t, symbols, "", protocol.SymbolInformationSlice{}), nil
	}}, nil
}

func symbolTree(tr *translator, path string, symbols []analysis.Symbol) []protocol.DocumentSymbol {
	tree := make([]protocol.DocumentSymbol, 0, len(symbols))
	for _, sym := range symbols {
		d := protocol.DocumentSymbol{
			Name:           symbolName(sym),
			Kind:           symbolKinds[sym.Kind],
			Range:          tr.toClient(path, sym.Range),
			SelectionRange: tr.toClient(path, sym.Selection),
		}
		if sym.Detail != "" {
			d.Detail = &sym.Detail
		}
		if len(sym.Children) > 0 {
			d.Children = symbolTree(tr, path, sym.Children)
		}
		tree = append(tree, d)
	}
	return tree
}

func symbolList(tr *translator, t *target, symbols []analysis.Symbol, container string, list protocol.SymbolInformationSlice) protocol.SymbolInformationSlice {
	for _, sym := range symbols {
		info := protocol.SymbolInformation{Location: protocol.Location{URI: tr.uri(t.path), Range: tr.toClient(t.path, sym.Range)}}
		info.Name, info.Kind = symbolName(sym), symbolKinds[sym.Kind]
		if container != "" {
			info.ContainerName = &container
		}
		list = append(list, info)
		list = symbolList(tr, t, sym.Children, info.Name, list)
	}
	return list
}

// symbolName stands in for an empty name, at which VS Code gives up on the whole
// answer.
func symbolName(s analysis.Symbol) string {
	if s.Name == "" {
		return "(unnamed)"
	}
	return s.Name
}
