package quickjs

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"testing"
	"time"
)

// The host side of an import may use any operation of a VM, also while the same
// operation is active further out. These tests nest every export that can reach
// guest code under every import that calls the host, to three levels, and let a
// fuzzer choose longer paths. In a build that shared one wazero Function between
// depths they end the process.

// operation does something with a VM that enters the guest, and fails if the answer
// is wrong. inner is called from within, as often as the operation reaches a script.
type operation struct {
	name    string
	exports []export // that it enters with
	do      func(ctx context.Context, vm *VM) error
}

// operations cover every export that is not a leaf; hook() in their scripts goes to
// the host.
var operations = []operation{
	{"eval", []export{xEval}, func(ctx context.Context, vm *VM) error {
		return number(vm.Eval(ctx, "hook(); 1 + 1", "n.js"))(2)
	}},
	{"module", []export{xEval}, func(ctx context.Context, vm *VM) error {
		_, err := vm.EvalModule(ctx, "import { x } from 'm'; export default hook()", "n.mjs")
		return err
	}},
	{"call", []export{xCall, xEval}, func(ctx context.Context, vm *VM) error {
		return with(vm, ctx, "(function(a) { hook(); return this.b + a })", func(fn Value) error {
			return with(vm, ctx, "({b: 40})", func(this Value) error { return number(vm.Call(ctx, fn, this, vm.Int(2)))(42) })
		})
	}},
	{"construct", []export{xConstruct}, func(ctx context.Context, vm *VM) error {
		return with(vm, ctx, "(class { constructor(a) { hook(); this.a = a } })", func(class Value) error {
			v, err := vm.Construct(ctx, class, vm.Int(3))
			if err != nil {
				return err
			}
			return number(v.Get(ctx, Name("a")))(3)
		})
	}},
	{"properties", []export{xGetProperty, xSetProperty, xHasProperty, xDeleteProperty, xNewAtom}, func(ctx context.Context, vm *VM) error {
		return with(vm, ctx, trapped, func(p Value) error {
			if err := number(p.Get(ctx, Name("k")))(1); err != nil {
				return err
			}
			has, err1 := p.Has(ctx, Name("k"))
			gone, err2 := p.Delete(ctx, Name("k"))
			if !has || !gone {
				return fmt.Errorf("has %v, delete %v", has, gone)
			}
			return errors.Join(err1, err2, p.Set(ctx, Name("k"), vm.Int(1)))
		})
	}},
	{"keys by value", []export{xValueToAtom, xNewAtomUint32, xGetPropertyUint32}, func(ctx context.Context, vm *VM) error {
		return with(vm, ctx, "({toString() { hook(); return 'k' }})", func(key Value) error {
			return with(vm, ctx, "({k: 5, get 7() { hook(); return 6 }})", func(o Value) error {
				if err := number(o.Get(ctx, At(key)))(5); err != nil {
					return err
				}
				if has, err := o.Has(ctx, Index(7)); !has || err != nil {
					return fmt.Errorf("has 7: %v, %w", has, err)
				}
				return number(o.Get(ctx, Index(7)))(6)
			})
		})
	}},
	{"reflection", []export{xOwnNames, xFreePropertyEnum, xAtomToValue, xOwnProperty, xDefineProperty, xGetPrototype, xSetPrototype, xIsExtensible, xPreventExtensions}, func(ctx context.Context, vm *VM) error {
		return with(vm, ctx, trapped, func(p Value) error {
			names, err := p.OwnNames(ctx, false)
			if err != nil || len(names) != 1 {
				return fmt.Errorf("names %v: %w", names, err)
			}
			d, found, err := p.GetOwn(ctx, Name("k"))
			if err != nil || !found {
				return fmt.Errorf("descriptor %v: %w", found, err)
			}
			d.Free()
			defined, err1 := p.Define(ctx, Name("k"), Descriptor{Value: vm.Int(1), Configurable: Yes})
			proto, err2 := p.Prototype(ctx)
			extensible, err3 := p.Extensible(ctx)
			if err := errors.Join(err1, err2, err3); err != nil || !defined || !extensible {
				return fmt.Errorf("defined %v, extensible %v: %w", defined, extensible, err)
			}
			if err := errors.Join(p.SetPrototype(ctx, proto), proto.Free()); err != nil {
				return err
			}
			_, err = p.PreventExtensions(ctx)
			return err
		})
	}},
	{"conversions", []export{xToString, xToNumber, xToBool, xToCString, xToCStringUTF16, xNewString, xNewStringUTF16}, func(ctx context.Context, vm *VM) error {
		return with(vm, ctx, "({toString() { hook(); return 'text' }, valueOf() { hook(); return 9 }})", func(o Value) error {
			s, err1 := o.ToText(ctx)
			f, err2 := o.ToNumber(ctx)
			b, err3 := o.ToBool(ctx)
			if s != "text" || f != 9 || !b {
				return fmt.Errorf("%q, %v, %v: %w", s, f, b, errors.Join(err1, err2, err3))
			}
			u, err := vm.NewStringUTF16([]uint16{'a', 0xd800})
			if err != nil {
				return err
			}
			units, err := u.UTF16()
			if len(units) != 2 || units[1] != 0xd800 {
				return fmt.Errorf("units %x: %w", units, err)
			}
			return u.Free()
		})
	}},
	{"comparisons", []export{xInstanceOf, xStrictEqual, xSameValue}, func(ctx context.Context, vm *VM) error {
		return with(vm, ctx, "({[Symbol.hasInstance]() { hook(); return true }})", func(class Value) error {
			is, err1 := vm.Int(1).InstanceOf(ctx, class)
			same, err2 := class.SameValue(ctx, class)
			strict, err3 := class.StrictEquals(ctx, class)
			if !is || !same || !strict {
				return fmt.Errorf("%v, %v, %v: %w", is, same, strict, errors.Join(err1, err2, err3))
			}
			return nil
		})
	}},
	{"JSON", []export{xParseJSON, xStringify}, func(ctx context.Context, vm *VM) error {
		v, err := vm.ParseJSON(ctx, `{"a":[1]}`, "n.json")
		if err != nil {
			return err
		}
		_ = v.Free()
		return with(vm, ctx, "({toJSON() { hook(); return [7] }})", func(o Value) error {
			s, _, err := o.JSON(ctx, 0)
			if s != "[7]" {
				return fmt.Errorf("%q: %w", s, err)
			}
			return nil
		})
	}},
	{"makers", []export{xNewObject, xNewObjectProto, xNewArray, xNewArrayFrom, xNewSymbol, xNewBigInt64, xNewBigUint64, xNewDate, xNewProxy, xNewHostFunction, xDefineValue, xRunGC}, func(_ context.Context, vm *VM) error {
		s := vm.Scope()
		defer s.Close()
		o, err1 := vm.NewObject()
		_, err2 := vm.NewObjectProto(o)
		_, err3 := vm.NewArray()
		_, err4 := vm.NewArray(o, o)
		_, err5 := vm.NewSymbol("s", true)
		_, err6 := vm.NewBigInt(big.NewInt(-5))
		_, err7 := vm.NewBigInt(new(big.Int).SetUint64(1 << 63))
		_, err8 := vm.NewDate(time.UnixMilli(1))
		_, err9 := vm.NewProxy(o, o)
		f, release, err10 := vm.NewCallback("f", 0, func(context.Context, *Call) (Value, error) { return Value{}, nil })
		if err10 == nil {
			release()
			err10 = f.Free()
		}
		return errors.Join(err1, err2, err3, err4, err5, err6, err7, err8, err9, err10, vm.GC(vm.context()))
	}},
	{"errors", []export{xNewPlainError, xNewTypeError, xNewRangeError, xNewReferenceError, xNewSyntaxError}, func(_ context.Context, vm *VM) error {
		for _, name := range []string{"Error", "TypeError", "RangeError", "ReferenceError", "SyntaxError"} {
			v, err := vm.NewError(name, "m")
			if err != nil {
				return err
			}
			if err := v.Free(); err != nil {
				return err
			}
		}
		return nil
	}},
	{"buffers", []export{xNewArrayBuffer, xNewUint8Array, xArrayBuffer, xTypedArrayBuffer, xClassName}, func(ctx context.Context, vm *VM) error {
		s := vm.Scope()
		defer s.Close()
		_, err := vm.NewArrayBuffer([]byte{1})
		if err != nil {
			return err
		}
		u, err := vm.NewUint8Array([]byte{1, 2})
		if err != nil {
			return err
		}
		if b, err := u.Bytes(); err != nil || len(b) != 2 {
			return fmt.Errorf("%v: %w", b, err)
		}
		if name, err := u.ClassName(ctx); name != "Uint8Array" {
			return fmt.Errorf("%q: %w", name, err)
		}
		return nil
	}},
	{"proxy parts", []export{xProxyTarget, xProxyHandler}, func(ctx context.Context, vm *VM) error {
		return with(vm, ctx, trapped, func(p Value) error {
			target, err1 := p.ProxyTarget(ctx)
			handler, err2 := p.ProxyHandler(ctx)
			return errors.Join(err1, err2, target.Free(), handler.Free())
		})
	}},
	{"promises", []export{xNewPromise, xPromiseThen}, func(ctx context.Context, vm *VM) error {
		s := vm.Scope()
		defer s.Close()
		p, resolve, _, err := vm.NewPromise()
		if err != nil {
			return err
		}
		if _, err := p.Then(ctx, vm.Undefined(), vm.Undefined()); err != nil {
			return err
		}
		return with(vm, ctx, "({get then() { hook() }})", func(thenable Value) error {
			_, err := vm.Call(ctx, resolve, vm.Undefined(), thenable)
			return err
		})
	}},
	{"bridge", []export{xConstructAs, xDetach, xThrowOutOfMemory}, func(ctx context.Context, vm *VM) error {
		err := with(vm, ctx, "(class { constructor() { hook() } })", func(class Value) error {
			bits, err := vm.raw(class)
			if err != nil {
				return err
			}
			made, err := vm.runValue(ctx, xConstructAs, uint64(vm.cx), bits, bits, 0, 0)
			vm.release(made)
			return err
		})
		if err != nil {
			return err
		}
		err = with(vm, ctx, "new ArrayBuffer(8)", func(buffer Value) error {
			bits, err := vm.raw(buffer)
			if err != nil {
				return err
			}
			_, err = vm.run(ctx, xDetach, uint64(vm.cx), bits)
			return err
		})
		if err != nil {
			return err
		}
		if _, err := vm.run(ctx, xThrowOutOfMemory, uint64(vm.cx)); err != nil {
			return err
		}
		bits, err := vm.call(xGetException, uint64(vm.cx))
		vm.release(bits)
		return err
	}},
	{"rejection", []export{xPromiseHandled}, func(ctx context.Context, vm *VM) error {
		// The tracker is the hook, both when it is rejected and when it is marked.
		return with(vm, ctx, "Promise.reject(1)", Value.MarkHandled)
	}},
	{"exception", []export{xEval, xNewPlainError}, func(ctx context.Context, vm *VM) error {
		_, err := vm.Eval(ctx, "hook(); throw new TypeError('expected')", "n.js")
		if thrown := (*JSError)(nil); !errors.As(err, &thrown) || thrown.Message != "expected" {
			return fmt.Errorf("not the expected exception: %w", err)
		}
		return nil
	}},
}

// trapped is a Proxy whose every trap calls the host.
const trapped = `new Proxy({k: 1}, Object.fromEntries(Object.getOwnPropertyNames(Reflect).map(n => [n, (...a) => { hook(); return Reflect[n](...a) }])))`

// neverNested are exports that may reach guest code but are used only where no guest
// code can be active, each with the reason.
var neverNested = map[export]string{
	xInit:             "makes the runtime, before any script",
	xBoxedNumber:      "checks the layout of values, before any script",
	xExecuteJob:       "RunJobs refuses to run under a frame",
	xCompile:          "compiles in a VM that runs no script",
	xNewInternalError: "raises the uncatchable error of a dead VM; the limit tests nest it",
}

// number checks a numeric result and frees it.
func number(v Value, err error) func(want float64) error {
	return func(want float64) error {
		if err != nil {
			return err
		}
		if f, err := v.Float64(); err != nil || f != want {
			return fmt.Errorf("got %v, not %v: %w", f, want, err)
		}
		return v.Free()
	}
}

// with evaluates an expression and frees it after use.
func with(vm *VM, ctx context.Context, code string, use func(Value) error) error {
	v, err := vm.Eval(ctx, code, "n.js")
	if err != nil {
		return err
	}
	return errors.Join(use(v), v.Free())
}

// nester lets operations run under the imports that operations call.
type nester struct {
	vm   *VM
	path []int // operations still to nest, outermost first
	errs []error
	hits int // times that an import was reached with an operation left
}

func newNester(t testing.TB) *nester {
	n := &nester{vm: newVM(t, VMOptions{Limits: Limits{StackBytes: MaxStackBytes}})}
	define(t, n.vm, "hook", func(ctx context.Context, _ *Call) (Value, error) { return n.vm.Int(0), n.next(ctx) })
	modules := 0
	n.vm.SetModuleLoader(ModuleLoader{
		Normalize: func(ctx context.Context, _, specifier string) (string, error) {
			modules++
			return fmt.Sprintf("%s-%d", specifier, modules), n.next(ctx)
		},
		Load: func(ctx context.Context, _ string) (string, error) { return "export const x = 1", n.next(ctx) },
	})
	n.vm.OnRejection(func(ctx context.Context, r Rejection) {
		if err := n.next(ctx); err != nil {
			n.errs = append(n.errs, err)
		}
	})
	return n
}

// next runs the next operation of the path from within an import. The rest of the
// path is put back, so that each import of the operation above gets the same one.
func (n *nester) next(ctx context.Context) error {
	if len(n.path) == 0 {
		return nil
	}
	n.hits++
	rest := n.path
	n.path = rest[1:]
	err := operations[rest[0]].do(ctx, n.vm)
	n.path = rest
	if err != nil {
		err = fmt.Errorf("%s: %w", operations[rest[0]].name, err)
		n.errs = append(n.errs, err)
	}
	return err
}

// run nests the operations of a path and returns what went wrong.
func (n *nester) run(ctx context.Context, path []int) error {
	n.path, n.errs = path, nil
	sp := n.vm.sp.Get()
	_ = n.next(ctx) // recorded
	n.path = nil
	if n.vm.dead == nil && n.vm.sp.Get() != sp {
		n.errs = append(n.errs, fmt.Errorf("the stack pointer moved from %d to %d", sp, n.vm.sp.Get()))
	}
	if n.vm.depth != 0 {
		n.errs = append(n.errs, fmt.Errorf("the depth is %d", n.vm.depth))
	}
	return errors.Join(n.errs...)
}

func TestNesting_everyOperationUnderEveryImportOfEveryOther(t *testing.T) {
	n := newNester(t)
	handles := n.vm.Handles()
	for a := range operations {
		n.hits = 0
		for b := range operations {
			for _, path := range [][]int{{a, b}, {a, a, b}, {a, b, a}} {
				if err := n.run(t.Context(), path); err != nil {
					t.Fatalf("%s: %v", names(path), err)
				}
			}
			if err := n.vm.Dead(); err != nil {
				t.Fatalf("%s under %s killed the VM: %v", operations[b].name, operations[a].name, err)
			}
		}
		if _, err := n.vm.RunJobs(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
	}
	// Modules and thrown values are kept on purpose; nothing else may pile up.
	if left := n.vm.Handles() - handles; left > len(n.vm.held.ring)+3*len(operations)*len(operations) {
		t.Errorf("%d handles are left", left)
	}
	expect(t, n.vm, "[1, 2, 3].map(x => x * 2).join()", "2,4,6")
}

func names(path []int) (s string) {
	for i, p := range path {
		if i > 0 {
			s += " > "
		}
		s += operations[p].name
	}
	return s
}

func TestNesting_coversEveryExportThatMayReachGuestCode(t *testing.T) {
	covered := make(map[export]bool)
	for _, op := range operations {
		for _, x := range op.exports {
			covered[x] = true
		}
	}
	for x := leafEnd + 1; x < exportEnd; x++ {
		if _, never := neverNested[x]; covered[x] == never {
			t.Errorf("export %s: nested by an operation %v, excused %v", x, covered[x], never)
		}
	}
}

func TestNesting_operationsUseTheExportsTheyName(t *testing.T) {
	n := newNester(t)
	for i, op := range operations {
		if err := n.run(t.Context(), []int{i}); err != nil {
			t.Fatalf("%s: %v", op.name, err)
		}
		for _, x := range op.exports {
			used := false
			for depth := range n.vm.ex.pool {
				used = used || n.vm.ex.pool[depth][x] != nil
			}
			if !used {
				t.Errorf("%s does not enter %s", op.name, x)
			}
		}
	}
}

func FuzzNesting_longPaths(f *testing.F) {
	f.Add([]byte{0, 2, 4, 6, 1, 15, 3})
	f.Add([]byte{2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2})
	f.Add([]byte{4, 5, 6, 7, 8, 9, 14, 13, 16, 1, 0, 2})
	f.Fuzz(func(t *testing.T, raw []byte) {
		// Operations that call the host several times multiply, so paths are short.
		path := make([]int, 0, 12)
		cost := 1
		for _, b := range raw {
			op := int(b) % len(operations)
			switch operations[op].name {
			case "properties", "reflection":
				cost *= 12
			case "module":
				cost *= 3
			case "keys by value", "conversions":
				cost *= 2
			}
			if len(path) == cap(path) || cost > 1000 {
				break
			}
			path = append(path, op)
		}
		n := newNester(t)
		if err := n.run(t.Context(), path); err != nil {
			t.Errorf("%s: %v", names(path), err)
		}
	})
}
