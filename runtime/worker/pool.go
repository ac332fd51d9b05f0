// Package worker runs tasks in child processes: the same binary, started again, which
// speaks a small protocol on its standard streams.
//
// Native builtins of the engine never ask whether they should stop when they are given
// an absurd length, so the one dependable way to end hostile code is to kill the
// process that runs it.
package worker

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// Bounds on what a worker may take.
const (
	// startLimit is what a worker gets until it starts guest code: a process start
	// and, with a cold cache, the compilation of the engine.
	startLimit = time.Minute
	// grace is what it gets beyond a task's own time limit before it is killed.
	// The engine stops what it can stop within milliseconds.
	grace = 2 * time.Second
)

// variable tells a started process that it is a worker, and where its compilation
// cache is.
const variable = "SANDBOX_LSP_WORKER"

// Pool owns worker processes. It is safe for concurrent use.
type Pool struct {
	cacheDir string
	slots    chan *worker // idle workers; a nil stands for one that may be started

	mu     sync.Mutex
	closed bool
}

// NewPool returns a pool of at most size worker processes, which start when they
// are first needed. cacheDir is where workers keep the compiled engine; it may be
// empty.
func NewPool(size int, cacheDir string) *Pool {
	p := &Pool{cacheDir: cacheDir, slots: make(chan *worker, size)}
	for range size {
		p.slots <- nil
	}
	return p
}

// Close ends all workers. Tasks in progress must have returned.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.closed = true
	for range cap(p.slots) {
		if w := <-p.slots; w != nil {
			w.kill()
		}
	}
}

// Task is one piece of work for a worker.
type Task struct {
	Service string // which of the worker's services does it
	Request any    // what that service decodes
	// Timeout is how long it may take once it has started, before it is killed.
	Timeout time.Duration
	// Told receives what the service tells while it works, one at a time; nil for nobody.
	Told func([]byte)
}

// ErrDeadline says that a task ran into its Timeout, which only ending its process
// could stop.
var ErrDeadline = errors.New("deadline passed")

// ErrCrashed says that the process that ran a task ended.
var ErrCrashed = errors.New("the process that ran it ended")

// errFault says that a worker cannot serve, such as for lack of an engine.
var errFault = errors.New("the worker cannot serve")

// Do runs one task and decodes its result. An error is the context's, in which case
// the worker is killed at once, ErrDeadline, ErrCrashed, or says that no worker could
// run it.
func (p *Pool) Do(ctx context.Context, task Task, result any) error {
	request, err := encode(task.Request)
	if err != nil {
		return err
	}
	var w *worker
	select {
	case w = <-p.slots:
	case <-ctx.Done():
		return ctx.Err()
	}
	if w == nil {
		started, err := startWorker(p.cacheDir)
		if err != nil {
			p.slots <- nil
			return err
		}
		w = started
	}
	answered, err := w.run(ctx, task, request)
	if err == nil {
		p.slots <- w
		return decode(answered, result)
	}
	w.kill()
	p.slots <- nil
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ErrDeadline), errors.Is(err, errFault):
		return err
	default:
		return fmt.Errorf("%w: %w", ErrCrashed, err)
	}
}

// worker is one child process. It serves one request at a time.
type worker struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	enc    *gob.Encoder
	dec    *gob.Decoder
	stderr *tail
	exited chan struct{} // closed when the process has been waited for
}

func startWorker(cacheDir string) (*worker, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the program to start a worker: %w", err)
	}
	cmd := exec.Command(self)
	// What a library does must not depend on the environment of the person who builds.
	cmd.Env = append(keepEnvironment(), variable+"="+cacheDir)
	w := &worker{cmd: cmd, stderr: &tail{limit: 8 << 10}, exited: make(chan struct{})}
	cmd.Stderr = w.stderr
	if w.in, err = cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start a worker: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start a worker: %w", err)
	}
	w.enc, w.dec = gob.NewEncoder(w.in), gob.NewDecoder(out)
	started := make(chan error)
	// The goroutine owns the child for its whole life: on Linux the child is tied to
	// the thread that started it.
	go func() {
		defer close(w.exited)
		release := tieToParent(cmd)
		defer release()
		if err := cmd.Start(); err != nil {
			started <- err
			return
		}
		started <- nil
		_ = cmd.Wait() // how it ended is told by the stream and by stderr
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start a worker: %w", err)
	}
	return w, nil
}

// keepEnvironment passes on what the Go runtime and the operating system need.
func keepEnvironment() []string {
	var kept []string
	for _, name := range []string{"HOME", "TMPDIR", "TEMP", "TMP", "SystemRoot", "GOCOVERDIR", "GORACE"} {
		if value, ok := os.LookupEnv(name); ok {
			kept = append(kept, name+"="+value)
		}
	}
	return kept
}

// call is what a worker is asked.
type call struct {
	Service string
	Request []byte
}

// answer is what a worker sends back: first that it starts guest code, then what it
// tells meanwhile, then the result.
type answer struct {
	Started bool
	Told    []byte
	Result  []byte
	// Fault is a reason why the worker cannot serve, such as a missing engine.
	Fault string
}

func (a answer) last() bool { return !a.Started && a.Told == nil }

func (w *worker) run(ctx context.Context, task Task, request []byte) ([]byte, error) {
	replies := make(chan reply, 2)
	stopped := make(chan struct{})
	defer close(stopped)
	go w.converse(call{task.Service, request}, replies, stopped) // ends when the worker answers or dies; kill makes sure of it
	deadline := time.NewTimer(startLimit)
	defer deadline.Stop()
	for {
		select {
		case r := <-replies:
			switch {
			case r.err != nil:
				w.kill()
				return nil, fmt.Errorf("%w%s", r.err, w.stderr.note())
			case r.answer.Fault != "":
				return nil, fmt.Errorf("%w: %s", errFault, r.answer.Fault)
			case r.answer.Started:
				deadline.Reset(task.Timeout + grace)
			case r.answer.Told != nil:
				if task.Told != nil {
					task.Told(r.answer.Told)
				}
			default:
				return r.answer.Result, nil
			}
		case <-deadline.C:
			w.kill()
			return nil, ErrDeadline
		case <-ctx.Done():
			w.kill()
			return nil, ctx.Err()
		}
	}
}

type reply struct {
	answer answer
	err    error
}

// converse sends a request and passes on what comes back, until a result or an
// error ends it, or nobody listens any more.
func (w *worker) converse(asked call, replies chan<- reply, stopped <-chan struct{}) {
	pass := func(r reply) bool {
		select {
		case replies <- r:
			return true
		case <-stopped:
			return false
		}
	}
	if err := w.enc.Encode(asked); err != nil {
		pass(reply{err: err})
		return
	}
	for {
		var r reply
		r.err = w.dec.Decode(&r.answer)
		if !pass(r) || r.err != nil || r.answer.last() {
			return
		}
	}
}

// kill ends the process and waits until it is gone.
func (w *worker) kill() {
	_ = w.in.Close()
	_ = w.cmd.Process.Kill() // it may be gone already
	<-w.exited
}

// tail keeps the last bytes that were written to it.
type tail struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	limit int
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf.Write(p)
	if extra := t.buf.Len() - t.limit; extra > 0 {
		t.buf.Next(extra)
	}
	return len(p), nil
}

// note gives the first line of what a dying process said, which is the one that
// names the fault in a Go crash.
func (t *tail) note() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	line, _, _ := strings.Cut(strings.TrimSpace(t.buf.String()), "\n")
	if line == "" {
		return ""
	}
	return ": " + line
}
