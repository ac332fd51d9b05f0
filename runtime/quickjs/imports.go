package quickjs

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/tetratelabs/wazero/api"
)

// The six functions that the module imports from "env". Each is one protected call
// with nothing fallible outside it: a Go panic must not unwind the wasm frames
// below, which would leave the guest's stack pointer where it was.

// importModule is the name of the module that the guest imports them from.
const importModule = "env"

// instantiateImports makes the host module that all instances of the engine share.
func (e *Engine) instantiateImports(ctx context.Context) error {
	i32 := func(n int) []api.ValueType {
		types := make([]api.ValueType, n)
		for i := range types {
			types[i] = api.ValueTypeI32
		}
		return types
	}
	builder := e.runtime.NewHostModuleBuilder(importModule)
	for _, f := range []struct {
		name            string
		params, results int
		call            func(vm *VM, ctx context.Context, stack []uint64) uint64
	}{
		{"host_call", 5, 1, (*VM).importCall},
		{"host_interrupt", 0, 1, (*VM).importInterrupt},
		{"host_module_normalize", 2, 1, (*VM).importNormalize},
		{"host_module_load", 2, 1, (*VM).importLoad},
		{"host_promise_rejection", 3, 0, (*VM).importRejection},
		{"host_get_timezone_offset", 2, 1, (*VM).importZone},
	} {
		call, results := f.call, f.results
		builder.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(ctx context.Context, mod api.Module, stack []uint64) {
			result := uint64(0)
			if found, ok := e.vms.Load(mod); ok {
				result = call(found.(*VM), ctx, stack)
			}
			if results > 0 {
				stack[0] = result
			}
		}), i32(f.params), i32(f.results)).Export(f.name)
	}
	_, err := builder.Instantiate(ctx)
	return err
}

// hosted runs the host's half of a crossing: with the guest's clock stopped, without
// the caller's scope, and protected. body's error becomes the pending exception.
func (vm *VM) hosted(ctx context.Context, name string, body func() (uint64, error)) (result uint64) {
	if vm.inLeaf {
		vm.die(&TrapError{Export: name, Err: errLeafReentered})
		return 0
	}
	if vm.dead != nil || vm.closed {
		vm.throwFatal()
		return 0
	}
	scope, running := vm.scope, vm.clock.pause()
	vm.scope = nil
	depth, building := vm.depth, vm.building
	vm.building = 0
	returned := false
	defer func() {
		// Without a panic, returned is false only when the goroutine is being ended
		// (runtime.Goexit): then the frames below are lost, and so is the VM.
		if reason := recover(); reason != nil || !returned {
			vm.depth = depth
			if reason == nil {
				vm.die(&HostFault{Function: name, Panic: "the goroutine was ended in it (runtime.Goexit)", Stack: debug.Stack()})
				vm.abandon()
			} else {
				vm.die(&HostFault{Function: name, Panic: reason, Stack: debug.Stack()})
				vm.throwFatal()
			}
			result = 0
		}
		for vm.scope != nil {
			vm.scope.Close()
		}
		vm.scope, vm.building = scope, building
		if running {
			vm.clock.resume()
		}
	}()
	result, err := body()
	if err != nil || vm.dead != nil {
		result = 0
		vm.throw(ctx, err)
	}
	returned = true
	return result
}

// importCall is host_call(name, name length, this, argc, argv): the guest calls a
// host function. It returns a box with the result, or 0 with an exception pending.
// The engine owns the boxes of this and the arguments.
func (vm *VM) importCall(ctx context.Context, stack []uint64) uint64 {
	name, nameLen := uint32(stack[0]), uint32(stack[1])
	this, argc, argv := uint32(stack[2]), uint32(stack[3]), uint32(stack[4])
	call := vm.callRecord()
	defer vm.endCall(call)
	return vm.hosted(ctx, "host_call", func() (uint64, error) {
		id, ok := vm.mem.decimal(name, nameLen)
		if ok && vm.peer != nil {
			return vm.peer.answerCall(ctx, id, this, argc, argv)
		}
		display, fn := "", HostFunc(nil)
		if ok {
			display, fn = vm.functions.find(id)
		}
		if fn == nil {
			return 0, Throw("TypeError", "host function %q is not bound: it was released, or the VM was restored without it", display)
		}
		if err := vm.beginCall(call, display, this, argc, argv); err != nil {
			return 0, err
		}
		result, err := vm.protect(ctx, fn, call)
		if err != nil || vm.dead != nil {
			return 0, err
		}
		return vm.boxed(result)
	})
}

// protect calls a host function and names it in the fault if it panics.
func (vm *VM) protect(ctx context.Context, fn HostFunc, call *Call) (Value, error) {
	defer func() {
		if reason := recover(); reason != nil {
			vm.die(&HostFault{Function: call.Name, Panic: reason, Stack: debug.Stack()})
		}
	}()
	return fn(ctx, call)
}

// beginCall reads this and the arguments out of their boxes.
func (vm *VM) beginCall(call *Call, name string, this, argc, argv uint32) error {
	lost := func() error { return vm.die(vm.memoryLimit("the engine could not allocate arguments")) }
	call.VM, call.Name, call.This, call.Args = vm, name, Value{}, call.Args[:0]
	bits, ok := vm.mem.u64(this)
	if this == 0 || !ok {
		return lost()
	}
	call.This = vm.borrow(bits)
	if argc == 0 {
		return nil
	}
	for i := range argc {
		box, ok := vm.mem.u32(argv + i*4)
		if argv == 0 || box == 0 || !ok {
			return lost()
		}
		if bits, ok = vm.mem.u64(box); !ok {
			return lost()
		}
		call.Args = append(call.Args, vm.borrow(bits))
	}
	return nil
}

// callRecord returns the Call of the present depth. It is used again by the next
// call there, so that a call costs no allocation.
func (vm *VM) callRecord() *Call {
	for vm.depth >= len(vm.calls) {
		vm.calls = append(vm.calls, new(Call))
	}
	return vm.calls[vm.depth]
}

// endCall ends the borrowed handles of a call.
func (vm *VM) endCall(call *Call) {
	vm.endBorrowed(call.This)
	for _, v := range call.Args {
		vm.endBorrowed(v)
	}
	call.This, call.Args = Value{}, call.Args[:0]
}

// endBorrowed ends a handle that has no reference of its own.
func (vm *VM) endBorrowed(v Value) {
	if s := v.entry(); s != nil {
		v.forget(s)
	}
}

// boxed takes a value over and puts it into a box that the engine frees.
func (vm *VM) boxed(v Value) (uint64, error) {
	bits := bitsUndefined
	if v.vm != nil {
		var err error
		if bits, err = vm.take(v); err != nil {
			return 0, fmt.Errorf("result of a host function: %w", err)
		}
	}
	p, err := vm.malloc(8)
	if err != nil {
		return 0, err
	}
	vm.mem.setU64(p, bits)
	return uint64(p), nil
}

// importInterrupt is host_interrupt(): the guest asks, every few thousand steps,
// whether to go on. Anything but 0 raises an error that it cannot catch. It calls
// nothing that could come back into the guest.
func (vm *VM) importInterrupt(ctx context.Context, _ []uint64) (stop uint64) {
	switch {
	case vm.dead != nil || vm.closed:
		return 1
	case vm.arena.refused:
		vm.die(vm.memoryLimit("linear memory is full"))
	case vm.outermost != nil && vm.outermost.Err() != nil:
		vm.die(vm.interrupted(vm.outermost))
	case ctx.Err() != nil:
		vm.die(vm.interrupted(ctx))
	case vm.clock.expired():
		vm.die(vm.timeLimit())
	case vm.peer != nil && vm.peer.wantsToStop(ctx):
	default:
		return 0
	}
	return 1
}

// importZone is host_get_timezone_offset(high, low word of seconds since the epoch):
// seconds east of UTC.
func (vm *VM) importZone(_ context.Context, stack []uint64) (offset uint64) {
	defer func() {
		if recover() != nil {
			offset = 0 // a time that the zone's tables do not reach
		}
	}()
	seconds := int64(stack[0]<<32 | stack[1]&0xffffffff)
	_, east := time.Unix(seconds, 0).In(vm.opts.Location).Zone()
	return uint64(uint32(int32(east)))
}
