package syntax

import (
	"slices"

	"github.com/microsoft/typescript-go/shim/parse"

	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// ImportKind tells how a file reaches another module.
type ImportKind int

// The ways to reach another module.
const (
	ImportStatic   ImportKind = iota // import … from "x", import "x"
	ImportDynamic                    // import("x")
	ImportRequire                    // require("x"), import x = require("x")
	ImportReexport                   // export … from "x"
	ImportTypeOnly                   // import type, export type, import("x").T: gone at run time
)

// Import is one mention of another module by a literal specifier.
type Import struct {
	Specifier string
	Span      text.Span // of the specifier, quotes included
	Kind      ImportKind
	// Names are the exports that are taken, "default" and "*" (all of them, as a
	// namespace or as the module's value) included; empty when only the side effect
	// or only types are.
	Names []string
}

// Exported is one name that a file exports.
type Exported struct {
	Name     string
	Span     text.Span // of the name, or of the whole statement where it has none
	Kind     Kind      // of the value where the file shows it, else KindOther
	Function bool      // the value is seen to be a function or class
	TypeOnly bool      // an interface or a type alias
	From     *Import   // set for export { name } from "x"
}

func (f *tree) imports() []Import {
	var out []Import
	for _, m := range f.Mentions() {
		if m.imports() {
			out = append(out, m.Import)
		}
	}
	return out
}

func (f *tree) mention(out *[]Import, specifier *parse.Node, kind ImportKind, names []string) {
	if specifier == nil {
		return
	}
	specifier = unwrap(specifier)
	if parse.IsMissing(specifier) || specifier.Kind != parse.KindStringLiteral && specifier.Kind != parse.KindNoSubstitutionTemplate {
		return
	}
	if kind == ImportTypeOnly {
		names = nil
	}
	*out = append(*out, Import{Specifier: specifier.Text(), Span: f.span(specifier), Kind: kind, Names: names})
}

func importKind(declaration *parse.Node) ImportKind {
	clause := declaration.ImportClause()
	if clause == nil {
		return ImportStatic
	}
	c := clause.AsImportClause()
	if c.PhaseModifier == parse.KindTypeKeyword {
		return ImportTypeOnly
	}
	// import { type A, type B } names only types, but stays an import for its side
	// effect unless told otherwise; bundlers drop it, and so do we.
	if clause.Name() == nil && c.NamedBindings != nil && c.NamedBindings.Kind == parse.KindNamedImports {
		elements := c.NamedBindings.Elements()
		if len(elements) > 0 && !slices.ContainsFunc(elements, func(e *parse.Node) bool { return !e.AsImportSpecifier().IsTypeOnly }) {
			return ImportTypeOnly
		}
	}
	return ImportStatic
}

func importNames(declaration *parse.Node) []string {
	clause := declaration.ImportClause()
	if clause == nil {
		return nil
	}
	var names []string
	if clause.Name() != nil {
		names = append(names, "default")
	}
	bindings := clause.AsImportClause().NamedBindings
	switch {
	case bindings == nil:
	case bindings.Kind == parse.KindNamespaceImport:
		names = append(names, "*")
	case bindings.Kind == parse.KindNamedImports:
		for _, e := range bindings.Elements() {
			if !e.AsImportSpecifier().IsTypeOnly {
				names = append(names, e.PropertyNameOrName().Text())
			}
		}
	}
	return names
}

func exportNames(declaration *parse.Node) []string {
	clause := declaration.AsExportDeclaration().ExportClause
	if clause == nil || clause.Kind == parse.KindNamespaceExport {
		return []string{"*"}
	}
	var names []string
	for _, s := range namedExports(declaration) {
		names = append(names, s.PropertyNameOrName().Text())
	}
	return names
}

// requireOf returns the specifier of a call of require, or nil.
func requireOf(call *parse.Node) *parse.Node {
	call = unwrap(call)
	if call.Kind != parse.KindCallExpression {
		return nil
	}
	callee := call.Expression()
	if callee.Kind != parse.KindIdentifier || callee.Text() != "require" || len(call.Arguments()) == 0 {
		return nil
	}
	return call.Arguments()[0]
}

// requiredNames reads what is taken of a required module at once.
func requiredNames(call *parse.Node) []string {
	switch parent := call.Parent; parent.Kind {
	case parse.KindExpressionStatement:
		return nil
	case parse.KindPropertyAccessExpression:
		return []string{parent.Name().Text()}
	case parse.KindVariableDeclaration:
		if pattern := parent.Name(); pattern.Kind == parse.KindObjectBindingPattern {
			var names []string
			for _, e := range pattern.Elements() {
				key := e.PropertyNameOrName()
				if e.AsBindingElement().DotDotDotToken != nil || key == nil || key.Kind != parse.KindIdentifier && key.Kind != parse.KindStringLiteral {
					return []string{"*"}
				}
				names = append(names, key.Text())
			}
			return names
		}
	}
	return []string{"*"}
}

func (f *tree) exportedNames() (names []Exported, starFrom []Import) {
	for _, s := range f.statements() {
		switch s.Kind {
		case parse.KindExportDeclaration:
			f.exportDeclaration(s, &names, &starFrom)
		case parse.KindExportAssignment:
			a := s.AsExportAssignment()
			if !a.IsExportEquals {
				names = append(names, f.exported("default", f.span(s), f.value(a.Expression)))
			} else if value := f.Resolve(f.value(a.Expression)); value.Kind == KindObject {
				names = append(names, f.members(value)...)
			}
		default:
			if parse.HasExport(s) {
				f.exportedDeclaration(s, &names)
			}
		}
	}
	for _, a := range f.commonJS() {
		value := f.value(a.value)
		switch {
		case a.name == "__esModule":
		case a.name != "":
			names = append(names, f.exported(a.name, f.span(a.target), value))
		default:
			if value = f.Resolve(value); value.Kind == KindObject {
				names = append(names, f.members(value)...)
			}
		}
	}
	return names, starFrom
}

func (f *tree) exported(name string, span text.Span, value *Node) Exported {
	kind := f.Resolve(value).Kind
	switch kind {
	case KindIdentifier, KindMember, KindCall, KindNew, KindMissing:
		kind = KindOther
	}
	return Exported{Name: name, Span: span, Kind: kind, Function: kind == KindFunction}
}

func (f *tree) members(object *Node) []Exported {
	var out []Exported
	for _, p := range object.Properties {
		if !p.Spread && !p.Computed {
			out = append(out, f.exported(p.Key, p.KeySpan, p.Value))
		}
	}
	return out
}

func (f *tree) exportDeclaration(s *parse.Node, names *[]Exported, starFrom *[]Import) {
	var from []Import
	f.mention(&from, s.ModuleSpecifier(), ImportReexport, exportNames(s))
	d := s.AsExportDeclaration()
	switch clause := d.ExportClause; {
	case clause == nil:
		if d.IsTypeOnly {
			for i := range from {
				from[i].Kind = ImportTypeOnly
			}
		}
		*starFrom = append(*starFrom, from...)
	case clause.Kind == parse.KindNamespaceExport:
		e := Exported{Name: clause.Name().Text(), Span: f.span(clause.Name()), Kind: KindOther, TypeOnly: d.IsTypeOnly}
		if len(from) > 0 {
			e.From = &from[0]
		}
		*names = append(*names, e)
	default:
		for _, specifier := range clause.Elements() {
			if parse.IsMissing(specifier.Name()) {
				continue
			}
			e := Exported{Name: specifier.Name().Text(), Span: f.span(specifier.Name()), Kind: KindOther}
			typeOnly := d.IsTypeOnly || specifier.AsExportSpecifier().IsTypeOnly
			switch {
			case len(from) > 0:
				e.From = &from[0]
			case !typeOnly:
				e = f.exported(e.Name, e.Span, f.value(specifier.PropertyNameOrName()))
			}
			e.TypeOnly = typeOnly
			*names = append(*names, e)
		}
	}
}

func (f *tree) exportedDeclaration(s *parse.Node, names *[]Exported) {
	switch s.Kind {
	case parse.KindVariableStatement:
		for _, d := range s.AsVariableStatement().DeclarationList.AsVariableDeclarationList().Declarations.Nodes {
			eachBoundName(d.Name(), func(name *parse.Node) {
				value := &Node{Kind: KindOther}
				if name == d.Name() {
					value = f.value(name)
					if d.Initializer() != nil {
						value = f.value(d.Initializer())
					}
				}
				*names = append(*names, f.exported(name.Text(), f.span(name), value))
			})
		}
	case parse.KindFunctionDeclaration, parse.KindClassDeclaration:
		e := Exported{Name: "default", Span: f.span(s), Kind: KindFunction, Function: true}
		if name := s.Name(); name != nil {
			e.Span = f.span(name)
			if !parse.HasDefault(s) {
				e.Name = name.Text()
			}
		}
		*names = append(*names, e)
	case parse.KindEnumDeclaration, parse.KindModuleDeclaration, parse.KindImportEqualsDeclaration:
		*names = append(*names, Exported{Name: s.Name().Text(), Span: f.span(s.Name()), Kind: KindOther})
	case parse.KindInterfaceDeclaration, parse.KindTypeAliasDeclaration:
		e := Exported{Name: s.Name().Text(), Span: f.span(s.Name()), Kind: KindOther, TypeOnly: true}
		if parse.HasDefault(s) {
			e.Name = "default"
		}
		*names = append(*names, e)
	}
}

// eachBoundName calls visit for the names that a binding declares.
func eachBoundName(name *parse.Node, visit func(*parse.Node)) {
	switch {
	case name == nil || parse.IsMissing(name):
	case name.Kind == parse.KindIdentifier:
		visit(name)
	case name.Kind == parse.KindObjectBindingPattern || name.Kind == parse.KindArrayBindingPattern:
		for _, e := range name.Elements() {
			if e.Kind == parse.KindBindingElement {
				eachBoundName(e.Name(), visit)
			}
		}
	}
}
