package quickjs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Image is the state of a VM at a moment: its linear memory, which holds everything
// the engine knows, and what of the VM points into it. It is immutable, and may be
// restored any number of times, by any engine of the same wasm.
type Image struct {
	memory  []byte
	hash    string
	sp      uint64
	rt, cx  uint32
	scratch uint32
	getter  uint64
	names   []string // of host functions, by number
	atoms   map[string]uint32
	exports map[string]uint64
}

// Size returns the image's size in bytes.
func (i *Image) Size() int { return len(i.memory) }

// Snapshot takes an image of the VM. keep names values whose handles a restored VM
// should have ([VM.Imported]); they are part of the image and stay the caller's.
// Guest code must not be running ([ErrBusy]). The VM is not changed.
func (vm *VM) Snapshot(keep map[string]Value) (*Image, error) {
	if err := vm.alive(); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	if vm.depth > 0 {
		return nil, fmt.Errorf("snapshot: %w", ErrBusy)
	}
	image := &Image{
		hash: Hash(), sp: vm.sp.Get(), rt: vm.rt, cx: vm.cx, scratch: vm.scratch, getter: vm.stackGetter,
		atoms: maps.Clone(vm.atoms), exports: make(map[string]uint64, len(keep)),
	}
	for name, v := range keep {
		bits, err := vm.raw(v)
		if err != nil {
			return nil, fmt.Errorf("snapshot: %s: %w", name, err)
		}
		// The image's own reference, so that the value outlives the handle in it.
		if err := vm.retain(bits); err != nil {
			return nil, fmt.Errorf("snapshot: %w", err)
		}
		image.exports[name] = bits
	}
	for _, e := range vm.functions.entries {
		image.names = append(image.names, e.name)
	}
	memory, err := vm.mem.copyAll()
	for _, bits := range image.exports {
		vm.release(bits)
	}
	if err = errors.Join(err, vm.dead); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	image.memory = memory
	return image, nil
}

// Restore makes a VM in the state of an image. Host functions are bound by name
// (opts.Functions, [VM.Bind]); calling one that is not throws in the guest.
// Math.random starts anew, and the clocks go on.
func (e *Engine) Restore(ctx context.Context, image *Image, opts VMOptions) (*VM, error) {
	if image.hash != Hash() {
		return nil, fmt.Errorf("restore: the image is of engine %.12s, this is %.12s", image.hash, Hash())
	}
	offset, err := e.randomOffset(ctx)
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	vm, err := e.instantiate(ctx, opts, false, len(image.memory))
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	if err := vm.load(image, offset); err != nil {
		return nil, errors.Join(fmt.Errorf("restore: %w", err), vm.Close(ctx))
	}
	return vm, nil
}

// load puts an image into a fresh instance.
func (vm *VM) load(image *Image, offset uint32) error {
	if err := vm.mem.load(image.memory); err != nil {
		return err
	}
	vm.sp.Set(image.sp)
	vm.rt, vm.cx, vm.scratch, vm.stackGetter = image.rt, image.cx, image.scratch, image.getter
	if _, err := vm.call(xSetPointers, uint64(vm.rt), uint64(vm.cx)); err != nil {
		return err
	}
	if err := vm.applyLimits(); err != nil {
		return err
	}
	vm.atoms = maps.Clone(image.atoms)
	vm.imported = image.exports
	for _, name := range image.names {
		vm.functions.entries = append(vm.functions.entries, hostFunction{name: name})
	}
	return vm.reseed(offset)
}

// Imported returns a handle of a value that the image kept under a name.
func (vm *VM) Imported(name string) (Value, error) {
	bits, ok := vm.imported[name]
	if !ok {
		return Value{}, fmt.Errorf("the image keeps no value %q (it keeps %q)", name, slices.Sorted(maps.Keys(vm.imported)))
	}
	if err := vm.alive(); err != nil {
		return Value{}, err
	}
	if err := vm.retain(bits); err != nil {
		return Value{}, err
	}
	return vm.own(bits), nil
}
