package lsp

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.lsp.dev/protocol"

	"github.com/sandbox-lsp/sandbox-lsp/analysis"
)

// progressToken names a progress display (LSP 3.18, "Work Done Progress"): a number
// or a string.
type progressToken = protocol.ProgressToken

// createGrace is how long a client may take to say that it shows a progress. One
// that does not answer gets a log message at the end instead.
const createGrace = 10 * time.Second

// tracker shows the client what takes long, in the way that the client supports.
type tracker struct {
	server *server

	mu      sync.Mutex
	count   int
	running map[progressToken]*operation
}

func newTracker(s *server) *tracker {
	return &tracker{server: s, running: map[progressToken]*operation{}}
}

// display says where an operation's progress goes.
type display int

const (
	displayPending display = iota // the client has not said yet whether it shows it
	displayShown
	displayLog // to window/logMessage, the end alone
)

// operation is one thing that takes long. Its methods do not wait, and what is
// reported before the client is ready is shown when it is.
type operation struct {
	tracker *tracker
	token   progressToken
	title   string
	cancel  func()

	mu      sync.Mutex
	display display
	latest  protocol.WorkDoneProgressReport // the last report; without a kind if there was none
	sent    string                          // the last report that was sent
	ended   bool
	failed  bool
	message string // how it ended
}

// begin starts an operation. With a token the client shows it already; otherwise it
// is asked to. cancel is called when the client says that the user has cancelled it.
func (t *tracker) begin(token progressToken, title string, cancel func()) *operation {
	o := &operation{tracker: t, token: token, title: title, cancel: cancel}
	t.mu.Lock()
	if token == nil {
		t.count++
		o.token = protocol.String(fmt.Sprintf("sandbox-lsp/%d", t.count))
	}
	t.running[o.token] = o
	t.mu.Unlock()
	switch {
	case token != nil:
		o.decide(displayShown)
	case t.server.client.progress:
		t.server.spawn("creating a progress", o.create)
	default:
		o.decide(displayLog)
	}
	return o
}

// create asks the client to show the operation.
func (o *operation) create(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, createGrace)
	defer cancel()
	params := &protocol.WorkDoneProgressCreateParams{Token: o.token}
	if err := o.tracker.server.conn.call(ctx, protocol.MethodWindowWorkDoneProgressCreate, params, nil); err != nil {
		o.tracker.server.log.Debug("the client shows no progress", "error", err)
		o.decide(displayLog)
		return
	}
	o.decide(displayShown)
}

// decide settles where the progress goes, and sends what has come together.
func (o *operation) decide(d display) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.display = d
	if d == displayShown {
		o.send(&protocol.WorkDoneProgressBegin{Kind: "begin", Title: o.title, Cancellable: new(true), Percentage: new(uint32(0))})
	}
	o.flush()
}

// report shows a step. It is an analysis.Progress.
func (o *operation) report(e analysis.Event) {
	r := protocol.WorkDoneProgressReport{Kind: "report", Cancellable: new(true)}
	message := e.Stage
	if e.Library != "" {
		message = e.Library + ": " + e.Stage
	}
	if message != "" {
		r.Message = &message
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return
	}
	percent := uint32(0)
	if e.Total > 0 {
		percent = uint32(min(max(100*e.Done/e.Total, 0), 100))
	}
	if o.latest.Percentage != nil {
		percent = max(percent, *o.latest.Percentage) // must not decrease
	}
	r.Percentage = &percent
	o.latest = r
	o.flush()
}

// end ends the operation with a message for the user.
func (o *operation) end(message string) { o.finish(message, false) }

// fail ends the operation as one that did not do what it should have.
func (o *operation) fail(message string) { o.finish(message, true) }

func (o *operation) finish(message string, failed bool) {
	o.tracker.mu.Lock()
	delete(o.tracker.running, o.token)
	o.tracker.mu.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return
	}
	o.ended, o.failed, o.message = true, failed, message
	o.flush()
}

// flush sends what can be sent now. The caller holds mu.
func (o *operation) flush() {
	if o.display == displayPending {
		return
	}
	if o.display == displayShown {
		if key := o.key(); key != o.sent && o.latest.Kind != "" {
			o.sent = key
			o.send(&o.latest)
		}
		if o.ended {
			o.send(&protocol.WorkDoneProgressEnd{Kind: "end", Message: &o.message})
		}
	}
	if o.ended && (o.failed || o.display == displayLog) {
		level := protocol.MessageTypeInfo
		if o.failed {
			level = protocol.MessageTypeError
		}
		o.tracker.server.conn.notify(protocol.MethodWindowLogMessage, &protocol.LogMessageParams{Type: level, Message: o.title + ": " + o.message})
	}
}

// key tells reports apart that look different.
func (o *operation) key() string {
	message, percent := "", uint32(0)
	if o.latest.Message != nil {
		message = *o.latest.Message
	}
	if o.latest.Percentage != nil {
		percent = *o.latest.Percentage
	}
	return fmt.Sprint(percent, " ", message)
}

func (o *operation) send(value any) {
	raw, err := protocol.Marshal(value)
	if err != nil {
		o.tracker.server.log.Error("a progress cannot be encoded", "error", err)
		return
	}
	o.tracker.server.conn.notify(protocol.MethodProgress, &protocol.ProgressParams{Token: o.token, Value: raw})
}

// cancelProgress handles window/workDoneProgress/cancel.
func (s *server) cancelProgress(p *protocol.WorkDoneProgressCancelParams) error {
	s.tracker.mu.Lock()
	o := s.tracker.running[p.Token]
	s.tracker.mu.Unlock()
	if o == nil {
		return nil // it has ended meanwhile
	}
	o.cancel()
	return nil
}
