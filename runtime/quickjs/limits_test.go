package quickjs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// catchable are the ways to exhaust the guest's stack. The frames they use differ
// in size, so a stack that is safe for one is not for another. levels is a depth
// that the smallest frames need, see levelsFor.
var catchable = map[string]string{
	"recursion":       "(function f() { return f() + 1 })()",
	"parser nesting":  "eval('!'.repeat(levels) + '1')",
	"parentheses":     "eval('('.repeat(5000) + '1' + ')'.repeat(5000))",
	"function source": "eval('(function(){return '.repeat(20000) + '1' + '})'.repeat(20000))",
	"JSON nesting":    "JSON.parse('['.repeat(levels) + ']'.repeat(levels))",
	"JSON printing":   "{ let a = []; for (let i = 0; i < 50000; i++) a = [a]; JSON.stringify(a) }",
	"joins":           "{ let a = []; for (let i = 0; i < 50000; i++) a = [a]; String(a) }",
	"proxies":         "{ let p = {}; for (let i = 0; i < 50000; i++) p = new Proxy(p, {}); p.x }",
	"sorting":         "[2, 1].sort(function g() { return [2, 1].sort(g) })",
	"getters":         "({ get x() { return this.x } }).x",
	"constructors":    "{ class A { constructor() { new A } } new A }",
	"generators":      "{ function* g() { yield* g() } [...g()] }",
	"regular expr.":   "new RegExp('(?='.repeat(20000) + 'a' + ')'.repeat(20000)).exec('a')",
}

// levelsFor declares how deep to nest so that a stack overflows at 9 bytes a level.
func levelsFor(kib uint32) string { return fmt.Sprintf("const levels = %d;", kib*1024/9) }

func TestStack_overflowIsCatchableAtEverySize(t *testing.T) {
	e := sharedEngine(t)
	for _, kib := range []uint32{64, 128, 256, 512} {
		t.Run(fmt.Sprintf("%d KiB", kib), func(t *testing.T) {
			vm := newVMOf(t, e, VMOptions{Limits: Limits{StackBytes: kib << 10}})
			eval(t, vm, levelsFor(kib))
			for name, code := range catchable {
				got := text(t, vm, "(() => { try { "+code+"; return 'went through' } catch (e) { return e.constructor.name } })()")
				if got != "RangeError" && got != "SyntaxError" {
					t.Errorf("%s: %s", name, got)
				}
			}
			expect(t, vm, "[3, 1, 2].sort().map(x => x * 2).join()", "2,4,6")
		})
	}
}

func TestStack_twoHundredOverflowsInARowStayClean(t *testing.T) {
	e := sharedEngine(t)
	for _, kib := range []uint32{64, 128, 256, 512} {
		for _, name := range []string{"recursion", "parser nesting", "JSON nesting"} {
			t.Run(fmt.Sprintf("%s at %d KiB", name, kib), func(t *testing.T) {
				vm := newVMOf(t, e, VMOptions{Limits: Limits{StackBytes: kib << 10}})
				eval(t, vm, levelsFor(kib))
				sp := vm.sp.Get()
				code := "(() => { try { " + catchable[name] + " } catch (e) { return e.constructor.name } })()"
				for i := range 200 {
					if got := text(t, vm, code); got != "RangeError" && got != "SyntaxError" {
						t.Fatalf("round %d: %s", i, got)
					}
				}
				if vm.sp.Get() != sp {
					t.Errorf("the stack pointer moved from %d to %d", sp, vm.sp.Get())
				}
				expect(t, vm, "1 + 1", "2")
			})
		}
	}
}

func TestStack_overflowReachesTheHostAsARangeError(t *testing.T) {
	vm := newVM(t, VMOptions{})
	_, err := vm.Eval(t.Context(), catchable["recursion"], "x.js")
	if thrown := (*JSError)(nil); !errors.As(err, &thrown) || thrown.Name != "RangeError" {
		t.Errorf("error is %v", err)
	}
	if vm.Dead() != nil {
		t.Errorf("the VM is dead of %v", vm.Dead())
	}
	if _, err = vm.ParseJSON(t.Context(), strings.Repeat("[", 200000), "x.json"); err == nil {
		t.Error("nested JSON parsed by the host is no error")
	}
	expect(t, vm, "1", "1")
}

// isLimit reports whether err is a limit of that kind, and the VM dead of it.
func isLimit(vm *VM, err error, kind LimitKind) bool {
	limit := (*LimitError)(nil)
	if !errors.As(err, &limit) || limit.Kind != kind {
		return false
	}
	_, again := vm.Eval(context.Background(), "1", "x.js")
	return errors.Is(again, ErrDead) && errors.As(again, &limit) && limit.Kind == kind
}

func TestMemory_limitCountsBuffers(t *testing.T) {
	vm, other := newVM(t, VMOptions{Limits: Limits{MemoryBytes: 64 << 20}}), newVM(t, VMOptions{})
	_, err := vm.Eval(t.Context(), "globalThis.kept = []; for (let i = 0; i < 300; i++) kept.push(new Uint8Array(512 * 1024).fill(1)); 'all fit'", "x.js")
	if !isLimit(vm, err, LimitMemory) {
		t.Errorf("error is %v", err)
	}
	expect(t, other, "globalThis.kept = []; for (let i = 0; i < 20; i++) kept.push(new Uint8Array(512 * 1024)); kept.length", "20")
}

func TestMemory_limitKillsHoweverItIsReached(t *testing.T) {
	e := sharedEngine(t)
	for name, code := range map[string]string{
		"one large buffer":      "new ArrayBuffer(1e8)",
		"small objects":         "for (const a = [];;) a.push({})",
		"a long string":         "'x'.repeat(2 ** 28)",
		"caught":                "try { new ArrayBuffer(1e8) } catch {} 1",
		"in a promise executor": "new Promise(() => { new ArrayBuffer(1e8) }).catch(() => {}); 1",
		"in an async function":  "(async () => { new ArrayBuffer(1e8) })().catch(() => {}); 1",
		"a regular expression":  "/^(?:(a)|b)*$/.exec('ab'.repeat(4000000))",
		"a closure":             "{ let f = null; for (;;) { const g = f; f = () => g } }",
		"a map":                 "{ const m = new Map; for (let i = 0;; i++) m.set('k' + i, i) }",
	} {
		vm := newVMOf(t, e, VMOptions{Limits: Limits{MemoryBytes: 4 << 20, Timeout: generous}})
		if _, err := vm.Eval(t.Context(), code, "x.js"); !isLimit(vm, err, LimitMemory) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMemory_hostDataThatDoesNotFitIsTheLimitToo(t *testing.T) {
	for name, give := range map[string]func(vm *VM) error{
		"source": func(vm *VM) error {
			_, err := vm.Eval(t.Context(), strings.Repeat(" ", 64<<20), "x.js")
			return err
		},
		"bytes": func(vm *VM) error {
			_, err := vm.NewArrayBuffer(make([]byte, 64<<20))
			return err
		},
		"string": func(vm *VM) error {
			_, err := vm.NewString(strings.Repeat("a", 12<<20))
			return err
		},
	} {
		vm := newVM(t, VMOptions{Limits: Limits{MemoryBytes: 8 << 20}})
		if err := give(vm); !isLimit(vm, err, LimitMemory) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTime_limitStopsScriptsThatNeverEnd(t *testing.T) {
	e := sharedEngine(t)
	for name, code := range map[string]string{
		"a loop":              "for (;;);",
		"a loop that catches": "for (;;) try { for (;;); } catch {} finally { for (;;); }",
		"an async function":   "(async () => { for (;;); })().catch(() => {})",
		"a promise executor":  "new Promise(() => { for (;;); }).catch(() => {}); for (;;);",
		"a regular expr.":     "/^(a+)+$/.exec('a'.repeat(40) + 'b')",
		"a comparison":        "[2, 1].sort(() => { for (;;); })",
		"a getter":            "({ get x() { for (;;); } }).x",
		"prepareStackTrace":   "Error.prepareStackTrace = () => { for (;;); }; null.x",
	} {
		vm := newVMOf(t, e, VMOptions{Limits: Limits{Timeout: short}})
		if _, err := vm.Eval(t.Context(), code, "x.js"); !isLimit(vm, err, LimitTime) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTime_limitAppliesToEveryWayIn(t *testing.T) {
	e := sharedEngine(t)
	for name, enter := range map[string]func(vm *VM) error{
		"call": func(vm *VM) error {
			fn := eval(t, vm, "(() => { for (;;); })")
			vm.SetTimeout(short)
			_, err := vm.Call(t.Context(), fn, vm.Undefined())
			return err
		},
		"getter": func(vm *VM) error {
			o := eval(t, vm, "({ get x() { for (;;); } })")
			vm.SetTimeout(short)
			_, err := o.Get(t.Context(), Name("x"))
			return err
		},
		"conversion": func(vm *VM) error {
			o := eval(t, vm, "({ toString() { for (;;); } })")
			vm.SetTimeout(short)
			_, err := o.ToText(t.Context())
			return err
		},
		"JSON": func(vm *VM) error {
			o := eval(t, vm, "({ toJSON() { for (;;); } })")
			vm.SetTimeout(short)
			_, _, err := o.JSON(t.Context(), 0)
			return err
		},
		"job": func(vm *VM) error {
			eval(t, vm, "Promise.resolve().then(() => { for (;;); }); 1")
			vm.SetTimeout(short)
			_, err := vm.RunJobs(t.Context(), 0)
			return err
		},
		"module": func(vm *VM) error {
			vm.SetTimeout(short)
			_, err := vm.EvalModule(t.Context(), "for (;;);", "m")
			return err
		},
	} {
		vm := newVMOf(t, e, VMOptions{})
		if err := enter(vm); !isLimit(vm, err, LimitTime) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTime_ofTheHostDoesNotCount(t *testing.T) {
	vm := newVM(t, VMOptions{Limits: Limits{Timeout: time.Minute}})
	now := time.Now()
	vm.clock.now = func() time.Time { return now }
	define(t, vm, "slow", func(ctx context.Context, _ *Call) (Value, error) {
		now = now.Add(time.Hour)
		return vm.Eval(ctx, "1", "nested.js")
	})
	const poll = "for (let i = 0; i < 50000; i++);" // long enough for the engine to ask
	expect(t, vm, "let n = 0; for (let i = 0; i < 3; i++) n += slow(); "+poll+" n", "3")
	// The time of the guest counts, wherever in the call it was spent.
	vm.clock.now = func() time.Time {
		now = now.Add(time.Minute / 2)
		return now
	}
	if _, err := vm.Eval(t.Context(), "slow(); slow(); "+poll, "x.js"); !isLimit(vm, err, LimitTime) {
		t.Errorf("error is %v", err)
	}
	vm.SetTimeout(0)
	if vm.Limits().Timeout != 0 {
		t.Error("the limit is still there")
	}
}

func TestLimit_isStickyThroughHostFunctionsThatCatchIt(t *testing.T) {
	vm := newVM(t, VMOptions{})
	var inner, after error
	define(t, vm, "guard", func(ctx context.Context, c *Call) (Value, error) {
		_, inner = vm.Call(ctx, c.Arg(0), vm.Undefined())
		_, after = vm.Eval(ctx, "1", "x.js")
		return vm.Int(1), nil // pretends that all is well
	})
	vm.SetTimeout(short)
	_, err := vm.Eval(t.Context(), "globalThis.went = 0; try { guard(() => { for (;;); }) } catch {} went = 1; guard(() => {}); went = 2; 'went on'", "x.js")
	if limit := (*LimitError)(nil); !errors.As(inner, &limit) || limit.Kind != LimitTime {
		t.Errorf("the nested call: %v", inner)
	}
	if !errors.Is(after, ErrDead) {
		t.Errorf("another call by the host function: %v", after)
	}
	if !isLimit(vm, err, LimitTime) {
		t.Errorf("the outer call: %v", err)
	}
}

func TestContext_endedBeforeStartsNothing(t *testing.T) {
	vm := newVM(t, VMOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := vm.Eval(ctx, "globalThis.ran = 1", "x.js"); !errors.Is(err, context.Canceled) || vm.Dead() != nil {
		t.Errorf("error is %v, dead of %v", err, vm.Dead())
	}
	expect(t, vm, "typeof ran", "undefined")
}

func TestContext_cancelledWhileGuestCodeRuns(t *testing.T) {
	for _, interruptible := range []bool{false, true} {
		e := sharedEngine(t)
		if interruptible {
			e = openInterruptible(t)
		}
		vm := newVMOf(t, e, VMOptions{})
		ctx, cancel := context.WithCancel(t.Context())
		define(t, vm, "cancel", func(context.Context, *Call) (Value, error) {
			cancel()
			return Value{}, nil
		})
		_, err := vm.Eval(ctx, "cancel(); for (;;);", "x.js")
		if !isLimit(vm, err, LimitCancelled) || !errors.Is(err, context.Canceled) {
			t.Errorf("interruptible %v: %v", interruptible, err)
		}
	}
}

func TestInterruptible_cancelledInAHostFunctionIsNoTrap(t *testing.T) {
	vm := newVMOf(t, openInterruptible(t), VMOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	var made error
	define(t, vm, "cancel", func(context.Context, *Call) (Value, error) {
		cancel()
		// The watch closes the module at some point; whichever call finds it closed
		// has to say why.
		for made == nil {
			var v Value
			if v, made = vm.NewString("x"); made == nil {
				made = v.Free()
			}
		}
		return Value{}, nil
	})
	_, err := vm.Eval(ctx, "cancel()", "x.js")
	if limit := (*LimitError)(nil); !errors.As(made, &limit) || limit.Kind != LimitCancelled {
		t.Errorf("in the host function: %v", made)
	}
	if !isLimit(vm, err, LimitCancelled) {
		t.Errorf("the call: %v", err)
	}
}

func openInterruptible(t testing.TB) *Engine {
	t.Helper()
	e, err := interruptibleEngine()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// deafLoops are native builtins that never ask the interrupt handler.
var deafLoops = map[string]string{
	"reverse":   "Array.prototype.reverse.call({length: 2 ** 53 - 1})",
	"join":      "Array.prototype.join.call({length: 2 ** 31})",
	"stringify": "JSON.stringify(new Array(3e7))",
	"from":      "Array.from({length: 1e8})",
	"split":     "'ab'.repeat(1e7).split('').reverse().join('')",
	"concat":    "[].concat(...Array.from({length: 100}, () => new Array(1e6).fill(0)))",
}

func TestInterruptible_stopsNativeLoopsToo(t *testing.T) {
	e := openInterruptible(t)
	for name, code := range deafLoops {
		// Memory is ample, so that time is what ends them.
		vm := newVMOf(t, e, VMOptions{Limits: Limits{MemoryBytes: 2 << 30}})
		var err error
		for vm.Dead() == nil { // once, unless the deadline passes before the call begins
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			_, err = vm.Eval(ctx, code, "x.js")
			cancel()
		}
		if !isLimit(vm, err, LimitTime) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		if err := vm.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	expect(t, newVMOf(t, e, VMOptions{}), "1 + 1", "2")
}

func TestInterruptible_guestTimeLimitStopsThemByItself(t *testing.T) {
	e := openInterruptible(t)
	vm := newVMOf(t, e, VMOptions{Limits: Limits{Timeout: short}})
	_, err := vm.Eval(t.Context(), deafLoops["reverse"], "x.js")
	if !isLimit(vm, err, LimitTime) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v", err)
	}
	// It also ends what runs under a host function that passes a context of its own.
	vm = newVMOf(t, e, VMOptions{})
	define(t, vm, "detached", func(_ context.Context, c *Call) (Value, error) {
		return vm.Call(context.Background(), c.Arg(0), vm.Undefined())
	})
	vm.SetTimeout(short)
	_, err = vm.Eval(t.Context(), "detached(() => "+deafLoops["reverse"]+")", "x.js")
	if !isLimit(vm, err, LimitTime) {
		t.Errorf("detached: %v", err)
	}
}

func TestInterruptible_otherLimitsAndErrorsAreTheSame(t *testing.T) {
	e := openInterruptible(t)
	vm := newVMOf(t, e, VMOptions{Limits: Limits{MemoryBytes: 8 << 20, Timeout: generous}})
	expect(t, vm, "(() => { try { "+catchable["recursion"]+" } catch (e) { return e.name } })()", "RangeError")
	define(t, vm, "f", func(ctx context.Context, c *Call) (Value, error) { return vm.Call(ctx, c.Arg(0), vm.Undefined()) })
	expect(t, vm, "f(() => f(() => 'nested'))", "nested")
	if _, err := vm.Eval(t.Context(), "f(() => new ArrayBuffer(1e8))", "x.js"); !isLimit(vm, err, LimitMemory) {
		t.Errorf("memory: %v", err)
	}
	vm = newVMOf(t, e, VMOptions{})
	define(t, vm, "bad", func(context.Context, *Call) (Value, error) { panic("p") })
	if _, err := vm.Eval(t.Context(), "try { bad() } catch {}", "x.js"); !errors.As(err, new(*HostFault)) {
		t.Errorf("panic: %v", err)
	}
}

// childTask names the variable that makes this test binary a child that loops, and
// childCache the one that says where the compiled engine is.
const (
	childTask  = "QUICKJS_TEST_CHILD"
	childCache = "QUICKJS_TEST_CACHE"
)

// runChild evaluates a script in an engine that cannot be interrupted.
func runChild(code string) int {
	e, err := New(context.Background(), Options{CacheDir: os.Getenv(childCache)})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	vm, err := e.NewVM(context.Background(), VMOptions{Limits: Limits{Timeout: 10 * time.Millisecond}})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("running")
	_, err = vm.Eval(context.Background(), code, "child.js")
	fmt.Println("ended:", err)
	return 0
}

func TestUninterruptible_nativeLoopIsStoppedByKillingTheProcess(t *testing.T) {
	sharedEngine(t) // fills the cache
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childTask+"="+deafLoops["reverse"], childCache+"="+cacheDir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, len("running\n"))
	if _, err := io.ReadFull(out, line); err != nil || string(line) != "running\n" {
		t.Errorf("the child says %q, %v", line, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Errorf("kill: %v", err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the child ended by itself")
	}
}

func TestDepth_beyondTheLimitIsARangeErrorThatTheGuestCatches(t *testing.T) {
	for _, limits := range []Limits{{}, {Depth: 5}, {Depth: 200, StackBytes: MaxStackBytes}} {
		vm := newVM(t, VMOptions{Limits: limits})
		define(t, vm, "nest", func(ctx context.Context, c *Call) (Value, error) { return vm.Call(ctx, c.Arg(0), vm.Undefined()) })
		got := text(t, vm, "let n = 0; const f = () => { n++; return nest(f) }; try { f(); 'no error' } catch (e) { e.constructor.name + n + e.message }")
		want := fmt.Sprintf("RangeError%dtoo many nested calls between host and guest (limit %[1]d)", vm.Limits().Depth)
		if got != want {
			t.Errorf("%+v: %q, not %q", limits, got, want)
		}
		expect(t, vm, "1", "1")
		_, err := vm.Eval(t.Context(), "f()", "x.js")
		if thrown := (*JSError)(nil); !errors.As(err, &thrown) || thrown.Name != "RangeError" {
			t.Errorf("%+v: %v", limits, err)
		}
	}
}

func TestDepth_twoVMsThatCallEachOther(t *testing.T) {
	a, b := newVM(t, VMOptions{}), newVM(t, VMOptions{})
	fa := eval(t, a, "(function f(n) { return n > 0 ? peer(n - 1) + 1 : 0 })")
	fb := eval(t, b, "(function f(n) { return n > 0 ? peer(n - 1) + 1 : 0 })")
	cross := func(to *VM, fn Value) HostFunc {
		return func(ctx context.Context, c *Call) (Value, error) {
			n, err := c.Arg(0).Float64()
			if err != nil {
				return Value{}, err
			}
			v, err := to.Call(ctx, fn, to.Undefined(), to.Number(n))
			if err != nil {
				return Value{}, err
			}
			n, err = v.Float64()
			return c.VM.Number(n), err
		}
	}
	define(t, a, "peer", cross(b, fb))
	define(t, b, "peer", cross(a, fa))
	for _, n := range []int{0, 1, 2, 50, 190} {
		v, err := a.Call(t.Context(), fa, a.Undefined(), a.Int(n))
		if f, _ := v.Float64(); err != nil || int(f) != n {
			t.Errorf("%d levels: %v, %v", n, f, err)
		}
	}
	thrown := (*JSError)(nil)
	if _, err := a.Call(t.Context(), fa, a.Undefined(), a.Int(1000)); !errors.As(err, &thrown) || thrown.Name != "RangeError" {
		t.Errorf("1000 levels: %v", err)
	}
	if v, err := a.Call(t.Context(), fa, a.Undefined(), a.Int(3)); err != nil {
		t.Errorf("afterwards: %v, %v", v, err)
	}
}

func TestTimeZone_isTheOptionsAndUTCByDefault(t *testing.T) {
	expect(t, newVM(t, VMOptions{}), "new Date(0).getTimezoneOffset()", "0")
	zone := time.FixedZone("test", -8*3600)
	vm := newVM(t, VMOptions{Location: zone})
	expect(t, vm, "new Date(0).getTimezoneOffset() + ' ' + new Date(0).getHours()", "480 16")
	now := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	vm = newVM(t, VMOptions{Now: func() time.Time { return now }})
	expect(t, vm, "new Date().toISOString() + ' ' + performance.now() + ' ' + (Date.now() - performance.timeOrigin - performance.now())", "2024-02-29T12:00:00.000Z 0 0")
	now = now.Add(1500 * time.Millisecond)
	expect(t, vm, "performance.now() + ' ' + new Date().toISOString()", "1500 2024-02-29T12:00:01.500Z")
	expect(t, vm, "new Date(8.64e15).getHours() + new Date(-8.64e15).getHours()", "0")
}

// TestLimits_sayWhereTheGuestWas: whoever reads that a limit fired has to find the
// loop.
func TestLimits_sayWhereTheGuestWas(t *testing.T) {
	for name, tt := range map[string]struct{ code, where string }{
		// The engine keeps lines for calls and throws only, so an empty loop is known by
		// its function.
		"time in an empty loop":  {"\nfunction spin() {\n  for (;;) {}\n}\nspin();", "spin (lib.js:2"},
		"time in a loop of work": {"1;\nwhile (true)\n  Math.abs(1);", "lib.js:3"},
		"memory":                 {"const held = [];\nfunction grow() {\n  for (;;) held.push(new Uint8Array(8 << 20));\n}\ngrow();", "grow (lib.js:3"},
	} {
		for kind, engine := range map[string]*Engine{"fast": sharedEngine(t), "interruptible": openInterruptible(t)} {
			t.Run(name+", "+kind, func(t *testing.T) {
				limits := Limits{Timeout: 100 * time.Millisecond, MemoryBytes: 32 << 20}
				if name == "memory" {
					limits.Timeout = time.Minute
				}
				vm := newVMOf(t, engine, VMOptions{Limits: limits})
				_, err := vm.Eval(t.Context(), tt.code, "lib.js")
				var limit *LimitError
				if !errors.As(err, &limit) {
					t.Fatalf("error %v", err)
				}
				if !strings.Contains(limit.Stack, tt.where) {
					t.Errorf("stack %q does not say %q", limit.Stack, tt.where)
				}
				if vm.Dead() == nil {
					t.Error("the VM lives")
				}
			})
		}
	}
}
