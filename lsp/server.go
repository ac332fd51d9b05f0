package lsp

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/sourcegraph/conc"
	"go.lsp.dev/protocol"
)

// state is where the server stands in its life (LSP 3.18, "Server lifecycle").
type state int

const (
	stateCreated state = iota // nothing but initialize is allowed
	stateRunning              // initialize was answered
	stateDown                 // shutdown was asked for; only exit is allowed
)

// server is the handler of a connection. Unless a field says otherwise it belongs to
// the dispatch loop.
type server struct {
	core    Core
	conn    *conn
	options Options
	log     *slog.Logger

	ctx  context.Context         // ends when Serve does
	stop context.CancelCauseFunc // ends Serve

	state    state
	client   client     // what the client can do; written once, by initialize
	settings settings   // what the user wants
	docs     *documents // the open documents
	folders  []string   // paths of the workspace's folders
	projects map[string]*project

	publisher *publisher  // has its own lock
	tracker   *tracker    // has its own lock
	tracing   atomic.Bool // whether the client wants $/logTrace

	work    context.Context // ends at shutdown
	endWork context.CancelFunc
	workers conc.WaitGroup // every goroutine of the server that is not a request's
}

func newServer(ctx context.Context, stop context.CancelCauseFunc, c *conn, core Core, options Options) *server {
	s := &server{
		core:     core,
		conn:     c,
		options:  options,
		log:      options.Logger,
		ctx:      ctx,
		stop:     stop,
		settings: defaultSettings(),
		docs:     newDocuments(),
		projects: map[string]*project{},
	}
	s.work, s.endWork = context.WithCancel(ctx)
	s.publisher = newPublisher(s)
	s.tracker = newTracker(s)
	return s
}

// join ends all workers and waits for them.
func (s *server) join() {
	s.endWork()
	s.workers.Wait()
}

// spawn runs f on a worker that ends with the server. A panic in it costs that
// worker alone. It is called on the dispatch loop or by another worker; once the
// server is shut down it does nothing.
func (s *server) spawn(what string, f func(ctx context.Context)) {
	if s.work.Err() != nil {
		return
	}
	s.workers.Go(func() {
		_ = s.conn.guard(what, func() { f(s.work) })
	})
}

// requests lists the methods that the server answers.
var requests = map[string]func(*server, []byte) (reply, error){
	protocol.MethodInitialize:                 with((*server).initialize),
	protocol.MethodShutdown:                   (*server).shutdown,
	protocol.MethodTextDocumentHover:          with((*server).hover),
	protocol.MethodTextDocumentCompletion:     with((*server).completion),
	protocol.MethodTextDocumentDocumentSymbol: with((*server).documentSymbol),
	protocol.MethodTextDocumentCodeAction:     with((*server).codeAction),
	protocol.MethodWorkspaceExecuteCommand:    with((*server).executeCommand),
	methodProxyPreview:                        with((*server).proxyPreview),
}

// notifications lists the notifications that mean something to the server. exit is
// not among them since it ends the dispatch loop.
var notifications = map[string]func(*server, []byte) error{
	protocol.MethodInitialized:                        (*server).initialized,
	protocol.MethodSetTrace:                           to((*server).setTrace),
	protocol.MethodTextDocumentDidOpen:                (*server).didOpen,
	protocol.MethodTextDocumentDidChange:              to((*server).didChange),
	protocol.MethodTextDocumentDidSave:                to((*server).didSave),
	protocol.MethodTextDocumentDidClose:               to((*server).didClose),
	protocol.MethodWorkspaceDidChangeConfiguration:    to((*server).didChangeConfiguration),
	protocol.MethodWorkspaceDidChangeWatchedFiles:     to((*server).didChangeWatchedFiles),
	protocol.MethodWorkspaceDidChangeWorkspaceFolders: to((*server).didChangeWorkspaceFolders),
	protocol.MethodWindowWorkDoneProgressCancel:       to((*server).cancelProgress),
}

// request implements handler.
func (s *server) request(method string, params []byte) (reply, error) {
	switch {
	case s.state == stateDown:
		return reply{}, invalidRequest("the server is shut down; only exit may follow")
	case s.state == stateCreated && method != protocol.MethodInitialize:
		return reply{}, notInitialized()
	case s.state == stateRunning && method == protocol.MethodInitialize:
		return reply{}, invalidRequest("the server is initialized already")
	}
	handle, ok := requests[method]
	if !ok {
		return reply{}, methodNotFound(method)
	}
	s.trace("request", method)
	return handle(s, params)
}

// notification implements handler.
func (s *server) notification(method string, params []byte) (exit bool) {
	if method == protocol.MethodExit {
		return true
	}
	if s.state != stateRunning {
		s.log.Warn("a notification out of its time is ignored", "method", method)
		return false
	}
	handle, ok := notifications[method]
	if !ok {
		s.log.Debug("an unknown notification is ignored", "method", method)
		return false
	}
	s.trace("notification", method)
	if err := handle(s, params); err != nil {
		s.log.Warn("a notification is ignored", "method", method, "error", err)
	}
	return false
}

// trace tells the client what arrived, if it asked for that (LSP 3.18, "LogTrace
// Notification").
func (s *server) trace(kind, method string) {
	if s.tracing.Load() {
		s.conn.notify(protocol.MethodLogTrace, &protocol.LogTraceParams{Message: "received " + kind + " " + method})
	}
}

func (s *server) setTrace(p *protocol.SetTraceParams) error {
	s.tracing.Store(p.Value == protocol.TraceValueMessages || p.Value == protocol.TraceValueVerbose)
	return nil
}

// decode reads the params of a message.
func decode(params []byte, into any) error {
	if len(params) == 0 {
		return invalidParams("the params are missing")
	}
	if err := protocol.Unmarshal(params, into); err != nil {
		return invalidParams("malformed params: %v", err)
	}
	return nil
}

// with makes a handler of raw params of one of typed params.
func with[P any](handle func(*server, *P) (reply, error)) func(*server, []byte) (reply, error) {
	return func(s *server, params []byte) (reply, error) {
		p := new(P)
		if err := decode(params, p); err != nil {
			return reply{}, err
		}
		return handle(s, p)
	}
}

// to does for notifications what with does for requests.
func to[P any](handle func(*server, *P) error) func(*server, []byte) error {
	return func(s *server, params []byte) error {
		p := new(P)
		if err := decode(params, p); err != nil {
			return err
		}
		return handle(s, p)
	}
}

// shutdown ends all work and answers when it has ended.
func (s *server) shutdown([]byte) (reply, error) {
	s.state = stateDown
	s.endWork()
	return reply{later: func(context.Context) (any, error) {
		s.workers.Wait()
		return nil, nil
	}}, nil
}
