package quickjs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestPromise_settlesWhenJobsRun(t *testing.T) {
	vm := newVM(t, VMOptions{})
	p := eval(t, vm, "(async () => { await 1; await 2; return 'done' })()")
	if state, _, err := p.Promise(); state != Pending || err != nil {
		t.Errorf("before: %s, %v", state, err)
	}
	if !vm.JobsPending() {
		t.Error("no job is pending")
	}
	if ran, err := vm.RunJobs(t.Context(), 1); ran != 1 || err != nil {
		t.Errorf("one job: %d, %v", ran, err)
	}
	if state, _, _ := p.Promise(); state != Pending {
		t.Errorf("after one job: %s", state)
	}
	if _, err := vm.RunJobs(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	state, result, err := p.Promise()
	if s, _ := result.Text(); state != Fulfilled || s != "done" || err != nil {
		t.Errorf("after all: %s, %q, %v", state, s, err)
	}
}

func TestPromise_awaitReturnsValueReasonOrPending(t *testing.T) {
	vm := newVM(t, VMOptions{})
	if s, err := must(t)(vm.Await(t.Context(), eval(t, vm, "Promise.resolve(1).then(x => 'v' + x)"), 0)).Text(); s != "v1" || err != nil {
		t.Errorf("value %q, %v", s, err)
	}
	thrown := (*JSError)(nil)
	if _, err := vm.Await(t.Context(), eval(t, vm, "(async () => { await 0; throw new TypeError('reason') })()"), 0); !errors.As(err, &thrown) || thrown.Error() != "TypeError: reason" {
		t.Errorf("reason: %v", err)
	}
	if _, err := vm.Await(t.Context(), eval(t, vm, "new Promise(() => {})"), 0); !errors.Is(err, ErrPending) {
		t.Errorf("never settled: %v", err)
	}
	if _, err := vm.Await(t.Context(), eval(t, vm, "new Promise(r => { (function f() { Promise.resolve().then(f) })() })"), 50); !errors.Is(err, ErrPending) {
		t.Errorf("an endless chain of jobs: %v", err)
	}
	if f, err := must(t)(vm.Await(t.Context(), vm.Int(3), 0)).Float64(); f != 3 || err != nil {
		t.Errorf("not a promise: %v, %v", f, err)
	}
}

func TestPromise_ofTheHost(t *testing.T) {
	vm := newVM(t, VMOptions{})
	p, resolve, reject, err := vm.NewPromise()
	if err != nil {
		t.Fatal(err)
	}
	setGlobal(t, vm, "p", p)
	eval(t, vm, "globalThis.log = []; Promise.prototype.then = function() { log.push('patched') }")
	ok := must(t)(vm.NewFunction("ok", 1, func(ctx context.Context, c *Call) (Value, error) {
		s, err := c.Arg(0).Text()
		if err != nil {
			return Value{}, err
		}
		return vm.NewString("host " + s)
	}))
	chained := must(t)(p.Then(t.Context(), ok, vm.Undefined()))
	must(t)(vm.Call(t.Context(), resolve, vm.Undefined(), must(t)(vm.NewString("yes"))))
	must(t)(vm.Call(t.Context(), reject, vm.Undefined(), vm.Int(1))) // too late
	if s, err := must(t)(vm.Await(t.Context(), chained, 0)).Text(); s != "host yes" || err != nil {
		t.Errorf("got %q, %v", s, err)
	}
	expect(t, vm, "log.length", "0")
	thrown := (*JSError)(nil)
	if _, err := vm.Int(1).Then(t.Context(), vm.Undefined(), vm.Undefined()); err == nil || !errors.As(err, &thrown) && !errors.Is(err, ErrType) {
		t.Errorf("then of a number: %v", err)
	}
}

func TestRejection_isReportedWithItsReason(t *testing.T) {
	vm := newVM(t, VMOptions{})
	var log []string
	var kept Value
	vm.OnRejection(func(_ context.Context, r Rejection) {
		s, err := r.Reason.Text()
		if err != nil {
			t.Error(err)
		}
		if kept, err = r.Promise.Dup(); err != nil {
			t.Error(err)
		}
		log = append(log, fmt.Sprintf("%s %v", s, r.Handled))
	})
	eval(t, vm, "globalThis.p = Promise.reject('why'); Promise.reject('quiet').catch(() => {}); 1")
	eval(t, vm, "p.catch(() => {})")
	if _, err := vm.RunJobs(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if want := []string{"why false", "quiet false", "quiet true", "why true"}; !slices.Equal(log, want) {
		t.Errorf("log %q", log)
	}
	if !kept.IsPromise() {
		t.Error("the kept promise is not one")
	}
	log = nil
	p := eval(t, vm, "new Promise((_, r) => { globalThis.r = r })")
	if err := p.MarkHandled(); err != nil {
		t.Fatal(err)
	}
	eval(t, vm, "r('marked')")
	if len(log) != 0 {
		t.Errorf("a promise that was marked as handled was reported: %q", log)
	}
}

func TestRejection_handlerThatPanicsKillsTheVM(t *testing.T) {
	vm := newVM(t, VMOptions{})
	vm.OnRejection(func(context.Context, Rejection) { panic("handler") })
	_, err := vm.Eval(t.Context(), "Promise.reject(1)", "x.js")
	if fault := (*HostFault)(nil); !errors.As(err, &fault) || fault.Panic != "handler" {
		t.Errorf("error is %v", err)
	}
}

func TestRunJobs_underAFrameIsRefused(t *testing.T) {
	vm := newVM(t, VMOptions{})
	var refused error
	define(t, vm, "pump", func(ctx context.Context, _ *Call) (Value, error) {
		_, refused = vm.RunJobs(ctx, 0)
		return Value{}, nil
	})
	eval(t, vm, "Promise.resolve().then(() => { globalThis.ran = true }); pump(); globalThis.during = typeof ran")
	if !errors.Is(refused, ErrBusy) {
		t.Errorf("error is %v", refused)
	}
	expect(t, vm, "during", "undefined")
}

func TestFinalizer_runsAsAJob(t *testing.T) {
	vm := newVM(t, VMOptions{})
	eval(t, vm, "globalThis.log = []; globalThis.registry = new FinalizationRegistry(x => log.push(x)); registry.register({}, 'gone'); 1")
	if err := vm.GC(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := vm.RunJobs(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	expect(t, vm, "log.join()", "gone")
}

func TestModule_importsThroughTheLoader(t *testing.T) {
	vm := newVM(t, VMOptions{})
	var loads []string
	vm.SetModuleLoader(ModuleLoader{
		Normalize: func(_ context.Context, base, specifier string) (string, error) {
			return base + ">" + strings.TrimPrefix(specifier, "./"), nil
		},
		Load: func(_ context.Context, name string) (string, error) {
			loads = append(loads, name)
			switch {
			case strings.HasSuffix(name, "value"):
				return "export const value = 20; export default 'é\\u0000'", nil
			case strings.HasSuffix(name, "chain"):
				return "export { value } from './value'", nil
			case strings.HasSuffix(name, "broken"):
				return "export const = 1", nil
			}
			return "", Throw("ReferenceError", "no module %s", name)
		},
	})
	p := must(t)(vm.EvalModule(t.Context(), "import { value } from './chain'; export const sum = value + 1; export const later = await import('./value')", "main"))
	ns := must(t)(vm.Await(t.Context(), p, 0))
	if f, err := must(t)(ns.Get(t.Context(), Name("sum"))).Float64(); f != 21 || err != nil {
		t.Errorf("sum %v, %v", f, err)
	}
	later := must(t)(ns.Get(t.Context(), Name("later")))
	if s, err := must(t)(later.Get(t.Context(), Name("default"))).Text(); s != "é\x00" || err != nil {
		t.Errorf("default %q, %v", s, err)
	}
	if want := []string{"main>chain", "main>chain>value", "main>value"}; !slices.Equal(loads, want) {
		t.Errorf("loads %q", loads)
	}
	for code, want := range map[string]string{
		"import './missing'":     "ReferenceError: no module m>missing",
		"import './broken'":      "SyntaxError",
		"await import('./gone')": "ReferenceError: no module m>gone",
		"throw new TypeError(1)": "TypeError: 1",
		"import {":               "SyntaxError",
	} {
		p, err := vm.EvalModule(t.Context(), code, "m")
		if err == nil {
			_, err = vm.Await(t.Context(), p, 0)
		}
		if thrown := (*JSError)(nil); !errors.As(err, &thrown) || !strings.HasPrefix(thrown.Error(), want) {
			t.Errorf("%s: %v", code, err)
		}
	}
}

func TestModule_withoutALoaderThrows(t *testing.T) {
	vm := newVM(t, VMOptions{})
	_, err := vm.EvalModule(t.Context(), "import 'fs'", "m")
	if thrown := (*JSError)(nil); !errors.As(err, &thrown) || thrown.Name != "ReferenceError" || !strings.Contains(thrown.Message, "loads no modules") {
		t.Errorf("error is %v", err)
	}
}

func TestModule_loaderThatFailsPanicsOrCallsBack(t *testing.T) {
	vm := newVM(t, VMOptions{})
	var name string
	vm.SetModuleLoader(ModuleLoader{
		Normalize: func(ctx context.Context, _, specifier string) (string, error) {
			v, err := vm.Eval(ctx, "[1,2].map(x => x + 1).join()", "nested.js")
			if err != nil {
				return "", err
			}
			name, err = v.Text()
			if specifier == "nul" {
				return "a\x00b", err
			}
			return specifier, err
		},
		Load: func(ctx context.Context, name string) (string, error) {
			if name == "panic" {
				panic("loader")
			}
			_, err := vm.Eval(ctx, "null.x", "nested.js")
			return "", err
		},
	})
	thrown := (*JSError)(nil)
	if _, err := vm.EvalModule(t.Context(), "import 'x'", "m"); !errors.As(err, &thrown) || thrown.Name != "TypeError" || name != "2,3" {
		t.Errorf("a loader that evaluates: %v, %q", err, name)
	}
	if _, err := vm.EvalModule(t.Context(), "import 'nul'", "m"); !errors.As(err, &thrown) || !strings.Contains(thrown.Message, "NUL") {
		t.Errorf("a name with NUL: %v", err)
	}
	if _, err := vm.EvalModule(t.Context(), "import 'panic'", "m"); !errors.As(err, new(*HostFault)) {
		t.Errorf("a loader that panics: %v", err)
	}
}
