package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/sourcegraph/conc/panics"
	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// handler decides about incoming messages. Its methods are called one at a time, in
// the order of the wire, and must not wait for the client.
type handler interface {
	// request decides about a request.
	request(method string, params []byte) (reply, error)
	// notification handles a notification; exit ends the connection.
	notification(method string, params []byte) (exit bool)
}

// reply is the answer to a request: the value, or what has to be done for it.
type reply struct {
	value any
	later func(ctx context.Context) (any, error)
}

// conn carries JSON-RPC messages and keeps its promises: messages are handled in
// order, each request is answered exactly once, a panic or a malformed frame costs
// one message and not the connection.
//
// It takes framing and envelopes from jsonrpc2 but not that package's dispatch,
// which ends the connection after a panic and after malformed JSON.
type conn struct {
	stream jsonrpc2.Stream
	in     io.Reader
	log    *slog.Logger
	outbox *outbox
	posts  chan func()

	// requests are the goroutines that work on requests.
	requests conc.WaitGroup

	mu      sync.Mutex
	running map[jsonrpc2.ID]context.CancelFunc // requests that have no answer yet
	waiting map[jsonrpc2.ID]chan *jsonrpc2.Response
	calls   int64 // how many requests were sent to the client
}

// newConn prepares a connection; serve starts it.
func newConn(in io.Reader, out io.Writer, log *slog.Logger) *conn {
	stream := jsonrpc2.NewHeaderStream(duplex{in, out})
	return &conn{
		stream:  stream,
		in:      in,
		log:     log,
		outbox:  newOutbox(stream, out),
		posts:   make(chan func()),
		running: map[jsonrpc2.ID]context.CancelFunc{},
		waiting: map[jsonrpc2.ID]chan *jsonrpc2.Response{},
	}
}

// duplex is the pair of streams as jsonrpc2 wants it. Closing is not its business:
// see Serve.
type duplex struct {
	io.Reader
	io.Writer
}

func (duplex) Close() error { return nil }

// frame is the body of one message, or the error that ended the input.
type frame struct {
	body []byte
	err  error
}

// read passes the frames of the input on. It is a goroutine of its own because a
// read cannot be cancelled: the dispatch loop has to end although the client says
// nothing more.
func (c *conn) read(ctx context.Context, frames chan<- frame) {
	source := c.stream.(interface {
		ReadFrame(ctx context.Context) ([]byte, int64, error)
	})
	for {
		body, _, err := source.ReadFrame(ctx)
		f := frame{bytes.Clone(body), err} // the stream reuses its buffer
		select {
		case frames <- f:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// serve dispatches messages to the handler until one of them says exit (nil), the
// input ends (io.EOF), or the context is cancelled (its cause).
func (c *conn) serve(ctx context.Context, h handler) error {
	reading, stop := context.WithCancel(ctx)
	frames := make(chan frame)
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.read(reading, frames)
	}()
	go c.outbox.run()
	err := c.dispatch(ctx, h, frames)
	stop()
	c.endRead(done)
	return err
}

// readGrace is how long a read may take to return after its input was closed.
const readGrace = 2 * time.Second

// endRead ends the goroutine that reads. Closing a file that is a terminal or an
// inherited pipe does not end a read of it; that goroutine ends with the process.
func (c *conn) endRead(done <-chan struct{}) {
	closer, ok := c.in.(io.Closer)
	if !ok {
		return
	}
	_ = closer.Close()
	if _, isFile := c.in.(*os.File); isFile {
		return
	}
	grace := time.NewTimer(readGrace)
	defer grace.Stop()
	select {
	case <-done:
	case <-grace.C:
	}
}

func (c *conn) dispatch(ctx context.Context, h handler, frames <-chan frame) error {
	for {
		select {
		case f := <-frames:
			if f.err != nil {
				return f.err
			}
			if c.message(ctx, h, f.body) {
				return nil
			}
		case post := <-c.posts:
			_ = c.guard("a posted function", post)
		case <-c.outbox.broken:
			return fmt.Errorf("write to the client: %w", c.outbox.err)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// post runs f on the dispatch loop, between two messages, unless the context ends
// first.
func (c *conn) post(ctx context.Context, f func()) {
	select {
	case c.posts <- f:
	case <-ctx.Done():
	}
}

// guard calls f and turns a panic into a log entry and an error.
func (c *conn) guard(what string, f func()) error {
	caught := panics.Try(f)
	if caught == nil {
		return nil
	}
	c.log.Error("panic", "in", what, "value", fmt.Sprint(caught.Value), "stack", string(caught.Stack))
	return internalError("the server met a fault of its own in %s; its log has the details", what)
}

// message handles one frame and reports whether it was the last one.
func (c *conn) message(ctx context.Context, h handler, body []byte) (exit bool) {
	message, err := jsonrpc2.DecodeMessage(body)
	if err != nil {
		c.malformed(body, err)
		return false
	}
	switch m := message.(type) {
	case *jsonrpc2.Response:
		c.answered(m)
	case *jsonrpc2.Notification:
		if m.Method() == protocol.MethodCancelRequest {
			c.cancel(m.Params())
			return false
		}
		_ = c.guard(m.Method(), func() { exit = h.notification(m.Method(), m.Params()) })
	case *jsonrpc2.Call:
		c.request(ctx, h, m)
	}
	return exit
}

// malformed answers a frame that is no message, with its id if it has one.
func (c *conn) malformed(body []byte, cause error) {
	c.log.Warn("malformed message", "bytes", len(body), "error", cause)
	var envelope struct {
		ID json.RawMessage `json:"id"`
	}
	switch err := json.Unmarshal(body, &envelope); {
	case !json.Valid(body):
		c.answer(jsonrpc2.ID{}, nil, &wireError{jsonrpc2.ParseError, "the message is not valid JSON"})
	case err != nil:
		c.answer(jsonrpc2.ID{}, nil, &wireError{jsonrpc2.InvalidRequest, "the message is not one JSON-RPC object; batches are not part of the protocol"})
	default:
		id, _ := parseID(envelope.ID)
		c.answer(id, nil, &wireError{jsonrpc2.InvalidRequest, "the message is not a JSON-RPC request, notification or response"})
	}
}

// request starts the work on a request.
func (c *conn) request(ctx context.Context, h handler, m *jsonrpc2.Call) {
	id, method := m.ID(), m.Method()
	c.mu.Lock()
	_, taken := c.running[id]
	c.mu.Unlock()
	if taken {
		c.answer(id, nil, &wireError{jsonrpc2.InvalidRequest, "another request with this id is still running"})
		return
	}
	var r reply
	var err error
	if fault := c.guard(method, func() { r, err = h.request(method, m.Params()) }); fault != nil {
		err = fault
	}
	if err != nil || r.later == nil {
		c.answer(id, r.value, err)
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	c.mu.Lock()
	c.running[id] = cancel
	c.mu.Unlock()
	began := time.Now()
	c.requests.Go(func() {
		defer cancel()
		var value any
		var err error
		if fault := c.guard(method, func() { value, err = r.later(ctx) }); fault != nil {
			value, err = nil, fault
		}
		c.mu.Lock()
		delete(c.running, id)
		c.mu.Unlock()
		c.log.Debug("request", "method", method, "took", time.Since(began), "error", err)
		c.answer(id, value, err)
	})
}

// answer sends the one response to a request.
func (c *conn) answer(id jsonrpc2.ID, value any, err error) {
	var result jsonrpc2.RawMessage
	if err == nil {
		if fault := c.guard("encoding a result", func() { result, err = protocol.Marshal(value) }); fault != nil {
			err = fault
		} else if err != nil {
			c.log.Error("a result cannot be encoded", "error", err)
			err = internalError("the result cannot be encoded")
		}
	}
	if err != nil {
		c.outbox.send(jsonrpc2.NewResponse(id, nil, toWire(err)))
		return
	}
	c.outbox.send(jsonrpc2.NewResponse(id, result, nil))
}

// cancel handles $/cancelRequest (LSP 3.18, "Cancellation Support"). The request is
// answered all the same.
func (c *conn) cancel(params []byte) {
	var p struct {
		ID json.RawMessage `json:"id"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		c.log.Warn("malformed $/cancelRequest", "error", err)
		return
	}
	id, ok := parseID(p.ID)
	if !ok {
		c.log.Warn("malformed id in $/cancelRequest", "id", string(p.ID))
		return
	}
	c.mu.Lock()
	cancel := c.running[id]
	c.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// parseID reads a request id: an integer or a string, never the same for both.
func parseID(raw []byte) (jsonrpc2.ID, bool) {
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return jsonrpc2.NewStringID(s), true
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return jsonrpc2.NewNumberID(n), true
	}
	return jsonrpc2.ID{}, false
}
