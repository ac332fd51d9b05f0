package quickjs

import "context"

// Arguments and results that do not fit into wasm parameters go through scratch
// blocks in guest memory, one for each depth: an entry's block must survive the
// entries nested in it. The first half of a block holds values, the second a short
// text; what is larger is allocated for the call.

const (
	scratchSize   = 512
	scratchText   = scratchSize / 2
	scratchBlocks = maxDepth + extraDepth + 2
)

// block returns the address of the present depth's scratch block.
func (vm *VM) block() uint32 { return vm.scratch + uint32(vm.depth)*scratchSize }

// malloc allocates plain memory, which does not count against the memory limit.
func (vm *VM) malloc(n uint32) (uint32, error) {
	p, err := vm.call(xMalloc, uint64(max(n, 1)))
	if err != nil {
		return 0, err
	}
	if uint32(p) == 0 {
		return 0, vm.die(vm.memoryLimit("linear memory is full"))
	}
	return uint32(p), nil
}

// release drops a reference to a guest value.
func (vm *VM) release(bits uint64) {
	if counted(bits) && vm.dead == nil && !vm.closed {
		// A trap here has killed the VM, which the next use reports.
		_, _ = vm.call(xFreeValue, uint64(vm.cx), bits)
	}
}

// retain adds a reference to a guest value.
func (vm *VM) retain(bits uint64) error {
	if !counted(bits) {
		return nil
	}
	_, err := vm.call(xDupValue, uint64(vm.cx), bits)
	return err
}

// buffer is memory of the guest that the host lends it for one call.
type buffer struct {
	p     uint32
	owned bool // allocated, and not part of a scratch block
}

// putText writes s and a NUL after it, into the scratch block when it fits.
func (vm *VM) putText(s string) (buffer, error) {
	b := buffer{p: vm.block() + scratchText}
	if len(s)+1 > scratchSize-scratchText {
		p, err := vm.malloc(uint32(len(s)) + 1)
		if err != nil {
			return buffer{}, err
		}
		b = buffer{p: p, owned: true}
	}
	vm.mem.setText(b.p, s)
	vm.mem.setBytes(b.p+uint32(len(s)), []byte{0})
	return b, nil
}

// putValues writes an array of JSValues, into the scratch block when it fits.
func (vm *VM) putValues(bits []uint64) (buffer, error) {
	b := buffer{p: vm.block()}
	if len(bits)*8 > scratchText {
		p, err := vm.malloc(uint32(len(bits)) * 8)
		if err != nil {
			return buffer{}, err
		}
		b = buffer{p: p, owned: true}
	}
	for i, v := range bits {
		vm.mem.setU64(b.p+uint32(i)*8, v)
	}
	return b, nil
}

// drop gives lent memory back.
func (vm *VM) drop(b buffer) {
	if b.owned && vm.dead == nil && !vm.closed {
		_, _ = vm.call(xFree, uint64(b.p))
	}
}

// unbox takes the value out of a box that the engine allocated.
func (vm *VM) unbox(box uint32) (uint64, error) {
	bits, ok := vm.mem.u64(box)
	if box == 0 || !ok {
		return 0, vm.die(vm.memoryLimit("the engine could not allocate a result"))
	}
	if _, err := vm.call(xFree, uint64(box)); err != nil {
		return 0, err
	}
	return bits, nil
}

// evalBox runs an export that returns a box and takes the value out.
func (vm *VM) evalBox(ctx context.Context, x export, args ...uint64) (uint64, error) {
	box, err := vm.run(ctx, x, args...)
	if err != nil {
		return 0, err
	}
	bits, err := vm.unbox(uint32(box))
	if err != nil {
		return 0, err
	}
	if isException(bits) {
		return 0, vm.caught(ctx)
	}
	return bits, nil
}

// runValue runs an export that returns a JSValue.
func (vm *VM) runValue(ctx context.Context, x export, args ...uint64) (uint64, error) {
	bits, err := vm.run(ctx, x, args...)
	if err != nil {
		return 0, err
	}
	if isException(bits) {
		return 0, vm.caught(ctx)
	}
	return bits, nil
}

// runStatus runs an export that returns -1 for an exception, else a truth value.
func (vm *VM) runStatus(ctx context.Context, x export, args ...uint64) (bool, error) {
	status, err := vm.run(ctx, x, args...)
	if err != nil {
		return false, err
	}
	if int32(status) < 0 {
		return false, vm.caught(ctx)
	}
	return int32(status) != 0, nil
}
