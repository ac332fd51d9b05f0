package lsp

import (
	"context"
	"fmt"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// notify sends a notification. It does not wait.
func (c *conn) notify(method string, params any) {
	raw, err := protocol.Marshal(params)
	if err != nil {
		c.log.Error("a notification cannot be encoded", "method", method, "error", err)
		return
	}
	c.notifyRaw(method, raw)
}

// notifyRaw sends a notification whose params are encoded already.
func (c *conn) notifyRaw(method string, params []byte) {
	c.outbox.send(jsonrpc2.NewNotification(method, params))
}

// call sends a request to the client and waits for its answer, which is decoded
// into result unless that is nil. It must not be called on the dispatch loop, which
// is what receives the answer.
func (c *conn) call(ctx context.Context, method string, params, result any) error {
	raw, err := protocol.Marshal(params)
	if err != nil {
		return fmt.Errorf("encode the params of %s: %w", method, err)
	}
	answer := make(chan *jsonrpc2.Response, 1)
	c.mu.Lock()
	c.calls++
	id := jsonrpc2.NewNumberID(c.calls)
	c.waiting[id] = answer
	number := c.calls
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.waiting, id)
		c.mu.Unlock()
	}()
	c.outbox.send(jsonrpc2.NewCall(id, method, raw))
	select {
	case response := <-answer:
		if err := response.Err(); err != nil {
			return fmt.Errorf("the client refused %s: %w", method, err)
		}
		if result == nil {
			return nil
		}
		if err := protocol.Unmarshal(response.Result(), result); err != nil {
			return fmt.Errorf("decode the client's answer to %s: %w", method, err)
		}
		return nil
	case <-ctx.Done():
		c.notifyRaw(protocol.MethodCancelRequest, fmt.Appendf(nil, `{"id":%d}`, number))
		return ctx.Err()
	}
}

// answered hands a response to the call that waits for it.
func (c *conn) answered(r *jsonrpc2.Response) {
	c.mu.Lock()
	answer := c.waiting[r.ID()]
	delete(c.waiting, r.ID())
	c.mu.Unlock()
	if answer == nil {
		c.log.Debug("a response that nothing waits for", "id", fmt.Sprint(r.ID()))
		return
	}
	answer <- r
}

// close waits for the requests that are still running, whose contexts the caller has
// cancelled, and for everything to be written.
func (c *conn) close() {
	c.requests.Wait()
	c.outbox.close()
}
