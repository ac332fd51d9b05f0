package quickjs

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"
)

// The tests share one engine of each kind and one cache on disk: opening an engine
// costs more than most tests.

var cacheDir string

func TestMain(m *testing.M) {
	// A test binary that is started again to be killed must not clean up.
	if task := os.Getenv(childTask); task != "" {
		os.Exit(runChild(task))
	}
	dir, err := os.MkdirTemp("", "quickjs-cache-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	cacheDir = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

var (
	fastEngine = sync.OnceValues(func() (*Engine, error) {
		return New(context.Background(), Options{CacheDir: cacheDir})
	})
	interruptibleEngine = sync.OnceValues(func() (*Engine, error) {
		return New(context.Background(), Options{CacheDir: cacheDir, Interruptible: true})
	})
)

func sharedEngine(t testing.TB) *Engine {
	t.Helper()
	e, err := fastEngine()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// newVM makes a VM that ends with the test.
func newVM(t testing.TB, opts VMOptions) *VM {
	t.Helper()
	return newVMOf(t, sharedEngine(t), opts)
}

func newVMOf(t testing.TB, e *Engine, opts VMOptions) *VM {
	t.Helper()
	vm, err := e.NewVM(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := vm.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return vm
}

// eval runs a script that must not fail.
func eval(t testing.TB, vm *VM, code string) Value {
	t.Helper()
	v, err := vm.Eval(t.Context(), code, "test.js")
	if err != nil {
		t.Fatalf("eval %.120q: %v", code, err)
	}
	return v
}

// text runs a script and returns String(of its value).
func text(t testing.TB, vm *VM, code string) string {
	t.Helper()
	v := eval(t, vm, code)
	defer func() { _ = v.Free() }()
	s, err := v.ToText(t.Context())
	if err != nil {
		t.Fatalf("eval %.120q: %v", code, err)
	}
	return s
}

// expect runs a script and compares String(of its value).
func expect(t testing.TB, vm *VM, code, want string) {
	t.Helper()
	if got := text(t, vm, code); got != want {
		t.Errorf("%.120q is %q, not %q", code, got, want)
	}
}

// define makes a host function global.
func define(t testing.TB, vm *VM, name string, fn HostFunc) {
	t.Helper()
	f, err := vm.NewFunction(name, 0, fn)
	if err != nil {
		t.Fatal(err)
	}
	setGlobal(t, vm, name, f)
	if err := f.Free(); err != nil {
		t.Fatal(err)
	}
}

func setGlobal(t testing.TB, vm *VM, name string, v Value) {
	t.Helper()
	global, err := vm.Global()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = global.Free() }()
	if err := global.Set(t.Context(), Name(name), v); err != nil {
		t.Fatal(err)
	}
}

// must returns a value whose making must not have failed.
func must(t testing.TB) func(Value, error) Value {
	return func(v Value, err error) Value {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// short is a time limit for what never ends by itself; a test sets it after it has
// run whatever should not be stopped.
const short = 20 * time.Millisecond

// generous is a time limit that only a hang reaches.
const generous = time.Minute
