package quickjs

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

func TestFunction_hasNameLengthThisAndArguments(t *testing.T) {
	vm := newVM(t, VMOptions{})
	f := must(t)(vm.NewFunction("Ünïcode name", 3, func(_ context.Context, c *Call) (Value, error) {
		var parts []string
		for _, v := range append([]Value{c.This}, c.Args...) {
			s, err := v.ToText(t.Context())
			if err != nil {
				return Value{}, err
			}
			parts = append(parts, s)
		}
		if missing := c.Arg(99); missing.Kind() != Undefined {
			t.Error("an argument that was not passed is not undefined")
		}
		return vm.NewString(c.Name + ":" + strings.Join(parts, ","))
	}))
	setGlobal(t, vm, "f", f)
	expect(t, vm, "f.name + f.length + typeof f", "Ünïcode name3function")
	expect(t, vm, "f.call('self', 1, null, undefined, 'é\\0')", "Ünïcode name:self,1,null,undefined,é\x00")
	expect(t, vm, "f.apply(1, Array(40).fill(7)).length", fmt.Sprint(len("Ünïcode name")-2+len(":1")+40*2))
	expect(t, vm, "try { new f } catch (e) { e.name }", "TypeError")
	expect(t, vm, "Object.getOwnPropertyDescriptor(f, 'name').writable", "false")
}

func TestFunction_resultIsTakenOver(t *testing.T) {
	vm := newVM(t, VMOptions{})
	var result Value
	kept := eval(t, vm, "({kept: 1})")
	define(t, vm, "make", func(context.Context, *Call) (Value, error) {
		var err error
		result, err = vm.NewObject()
		return result, err
	})
	define(t, vm, "keep", func(context.Context, *Call) (Value, error) { return kept.Dup() })
	define(t, vm, "same", func(_ context.Context, c *Call) (Value, error) { return c.Arg(0), nil })
	define(t, vm, "self", func(_ context.Context, c *Call) (Value, error) { return c.This, nil })
	define(t, vm, "none", func(context.Context, *Call) (Value, error) { return Value{}, nil })
	expect(t, vm, "typeof make()", "object")
	if result.Alive() {
		t.Error("the result is still the host's")
	}
	expect(t, vm, "for (let i = 0; i < 1000; i++) keep(); keep().kept", "1")
	expect(t, vm, "const o = {}; same(o) === o && self.call(o) === o", "true")
	expect(t, vm, "none()", "undefined")
	if !kept.Alive() {
		t.Error("a duplicate's original ended")
	}
}

func TestFunction_leaksNothingOverManyCalls(t *testing.T) {
	vm := newVM(t, VMOptions{})
	define(t, vm, "f", func(_ context.Context, c *Call) (Value, error) {
		s := vm.Scope()
		defer s.Close()
		v, err := c.Arg(0).Get(t.Context(), Name("x"))
		if err != nil {
			return Value{}, err
		}
		return s.Keep(v), nil
	})
	fn := eval(t, vm, "(function() { for (let i = 0; i < 1000; i++) { f({x: {i}}); try { f() } catch {} } })")
	run := func() {
		t.Helper()
		if _, err := vm.Call(t.Context(), fn, vm.Undefined()); err != nil {
			t.Fatal(err)
		}
	}
	run()
	handles, memory := vm.Handles(), memoryUsed(t, vm)
	for range 5 {
		run()
	}
	if n := vm.Handles(); n != handles {
		t.Errorf("%d handles, %d before", n, handles)
	}
	if m := memoryUsed(t, vm); m > memory+4096 {
		t.Errorf("%d bytes, %d before", m, memory)
	}
}

func memoryUsed(t testing.TB, vm *VM) uint64 {
	t.Helper()
	if err := vm.GC(t.Context()); err != nil {
		t.Fatal(err)
	}
	n, err := vm.MemoryUsed()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestFunction_errorThrowsInTheGuest(t *testing.T) {
	vm := newVM(t, VMOptions{})
	var fail error
	define(t, vm, "f", func(context.Context, *Call) (Value, error) { return Value{}, fail })
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.New("plain"), "Error|Error: plain"},
		{Throw("TypeError", "bad %d", 7), "TypeError|TypeError: bad 7"},
		{Throw("RangeError", "r"), "RangeError|RangeError: r"},
		{Throw("ReferenceError", "r"), "ReferenceError|ReferenceError: r"},
		{Throw("SyntaxError", "s"), "SyntaxError|SyntaxError: s"},
		{Throw("AbortError", "a"), "Error|AbortError: a"},
		{fmt.Errorf("wrapped: %w", Throw("TypeError", "inner")), "TypeError|TypeError: inner"},
		{Throw("", "no name"), "Error|Error: no name"},
		{Throw("Error", "%s", strings.Repeat("é%s", 500)), "Error|Error: " + strings.Repeat("é%s", 500)},
	} {
		fail = c.err
		expect(t, vm, "try { f() } catch (e) { e.constructor.name + '|' + e + (typeof e.stack === 'string' ? '' : ' without a stack') }", c.want)
	}
	fail = Throw("TypeError", "x")
	_, err := vm.Eval(t.Context(), "function outer() { f() }\nouter()", "where.js")
	thrown := (*JSError)(nil)
	if !errors.As(err, &thrown) || !strings.Contains(thrown.Stack, "outer (where.js:1:") {
		t.Errorf("the stack does not name the caller: %v", err)
	}
}

func TestFunction_rethrowsTheVeryValue(t *testing.T) {
	vm := newVM(t, VMOptions{})
	define(t, vm, "f", func(ctx context.Context, c *Call) (Value, error) {
		_, err := vm.Call(ctx, c.Arg(0), vm.Undefined())
		return Value{}, fmt.Errorf("through the host: %w", err)
	})
	for _, source := range []string{"new TypeError('a')", "{custom: 1}", "'text'", "0", "undefined", "null", "Symbol.for('s')", "new Proxy(new Error, {get() { throw 1 }})"} {
		expect(t, vm, "(() => { const x = "+source+"; try { f(() => { throw x }) } catch (e) { return e === x } })()", "true")
	}
	expect(t, vm, "(() => { const x = new Error; try { f(() => f(() => f(() => { throw x }))) } catch (e) { return e === x } })()", "true")
}

func TestException_isReadWithoutRunningGuestCode(t *testing.T) {
	vm := newVM(t, VMOptions{})
	for _, c := range []struct{ code, name, message string }{
		{"throw new TypeError('m')", "TypeError", "m"},
		{"class Custom extends Error {}; Custom.prototype.name = 'Custom'; throw new Custom('c')", "Custom", "c"},
		{"throw Object.defineProperty(new Error('m'), 'name', {get() { ran = 1 }})", "Error", "m"},
		{"throw Object.defineProperty(new Error, 'message', {get() { ran = 1 }})", "Error", ""},
		{"throw Object.setPrototypeOf(new Error('p'), new Proxy({}, {get() { ran = 1 }, getPrototypeOf() { ran = 1 }}))", "Error", "p"},
		{"throw 'text\\0'", "", "text\x00"},
		{"throw 42", "", "42"},
		{"throw null", "", "null"},
		{"throw undefined", "", "undefined"},
		{"throw Symbol('s')", "", "a symbol"},
		{"throw {message: 'like an error'}", "", "like an error"},
		{"throw {get message() { ran = 1 }}", "", "an object that is not an Error"},
		{"throw {toString() { ran = 1 }}", "", "an object that is not an Error"},
		{"throw new Proxy({}, {getOwnPropertyDescriptor() { throw 1 }})", "", "an object that is not an Error"},
	} {
		_, err := vm.Eval(t.Context(), "(() => { "+c.code+" })()", "x.js")
		thrown := (*JSError)(nil)
		if !errors.As(err, &thrown) || thrown.Name != c.name || thrown.Message != c.message {
			t.Errorf("%s: %#v", c.code, err)
		}
	}
	expect(t, vm, "typeof ran", "undefined")
}

func TestException_stackSurvivesAGuestThatReplacesIt(t *testing.T) {
	vm := newVM(t, VMOptions{})
	eval(t, vm, "Object.defineProperty(Error.prototype, 'stack', {get() { throw 'replaced' }})")
	_, err := vm.Eval(t.Context(), "function here() { null.x }\nhere()", "s.js")
	thrown := (*JSError)(nil)
	if !errors.As(err, &thrown) || !strings.Contains(thrown.Stack, "here (s.js:1:") {
		t.Errorf("stack %q", thrown.Stack)
	}
	if got := (&JSError{Name: "TypeError", Message: "m"}).Error() + (&JSError{Name: "E"}).Error() + (&JSError{Message: "1"}).Error(); got != "TypeError: mEuncaught 1" {
		t.Errorf("texts %q", got)
	}
}

func TestException_valuesOfForgottenErrorsDoNotPileUp(t *testing.T) {
	vm := newVM(t, VMOptions{})
	first := (*JSError)(nil)
	for i := range 1000 {
		_, err := vm.Eval(t.Context(), "throw new Error('x')", "x.js")
		if i == 0 && !errors.As(err, &first) {
			t.Fatal(err)
		}
	}
	if n := vm.Handles(); n > 80 {
		t.Errorf("%d handles are alive", n)
	}
	if first.Value.Alive() {
		t.Error("the first exception's value is still held")
	}
	// An error whose value is gone can still be thrown again, as a new one.
	define(t, vm, "f", func(context.Context, *Call) (Value, error) { return Value{}, first })
	expect(t, vm, "try { f() } catch (e) { String(e) }", "Error: x")
}

func TestPanic_inAHostFunctionKillsTheVMAndNothingElse(t *testing.T) {
	vm, other := newVM(t, VMOptions{}), newVM(t, VMOptions{})
	define(t, vm, "bad", func(_ context.Context, call *Call) (Value, error) {
		return call.Args[len(call.Args)], nil
	})
	_, err := vm.Eval(t.Context(), "try { bad() } catch (e) { globalThis.caught = e } finally { globalThis.also = 1 } 'went on'", "x.js")
	fault := (*HostFault)(nil)
	if !errors.As(err, &fault) || fault.Function != "bad" || !strings.Contains(string(fault.Stack), "function_test.go") {
		t.Fatalf("error is %v", err)
	}
	if _, err := vm.Eval(t.Context(), "1", "x.js"); !errors.Is(err, ErrDead) || !errors.As(err, &fault) {
		t.Errorf("next eval: %v", err)
	}
	expect(t, other, "1+1", "2")
}

func TestPanic_manyTimesInOneProcess(t *testing.T) {
	e := sharedEngine(t)
	for range 50 {
		vm, err := e.NewVM(t.Context(), VMOptions{})
		if err != nil {
			t.Fatal(err)
		}
		define(t, vm, "bad", func(context.Context, *Call) (Value, error) { panic("again") })
		define(t, vm, "nest", func(ctx context.Context, c *Call) (Value, error) { return vm.Call(ctx, c.Arg(0), vm.Undefined()) })
		sp := vm.sp.Get()
		if _, err := vm.Eval(t.Context(), "nest(() => nest(() => [1].map(() => bad())))", "x.js"); err == nil {
			t.Fatal("no error")
		}
		if vm.sp.Get() != sp {
			t.Fatalf("the stack pointer moved from %d to %d", sp, vm.sp.Get())
		}
		if err := vm.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestGoexit_inAHostFunctionKillsTheVM(t *testing.T) {
	vm := newVM(t, VMOptions{})
	define(t, vm, "end", func(context.Context, *Call) (Value, error) {
		runtime.Goexit()
		return Value{}, nil
	})
	done := make(chan struct{})
	go func() { // ends in the host function, which is the point
		defer close(done)
		_, _ = vm.Eval(context.Background(), "end()", "x.js")
	}()
	<-done
	if fault := (*HostFault)(nil); !errors.As(vm.Dead(), &fault) {
		t.Errorf("the VM is dead of %v", vm.Dead())
	}
}

func TestFunction_releasedOrUnknownThrows(t *testing.T) {
	vm := newVM(t, VMOptions{})
	f, release, err := vm.NewCallback("once", 0, func(context.Context, *Call) (Value, error) { return vm.Int(1), nil })
	if err != nil {
		t.Fatal(err)
	}
	setGlobal(t, vm, "once", f)
	expect(t, vm, "once()", "1")
	release()
	expect(t, vm, "try { once() } catch (e) { String(e) }", `TypeError: host function "once" is not bound: it was released, or the VM was restored without it`)
}

func TestCall_receiverArgumentsAndConstructors(t *testing.T) {
	vm := newVM(t, VMOptions{})
	f := eval(t, vm, "(function(...a) { return [this.n, ...a].join() })")
	this := eval(t, vm, "({n: 'this'})")
	for _, n := range []int{0, 1, 8, 9, scratchText / 8, scratchText/8 + 1, 300} {
		args := make([]Value, n)
		for i := range args {
			args[i] = vm.Int(1)
		}
		got, err := must(t)(vm.Call(t.Context(), f, this, args...)).Text()
		if want := "this" + strings.Repeat(",1", n); got != want || err != nil {
			t.Errorf("%d arguments: %q, %v", n, got, err)
		}
	}
	date := must(t)(vm.Construct(t.Context(), eval(t, vm, "Date"), vm.Int(0)))
	if !date.IsDate() {
		t.Error("new Date is not a Date")
	}
	if s, err := must(t)(vm.CallMethod(t.Context(), date, "toISOString")).Text(); s != "1970-01-01T00:00:00.000Z" || err != nil {
		t.Errorf("method: %q, %v", s, err)
	}
	thrown := (*JSError)(nil)
	if _, err := vm.Construct(t.Context(), eval(t, vm, "(() => 1)")); !errors.As(err, &thrown) || thrown.Name != "TypeError" {
		t.Errorf("constructing an arrow function: %v", err)
	}
	if _, err := vm.Call(t.Context(), vm.Int(1), vm.Undefined()); !errors.As(err, &thrown) || thrown.Name != "TypeError" {
		t.Errorf("calling a number: %v", err)
	}
}
