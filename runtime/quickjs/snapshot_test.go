package quickjs

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func restore(t testing.TB, image *Image, opts VMOptions) *VM {
	t.Helper()
	vm, err := sharedEngine(t).Restore(context.Background(), image, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = vm.Close(context.Background()) })
	return vm
}

func TestSnapshot_restoresStateHandlesAndPendingJobs(t *testing.T) {
	vm := newVM(t, VMOptions{})
	kept := eval(t, vm, `globalThis.state = {n: 1, m: new Map([["k", [1, 2]]]), big: new Uint8Array(3 << 20).fill(7)};
		Promise.resolve(5).then(x => { state.later = x }); (a => state.n + a)`)
	image, err := vm.Snapshot(map[string]Value{"fn": kept})
	if err != nil {
		t.Fatal(err)
	}
	eval(t, vm, "state.n = 1000")
	if err := kept.Free(); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		copied := restore(t, image, VMOptions{})
		expect(t, copied, "state.n + '|' + state.m.get('k') + '|' + state.big[3000000] + '|' + state.later", "1|1,2|7|undefined")
		if _, err := copied.RunJobs(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		expect(t, copied, "state.later", "5")
		fn := must(t)(copied.Imported("fn"))
		for range 3 { // the image's own reference outlives every handle of it
			again := must(t)(copied.Imported("fn"))
			got := must(t)(copied.Call(t.Context(), again, copied.Undefined(), copied.Int(i)))
			if f, _ := got.Float64(); int(f) != 1+i {
				t.Errorf("the kept function returned %v", f)
			}
			if err := again.Free(); err != nil {
				t.Fatal(err)
			}
		}
		if !fn.Alive() {
			t.Error("the handle ended")
		}
		eval(t, copied, "state.n = -1; globalThis.more = Array.from({length: 1e4}, (_, i) => ({i})); 1")
		if _, err := copied.Imported("other"); err == nil || !strings.Contains(err.Error(), `"fn"`) {
			t.Errorf("a value that was not kept: %v", err)
		}
	}
	expect(t, vm, "state.n", "1000")
}

func TestSnapshot_changesNothingInTheVM(t *testing.T) {
	vm := newVM(t, VMOptions{})
	o := eval(t, vm, "new Uint8Array(1 << 20)")
	before := memoryUsed(t, vm)
	for range 20 {
		if _, err := vm.Snapshot(map[string]Value{"o": o}); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.Free(); err != nil {
		t.Fatal(err)
	}
	if after := memoryUsed(t, vm); after > before-1<<20 {
		t.Errorf("%d bytes after the buffer is gone, %d before", after, before)
	}
}

func TestRestore_bindsHostFunctionsByName(t *testing.T) {
	vm := newVM(t, VMOptions{})
	answer := func(n int) HostFunc {
		return func(_ context.Context, c *Call) (Value, error) { return c.VM.Int(n), nil }
	}
	define(t, vm, "a", answer(1))
	define(t, vm, "b", answer(2))
	eval(t, vm, "globalThis.tries = f => { try { return f() } catch (e) { return e.message } }")
	image, err := vm.Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	copied := restore(t, image, VMOptions{Functions: map[string]HostFunc{"a": answer(10)}})
	expect(t, copied, "tries(a)", "10")
	expect(t, copied, "tries(b)", `host function "b" is not bound: it was released, or the VM was restored without it`)
	copied.Bind("b", answer(20))
	define(t, copied, "c", answer(30))
	expect(t, copied, "[tries(a), tries(b), tries(c), a.name, b.name].join()", "10,20,30,a,b")
	expect(t, vm, "[a(), b()].join()", "1,2")
	// An image of a restored VM can be restored in turn.
	image, err = copied.Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	again := restore(t, image, VMOptions{Functions: map[string]HostFunc{"a": answer(100), "c": answer(300)}})
	expect(t, again, "[tries(a), tries(c)].join()", "100,300")
}

func TestRestore_appliesTheNewVMsLimits(t *testing.T) {
	vm := newVM(t, VMOptions{})
	image, err := vm.Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	small := restore(t, image, VMOptions{Limits: Limits{MemoryBytes: 4 << 20, StackBytes: MinStackBytes}})
	expect(t, small, "(() => { try { "+catchable["recursion"]+" } catch (e) { return e.name } })()", "RangeError")
	if _, err := small.Eval(t.Context(), "new ArrayBuffer(8e6)", "x.js"); !isLimit(small, err, LimitMemory) {
		t.Errorf("memory: %v", err)
	}
	timed := restore(t, image, VMOptions{Limits: Limits{Timeout: short}})
	if _, err := timed.Eval(t.Context(), "for (;;);", "x.js"); !isLimit(timed, err, LimitTime) {
		t.Errorf("time: %v", err)
	}
	eval(t, vm, "globalThis.big = new Uint8Array(40 << 20); 1")
	if image, err = vm.Snapshot(nil); err != nil {
		t.Fatal(err)
	}
	if image.Size() < 40<<20 {
		t.Errorf("the image has %d bytes", image.Size())
	}
	if _, err := sharedEngine(t).Restore(t.Context(), image, VMOptions{Limits: Limits{MemoryBytes: 2 << 20}}); err == nil || !strings.Contains(err.Error(), "memory") {
		t.Errorf("an image larger than the limit: %v", err)
	}
}

func TestRestore_randomNumbersDiffer(t *testing.T) {
	vm := newVM(t, VMOptions{})
	image, err := vm.Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{text(t, vm, "Math.random()"): true}
	for range 20 {
		seen[text(t, restore(t, image, VMOptions{}), "Math.random()")] = true
	}
	if len(seen) != 21 {
		t.Errorf("21 VMs drew %d different numbers", len(seen))
	}
	seed := bytes.Repeat([]byte{1, 2, 3, 4, 5, 6, 7, 8}, 2)
	pinned := func() string {
		return text(t, restore(t, image, VMOptions{Random: bytes.NewReader(seed)}), "[Math.random(), Math.random()].join()")
	}
	if a, b := pinned(), pinned(); a != b {
		t.Errorf("the same seed drew %s and %s", a, b)
	}
	if got := text(t, restore(t, image, VMOptions{Random: bytes.NewReader(make([]byte, 8))}), "Math.random() !== Math.random()"); got != "true" {
		t.Error("a seed of zeros is a fixed point")
	}
	if _, err := sharedEngine(t).Restore(t.Context(), image, VMOptions{Random: bytes.NewReader(nil)}); err == nil {
		t.Error("a source of randomness that ends is no error")
	}
}

func TestRandomState_isFoundByWhatItPredicts(t *testing.T) {
	offset, err := sharedEngine(t).randomOffset(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	vm := newVM(t, VMOptions{})
	for range 5 {
		state, _ := vm.mem.u64(vm.cx + offset)
		_, want := xorshift(state)
		if got, err := eval(t, vm, "Math.random()").Float64(); got != want || err != nil {
			t.Errorf("drew %v, not %v: %v", got, want, err)
		}
	}
}

func TestRestore_clocksGoOn(t *testing.T) {
	now := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	vm := newVM(t, VMOptions{Now: clock})
	image, err := vm.Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Hour)
	copied := restore(t, image, VMOptions{Now: clock})
	expect(t, copied, "performance.now() + ' ' + (performance.timeOrigin + performance.now() - Date.now()) + ' ' + new Date().getUTCHours()", "3600000 0 1")
}

func TestSnapshot_isRefusedUnderACallAndAfterDeath(t *testing.T) {
	vm := newVM(t, VMOptions{})
	var busy error
	define(t, vm, "snap", func(context.Context, *Call) (Value, error) {
		_, busy = vm.Snapshot(nil)
		return Value{}, nil
	})
	eval(t, vm, "snap()")
	if !errors.Is(busy, ErrBusy) {
		t.Errorf("under a call: %v", busy)
	}
	if _, err := vm.Snapshot(map[string]Value{"x": {}}); !errors.Is(err, ErrStale) {
		t.Errorf("a stale value: %v", err)
	}
	vm.SetTimeout(short)
	_, _ = vm.Eval(t.Context(), "for (;;);", "x.js")
	if _, err := vm.Snapshot(nil); !errors.Is(err, ErrDead) {
		t.Errorf("of a dead VM: %v", err)
	}
}

func TestRestore_refusesAnImageOfAnotherEngine(t *testing.T) {
	vm := newVM(t, VMOptions{})
	image, err := vm.Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	image.hash = strings.Repeat("0", 64)
	if _, err := sharedEngine(t).Restore(t.Context(), image, VMOptions{}); err == nil || !strings.Contains(err.Error(), "engine 000000000000") {
		t.Errorf("error is %v", err)
	}
}

func TestRestore_thrownErrorsAndModulesWorkThere(t *testing.T) {
	vm := newVM(t, VMOptions{})
	eval(t, vm, "function thrower() { null.x }")
	image, err := vm.Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	copied := restore(t, image, VMOptions{})
	_, err = copied.Eval(t.Context(), "thrower()", "x.js")
	if thrown := (*JSError)(nil); !errors.As(err, &thrown) || !strings.Contains(thrown.Stack, "thrower (test.js:1:") {
		t.Errorf("error is %v", err)
	}
	copied.SetModuleLoader(ModuleLoader{Load: func(context.Context, string) (string, error) { return "export default 8", nil }})
	ns := must(t)(copied.Await(t.Context(), must(t)(copied.EvalModule(t.Context(), "export { default } from 'm'", "main")), 0))
	if f, err := must(t)(ns.Get(t.Context(), Name("default"))).Float64(); f != 8 || err != nil {
		t.Errorf("default %v, %v", f, err)
	}
}
