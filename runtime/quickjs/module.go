package quickjs

import (
	"context"
	"errors"
	"strings"
)

// ModuleLoader resolves and loads what import statements and import() name.
type ModuleLoader struct {
	// Normalize turns a specifier into a module's name, by which it is loaded once.
	// base is the importing module's name. nil keeps the specifier as it is.
	Normalize func(ctx context.Context, base, specifier string) (string, error)
	// Load returns a module's source.
	Load func(ctx context.Context, name string) (string, error)
}

// SetModuleLoader sets the loader; without one every import throws.
func (vm *VM) SetModuleLoader(l ModuleLoader) { vm.loader = l }

// importNormalize is host_module_normalize(base, specifier): an allocated text.
func (vm *VM) importNormalize(ctx context.Context, stack []uint64) uint64 {
	return vm.hosted(ctx, "module normalize", func() (uint64, error) {
		base, ok := vm.mem.cText(uint32(stack[0]))
		specifier, ok2 := vm.mem.cText(uint32(stack[1]))
		if !ok || !ok2 {
			return 0, Throw("TypeError", "module name is too long")
		}
		name := specifier
		if vm.loader.Normalize != nil {
			var err error
			if name, err = vm.loader.Normalize(ctx, base, specifier); err != nil || vm.dead != nil {
				return 0, err
			}
		}
		if strings.ContainsRune(name, 0) {
			return 0, Throw("TypeError", "module name %q contains a NUL", name)
		}
		return vm.giveText(name)
	})
}

// importLoad is host_module_load(name, length out): an allocated source.
func (vm *VM) importLoad(ctx context.Context, stack []uint64) uint64 {
	return vm.hosted(ctx, "module load", func() (uint64, error) {
		name, ok := vm.mem.cText(uint32(stack[0]))
		if !ok {
			return 0, Throw("TypeError", "module name is too long")
		}
		if vm.loader.Load == nil {
			return 0, Throw("ReferenceError", "could not load module %q: this sandbox loads no modules", name)
		}
		source, err := vm.loader.Load(ctx, name)
		if err != nil || vm.dead != nil {
			return 0, err
		}
		p, err := vm.giveText(source)
		if err == nil && !vm.mem.setU32(uint32(stack[1]), uint32(len(source))) {
			err = errors.New("the engine's length is out of range")
		}
		return p, err
	})
}

// giveText allocates a NUL-terminated text that the engine frees.
func (vm *VM) giveText(s string) (uint64, error) {
	b, err := vm.putBytes(append([]byte(s), 0))
	return uint64(b.p), err
}
