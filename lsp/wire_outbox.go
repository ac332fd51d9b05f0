package lsp

import (
	"context"
	"fmt"
	"io"
	"os"
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
	held   int // bytes of the queue, headers aside
	closed bool
	ready  chan struct{} // holds one token when there is something to look at

	broken chan struct{} // closed when a write failed, or the client does not read
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

// maxUnread bounds the queue, in bytes. A client that leaves that much unread has
// stopped reading, and waiting for it would take the memory of its machine.
const maxUnread = 64 << 20

// errUnread ends the connection to a client that does not read.
var errUnread = fmt.Errorf("the client has left %d MiB of messages unread", maxUnread>>20)

// send queues a message. What is sent after close or a failed write is dropped.
func (o *outbox) send(m jsonrpc2.Message) {
	o.mu.Lock()
	defer o.wake()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	o.queue = append(o.queue, m)
	if o.held += sizeOf(m); o.held > maxUnread {
		o.breakOff(errUnread)
	}
}

// breakOff ends the outbox for a reason. The caller holds mu, and the outbox is not
// closed yet.
func (o *outbox) breakOff(reason error) {
	o.closed, o.queue, o.held = true, nil, 0
	o.err = reason
	close(o.broken)
}

// sizeOf returns about how much memory a message takes.
func sizeOf(m jsonrpc2.Message) int {
	const envelope = 128
	switch m := m.(type) {
	case *jsonrpc2.Response:
		return envelope + len(m.Result())
	case *jsonrpc2.Notification:
		return envelope + len(m.Params())
	case *jsonrpc2.Call:
		return envelope + len(m.Params())
	default:
		return envelope
	}
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
		o.queue, o.held = nil, 0
		o.mu.Unlock()
		for _, m := range queue {
			if _, err := o.stream.Write(context.Background(), m); err != nil {
				o.mu.Lock()
				if o.err == nil {
					o.breakOff(err)
				}
				o.mu.Unlock()
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
		closer, ok := o.out.(io.Closer)
		if !ok {
			return
		}
		_ = closer.Close()
		// Closing an inherited pipe does not end a write to it; the goroutine that waits
		// there ends with the process.
		if _, isFile := o.out.(*os.File); !isFile {
			<-o.done
		}
	}
}
