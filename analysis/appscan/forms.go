package appscan

import "github.com/sandbox-lsp/sandbox-lsp/policy/syntax"

// coverage says whether the redirect sees a form, and why.
type coverage struct {
	covered bool
	// certain says that what is not covered surely runs. What only asks for a place is
	// a warning, since something else has to load what stands there; so is a form that
	// some tools cover.
	certain bool
	why     string
}

// forms is the one table of what the redirect covers. It holds for a specifier that
// is spelled out and is a request of the policy; every other specifier escapes in
// any form. Type-only imports are gone at run time and do not appear.
var forms = map[syntax.Form]coverage{
	syntax.FormImport:   {true, true, "bundlers resolve it by its request, and the redirect answers"},
	syntax.FormReexport: {true, true, "it is resolved as an import is"},
	syntax.FormDynamic:  {true, true, "a literal import() is resolved as an import is"},
	syntax.FormRequire:  {true, true, "Node's redirect answers a require() with what the sandbox exports; a bundler's refuses it"},

	syntax.FormImportEquals:   {false, false, "in ES module output TypeScript makes it a call of createRequire, which bundlers leave to Node"},
	syntax.FormCreatedRequire: {false, true, "bundlers leave what createRequire makes to Node, which knows nothing of the redirect"},
	syntax.FormModuleRequire:  {false, false, "bundlers leave the require of a module object to Node, which knows nothing of the redirect"},
	syntax.FormCopiedRequire:  {false, false, "bundlers do not follow require into a variable and leave the call to Node, which knows nothing of the redirect"},
	syntax.FormImportScripts:  {false, true, "importScripts() loads a file by its address, past every resolver"},
	syntax.FormRequireResolve: {false, false, "require.resolve() gives the path of the library's own file, and loading that bypasses the redirect"},
	syntax.FormMetaResolve:    {false, false, "import.meta.resolve() gives the address of the library's own file, and loading that bypasses the redirect"},
	syntax.FormURL:            {false, false, "new URL() gives the address of the library's own file, and a worker or script made of it bypasses the redirect"},
}
