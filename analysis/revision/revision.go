// Package revision reads files of a project as they were at a git revision.
//
// It asks git for objects only and never for the state of the working tree: comparing
// that would run what a repository's own configuration names, such as filters and
// file system monitors, and the repository is not trusted.
package revision

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// timeout bounds one question to git. Reading an object takes milliseconds.
const timeout = 30 * time.Second

// maxFile bounds what is read of one file.
const maxFile = 64 << 20

// Revision is a commit of the repository that a project lies in.
type Revision struct {
	// Name is the revision as it was asked for, Commit the full hash.
	Name, Commit string
	// Top is the repository's folder, absolute and with symbolic links resolved.
	Top string

	root string // of the project, as the caller spells it
	real string // the same, with symbolic links resolved
}

// Error is a revision that cannot be read, in words for the person who named it.
type Error struct {
	message string
	cause   error
}

func (e *Error) Error() string { return e.message }

func (e *Error) Unwrap() error { return e.cause }

// Open finds a revision in the repository that holds a project. What keeps it from
// that is an *Error, except the end of the context.
func Open(ctx context.Context, root, name string) (*Revision, error) {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, fmt.Errorf("open the project: %w", err)
	}
	r := &Revision{Name: name, root: root, real: real}
	top, err := r.git(ctx, "rev-parse", "--show-toplevel")
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return nil, &Error{"git is not installed, and comparing with a revision needs it", err}
	case err != nil:
		return nil, &Error{fmt.Sprintf("%s is in no git repository that can be read, so there is nothing to compare with: %v", root, err), err}
	}
	r.Top = filepath.FromSlash(strings.TrimRight(string(top), "\r\n"))
	commit, err := r.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, &Error{fmt.Sprintf("there is no revision %q in the repository; a shallow clone has only the newest ones: fetch it first, or name another", name), err}
	}
	r.Commit = strings.TrimSpace(string(commit))
	return r, nil
}

// Read returns the text of a file, named by its absolute path, at the revision. It
// reports false when there was no such file.
func (r *Revision) Read(ctx context.Context, path string) (string, bool, error) {
	name, ok := r.name(path)
	if !ok {
		return "", false, nil
	}
	// Asking for the tree's entry tells a file that is not there from a failure.
	entry, err := r.git(ctx, "ls-tree", "-z", "--full-tree", r.Commit, "--", name)
	if err != nil {
		return "", false, fmt.Errorf("look for %s at %s: %w", name, r.Name, err)
	}
	mode, rest, _ := strings.Cut(string(entry), " ")
	if mode != "100644" && mode != "100755" { // no entry, a folder, a link, another repository
		return "", false, nil
	}
	_, rest, _ = strings.Cut(rest, " ")
	object, _, _ := strings.Cut(rest, "\t")
	content, err := r.git(ctx, "cat-file", "blob", object)
	if err != nil {
		return "", false, fmt.Errorf("read %s at %s: %w", name, r.Name, err)
	}
	return string(content), true, nil
}

// name returns a path as git's trees name it, and false for one outside of the
// repository.
func (r *Revision) name(path string) (string, bool) {
	if rel, err := filepath.Rel(r.root, path); err == nil {
		path = filepath.Join(r.real, rel)
	}
	rel, err := filepath.Rel(r.Top, path)
	if err != nil || rel == "." || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// Contains reports whether a path lies in the repository.
func (r *Revision) Contains(path string) bool {
	_, ok := r.name(path)
	return ok
}

// git runs git in the project, without a shell, and returns what it printed.
func (r *Revision) git(ctx context.Context, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("git did not answer within %v", timeout))
	defer cancel()
	// No hooks, no monitor, no network: a partial clone would fetch what it lacks.
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "protocol.allow=never", "--no-pager", "--literal-pathspecs"}, args...)...)
	cmd.Dir = r.real
	cmd.Env = append(withoutGit(os.Environ()), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1")
	cmd.WaitDelay = time.Second
	stdout, stderr := &limited{limit: maxFile}, &limited{limit: 4096, cut: true}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case stdout.over:
		return nil, fmt.Errorf("it has more than the %d MiB that are read", maxFile>>20)
	case err != nil && stderr.Len() > 0:
		first, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
		return nil, fmt.Errorf("%w: %s", err, strings.TrimPrefix(first, "fatal: "))
	}
	return stdout.Bytes(), err
}

// withoutGit drops the variables that would lead git to another repository, as they
// are set while git runs a hook.
func withoutGit(environment []string) []string {
	var out []string
	for _, v := range environment {
		switch name, _, _ := strings.Cut(v, "="); name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_EXTERNAL_DIFF", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES":
		default:
			out = append(out, v)
		}
	}
	return out
}

// limited is a buffer with an end: what goes beyond it is dropped, and an error
// unless cut is set.
type limited struct {
	bytes.Buffer
	limit int
	cut   bool
	over  bool
}

func (l *limited) Write(p []byte) (int, error) {
	if room := l.limit - l.Len(); len(p) > room {
		l.over = true
		if !l.cut {
			return 0, errors.New("too long")
		}
		l.Buffer.Write(p[:room])
		return len(p), nil
	}
	return l.Buffer.Write(p)
}
