package quickjs

import "fmt"

// NewArrayBuffer makes an ArrayBuffer with a copy of data.
func (vm *VM) NewArrayBuffer(data []byte) (Value, error) { return vm.copyIn(xNewArrayBuffer, data) }

// NewUint8Array makes a Uint8Array with a copy of data.
func (vm *VM) NewUint8Array(data []byte) (Value, error) { return vm.copyIn(xNewUint8Array, data) }

func (vm *VM) copyIn(x export, data []byte) (Value, error) {
	if err := vm.alive(); err != nil {
		return Value{}, err
	}
	b, err := vm.putBytes(data)
	if err != nil {
		return Value{}, err
	}
	defer vm.drop(b)
	return vm.made(vm.runValue(vm.context(), x, uint64(vm.cx), uint64(b.p), uint64(len(data))))
}

// Bytes returns a copy of what an ArrayBuffer, a typed array or a DataView over all
// of its buffer holds; [ErrType] for anything else, a TypeError for a detached one.
func (v Value) Bytes() ([]byte, error) {
	p, n, err := v.window()
	if err != nil {
		return nil, err
	}
	data, ok := v.vm.mem.bytes(p, n)
	if !ok {
		return nil, fmt.Errorf("read %d bytes of a buffer: out of range", n)
	}
	return data, nil
}

// SetBytes copies data into an ArrayBuffer or a typed array, from a byte offset on.
// It fails, and writes nothing, where data does not fit.
func (v Value) SetBytes(offset int, data []byte) error {
	p, n, err := v.window()
	if err != nil {
		return err
	}
	if offset < 0 || len(data) > int(n) || offset > int(n)-len(data) {
		return fmt.Errorf("write %d bytes at %d: the buffer has %d", len(data), offset, n)
	}
	if !v.vm.mem.setBytes(p+uint32(offset), data) {
		return fmt.Errorf("write %d bytes of a buffer: out of range", len(data))
	}
	return nil
}

// window returns where a buffer's bytes are, which holds until the guest runs.
func (v Value) window() (p, n uint32, err error) {
	bits, err := v.ready()
	if err != nil {
		return 0, 0, err
	}
	vm := v.vm
	at := vm.block()
	offset, length := uint32(0), uint32(0)
	view := int32(v.typedArray()) >= 0
	switch {
	case view:
		buf, err := vm.runValue(vm.context(), xTypedArrayBuffer, uint64(vm.cx), bits, uint64(at), uint64(at+4), uint64(at+8))
		if err != nil {
			return 0, 0, err
		}
		defer vm.release(buf) // the view keeps it alive
		offset, _ = vm.mem.u32(at)
		length, _ = vm.mem.u32(at + 4)
		bits = buf
	case !v.test(xIsArrayBuffer):
		return 0, 0, fmt.Errorf("%w: %s is not an ArrayBuffer or a typed array", ErrType, v.Kind())
	}
	start, err := vm.run(vm.context(), xArrayBuffer, uint64(vm.cx), uint64(at), bits)
	if err != nil {
		return 0, 0, err
	}
	size, _ := vm.mem.u32(at)
	if uint32(start) == 0 {
		// An empty buffer has no address either; only a detached one throws.
		if pending, err := vm.call(xHasException, uint64(vm.cx)); err != nil || uint32(pending) == 0 {
			return 0, 0, err
		}
		return 0, 0, vm.caught(vm.context())
	}
	if !view {
		length = size
	}
	if offset > size || length > size-offset {
		return 0, 0, fmt.Errorf("a view of %d bytes at %d does not fit its buffer of %d", length, offset, size)
	}
	return uint32(start) + offset, length, nil
}

// typedArray returns the engine's number of a typed array's type, negative for
// anything else.
func (v Value) typedArray() int32 {
	bits, err := v.ready()
	if err != nil || tagOf(bits) != tagObject {
		return -1
	}
	kind, err := v.vm.call(xTypedArrayType, bits)
	if err != nil {
		return -1
	}
	return int32(kind)
}
