package quickjs

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/sys"
)

// VMOptions configure a [VM]. The zero value is usable.
type VMOptions struct {
	Limits Limits
	// Location is the guest's time zone; nil is UTC, the same on every machine.
	Location *time.Location
	// Now is the guest's clock, for Date and performance; nil is the real one. The
	// engine seeds Math.random from it.
	Now func() time.Time
	// Random reseeds Math.random after a restore; nil is crypto/rand.
	Random io.Reader
	// Functions binds the host functions of a restored image by name.
	Functions map[string]HostFunc
}

// VM is one instance of the engine: a JavaScript runtime with one realm and a
// memory of its own. It is not safe for concurrent use.
type VM struct {
	engine *Engine
	limits Limits
	opts   VMOptions

	mod   api.Module
	mem   guestMemory
	sp    api.MutableGlobal // the module's shadow stack pointer
	arena *arena
	ex    exports

	rt, cx  uint32 // JSRuntime*, JSContext*
	scratch uint32 // one block per depth, see scratch.go
	atoms   map[string]uint32

	slots []slot
	free  []uint32
	scope *Scope
	held  heldValues

	functions functionTable
	peer      *peer   // what answers the guest in place of functions, when a Bridge drives it
	calls     []*Call // by depth
	loader    ModuleLoader
	rejected  RejectionFunc

	imported    map[string]uint64 // values that an image kept, by name
	stackGetter uint64            // the realm's own getter of Error.prototype.stack

	depth    int  // entries into wasm that are active
	inLeaf   bool // a leaf export is active
	building int  // > 0 while an exception is made, which may go deeper
	clock    guestClock
	// outermost is the context of the active outermost entry, nil between entries;
	// stop ends its watch in an interruptible engine.
	outermost context.Context
	stop      func()

	dead   error // what killed the VM
	closed bool
}

// NewVM makes a VM with a fresh realm.
func (e *Engine) NewVM(ctx context.Context, opts VMOptions) (*VM, error) {
	vm, err := e.instantiate(ctx, opts, true, realmMemory)
	if err != nil {
		return nil, fmt.Errorf("new VM: %w", err)
	}
	if err := vm.boot(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("new VM: %w", err), vm.Close(ctx))
	}
	return vm, nil
}

// instantiate makes the wasm instance, without a JavaScript runtime in it. first is
// the size in bytes that its memory will soon have.
func (e *Engine) instantiate(ctx context.Context, opts VMOptions, start bool, first int) (*VM, error) {
	limits, err := opts.Limits.withDefaults()
	if err != nil {
		return nil, err
	}
	if opts.Location == nil {
		opts.Location = time.UTC
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Random == nil {
		opts.Random = rand.Reader
	}
	vm := &VM{
		engine: e, limits: limits, opts: opts,
		arena: &arena{cap: limits.memoryCap(), first: first},
		atoms: make(map[string]uint32),
		slots: make([]slot, 1, 64), // slot 0 means "no slot"
	}
	vm.functions.bound = opts.Functions
	vm.clock.now = time.Now // not opts.Now, which may stand still

	began := opts.Now()
	config := wazero.NewModuleConfig().WithName("").
		WithRandSource(opts.Random).
		WithWalltime(func() (int64, int32) {
			now := opts.Now()
			return now.Unix(), int32(now.Nanosecond())
		}, sys.ClockResolution(time.Microsecond)).
		// The monotonic clock counts from the epoch too. performance.timeOrigin plus
		// performance.now() is then the date, and stays so after a restore elsewhere.
		WithNanotime(func() int64 {
			return began.UnixNano() + int64(opts.Now().Sub(began))
		}, sys.ClockResolution(time.Microsecond))
	if start {
		config = config.WithStartFunctions("_initialize")
	} else {
		config = config.WithStartFunctions() // the image holds an initialised memory
	}
	mod, err := e.runtime.InstantiateModule(experimental.WithMemoryAllocator(ctx, vm.arena), e.compiled, config)
	if err != nil {
		return nil, fmt.Errorf("instantiate quickjs.wasm: %w", err)
	}
	sp, ok := mod.ExportedGlobal("__stack_pointer").(api.MutableGlobal)
	if !ok {
		return nil, errors.Join(errors.New("quickjs.wasm does not export its stack pointer"), mod.Close(ctx))
	}
	vm.mod, vm.mem, vm.sp = mod, guestMemory{mod.Memory()}, sp
	vm.ex.mod = mod
	e.vms.Store(mod, vm)
	return vm, nil
}

// boot makes the runtime and the realm.
func (vm *VM) boot(ctx context.Context) error {
	// What runs here is the engine's own, so it does not use up the guest's time; a
	// machine that is busy must not make it impossible to get a VM.
	timeout := vm.limits.Timeout
	vm.limits.Timeout = 0
	defer func() { vm.limits.Timeout = timeout }()
	code, err := vm.run(ctx, xInit)
	if err != nil {
		return fmt.Errorf("initialise the engine: %w", err)
	}
	if code != 0 {
		return fmt.Errorf("initialise the engine: code %d", int32(code))
	}
	rt, err := vm.call(xRuntimePtr)
	if err != nil {
		return err
	}
	cx, err := vm.call(xContextPtr)
	if err != nil {
		return err
	}
	vm.rt, vm.cx = uint32(rt), uint32(cx)
	if err := vm.applyLimits(); err != nil {
		return err
	}
	if vm.scratch, err = vm.malloc(scratchBlocks * scratchSize); err != nil {
		return err
	}
	if !vm.engine.checked.Load() {
		// A failure is not remembered: it may be the caller's context that ended.
		if err := vm.checkLayout(ctx); err != nil {
			return err
		}
		vm.engine.checked.Store(true)
	}
	return vm.captureStackGetter(ctx)
}

// applyLimits sets the engine's own limits and turns on its calls to the host.
func (vm *VM) applyLimits() error {
	for _, set := range []struct {
		export export
		value  uint64
	}{
		{xSetMemoryLimit, vm.limits.MemoryBytes},
		{xSetStackSize, uint64(vm.limits.StackBytes)},
		{xSetInterrupt, 1},
		{xSetRejection, 1},
		{xSetModuleLoader, 1},
	} {
		if _, err := vm.call(set.export, set.value); err != nil {
			return fmt.Errorf("set limits: %w", err)
		}
	}
	return nil
}

// Limits returns the limits in force, defaults filled in.
func (vm *VM) Limits() Limits { return vm.limits }

// SetTimeout changes the guest time of later outermost calls; 0 removes the limit.
func (vm *VM) SetTimeout(d time.Duration) { vm.limits.Timeout = max(d, 0) }

// Dead returns what killed the VM, or nil while it lives.
func (vm *VM) Dead() error { return vm.dead }

// MemoryUsed returns the bytes that count against [Limits.MemoryBytes].
func (vm *VM) MemoryUsed() (uint64, error) {
	if err := vm.alive(); err != nil {
		return 0, err
	}
	n, err := vm.call(xAllocatedSize)
	return uint64(uint32(n)), err
}

// MemorySize returns the size of linear memory in bytes.
func (vm *VM) MemorySize() uint64 {
	if vm.closed {
		return 0
	}
	return uint64(vm.mem.size())
}

// GC collects cycles now. What nothing refers to is freed at once without it.
func (vm *VM) GC(ctx context.Context) error {
	_, err := vm.run(ctx, xRunGC)
	return err
}

// Close frees the VM's memory; its values are stale from then on. It returns
// [ErrBusy] from within a host call. Closing twice does nothing.
func (vm *VM) Close(ctx context.Context) error {
	if vm.closed {
		return nil
	}
	if vm.depth > 0 {
		return fmt.Errorf("close the VM: %w", ErrBusy)
	}
	vm.closed = true
	vm.engine.vms.Delete(vm.mod)
	if err := vm.mod.Close(ctx); err != nil {
		return fmt.Errorf("close the VM: %w", err)
	}
	return nil
}

// alive returns why the VM cannot be used, if it cannot.
func (vm *VM) alive() error {
	switch {
	case vm.closed:
		return ErrClosed
	case vm.dead != nil:
		return &DeadError{Cause: vm.dead}
	}
	return nil
}

// die records the first cause of death and returns it.
func (vm *VM) die(cause error) error {
	if vm.dead == nil {
		vm.dead = cause
	}
	return vm.dead
}
