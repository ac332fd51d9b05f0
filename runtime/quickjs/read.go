package quickjs

import (
	"context"
	"fmt"
	"math/big"
)

// Float64 returns a number's value; [ErrType] for anything else. It converts
// nothing: that could run guest code.
func (v Value) Float64() (float64, error) {
	bits, err := v.ready()
	if err != nil {
		return 0, err
	}
	f, ok := unpackNumber(bits)
	if !ok {
		return 0, fmt.Errorf("%w: %s is not a number", ErrType, v.Kind())
	}
	return f, nil
}

// Bool returns a boolean's value; [ErrType] for anything else.
func (v Value) Bool() (bool, error) {
	bits, err := v.ready()
	if err != nil {
		return false, err
	}
	if tagOf(bits) != tagBool {
		return false, fmt.Errorf("%w: %s is not a boolean", ErrType, v.Kind())
	}
	return uint32(bits) != 0, nil
}

// Text returns a string's value as WTF-8: UTF-8, except that a lone surrogate is
// written as its three bytes, so that [VM.NewString] gives the same string back.
// Such a text is not valid UTF-8; strings.ToValidUTF8 makes it so. [ErrType] for
// anything but a string.
func (v Value) Text() (string, error) {
	bits, err := v.stringBits()
	if err != nil {
		return "", err
	}
	return v.vm.text(v.vm.context(), bits)
}

// UTF16 returns a string's code units; [ErrType] for anything but a string.
func (v Value) UTF16() ([]uint16, error) {
	bits, err := v.stringBits()
	if err != nil {
		return nil, err
	}
	vm, at := v.vm, v.vm.block()
	p, err := vm.run(vm.context(), xToCStringUTF16, uint64(vm.cx), uint64(at), bits)
	if err != nil {
		return nil, err
	}
	if uint32(p) == 0 {
		return nil, vm.caught(vm.context())
	}
	n, _ := vm.mem.u32(at)
	units, ok := vm.mem.utf16(uint32(p), n)
	if _, err := vm.call(xFreeCStringUTF16, uint64(vm.cx), p); err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("read a string of %d code units: out of range", n)
	}
	return units, nil
}

func (v Value) stringBits() (uint64, error) {
	bits, err := v.ready()
	if err != nil {
		return 0, err
	}
	if t := tagOf(bits); t != tagString && t != tagRope {
		return 0, fmt.Errorf("%w: %s is not a string", ErrType, v.Kind())
	}
	return bits, nil
}

// text converts a primitive that is not a symbol to WTF-8.
func (vm *VM) text(ctx context.Context, bits uint64) (string, error) {
	at := vm.block()
	p, err := vm.run(ctx, xToCString, uint64(vm.cx), uint64(at), bits, 0)
	if err != nil {
		return "", err
	}
	if uint32(p) == 0 {
		return "", vm.caught(ctx)
	}
	n, _ := vm.mem.u32(at)
	s, ok := vm.mem.text(uint32(p), n)
	if _, err := vm.call(xFreeCString, uint64(vm.cx), p); err != nil {
		return "", err
	}
	if !ok {
		return "", fmt.Errorf("read a string of %d bytes: out of range", n)
	}
	return s, nil
}

// BigInt returns a bigint's value; [ErrType] for anything else.
func (v Value) BigInt() (*big.Int, error) {
	bits, err := v.ready()
	if err != nil {
		return nil, err
	}
	if t := tagOf(bits); t != tagBigInt && t != tagShortBigInt {
		return nil, fmt.Errorf("%w: %s is not a bigint", ErrType, v.Kind())
	}
	digits, err := v.vm.text(v.vm.context(), bits)
	if err != nil {
		return nil, err
	}
	n, ok := new(big.Int).SetString(digits, 10)
	if !ok {
		return nil, fmt.Errorf("read a bigint: %q is not one", digits)
	}
	return n, nil
}

// ToText converts the value as String(v) would, except that a symbol throws. It
// runs the guest's toString.
func (v Value) ToText(ctx context.Context) (string, error) {
	defer v.pin().unpin()
	bits, err := v.ready()
	if err != nil {
		return "", err
	}
	s, err := v.vm.runValue(ctx, xToString, uint64(v.vm.cx), bits)
	if err != nil {
		return "", err
	}
	defer v.vm.release(s)
	return v.vm.text(ctx, s)
}

// ToNumber converts the value as Number(v) would, except that a bigint throws. It
// runs the guest's valueOf.
func (v Value) ToNumber(ctx context.Context) (float64, error) {
	defer v.pin().unpin()
	bits, err := v.ready()
	if err != nil {
		return 0, err
	}
	n, err := v.vm.runValue(ctx, xToNumber, uint64(v.vm.cx), bits)
	if err != nil {
		return 0, err
	}
	f, ok := unpackNumber(n)
	if !ok {
		v.vm.release(n)
		return 0, fmt.Errorf("%w: the conversion gave no number", ErrType)
	}
	return f, nil
}

// Identity returns a number that is the same for two live handles exactly when they
// name the same heap value, and 0 for immediates. It may be reused once the value
// is gone.
func (v Value) Identity() uint32 {
	if v.vm == nil {
		return 0
	}
	bits, err := v.vm.raw(v)
	if err != nil || !counted(bits) {
		return 0
	}
	return uint32(bits)
}

// StrictEquals is the === of two values.
func (v Value) StrictEquals(ctx context.Context, other Value) (bool, error) {
	return v.compare(ctx, xStrictEqual, other)
}

// SameValue is Object.is of two values.
func (v Value) SameValue(ctx context.Context, other Value) (bool, error) {
	return v.compare(ctx, xSameValue, other)
}

// InstanceOf is `v instanceof class`; it runs the guest's Symbol.hasInstance.
func (v Value) InstanceOf(ctx context.Context, class Value) (bool, error) {
	return v.compare(ctx, xInstanceOf, class)
}

func (v Value) compare(ctx context.Context, x export, other Value) (bool, error) {
	defer v.pin().unpin()
	defer other.pin().unpin()
	a, err := v.ready()
	if err != nil {
		return false, err
	}
	b, err := v.vm.raw(other)
	if err != nil {
		return false, err
	}
	return v.vm.runStatus(ctx, x, uint64(v.vm.cx), a, b)
}
