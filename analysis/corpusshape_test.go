package analysis_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sandbox-lsp/sandbox-lsp/analysis"
)

// evidence is what a claim about a package's shape is held against.
type evidence struct {
	manifest struct {
		Type    string
		Main    string
		Module  string
		Exports json.RawMessage
	}
	esm          bool   // the entry is an ES module
	entry        string // its text
	bundle       string
	builtins     int    // requests for modules of Node in the bundle
	declarations string // where they are, relative to the project; "" without any
}

func (c *corpus) evidence(t *testing.T, l *analysis.Library) evidence {
	t.Helper()
	if l.Bundle == nil {
		t.Fatalf("%s has no bundle", l.Policy.Name)
	}
	e := evidence{esm: l.Bundle.ESM, builtins: len(l.Bundle.Builtins), bundle: string(c.files["dist/"+l.Bundle.File])}
	readJSON(t, &e.manifest, l.Resolved.Package.Dir, "package.json")
	entry, err := os.ReadFile(l.Resolved.Entry)
	if err != nil {
		t.Fatal(err)
	}
	e.entry = string(entry)
	if l.Model != nil && l.Model.Entry != "" {
		e.declarations = c.relative(l.Model.Entry)
	}
	return e
}

// root returns what the exports map says of the package's root.
func (e evidence) root() string {
	var subpaths map[string]json.RawMessage
	if json.Unmarshal(e.manifest.Exports, &subpaths) == nil && subpaths["."] != nil {
		return string(subpaths["."])
	}
	return string(e.manifest.Exports)
}

// offers reports whether the root has one of the conditions.
func (e evidence) offers(conditions ...string) bool {
	return slices.ContainsFunc(conditions, func(c string) bool { return strings.Contains(e.root(), `"`+c+`"`) })
}

// names reports whether the manifest names a file of that extension for the root.
func (e evidence) names(extension string) bool {
	return filepath.Ext(e.manifest.Main) == extension || strings.Contains(e.root(), extension+`"`)
}

func (e evidence) offersESM() bool {
	return e.esm || e.manifest.Module != "" || e.manifest.Type == "module" || e.offers("import") || e.names(".mjs")
}

func (e evidence) offersCommonJS() bool {
	if e.offers("require") || e.names(".cjs") {
		return true
	}
	return e.manifest.Type != "module" && (e.manifest.Exports == nil || e.manifest.Module != "" || e.offers("default", "node"))
}

// amd matches the branch of a UMD wrapper that asks for an AMD loader.
var amd = regexp.MustCompile(`define\.amd\b`)

// shapes are the kinds of packages that the corpus has to have, each with the test
// of a claim to be one.
var shapes = map[string]func(evidence) bool{
	"commonjs": func(e evidence) bool { return !e.offersESM() },
	"esm":      func(e evidence) bool { return e.esm && !e.offersCommonJS() },
	"dual":     func(e evidence) bool { return e.offersESM() && e.offersCommonJS() },
	"umd": func(e evidence) bool {
		return amd.MatchString(e.entry)
	},
	"exports": func(e evidence) bool { return len(e.manifest.Exports) > 0 && e.manifest.Exports[0] == '{' },
	// Declarations come from DefinitelyTyped.
	"types": func(e evidence) bool { return strings.HasPrefix(e.declarations, "node_modules/@types/") },
	// No declarations at all.
	"untyped": func(e evidence) bool { return e.declarations == "" },
	"wasm":    func(e evidence) bool { return strings.Contains(e.bundle, "WebAssembly") },
	// Of use in a document only.
	"dom":  func(e evidence) bool { return strings.Contains(e.bundle, "document") },
	"node": func(e evidence) bool { return e.builtins > 0 },
	// Loaded for what it does to the global object.
	"globals": func(e evidence) bool {
		return strings.Contains(e.bundle, "global") || strings.Contains(e.bundle, "self")
	},
}
