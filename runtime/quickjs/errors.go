package quickjs

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

var (
	// ErrDead is what every use of a dead VM matches; [DeadError] has the cause.
	ErrDead = errors.New("the VM is dead")
	// ErrClosed is returned after [VM.Close].
	ErrClosed = errors.New("the VM is closed")
	// ErrStale is returned for a handle that was freed, that ended with its host
	// call or scope, or that is the zero Value.
	ErrStale = errors.New("the value was freed or has ended with its call or scope")
	// ErrForeign is returned for a handle of another VM.
	ErrForeign = errors.New("the value belongs to another VM")
	// ErrType is returned where a value is not of the kind that was asked for.
	ErrType = errors.New("wrong type of value")
	// ErrDepth is matched by the RangeError of a call that would cross from host to
	// guest more often than [Limits.Depth] allows. It ends nothing.
	ErrDepth = errors.New("too many nested calls between host and guest")
	// ErrLayout says that the wasm is not the build this package was written for.
	ErrLayout = errors.New("quickjs.wasm lays values out differently than expected")
	// ErrBusy is returned for what may only be done while no guest code is active.
	ErrBusy = errors.New("guest code is running")
)

// LimitKind says which limit fired.
type LimitKind string

// The kinds of limits.
const (
	LimitMemory    LimitKind = "memory"
	LimitTime      LimitKind = "time"
	LimitStack     LimitKind = "stack"     // the native stack; the guest's own overflow is a RangeError
	LimitCancelled LimitKind = "cancelled" // the context ended
	LimitEngine    LimitKind = "engine"    // a bound of the engine itself, such as the longest string
)

// LimitError says that a limit fired. The VM is dead.
type LimitError struct {
	Kind   LimitKind
	Bytes  uint64        // the memory limit, for LimitMemory
	Time   time.Duration // the time limit, for LimitTime
	Detail string        // what the engine said, where it said something
	Stack  string        // guest stack where the limit fired, innermost first; "" when the engine could not tell
	Cause  error         // the context's error, where it was the reason
}

// Error says which limit, and how large it was.
func (e *LimitError) Error() string {
	var b strings.Builder
	switch e.Kind {
	case LimitMemory:
		fmt.Fprintf(&b, "memory limit exceeded (%d bytes)", e.Bytes)
	case LimitTime:
		if e.Time > 0 {
			fmt.Fprintf(&b, "time limit exceeded (%s of guest time)", e.Time)
		} else {
			b.WriteString("time limit exceeded")
		}
	case LimitStack:
		b.WriteString("native stack exhausted")
	case LimitCancelled:
		b.WriteString("execution cancelled")
	default:
		b.WriteString("limit of the engine exceeded")
	}
	if e.Detail != "" {
		b.WriteString(": " + e.Detail)
	}
	if e.Cause != nil {
		b.WriteString(": " + e.Cause.Error())
	}
	return b.String()
}

// Unwrap returns the context's error, if that was the reason.
func (e *LimitError) Unwrap() error { return e.Cause }

// TrapError says that the wasm trapped or did not put its stack back. The VM is
// dead: its memory may be in any state.
type TrapError struct {
	Export string // the function that was entered
	Err    error
}

// Error returns the first line of the trap; the rest is a wasm stack.
func (e *TrapError) Error() string {
	line, _, _ := strings.Cut(e.Err.Error(), "\n")
	return fmt.Sprintf("the engine trapped in %s: %s", e.Export, line)
}

// Unwrap returns wazero's error.
func (e *TrapError) Unwrap() error { return e.Err }

// HostFault says that a host function panicked. The VM is dead, since neither the
// host's nor the guest's half of the call can be trusted to be whole.
type HostFault struct {
	Function string // the host function's name, or the import's
	Panic    any
	Stack    []byte // Go stack at the panic
}

// Error names the function and the panic.
func (e *HostFault) Error() string {
	return fmt.Sprintf("host function %s panicked: %v", e.Function, e.Panic)
}

// DeadError is returned by every use of a VM after the one that killed it.
type DeadError struct {
	Cause error // a LimitError, TrapError or HostFault
}

// Error says why the VM is dead.
func (e *DeadError) Error() string { return "the VM is dead: " + e.Cause.Error() }

// Is reports true for [ErrDead].
func (e *DeadError) Is(target error) bool { return target == ErrDead }

// Unwrap returns the cause.
func (e *DeadError) Unwrap() error { return e.Cause }

// JSError is what guest code threw. Returned from a host function it throws: the
// very same value when Value is set and alive, else a new error of the class that
// Name says (Error, TypeError, RangeError, ReferenceError, SyntaxError; any other
// name gives an Error with that name).
type JSError struct {
	Name    string // "" when what was thrown is not an error
	Message string
	Stack   string // guest stack, innermost first; "" when there is none
	// Value is what was thrown. The VM keeps it for the 64 most recent exceptions;
	// Dup keeps it longer. It needs no Free.
	Value Value
	err   error
}

// Throw makes an error that a host function returns to throw in the guest.
func Throw(class, format string, args ...any) *JSError {
	return &JSError{Name: class, Message: fmt.Sprintf(format, args...)}
}

// Error returns "Name: Message" as JavaScript would print it.
func (e *JSError) Error() string {
	switch {
	case e.Name == "":
		return "uncaught " + e.Message
	case e.Message == "":
		return e.Name
	}
	return e.Name + ": " + e.Message
}

// Unwrap returns [ErrDepth] where that is the reason.
func (e *JSError) Unwrap() error { return e.err }
