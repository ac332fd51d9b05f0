package proxygen

import (
	"cmp"
	"slices"
)

// emission is one export of a proxy.
type emission struct {
	name     string
	kind     Kind
	declared *Export // nil when only the loaded library tells of it
	// whole says that the value is the exported value itself, not a property of it.
	whole bool
	// verified says that the loaded library has the export and that the kind is what
	// the value is.
	verified bool
}

func (e emission) isFunction() bool {
	return e.kind == KindFunction || e.kind == KindCallable || e.kind == KindClass
}

// ofFunction are the properties that every function has, and which are not exports.
var ofFunction = map[string]bool{"length": true, "name": true, "prototype": true, "arguments": true, "caller": true}

// present returns the exports of the loaded library by name.
func (r *RuntimeExports) present() map[string]string {
	names := make(map[string]string, len(r.Names))
	for _, n := range r.Names {
		isFunction := r.Type == "function" || r.Type == "class"
		if n.Name == "__esModule" || isFunction && ofFunction[n.Name] || n.Type == "accessor that throws" {
			continue
		}
		names[n.Name] = n.Type
	}
	return names
}

// Absent returns the values that the declarations promise and the loaded library
// does not have, in the model's order. Both arguments may be nil.
func Absent(m *Model, r *RuntimeExports) []Export {
	if m == nil || r == nil {
		return nil
	}
	names := r.present()
	var out []Export
	for _, e := range m.Exports {
		if _, ok := names[e.Name]; ok || e.Kind == KindType {
			continue
		}
		// Whatever is exported as a whole is the default export for who imports it.
		if e.Name == "default" && (m.ExportAssign || !r.ESModule) {
			continue
		}
		out = append(out, e)
	}
	return out
}

// emissions lays the loaded library's exports over the declared ones, sorted by
// name, the default export last.
func (l Library) emissions() []emission {
	declared := map[string]*Export{}
	assigned := false
	if l.hasDeclarations() {
		assigned = l.Model.ExportAssign
		for i := range l.Model.Exports {
			declared[l.Model.Exports[i].Name] = &l.Model.Exports[i]
		}
	}
	var out []emission
	if l.Runtime == nil {
		for name, e := range declared {
			if e.Kind != KindType {
				out = append(out, emission{name: name, kind: e.Kind, declared: e, whole: name == "default" && assigned})
			}
		}
		if e := declared["default"]; l.CommonJS && (e == nil || e.Kind == KindType) {
			out = append(out, emission{name: "default", kind: KindValue, whole: true})
		}
	} else {
		for name, typeof := range l.Runtime.present() {
			e := declared[name]
			out = append(out, emission{name: name, kind: actualKind(typeof, e), declared: e, verified: true})
		}
		out = l.wholeDefault(out, declared["default"])
	}
	slices.SortFunc(out, func(a, b emission) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.name, b.name))
	})
	return out
}

func rank(e emission) int {
	if e.name == "default" {
		return 1
	}
	return 0
}

// wholeDefault makes the exported value itself the default export, as bundlers do
// for what is not an ES module. What is one has a default export only if it says so.
func (l Library) wholeDefault(out []emission, declared *Export) []emission {
	if l.Runtime.ESModule {
		return out
	}
	out = slices.DeleteFunc(out, func(e emission) bool { return e.name == "default" })
	if declared != nil && declared.Kind == KindType {
		declared = nil
	}
	return append(out, emission{name: "default", kind: actualKind(l.Runtime.Type, nil), declared: declared, whole: true, verified: true})
}

// actualKind decides by what the value is, and lets the declaration choose between
// the ways to treat a function: code compiled to ES5 has functions for classes.
func actualKind(typeof string, declared *Export) Kind {
	switch typeof {
	case "class":
		return KindClass
	case "function":
		if declared != nil && (declared.Kind == KindClass || declared.Kind == KindCallable) {
			return declared.Kind
		}
		return KindFunction
	}
	return KindValue
}
