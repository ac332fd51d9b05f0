package bundle

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/sandbox-lsp/sandbox-lsp/policy/nodecap"
)

// Library says which library to bundle.
type Library struct {
	Root   string // the project root
	Entry  string // the file that the request resolves to
	OutDir string // where the bundle will stand; source map paths are relative to it
	File   string // the bundle's file name
	// Subpaths are requests below the library's, which share its modules.
	Subpaths []Subpath
}

// Subpath is a request below a library's.
type Subpath struct {
	Request string
	Entry   string
}

// SubpathScript returns the script that evaluates a subpath of a library which is
// loaded already, and leaves its exports where a workload's stand.
func SubpathScript(request string) string {
	return "var " + WorkloadGlobal + " = " + SubpathsGlobal + "[" + quote(request) + "]();\n"
}

// OfLibrary bundles a library with all that it imports into one script that
// assigns its exports to Global: the value of module.exports for CommonJS, a
// namespace object with live bindings for ES modules. Subpaths are evaluated when they
// are asked for.
func OfLibrary(ctx context.Context, lib Library) (*Bundle, error) {
	builtins := &imports{}
	options := libraryOptions(lib, builtins)
	// As an entry, data would be bundled and exported by nobody.
	if filepath.Ext(lib.Entry) == ".json" || len(lib.Subpaths) > 0 {
		options.Stdin = &api.StdinOptions{Contents: lib.module(), ResolveDir: filepath.Dir(lib.Entry)}
	} else {
		options.EntryPoints = []string{lib.Entry}
	}
	b, err := run(ctx, options)
	if err != nil {
		return nil, err
	}
	b.Builtins = builtins.list()
	b.ESM = b.ESM || slices.Contains(b.modules, lib.Entry)
	return b, nil
}

// module is the text of the module that a bundle with more than one entry, or with one
// that is no module, begins from.
func (lib Library) module() string {
	var b strings.Builder
	require := func(file string) string { return "require(" + quote(filepath.ToSlash(file)) + ")" }
	fmt.Fprintf(&b, "module.exports = %s;\n", require(lib.Entry))
	if len(lib.Subpaths) > 0 {
		fmt.Fprintf(&b, "globalThis.%s = { __proto__: null,\n", SubpathsGlobal)
		for _, s := range lib.Subpaths {
			fmt.Fprintf(&b, "  %s: () => %s,\n", quote(s.Request), require(s.Entry))
		}
		b.WriteString("};\n")
	}
	return b.String()
}

func libraryOptions(lib Library, builtins *imports) api.BuildOptions {
	return api.BuildOptions{
		AbsWorkingDir:  lib.Root,
		Outfile:        filepath.Join(lib.OutDir, lib.File),
		Format:         api.FormatIIFE,
		GlobalName:     Global,
		Platform:       api.PlatformBrowser,
		Sourcemap:      api.SourceMapLinked,
		SourcesContent: api.SourcesContentExclude,
		LegalComments:  api.LegalCommentsEndOfFile,
		TreeShaking:    api.TreeShakingTrue,
		TsconfigRaw:    "{}",
		Plugins:        []api.Plugin{builtinStubs(builtins), presentSources()},
	}
}

// imports collects requests from the bundler's concurrent callbacks.
type imports struct {
	mu   sync.Mutex
	seen map[Import]bool
}

func (c *imports) add(i Import) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		c.seen = map[Import]bool{}
	}
	c.seen[i] = true
}

// list returns what was collected, in a fixed order.
func (c *imports) list() []Import {
	c.mu.Lock()
	defer c.mu.Unlock()
	return sortedImports(c.seen)
}

// BuiltinMissing is part of the message of every error that the use of a missing Node
// built-in throws in a guest.
const BuiltinMissing = "is a Node built-in module"

const builtinNamespace = "node-builtin"

// builtinStubs puts an object that throws on use in the place of each Node
// built-in that the library reaches and that its browser field does not replace.
// Many libraries import one and use it only under Node; those load.
func builtinStubs(reached *imports) api.Plugin {
	return api.Plugin{Name: "node-builtins", Setup: func(build api.PluginBuild) {
		type mark struct{}
		build.OnResolve(api.OnResolveOptions{Filter: `^(node:)?[a-z_][a-z0-9_/]*$`}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
			if _, again := args.PluginData.(mark); again || !nodecap.IsBuiltin(args.Path) {
				return api.OnResolveResult{}, nil
			}
			// A package of that name, or the importer's browser field, comes first.
			if !strings.HasPrefix(args.Path, "node:") {
				got := build.Resolve(args.Path, api.ResolveOptions{Importer: args.Importer, ResolveDir: args.ResolveDir, Kind: args.Kind, Namespace: args.Namespace, PluginData: mark{}})
				// A browser field may switch it off (`"fs": false`), which the bundler says
				// with a path that names no file, and handles itself.
				if len(got.Errors) == 0 && !filepath.IsAbs(got.Path) {
					return api.OnResolveResult{}, nil
				}
				if len(got.Errors) == 0 && !got.External {
					return api.OnResolveResult{Path: got.Path, Namespace: got.Namespace, Suffix: got.Suffix, SideEffects: sideEffects(got.SideEffects)}, nil
				}
			}
			reached.add(Import{Request: args.Path, Importer: args.Importer})
			return api.OnResolveResult{Path: args.Path, Namespace: builtinNamespace}, nil
		})
		build.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: builtinNamespace}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
			code := builtinStub(args.Path)
			return api.OnLoadResult{Contents: &code, Loader: api.LoaderJS}, nil
		})
	}}
}

func sideEffects(has bool) api.SideEffects {
	if has {
		return api.SideEffectsTrue
	}
	return api.SideEffectsFalse
}

// builtinStub returns a CommonJS module whose prototype throws on every read. It
// is the prototype, not the object, because bundlers copy own properties into the
// namespace of an ES import and keep the prototype.
func builtinStub(name string) string {
	return fmt.Sprintf(`module.exports = Object.create(new Proxy({}, {
  get(target, key) {
    if (typeof key === "symbol" || key === "__esModule" || key === "default" || key === "then") return undefined;
    throw new Error(%q + key + %q);
  },
  has() { return false; },
}));
`, name+".", " is not available: "+name+" "+BuiltinMissing+", and a sandboxed library has none")
}
