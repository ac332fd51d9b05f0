package quickjs

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// protoWalk bounds how far a thrown error's name is looked for: an error's chain is
// a handful long, and a hostile one must not be followed for ever.
const protoWalk = 8

// flags of JS_DefineProperty and JS_GetOwnProperty.
const (
	propConfigurable = 1 << 0
	propWritable     = 1 << 1
	propEnumerable   = 1 << 2
	propAccessor     = 1 << 4 // JS_PROP_GETSET
	propHasConfig    = 1 << 8
	propHasWritable  = 1 << 9
	propHasEnum      = 1 << 10
	propHasGet       = 1 << 11
	propHasSet       = 1 << 12
	propHasValue     = 1 << 13
	propThrow        = 1 << 14
)

// caught takes the pending exception and turns it into an error. One that the guest
// could not catch was raised by a limit, and kills the VM.
func (vm *VM) caught(ctx context.Context) error {
	bits, err := vm.call(xGetException, uint64(vm.cx))
	if err != nil {
		return err
	}
	vm.building++
	defer func() { vm.building-- }()
	if vm.uncatchable(bits) {
		message, _ := vm.ownText(ctx, bits, "message")
		limit := vm.engineLimit(message)
		limit.Stack = vm.errorStack(ctx, bits)
		vm.release(bits)
		return vm.die(limit)
	}
	return vm.describe(ctx, bits)
}

// uncatchable reports whether the engine marked an error so that guest code cannot
// catch it. Guest code has no way to set the mark.
func (vm *VM) uncatchable(bits uint64) bool {
	if tagOf(bits) != tagObject {
		return false
	}
	yes, err := vm.call(xIsUncatchable, bits)
	return err == nil && uint32(yes) != 0
}

// engineLimit says which limit an uncatchable error stands for. An interrupt has
// recorded its reason already, so what is left is memory and the engine's bounds.
func (vm *VM) engineLimit(message string) *LimitError {
	if strings.Contains(message, "out of memory") {
		return &LimitError{Kind: LimitMemory, Bytes: vm.limits.MemoryBytes}
	}
	return &LimitError{Kind: LimitEngine, Detail: message}
}

// describe reads a thrown value without running guest code: own data properties of
// errors only, no getter, no conversion of objects. It takes over the reference.
func (vm *VM) describe(ctx context.Context, bits uint64) error {
	thrown := &JSError{}
	if isError, err := vm.call(xIsError, bits); err == nil && uint32(isError) != 0 {
		thrown.Name = vm.errorName(ctx, bits)
		thrown.Message, _ = vm.ownText(ctx, bits, "message")
		thrown.Stack = vm.errorStack(ctx, bits)
	} else {
		thrown.Message = vm.thrownText(ctx, bits)
	}
	if vm.dead != nil {
		return vm.dead
	}
	thrown.Value = vm.hold(bits)
	return thrown
}

// thrownText describes a thrown value that is not an error.
func (vm *VM) thrownText(ctx context.Context, bits uint64) string {
	switch tagOf(bits) {
	case tagObject:
		if message, ok := vm.ownText(ctx, bits, "message"); ok {
			return message
		}
		return "an object that is not an Error"
	case tagSymbol:
		return "a symbol"
	}
	s, err := vm.text(ctx, bits)
	if err != nil {
		return "a value"
	}
	return s
}

// errorName finds the data property "name" along the prototypes.
func (vm *VM) errorName(ctx context.Context, bits uint64) string {
	if err := vm.retain(bits); err != nil {
		return "Error"
	}
	at := bits
	defer func() { vm.release(at) }()
	for range protoWalk {
		if proxy, err := vm.call(xIsProxy, at); err != nil || uint32(proxy) != 0 {
			break
		}
		if name, ok := vm.ownText(ctx, at, "name"); ok {
			return name
		}
		up, err := vm.run(ctx, xGetPrototype, uint64(vm.cx), at)
		if err != nil || tagOf(up) != tagObject {
			break
		}
		vm.release(at)
		at = up
	}
	return "Error"
}

// ownText reads an own data property that is a string.
func (vm *VM) ownText(ctx context.Context, bits uint64, name string) (string, bool) {
	d, found, err := vm.ownProperty(ctx, bits, name)
	if err != nil || !found {
		return "", false
	}
	defer d.release(vm)
	if d.flags&propAccessor != 0 || tagOf(d.value) != tagString && tagOf(d.value) != tagRope {
		return "", false
	}
	s, err := vm.text(ctx, d.value)
	return s, err == nil
}

// rawDescriptor is a property descriptor of the engine.
type rawDescriptor struct {
	flags                 uint32
	value, getter, setter uint64
}

func (d rawDescriptor) release(vm *VM) {
	vm.release(d.value)
	if d.flags&propAccessor != 0 {
		vm.release(d.getter)
		vm.release(d.setter)
	}
}

// ownProperty reads a descriptor; on anything but a Proxy that runs no guest code.
func (vm *VM) ownProperty(ctx context.Context, bits uint64, name string) (rawDescriptor, bool, error) {
	atom, err := vm.atom(ctx, name)
	if err != nil {
		return rawDescriptor{}, false, err
	}
	defer vm.dropAtom(atom)
	return vm.ownPropertyAtom(ctx, bits, atom.id)
}

func (vm *VM) ownPropertyAtom(ctx context.Context, bits uint64, atom uint32) (rawDescriptor, bool, error) {
	at := vm.block()
	found, err := vm.runStatus(ctx, xOwnProperty, uint64(vm.cx), uint64(at), bits, uint64(atom))
	if err != nil || !found {
		return rawDescriptor{}, false, err
	}
	var d rawDescriptor
	d.flags, _ = vm.mem.u32(at)
	d.value, _ = vm.mem.u64(at + 8)
	d.getter, _ = vm.mem.u64(at + 16)
	d.setter, _ = vm.mem.u64(at + 24)
	return d, true, nil
}

// captureStackGetter keeps the getter of Error.prototype.stack before any script
// can replace it: an error's stack is an internal slot that only it reads.
func (vm *VM) captureStackGetter(ctx context.Context) error {
	proto, err := vm.eval(ctx, "Error.prototype", "<boot>", 0)
	if err != nil {
		return err
	}
	defer vm.release(proto)
	d, found, err := vm.ownProperty(ctx, proto, "stack")
	if err != nil || !found {
		return errors.Join(fmt.Errorf("%w: Error.prototype.stack is not an accessor", ErrLayout), err)
	}
	defer d.release(vm)
	vm.stackGetter = d.getter
	return vm.retain(d.getter)
}

// errorStack reads an error's stack through the captured getter.
func (vm *VM) errorStack(ctx context.Context, bits uint64) string {
	stack, err := vm.run(ctx, xCall, uint64(vm.cx), vm.stackGetter, bits, 0, 0)
	if err != nil {
		return ""
	}
	defer vm.release(stack)
	if isException(stack) {
		if pending, err := vm.call(xGetException, uint64(vm.cx)); err == nil {
			vm.release(pending)
		}
		return ""
	}
	if tagOf(stack) != tagString && tagOf(stack) != tagRope {
		return ""
	}
	s, err := vm.text(ctx, stack)
	if err != nil {
		return ""
	}
	return strings.TrimRight(s, "\n")
}

var errorMakers = map[string]export{
	"TypeError":      xNewTypeError,
	"RangeError":     xNewRangeError,
	"ReferenceError": xNewReferenceError,
	"SyntaxError":    xNewSyntaxError,
}

// throw makes err the pending exception, for the frame below to raise. Whatever
// goes wrong on the way leaves an exception pending too.
func (vm *VM) throw(ctx context.Context, err error) {
	if vm.dead != nil || vm.closed {
		vm.throwFatal()
		return
	}
	vm.building++
	defer func() { vm.building-- }()
	bits, failed := vm.errorValue(ctx, err)
	switch {
	case vm.dead != nil:
		vm.throwFatal()
	case failed == nil:
		_, _ = vm.call(xThrow, uint64(vm.cx), bits)
	default:
		if thrown := (*JSError)(nil); errors.As(failed, &thrown) {
			if bits, err := vm.take(thrown.Value); err == nil {
				_, _ = vm.call(xThrow, uint64(vm.cx), bits)
			}
		}
	}
}

// errorValue returns the guest value for a host function's error, with a reference.
func (vm *VM) errorValue(ctx context.Context, err error) (uint64, error) {
	name, message := "Error", err.Error()
	if thrown := (*JSError)(nil); errors.As(err, &thrown) {
		if bits, stale := vm.raw(thrown.Value); stale == nil {
			return bits, vm.retain(bits)
		}
		name, message = thrown.Name, thrown.Message
	}
	maker, known := errorMakers[name]
	if !known {
		maker = xNewPlainError
	}
	empty, err := vm.putText("")
	if err != nil {
		return 0, err
	}
	bits, err := vm.runValue(ctx, maker, uint64(vm.cx), uint64(empty.p), 0)
	if err != nil {
		return 0, err
	}
	err = vm.defineText(ctx, bits, "message", message)
	if err == nil && !known && name != "Error" && name != "" {
		err = vm.defineText(ctx, bits, "name", name)
	}
	if err != nil {
		vm.release(bits)
	}
	return bits, err
}

// defineText defines a property as the engine does on its own errors.
func (vm *VM) defineText(ctx context.Context, bits uint64, name, text string) error {
	value, err := vm.newString(ctx, text)
	if err != nil {
		return err
	}
	atom, err := vm.atom(ctx, name)
	if err != nil {
		vm.release(value)
		return err
	}
	defer vm.dropAtom(atom)
	_, err = vm.runStatus(ctx, xDefineValue, uint64(vm.cx), bits, uint64(atom.id), value, propConfigurable|propWritable)
	return err
}

// throwFatal raises an error that the guest cannot catch, in the frames of a dead VM
// that still stand: they end without running another line of guest code. The calls
// bypass the check for life on purpose, and what they return no longer matters.
func (vm *VM) throwFatal() {
	if vm.closed || vm.mod.IsClosed() {
		return // its frames end at their next loop or call, the module being closed
	}
	text := vm.block() + scratchText
	vm.mem.setBytes(text, []byte{0})
	bits, err := vm.enter(context.Background(), xNewInternalError, uint64(vm.cx), uint64(text), 0)
	if err != nil || tagOf(bits) != tagObject {
		return
	}
	_, _ = vm.call(xSetUncatchable, uint64(vm.cx), bits)
	_, _ = vm.call(xThrow, uint64(vm.cx), bits)
}
