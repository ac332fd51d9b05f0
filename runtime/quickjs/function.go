package quickjs

import (
	"context"
	"fmt"
	"strconv"
)

// HostFunc is a function of the host that guest code calls. ctx is the context of
// the entry that guest code runs under; calls back into the VM should pass it on.
// The result is taken over by the VM: return a handle that you own and do not need
// any more (or a Dup), an argument, or an immediate; the zero Value is undefined. An
// error throws in the guest, a panic kills the VM.
type HostFunc func(ctx context.Context, call *Call) (Value, error)

// Call is one call of a host function. It and its values end when the function
// returns: the next call at the same depth uses the same Call.
type Call struct {
	VM   *VM
	Name string // of the host function
	This Value
	Args []Value
}

// Arg returns an argument, or undefined past the last.
func (c *Call) Arg(i int) Value {
	if i < 0 || i >= len(c.Args) {
		return c.VM.Undefined()
	}
	return c.Args[i]
}

// hostFunction is an entry of the function table.
type hostFunction struct {
	name string
	fn   HostFunc // nil: released, or not bound after a restore
}

// functionTable maps the numbers that guest functions carry to host functions. The
// engine finds a host function by a text that is part of the guest's function
// object; a number is the shortest, and several functions may share a name.
type functionTable struct {
	entries []hostFunction
	bound   map[string]HostFunc // for entries that came with an image
	free    []uint32
}

func (t *functionTable) add(name string, fn HostFunc) uint32 {
	if n := len(t.free); n > 0 {
		id := t.free[n-1]
		t.free = t.free[:n-1]
		t.entries[id] = hostFunction{name: name, fn: fn}
		return id
	}
	t.entries = append(t.entries, hostFunction{name: name, fn: fn})
	return uint32(len(t.entries) - 1)
}

// find returns the entry of a number that came from the guest.
func (t *functionTable) find(id uint32) (name string, fn HostFunc) {
	if int(id) >= len(t.entries) {
		return "", nil
	}
	e := &t.entries[id]
	if e.fn == nil {
		e.fn = t.bound[e.name]
	}
	return e.name, e.fn
}

// NewFunction makes a guest function that calls fn. name and length are its
// properties of that name. The function lasts as long as the VM; after a restore it
// is found by name again ([VMOptions.Functions], [VM.Bind]).
func (vm *VM) NewFunction(name string, length int, fn HostFunc) (Value, error) {
	v, _, err := vm.newFunction(name, length, fn)
	return v, err
}

// NewCallback is NewFunction for one that is needed for a while: after release the
// VM no longer holds fn, and a guest that still calls the function gets an error.
func (vm *VM) NewCallback(name string, length int, fn HostFunc) (v Value, release func(), err error) {
	v, id, err := vm.newFunction(name, length, fn)
	if err != nil {
		return Value{}, nil, err
	}
	return v, func() { vm.functions.entries[id].fn = nil }, nil
}

func (vm *VM) newFunction(name string, length int, fn HostFunc) (Value, uint32, error) {
	if err := vm.alive(); err != nil {
		return Value{}, 0, err
	}
	id := vm.functions.add(name, fn)
	digits := strconv.FormatUint(uint64(id), 10)
	b, err := vm.putText(digits)
	if err != nil {
		return Value{}, 0, err
	}
	ctx := vm.context()
	bits, err := vm.evalBox(ctx, xNewHostFunction, uint64(b.p), uint64(len(digits)), uint64(length))
	vm.drop(b)
	if err == nil {
		// The engine named it by its number; name and length are plain properties.
		if err = vm.defineName(ctx, bits, name); err != nil {
			vm.release(bits)
		}
	}
	if err != nil {
		// The number was never seen by a script, so it may be used again.
		vm.functions.entries[id] = hostFunction{}
		vm.functions.free = append(vm.functions.free, id)
		return Value{}, 0, fmt.Errorf("new function %s: %w", name, err)
	}
	return vm.own(bits), id, nil
}

// defineName sets a function's name, which is configurable and not writable.
func (vm *VM) defineName(ctx context.Context, bits uint64, name string) error {
	value, err := vm.newString(ctx, name)
	if err != nil {
		return err
	}
	a, err := vm.atom(ctx, "name")
	if err != nil {
		vm.release(value)
		return err
	}
	defer vm.dropAtom(a)
	_, err = vm.runStatus(ctx, xDefineValue, uint64(vm.cx), bits, uint64(a.id), value, propConfigurable)
	return err
}

// Bind sets the host function that functions of an image with this name call.
func (vm *VM) Bind(name string, fn HostFunc) {
	bound := map[string]HostFunc{name: fn}
	for k, v := range vm.functions.bound {
		if k != name {
			bound[k] = v
		}
	}
	vm.functions.bound = bound // not changed in place: the map may be the caller's
	for i := range vm.functions.entries {
		if e := &vm.functions.entries[i]; e.name == name && e.fn == nil {
			e.fn = fn
		}
	}
}
