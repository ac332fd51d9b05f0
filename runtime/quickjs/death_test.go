package quickjs

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero/api"
)

// movingStack is a stack pointer that is lower after each entry, as it would be if
// an unwound frame had not put it back.
type movingStack struct {
	api.MutableGlobal
	lost uint64
}

func (s *movingStack) Get() uint64 {
	s.lost += 264
	return s.MutableGlobal.Get() - s.lost
}

func TestStackPointer_thatDoesNotComeBackKillsTheVM(t *testing.T) {
	vm, other := newVM(t, VMOptions{}), newVM(t, VMOptions{})
	vm.sp = &movingStack{MutableGlobal: vm.sp}
	_, err := vm.Eval(t.Context(), "1", "x.js")
	if trap := (*TrapError)(nil); !errors.As(err, &trap) || !strings.Contains(err.Error(), "stack pointer") {
		t.Errorf("error is %v", err)
	}
	if _, err := vm.Eval(t.Context(), "1", "x.js"); !errors.Is(err, ErrDead) {
		t.Errorf("next eval: %v", err)
	}
	expect(t, other, "1", "1")
}

func TestTrap_killsTheVMAndNoOther(t *testing.T) {
	vm, other := newVM(t, VMOptions{}), newVM(t, VMOptions{})
	define(t, vm, "corrupt", func(ctx context.Context, _ *Call) (Value, error) {
		garbage := make([]byte, contextSpan)
		for i := range garbage {
			garbage[i] = 0xfb
		}
		vm.mem.setBytes(vm.cx, garbage)
		_, err := vm.Eval(ctx, "[1].map(x => x)", "x.js")
		if trap := (*TrapError)(nil); !errors.As(err, &trap) {
			t.Errorf("the nested call: %v", err)
		}
		return Value{}, nil // pretends that all is well
	})
	_, err := vm.Eval(t.Context(), "try { corrupt() } catch {} 1", "x.js")
	if trap := (*TrapError)(nil); !errors.As(err, &trap) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error is %v", err)
	}
	if _, err := vm.Eval(t.Context(), "1", "x.js"); !errors.Is(err, ErrDead) {
		t.Errorf("next eval: %v", err)
	}
	expect(t, other, "[1, 2].map(x => x * 2).join()", "2,4")
	expect(t, newVM(t, VMOptions{}), "1", "1")
}

func TestTrap_ofTheNativeStackIsALimit(t *testing.T) {
	vm := newVM(t, VMOptions{})
	err := vm.trap(t.Context(), xEval, errors.New("wasm error: stack overflow\nwasm stack trace:"))
	if limit := (*LimitError)(nil); !errors.As(err, &limit) || limit.Kind != LimitStack {
		t.Errorf("error is %v", err)
	}
}

func TestDeadVM_freesHandlesWithoutTouchingMemory(t *testing.T) {
	vm := newVM(t, VMOptions{})
	s := vm.Scope()
	v := eval(t, vm, "({})")
	vm.die(errors.New("for the test"))
	if err := v.Free(); err != nil {
		t.Errorf("free: %v", err)
	}
	if err := v.Free(); !errors.Is(err, ErrStale) {
		t.Errorf("free again: %v", err)
	}
	s.Close()
	if v.Kind() != Undefined || v.IsObject() {
		t.Error("a stale handle has a kind")
	}
	for name, err := range map[string]error{
		"new object": second(vm.NewObject()), "new string": second(vm.NewString("a")), "new array": second(vm.NewArray()),
		"number": second(vm.Int(1).Float64()), "global": second(vm.Global()), "jobs": second(vm.RunJobs(t.Context(), 0)),
		"json": second(vm.ParseJSON(t.Context(), "1", "x")), "function": second(vm.NewFunction("f", 0, nil)), "memory": second(vm.MemoryUsed()),
	} {
		if !errors.Is(err, ErrDead) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if vm.JobsPending() {
		t.Error("a dead VM has jobs")
	}
}

func second[T any](_ T, err error) error { return err }

func TestLimitError_saysWhichAndHowMuch(t *testing.T) {
	for want, err := range map[string]error{
		"memory limit exceeded (1024 bytes): linear memory is full": &LimitError{Kind: LimitMemory, Bytes: 1024, Detail: "linear memory is full"},
		"time limit exceeded (1s of guest time)":                    &LimitError{Kind: LimitTime, Time: 1e9},
		"time limit exceeded: context deadline exceeded":            &LimitError{Kind: LimitTime, Cause: context.DeadlineExceeded},
		"execution cancelled: context canceled":                     &LimitError{Kind: LimitCancelled, Cause: context.Canceled},
		"native stack exhausted":                                    &LimitError{Kind: LimitStack},
		"limit of the engine exceeded: string too long":             &LimitError{Kind: LimitEngine, Detail: "string too long"},
		"host function f panicked: p":                               &HostFault{Function: "f", Panic: "p"},
		"the VM is dead: native stack exhausted":                    &DeadError{Cause: &LimitError{Kind: LimitStack}},
	} {
		if err.Error() != want {
			t.Errorf("text is %q, not %q", err.Error(), want)
		}
	}
}

func TestLeaf_thatReachesTheHostKillsTheVMAndNotTheProcess(t *testing.T) {
	vm := newVM(t, VMOptions{})
	ran := false
	define(t, vm, "f", func(context.Context, *Call) (Value, error) {
		ran = true
		return Value{}, nil
	})
	code, err := vm.putBytes([]byte("f()\x00"))
	if err != nil {
		t.Fatal(err)
	}
	name, err := vm.putText("x.js")
	if err != nil {
		t.Fatal(err)
	}
	vm.inLeaf = true // as if freeing a value had run a script
	_, _ = vm.run(t.Context(), xEval, uint64(code.p), 3, uint64(name.p), 0)
	vm.inLeaf = false
	if ran || !errors.Is(vm.Dead(), errLeafReentered) {
		t.Errorf("the host function ran: %v; dead of %v", ran, vm.Dead())
	}
}
