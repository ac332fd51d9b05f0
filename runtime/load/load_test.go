package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-lsp/sandbox-lsp/runtime/quickjs"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/worker"
)

func TestMain(m *testing.M) {
	worker.ServeIfWorker(Service)
	os.Exit(m.Run())
}

func newPool(t *testing.T, size int) Pool {
	t.Helper()
	p := worker.NewPool(size, filepath.Join(os.TempDir(), "sandbox-lsp-test-engine"))
	t.Cleanup(p.Close)
	return Pool{Workers: p}
}

func request(code string, permissions ...string) Request {
	return Request{
		Library: "lib", Script: Script{File: "lib.bundle.js", Code: []byte(code)}, Permissions: permissions,
		Limits: Limits{MemoryBytes: 32 << 20, StackBytes: 64 << 10, Timeout: 500 * time.Millisecond},
	}
}

func TestPool_listsWhatALibraryExports(t *testing.T) {
	p := newPool(t, 1)
	tests := map[string]struct {
		code string
		want Exports
	}{
		"namespace": {
			`var __SANDBOXED_LIB__ = { __proto__: null, b: 1, a() {}, C: class {}, get bad() { throw 1 }, [Symbol.iterator]: 1 };`,
			Exports{Type: "object", Names: []Export{{"C", "class"}, {"a", "function"}, {"b", "number"}, {"bad", "accessor that throws"}}},
		},
		"callable singleton": {
			`var __SANDBOXED_LIB__ = Object.assign(function lodash() {}, { map() {}, VERSION: "4" });`,
			Exports{Type: "function", Names: []Export{{"VERSION", "string"}, {"map", "function"}}},
		},
		"class":      {`var __SANDBOXED_LIB__ = class { static make() {} };`, Exports{Type: "class", Names: []Export{{"make", "function"}}}},
		"transpiled": {`var __SANDBOXED_LIB__ = Object.defineProperty({ default: 1 }, "__esModule", { value: true });`, Exports{Type: "object", ESModule: true, Names: []Export{{"default", "number"}}}},
		"the global object": {
			`globalThis.polyfilled = 1; var __SANDBOXED_LIB__ = globalThis;`,
			Exports{Type: "object"},
		},
		"primitive": {`var __SANDBOXED_LIB__ = 7;`, Exports{Type: "number"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := p.Load(t.Context(), request(tt.code))
			if err != nil || got.Failure != nil {
				t.Fatalf("%v %+v", err, got.Failure)
			}
			if diff := cmp.Diff(tt.want, got.Exports); diff != "" {
				t.Errorf("exports (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPool_grantsExactlyThePermissions(t *testing.T) {
	p := newPool(t, 1)
	const touches = `var __SANDBOXED_LIB__ = { made: document.createElement("div").style.color = "red" };`
	denied, err := p.Load(t.Context(), request(touches))
	if err != nil {
		t.Fatal(err)
	}
	if f := denied.Failure; f == nil || f.Kind != Threw || f.Name != "ReferenceError" || !strings.Contains(f.Message, "document") || !strings.Contains(f.Stack, "lib.bundle.js:1") {
		t.Errorf("without the permission: %+v", denied.Failure)
	}
	granted, err := p.Load(t.Context(), request(touches, "document"))
	if err != nil || granted.Failure != nil {
		t.Errorf("with the permission: %v %+v", err, granted.Failure)
	}
	// One guest's grants are not the next one's.
	again, err := p.Load(t.Context(), request(touches))
	if err != nil || again.Failure == nil {
		t.Errorf("afterwards: %v %+v", err, again.Failure)
	}
}

func TestPool_limitsAndCrashesEndTheGuestOnly(t *testing.T) {
	p := newPool(t, 1)
	tests := map[string]struct {
		code  string
		limit string
	}{
		"endless loop":      {`for (;;) {}`, "time"},
		"memory":            {`var a = []; for (;;) a.push({ a })`, "memory"},
		"buffers":           {`var a = []; for (let i = 0; i < 300; i++) a.push(new Uint8Array(512 << 10).fill(1)); var __SANDBOXED_LIB__ = {};`, "memory"},
		"reverse":           {`Array.prototype.reverse.call({ length: 2 ** 53 - 1 })`, "time"},
		"join":              {`Array.prototype.join.call({ length: 2 ** 31 })`, "time"},
		"recursion":         {`function f() { return f() + 1 } f(); var __SANDBOXED_LIB__ = {};`, "stack"},
		"endless promise":   {`var __SANDBOXED_LIB__ = {}; (async () => { for (;;) await 0 })()`, "jobs"},
		"getter that loops": {`var __SANDBOXED_LIB__ = { get x() { for (;;) {} } }`, "time"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := request(tt.code)
			if tt.limit != "time" { // which of two limits fires must not depend on the machine
				r.Limits.Timeout = time.Minute
			}
			got, err := p.Load(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if got.Failure == nil || got.Failure.Kind != Limited || got.Failure.Limit != tt.limit {
				t.Errorf("failure %+v", got.Failure)
			}
			after, err := p.Load(t.Context(), request(`var __SANDBOXED_LIB__ = { ok: 1 }`))
			if err != nil || after.Failure != nil {
				t.Fatalf("the next load: %v %+v", err, after.Failure)
			}
		})
	}
}

func TestPool_cancellingKillsTheWorker(t *testing.T) {
	p := newPool(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	slow := request(`Array.prototype.reverse.call({ length: 2 ** 53 - 1 })`)
	slow.Limits.Timeout = time.Hour
	done := make(chan error)
	go func() {
		_, err := p.Load(ctx, slow)
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := p.Load(t.Context(), request(`var __SANDBOXED_LIB__ = {}`)); err != nil {
		t.Errorf("the next load: %v", err)
	}
}

func TestPool_workloadsShareTheGuestOfTheirLibrary(t *testing.T) {
	p := newPool(t, 1)
	r := request(`var __SANDBOXED_LIB__ = { count: 41 };`)
	r.Workloads = []Script{
		{Name: "one", File: "one.js", Code: []byte(`var __SANDBOXED_WORKLOAD__ = { run() {}, seen: ++__SANDBOXED_LIB__.count };`)},
		{Name: "bad", File: "bad.js", Code: []byte(`throw new RangeError("no");`)},
	}
	got, err := p.Load(t.Context(), r)
	if err != nil || got.Failure != nil || len(got.Workloads) != 2 {
		t.Fatalf("%v %+v", err, got)
	}
	if diff := cmp.Diff([]Export{{"run", "function"}, {"seen", "number"}}, got.Workloads[0].Exports.Names); diff != "" {
		t.Errorf("exports (-want +got):\n%s", diff)
	}
	if f := got.Workloads[1].Failure; f == nil || f.Name != "RangeError" {
		t.Errorf("failure %+v", f)
	}
}

func TestPool_compilesWhereThatIsAsked(t *testing.T) {
	p := newPool(t, 1)
	asked := request(`var __SANDBOXED_LIB__ = { double: (number) => 2 * number, treble: (number) => 3 * number };`)
	for _, want := range []bool{false, true} {
		asked.Bytecode = want
		got, err := p.Load(t.Context(), asked)
		if err != nil || got.Failure != nil {
			t.Fatal(err, got.Failure)
		}
		if has := bytes.HasPrefix(got.Bytecode, []byte(quickjs.Hash())); has != want {
			t.Errorf("asked for bytecode: %t, got %q", want, got.Bytecode)
		}
		if bytes.Contains(got.Bytecode, []byte("(number) => 2 * number, treble: (number)")) {
			t.Error("it repeats what the script has already")
		}
	}
	asked.Script.Code = []byte(`throw new Error("no")`)
	if got, err := p.Load(t.Context(), asked); err != nil || got.Failure == nil || got.Bytecode != nil {
		t.Errorf("of a library that fails: %v, %v, %q", err, got.Failure, got.Bytecode)
	}
}

func TestPool_aBundleThatAssignsNothing(t *testing.T) {
	got, err := newPool(t, 1).Load(t.Context(), request(`1`))
	if err != nil || got.Failure == nil || got.Failure.Kind != Missing {
		t.Errorf("%v %+v", err, got.Failure)
	}
}

// The recorder must not change the verdict: a name that is not there still throws.
func TestPool_saysWhatALoadTouched(t *testing.T) {
	p := newPool(t, 1)
	tests := map[string]struct {
		code    string
		failure string
		want    []string
	}{
		"nothing":           {`var __SANDBOXED_LIB__ = { now: typeof Map };`, "", nil},
		"presence":          {`var __SANDBOXED_LIB__ = { has: typeof window };`, "", []string{"get window"}},
		"absent":            {`var __SANDBOXED_LIB__ = { t: document.title };`, "ReferenceError", []string{"get document"}},
		"absent, caught":    {`var __SANDBOXED_LIB__ = {}; try { document } catch { __SANDBOXED_LIB__.none = 1 }`, "", []string{"get document"}},
		"granted":           {`var __SANDBOXED_LIB__ = { t: crypto.subtle };`, "", []string{"get crypto"}},
		"the bundler's own": {`var r = typeof require, __SANDBOXED_LIB__ = {};`, "", nil},
		"granted, unused":   {`var __SANDBOXED_LIB__ = {};`, "", nil},
		"a loop at once":    {`var __SANDBOXED_LIB__ = {}; globalThis.navigator; for (;;) {}`, "time", []string{"get navigator"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := p.Load(t.Context(), request(tt.code, "crypto"))
			if err != nil {
				t.Fatal(err)
			}
			failure := ""
			if got.Failure != nil {
				failure = got.Failure.Name + got.Failure.Limit
			}
			if failure != tt.failure {
				t.Errorf("failure %+v, want %q", got.Failure, tt.failure)
			}
			var touched []string
			for _, touch := range got.Touches {
				touched = append(touched, string(touch.Operation)+" "+touch.Name)
			}
			if diff := cmp.Diff(tt.want, touched); diff != "" {
				t.Errorf("touches (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPool_saysWhatALoadThrew: the sandbox is gone by then, and with it the library's classes.
func TestPool_saysWhatALoadThrew(t *testing.T) {
	p := newPool(t, 1)
	const noError = "an object that is not an Error"
	for code, want := range map[string][2]string{
		`throw new TypeError("x")`:                                         {"TypeError", "x"},
		`class Own extends Error {} throw new Own("m")`:                    {"Error", "m"},
		`class Own extends RangeError { name = "Own" } throw new Own("m")`: {"Own", "m"},
		`function Old() {} Old.prototype = Object.create(Error.prototype, { name: { value: "Old" }, message: { value: "m" } }); throw new Old()`: {"Old", "m"},
		`throw { name: "Like", message: "m" }`:                     {"", "Like: m"},
		`throw { a: 1 }`:                                           {"", noError},
		`throw []`:                                                 {"", noError},
		`throw function named() {}`:                                {"", "a function"},
		`throw Object.create(null)`:                                {"", noError},
		`throw new Proxy({}, { get() { throw 1; } })`:              {"", "what cannot be looked at"},
		`class Odd { get message() { throw 1; } } throw new Odd()`: {"", noError},
		`throw 5`:         {"", "5"},
		`throw undefined`: {"", "undefined"},
	} {
		got, err := p.Load(t.Context(), request(code))
		if err != nil {
			t.Errorf("%s: %v", code, err)
			continue
		}
		if f := got.Failure; f == nil || f.Kind != Threw || f.Name != want[0] || f.Message != want[1] {
			t.Errorf("%s: got %+v, want %q", code, got.Failure, want)
		}
	}
}

func TestPool_whatAGuestThrowsIsBounded(t *testing.T) {
	p := newPool(t, 1)
	r := request(`throw new Error("é".repeat(5e6))`)
	r.Limits.Timeout = time.Minute // which end it comes to must not depend on the machine
	got, err := p.Load(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	f := got.Failure
	if f == nil || f.Kind != Threw || len(f.Message) > maxMessage+len("…") || !strings.HasPrefix(f.Message, "éé") || !strings.HasSuffix(f.Message, "é…") {
		t.Errorf("%.80v", f)
	}
}

// TestPool_aGuestThatItsGrantsFillIsLimited: the stand-ins of grants take the guest's memory.
func TestPool_aGuestThatItsGrantsFillIsLimited(t *testing.T) {
	p := newPool(t, 1)
	names := make([]string, 30_000)
	for i := range names {
		names[i] = fmt.Sprintf("granted%d", i)
	}
	r := request(`var __SANDBOXED_LIB__ = {};`, names...)
	r.Limits.MemoryBytes, r.Limits.Timeout = 4<<20, time.Minute
	got, err := p.Load(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if got.Failure == nil || got.Failure.Kind != Limited || got.Failure.Limit != "memory" {
		t.Errorf("failure %+v", got.Failure)
	}
}
