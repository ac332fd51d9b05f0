package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/sandbox-lsp/sandbox-lsp/analysis"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

func TestWire_malformedFramesCostOneMessage(t *testing.T) {
	tests := map[string]struct {
		frame string
		id    string
		code  int
	}{
		"no JSON":                    {`{"jsonrpc":`, "null", -32700},
		"a word":                     {`hello`, "null", -32700},
		"bytes":                      {"\x00\xff\xfe", "null", -32700},
		"JSON and more":              {`{"jsonrpc":"2.0","id":1,"method":"shutdown"} }`, "null", -32700},
		"a number":                   {`42`, "null", -32600},
		"null":                       {`null`, "null", -32600},
		"an empty batch":             {`[]`, "null", -32600},
		"a batch":                    {`[{"jsonrpc":"2.0","id":7,"method":"shutdown"}]`, "null", -32600},
		"an empty object":            {`{}`, "null", -32600},
		"no method":                  {`{"jsonrpc":"2.0","id":7}`, "7", -32600},
		"a method that is a number":  {`{"jsonrpc":"2.0","id":"seven","method":7}`, `"seven"`, -32600},
		"an id that is a fraction":   {`{"jsonrpc":"2.0","id":7.5,"method":"shutdown"}`, "null", -32600},
		"an id that is an object":    {`{"jsonrpc":"2.0","id":{},"method":"shutdown"}`, "null", -32600},
		"another version":            {`{"jsonrpc":"1.0","id":7,"method":"shutdown"}`, "7", -32600},
		"an id beyond every integer": {`{"jsonrpc":"2.0","id":99999999999999999999,"method":"shutdown"}`, "null", -32600},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := start(t, &fakeCore{}, Options{})
				e.initialize(nil, nil)
				e.frame(tt.frame)
				if got := e.response(tt.id).code(); got != tt.code {
					t.Errorf("code %d, want %d", got, tt.code)
				}
				e.stop() // the server still works
			})
		})
	}
}

func TestWire_brokenFramingEndsTheServer(t *testing.T) {
	for name, bytes := range map[string]string{
		"no length":     "Content-Type: text\r\n\r\n{}",
		"a wrong one":   "Content-Length: many\r\n\r\n{}",
		"cut off":       "Content-Length: 100\r\n\r\n{}",
		"not a header":  "hello\r\n\r\n",
		"a huge length": "Content-Length: 99999999999999\r\n\r\n{}",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := start(t, &fakeCore{}, Options{})
				e.initialize(nil, nil)
				_, _ = io.WriteString(e.in, bytes)
				e.in.Close()
				if err := e.wait(); err == nil {
					t.Error("Serve returned no error")
				}
			})
		})
	}
}

func TestWire_headersAreReadAsTheProtocolSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := start(t, &fakeCore{}, Options{})
		e.initialize(nil, nil)
		body := `{"jsonrpc":"2.0","id":"x","method":"textDocument/none"}`
		_, _ = fmt.Fprintf(e.in, "content-type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length: %d\r\n\r\n%s", len(body), body)
		if got := e.response(`"x"`).code(); got != -32601 {
			t.Errorf("code %d", got)
		}
		e.stop()
	})
}

// blocking is a hover that waits until it is cancelled, and says when it begins.
func blocking(begun chan<- struct{}) func(context.Context, *fakeSnapshot, string, text.Position) (*analysis.Hover, error) {
	return func(ctx context.Context, _ *fakeSnapshot, _ string, _ text.Position) (*analysis.Hover, error) {
		begun <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}
}

func TestWire_cancelStopsTheRequestWithThatID(t *testing.T) {
	// A number and the same digits as a string are two requests.
	for _, id := range []string{`7`, `"7"`, `"a b"`, `-1`, `0`, `""`} {
		t.Run(id, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := make(chan struct{}, 2)
				e := start(t, &fakeCore{hover: blocking(begun)}, Options{})
				e.initialize(nil, nil)
				other := `"other"`
				if id == `7` {
					other = `"7"`
				} else if id == `"7"` {
					other = `7`
				}
				for _, id := range []string{id, other} {
					e.frame(`{"jsonrpc":"2.0","id":` + id + `,"method":"textDocument/hover","params":` + encode(at(policyURI, 0, 0)) + `}`)
					<-begun
				}
				e.frame(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":` + id + `}}`)
				if got := e.response(id).code(); got != -32800 {
					t.Errorf("code %d, want -32800", got)
				}
				if rest := e.settle(); len(rest) > 0 {
					t.Errorf("after the cancellation the server said %v", rest)
				}
				e.frame(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":` + other + `}}`)
				if got := e.response(other).code(); got != -32800 {
					t.Errorf("the other request: code %d", got)
				}
				e.stop()
			})
		})
	}
}

func TestWire_cancelOfNothingDoesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := start(t, &fakeCore{}, Options{})
		e.initialize(nil, nil)
		for _, params := range []string{`{"id":99}`, `{"id":"x"}`, `{"id":null}`, `{}`, `{"id":[1]}`, `null`, `"x"`} {
			e.frame(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":` + params + `}`)
		}
		e.stop()
	})
}

func TestWire_slowRequestsDelayNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := make(chan struct{}, 1)
		e := start(t, &fakeCore{hover: blocking(begun)}, Options{})
		e.initialize(nil, nil)
		slow := e.send("textDocument/hover", at(policyURI, 0, 0))
		<-begun
		e.result("textDocument/documentSymbol", doc(policyURI), nil)
		// Shutting down does not wait for it either, and it is answered all the same.
		e.stop()
		if got := e.response(fmt.Sprint(slow)).code(); got != -32800 {
			t.Errorf("code %d, want -32800", got)
		}
	})
}

func TestWire_idsInUseAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := make(chan struct{}, 2)
		e := start(t, &fakeCore{hover: blocking(begun)}, Options{})
		e.initialize(nil, nil)
		request := `{"jsonrpc":"2.0","id":7,"method":"textDocument/hover","params":` + encode(at(policyURI, 0, 0)) + `}`
		e.frame(request)
		<-begun
		e.frame(request)
		if got := e.response("7").code(); got != -32600 {
			t.Errorf("code %d, want -32600", got)
		}
		e.frame(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":7}}`)
		if got := e.response("7").code(); got != -32800 {
			t.Errorf("code %d, want -32800", got)
		}
		e.stop()
	})
}

func TestWire_panicsAnswerAndAreLogged(t *testing.T) {
	boom := func() { panic("boom") }
	tests := map[string]struct {
		core *fakeCore
		act  func(t *testing.T, e *editor)
	}{
		"in a request": {
			&fakeCore{hover: func(context.Context, *fakeSnapshot, string, text.Position) (*analysis.Hover, error) {
				boom()
				return nil, nil
			}},
			func(t *testing.T, e *editor) {
				if got := e.call("textDocument/hover", at(policyURI, 0, 0)); got.code() != -32603 || strings.Contains(got.Error.Message, "boom") {
					t.Errorf("answered %v", got.Error)
				}
			},
		},
		"in parsing": {
			&fakeCore{parse: func(context.Context, *fakeSnapshot) ([]finding.Finding, error) { boom(); return nil, nil }},
			func(t *testing.T, e *editor) {
				e.open(policyURI, "deep")
				e.diagnostics(policyURI)
				if got := e.diagnostics(policyURI).messages(); len(got) != 1 {
					t.Errorf("the check found %v", got)
				}
			},
		},
		"in a check": {
			&fakeCore{check: func(context.Context, *fakeSnapshot) ([]finding.Finding, error) { boom(); return nil, nil }},
			func(t *testing.T, e *editor) {
				e.open(policyURI, "bad")
				e.diagnostics(policyURI)
				pass(DefaultDebounce)
				e.replace(policyURI, 2, "bad bad")
				if got := e.diagnostics(policyURI).messages(); len(got) != 2 {
					t.Errorf("the parser found %v", got)
				}
			},
		},
		"in a build": {
			&fakeCore{build: func(context.Context, *fakeSnapshot, analysis.Progress) ([]finding.Finding, string, error) {
				boom()
				return nil, "", nil
			}},
			func(t *testing.T, e *editor) {
				if got := e.call("workspace/executeCommand", map[string]any{"command": "sandbox-lsp.build", "arguments": []any{policyURI}}).code(); got != -32603 {
					t.Errorf("code %d, want -32603", got)
				}
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := start(t, tt.core, Options{})
				e.initialize(nil, nil)
				tt.act(t, e)
				pass(DefaultDebounce)
				e.stop()
				if log := e.log.String(); !strings.Contains(log, "boom") || !strings.Contains(log, "core_test.go") {
					t.Errorf("the log lacks the panic or its stack:\n%s", log)
				}
			})
		})
	}
}

// rootPanics is a core that panics where the dispatch loop asks it something.
type rootPanics struct{ fakeCore }

func (*rootPanics) Root(path string) (string, bool) {
	if strings.Contains(path, "boom") {
		panic("boom")
	}
	return "", false
}

func TestWire_panicsOnTheDispatchLoopDoNotEndIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := start(t, &rootPanics{}, Options{})
		e.initialize(nil, nil)
		e.open("file:///boom.js", "")
		if got := e.call("textDocument/hover", at("file:///boom.js", 0, 0)).code(); got != -32603 {
			t.Errorf("code %d, want -32603", got)
		}
		e.stop()
	})
}

func TestWire_errorsOfTheCoreFailTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core := &fakeCore{hover: func(context.Context, *fakeSnapshot, string, text.Position) (*analysis.Hover, error) {
			return nil, errors.New("read the policy: it is a folder")
		}}
		e := start(t, core, Options{})
		e.initialize(nil, nil)
		if got := e.call("textDocument/hover", at(policyURI, 0, 0)); got.code() != -32803 || got.Error.Message != "read the policy: it is a folder" {
			t.Errorf("answered %v", got.Error)
		}
		e.stop()
	})
}

// TestWire_aClientThatWritesBeforeItReads would hang if the dispatch loop waited for
// the client: the answers to all requests are still unread when the last is written.
func TestWire_aClientThatWritesBeforeItReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		toServer, in := io.Pipe()
		fromServer, out := io.Pipe()
		served := make(chan error, 1)
		go func() {
			err := Serve(context.Background(), toServer, out, &fakeCore{}, Options{})
			out.Close()
			served <- err
		}()
		frame := func(body string) { _, _ = fmt.Fprintf(in, "Content-Length: %d\r\n\r\n%s", len(body), body) }
		frame(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}`)
		for i := 1; i <= 1000; i++ {
			frame(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"textDocument/none"}`, i))
		}
		frame(`{"jsonrpc":"2.0","id":1001,"method":"shutdown"}`)
		frame(`{"jsonrpc":"2.0","method":"exit"}`)
		everything, err := io.ReadAll(fromServer)
		if err != nil {
			t.Error(err)
		}
		if got := strings.Count(string(everything), "-32601"); got != 1000 {
			t.Errorf("%d answers, want 1000", got)
		}
		if err := <-served; err != nil {
			t.Errorf("Serve returned %v", err)
		}
	})
}

func TestWire_aClientThatReadsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		toServer, in := io.Pipe()
		_, out := io.Pipe()
		served := make(chan error, 1)
		go func() { served <- Serve(context.Background(), toServer, out, &fakeCore{}, Options{}) }()
		_, _ = fmt.Fprint(in, "Content-Length: 4\r\n\r\nnull")
		in.Close()
		if err := <-served; !errors.Is(err, ErrDisconnected) {
			t.Errorf("Serve returned %v", err)
		}
	})
}

// TestWire_aClientThatStopsReading holds that answers do not pile up without bound.
func TestWire_aClientThatStopsReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		toServer, in := io.Pipe()
		_, out := io.Pipe()
		large := strings.Repeat("x", 4<<20)
		core := &fakeCore{hover: func(context.Context, *fakeSnapshot, string, text.Position) (*analysis.Hover, error) {
			return &analysis.Hover{Markdown: large}, nil
		}}
		served := make(chan error, 1)
		go func() { served <- Serve(context.Background(), toServer, out, core, Options{}) }()
		frame := func(body string) { _, _ = fmt.Fprintf(in, "Content-Length: %d\r\n\r\n%s", len(body), body) }
		frame(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}`)
		for i := range 2 * maxUnread / len(large) {
			frame(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"textDocument/hover","params":{"textDocument":{"uri":%q},"position":{"line":0,"character":0}}}`, i+1, policyURI))
			synctest.Wait()
		}
		if err := <-served; !errors.Is(err, errUnread) {
			t.Errorf("Serve returned %v", err)
		}
	})
}

func TestWire_aClientThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		toServer, in := io.Pipe()
		fromServer, out := io.Pipe()
		fromServer.Close()
		served := make(chan error, 1)
		go func() { served <- Serve(context.Background(), toServer, out, &fakeCore{}, Options{}) }()
		_, _ = fmt.Fprint(in, "Content-Length: 4\r\n\r\nnull")
		if err := <-served; !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("Serve returned %v", err)
		}
	})
}

func TestWire_contextEndsTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		toServer, _ := io.Pipe()
		_, out := io.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- Serve(ctx, toServer, out, &fakeCore{}, Options{}) }()
		cancel()
		if err := <-served; !errors.Is(err, context.Canceled) {
			t.Errorf("Serve returned %v", err)
		}
	})
}

func FuzzWire(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":{}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"untitled:x","text":null}}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///p/a.js","version":2},"contentChanges":[{"range":null,"text":""},{}]}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":null}`))
	f.Add([]byte(`[[[[`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) == 0 || json.Valid(body) && strings.Contains(string(body), `exit`) {
			return
		}
		synctest.Test(t, func(t *testing.T) {
			e := start(t, &fakeCore{}, Options{})
			e.initialize(nil, nil)
			e.open("file:///p/a.js", "")
			e.frame(string(body))
			pass(DefaultDebounce)
			e.frame(`{"jsonrpc":"2.0","id":"an id of our own","method":"textDocument/none"}`)
			if got := e.response(`"an id of our own"`).code(); got != -32601 && got != -32600 {
				t.Errorf("the server is not well: code %d", got)
			}
			e.in.Close()
			_ = e.wait()
		})
	})
}

// FuzzStream feeds the server bytes as they are, headers included: it has to answer or
// to end, and neither to panic nor to hang.
func FuzzStream(f *testing.F) {
	const hello = "Content-Length: 82\r\n\r\n" + `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}       `
	for _, seed := range []string{
		hello, "", "\r\n\r\n", "Content-Length: 2\r\n\r\n{}", "Content-Length: -1\r\n\r\n{}", "Content-Length: 0\r\n\r\n",
		"Content-Length: 99999999999999999999\r\n\r\n{}", "Content-Length: 3\r\n\r\n{}", "Content-Length: 1\r\n\r\n{}\r\n",
		"Content-Length: 2\r\nContent-Length: 4\r\n\r\nnull", "Content-Length:2\n\n{}", "content-length: 2\r\nX: \xff\r\n\r\n[]", "X\r\n\r\n{}",
		hello + "Content-Length: 46\r\n\r\n" + `{"jsonrpc":"2.0","id":"s","method":"shutdown"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		synctest.Test(t, func(t *testing.T) {
			e := start(t, &fakeCore{}, Options{})
			_, _ = e.in.Write(stream)
			e.in.Close()
			_ = e.wait()
			if strings.Contains(e.log.String(), "panic") {
				t.Errorf("the log has a panic:\n%s", e.log)
			}
		})
	})
}
