package observe

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-lsp/sandbox-lsp/runtime/quickjs"
)

func newVM(t *testing.T) *quickjs.VM {
	t.Helper()
	engine, err := quickjs.New(t.Context(), quickjs.Options{CacheDir: filepath.Join(os.TempDir(), "sandbox-lsp-test-engine")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close(context.Background()) })
	vm, err := engine.NewVM(t.Context(), quickjs.VMOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return vm
}

func newRealm(t *testing.T) (*quickjs.VM, *Recorder) {
	t.Helper()
	vm := newVM(t)
	r, err := Install(t.Context(), vm, "mine")
	if err != nil {
		t.Fatal(err)
	}
	return vm, r
}

func TestRecorder_seesEveryWayToAskForAnAbsentName(t *testing.T) {
	for code, want := range map[string][]string{
		`fetch`:                                 {"get fetch"},
		`typeof fetch`:                          {"get fetch"},
		`globalThis.fetch`:                      {"get fetch"},
		`globalThis["fe" + "tch"]`:              {"get fetch"},
		`const g = globalThis; g.fetch`:         {"get fetch"},
		`(function () { return this.fetch })()`: {"get fetch"},
		`Function("return fetch")()`:            {"get fetch"},
		`(0, eval)("fetch")`:                    {"get fetch"},
		`Reflect.get(globalThis, "fetch")`:      {"get fetch"},
		`const { fetch } = globalThis`:          {"get fetch"},
		`"fetch" in globalThis`:                 {"has fetch"},
		`Reflect.has(globalThis, "fetch")`:      {"has fetch"},
		`fetch = 1; fetch`:                      {"has fetch", "set fetch"}, // its own variable afterwards
		`globalThis.fetch = 1`:                  {"set fetch"},
		`globalThis.Array; Array; toString; globalThis.hasOwnProperty("x"); globalThis.valueOf`: nil,
		`mine; mine = 1; "mine" in globalThis`:                                                  nil,
		`var own; own; function f() {} f; globalThis.own`:                                       nil,
		`globalThis[Symbol.toStringTag]`:                                                        nil,
		`for (let i = 0; i < 100; i++) globalThis.fetch`:                                        {"get fetch", "get fetch", "get fetch", "get fetch"},
	} {
		vm, r := newRealm(t)
		if _, err := vm.Eval(t.Context(), code, "lib.js"); err != nil {
			t.Errorf("%s: %v", code, err)
		}
		var got []string
		for _, touch := range r.Touches() {
			got = append(got, string(touch.Operation)+" "+touch.Name)
			if !strings.HasPrefix(strings.TrimSpace(touch.Stack), "at ") || strings.Contains(touch.Stack, file) {
				t.Errorf("%s: stack %q", code, touch.Stack)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", code, diff)
		}
	}
}

func TestRecorder_saysWhere(t *testing.T) {
	vm, r := newRealm(t)
	code := "Error.prepareStackTrace = () => 'mine';\nfunction inner() {\n  return globalThis.fetch;\n}\ninner();"
	if _, err := vm.Eval(t.Context(), code, "lib.js"); err != nil {
		t.Fatal(err)
	}
	if len(r.Touches()) != 1 || !strings.HasPrefix(strings.TrimSpace(r.Touches()[0].Stack), "at inner (lib.js:3:") {
		t.Errorf("touches %+v", r.Touches())
	}
}

// What a script can see of the realm does not change, but for the recorder's one
// known difference.
func TestRecorder_leavesTheRealmAsItWas(t *testing.T) {
	for _, code := range []string{
		`Object.getPrototypeOf(Object.getPrototypeOf(globalThis)) === Object.prototype || Object.getPrototypeOf(globalThis) === Object.prototype`,
		`globalThis instanceof Object`,
		`"toString" in globalThis`,
		`typeof nothing`,
		`(() => { "use strict"; try { nothing = 1 } catch (e) { return e.name } })()`,
		`made = 1; JSON.stringify(Object.getOwnPropertyDescriptor(globalThis, "made"))`,
		`Object.getOwnPropertyNames(globalThis).join()`,
		`Object.keys(globalThis).join()`,
	} {
		plain := newVM(t)
		recorded, _ := newRealm(t)
		var texts [2]string
		for i, vm := range []*quickjs.VM{plain, recorded} {
			v, err := vm.Eval(t.Context(), code, "lib.js")
			if err != nil {
				t.Fatalf("%s: %v", code, err)
			}
			if texts[i], err = v.ToText(t.Context()); err != nil {
				t.Fatalf("%s: %v", code, err)
			}
		}
		if texts[0] != texts[1] {
			t.Errorf("%s: %q with the recorder, %q without", code, texts[1], texts[0])
		}
	}
}

func TestRecorder_watchesWhatTheRealmHas(t *testing.T) {
	vm, r := newRealm(t)
	ctx := t.Context()
	if _, err := vm.Eval(ctx, `globalThis.crypto = { uuid: 1 }`, "host.js"); err != nil {
		t.Fatal(err)
	}
	before := len(r.Touches())
	if err := r.Watch(ctx, "crypto"); err != nil {
		t.Fatal(err)
	}
	v, err := vm.Eval(ctx, `crypto.uuid + (crypto = { uuid: 2 }).uuid + crypto.uuid`, "lib.js")
	if err != nil {
		t.Fatal(err)
	}
	if sum, err := v.Float64(); err != nil || sum != 5 {
		t.Errorf("sum %v %v", sum, err)
	}
	var got []Operation
	for _, touch := range r.Touches()[before:] {
		got = append(got, touch.Operation)
	}
	if diff := cmp.Diff([]Operation{Get, Set, Get}, got); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
}
