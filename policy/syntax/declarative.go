package syntax

import "github.com/microsoft/typescript-go/shim/parse"

func (f *tree) declarative(inert ...string) bool {
	for _, i := range f.Imports() {
		known := i.Kind == ImportTypeOnly
		for _, specifier := range inert {
			known = known || i.Specifier == specifier
		}
		if !known {
			return false
		}
	}
	for _, s := range f.statements() {
		if !f.declares(s) {
			return false
		}
	}
	_, form, _ := f.Export()
	if form != ModuleExports && form != ExportsDefault {
		return true
	}
	mentions := 0
	for _, r := range f.Unresolved() {
		if r.Name == "module" || r.Name == "exports" {
			mentions++
		}
	}
	return mentions == 1
}

// declares reports whether a top-level statement only declares or exports.
func (f *tree) declares(s *parse.Node) bool {
	switch s.Kind {
	case parse.KindImportDeclaration, parse.KindImportEqualsDeclaration, parse.KindExportDeclaration, parse.KindExportAssignment,
		parse.KindFunctionDeclaration, parse.KindInterfaceDeclaration, parse.KindTypeAliasDeclaration:
		return true
	case parse.KindVariableStatement:
		quiet := true
		children(s, func(list *parse.Node) {
			if list.Kind != parse.KindVariableDeclarationList {
				return
			}
			children(list, func(d *parse.Node) {
				if i := d.Initializer(); i != nil && !f.quiet(f.value(i)) {
					quiet = false
				}
			})
		})
		return quiet
	case parse.KindExpressionStatement:
		e := unwrap(s.Expression())
		if e.Kind == parse.KindStringLiteral {
			return true // a directive
		}
		for _, a := range f.commonJS() {
			if a.statement == s {
				return true
			}
		}
	}
	return false
}

// quiet reports whether evaluating a value can neither fail nor change anything: it
// is literal, names things, or asks for what Imports and Resolve know.
func (f *tree) quiet(n *Node) bool {
	switch n.Kind {
	case KindNew, KindOther, KindTemplate, KindMissing:
		return false
	case KindMember:
		return f.quiet(n.Operand)
	case KindSpread:
		return f.quiet(n.Operand)
	case KindCall:
		if requireOf(code(n)) == nil && !f.isDefineConfig(n.Callee) {
			return false
		}
		for _, a := range n.Args {
			if !f.quiet(a) {
				return false
			}
		}
	case KindArray:
		for _, e := range n.Elements {
			if !f.quiet(e) {
				return false
			}
		}
	case KindObject:
		for _, p := range n.Properties {
			if p.Computed || !p.Accessor && !f.quiet(p.Value) {
				return false
			}
		}
	}
	return true
}
