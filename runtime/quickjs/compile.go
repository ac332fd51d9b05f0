package quickjs

import (
	"context"
	"fmt"
)

// Compile compiles a script without running it, to what an engine with the same [Hash]
// can run without parsing. The functions in it keep their source text.
func (vm *VM) Compile(ctx context.Context, code, filename string) ([]byte, error) {
	if err := vm.alive(); err != nil {
		return nil, err
	}
	source, err := vm.putBytes(append([]byte(code), 0)) // the parser reads one byte past the end
	if err != nil {
		return nil, err
	}
	defer vm.drop(source)
	name, err := vm.putText(filename)
	if err != nil {
		return nil, err
	}
	defer vm.drop(name)
	size, err := vm.putBytes(make([]byte, 8))
	if err != nil {
		return nil, err
	}
	defer vm.drop(size)
	const strip = 0
	at, err := vm.run(ctx, xCompile, uint64(source.p), uint64(len(code)), uint64(name.p), evalGlobal, strip, uint64(size.p))
	if err != nil {
		return nil, err
	}
	if at == 0 {
		return nil, vm.caught(ctx)
	}
	defer vm.drop(buffer{p: uint32(at), owned: true})
	n, _ := vm.mem.u64(size.p)
	bytecode, ok := vm.mem.bytes(uint32(at), uint32(n))
	if !ok {
		return nil, fmt.Errorf("compile %s: %w", filename, ErrLayout)
	}
	return bytecode, nil
}
