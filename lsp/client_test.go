package lsp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/textproto"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// message is one frame from the server.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// editor is a client that speaks raw frames with a server in the same process. It
// lives in a synctest bubble: time passes only when everything waits, and a message
// that never comes ends the test instead of hanging it.
type editor struct {
	t   *testing.T
	in  *io.PipeWriter // to the server
	err chan error     // what Serve returned
	log *bytes.Buffer  // the server's log; read it after stop only

	mu      sync.Mutex
	arrived []message
	news    chan struct{}
	// answer says what the client answers to a request of the server; nil means null,
	// false that it does not answer at all.
	answer func(m message) (any, bool)
	ended  chan struct{} // closed when the server's output ended
	lastID int
}

// start starts a server on a core. The bubble's test has to end it with stop, exit
// or hang up.
func start(t *testing.T, core Core, options Options) *editor {
	t.Helper()
	toServer, in := io.Pipe()
	fromServer, out := io.Pipe()
	e := &editor{t: t, in: in, err: make(chan error, 1), log: &bytes.Buffer{}, news: make(chan struct{}, 1), ended: make(chan struct{})}
	if options.Logger == nil {
		options.Logger = slog.New(slog.NewTextHandler(e.log, &slog.HandlerOptions{Level: slog.LevelInfo}))
	}
	go func() {
		err := Serve(context.Background(), toServer, out, core, options)
		out.Close()
		e.err <- err
	}()
	go e.read(fromServer)
	return e
}

func (e *editor) read(r io.Reader) {
	defer close(e.ended)
	in := textproto.NewReader(bufio.NewReader(r))
	for {
		header, err := in.ReadMIMEHeader()
		if err != nil {
			return
		}
		n, err := strconv.Atoi(header.Get("Content-Length"))
		if err != nil {
			e.t.Errorf("Content-Length: %v", err)
			return
		}
		body := make([]byte, n)
		if _, err := io.ReadFull(in.R, body); err != nil {
			e.t.Errorf("frame cut off: %v", err)
			return
		}
		var m message
		if err := json.Unmarshal(body, &m); err != nil {
			e.t.Errorf("frame %q: %v", body, err)
			return
		}
		e.mu.Lock()
		e.arrived = append(e.arrived, m)
		e.mu.Unlock()
		select {
		case e.news <- struct{}{}:
		default:
		}
		if m.Method != "" && m.ID != nil {
			var result any
			reply := true
			if e.answer != nil {
				result, reply = e.answer(m)
			}
			if reply {
				// Not on this goroutine: the server may be writing while it is written to.
				go e.frame(encode(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result}))
			}
		}
	}
}

func encode(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// frame sends a body as it is.
func (e *editor) frame(body string) {
	_, _ = fmt.Fprintf(e.in, "Content-Length: %d\r\n\r\n%s", len(body), body)
}

// take waits for the first message that matches and removes it, with everything
// before it that matches too left in place.
func (e *editor) take(what string, match func(message) bool) message {
	e.t.Helper()
	for {
		e.mu.Lock()
		for i, m := range e.arrived {
			if match(m) {
				e.arrived = append(e.arrived[:i:i], e.arrived[i+1:]...)
				e.mu.Unlock()
				return m
			}
		}
		e.mu.Unlock()
		select {
		case <-e.news:
		case <-e.ended:
			e.t.Fatalf("the server ended before %s", what)
		}
	}
}

// notify sends a notification.
func (e *editor) notify(method string, params any) {
	e.frame(encode(map[string]any{"jsonrpc": "2.0", "method": method, "params": params}))
}

// send sends a request and returns its id.
func (e *editor) send(method string, params any) int {
	e.lastID++
	e.frame(encode(map[string]any{"jsonrpc": "2.0", "id": e.lastID, "method": method, "params": params}))
	return e.lastID
}

// response waits for the answer to a request with this id, in JSON.
func (e *editor) response(id string) message {
	e.t.Helper()
	return e.take("the answer to "+id, func(m message) bool { return m.Method == "" && string(m.ID) == id })
}

// call sends a request and returns its answer.
func (e *editor) call(method string, params any) message {
	e.t.Helper()
	return e.response(strconv.Itoa(e.send(method, params)))
}

// result is call for requests that must succeed; it decodes the result.
func (e *editor) result(method string, params, into any) {
	e.t.Helper()
	m := e.call(method, params)
	if m.Error != nil {
		e.t.Fatalf("%s failed: %d %s", method, m.Error.Code, m.Error.Message)
	}
	if into != nil {
		if err := json.Unmarshal(m.Result, into); err != nil {
			e.t.Fatalf("%s: %v", method, err)
		}
	}
}

// code returns the error code of an answer, 0 for success.
func (m message) code() int {
	if m.Error == nil {
		return 0
	}
	return m.Error.Code
}

// initialize brings the server up, with these capabilities of the client and
// whatever else belongs into the params.
func (e *editor) initialize(capabilities map[string]any, more map[string]any) map[string]any {
	e.t.Helper()
	if capabilities == nil {
		capabilities = map[string]any{}
	}
	params := map[string]any{"processId": nil, "rootUri": nil, "capabilities": capabilities}
	for k, v := range more {
		params[k] = v
	}
	var result struct{ Capabilities map[string]any }
	e.result("initialize", params, &result)
	e.notify("initialized", map[string]any{})
	return result.Capabilities
}

// stop shuts the server down and reports everything that was not in order.
func (e *editor) stop() {
	e.t.Helper()
	if m := e.call("shutdown", nil); m.Error != nil || string(m.Result) != "null" {
		e.t.Errorf("shutdown answered %s %v", m.Result, m.Error)
	}
	e.notify("exit", nil)
	if err := e.wait(); err != nil {
		e.t.Errorf("Serve returned %v", err)
	}
}

// wait waits for the end of the server.
func (e *editor) wait() error {
	err := <-e.err
	e.in.Close()
	<-e.ended
	return err
}

// settle waits until nothing happens any more, timers included that are shorter
// than any wait of the test's own, and returns the messages that were not taken.
func (e *editor) settle() []message {
	synctest.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	arrived := e.arrived
	e.arrived = nil
	return arrived
}

// published are the params of textDocument/publishDiagnostics.
type published struct {
	URI         string
	Version     *int
	Diagnostics json.RawMessage
}

// messages returns the texts of the diagnostics, in order.
func (p published) messages() []string {
	var diagnostics []struct{ Message string }
	if err := json.Unmarshal(p.Diagnostics, &diagnostics); err != nil {
		panic(err)
	}
	texts := []string{}
	for _, d := range diagnostics {
		texts = append(texts, d.Message)
	}
	return texts
}

// diagnostics waits for the next publication about a URI.
func (e *editor) diagnostics(uri string) published {
	e.t.Helper()
	var p published
	e.take("diagnostics of "+uri, func(m message) bool {
		var next published
		if m.Method != "textDocument/publishDiagnostics" || json.Unmarshal(m.Params, &next) != nil || next.URI != uri {
			return false
		}
		p = next
		return true
	})
	return p
}

// open opens a document as version 1.
func (e *editor) open(uri, text string) {
	e.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": uri, "languageId": "javascript", "version": 1, "text": text}})
}

// replace replaces the whole text of a document.
func (e *editor) replace(uri string, version int, text string) {
	e.change(uri, version, map[string]any{"text": text})
}

// change sends changes to a document.
func (e *editor) change(uri string, version int, changes ...any) {
	e.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": uri, "version": version}, "contentChanges": changes})
}

// doc is the params of a request about a document.
func doc(uri string) map[string]any {
	return map[string]any{"textDocument": map[string]any{"uri": uri}}
}

// at is the params of a request about a place in a document.
func at(uri string, line, character int) map[string]any {
	return map[string]any{"textDocument": map[string]any{"uri": uri}, "position": pos(line, character)}
}

func pos(line, character int) map[string]any {
	return map[string]any{"line": line, "character": character}
}

// pass lets time pass in the bubble, a little more than d, and everything happen
// that comes of it.
func pass(d time.Duration) {
	time.Sleep(d + time.Millisecond)
	synctest.Wait()
}
