package syntax

import (
	"github.com/microsoft/typescript-go/shim/parse"

	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// ExportForm is how a file hands out its one value.
type ExportForm int

// The forms in which a policy file may export its value.
const (
	ExportNone       ExportForm = iota
	ExportDefault               // export default X
	ExportSpecifier             // export { x as default }
	ExportAssignment            // export = X
	ModuleExports               // module.exports = X
	ExportsDefault              // exports.default = X, module.exports.default = X
)

func (f *tree) export() (*Node, ExportForm, text.Span) {
	var node *Node
	form, span := ExportNone, text.Span{}
	set := func(value *Node, how ExportForm, at *parse.Node) {
		node, form, span = f.Resolve(value), how, f.span(at)
	}
	for _, s := range f.statements() {
		switch s.Kind {
		case parse.KindExportAssignment:
			a := s.AsExportAssignment()
			how := ExportDefault
			if a.IsExportEquals {
				how = ExportAssignment
			}
			set(f.value(a.Expression), how, s)
			return node, form, span
		case parse.KindFunctionDeclaration, parse.KindClassDeclaration:
			if parse.HasExport(s) && parse.HasDefault(s) {
				set(f.value(s), ExportDefault, s)
				return node, form, span
			}
		case parse.KindExportDeclaration:
			for _, specifier := range namedExports(s) {
				if specifier.Name().Text() != "default" {
					continue
				}
				value := &Node{Kind: KindOther, Span: f.span(specifier), Whole: f.span(specifier), syntax: specifier}
				if s.ModuleSpecifier() == nil {
					value = f.value(specifier.PropertyNameOrName())
				}
				set(value, ExportSpecifier, s)
				return node, form, span
			}
		}
	}
	for _, a := range f.commonJS() {
		switch {
		case a.name == "":
			set(f.value(a.value), ModuleExports, a.statement)
		case a.name == "default":
			set(f.value(a.value), ExportsDefault, a.statement)
		}
	}
	return node, form, span
}

// namedExports returns the specifiers of `export { … }`, types left out.
func namedExports(declaration *parse.Node) []*parse.Node {
	d := declaration.AsExportDeclaration()
	if d.IsTypeOnly || d.ExportClause == nil || d.ExportClause.Kind != parse.KindNamedExports {
		return nil
	}
	var out []*parse.Node
	for _, s := range d.ExportClause.Elements() {
		if !s.AsExportSpecifier().IsTypeOnly {
			out = append(out, s)
		}
	}
	return out
}

// maxHops bounds chains of names, which may be circular.
const maxHops = 32

func (f *tree) resolve(n *Node) *Node {
	for range maxHops {
		next := f.step(n)
		if next == nil {
			return n
		}
		n = next
	}
	return n
}

// step follows one link, or returns nil.
func (f *tree) step(n *Node) *Node {
	if n == nil || code(n) == nil {
		return nil
	}
	switch n.Kind {
	case KindIdentifier:
		return f.initializer(code(n))
	case KindMember:
		object := f.Resolve(n.Operand)
		if object.Kind != KindObject {
			return nil
		}
		for _, p := range object.Properties {
			if p.Spread || p.Computed || p.Accessor || p.Key == "__proto__" {
				return nil // any of these may decide what the member is
			}
		}
		if p := object.Property(n.Text); p != nil {
			return p.Value
		}
	case KindCall:
		if len(n.Args) > 0 && n.Args[0].Kind != KindSpread && f.isDefineConfig(n.Callee) {
			return n.Args[0]
		}
	}
	return nil
}

// isDefineConfig reports whether a callee is the identity helper: the name is
// imported, or not declared at all, which is how a half-written file uses it.
func (f *tree) isDefineConfig(callee *Node) bool {
	if callee.Text != "defineConfig" || code(callee) == nil {
		return false
	}
	switch callee.Kind {
	case KindMember:
		return true
	case KindIdentifier:
		symbol := f.scopes().lookup(code(callee))
		return symbol == nil || !declaredHere(symbol)
	}
	return false
}

// declaredHere reports whether the file itself says what the name is, instead of
// importing or requiring it.
func declaredHere(symbol *parse.Symbol) bool {
	for _, d := range symbol.Declarations {
		switch d.Kind {
		case parse.KindImportSpecifier, parse.KindImportClause, parse.KindNamespaceImport, parse.KindImportEqualsDeclaration:
			continue
		case parse.KindVariableDeclaration, parse.KindBindingElement:
			for d.Kind != parse.KindVariableDeclaration && d.Parent != nil {
				d = d.Parent
			}
			if d.Kind == parse.KindVariableDeclaration && d.Initializer() != nil && requireOf(d.Initializer()) != nil {
				continue
			}
		}
		return true
	}
	return false
}

// initializer returns the value that a name was declared with, if nothing else
// can have given it another one.
func (f *tree) initializer(id *parse.Node) *Node {
	x := f.scopes()
	symbol := x.lookup(id)
	if symbol == nil || len(symbol.Declarations) != 1 {
		return nil
	}
	declaration := symbol.Declarations[0]
	if declaration.Kind == parse.KindFunctionDeclaration || declaration.Kind == parse.KindClassDeclaration {
		return f.value(declaration)
	}
	if declaration.Kind != parse.KindVariableDeclaration || declaration.Initializer() == nil {
		return nil
	}
	list := declaration.Parent
	if list == nil || list.Kind != parse.KindVariableDeclarationList || !(parse.IsConst(list) || parse.IsLet(list)) {
		return nil
	}
	// The variable of a loop has no one value.
	if list.Parent == nil || list.Parent.Kind != parse.KindVariableStatement {
		return nil
	}
	value := f.value(declaration.Initializer())
	c := changes{file: f, seen: map[*parse.Symbol]bool{symbol: true}}
	for _, reference := range x.bound[symbol] {
		if isWrite(reference) || !value.primitive() && c.mayChange(reference) {
			return nil
		}
	}
	return value
}

// primitive reports whether the value has no parts that could be changed.
func (n *Node) primitive() bool {
	switch n.Kind {
	case KindString, KindNumber, KindBool, KindNull, KindUndefined, KindBigInt, KindTemplate:
		return true
	}
	return false
}
