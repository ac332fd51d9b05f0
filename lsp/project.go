package lsp

import (
	"context"
	"sync"
)

// project is what the dispatch loop knows of a project: a mailbox. What is in it is
// worked on by the project's worker (worker.go).
type project struct {
	server *server
	root   string

	// mu guards the mailbox. A newer view replaces an older one that was not looked at
	// yet: five thousand edits in a burst are one change.
	mu     sync.Mutex
	view   *view // nil when there is no news
	builds []*buildRequest
	ended  bool
	mail   chan struct{} // holds one token when the mailbox has something new
}

func newProject(s *server, root string) *project {
	return &project{server: s, root: root, mail: make(chan struct{}, 1)}
}

// kick says that the project has changed, as the view shows; with a build, that it is
// to be built. It does not wait.
func (p *project) kick(v *view, build *buildRequest) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		build.answer("", context.Canceled)
		return
	}
	p.view = v
	if build != nil {
		build.view = v
		p.builds = append(p.builds, build)
	}
	p.wake()
}

// end ends the worker, which withdraws what it published.
func (p *project) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	p.wake()
}

// alive reports whether the project has a worker, or is about to get one.
func (p *project) alive() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.ended
}

func (p *project) wake() {
	select {
	case p.mail <- struct{}{}:
	default:
	}
}

// buildRequest asks for a build. The fields are zero for a build that a save asked
// for.
type buildRequest struct {
	view  *view             // what is built; set by kick
	ctx   context.Context   // cancels this build alone; nil never does
	token progressToken     // the progress that the client asked for; nil for none
	reply chan<- buildReply // has room for the one reply; nil when nobody waits
}

type buildReply struct {
	summary string
	err     error
}

// answer tells whoever waits for the build, if anyone does. A nil request has nobody.
func (b *buildRequest) answer(summary string, err error) {
	if b != nil && b.reply != nil {
		b.reply <- buildReply{summary, err}
	}
}
