package syntax

// Declarative reports whether what Export returns is all that running the file
// would export: nothing is imported except from the named packages, whose exports
// are known to change nothing, and module.exports is touched only by the one
// assignment. Export itself already leaves alone every value that other code in
// the file may change.
func (f *File) Declarative(inert ...string) bool {
	for _, i := range f.Imports() {
		known := i.Kind == ImportTypeOnly
		for _, specifier := range inert {
			known = known || i.Specifier == specifier
		}
		if !known {
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
