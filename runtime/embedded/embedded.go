// Package embedded is the host of sandboxes that needs neither Node nor a browser: its
// realm is a QuickJS realm, in which the same membrane runs as elsewhere, and each
// sandbox is another instance of the engine.
package embedded

import (
	"context"
	"errors"
	"fmt"

	"github.com/sandbox-lsp/sandbox-lsp/runtime/quickjs"
)

// Options configure a [Host]. The zero value is usable.
type Options struct {
	// Limits bound the host's own realm. Its stack defaults to the largest, since a
	// crossing takes some ten frames of it.
	Limits quickjs.Limits
	// Realm configures clock, time zone and randomness, of the host and its guests.
	Realm quickjs.VMOptions
}

// Host is a realm that makes sandboxes. Like its VM, it belongs to one goroutine at a
// time.
type Host struct {
	// Manager is the SandboxManager of runtime/js. It is the host's.
	Manager quickjs.Value
	// Errors has the classes of runtime/js/errors.js by name. It is the host's.
	Errors quickjs.Value

	vm     *quickjs.VM
	bridge *quickjs.Bridge
}

// New makes a host in a VM of its own. Closing it ends all sandboxes.
func New(ctx context.Context, engine *quickjs.Engine, options Options) (h *Host, err error) {
	realm := options.Realm
	realm.Limits = options.Limits
	if realm.Limits.StackBytes == 0 {
		realm.Limits.StackBytes = quickjs.MaxStackBytes
	}
	code, err := program()
	if err != nil {
		return nil, fmt.Errorf("new embedded host: %w", err)
	}
	vm, err := engine.NewVM(ctx, realm)
	if err != nil {
		return nil, fmt.Errorf("new embedded host: %w", err)
	}
	h = &Host{vm: vm}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("new embedded host: %w", err), h.Close(ctx))
			h = nil
		}
	}()
	guest := options.Realm
	guest.Functions = nil
	open := func(ctx context.Context, memoryBytes uint64) (*quickjs.VM, error) {
		// Time and nesting are the membrane's to judge; it asks no further than this.
		guest.Limits = quickjs.Limits{MemoryBytes: memoryBytes}
		return engine.NewVM(ctx, guest)
	}
	bridge, native, err := vm.NewBridge(ctx, open)
	if err != nil {
		return h, err
	}
	h.bridge = bridge
	exports, err := vm.Eval(ctx, code, file)
	if err != nil {
		return h, err
	}
	construct, err := exports.Get(ctx, quickjs.Name("embeddedManager"))
	if err != nil {
		return h, err
	}
	if h.Manager, err = vm.Call(ctx, construct, vm.Undefined(), native); err != nil {
		return h, err
	}
	if h.Errors, err = exports.Get(ctx, quickjs.Name("errors")); err != nil {
		return h, err
	}
	return h, errors.Join(construct.Free(), exports.Free(), native.Free())
}

// VM returns the host's realm, which Close closes.
func (h *Host) VM() *quickjs.VM { return h.vm }

// LimitStack returns where the guest was that ran into a limit last, as it prints
// stacks; "" when that is not known.
func (h *Host) LimitStack() string { return h.bridge.LimitStack() }

// Close ends the sandboxes and the host's realm.
func (h *Host) Close(ctx context.Context) error {
	var failed error
	if h.bridge != nil {
		failed = h.bridge.Close(ctx)
	}
	return errors.Join(failed, h.vm.Close(ctx))
}
