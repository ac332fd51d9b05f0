package load

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

const (
	// startLimit is what a worker gets until it starts guest code: a process start
	// and, with a cold cache, the compilation of the engine.
	startLimit = time.Minute
	// grace is what it gets beyond the guest's own time limit before it is killed.
	// The engine stops what it can stop within milliseconds.
	grace = 2 * time.Second
)

// workerVariable tells a started process that it is a worker, and where its
// compilation cache is.
const workerVariable = "SANDBOX_LSP_LOAD_WORKER"

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

// Close ends all workers. Loads in progress must have returned.
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

// Load runs one request. Failures of the guest are in the result; an error means
// that no worker could run it, or that the context ended, in which case the worker
// is killed at once.
func (p *Pool) Load(ctx context.Context, request Request) (Result, error) {
	var w *worker
	select {
	case w = <-p.slots:
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
	if w == nil {
		started, err := startWorker(p.cacheDir)
		if err != nil {
			p.slots <- nil
			return Result{}, err
		}
		w = started
	}
	result, err := w.run(ctx, request)
	if err == nil {
		p.slots <- w
		return result, nil
	}
	w.kill()
	p.slots <- nil
	switch {
	case ctx.Err() != nil:
		return Result{}, ctx.Err()
	case errors.Is(err, errDeadline):
		return Result{Failure: &Failure{Kind: Limited, Limit: "time", Message: fmt.Sprintf("still running after %v inside a native function of the engine, which only ending its process could stop", request.Limits.Timeout)}}, nil
	case errors.Is(err, errEngine):
		return Result{}, err
	default:
		return Result{Failure: &Failure{Kind: Crashed, Message: fmt.Sprintf("the process that ran it ended: %v", err)}}, nil
	}
}

var (
	errDeadline = errors.New("deadline passed")
	errEngine   = errors.New("engine unavailable")
)

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
		return nil, fmt.Errorf("find the program to start a load worker: %w", err)
	}
	cmd := exec.Command(self)
	// A library's load must not depend on the environment of the person who builds.
	cmd.Env = append(keepEnvironment(), workerVariable+"="+cacheDir)
	w := &worker{cmd: cmd, stderr: &tail{limit: 8 << 10}, exited: make(chan struct{})}
	cmd.Stderr = w.stderr
	if w.in, err = cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start a load worker: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start a load worker: %w", err)
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
		return nil, fmt.Errorf("start a load worker: %w", err)
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

// answer is what a worker sends back: first that it starts guest code, then the
// result.
type answer struct {
	Started bool
	Result  Result
	// Fault is a reason why the worker cannot serve, such as a missing engine.
	Fault string
}

func (w *worker) run(ctx context.Context, request Request) (Result, error) {
	replies := make(chan reply, 2)
	go w.converse(request, replies) // ends when the worker answers or dies; kill makes sure of it
	deadline := time.NewTimer(startLimit)
	defer deadline.Stop()
	for {
		select {
		case r := <-replies:
			switch {
			case r.err != nil:
				w.kill()
				return Result{}, fmt.Errorf("%w%s", r.err, w.stderr.note())
			case r.answer.Fault != "":
				return Result{}, fmt.Errorf("%w: %s", errEngine, r.answer.Fault)
			case r.answer.Started:
				deadline.Reset(2*time.Duration(1+len(request.Workloads))*request.Limits.Timeout + grace) // a load may be repeated
			default:
				return r.answer.Result, nil
			}
		case <-deadline.C:
			w.kill()
			return Result{}, errDeadline
		case <-ctx.Done():
			w.kill()
			return Result{}, ctx.Err()
		}
	}
}

type reply struct {
	answer answer
	err    error
}

// converse sends a request and passes on what comes back, until a result or an
// error ends it.
func (w *worker) converse(request Request, replies chan<- reply) {
	if err := w.enc.Encode(request); err != nil {
		replies <- reply{err: err}
		return
	}
	for {
		var r reply
		r.err = w.dec.Decode(&r.answer)
		replies <- r
		if r.err != nil || !r.answer.Started {
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
