package lsp

import (
	"context"
	"io"
	"sync"
	"time"

	"go.lsp.dev/jsonrpc2"
)

// outbox writes messages in the order in which they were sent. Sending never waits,
// because the dispatch loop sends too, and a client that writes before it reads
// would otherwise wait for a server that waits for it.
type outbox struct {
	stream jsonrpc2.Stream
	out    io.Writer

	mu     sync.Mutex
	queue  []jsonrpc2.Message
	closed bool
	ready  chan struct{} // holds one token when there is something to look at

	broken chan struct{} // closed when a write failed
	err    error         // why; set before broken is closed
	done   chan struct{} // closed when run has returned
}

func newOutbox(stream jsonrpc2.Stream, out io.Writer) *outbox {
	return &outbox{
		stream: stream,
		out:    out,
		ready:  make(chan struct{}, 1),
		broken: make(chan struct{}),
		done:   make(chan struct{}),
	}
}

// send queues a message. What is sent after close or a failed write is dropped.
func (o *outbox) send(m jsonrpc2.Message) {
	o.mu.Lock()
	if !o.closed {
		o.queue = append(o.queue, m)
	}
	o.mu.Unlock()
	o.wake()
}

func (o *outbox) wake() {
	select {
	case o.ready <- struct{}{}:
	default:
	}
}

// run writes until the outbox is closed and empty, or a write fails.
func (o *outbox) run() {
	defer close(o.done)
	for range o.ready {
		o.mu.Lock()
		queue, closed := o.queue, o.closed
		o.queue = nil
		o.mu.Unlock()
		for _, m := range queue {
			if _, err := o.stream.Write(context.Background(), m); err != nil {
				o.mu.Lock()
				o.closed, o.queue = true, nil
				o.mu.Unlock()
				o.err = err
				close(o.broken)
				return
			}
		}
		if closed {
			return
		}
	}
}

// flushGrace is how long a client may take to read the last messages.
const flushGrace = 2 * time.Second

// close waits until everything is written. A client that does not read any more
// loses the rest.
func (o *outbox) close() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	o.wake()
	grace := time.NewTimer(flushGrace)
	defer grace.Stop()
	select {
	case <-o.done:
	case <-grace.C:
		if closer, ok := o.out.(io.Closer); ok {
			_ = closer.Close()
			<-o.done
		}
	}
}
