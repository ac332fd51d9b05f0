package bundle

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/sandbox-lsp/sandbox-lsp/policy/nodecap"
)

// TestsGlobal is the name of the global variable to which a bundle of tests assigns
// its campaign, and EntriesGlobal that of the one that has the modules of the library
// under test, by the names in TestBundle.Entries.
const (
	TestsGlobal   = "__SANDBOX_TESTS__"
	EntriesGlobal = "__SANDBOX_ENTRIES__"
)

// RootEntry is the name of the library's own entry among its entries.
const RootEntry = "."

// Tests says which tests to bundle.
type Tests struct {
	Root    string
	Files   []string // relative to the root, slash-separated
	Library Target
	Adapter string // the request, among Modules, of what knows the test framework
	// Modules are modules of the tool's own: a request ModulePrefix + "a/b" is the file
	// "a/b.js". Provided are the requests of the tests and of what they import that such
	// a module answers.
	Modules  fs.FS
	Provided map[string]string
	OutDir   string
	File     string
	// Overlay holds the texts of open documents by absolute path.
	Overlay map[string]string
}

// ModulePrefix marks the requests of modules of the tool's own.
const ModulePrefix = "sandbox-harness/"

// Target is the library under test.
type Target struct {
	Name  string // the request
	Entry string // the file that it resolves to
	Dir   string // of its package
}

// TestBundle is a bundle of tests that takes the library under test from
// EntriesGlobal.
type TestBundle struct {
	Bundle
	// Entries are the library's modules that the tests import, sorted: RootEntry, or a
	// path below the package's folder.
	Entries []string
	// Missing are the packages that the tests import and nobody has installed.
	Missing []Import
}

// OfTests bundles tests with all that they import but the library under test. What
// cannot be resolved throws when it is imported, as it does in Node.
func OfTests(ctx context.Context, t Tests) (*TestBundle, error) {
	r := &redirect{tests: t, isTest: map[string]bool{}, entries: map[string]bool{}, missing: &imports{}}
	if real, err := filepath.EvalSymlinks(t.Library.Dir); err == nil {
		r.dir = real
	}
	if real, err := filepath.EvalSymlinks(t.Library.Entry); err == nil {
		r.entry = real
	}
	var entry strings.Builder
	fmt.Fprintf(&entry, "import { campaignOf } from %s;\nimport { adapter } from %s;\n", quote(ModulePrefix+"campaign"), quote(ModulePrefix+t.Adapter))
	entry.WriteString("export default campaignOf(adapter, [\n")
	for _, file := range t.Files {
		absolute := filepath.Join(t.Root, filepath.FromSlash(file))
		if real, err := filepath.EvalSymlinks(absolute); err == nil {
			absolute = real
		}
		r.isTest[absolute] = true
		fmt.Fprintf(&entry, "  [%s, () => require(%s)],\n", quote(file), quote(filepath.ToSlash(absolute)))
	}
	entry.WriteString("]);\n")
	builtins := &imports{}
	b, err := run(ctx, api.BuildOptions{
		AbsWorkingDir:  t.Root,
		Stdin:          &api.StdinOptions{Contents: entry.String(), ResolveDir: t.Root, Sourcefile: "campaign.js"},
		Outfile:        filepath.Join(t.OutDir, t.File),
		Format:         api.FormatIIFE,
		GlobalName:     TestsGlobal,
		Platform:       api.PlatformNode, // whose builds their helpers are written for
		Sourcemap:      api.SourceMapLinked,
		SourcesContent: api.SourcesContentExclude,
		LegalComments:  api.LegalCommentsNone,
		TsconfigRaw:    "{}",
		Define:         map[string]string{"global": "globalThis"},
		Plugins:        []api.Plugin{overlay(t.Overlay), r.plugin(), builtinStubs(builtins)},
	})
	if err != nil {
		return nil, err
	}
	b.Builtins = builtins.list()
	made := &TestBundle{Bundle: *b, Missing: r.missing.list()}
	for name := range r.entries {
		made.Entries = append(made.Entries, name)
	}
	slices.Sort(made.Entries)
	return made, nil
}

// redirect decides which requests of tests are the library's, and which the tool
// answers itself.
type redirect struct {
	tests      Tests
	dir, entry string // of the library, links resolved
	isTest     map[string]bool
	missing    *imports

	mu      sync.Mutex
	entries map[string]bool
}

const (
	moduleNamespace   = "sandbox-harness"
	providedNamespace = "sandbox-provided"
	requiredNamespace = "sandbox-required" // the library, for require()
	importedNamespace = "sandbox-imported" // the library, for import
	missingNamespace  = "sandbox-missing"
)

func (r *redirect) plugin() api.Plugin {
	return api.Plugin{Name: "sandbox-harness", Setup: func(build api.PluginBuild) {
		type mark struct{}
		build.OnResolve(api.OnResolveOptions{Filter: `.*`}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
			if _, again := args.PluginData.(mark); again || args.Kind == api.ResolveEntryPoint {
				return api.OnResolveResult{}, nil
			}
			if answered, ok := r.own(args); ok {
				return answered, nil
			}
			if nodecap.IsBuiltin(args.Path) {
				return api.OnResolveResult{}, nil // for the stand-ins
			}
			if args.Path == r.tests.Library.Name || !bare(args.Path) && filepath.Join(args.ResolveDir, filepath.FromSlash(args.Path)) == r.dir {
				return r.library(RootEntry, args.Kind), nil
			}
			got := build.Resolve(args.Path, api.ResolveOptions{Importer: args.Importer, ResolveDir: args.ResolveDir, Kind: args.Kind, Namespace: args.Namespace, PluginData: mark{}})
			if len(got.Errors) > 0 {
				if bare(args.Path) {
					r.missing.add(Import{Request: args.Path, Importer: args.Importer})
				}
				return api.OnResolveResult{Path: args.Path, Namespace: missingNamespace}, nil
			}
			// A browser field may switch a module off, which the bundler says with a path
			// that names no file, and handles itself.
			if info, err := os.Stat(got.Path); got.Namespace == "file" && (err != nil || !info.Mode().IsRegular()) {
				return api.OnResolveResult{}, nil
			}
			if name, ok := r.entryOf(got.Path, got.Namespace); ok {
				return r.library(name, args.Kind), nil
			}
			return api.OnResolveResult{Path: got.Path, Namespace: got.Namespace, Suffix: got.Suffix, External: got.External, PluginData: got.PluginData, SideEffects: sideEffects(got.SideEffects)}, nil
		})
		load := func(namespace string, source func(string) string) {
			build.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: namespace}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
				code := source(args.Path)
				return api.OnLoadResult{Contents: &code, Loader: api.LoaderJS, ResolveDir: r.tests.Root}, nil
			})
		}
		build.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: moduleNamespace}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
			source, err := fs.ReadFile(r.tests.Modules, args.Path)
			code := string(source)
			return api.OnLoadResult{Contents: &code, Loader: api.LoaderJS}, err
		})
		// A module of the tool's own is an ES module, and whoever requires it wants what
		// the package that it stands for exports.
		load(providedNamespace, func(request string) string {
			return fmt.Sprintf("const ns = require(%s);\nmodule.exports = \"default\" in ns ? ns.default : ns;\n", quote(ModulePrefix+r.tests.Provided[request]))
		})
		load(requiredNamespace, func(name string) string {
			return fmt.Sprintf("module.exports = globalThis.%s[%s];\n", EntriesGlobal, quote(name))
		})
		// Names of an ES import come out of the object, and the default is the library's
		// own where it says that it was an ES module.
		load(importedNamespace, func(name string) string {
			request := quote(requiredPrefix + name)
			return fmt.Sprintf("import whole from %s;\nexport * from %s;\nexport default whole;\n", request, request)
		})
		load(missingNamespace, func(request string) string {
			return fmt.Sprintf("throw Object.assign(new Error(%s), { code: \"MODULE_NOT_FOUND\" });\n", quote(NotFound(request)))
		})
	}}
}

// NotFound is the message of the error that the import of a package throws that nobody
// has installed.
func NotFound(request string) string { return fmt.Sprintf("Cannot find module '%s'", request) }

const requiredPrefix = "sandbox-required:"

// own answers the requests that never reach the disk.
func (r *redirect) own(args api.OnResolveArgs) (api.OnResolveResult, bool) {
	if name, ok := strings.CutPrefix(args.Path, ModulePrefix); ok {
		return api.OnResolveResult{Path: name + ".js", Namespace: moduleNamespace}, true
	}
	if args.Namespace == moduleNamespace {
		return api.OnResolveResult{Path: path.Join(path.Dir(args.Importer), args.Path), Namespace: moduleNamespace}, true
	}
	if name, ok := strings.CutPrefix(args.Path, requiredPrefix); ok && args.Namespace == importedNamespace {
		return api.OnResolveResult{Path: name, Namespace: requiredNamespace}, true
	}
	request := strings.TrimSuffix(strings.TrimPrefix(args.Path, "node:"), "/")
	if _, provided := r.tests.Provided[request]; provided && request != r.tests.Library.Name {
		return api.OnResolveResult{Path: request, Namespace: providedNamespace}, true
	}
	return api.OnResolveResult{}, false
}

func (r *redirect) library(name string, kind api.ResolveKind) api.OnResolveResult {
	r.mu.Lock()
	r.entries[name] = true
	r.mu.Unlock()
	namespace := importedNamespace
	if kind == api.ResolveJSRequireCall {
		namespace = requiredNamespace
	}
	return api.OnResolveResult{Path: name, Namespace: namespace}
}

// entryOf returns the name of a file among the library's entries, and false for what is
// not the library's code: what lies elsewhere, its data, and what belongs to its tests.
func (r *redirect) entryOf(file, namespace string) (string, bool) {
	if namespace != "file" {
		return "", false
	}
	if file == r.entry {
		return RootEntry, true
	}
	rel, err := filepath.Rel(r.dir, file)
	if err != nil || !filepath.IsLocal(rel) || r.isTest[file] {
		return "", false
	}
	rel = filepath.ToSlash(rel)
	switch path.Ext(rel) {
	case ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx":
	default:
		return "", false
	}
	for _, folder := range strings.Split(path.Dir(rel), "/") {
		if folder == "node_modules" || slices.Contains(testFolders, folder) && r.holdsTests(rel, folder) {
			return "", false
		}
	}
	return rel, true
}

// testFolders are what packages call the folders of their tests.
var testFolders = []string{"test", "tests", "__tests__", "spec", "specs", "__fixtures__", "fixtures", "__mocks__"}

// holdsTests reports whether a file lies in a folder of that name that a test lies in
// too, so that it belongs to the tests.
func (r *redirect) holdsTests(rel, folder string) bool {
	before, _, _ := strings.Cut("/"+rel, "/"+folder+"/")
	prefix := filepath.Join(r.dir, filepath.FromSlash(before), folder) + string(filepath.Separator)
	for test := range r.isTest {
		if strings.HasPrefix(test, prefix) {
			return true
		}
	}
	return false
}

// bare reports whether a request names a package.
func bare(request string) bool {
	return !strings.HasPrefix(request, ".") && !strings.HasPrefix(request, "/") && !filepath.IsAbs(request)
}

// OfEntries bundles a library's modules with all that they import into one script that
// assigns to Global an object that has each of them by its name in TestBundle.Entries.
// They are loaded when they are first asked for.
func OfEntries(ctx context.Context, lib Library, dir string, entries []string) (*Bundle, error) {
	builtins := &imports{}
	var code strings.Builder
	code.WriteString("module.exports = {\n")
	for _, name := range entries {
		file := lib.Entry
		if name != RootEntry {
			file = filepath.Join(dir, filepath.FromSlash(name))
		}
		fmt.Fprintf(&code, "  get %s() { return require(%s); },\n", quote(name), quote(filepath.ToSlash(file)))
	}
	code.WriteString("};\n")
	options := libraryOptions(lib, builtins)
	options.Stdin = &api.StdinOptions{Contents: code.String(), ResolveDir: dir, Sourcefile: "entries.js"}
	b, err := run(ctx, options)
	if err != nil {
		return nil, err
	}
	b.Builtins = builtins.list()
	return b, nil
}
