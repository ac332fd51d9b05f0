package quickjs

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// bundled returns a lodash that a script can evaluate: the one of the fixture
// projects, which `npm ci` there installs.
func bundled(b *testing.B) string {
	b.Helper()
	found, err := filepath.Glob(filepath.Join("..", "..", "testdata", "projects", "*", "node_modules", "lodash", "lodash.js"))
	if err != nil || len(found) == 0 {
		b.Fatal("no fixture project has lodash installed: run `make deps`")
	}
	source, err := os.ReadFile(found[0])
	if err != nil {
		b.Fatal(err)
	}
	return string(source)
}

func BenchmarkEngine_openCold(b *testing.B) {
	for b.Loop() {
		e, err := New(b.Context(), Options{})
		if err != nil {
			b.Fatal(err)
		}
		_ = e.Close(b.Context())
	}
}

func BenchmarkEngine_openFromCache(b *testing.B) {
	dir := b.TempDir()
	open := func() {
		e, err := New(b.Context(), Options{CacheDir: dir})
		if err != nil {
			b.Fatal(err)
		}
		_ = e.Close(b.Context())
	}
	open()
	for b.Loop() {
		open()
	}
}

func BenchmarkVM_createAndClose(b *testing.B) {
	e := sharedEngine(b)
	b.ReportAllocs()
	for b.Loop() {
		vm, err := e.NewVM(b.Context(), VMOptions{})
		if err != nil {
			b.Fatal(err)
		}
		_ = vm.Close(b.Context())
	}
}

func BenchmarkVM_restoreAndClose(b *testing.B) {
	e := sharedEngine(b)
	vm := newVM(b, VMOptions{})
	image, err := vm.Snapshot(nil)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(image.Size()), "image-bytes")
	for b.Loop() {
		copied, err := e.Restore(b.Context(), image, VMOptions{})
		if err != nil {
			b.Fatal(err)
		}
		_ = copied.Close(b.Context())
	}
}

func BenchmarkLodash_evaluate(b *testing.B) {
	source, e := bundled(b), sharedEngine(b)
	for b.Loop() {
		vm, err := e.NewVM(b.Context(), VMOptions{})
		if err != nil {
			b.Fatal(err)
		}
		eval(b, vm, source)
		_ = vm.Close(b.Context())
	}
}

func BenchmarkLodash_restore(b *testing.B) {
	source, e := bundled(b), sharedEngine(b)
	vm := newVM(b, VMOptions{})
	eval(b, vm, source)
	image, err := vm.Snapshot(nil)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(image.Size()), "image-bytes")
	for b.Loop() {
		copied, err := e.Restore(b.Context(), image, VMOptions{})
		if err != nil {
			b.Fatal(err)
		}
		eval(b, copied, "_.VERSION")
		_ = copied.Close(b.Context())
	}
}

func BenchmarkCall_guestFromHost(b *testing.B) {
	vm := newVM(b, VMOptions{})
	fn := eval(b, vm, "(a => a)")
	arg, this := vm.Int(7), vm.Undefined()
	b.ReportAllocs()
	for b.Loop() {
		v, err := vm.Call(b.Context(), fn, this, arg)
		if err != nil {
			b.Fatal(err)
		}
		_ = v.Free()
	}
}

func BenchmarkCall_hostFromGuest(b *testing.B) {
	vm := newVM(b, VMOptions{})
	define(b, vm, "f", func(_ context.Context, c *Call) (Value, error) { return c.Arg(0), nil })
	fn := eval(b, vm, "(n => { for (let i = 0; i < n; i++) f(i) })")
	b.ReportAllocs()
	b.ResetTimer()
	if _, err := vm.Call(b.Context(), fn, vm.Undefined(), vm.Int(b.N)); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkCall_hostFromGuestUnderATimeLimit(b *testing.B) {
	vm := newVM(b, VMOptions{Limits: Limits{Timeout: generous}})
	define(b, vm, "f", func(_ context.Context, c *Call) (Value, error) { return c.Arg(0), nil })
	fn := eval(b, vm, "(n => { for (let i = 0; i < n; i++) f(i) })")
	b.ResetTimer()
	if _, err := vm.Call(b.Context(), fn, vm.Undefined(), vm.Int(b.N)); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkProperty_getByName(b *testing.B) {
	vm := newVM(b, VMOptions{})
	o, key := eval(b, vm, "({a: 1})"), Name("a")
	for b.Loop() {
		if _, err := o.Get(b.Context(), key); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkString_inAndOut(b *testing.B) {
	vm := newVM(b, VMOptions{})
	for b.Loop() {
		s, err := vm.NewString("a short text")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Text(); err != nil {
			b.Fatal(err)
		}
		_ = s.Free()
	}
}

func BenchmarkLoop_inTheGuest(b *testing.B) {
	for name, engine := range map[string]func() (*Engine, error){"fast": fastEngine, "interruptible": interruptibleEngine} {
		b.Run(name, func(b *testing.B) {
			e, err := engine()
			if err != nil {
				b.Fatal(err)
			}
			vm := newVMOf(b, e, VMOptions{Limits: Limits{Timeout: generous}})
			fn := eval(b, vm, "(n => { let s = 0; for (let i = 0; i < n; i++) s += i; return s })")
			b.ResetTimer()
			if _, err := vm.Call(b.Context(), fn, vm.Undefined(), vm.Int(b.N)); err != nil {
				b.Fatal(err)
			}
		})
	}
}
