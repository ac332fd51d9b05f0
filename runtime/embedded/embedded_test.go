package embedded

import (
	"context"
	"os"
	"testing"

	"github.com/sandbox-lsp/sandbox-lsp/runtime/quickjs"
)

var engine *quickjs.Engine

func TestMain(m *testing.M) {
	ctx := context.Background()
	var err error
	if engine, err = quickjs.New(ctx, quickjs.Options{CacheDir: os.Getenv("SANDBOX_LSP_TEST_CACHE")}); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := engine.Close(ctx); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// open makes a host that ends with the test.
func open(t testing.TB) *Host {
	t.Helper()
	h, err := New(context.Background(), engine, Options{Limits: quickjs.Limits{MemoryBytes: 512 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return h
}

// in evaluates the body of a function of (manager, errors) in the host's realm.
func in(t testing.TB, h *Host, body string) string {
	t.Helper()
	ctx := context.Background()
	f, err := h.VM().Eval(ctx, "((SandboxManager, errors) => {"+body+"})", "test.js")
	if err != nil {
		t.Fatal(err)
	}
	v, err := h.VM().Call(ctx, f, h.VM().Undefined(), h.Manager, h.Errors)
	if err != nil {
		t.Fatal(err)
	}
	if v, err = h.VM().Await(ctx, v, 0); err != nil {
		t.Fatal(err)
	}
	text, err := v.ToText(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestHost_sandboxes(t *testing.T) {
	h := open(t)
	for name, tt := range map[string]struct{ body, want string }{
		"a function": {`
			const sandbox = SandboxManager.createSandboxSync("lib", "__SANDBOXED_LIB__ = { add: (a, b) => a + b }");
			return sandbox.exports.add(1, 2);`, "3"},
		"callbacks and data": {`
			const sandbox = SandboxManager.createSandboxSync("lib", "__SANDBOXED_LIB__ = { map: (list, f) => list.map(f) }");
			return JSON.stringify(sandbox.exports.map([{ n: 1 }, { n: 2 }], ({ n }) => ({ n: n * 2, text: "x" + n })));`, `[{"n":2,"text":"x1"},{"n":4,"text":"x2"}]`},
		"errors": {`
			const sandbox = SandboxManager.createSandboxSync("lib", "__SANDBOXED_LIB__ = { fail() { throw new TypeError('no') } }");
			try { sandbox.exports.fail() } catch (e) { return e instanceof TypeError && e.message }`, "no"},
		"promises": {`
			const sandbox = SandboxManager.createSandboxSync("lib", "__SANDBOXED_LIB__ = { async twice(p) { return 2 * await p } }");
			return sandbox.exports.twice(Promise.resolve(21));`, "42"},
		"granted randomness": {`
			const crypto = { getRandomValues: (a) => a.fill(7), randomUUID: () => "id" };
			const sandbox = SandboxManager.createSandboxSync("lib", "__SANDBOXED_LIB__ = { both: () => crypto.randomUUID() + crypto.getRandomValues(new Uint8Array(2)) }", { permissions: ["crypto"], capabilities: { crypto } });
			return sandbox.exports.both();`, "id7,7"},
		"randomness": {`
			const make = () => SandboxManager.createSandboxSync("lib", "__SANDBOXED_LIB__ = { draw: () => Math.random() }", { snapshot: true });
			const drawn = [make(), make(), make()].map((sandbox) => sandbox.exports.draw());
			return new Set([...drawn, Math.random()]).size;`, "4"},
		"a primitive": {`
			return SandboxManager.createSandboxSync("lib", "__SANDBOXED_LIB__ = 'text'").exports;`, "text"},
		"a time limit": {`
			const sandbox = SandboxManager.createSandboxSync("lib", "__SANDBOXED_LIB__ = { spin() { for (;;); } }", { limits: { timeoutMs: 50 } });
			try { sandbox.exports.spin() } catch (e) { return e instanceof errors.SandboxLimitError && e.limit }`, "time"},
		"a memory limit": {`
			const sandbox = SandboxManager.createSandboxSync("lib", "__SANDBOXED_LIB__ = { fill() { const all = []; for (;;) all.push(new Array(1000).fill(0)); } }", { limits: { memoryMB: 8 } });
			try { sandbox.exports.fill() } catch (e) { return e instanceof errors.SandboxLimitError && e.limit }`, "memory"},
		"bounds of memory": {`
			return [0.5, 1, 2048, 2049].map((memoryMB) => {
				try { return SandboxManager.createSandboxSync("lib", "__SANDBOXED_LIB__ = 'loads'", { limits: { memoryMB } }).exports } catch (e) { return e.message }
			}).join();`, "limits.memoryMB: a whole number from 1 to 2048 is needed, not 0.5,loads,loads,limits.memoryMB: a whole number from 1 to 2048 is needed, not 2049"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := in(t, h, tt.body); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
