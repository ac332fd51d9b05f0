// Package harness runs the tests of a library in a realm of QuickJS, against the
// library itself or against its sandbox, and compares what they came to.
//
// Both runs are of the same bundles: one of the tests, which imports the library from a
// table, and one of the library, which fills it, either in the realm of the tests or in
// a sandbox of the embedded host. The runs happen in worker processes.
package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sandbox-lsp/sandbox-lsp/runtime/bundle"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/quickjs"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/worker"
)

// Script is a bundle with the file name that stacks show.
type Script struct {
	File string
	Code []byte
}

// Request is one run of tests.
type Request struct {
	Tests   Script
	Library Script
	// Plain says that the library's bundle is the one that a build makes, whose exports
	// are those of the library's entry, and not a table of entries.
	Plain bool
	// Sandbox is how the library is sandboxed; nil runs the tests against the library
	// itself.
	Sandbox *Sandbox
	// Timeout bounds the run.
	Timeout time.Duration
}

// Sandbox is what a policy says of a library, in the terms of SandboxManager.
type Sandbox struct {
	Name        string         `json:"name"`
	Permissions []Permission   `json:"permissions"`
	Limits      map[string]int `json:"limits"`
	Arguments   string         `json:"arguments"`
	Results     string         `json:"results"`
	Reads       string         `json:"reads"`
}

// Permission is one granted host global.
type Permission struct {
	Name  string   `json:"name"`
	Allow []string `json:"allow,omitempty"` // nil grants all of it
}

// Status is how a case ended.
type Status string

// The statuses.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Skipped Status = "skipped" // the test says that it is not to run
	Todo    Status = "todo"    // the test says that it may fail
)

// Case is one test, or one named assertion where the framework counts those.
type Case struct {
	File   string   `json:"file"` // relative to the project root
	Name   []string `json:"name"` // of the suites, then its own
	Status Status   `json:"status"`
	Error  *Error   `json:"error,omitempty"`
	Ms     float64  `json:"ms"`
}

// FullName returns the name by which reports and limitations know a case.
func (c Case) FullName() string { return strings.Join(c.Name, " > ") }

// Error is what a case failed with, in texts.
type Error struct {
	Name     string `json:"name"`
	Message  string `json:"message"`
	Stack    string `json:"stack"`
	Actual   string `json:"actual,omitempty"`
	Expected string `json:"expected,omitempty"`
	Operator string `json:"operator,omitempty"`
}

// Run is what one run of tests came to.
type Run struct {
	Cases []Case // in the order in which they ended
	// Stopped says why the run ended before its tests did, or "": what could not load, a
	// limit, a crash.
	Stopped string
	Elapsed time.Duration
}

// Service is the work of running tests, for worker processes.
var Service = worker.Service{Name: "campaign", New: func(engine *quickjs.Engine) worker.Handler {
	return func(ctx context.Context, encoded []byte, tell func([]byte) error) (any, error) {
		request, err := worker.Decode[Request](encoded)
		if err != nil {
			return nil, err
		}
		return run(ctx, engine, request, tell)
	}
}}

// Do runs tests in a worker process, which has to know Service. What the tests do is
// in the result; an error means that no worker could run them, or that the context
// ended, in which case the worker is killed at once.
func Do(ctx context.Context, workers *worker.Pool, request Request) (Run, error) {
	began := time.Now()
	var partial []Case
	var unreadable error
	var result Run
	err := workers.Do(ctx, worker.Task{
		Service: Service.Name, Request: request, Timeout: request.Timeout,
		Told: func(told []byte) {
			var c Case
			if err := json.Unmarshal(told, &c); err != nil {
				unreadable = fmt.Errorf("read a case: %w", err)
			}
			partial = append(partial, c)
		},
	}, &result)
	switch {
	case errors.Is(err, worker.ErrDeadline):
		result.Stopped = fmt.Sprintf("still running after %v", request.Timeout)
	case errors.Is(err, worker.ErrCrashed):
		result.Stopped = err.Error()
	case err != nil:
		return Run{}, err
	}
	result.Cases, result.Elapsed = partial, time.Since(began)
	number(result.Cases)
	return result, unreadable
}

// number tells cases of one file and name apart.
func number(cases []Case) {
	seen := map[key]int{}
	for i := range cases {
		c := &cases[i]
		k := keyOf(*c)
		seen[k]++
		if n := seen[k]; n > 1 {
			c.Name[len(c.Name)-1] += fmt.Sprintf(" (%d)", n)
		}
	}
}

// Bundle bundles tests for a run.
func Bundle(ctx context.Context, tests bundle.Tests, framework string) (*bundle.TestBundle, error) {
	own, err := ownModules()
	if err != nil {
		return nil, err
	}
	f, known := frameworkOf(framework)
	if !known {
		return nil, fmt.Errorf("no test framework has the name %q", framework)
	}
	tests.Adapter, tests.Modules, tests.Provided = f.module, own.files, own.provided
	return bundle.OfTests(ctx, tests)
}
