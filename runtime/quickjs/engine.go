package quickjs

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// Options configure an [Engine].
type Options struct {
	// CacheDir keeps the compiled module on disk between processes, which turns an
	// open of some hundred milliseconds into some ten. "" keeps nothing.
	CacheDir string
	// Interruptible makes an ended context and a time limit stop everything, native
	// loops included. Guest code runs several times slower, so it is meant for
	// evaluating small hostile files. Without it such a loop is stopped only by
	// killing the process, which is why other work runs in a child process.
	Interruptible bool
}

// Engine is the compiled module and the wazero runtime that holds its instances.
// Its methods may be called from several goroutines.
type Engine struct {
	options  Options
	runtime  wazero.Runtime
	cache    wazero.CompilationCache // nil without CacheDir
	compiled wazero.CompiledModule

	// vms finds the VM of an instance when an import is called: the module is all
	// that wazero hands to it.
	vms sync.Map // api.Module → *VM

	checked atomic.Bool // checkLayout found nothing wrong
}

// New opens the engine. It returns [ErrNoEngine] in a build without the wasm.
func New(ctx context.Context, options Options) (*Engine, error) {
	wasm, err := engineBytes()
	if err != nil {
		return nil, err
	}
	e := &Engine{options: options}
	if err = e.openCache(); err == nil {
		err = e.open(ctx, wasm)
	}
	if err == nil {
		return e, nil
	}
	err = errors.Join(err, e.Close(ctx))
	if options.CacheDir == "" {
		return nil, err
	}
	// A cache that may not be written, or that another program damaged, must not keep
	// the engine from opening; compiling takes longer and is always right.
	options.CacheDir = ""
	plain, again := New(ctx, options)
	if again != nil {
		return nil, err
	}
	return plain, nil
}

func (e *Engine) openCache() error {
	if e.options.CacheDir == "" {
		return nil
	}
	cache, err := wazero.NewCompilationCacheWithDir(e.options.CacheDir)
	if err != nil {
		return fmt.Errorf("open the engine cache %s: %w", e.options.CacheDir, err)
	}
	e.cache = cache
	return nil
}

func (e *Engine) open(ctx context.Context, wasm []byte) error {
	config := wazero.NewRuntimeConfig().WithCloseOnContextDone(e.options.Interruptible)
	if e.cache != nil {
		config = config.WithCompilationCache(e.cache)
	}
	e.runtime = wazero.NewRuntimeWithConfig(ctx, config)
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, e.runtime); err != nil {
		return fmt.Errorf("open the engine: wasi: %w", err)
	}
	if err := e.instantiateImports(ctx); err != nil {
		return fmt.Errorf("open the engine: imports: %w", err)
	}
	compiled, err := e.runtime.CompileModule(ctx, wasm)
	if err != nil {
		return fmt.Errorf("compile quickjs.wasm: %w", err)
	}
	e.compiled = compiled
	return checkExports(compiled.ExportedFunctions())
}

// Interruptible reports whether the engine was opened so.
func (e *Engine) Interruptible() bool { return e.options.Interruptible }

// Close ends all VMs of the engine. None of them may be running.
func (e *Engine) Close(ctx context.Context) error {
	var errs []error
	if e.runtime != nil {
		errs = append(errs, e.runtime.Close(ctx))
	}
	if e.cache != nil {
		errs = append(errs, e.cache.Close(ctx))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close the engine: %w", err)
	}
	return nil
}
