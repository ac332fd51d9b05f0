package quickjs

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"time"
)

// Constructors take no context: they run no guest code but an
// Error.prepareStackTrace of the guest's, when there is no memory left for what
// they make, and that is bounded by the VM's limits.

// Undefined returns undefined.
func (vm *VM) Undefined() Value { return Value{vm: vm, bits: bitsUndefined} }

// Null returns null.
func (vm *VM) Null() Value { return Value{vm: vm, bits: bitsNull} }

// Bool returns true or false.
func (vm *VM) Bool(b bool) Value {
	if b {
		return Value{vm: vm, bits: bitsTrue}
	}
	return Value{vm: vm, bits: bitsFalse}
}

// Number returns a number.
func (vm *VM) Number(f float64) Value { return Value{vm: vm, bits: packNumber(f)} }

// Int returns a number.
func (vm *VM) Int(i int) Value { return vm.Number(float64(i)) }

// context returns the context for an operation that takes none: the one of the
// active outermost entry, so that its cancellation counts here too.
func (vm *VM) context() context.Context {
	if vm.outermost != nil {
		return vm.outermost
	}
	return context.Background()
}

// made wraps the result of an export that makes a value.
func (vm *VM) made(bits uint64, err error) (Value, error) {
	if err != nil {
		return Value{}, err
	}
	return vm.own(bits), nil
}

// NewString makes a string. s is UTF-8, in which a lone surrogate may be written as
// its three bytes (WTF-8), as [Value.Text] returns it; NUL is a character like
// others. Bytes that are neither become U+FFFD.
func (vm *VM) NewString(s string) (Value, error) { return vm.made(vm.newString(vm.context(), s)) }

func (vm *VM) newString(ctx context.Context, s string) (uint64, error) {
	if err := vm.alive(); err != nil {
		return 0, err
	}
	b, err := vm.putText(s)
	if err != nil {
		return 0, err
	}
	defer vm.drop(b)
	return vm.runValue(ctx, xNewString, uint64(vm.cx), uint64(b.p), uint64(len(s)))
}

// NewStringUTF16 makes a string of UTF-16 code units, lone surrogates included.
func (vm *VM) NewStringUTF16(units []uint16) (Value, error) {
	if err := vm.alive(); err != nil {
		return Value{}, err
	}
	raw := make([]byte, 0, 2*len(units))
	for _, u := range units {
		raw = append(raw, byte(u), byte(u>>8))
	}
	b, err := vm.putBytes(raw)
	if err != nil {
		return Value{}, err
	}
	defer vm.drop(b)
	return vm.made(vm.runValue(vm.context(), xNewStringUTF16, uint64(vm.cx), uint64(b.p), uint64(len(units))))
}

// putBytes lends raw to the guest; unlike a text it is always allocated, which gives
// it the alignment of any type.
func (vm *VM) putBytes(raw []byte) (buffer, error) {
	p, err := vm.malloc(uint32(len(raw)))
	if err != nil {
		return buffer{}, err
	}
	vm.mem.setBytes(p, raw)
	return buffer{p: p, owned: true}, nil
}

// NewObject makes an empty object with Object.prototype.
func (vm *VM) NewObject() (Value, error) {
	return vm.made(vm.runValue(vm.context(), xNewObject, uint64(vm.cx)))
}

// NewObjectProto makes an empty object with a prototype, which may be null.
func (vm *VM) NewObjectProto(proto Value) (Value, error) {
	bits, err := vm.raw(proto)
	if err != nil {
		return Value{}, err
	}
	return vm.made(vm.runValue(vm.context(), xNewObjectProto, uint64(vm.cx), bits))
}

// NewArray makes an array of the values, which stay the caller's.
func (vm *VM) NewArray(values ...Value) (Value, error) {
	if err := vm.alive(); err != nil {
		return Value{}, err
	}
	if len(values) == 0 {
		return vm.made(vm.runValue(vm.context(), xNewArray, uint64(vm.cx)))
	}
	bits, err := vm.raws(values)
	if err != nil {
		return Value{}, err
	}
	b, err := vm.putValues(bits)
	if err != nil {
		return Value{}, err
	}
	defer vm.drop(b)
	for _, v := range bits { // the engine takes the references over, also on failure
		if err := vm.retain(v); err != nil {
			return Value{}, err
		}
	}
	return vm.made(vm.runValue(vm.context(), xNewArrayFrom, uint64(vm.cx), uint64(len(bits)), uint64(b.p)))
}

// NewSymbol makes a symbol. With shared it is the one that Symbol.for returns. A
// description ends at its first NUL.
func (vm *VM) NewSymbol(description string, shared bool) (Value, error) {
	if err := vm.alive(); err != nil {
		return Value{}, err
	}
	b, err := vm.putText(description)
	if err != nil {
		return Value{}, err
	}
	defer vm.drop(b)
	global := uint64(0)
	if shared {
		global = 1
	}
	return vm.made(vm.runValue(vm.context(), xNewSymbol, uint64(vm.cx), uint64(b.p), global))
}

// NewBigInt makes a bigint of any size.
func (vm *VM) NewBigInt(n *big.Int) (Value, error) {
	switch {
	case n.IsInt64():
		return vm.made(vm.runValue(vm.context(), xNewBigInt64, uint64(vm.cx), uint64(n.Int64())))
	case n.IsUint64():
		return vm.made(vm.runValue(vm.context(), xNewBigUint64, uint64(vm.cx), n.Uint64()))
	}
	// A literal needs no global that a script could have replaced.
	return vm.made(vm.eval(vm.context(), "("+n.String()+"n)", "<bigint>", 0))
}

// NewDate makes a Date; the zero time gives an invalid one.
func (vm *VM) NewDate(t time.Time) (Value, error) {
	ms := math.NaN()
	if !t.IsZero() {
		ms = float64(t.UnixMilli())
	}
	return vm.made(vm.runValue(vm.context(), xNewDate, uint64(vm.cx), math.Float64bits(ms)))
}

// NewProxy makes a Proxy.
func (vm *VM) NewProxy(target, handler Value) (Value, error) {
	bits, err := vm.raws([]Value{target, handler})
	if err != nil {
		return Value{}, fmt.Errorf("new proxy: %w", err)
	}
	return vm.made(vm.runValue(vm.context(), xNewProxy, uint64(vm.cx), bits[0], bits[1]))
}

// NewError makes an error of the class that name says, as [JSError] does.
func (vm *VM) NewError(name, message string) (Value, error) {
	if err := vm.alive(); err != nil {
		return Value{}, err
	}
	return vm.made(vm.errorValue(vm.context(), &JSError{Name: name, Message: message}))
}

// atom is a property name of the engine.
type atom struct {
	id     uint32
	cached bool
}

// Names that come up again and again keep their atom. The bounds keep a program
// that uses data as names from holding all of them for ever.
const (
	maxAtoms    = 512
	maxAtomName = 64
)

// atom interns a name.
func (vm *VM) atom(ctx context.Context, name string) (atom, error) {
	if id, ok := vm.atoms[name]; ok {
		return atom{id: id, cached: true}, nil
	}
	b, err := vm.putText(name)
	if err != nil {
		return atom{}, err
	}
	defer vm.drop(b)
	id, err := vm.run(ctx, xNewAtom, uint64(vm.cx), uint64(b.p), uint64(len(name)))
	if err != nil {
		return atom{}, err
	}
	if uint32(id) == 0 {
		return atom{}, vm.caught(ctx)
	}
	a := atom{id: uint32(id)}
	if len(name) <= maxAtomName && len(vm.atoms) < maxAtoms {
		vm.atoms[name], a.cached = a.id, true
	}
	return a, nil
}

// dropAtom gives an atom back.
func (vm *VM) dropAtom(a atom) {
	if !a.cached && vm.dead == nil && !vm.closed {
		_, _ = vm.call(xFreeAtom, uint64(vm.cx), uint64(a.id))
	}
}
