package harness

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sandbox-lsp/sandbox-lsp/runtime/embedded"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/quickjs"
)

//go:embed host.js
var hostSource string

// began is when every run begins by its own clock.
var began = time.Date(2024, time.March, 15, 12, 0, 0, 0, time.UTC)

// hostMemory bounds the realm of the tests, in bytes; a sandbox has a limit of its own.
const hostMemory = 1 << 30

// clock is the time of a run: it passes as it does outside, from the same instant each
// time, and is put forward where there is nothing to do but wait.
type clock struct {
	started time.Time
	skipped time.Duration
}

func (c *clock) now() time.Time { return began.Add(time.Since(c.started) + c.skipped) }

// run runs tests in a realm of their own and tells of their cases. An error is the
// tool's own.
func run(ctx context.Context, engine *quickjs.Engine, request Request, tell func([]byte) error) (Run, error) {
	c := &clock{started: time.Now()}
	host, err := embedded.New(ctx, engine, embedded.Options{
		Limits: quickjs.Limits{MemoryBytes: hostMemory},
		Realm:  quickjs.VMOptions{Now: c.now, Location: time.UTC},
	})
	if err != nil {
		return Run{}, err
	}
	defer func() { _ = host.Close(ctx) }() // what a dying realm says is in the result already
	r := &running{host: host, request: request, clock: c, tell: tell}
	err = r.all(ctx)
	var thrown *quickjs.JSError
	var limit *quickjs.LimitError
	switch {
	case ctx.Err() != nil:
		return Run{}, ctx.Err()
	case r.untold != nil:
		return Run{}, r.untold
	case errors.As(err, &limit):
		return Run{Stopped: limit.Error()}, nil
	case errors.As(err, &thrown):
		return Run{Stopped: thrown.Error() + "\n" + thrown.Stack}, nil
	case err != nil:
		return Run{}, err
	}
	return Run{Stopped: r.stopped}, nil
}

// running is one run.
type running struct {
	host    *embedded.Host
	request Request
	clock   *clock
	tell    func([]byte) error
	untold  error  // why a case could not be told of
	stopped string // see Run

	rejected []rejection // what nothing handles, since the last look
}

// all runs everything there is to run.
func (r *running) all(ctx context.Context) error {
	vm := r.host.VM()
	if _, err := vm.Eval(ctx, string(r.request.Tests.Code), r.request.Tests.File); err != nil {
		return err
	}
	native, err := r.native()
	if err != nil {
		return err
	}
	construct, err := vm.Eval(ctx, hostSource, "harness.js")
	if err != nil {
		return err
	}
	half, err := vm.Call(ctx, construct, vm.Undefined(), r.host.Manager, native)
	if err != nil {
		return err
	}
	if err := r.load(ctx, half); err != nil || r.stopped != "" {
		return err
	}
	r.watch()
	if _, err := vm.CallMethod(ctx, half, "start"); err != nil {
		return err
	}
	for {
		if err := r.jobs(ctx, half); err != nil {
			return err
		}
		state, err := r.text(ctx, half, "turn")
		switch {
		case err != nil:
			return err
		case state == "stuck":
			if _, err := vm.CallMethod(ctx, half, "stuck"); err != nil {
				return err
			}
		}
		if state != "more" {
			r.stopped, err = r.text(ctx, half, "fault")
			return err
		}
	}
}

// jobs runs promise jobs until none is left, and tells the campaign of what nobody
// caught.
func (r *running) jobs(ctx context.Context, half quickjs.Value) error {
	vm := r.host.VM()
	for {
		if _, err := vm.RunJobs(ctx, 0); err != nil {
			return err
		}
		if len(r.rejected) == 0 {
			return nil
		}
		rejected := r.rejected
		r.rejected = nil
		for _, one := range rejected {
			if _, err := vm.CallMethod(ctx, half, "failed", one.reason); err != nil {
				return err
			}
			if err := one.reason.Free(); err != nil {
				return err
			}
		}
	}
}

// rejection is one that nothing handles so far.
type rejection struct {
	promise uint32 // its identity
	reason  quickjs.Value
}

// watch keeps the rejections that nothing handles.
func (r *running) watch() {
	r.host.VM().OnRejection(func(_ context.Context, one quickjs.Rejection) {
		id := one.Promise.Identity()
		if one.Handled {
			r.rejected = slices.DeleteFunc(r.rejected, func(known rejection) bool { return known.promise == id })
			return
		}
		if reason, err := one.Reason.Dup(); err == nil {
			r.rejected = append(r.rejected, rejection{id, reason})
		}
	})
}

// load fills the table from which the tests import the library.
func (r *running) load(ctx context.Context, half quickjs.Value) error {
	vm := r.host.VM()
	if r.request.Sandbox == nil {
		if _, err := vm.Eval(ctx, string(r.request.Library.Code), r.request.Library.File); err != nil {
			return err
		}
		_, err := vm.CallMethod(ctx, half, "itself", vm.Bool(r.request.Plain))
		return err
	}
	sandbox := *r.request.Sandbox
	if sandbox.Permissions == nil { // which is how an empty list arrives
		sandbox.Permissions = []Permission{}
	}
	options, err := json.Marshal(sandbox)
	if err != nil {
		return fmt.Errorf("encode the options of a sandbox: %w", err)
	}
	var failed error
	text := func(s string) quickjs.Value {
		v, err := vm.NewString(s)
		failed = errors.Join(failed, err)
		return v
	}
	args := []quickjs.Value{text(string(r.request.Library.Code)), text(string(options)), vm.Bool(r.request.Plain)}
	if failed != nil {
		return failed
	}
	r.stopped, err = r.text(ctx, half, "sandboxed", args...)
	return err
}

// native makes what the realm calls the program by.
func (r *running) native() (quickjs.Value, error) {
	vm := r.host.VM()
	object, err := vm.NewObject()
	if err != nil {
		return object, err
	}
	for name, f := range map[string]quickjs.HostFunc{
		"tell": func(_ context.Context, call *quickjs.Call) (quickjs.Value, error) {
			text, err := call.Arg(0).Text()
			if err == nil && r.untold == nil {
				r.untold = r.tell([]byte(text))
			}
			return vm.Undefined(), err
		},
		"forward": func(_ context.Context, call *quickjs.Call) (quickjs.Value, error) {
			ms, err := call.Arg(0).Float64()
			r.clock.skipped += time.Duration(ms * float64(time.Millisecond))
			return vm.Undefined(), err
		},
	} {
		function, err := vm.NewFunction(name, 1, f)
		if err != nil {
			return object, err
		}
		if err := object.Set(context.Background(), quickjs.Name(name), function); err != nil {
			return object, err
		}
	}
	return object, nil
}

func (r *running) text(ctx context.Context, half quickjs.Value, method string, args ...quickjs.Value) (string, error) {
	answer, err := r.host.VM().CallMethod(ctx, half, method, args...)
	if err != nil {
		return "", err
	}
	text, err := answer.Text()
	return text, errors.Join(err, answer.Free())
}
