package syntax

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/microsoft/typescript-go/shim/parse"
)

// Form is the syntax by which a file mentions another module, as a message would
// print it.
type Form string

// The forms of mentions. Those down to FormType are what Imports returns; what comes
// after them is either left to the host by bundlers, or gives a place and no module.
const (
	FormImport       Form = "import"
	FormReexport     Form = "export from"
	FormDynamic      Form = "import()"
	FormRequire      Form = "require()"
	FormImportEquals Form = "import = require()"
	FormType         Form = "import type" // gone at run time

	FormCreatedRequire Form = "createRequire()"   // a require that module.createRequire made
	FormModuleRequire  Form = "module.require()"  // CommonJS's own require, by another name
	FormCopiedRequire  Form = "copy of require()" // require, kept in a variable
	FormRequireResolve Form = "require.resolve()"
	FormMetaResolve    Form = "import.meta.resolve()"
	FormURL            Form = "new URL()" // new URL("x", import.meta.url)
	FormImportScripts  Form = "importScripts()"
)

// Mention is one place where a file names another module or its file.
type Mention struct {
	Import
	Form Form
	// Computed says that the specifier is not spelled out where it is used. Specifier
	// then holds what the text shows of it: the value of a constant, a branch of a
	// condition, or only the beginning of a template or a concatenation. Span covers
	// the whole expression.
	Computed bool
}

func (f *tree) mentions() []Mention {
	m := mentions{f: f, creates: strings.Contains(f.Text, "createRequire"), copies: copied.MatchString(f.Text)}
	if f.source != nil {
		m.below(f.source.AsNode())
	}
	slices.SortStableFunc(m.out, func(a, b Mention) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	return m.out
}

// mentions collects the mentions of one file.
type mentions struct {
	f   *tree
	out []Mention
	// creates says that the file may make a require of its own. Most do not, and need
	// no scopes for their calls.
	creates bool
	// copies says the same of a variable that require is kept in.
	copies bool
}

// copied matches where a variable may get the value of require.
var copied = regexp.MustCompile(`=\s*\(*require\s*([;,)\n}]|$)`)

func (m *mentions) below(n *parse.Node) {
	children(n, func(child *parse.Node) {
		switch child.Kind {
		case parse.KindImportDeclaration:
			form := FormImport
			if importKind(child) == ImportTypeOnly {
				form = FormType
			}
			m.add(child.ModuleSpecifier(), form, importNames(child))
			return
		case parse.KindExportDeclaration:
			form := FormReexport
			if child.AsExportDeclaration().IsTypeOnly {
				form = FormType
			}
			m.add(child.ModuleSpecifier(), form, exportNames(child))
			return
		case parse.KindImportEqualsDeclaration:
			d := child.AsImportEqualsDeclaration()
			if d.ModuleReference != nil && d.ModuleReference.Kind == parse.KindExternalModuleReference {
				form := FormImportEquals
				if d.IsTypeOnly {
					form = FormType
				}
				m.add(d.ModuleReference.Expression(), form, []string{"*"})
			}
			return
		case parse.KindImportType:
			if argument := child.AsImportTypeNode().Argument; argument != nil && argument.Kind == parse.KindLiteralType {
				m.add(argument.AsLiteralTypeNode().Literal, FormType, nil)
			}
		case parse.KindCallExpression:
			m.call(child)
		case parse.KindNewExpression:
			if arguments := child.Arguments(); len(arguments) > 1 && m.free(child.Expression(), "URL") && isMeta(arguments[1], "url") {
				m.add(arguments[0], FormURL, nil)
			}
		}
		m.below(child)
	})
}

// call looks at a call that may name a module in its first argument.
func (m *mentions) call(call *parse.Node) {
	if len(call.Arguments()) == 0 {
		return
	}
	callee, argument := unwrap(call.Expression()), call.Arguments()[0]
	object, property := member(callee)
	switch {
	case callee.Kind == parse.KindImportKeyword:
		m.add(argument, FormDynamic, []string{"*"})
	case m.free(callee, "require"):
		m.add(argument, FormRequire, requiredNames(call))
	case m.free(callee, "importScripts"):
		for _, a := range call.Arguments() {
			m.add(a, FormImportScripts, nil)
		}
	case m.created(callee):
		m.add(argument, FormCreatedRequire, requiredNames(call))
	case isMeta(callee, "resolve"):
		m.add(argument, FormMetaResolve, nil)
	case property == "resolve" && (m.free(object, "require") || m.created(object)):
		m.add(argument, FormRequireResolve, nil)
	case property == "require" && (m.free(object, "module") || m.mainModule(object)):
		m.add(argument, FormModuleRequire, requiredNames(call))
	case m.copied(callee):
		m.add(argument, FormCopiedRequire, requiredNames(call))
	}
}

// free reports whether an expression is a name that the file does not declare.
func (m *mentions) free(e *parse.Node, name string) bool {
	return e != nil && isName(e, name) && m.f.scopes().lookup(e) == nil
}

// mainModule reports whether an expression is process.mainModule or require.main.
func (m *mentions) mainModule(e *parse.Node) bool {
	object, property := member(e)
	return object != nil && (property == "mainModule" && m.free(object, "process") || property == "main" && m.free(object, "require"))
}

// copied reports whether an expression is a variable that holds the file's require.
func (m *mentions) copied(e *parse.Node) bool {
	if !m.copies || e.Kind != parse.KindIdentifier {
		return false
	}
	value := m.initial(e)
	return value != nil && m.free(value, "require")
}

// initial returns the value that a variable is declared with, or nil for what is declared
// in another way.
func (m *mentions) initial(name *parse.Node) *parse.Node {
	symbol := m.f.scopes().lookup(name)
	if symbol == nil || len(symbol.Declarations) != 1 {
		return nil
	}
	d := symbol.Declarations[0]
	if d.Kind != parse.KindVariableDeclaration || d.Initializer() == nil {
		return nil
	}
	return unwrap(d.Initializer())
}

// created reports whether an expression is a require made by module.createRequire,
// called at once or kept in a variable.
func (m *mentions) created(e *parse.Node) bool {
	if !m.creates {
		return false
	}
	if e.Kind == parse.KindIdentifier {
		e = m.initial(e)
	}
	if e == nil || e.Kind != parse.KindCallExpression {
		return false
	}
	callee := unwrap(e.Expression())
	if callee.Kind != parse.KindIdentifier {
		_, property := member(callee)
		return property == "createRequire"
	}
	if callee.Text() == "createRequire" {
		return true
	}
	// import { createRequire as make } from "node:module"
	symbol := m.f.scopes().lookup(callee)
	return symbol != nil && slices.ContainsFunc(symbol.Declarations, func(d *parse.Node) bool {
		return d.Kind == parse.KindImportSpecifier && d.PropertyNameOrName().Text() == "createRequire"
	})
}

// isMeta reports whether an expression is import.meta.property.
func isMeta(e *parse.Node, property string) bool {
	object, name := member(e)
	return object != nil && name == property && object.Kind == parse.KindMetaProperty
}

// maxBranches bounds how many nested conditions of one specifier are looked into.
const maxBranches = 16

// add records what an expression shows of the specifier that it gives.
func (m *mentions) add(specifier *parse.Node, form Form, names []string) {
	if specifier == nil {
		return
	}
	if form == FormType {
		names = nil
	}
	open := []*parse.Node{specifier}
	for steps := 0; len(open) > 0 && steps < maxBranches; steps++ {
		e := unwrap(open[0])
		open = open[1:]
		found := Mention{Import: Import{Span: m.f.span(e), Kind: form.kind(), Names: names}, Form: form, Computed: steps > 0}
		switch e.Kind {
		case parse.KindStringLiteral, parse.KindNoSubstitutionTemplate:
			if parse.IsMissing(e) {
				continue
			}
			found.Specifier = e.Text()
		case parse.KindConditionalExpression:
			c := e.AsConditionalExpression()
			open = append(open, c.WhenTrue, c.WhenFalse)
			continue
		default:
			found.Computed = true
			if found.Specifier = m.f.beginning(e); found.Specifier == "" {
				continue
			}
		}
		m.out = append(m.out, found)
	}
}

// beginning returns how the string that an expression gives begins, or "".
func (f *tree) beginning(e *parse.Node) string {
	for {
		e = unwrap(e)
		switch e.Kind {
		case parse.KindStringLiteral, parse.KindNoSubstitutionTemplate:
			return e.Text()
		case parse.KindTemplateExpression:
			if head := e.AsTemplateExpression().Head; head.Text() != "" {
				return head.Text()
			}
			spans := e.AsTemplateExpression().TemplateSpans
			if spans == nil || len(spans.Nodes) == 0 {
				return ""
			}
			e = spans.Nodes[0].Expression()
		case parse.KindBinaryExpression:
			b := e.AsBinaryExpression()
			if b.OperatorToken.Kind != parse.TokenPlus {
				return ""
			}
			e = b.Left
		case parse.KindIdentifier:
			if value := f.Resolve(f.value(e)); value.Kind == KindString {
				return value.Text
			}
			return ""
		default:
			return ""
		}
	}
}

// kind returns the kind of import that a form amounts to.
func (form Form) kind() ImportKind {
	switch form {
	case FormImport:
		return ImportStatic
	case FormReexport:
		return ImportReexport
	case FormType:
		return ImportTypeOnly
	case FormDynamic:
		return ImportDynamic
	}
	return ImportRequire
}

// imports reports whether the mention is one that Imports returns.
func (m Mention) imports() bool {
	switch m.Form {
	case FormImport, FormReexport, FormDynamic, FormRequire, FormImportEquals, FormType:
		return !m.Computed
	}
	return false
}
