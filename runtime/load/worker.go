package load

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sandbox-lsp/sandbox-lsp/runtime/bytecode"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/embedded"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/quickjs"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/worker"
)

// Service is the work of loading, for the processes of a Pool.
var Service = worker.Service{Name: "load", New: func(engine *quickjs.Engine) worker.Handler {
	l := &loader{engine: engine}
	return func(ctx context.Context, encoded []byte, _ func([]byte) error) (any, error) {
		request, err := worker.Decode[Request](encoded)
		if err != nil {
			return nil, err
		}
		return l.evaluate(ctx, request)
	}
}}

// Pool loads libraries in worker processes, which have to know Service. It is safe for
// concurrent use.
type Pool struct {
	Workers *worker.Pool
}

// Load runs one request. Failures of the guest are in the result; an error means
// that no worker could run it, or that the context ended, in which case the worker
// is killed at once.
func (p Pool) Load(ctx context.Context, request Request) (Result, error) {
	var result Result
	err := p.Workers.Do(ctx, worker.Task{
		Service: Service.Name, Request: request,
		Timeout: 2 * time.Duration(1+len(request.Workloads)) * request.Limits.Timeout, // a load may be repeated
	}, &result)
	switch {
	case errors.Is(err, worker.ErrDeadline):
		return Result{Failure: &Failure{Kind: Limited, Limit: "time", Message: fmt.Sprintf("still running after %v inside a native function of the engine, which only ending its process could stop", request.Limits.Timeout)}}, nil
	case errors.Is(err, worker.ErrCrashed):
		return Result{Failure: &Failure{Kind: Crashed, Message: err.Error()}}, nil
	}
	return result, err
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
