package quickjs

import (
	"context"
	"fmt"
)

// Value is a handle of a guest value. Numbers, booleans, null, undefined and short
// bigints are held in it; everything else is a slot of the VM that owns one
// reference, until Free, the end of the [Scope] it was made in, or, for the
// arguments of a host call, the end of that call. Copies of a Value are the same
// handle. The zero Value is stale.
type Value struct {
	vm   *VM
	bits uint64 // for immediates; heap values read theirs from the slot
	slot uint32 // 0 for immediates
	gen  uint32 // the slot's generation when the handle was made
}

// slot is one entry of the VM's handle table. Its generation goes up when it is
// freed, which makes every handle that still names it stale.
type slot struct {
	bits     uint64
	gen      uint32
	live     bool
	borrowed bool // the reference belongs to somebody else
	// pins counts the operations that are using the value. A host function may free
	// a handle that a call further out is running on (a timer that clears itself);
	// the handle is stale at once, the reference goes with the last pin.
	pins  uint32
	dying bool
}

// own makes a handle that takes over one reference to bits.
func (vm *VM) own(bits uint64) Value {
	v := vm.newHandle(bits, false)
	if vm.scope != nil && v.slot != 0 {
		vm.scope.values = append(vm.scope.values, v)
	}
	return v
}

// borrow makes a handle without a reference of its own.
func (vm *VM) borrow(bits uint64) Value { return vm.newHandle(bits, true) }

func (vm *VM) newHandle(bits uint64, borrowed bool) Value {
	if !counted(bits) {
		return Value{vm: vm, bits: bits}
	}
	var i uint32
	if n := len(vm.free); n > 0 {
		i = vm.free[n-1]
		vm.free = vm.free[:n-1]
	} else {
		i = uint32(len(vm.slots))
		vm.slots = append(vm.slots, slot{})
	}
	s := &vm.slots[i]
	s.bits, s.live, s.borrowed = bits, true, borrowed
	return Value{vm: vm, slot: i, gen: s.gen}
}

// entry returns the live slot of a heap value's handle, or nil.
func (v Value) entry() *slot {
	if v.vm == nil || v.slot == 0 || int(v.slot) >= len(v.vm.slots) {
		return nil
	}
	if s := &v.vm.slots[v.slot]; s.live && s.gen == v.gen {
		return s
	}
	return nil
}

// forget ends a handle. It reports whether the caller has its reference now; if not,
// the value is pinned, and the last pin drops the reference.
func (v Value) forget(s *slot) (bits uint64, mine bool) {
	if s.pins > 0 {
		s.live, s.dying = false, true
		s.gen++
		return s.bits, false
	}
	bits = s.bits
	*s = slot{gen: s.gen + 1}
	v.vm.free = append(v.vm.free, v.slot)
	return bits, true
}

// pin keeps a live handle's value while an operation uses it; unpin follows.
func (v Value) pin() Value {
	if s := v.entry(); s != nil {
		s.pins++
		return v
	}
	return Value{}
}

// unpin ends what pin began.
func (v Value) unpin() {
	if v.slot == 0 {
		return
	}
	s := &v.vm.slots[v.slot]
	if s.pins--; s.pins > 0 || !s.dying {
		return
	}
	bits, borrowed := s.bits, s.borrowed
	*s = slot{gen: s.gen} // forget has counted it up
	v.vm.free = append(v.vm.free, v.slot)
	if !borrowed {
		v.vm.release(bits)
	}
}

// raw returns the bits of a handle that vm may use, without giving up a reference.
func (vm *VM) raw(v Value) (uint64, error) {
	switch {
	case v.vm == nil:
		return 0, ErrStale
	case v.vm != vm:
		return 0, ErrForeign
	case v.slot == 0:
		return v.bits, nil
	}
	if s := v.entry(); s != nil {
		return s.bits, nil
	}
	return 0, ErrStale
}

// raws is raw for several handles.
func (vm *VM) raws(values []Value) ([]uint64, error) {
	bits := make([]uint64, len(values))
	for i, v := range values {
		var err error
		if bits[i], err = vm.raw(v); err != nil {
			return nil, fmt.Errorf("value %d: %w", i, err)
		}
	}
	return bits, nil
}

// take ends a handle and returns its bits with one reference, which for a borrowed
// one is a new reference.
func (vm *VM) take(v Value) (uint64, error) {
	bits, err := vm.raw(v)
	if err != nil || v.slot == 0 {
		return bits, err
	}
	s := v.entry()
	if s.borrowed {
		return bits, vm.retain(bits)
	}
	if _, mine := v.forget(s); !mine {
		return bits, vm.retain(bits)
	}
	return bits, nil
}

// VM returns the VM that the value belongs to, nil for the zero Value.
func (v Value) VM() *VM { return v.vm }

// Alive reports whether the handle may be used.
func (v Value) Alive() bool {
	if v.vm == nil || v.vm.closed {
		return false
	}
	return v.slot == 0 || v.entry() != nil
}

// Free ends the handle and drops its reference. Freeing an immediate or a borrowed
// value does nothing; freeing a handle twice returns [ErrStale].
func (v Value) Free() error {
	if v.vm == nil {
		return ErrStale
	}
	if v.slot == 0 {
		return nil
	}
	s := v.entry()
	if s == nil {
		return ErrStale
	}
	if s.borrowed {
		return nil
	}
	if bits, mine := v.forget(s); mine {
		v.vm.release(bits)
	}
	return nil
}

// Dup returns another handle of the same value with a reference of its own. It is
// how an argument of a host call outlives the call.
func (v Value) Dup() (Value, error) {
	if v.vm == nil {
		return Value{}, ErrStale
	}
	if err := v.vm.alive(); err != nil {
		return Value{}, err
	}
	bits, err := v.vm.raw(v)
	if err != nil {
		return Value{}, err
	}
	if err := v.vm.retain(bits); err != nil {
		return Value{}, err
	}
	return v.vm.own(bits), nil
}

// Handles returns the number of handles that are alive, for leak tests.
func (vm *VM) Handles() int {
	n := 0
	for i := range vm.slots {
		if vm.slots[i].live {
			n++
		}
	}
	return n
}

// Scope frees the handles that are made while it is the innermost one. Scopes nest.
// A host call starts without a scope, so what it keeps is not freed by a scope that
// its caller happens to have open.
type Scope struct {
	vm     *VM
	outer  *Scope
	values []Value
	open   bool
}

// Scope opens a scope; Close ends it.
func (vm *VM) Scope() *Scope {
	s := &Scope{vm: vm, outer: vm.scope, open: true}
	vm.scope = s
	return s
}

// Keep moves a value to the enclosing scope, or out of all of them, and returns it.
func (s *Scope) Keep(v Value) Value {
	for i := len(s.values) - 1; i >= 0; i-- {
		if s.values[i] == v {
			s.values = append(s.values[:i], s.values[i+1:]...)
			if s.outer != nil {
				s.outer.values = append(s.outer.values, v)
			}
			break
		}
	}
	return v
}

// Close frees what was made in the scope and not freed or kept since. Scopes inside
// it that are still open are closed too. Closing twice does nothing.
func (s *Scope) Close() {
	for s.open {
		inner := s.vm.scope
		if inner == nil {
			return // a scope of another host call; that call closes it
		}
		s.vm.scope = inner.outer
		inner.open = false
		for _, v := range inner.values {
			_ = v.Free() // already freed by hand is fine
		}
		inner.values = nil
	}
}

// heldValues keeps the values of recent exceptions alive, so that a host function
// can rethrow the very object that it caught, and dropping the error leaks nothing.
type heldValues struct {
	ring [64]Value
	next int
}

// hold makes a handle for a thrown value, taking over one reference.
func (vm *VM) hold(bits uint64) Value {
	if !counted(bits) {
		return Value{vm: vm, bits: bits}
	}
	v := vm.newHandle(bits, false)
	at := &vm.held.ring[vm.held.next%len(vm.held.ring)]
	vm.held.next++
	if at.vm != nil {
		_ = at.Free() // the program may have freed it
	}
	*at = v
	return v
}

// Kind is what typeof tells apart, with null as a kind of its own.
type Kind uint8

// The kinds of values.
const (
	Undefined Kind = iota
	Null
	Boolean
	Number
	BigInt
	String
	Symbol
	Object
	Function
)

var kindNames = [...]string{"undefined", "null", "boolean", "number", "bigint", "string", "symbol", "object", "function"}

// String returns the name that typeof gives, and "null" for null.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", k)
}

// Kind returns the value's kind. A stale handle is Undefined.
func (v Value) Kind() Kind {
	if v.vm == nil {
		return Undefined
	}
	bits, err := v.vm.raw(v)
	if err != nil {
		return Undefined
	}
	switch t := tagOf(bits); {
	case t == tagNull:
		return Null
	case t == tagBool:
		return Boolean
	case t == tagInt, isFloat(bits):
		return Number
	case t == tagShortBigInt, t == tagBigInt:
		return BigInt
	case t == tagString, t == tagRope:
		return String
	case t == tagSymbol:
		return Symbol
	case t == tagObject:
		if v.test(xIsFunction) {
			return Function
		}
		return Object
	}
	return Undefined
}

// IsObject reports whether the value is an object or a function.
func (v Value) IsObject() bool {
	if v.vm == nil {
		return false
	}
	bits, err := v.vm.raw(v)
	return err == nil && tagOf(bits) == tagObject
}

// test asks one of the engine's class tests; those never run guest code.
func (v Value) test(x export) bool {
	if v.vm == nil || v.vm.alive() != nil {
		return false
	}
	bits, err := v.vm.raw(v)
	if err != nil {
		return false
	}
	var yes uint64
	if x == xIsFunction || x == xIsConstructor {
		yes, err = v.vm.call(x, uint64(v.vm.cx), bits)
	} else {
		yes, err = v.vm.call(x, bits)
	}
	return err == nil && uint32(yes) != 0
}

// ToBool returns the value's truthiness, which never runs guest code.
func (v Value) ToBool(ctx context.Context) (bool, error) {
	bits, err := v.ready()
	if err != nil {
		return false, err
	}
	return v.vm.runStatus(ctx, xToBool, uint64(v.vm.cx), bits)
}

// ready returns the bits of a value in a VM that can be used.
func (v Value) ready() (uint64, error) {
	if v.vm == nil {
		return 0, ErrStale
	}
	if err := v.vm.alive(); err != nil {
		return 0, err
	}
	return v.vm.raw(v)
}
