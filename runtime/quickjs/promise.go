package quickjs

import (
	"context"
	"errors"
	"fmt"
)

// PromiseState is the state of a promise.
type PromiseState uint8

// The states of a promise.
const (
	Pending PromiseState = iota
	Fulfilled
	Rejected
)

// String returns "pending", "fulfilled" or "rejected".
func (s PromiseState) String() string {
	switch s {
	case Pending:
		return "pending"
	case Fulfilled:
		return "fulfilled"
	case Rejected:
		return "rejected"
	}
	return fmt.Sprintf("state %d", s)
}

// ErrPending is returned where a promise did not settle.
var ErrPending = errors.New("the promise is pending and no job is left that could settle it")

// Rejection tells of a promise that was rejected while nothing handled it, or of one
// that is handled after all. Its values end with the call.
type Rejection struct {
	Promise, Reason Value
	Handled         bool // a handler was attached to a promise reported before
}

// RejectionFunc hears of unhandled rejections. It must not call into the guest for
// more than reading: the guest is in the middle of rejecting.
type RejectionFunc func(ctx context.Context, r Rejection)

// OnRejection sets what hears of unhandled rejections; nil for none.
func (vm *VM) OnRejection(fn RejectionFunc) { vm.rejected = fn }

// importRejection is host_promise_rejection(promise, reason, handled). The boxes are
// ours to free. It also sees what no catch clause does: a Promise executor turns the
// engine's own out-of-memory error into a rejection, and that must not revive a
// guest that hit its limit. (An executor that has settled its promise before it runs
// out of memory is not seen; the memory stays refused all the same.)
func (vm *VM) importRejection(ctx context.Context, stack []uint64) uint64 {
	return vm.hosted(ctx, "promise rejection", func() (uint64, error) {
		promise, err := vm.unbox(uint32(stack[0]))
		if err != nil {
			return 0, err
		}
		reason, err := vm.unbox(uint32(stack[1]))
		if err != nil {
			return 0, err
		}
		r := Rejection{Promise: vm.borrow(promise), Reason: vm.borrow(reason), Handled: uint32(stack[2]) != 0}
		defer func() {
			vm.endBorrowed(r.Promise)
			vm.endBorrowed(r.Reason)
			vm.release(promise)
			vm.release(reason)
		}()
		if vm.uncatchable(reason) {
			message, _ := vm.ownText(ctx, reason, "message")
			return 0, vm.die(vm.engineLimit(message))
		}
		if vm.rejected != nil {
			vm.rejected(ctx, r)
		}
		return 0, nil
	})
}

// Promise returns a promise's state, and its value or reason once it is settled.
// [ErrType] for anything else.
func (v Value) Promise() (PromiseState, Value, error) {
	bits, err := v.ready()
	if err != nil {
		return Pending, Value{}, err
	}
	if !v.test(xIsPromise) {
		return Pending, Value{}, fmt.Errorf("%w: not a promise", ErrType)
	}
	state, err := v.vm.call(xPromiseState, uint64(v.vm.cx), bits)
	if err != nil || PromiseState(state) == Pending {
		return Pending, v.vm.Undefined(), err
	}
	result, err := v.vm.made(v.vm.call(xPromiseResult, uint64(v.vm.cx), bits))
	return PromiseState(state), result, err
}

// MarkHandled keeps a promise's rejection from being reported.
func (v Value) MarkHandled() error {
	bits, err := v.ready()
	if err != nil {
		return err
	}
	if !v.test(xIsPromise) {
		return fmt.Errorf("%w: not a promise", ErrType)
	}
	_, err = v.vm.run(v.vm.context(), xPromiseHandled, uint64(v.vm.cx), bits)
	return err
}

// Then subscribes to a promise and returns the chained one. It does not look up
// then, so a guest that replaced it is not asked. Either handler may be undefined.
func (v Value) Then(ctx context.Context, fulfilled, rejected Value) (Value, error) {
	defer v.pin().unpin()
	bits, err := v.ready()
	if err != nil {
		return Value{}, err
	}
	handlers, err := v.vm.raws([]Value{fulfilled, rejected})
	if err != nil {
		return Value{}, fmt.Errorf("then: %w", err)
	}
	return v.vm.made(v.vm.runValue(ctx, xPromiseThen, uint64(v.vm.cx), bits, handlers[0], handlers[1]))
}

// NewPromise makes a promise and the two functions that settle it.
func (vm *VM) NewPromise() (promise, resolve, reject Value, err error) {
	if err := vm.alive(); err != nil {
		return Value{}, Value{}, Value{}, err
	}
	at := vm.block()
	bits, err := vm.runValue(vm.context(), xNewPromise, uint64(vm.cx), uint64(at))
	if err != nil {
		return Value{}, Value{}, Value{}, err
	}
	yes, _ := vm.mem.u64(at)
	no, _ := vm.mem.u64(at + 8)
	return vm.own(bits), vm.own(yes), vm.own(no), nil
}

// JobsPending reports whether a job waits: a promise reaction, a finalizer.
func (vm *VM) JobsPending() bool {
	if vm.alive() != nil {
		return false
	}
	yes, err := vm.call(xIsJobPending)
	return err == nil && uint32(yes) != 0
}

// RunJobs runs waiting jobs, and those that they queue, until none is left or limit
// of them have run; a limit of 0 or less is none. Each job is an outermost call with
// its own guest time. What a job throws is returned at once, with the jobs after it
// still waiting. It returns [ErrBusy] from within a host call: a job never runs
// under a frame of a script.
func (vm *VM) RunJobs(ctx context.Context, limit int) (ran int, err error) {
	if err := vm.alive(); err != nil {
		return 0, err
	}
	if vm.depth > 0 {
		return 0, fmt.Errorf("run jobs: %w", ErrBusy)
	}
	for (limit <= 0 || ran < limit) && vm.JobsPending() {
		status, err := vm.run(ctx, xExecuteJob, uint64(vm.rt), uint64(vm.block()))
		if err != nil {
			return ran, err
		}
		ran++
		if int32(status) < 0 {
			return ran, vm.caught(ctx)
		}
	}
	return ran, vm.dead // a leaf call may have trapped
}

// Await runs jobs until a promise settles, limit of them at most (0: no limit), and
// returns its value; its reason comes as a [JSError]. A value that is not a promise
// is returned as it is. [ErrPending] says that only the host could settle it, or
// that the limit was reached.
func (vm *VM) Await(ctx context.Context, v Value, limit int) (Value, error) {
	if !v.IsPromise() {
		return v.Dup()
	}
	for ran := 0; ; ran++ {
		state, result, err := v.Promise()
		switch {
		case err != nil:
			return Value{}, err
		case state == Fulfilled:
			return result, nil
		case state == Rejected:
			bits, err := vm.take(result)
			if err != nil {
				return Value{}, err
			}
			if err := v.MarkHandled(); err != nil {
				return Value{}, err
			}
			return Value{}, vm.describe(ctx, bits)
		case limit > 0 && ran >= limit || !vm.JobsPending():
			return Value{}, ErrPending
		}
		if _, err := vm.RunJobs(ctx, 1); err != nil {
			return Value{}, err
		}
	}
}
