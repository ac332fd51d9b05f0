package quickjs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tetratelabs/wazero/sys"
)

// errOutOfTime is the cause with which an interruptible entry is cancelled when the
// guest's time is up, to tell it from the caller's own context.
var errOutOfTime = errors.New("guest time is up")

// extraDepth is how much deeper than the limit the making of an exception may go:
// the RangeError that says "too deep" has to be made somewhere.
const extraDepth = 4

// run enters the guest through an export that may reach guest code. Each entry has
// its own Function, its own guest stack pointer to restore, and is counted.
func (vm *VM) run(ctx context.Context, x export, args ...uint64) (uint64, error) {
	if err := vm.alive(); err != nil {
		return 0, err
	}
	limit := vm.limits.Depth
	if vm.building > 0 {
		limit += extraDepth
	}
	if vm.depth >= limit {
		return 0, &JSError{Name: "RangeError", Message: fmt.Sprintf("too many nested calls between host and guest (limit %d)", vm.limits.Depth), err: ErrDepth}
	}
	caller := ctx
	if vm.depth == 0 {
		var err error
		if ctx, err = vm.begin(ctx); err != nil {
			return 0, err
		}
	}
	vm.clock.resume()
	result, err := vm.enter(ctx, x, args...)
	vm.clock.pause()
	if err != nil {
		vm.die(vm.trap(ctx, x, err))
	}
	if vm.arena.refused {
		vm.die(vm.memoryLimit("linear memory is full"))
	}
	if vm.depth == 0 {
		vm.end()
		if err == nil {
			vm.keepLimitStack(caller)
		}
	}
	if vm.dead != nil {
		return 0, vm.dead
	}
	return result, nil
}

// keepLimitStack notes where the guest was when a limit fired. The engine raised an
// error for it that no guest code could catch, and all frames have returned; reading
// the stack of that error runs none of the guest's code. So the VM may come to life
// for these few calls, each an outermost one with its own guest time.
func (vm *VM) keepLimitStack(ctx context.Context) {
	var limit *LimitError
	if !errors.As(vm.dead, &limit) || limit.Stack != "" || vm.closed {
		return
	}
	dead := vm.dead
	defer func() { vm.dead = dead }()
	vm.dead = nil
	bits, err := vm.call(xGetException, uint64(vm.cx))
	if err == nil && tagOf(bits) == tagObject {
		limit.Stack = vm.errorStack(ctx, bits)
	}
}

// enter calls the export at the present depth and checks the stack pointer.
func (vm *VM) enter(ctx context.Context, x export, args ...uint64) (uint64, error) {
	f, stack := vm.ex.at(x, vm.depth)
	copy(stack[:], args)
	before := vm.sp.Get()
	vm.depth++
	err := f.CallWithStack(ctx, stack[:])
	vm.depth--
	if err == nil && vm.sp.Get() != before {
		err = fmt.Errorf("the stack pointer is %d, not %d", vm.sp.Get(), before)
	}
	return stack[0], err
}

// errLeafReentered says that a leaf export did call an import. None of those listed
// was seen to, but one way is conceivable: with no byte of memory left, freeing what
// a FinalizationRegistry watches cannot queue its job, and the error that the engine
// makes for nobody runs Error.prepareStackTrace.
var errLeafReentered = errors.New("a shared export reached the host")

// call calls a leaf export: one that ends without calling an import. It works in a
// dead VM too, so that an exception can be raised in frames that still stand; a trap
// kills the VM. Should a leaf reach the host all the same, the VM dies before a
// shared Function could be entered twice.
func (vm *VM) call(x export, args ...uint64) (uint64, error) {
	if !x.leaf() {
		return 0, fmt.Errorf("export %s may reach guest code and cannot be called as a leaf", x)
	}
	if vm.closed {
		return 0, ErrClosed
	}
	if vm.inLeaf {
		return 0, vm.die(&TrapError{Export: x.String(), Err: errLeafReentered})
	}
	stack := &vm.ex.leaf
	copy(stack[:], args)
	vm.inLeaf = true
	err := vm.ex.sharedFunction(x).CallWithStack(context.Background(), stack[:])
	vm.inLeaf = false
	if err != nil {
		// The module may have been closed under a host function, by the end of the
		// context; then a leaf call is the first to find out.
		return 0, vm.die(vm.trap(vm.context(), x, err))
	}
	return stack[0], nil
}

// begin prepares an outermost entry.
func (vm *VM) begin(ctx context.Context) (context.Context, error) {
	if err := ctx.Err(); err != nil {
		return nil, err // nothing ran, so nothing is torn
	}
	vm.clock.reset(vm.limits.Timeout)
	vm.outermost = ctx
	if !vm.engine.options.Interruptible {
		return ctx, nil
	}
	watched, cancel := context.WithCancelCause(ctx)
	vm.outermost = watched
	vm.stop = func() { cancel(nil) }
	if vm.limits.Timeout > 0 {
		vm.clock.timer = time.AfterFunc(vm.limits.Timeout, func() { cancel(errOutOfTime) })
		vm.clock.timer.Stop() // resume starts it
	}
	return watched, nil
}

// end closes an outermost entry.
func (vm *VM) end() {
	if vm.clock.timer != nil {
		vm.clock.timer.Stop()
	}
	if vm.stop != nil {
		vm.stop()
		vm.stop = nil
	}
	vm.outermost = nil
}

// abandon closes an outermost entry whose frames will never return.
func (vm *VM) abandon() {
	vm.depth = 0
	vm.end()
}

// trap says what an error out of wasm means.
func (vm *VM) trap(ctx context.Context, x export, err error) error {
	var exit *sys.ExitError
	if errors.As(err, &exit) {
		// A host function may enter with a context of its own, but it is the
		// outermost one that the whole stack of calls is watched by.
		for _, c := range []context.Context{vm.outermost, ctx} {
			if c != nil && c.Err() != nil {
				return vm.interrupted(c)
			}
		}
		// The watch of the entry before may close the module just after that entry
		// has returned; then this one finds it closed under a context that lives.
		if vm.limits.Timeout > 0 {
			return vm.timeLimit()
		}
		return &LimitError{Kind: LimitCancelled, Cause: exit}
	}
	// wazero's error values are internal; their texts are part of the wasm
	// specification's test suite and do not change.
	if strings.Contains(err.Error(), "stack overflow") {
		return &LimitError{Kind: LimitStack}
	}
	return &TrapError{Export: x.String(), Err: err}
}

// interrupted says why a context ended: our clock, the caller's deadline, or a
// cancellation.
func (vm *VM) interrupted(ctx context.Context) error {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errOutOfTime):
		return vm.timeLimit()
	case errors.Is(cause, context.DeadlineExceeded):
		return &LimitError{Kind: LimitTime, Cause: cause}
	default:
		return &LimitError{Kind: LimitCancelled, Cause: ctx.Err()}
	}
}

func (vm *VM) timeLimit() error {
	return &LimitError{Kind: LimitTime, Time: vm.limits.Timeout}
}

func (vm *VM) memoryLimit(detail string) error {
	return &LimitError{Kind: LimitMemory, Bytes: vm.limits.MemoryBytes, Detail: detail}
}
