package lsp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
)

// methods returns the methods that the server answers, and one that it does not.
func methods() []string {
	names := []string{"textDocument/noSuchMethod"}
	for name := range requests {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func TestLifecycle_nothingIsAnsweredBeforeInitialize(t *testing.T) {
	for _, method := range methods() {
		if method == "initialize" {
			continue
		}
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				core := &fakeCore{}
				e := start(t, core, Options{})
				e.open(policyURI, "bad")
				if got := e.call(method, doc(policyURI)).code(); got != -32002 {
					t.Errorf("code %d, want -32002", got)
				}
				e.initialize(nil, nil)
				synctest.Wait()
				if asked := core.asked(); len(asked) > 0 {
					t.Errorf("what was opened before initialize counts: %v", asked)
				}
				e.stop()
			})
		})
	}
}

func TestLifecycle_nothingIsAnsweredAfterShutdown(t *testing.T) {
	for _, method := range methods() {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				core := &fakeCore{}
				e := start(t, core, Options{})
				e.initialize(nil, nil)
				e.result("shutdown", nil, nil)
				e.open(policyURI, "bad")
				if got := e.call(method, doc(policyURI)).code(); got != -32600 {
					t.Errorf("code %d, want -32600", got)
				}
				if asked := core.asked(); len(asked) > 0 {
					t.Errorf("a server that is shut down still works: %v", asked)
				}
				e.notify("exit", nil)
				if err := e.wait(); err != nil {
					t.Errorf("Serve returned %v", err)
				}
			})
		})
	}
}

func TestLifecycle_malformedParamsAreInvalid(t *testing.T) {
	for _, method := range methods() {
		if method == "initialize" || method == "shutdown" || method == "textDocument/noSuchMethod" {
			continue
		}
		for _, params := range []any{nil, []int{1}, "text", map[string]any{}, map[string]any{"textDocument": 7, "uri": 7, "command": 7}} {
			t.Run(fmt.Sprint(method, " ", params), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					e := start(t, &fakeCore{}, Options{})
					e.initialize(nil, nil)
					if got := e.call(method, params); got.code() != -32602 {
						t.Errorf("code %d (result %s), want -32602", got.code(), got.Result)
					}
					e.stop()
				})
			})
		}
	}
}

func TestLifecycle_theRest(t *testing.T) {
	tests := map[string]func(t *testing.T, e *editor){
		"an unknown request": func(t *testing.T, e *editor) {
			if got := e.call("textDocument/noSuchMethod", nil).code(); got != -32601 {
				t.Errorf("code %d, want -32601", got)
			}
		},
		"an unknown notification": func(t *testing.T, e *editor) {
			e.notify("textDocument/noSuchNotification", nil)
			e.notify("$/noSuchNotification", map[string]any{"a": 1})
		},
		"a second initialize": func(t *testing.T, e *editor) {
			if got := e.call("initialize", map[string]any{"processId": nil, "rootUri": nil, "capabilities": map[string]any{}}).code(); got != -32600 {
				t.Errorf("code %d, want -32600", got)
			}
		},
		"notifications with malformed params": func(t *testing.T, e *editor) {
			for method := range notifications {
				e.notify(method, "text")
				e.notify(method, map[string]any{"textDocument": map[string]any{"uri": 7}})
				e.notify(method, nil)
			}
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := start(t, &fakeCore{}, Options{})
				e.initialize(nil, nil)
				test(t, e)
				e.stop()
			})
		})
	}
}

func TestLifecycle_failedInitializeCanBeTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := start(t, &fakeCore{}, Options{})
		if got := e.call("initialize", "text").code(); got != -32602 {
			t.Errorf("code %d, want -32602", got)
		}
		e.initialize(nil, nil)
		e.stop()
	})
}

func TestServe_endsAsTheClientLeaves(t *testing.T) {
	tests := map[string]struct {
		leave func(e *editor)
		want  error
		code  int
	}{
		"exit alone":          {func(e *editor) { e.notify("exit", nil) }, ErrExitBeforeShutdown, 1},
		"end of input":        {func(e *editor) { e.in.Close() }, ErrDisconnected, 1},
		"end after shutdown":  {func(e *editor) { e.call("shutdown", nil); e.in.Close() }, nil, 0},
		"shutdown and exit":   {func(e *editor) { e.call("shutdown", nil); e.notify("exit", nil) }, nil, 0},
		"exit right after it": {func(e *editor) { e.send("shutdown", nil); e.notify("exit", nil) }, nil, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := start(t, &fakeCore{}, Options{})
				e.initialize(nil, nil)
				tt.leave(e)
				err := e.wait()
				if !errors.Is(err, tt.want) {
					t.Errorf("Serve returned %v, want %v", err, tt.want)
				}
				if code := ExitCode(err); code != tt.code {
					t.Errorf("exit code %d, want %d", code, tt.code)
				}
			})
		})
	}
}

func TestServe_waitsForWhatItStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		core := &fakeCore{check: func(ctx context.Context, _ *fakeSnapshot) ([]finding.Finding, error) {
			<-ctx.Done()
			time.Sleep(time.Second) // does not notice at once
			ended = true
			return nil, ctx.Err()
		}}
		e := start(t, core, Options{})
		e.initialize(nil, nil)
		e.open(policyURI, "x")
		pass(DefaultDebounce)
		e.in.Close()
		_ = e.wait()
		if !ended {
			t.Error("Serve returned before a check that it had started")
		}
	})
}

func TestServe_exitBeforeInitialize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := start(t, &fakeCore{}, Options{})
		e.notify("exit", nil)
		if err := e.wait(); !errors.Is(err, ErrExitBeforeShutdown) {
			t.Errorf("Serve returned %v", err)
		}
	})
}

func TestServe_endsWithTheClientsProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, lives := time.Now(), 12*time.Second
		e := start(t, &fakeCore{}, Options{alive: func(pid int) bool {
			if pid != 4711 {
				t.Errorf("process %d was watched", pid)
			}
			return time.Since(began) < lives
		}})
		e.initialize(nil, map[string]any{"processId": 4711})
		if err := e.wait(); !errors.Is(err, ErrParentGone) {
			t.Errorf("Serve returned %v", err)
		}
		if took := time.Since(began); took > lives+parentInterval {
			t.Errorf("it took the server %v to notice", took)
		}
	})
}

func TestInitialize_capabilities(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := start(t, &fakeCore{}, Options{Version: "1.2.3"})
		var got any
		e.result("initialize", map[string]any{"processId": nil, "rootUri": nil, "capabilities": map[string]any{
			"textDocument": map[string]any{"codeAction": map[string]any{"codeActionLiteralSupport": map[string]any{"codeActionKind": map[string]any{"valueSet": []string{"quickfix"}}}}},
		}}, &got)
		want := map[string]any{
			"serverInfo": map[string]any{"name": "sandbox-lsp", "version": "1.2.3"},
			"capabilities": map[string]any{
				"positionEncoding":       "utf-16",
				"textDocumentSync":       map[string]any{"openClose": true, "change": 2.0, "save": map[string]any{"includeText": false}},
				"completionProvider":     map[string]any{"triggerCharacters": []any{`"`, "'", "`", "/", "@"}},
				"hoverProvider":          true,
				"documentSymbolProvider": true,
				"codeActionProvider":     map[string]any{"codeActionKinds": []any{"quickfix", "source.fixAll.sandbox-lsp"}},
				"executeCommandProvider": map[string]any{"commands": []any{"sandbox-lsp.build"}, "workDoneProgress": true},
				"workspace":              map[string]any{"workspaceFolders": map[string]any{"supported": true, "changeNotifications": true}},
				"experimental":           map[string]any{"sandbox/proxyPreview": true},
			},
		}
		if diff := cmp.Diff(any(want), got); diff != "" {
			t.Errorf("initialize (-want +got):\n%s", diff)
		}
		e.stop()
	})
}

func TestTrace_isSentWhileItIsOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := start(t, &fakeCore{}, Options{})
		e.initialize(nil, nil)
		traces := func() int {
			n := 0
			for _, m := range e.settle() {
				if m.Method == "$/logTrace" && strings.Contains(string(m.Params), "textDocument/hover") {
					n++
				}
			}
			return n
		}
		for _, step := range []struct {
			value string
			want  int
		}{{"off", 0}, {"messages", 1}, {"verbose", 1}, {"off", 0}} {
			e.notify("$/setTrace", map[string]any{"value": step.value})
			e.call("textDocument/hover", at(policyURI, 0, 0))
			if got := traces(); got != step.want {
				t.Errorf("%s: %d traces, want %d", step.value, got, step.want)
			}
		}
		e.stop()
	})
}
