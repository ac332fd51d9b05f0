package quickjs

import (
	"context"
	"fmt"
)

// flags of qjs_eval.
const (
	evalGlobal = 0
	evalModule = 1 << 0
)

// Eval runs a script in the realm's global scope and returns its completion value.
// filename appears in stacks.
func (vm *VM) Eval(ctx context.Context, code, filename string) (Value, error) {
	return vm.made(vm.eval(ctx, code, filename, evalGlobal))
}

// EvalModule runs an ES module and returns a promise of its namespace. Imports go
// through the [ModuleLoader]; the promise settles when jobs are run.
func (vm *VM) EvalModule(ctx context.Context, code, filename string) (Value, error) {
	return vm.made(vm.eval(ctx, code, filename, evalModule))
}

func (vm *VM) eval(ctx context.Context, code, filename string, flags uint64) (uint64, error) {
	if err := vm.alive(); err != nil {
		return 0, err
	}
	source, err := vm.putBytes(append([]byte(code), 0)) // the parser reads one byte past the end
	if err != nil {
		return 0, err
	}
	defer vm.drop(source)
	name, err := vm.putText(filename)
	if err != nil {
		return 0, err
	}
	defer vm.drop(name)
	return vm.evalBox(ctx, xEval, uint64(source.p), uint64(len(code)), uint64(name.p), flags)
}

// Global returns the global object.
func (vm *VM) Global() (Value, error) {
	if err := vm.alive(); err != nil {
		return Value{}, err
	}
	return vm.made(vm.call(xGlobal, uint64(vm.cx)))
}

// Call calls a function. The arguments stay the caller's.
func (vm *VM) Call(ctx context.Context, fn, this Value, args ...Value) (Value, error) {
	l, err := vm.lend(fn, this, args)
	if err != nil {
		return Value{}, fmt.Errorf("call: %w", err)
	}
	defer vm.reclaim(l, fn, this, args)
	return vm.made(vm.runValue(ctx, xCall, uint64(vm.cx), l.fn, l.this, uint64(len(args)), uint64(l.argv.p)))
}

// Construct is `new class(...args)`.
func (vm *VM) Construct(ctx context.Context, class Value, args ...Value) (Value, error) {
	l, err := vm.lend(class, vm.Undefined(), args)
	if err != nil {
		return Value{}, fmt.Errorf("construct: %w", err)
	}
	defer vm.reclaim(l, class, vm.Undefined(), args)
	return vm.made(vm.runValue(ctx, xConstruct, uint64(vm.cx), l.fn, uint64(len(args)), uint64(l.argv.p)))
}

// CallMethod calls v[name](...args).
func (vm *VM) CallMethod(ctx context.Context, v Value, name string, args ...Value) (Value, error) {
	fn, err := v.Get(ctx, Name(name))
	if err != nil {
		return Value{}, err
	}
	defer func() { _ = fn.Free() }()
	return vm.Call(ctx, fn, v, args...)
}

// loan is what a call lends to the guest: the engine reads the function and the
// arguments while it runs, and counts no references of its own.
type loan struct {
	fn, this uint64
	argv     buffer
}

// lend checks and pins what a call uses.
func (vm *VM) lend(fn, this Value, args []Value) (loan, error) {
	if err := vm.alive(); err != nil {
		return loan{}, err
	}
	var l loan
	var err error
	if l.fn, err = vm.raw(fn); err != nil {
		return loan{}, fmt.Errorf("function: %w", err)
	}
	if l.this, err = vm.raw(this); err != nil {
		return loan{}, fmt.Errorf("this: %w", err)
	}
	if len(args) > 0 {
		var few [8]uint64
		bits := few[:0]
		for i, a := range args {
			b, err := vm.raw(a)
			if err != nil {
				return loan{}, fmt.Errorf("argument %d: %w", i, err)
			}
			bits = append(bits, b)
		}
		if l.argv, err = vm.putValues(bits); err != nil {
			return loan{}, err
		}
	}
	fn.pin()
	this.pin()
	for _, a := range args {
		a.pin()
	}
	return l, nil
}

// reclaim ends a loan.
func (vm *VM) reclaim(l loan, fn, this Value, args []Value) {
	fn.unpin()
	this.unpin()
	for _, a := range args {
		a.unpin()
	}
	vm.drop(l.argv)
}
