package proxygen

import (
	"strings"
)

// types writes the declarations beside a proxy. They take every type from the
// library's own declarations by name, so that generics, overloads and namespaces
// stay what they are; nothing is printed from inferred types.
func (l Library) types(exports []emission) []byte {
	var b strings.Builder
	b.WriteString(header(l.Request) + "\n")
	if l.hasDeclarations() {
		specifier := l.specifier(&b)
		if l.Model.ExportAssign {
			l.assignedTypes(&b, specifier, exports)
		} else {
			l.moduleTypes(&b, specifier, exports)
		}
	}
	for _, e := range exports {
		if e.declared != nil || e.name == "__sandbox" || e.name == "disposeLibrary" {
			continue
		}
		// A default that only the loaded library tells of is the module as a whole. It
		// has no declaration, and to promise one where there are declarations would
		// contradict them.
		if e.name == "default" && l.hasDeclarations() {
			continue
		}
		declareConst(&b, e.name, "unknown")
	}
	if l.Root == "" {
		b.WriteString("/** @internal */\nexport declare const __sandbox: unknown;\n")
	}
	b.WriteString("/** Ends the sandbox; every later call of an export says that it was disposed. */\nexport declare function disposeLibrary(): void;\n")
	return []byte(b.String())
}

// specifier returns how the proxy's declarations import the library's.
func (l Library) specifier(b *strings.Builder) string {
	if l.Model.Specifier == "" {
		return moduleSpecifier(relative(l.Dir, l.Model.Entry))
	}
	// A package's own files are found by its name. A file of the project that declares
	// the module has to be named.
	if !strings.Contains(l.Model.Entry, "node_modules") {
		b.WriteString("/// <reference path=" + quote(relative(l.Dir, l.Model.Entry)) + " />\n")
	}
	return l.Model.Specifier
}

// moduleTypes re-exports by name what the proxy exports, and all types.
func (l Library) moduleTypes(b *strings.Builder, specifier string, exports []emission) {
	var values, types []string
	for _, e := range exports {
		if e.declared != nil && e.name != "disposeLibrary" && e.name != "__sandbox" {
			values = append(values, exportName(e.name))
		}
	}
	for _, e := range l.Model.Exports {
		if e.Kind == KindType {
			types = append(types, exportName(e.Name))
		}
	}
	list(b, "export {", values, specifier)
	list(b, "export type {", types, specifier)
}

func list(b *strings.Builder, keyword string, names []string, specifier string) {
	if len(names) == 0 {
		return
	}
	b.WriteString(keyword + "\n")
	for _, n := range names {
		b.WriteString("  " + n + ",\n")
	}
	b.WriteString("} from " + quote(specifier) + ";\n")
}

// assignedTypes declares the exports of a module that uses `export =`. An import
// assignment is the one form that reaches such a module whatever the compiler's
// interop options are, with everything that is merged into it.
func (l Library) assignedTypes(b *strings.Builder, specifier string, exports []emission) {
	b.WriteString("import __library = require(" + quote(specifier) + ");\n")
	member := func(name string, property bool) {
		switch {
		case !property && isFree(name):
			// All meanings of the name: value, type and namespace.
			b.WriteString("export import " + name + " = __library." + name + ";\n")
		case isIdentifier(name):
			declareConst(b, name, "typeof __library."+name)
		default:
			declareConst(b, name, "(typeof __library)["+quote(name)+"]")
		}
	}
	for _, e := range exports {
		switch {
		case e.declared == nil || e.name == "disposeLibrary" || e.name == "__sandbox":
		case e.name == "default" && e.whole:
			b.WriteString("export default __library;\n")
		default:
			member(e.name, e.declared.Property)
		}
	}
	for _, e := range l.Model.Exports {
		if e.Kind == KindType && isFree(e.Name) {
			member(e.Name, false)
		}
	}
}

// declareConst declares an export of a type.
func declareConst(b *strings.Builder, name, typ string) {
	if name != "default" && isFree(name) {
		b.WriteString("export declare const " + name + ": " + typ + ";\n")
		return
	}
	local := binding(name)
	b.WriteString("declare const " + local + ": " + typ + ";\nexport { " + local + " as " + exportName(name) + " };\n")
}
