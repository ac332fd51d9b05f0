package quickjs

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

func TestEngine_withoutTheWasmSaysWhatToRun(t *testing.T) {
	_, err := readEngine(fstest.MapFS{"assets/README.md": {}})
	if !errors.Is(err, ErrNoEngine) || !strings.Contains(err.Error(), "make build") {
		t.Errorf("error is %v", err)
	}
}

func TestHash_isTheWasmsSHA256(t *testing.T) {
	if _, err := engineBytes(); err != nil {
		t.Fatal(err)
	}
	if h := Hash(); len(h) != 64 || strings.Trim(h, "0123456789abcdef") != "" {
		t.Errorf("hash is %q", h)
	}
}

func TestEngine_opensWhateverStateItsCacheIsIn(t *testing.T) {
	sharedEngine(t) // fills the shared cache
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(cacheDir)); err != nil {
		t.Fatal(err)
	}
	open := func() {
		t.Helper()
		e, err := New(t.Context(), Options{CacheDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		vm, err := e.NewVM(t.Context(), VMOptions{})
		if err != nil {
			t.Fatal(err)
		}
		expect(t, vm, "6*7", "42")
		if err := e.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	open()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		return os.WriteFile(path, []byte("not a compiled module"), 0o600)
	})
	if err != nil || files == 0 {
		t.Fatalf("the cache has %d files: %v", files, err)
	}
	open()
	if err := errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	open() // no cache can be made there
}

func TestEngine_refusesAModuleWithoutTheExpectedExports(t *testing.T) {
	if err := checkExports(nil); err == nil || !strings.Contains(err.Error(), "has no export") {
		t.Errorf("error is %v", err)
	}
}

func TestVM_refusesLimitsThatWouldTrap(t *testing.T) {
	e := sharedEngine(t)
	for name, limits := range map[string]Limits{
		"a stack too small":    {StackBytes: 32 << 10},
		"a stack too large":    {StackBytes: 1 << 20},
		"no room for a realm":  {MemoryBytes: 1000},
		"more than wasm has":   {MemoryBytes: 5 << 30},
		"negative time":        {Timeout: -1},
		"depth beyond the cap": {Depth: 1000},
		"negative depth":       {Depth: -1},
	} {
		if vm, err := e.NewVM(t.Context(), VMOptions{Limits: limits}); err == nil {
			t.Errorf("%s: no error", name)
			_ = vm.Close(t.Context())
		}
	}
}

func TestVM_closedAnswersErrClosed(t *testing.T) {
	vm := newVM(t, VMOptions{})
	v := eval(t, vm, "({})")
	if err := vm.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := vm.Close(t.Context()); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	if _, err := vm.Eval(t.Context(), "1", "x.js"); !errors.Is(err, ErrClosed) {
		t.Errorf("eval: %v", err)
	}
	if _, err := v.Get(t.Context(), Name("a")); !errors.Is(err, ErrClosed) {
		t.Errorf("get: %v", err)
	}
	if v.Alive() {
		t.Error("a handle of a closed VM is alive")
	}
	if err := v.Free(); err != nil {
		t.Errorf("free after close: %v", err)
	}
	if _, err := vm.Snapshot(nil); !errors.Is(err, ErrClosed) {
		t.Errorf("snapshot: %v", err)
	}
}

func TestVM_cannotBeClosedUnderItsOwnCall(t *testing.T) {
	vm := newVM(t, VMOptions{})
	var err error
	define(t, vm, "close", func(_ context.Context, _ *Call) (Value, error) {
		err = vm.Close(t.Context())
		return Value{}, nil
	})
	eval(t, vm, "close()")
	if !errors.Is(err, ErrBusy) {
		t.Errorf("error is %v", err)
	}
	expect(t, vm, "1", "1")
}

func TestNewVM_underAnEndedContextFailsWithoutSpoilingTheEngine(t *testing.T) {
	sharedEngine(t)
	e, err := New(t.Context(), Options{CacheDir: cacheDir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close(t.Context()) }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.NewVM(ctx, VMOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	vm, err := e.NewVM(t.Context(), VMOptions{})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, vm, "1", "1")
}

func TestNewVM_startsWithinAnyTimeLimit(t *testing.T) {
	for _, open := range []func() (*Engine, error){fastEngine, interruptibleEngine} {
		e, err := open()
		if err != nil {
			t.Fatal(err)
		}
		vm := newVMOf(t, e, VMOptions{Limits: Limits{Timeout: 1}})
		if vm.Limits().Timeout != 1 {
			t.Errorf("the limit is %s", vm.Limits().Timeout)
		}
	}
}
