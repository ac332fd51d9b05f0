package analysis

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sandbox-lsp/sandbox-lsp/analysis/cache"
	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/resolve"
	"github.com/sandbox-lsp/sandbox-lsp/proxygen"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/bundle"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/load"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/quickjs"
)

// The stages of a library, each a function of its declared inputs:
//
//	stage         inputs                                         kept by
//	read          the policy's text, the helpers it imports      –
//	resolve       package requests, node_modules                 –
//	bundle        the entry, every file that was bundled         content
//	workload      the same of a workload's entry                 content
//	authority     bundles, source maps                           hash
//	load          bundles, permissions, limits, the engine       hash
//	declarations  every declaration file that was read           content
//	proxy         the policy, the declarations, the load         – (cheap)
//
// What a stage found is in findings.go; the order of work is in check.go.

// OutputFolder and ProxyFolder are where a build writes, below the project root.
const (
	OutputFolder = "dist"
	ProxyFolder  = policy.Folder + "/proxys"
)

// script is a bundle as the cache keeps it: the code and the map are entries of
// their own, so that a check that finds everything cached reads neither.
type script struct {
	File    string // name in the output folder
	Code    cache.Hash
	Map     cache.Hash
	Bytes   int
	ESM     bool
	Exports []string
	Imports []bundle.Import
	// Builtins are the Node built-ins that the code reaches.
	Builtins []bundle.Import
}

// keep stores a bundle's bytes by their own hashes.
func (sn *Snapshot) keep(file string, b *bundle.Bundle) script {
	s := script{
		File: file, Code: cache.Sum(b.Code), Map: cache.Sum(b.Map), Bytes: len(b.Code),
		ESM: b.ESM, Exports: b.Exports, Imports: b.Imports, Builtins: b.Builtins,
	}
	sn.session.store.Put(s.Code, b.Code)
	sn.session.store.Put(s.Map, b.Map)
	return s
}

// bytes returns the code and the map of a script, and false when the cache has lost
// one of them.
func (sn *Snapshot) bytes(s script) (code, sourceMap []byte, ok bool) {
	code, codeOK := sn.session.store.Get(s.Code)
	sourceMap, mapOK := sn.session.store.Get(s.Map)
	return code, sourceMap, codeOK && mapOK
}

// bundleLibrary runs the bundle stage of one library.
func (sn *Snapshot) bundleLibrary(ctx context.Context, r resolve.Result, subpaths []*Subpath, file string) (script, bool, error) {
	parts := []string{bundle.EngineVersion, r.Entry, file}
	var below []bundle.Subpath
	for _, s := range subpaths {
		parts = append(parts, s.Request, s.Entry)
		below = append(below, bundle.Subpath{Request: s.Request, Entry: s.Entry})
	}
	return sn.bundled(sn.key("bundle", parts...), file, r.Package.Manifest(), func() (*bundle.Bundle, error) {
		return bundle.OfLibrary(ctx, bundle.Library{
			Root: sn.root, Entry: r.Entry, OutDir: filepath.Join(sn.root, OutputFolder), File: file, Subpaths: below,
		})
	})
}

// bundleWorkload runs the bundle stage of one workload.
func (sn *Snapshot) bundleWorkload(ctx context.Context, library, entry, file string) (script, bool, error) {
	return sn.bundled(sn.key("workload", bundle.EngineVersion, library, entry, file), file, filepath.Join(sn.root, "package.json"), func() (*bundle.Bundle, error) {
		return bundle.OfWorkload(ctx, bundle.Workload{
			Root: sn.root, Library: library, Entry: entry, OutDir: filepath.Join(sn.root, OutputFolder), File: file, Overlay: sn.overlay,
		})
	})
}

// bundled recalls a bundle or makes it. Failures are not kept: the file whose
// coming into being would end one may be anywhere.
func (sn *Snapshot) bundled(key cache.Hash, file, manifest string, make func() (*bundle.Bundle, error)) (script, bool, error) {
	store := sn.session.store
	if s, ok := cache.Recall[script](store, sn, key); ok {
		if _, _, whole := sn.bytes(s); whole {
			return s, true, nil
		}
	}
	began := time.Now()
	b, err := make()
	if err != nil {
		return script{}, false, err
	}
	s := sn.keep(file, b)
	inputs := append(governing(sn.root, b.Inputs), manifest)
	return s, false, cache.Remember(store, sn, key, s, inputs, began)
}

// lockfiles change with every installation, whatever else it touches.
var lockfiles = []string{"package-lock.json", "node_modules/.package-lock.json", "pnpm-lock.yaml", "node_modules/.modules.yaml", "yarn.lock", "bun.lock", "package.json"}

// governing adds to the files of a bundle those that decided which files they are:
// the package.json of every folder on the way, and the lockfiles above the root.
func governing(root string, inputs []string) []string {
	all := slices.Clone(inputs)
	seen := map[string]bool{}
	for _, file := range inputs {
		for dir := filepath.Dir(file); !seen[dir]; dir = filepath.Dir(dir) {
			seen[dir] = true
			manifest := filepath.Join(dir, "package.json")
			if _, err := os.Stat(manifest); err == nil {
				all = append(all, manifest)
			}
			if filepath.Base(filepath.Dir(dir)) == "node_modules" || dir == filepath.Dir(dir) {
				break
			}
		}
	}
	for dir := root; ; dir = filepath.Dir(dir) {
		for _, name := range lockfiles {
			all = append(all, filepath.Join(dir, filepath.FromSlash(name)))
		}
		if dir == filepath.Dir(dir) {
			return all
		}
	}
}

// defaultLoadTime is what a load gets when the policy sets no time limit, and
// minLoadTime the least that it gets when it does: the embedded engine is several
// times slower than the ones that the policy's number is meant for.
const (
	defaultLoadTime = 5 * time.Second
	minLoadTime     = 2 * time.Second
)

// loadLibrary runs the load stage: the library, its subpaths and its workloads in one
// guest, under the policy's permissions and limits.
func (sn *Snapshot) loadLibrary(ctx context.Context, lib policy.Library, library script, subpaths []*Subpath, workloads []script) (load.Result, bool, error) {
	request := load.Request{Library: lib.Name, Permissions: lib.PermissionNames(), Limits: loadLimits(lib.Limits), Bytecode: lib.Snapshot}
	slices.Sort(request.Permissions)
	parts := []string{quickjs.Hash(), lib.Name, library.Code.String(), strings.Join(request.Permissions, "\n"),
		strconv.FormatInt(request.Limits.MemoryBytes, 10), strconv.FormatInt(request.Limits.StackBytes, 10), request.Limits.Timeout.String()}
	for _, s := range subpaths {
		parts = append(parts, s.Request)
		request.Workloads = append(request.Workloads, load.Script{Name: s.Request, File: s.Request, Code: []byte(bundle.SubpathScript(s.Request))})
	}
	for _, w := range workloads {
		parts = append(parts, w.File, w.Code.String())
	}
	if request.Bytecode {
		parts = append(parts, "bytecode")
	}
	key := sn.key("load", parts...)
	if result, ok := cache.Recall[load.Result](sn.session.store, sn, key); ok {
		return result, true, nil
	}
	began := time.Now()
	code, _, ok := sn.bytes(library)
	if !ok {
		return load.Result{}, false, errors.New("the cache lost a bundle that it held a moment ago")
	}
	request.Script = load.Script{File: library.File, Code: code}
	for _, w := range workloads {
		code, _, ok := sn.bytes(w)
		if !ok {
			return load.Result{}, false, errors.New("the cache lost a bundle that it held a moment ago")
		}
		request.Workloads = append(request.Workloads, load.Script{Name: w.File, File: w.File, Code: code})
	}
	result, err := load.Pool{Workers: sn.session.workers}.Load(ctx, request)
	if err != nil || !repeatable(result) {
		return result, false, err
	}
	return result, false, cache.Remember(sn.session.store, sn, key, result, nil, began)
}

// repeatable reports whether the same load would end in the same way again: a time
// limit may fire on a busy machine, and a crash is worth another try.
func repeatable(r load.Result) bool {
	fleeting := func(f *load.Failure) bool {
		return f != nil && (f.Kind == load.Crashed || f.Kind == load.Limited && f.Limit == "time")
	}
	for _, w := range r.Workloads {
		if fleeting(w.Failure) {
			return false
		}
	}
	return !fleeting(r.Failure)
}

func loadLimits(l policy.Limits) load.Limits {
	limits := load.Limits{
		MemoryBytes: policy.DefaultMemoryMB << 20,
		StackBytes:  policy.DefaultStackKB << 10,
		Timeout:     defaultLoadTime,
	}
	if l.MemoryMB > 0 {
		limits.MemoryBytes = int64(l.MemoryMB) << 20
	}
	if l.StackKB > 0 {
		limits.StackBytes = int64(max(l.StackKB, policy.DefaultStackKB)) << 10
	}
	if l.TimeoutMs > 0 {
		limits.Timeout = max(time.Duration(l.TimeoutMs)*time.Millisecond, minLoadTime)
	}
	return limits
}

// declarations runs the declarations stage for all requests at once, since one
// program over many packages shares most of its work.
func (sn *Snapshot) declarations(ctx context.Context, requests []string) (map[string]*proxygen.Model, error) {
	models := map[string]*proxygen.Model{}
	var missing []string
	for _, request := range requests {
		if m, ok := cache.Recall[*proxygen.Model](sn.session.store, sn, sn.key("declarations", request)); ok {
			models[request] = m
		} else {
			missing = append(missing, request)
		}
	}
	if len(missing) == 0 {
		return models, nil
	}
	began := time.Now()
	made, err := proxygen.Declarations(ctx, sn.root, missing)
	if err != nil {
		return nil, err
	}
	for _, request := range missing {
		m := made[request]
		models[request] = m
		if err := cache.Remember(sn.session.store, sn, sn.key("declarations", request), m, governing(sn.root, m.Files), began); err != nil {
			return nil, err
		}
	}
	return models, nil
}
