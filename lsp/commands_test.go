package lsp

import (
	"strconv"
	"testing"
	"testing/synctest"
)

func TestCommand_buildsAndAnswers(t *testing.T) {
	tests := map[string]struct {
		arguments []any
		want      string
		code      int
	}{
		"every project":         {nil, `[{"uri":"file:///p","summary":"built"},{"uri":"file:///q","summary":"built"}]`, 0},
		"null":                  {[]any{nil}, `[{"uri":"file:///p","summary":"built"},{"uri":"file:///q","summary":"built"}]`, 0},
		"one by URI":            {[]any{"file:///q/src/x.js"}, `[{"uri":"file:///q","summary":"built"}]`, 0},
		"one by an object":      {[]any{map[string]any{"uri": "file:///p/.sandbox/sandbox.config.js"}}, `[{"uri":"file:///p","summary":"built"}]`, 0},
		"not a project":         {[]any{"file:///elsewhere/x.js"}, "", -32803},
		"not a file":            {[]any{"untitled:x"}, "", -32602},
		"not a URI":             {[]any{7}, "", -32602},
		"an object without one": {[]any{map[string]any{"file": "x"}}, "", -32602},
		"an empty URI":          {[]any{""}, "", -32602},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := start(t, &fakeCore{}, Options{})
				e.initialize(nil, nil)
				e.open(policyURI, "x")
				e.open("file:///q/.sandbox/sandbox.config.js", "y")
				got := e.call("workspace/executeCommand", map[string]any{"command": "sandbox-lsp.build", "arguments": tt.arguments})
				if got.code() != tt.code || string(got.Result) != tt.want {
					t.Errorf("answered %s %v, want %s %d", got.Result, got.Error, tt.want, tt.code)
				}
				e.stop()
			})
		})
	}
}

func TestCommand_theRest(t *testing.T) {
	build := func(more map[string]any) map[string]any {
		params := map[string]any{"command": "sandbox-lsp.build", "arguments": []any{policyURI}}
		for k, v := range more {
			params[k] = v
		}
		return params
	}
	tests := map[string]struct {
		core *fakeCore
		act  func(t *testing.T, e *editor)
	}{
		"an unknown command": {&fakeCore{}, func(t *testing.T, e *editor) {
			if got := e.call("workspace/executeCommand", map[string]any{"command": "sandbox-lsp.none"}).code(); got != -32602 {
				t.Errorf("code %d", got)
			}
		}},
		"no project": {&fakeCore{}, func(t *testing.T, e *editor) {
			if got := e.call("workspace/executeCommand", map[string]any{"command": "sandbox-lsp.build"}).code(); got != -32803 {
				t.Errorf("code %d", got)
			}
		}},
		"the client's own token": {&fakeCore{build: twoLibraries}, func(t *testing.T, e *editor) {
			id := e.send("workspace/executeCommand", build(map[string]any{"workDoneToken": "mine"}))
			seen := e.progress("mine")
			if len(seen) != 6 || seen[5] != "end 2 libraries built" {
				t.Errorf("progress %q", seen)
			}
			if got := e.response(strconv.Itoa(id)).code(); got != 0 {
				t.Errorf("code %d", got)
			}
		}},
		"the request is cancelled": {&fakeCore{build: untilCancelled}, func(t *testing.T, e *editor) {
			id := e.send("workspace/executeCommand", build(map[string]any{"workDoneToken": 7}))
			synctest.Wait()
			e.notify("$/cancelRequest", map[string]any{"id": id})
			if got := e.response(strconv.Itoa(id)).code(); got != -32800 {
				t.Errorf("code %d", got)
			}
			if seen := e.progress(7.0); seen[len(seen)-1] != "end Cancelled" {
				t.Errorf("progress %q", seen)
			}
		}},
		"a newer build takes its place": {&fakeCore{build: untilCancelled}, func(t *testing.T, e *editor) {
			first := e.send("workspace/executeCommand", build(nil))
			synctest.Wait()
			second := e.send("workspace/executeCommand", build(nil))
			if got := e.response(strconv.Itoa(first)).code(); got != -32802 {
				t.Errorf("code %d", got)
			}
			e.notify("$/cancelRequest", map[string]any{"id": second})
			if got := e.response(strconv.Itoa(second)).code(); got != -32800 {
				t.Errorf("code %d", got)
			}
		}},
		"the server is shut down meanwhile": {&fakeCore{build: untilCancelled}, func(t *testing.T, e *editor) {
			id := e.send("workspace/executeCommand", build(nil))
			synctest.Wait()
			t.Cleanup(func() {
				if got := e.response(strconv.Itoa(id)).code(); got != -32800 {
					t.Errorf("code %d", got)
				}
			})
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := start(t, tt.core, Options{})
				e.initialize(nil, nil)
				tt.act(t, e)
				e.stop()
			})
		})
	}
}
