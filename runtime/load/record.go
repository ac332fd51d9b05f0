package load

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/sandbox-lsp/sandbox-lsp/runtime/bundle"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/observe"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/quickjs"
)

//go:embed guest.js
var guestSource string

// bundlersOwn are names that bundles use on the bundler's account: where they put
// their exports, and require, for which the bundler's stand-in for a call that it
// could not resolve asks the realm.
var bundlersOwn = []string{bundle.Global, bundle.WorkloadGlobal, bundle.SubpathsGlobal, "require"}

// record evaluates a library and its workloads in a bare realm, with stand-ins that
// are made there, and returns what they touched. limited is set when a limit ended it.
func record(ctx context.Context, engine *quickjs.Engine, request Request) (touches []observe.Touch, limited *Failure, err error) {
	vm, err := engine.NewVM(ctx, quickjs.VMOptions{Limits: quickjs.Limits{
		MemoryBytes: uint64(request.Limits.MemoryBytes),
		StackBytes:  uint32(request.Limits.StackBytes),
		Timeout:     request.Limits.Timeout,
	}})
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = vm.Close(ctx) }() // what a dying VM says is in the result already
	functions, err := vm.Eval(ctx, guestSource, "guest.js")
	if err != nil {
		return nil, nil, err
	}
	recorder, err := observe.Install(ctx, vm, bundlersOwn...)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range request.Permissions {
		err := permit(ctx, vm, functions, recorder, name)
		if limit := (*quickjs.LimitError)(nil); errors.As(err, &limit) {
			return nil, failure(err), nil // the stand-ins are made out of what the guest may use
		}
		if err != nil {
			return nil, nil, fmt.Errorf("grant %s: %w", name, err)
		}
	}
	run := func(s Script, global string) error {
		if _, err := vm.Eval(ctx, string(s.Code), s.File); err != nil {
			return err
		}
		if _, err := vm.RunJobs(ctx, maxJobs); err != nil {
			return err
		}
		name, err := vm.NewString(global)
		if err != nil {
			return err
		}
		_, err = vm.CallMethod(ctx, functions, "read", name)
		return err
	}
	failed := run(request.Script, bundle.Global)
	for _, w := range request.Workloads {
		if failed == nil {
			_ = run(w, bundle.WorkloadGlobal) // how it ended is for the sandbox to say
		}
	}
	if failed != nil {
		if f := failure(failed); f.Kind == Limited {
			limited = f
		}
	}
	return recorder.Touches(), limited, nil
}

// permit puts a stand-in for a granted host global into the guest, unless the
// engine has it, and watches it.
func permit(ctx context.Context, vm *quickjs.VM, functions quickjs.Value, recorder *observe.Recorder, name string) error {
	text, err := vm.NewString(name)
	if err != nil {
		return err
	}
	granted, err := vm.CallMethod(ctx, functions, "grant", text)
	if err != nil {
		return err
	}
	if fresh, err := granted.Bool(); err != nil || !fresh {
		return err
	}
	return recorder.Watch(ctx, name)
}
