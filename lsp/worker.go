package lsp

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
)

// worker keeps the findings of one project up to date. Everything that it holds
// belongs to its goroutine, so that there is one place that decides what runs, what
// is cancelled and what is published.
type worker struct {
	*project
	ctx context.Context
	own conc.WaitGroup // the checks and builds that it started

	generation int // counts the changes
	settled    int // the last generation about which everything is said
	now        *view
	parsed     []finding.Finding // what the texts of this generation tell
	last       carried           // what the last complete check found beyond that
	debounce   *time.Timer
	paused     bool // whether the edits have paused

	check, build *job          // what runs; nil when nothing does
	next         *buildRequest // the build that is to start when the running one has ended
}

// job is a check or a build that runs.
type job struct {
	generation int // of the texts that it works on; 0 for texts that are gone already
	view       *view
	parsed     []finding.Finding
	ctx        context.Context
	cancel     context.CancelCauseFunc
	done       chan struct{} // closed when it has ended

	// Of builds alone.
	request  *buildRequest
	progress *operation
	release  func() bool // lets go of the request's context

	// Set before done is closed.
	findings []finding.Finding
	summary  string
	err      error
	cause    error // why it was cancelled; nil when it was not
}

// The reasons for which a job is cancelled.
var (
	errNewer    = errors.New("something newer took its place")
	errByClient = errors.New("the client cancelled it")
)

// run is the worker of the project.
func (p *project) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	w := &worker{project: p, ctx: ctx, debounce: time.NewTimer(time.Hour)}
	w.debounce.Stop()
	defer w.leave()
	defer w.own.Wait()
	defer cancel()
	for {
		var checked, built <-chan struct{}
		if w.check != nil {
			checked = w.check.done
		}
		if w.build != nil {
			built = w.build.done
		}
		select {
		case <-ctx.Done():
			return
		case <-p.mail:
			if !p.alive() {
				p.server.publisher.withdraw(p)
				return
			}
			w.open()
		case <-w.debounce.C:
			w.paused = true
		case <-checked:
			w.checked()
		case <-built:
			w.built()
		}
		w.start()
	}
}

// leave answers the builds that will not come to their end.
func (w *worker) leave() {
	w.debounce.Stop()
	w.mu.Lock()
	w.ended = true
	unanswered := append(w.builds, w.next)
	w.mu.Unlock()
	if w.build != nil {
		w.build.progress.end("Cancelled")
		unanswered = append(unanswered, w.build.request)
	}
	for _, b := range unanswered {
		b.answer("", context.Canceled)
	}
}

// open looks into the mailbox. It publishes what the new texts alone tell and
// prepares for what takes longer.
func (w *worker) open() {
	w.mu.Lock()
	v, builds := w.view, w.builds
	w.view, w.builds = nil, nil
	w.mu.Unlock()
	if v == nil {
		return // the last look took this news along
	}
	w.generation++
	w.now, w.paused = v, false
	if w.check != nil {
		w.check.cancel(errNewer)
	}
	for _, b := range builds {
		w.next.answer("", errSuperseded)
		w.next = b
	}
	if w.next != nil && w.build != nil {
		w.build.cancel(errNewer)
	}
	w.parse()
	w.debounce.Reset(w.server.options.Debounce)
}

// parse publishes what the texts alone tell, together with what the last complete
// check found beyond that and is still in its place. Without the latter, findings
// would vanish with each keystroke and come back after it.
func (w *worker) parse() {
	var err error
	fault := w.server.conn.guard("parsing "+w.root, func() {
		w.parsed, err = w.server.core.Snapshot(w.root, w.now.overlay).Parse(w.ctx)
	})
	if err = errors.Join(err, fault); err != nil {
		if w.ctx.Err() == nil {
			w.server.log.Error("parse", "root", w.root, "error", err)
		}
		w.parsed = nil
	}
	w.server.publisher.publish(w.project, w.now, slices.Concat(w.parsed, w.last.onto(w.root, w.now)))
}

// start starts what is due. A check waits for the one before it, and a build for the
// build before it: both were cancelled but may take a moment to notice.
func (w *worker) start() {
	if w.next != nil && w.build == nil {
		w.startBuild()
	}
	// A build says all that a check does.
	covered := w.build != nil && w.build.generation == w.generation
	if w.settled < w.generation && w.paused && w.check == nil && !covered {
		w.check = w.newJob()
		w.launch(w.check, "checking", func(ctx context.Context, j *job, sn Snapshot) {
			j.findings, j.err = sn.Check(ctx, nil)
		})
	}
}

// startBuild starts the build that is due. It builds what was saved: if there were
// edits since then, its findings are about a text that is gone and only its files
// count.
func (w *worker) startBuild() {
	j := w.newJob()
	j.request, w.next = w.next, nil
	if j.view != j.request.view {
		j.view, j.generation = j.request.view, 0
	}
	w.build = j
	byClient := func() { j.cancel(errByClient) }
	j.progress = w.server.tracker.begin(j.request.token, "Building the sandbox", byClient)
	if j.request.ctx != nil {
		j.release = context.AfterFunc(j.request.ctx, byClient)
	}
	if w.check != nil {
		w.check.cancel(errNewer)
	}
	w.launch(j, "building", func(ctx context.Context, j *job, sn Snapshot) {
		j.findings, j.summary, j.err = sn.Build(ctx, j.progress.report)
	})
}

// newJob prepares a job on the texts of this generation.
func (w *worker) newJob() *job {
	j := &job{generation: w.generation, view: w.now, parsed: w.parsed, done: make(chan struct{})}
	j.ctx, j.cancel = context.WithCancelCause(w.ctx)
	return j
}

// launch runs a job on a goroutine of the worker's.
func (w *worker) launch(j *job, what string, work func(context.Context, *job, Snapshot)) {
	w.own.Go(func() {
		defer close(j.done)
		defer j.cancel(nil)
		fault := w.server.conn.guard(what+" "+w.root, func() {
			work(j.ctx, j, w.server.core.Snapshot(w.root, j.view.overlay))
		})
		j.err = errors.Join(j.err, fault)
		if j.ctx.Err() != nil {
			j.cause = context.Cause(j.ctx)
		}
	})
}

// checked takes over what a check found, unless it was cancelled or something has
// changed since it began.
func (w *worker) checked() {
	j := w.check
	w.check = nil
	switch {
	case j.cause != nil || j.generation != w.generation:
	case j.err != nil:
		w.server.log.Error("check", "root", w.root, "error", j.err)
		w.settled = j.generation // trying again would fail again
	default:
		w.complete(j)
	}
}

// built takes over what a build found, with the same exceptions, and tells whoever
// waits for it.
func (w *worker) built() {
	j := w.build
	w.build = nil
	if j.release != nil {
		j.release()
	}
	switch {
	case errors.Is(j.cause, errNewer):
		j.progress.end("Cancelled: a newer build took its place")
		j.request.answer("", errSuperseded)
	case j.cause != nil:
		j.progress.end("Cancelled")
		j.request.answer("", context.Canceled)
	case j.err != nil:
		w.server.log.Error("build", "root", w.root, "error", j.err)
		j.progress.fail("The build failed: " + j.err.Error())
		j.request.answer("", j.err)
	default:
		if j.generation == w.generation {
			w.complete(j)
		}
		j.progress.end(j.summary)
		j.request.answer(j.summary, nil)
	}
}

// complete publishes all there is to say about a generation.
func (w *worker) complete(j *job) {
	w.settled = j.generation
	w.last = newCarried(w.root, j.view, j.findings, j.parsed)
	w.server.publisher.publish(w.project, j.view, j.findings)
}
