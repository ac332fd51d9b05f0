// Package lsp is the language server: it translates between the Language Server
// Protocol 3.18 and a Core that knows what the files of a project mean. Nothing in
// here knows what a permission is.
//
// # Life of a message
//
// One goroutine, the dispatch loop, sees every message in the order of the wire.
// Notifications are handled on it and only store what they say. A request is
// decided on it too: that is where it takes its view of the documents, so that it
// answers about the texts that the client had when it asked. What is left to do
// then runs on a goroutine of its own, which the client may cancel. The loop never
// waits for the client and never analyses anything.
//
// # Life of an edit
//
// Each project has one worker (project.go). An edit hands it an immutable view of
// the documents; the worker publishes what the text alone tells, waits until the
// edits pause, and then checks everything. A newer edit cancels what an older one
// started, and what was cancelled is never published.
//
// # Who may touch what
//
// The state of the server (documents, projects, folders) belongs to the dispatch
// loop alone and has no locks; other goroutines get immutable views of it and post
// functions to the loop. Everything else that is shared says at its declaration
// what guards it.
package lsp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"
)

// The ways in which Serve ends other than in good order.
var (
	// ErrExitBeforeShutdown says that the client asked the server to exit without
	// having shut it down. The protocol wants exit code 1 for it (LSP 3.18, "Exit
	// Notification").
	ErrExitBeforeShutdown = errors.New("the client sent exit before shutdown")
	// ErrDisconnected says that the input ended without shutdown and exit.
	ErrDisconnected = errors.New("the client closed the connection before shutdown")
	// ErrParentGone says that the process that the client named as its own has ended.
	ErrParentGone = errors.New("the process that started the server has ended")
)

// DefaultDebounce is how long edits have to pause before everything is checked:
// longer than the gap between two keystrokes, shorter than the glance that follows.
const DefaultDebounce = 120 * time.Millisecond

// Options configure Serve. The zero value is usable.
type Options struct {
	// Version is what initialize answers as the version of the server.
	Version string
	// Logger receives what the server has to say about itself; nil discards it. It
	// must not write to the output that the protocol uses.
	Logger *slog.Logger
	// Debounce is the pause after an edit before everything is checked; 0 means
	// DefaultDebounce.
	Debounce time.Duration
	// CodeHref returns the page that explains a finding's code, or "". It may be nil.
	CodeHref func(code string) string

	// alive reports whether a process exists; tests replace it.
	alive func(pid int) bool
}

// Serve speaks the protocol on in and out until the client says exit, the input
// ends, the client's process ends or ctx is cancelled. It returns nil if and only if
// the client shut the server down first.
//
// If in is an io.Closer, Serve closes it before it returns, because that is the
// only way to end a read that waits for the client; out is closed only when a write
// to it does not return. All goroutines that Serve started have ended when it
// returns, unless such a read or write could not be ended.
func Serve(ctx context.Context, in io.Reader, out io.Writer, core Core, options Options) error {
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if options.Debounce <= 0 {
		options.Debounce = DefaultDebounce
	}
	if options.alive == nil {
		options.alive = processExists
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	c := newConn(in, out, options.Logger)
	s := newServer(ctx, stop, c, core, options)
	err := c.serve(ctx, s)
	stop(err)
	s.join()
	c.close()
	if s.state == stateDown && (err == nil || errors.Is(err, io.EOF)) {
		return nil
	}
	switch {
	case err == nil:
		return ErrExitBeforeShutdown
	case errors.Is(err, io.EOF):
		return ErrDisconnected
	default:
		return fmt.Errorf("serve the language server protocol: %w", err)
	}
}

// ExitCode returns the exit code of a process whose Serve returned err.
func ExitCode(err error) int {
	if err == nil {
		return 0
	}
	return 1
}
