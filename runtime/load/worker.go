package load

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/sandbox-lsp/sandbox-lsp/runtime/bytecode"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/embedded"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/quickjs"
)

// ServeIfWorker turns this process into a load worker when a pool started it as
// one, and then does not return. Programs and test binaries that use a Pool call it
// first of all.
func ServeIfWorker() {
	cacheDir, worker := os.LookupEnv(workerVariable)
	if !worker {
		return
	}
	if err := serve(context.Background(), os.Stdin, os.Stdout, cacheDir); err != nil {
		fmt.Fprintln(os.Stderr, "load worker:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serve answers requests until its input ends.
func serve(ctx context.Context, in io.Reader, out io.Writer, cacheDir string) error {
	dec, enc := gob.NewDecoder(in), gob.NewEncoder(out)
	engine, fault := quickjs.New(ctx, quickjs.Options{CacheDir: cacheDir})
	l := &loader{engine: engine}
	for {
		var request Request
		if err := dec.Decode(&request); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return fmt.Errorf("read a request: %w", err)
		}
		if fault != nil {
			if err := enc.Encode(answer{Fault: fault.Error()}); err != nil {
				return fmt.Errorf("answer a request: %w", err)
			}
			continue
		}
		if err := enc.Encode(answer{Started: true}); err != nil {
			return fmt.Errorf("answer a request: %w", err)
		}
		var a answer
		result, err := l.evaluate(ctx, request)
		if err != nil {
			a.Fault = err.Error()
		} else {
			a.Result = result
		}
		if err := enc.Encode(a); err != nil {
			return fmt.Errorf("answer a request: %w", err)
		}
	}
}

// loader loads one library after the other.
type loader struct {
	engine *quickjs.Engine
	host   *embedded.Host // of the loads so far, unless one of them failed; nil for none
}

// evaluate loads one library and its workloads, and says what they touched while
// they did. An error is the tool's own.
//
// The verdict is that of a sandbox, with the membrane that applications have. What is
// touched is seen by a recorder, in a load of its own: it stands where absent names are
// looked for, and answers some of them.
func (l *loader) evaluate(ctx context.Context, request Request) (Result, error) {
	touches, limited, err := record(ctx, l.engine, request)
	if err != nil {
		return Result{}, fmt.Errorf("record the load of %s: %w", request.Library, err)
	}
	if limited != nil && len(touches) == 0 {
		return Result{Failure: limited}, nil // it would take as long once more
	}
	if l.host == nil {
		if l.host, err = embedded.New(ctx, l.engine, embedded.Options{Limits: quickjs.Limits{MemoryBytes: hostMemory}}); err != nil {
			return Result{}, fmt.Errorf("load %s: %w", request.Library, err)
		}
	}
	result, err := inSandbox(ctx, l.host, request)
	if err != nil || result.Failure != nil {
		// What a load that failed has left behind is not looked into.
		_ = l.host.Close(ctx)
		l.host = nil
	}
	if err != nil {
		return Result{}, fmt.Errorf("load %s: %w", request.Library, err)
	}
	result.Touches = touches
	if request.Bytecode && result.Failure == nil {
		result.Bytecode, err = compiled(ctx, l.engine, request)
	}
	return result, err
}

// compiled returns the packed bytecode of a library.
func compiled(ctx context.Context, engine *quickjs.Engine, request Request) ([]byte, error) {
	vm, err := engine.NewVM(ctx, quickjs.VMOptions{})
	if err != nil {
		return nil, err
	}
	// Stacks name the file as runtime/js does.
	code, err := vm.Compile(ctx, string(request.Script.Code), request.Library+".bundle.js")
	if err = errors.Join(err, vm.Close(ctx)); err != nil {
		return nil, fmt.Errorf("compile %s: %w", request.Library, err)
	}
	return bytecode.Pack(quickjs.Hash(), request.Script.Code, code), nil
}

// hostMemory bounds the realm that loads libraries, in bytes; each of those has a limit
// of its own.
const hostMemory = 1 << 30

// maxJobs bounds the promise reactions that belong to loading. One that queues more
// never comes to rest, and would keep an application's page busy for ever.
const maxJobs = 100_000
