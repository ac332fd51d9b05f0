// Package observe records which globals a script touches in a realm while it runs:
// the ones that the realm does not have, and the granted ones that are watched.
//
// A recorded realm answers as an unrecorded one does, except that reading an
// undeclared name gives undefined instead of a ReferenceError. What a script does
// under the recorder is therefore evidence of what it asks for, and not the verdict
// on whether it runs.
package observe

import (
	"context"
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/runtime/quickjs"
)

// Operation is what a script did with a name.
type Operation string

// The operations. A get may be a use or the operand of typeof: no realm can tell
// the two apart.
const (
	Get Operation = "get"
	Has Operation = "has" // the in operator, and a strict assignment that asks first
	Set Operation = "set"
)

// Touch is one use of a name.
type Touch struct {
	Name      string
	Operation Operation
	Stack     string // the guest's, innermost frame first, without the recorder's own
}

// Bounds of what one recorder keeps: a script may ask for a name in a loop, and for
// names without end.
const (
	perPlace   = 4
	maxTouches = 4000
)

// Source is the recorder as a JavaScript function expression of a report function
// (operation, name, stack) and the number of reports for each name and operation.
// Called first of all in a realm, it returns the function that watches an own
// property of the global object. Hosts other than this one's engine run it as it is.
//
//go:embed recorder.js
var Source string

// file is the name that frames of the recorder carry.
const file = "sandbox-lsp:recorder"

// Recorder records one realm. It is used by the goroutine that uses the VM.
type Recorder struct {
	vm      *quickjs.VM
	watch   quickjs.Value
	own     map[string]bool
	touches []Touch
}

// Install starts recording. Names in own belong to whoever runs the script and are
// not recorded.
func Install(ctx context.Context, vm *quickjs.VM, own ...string) (*Recorder, error) {
	r := &Recorder{vm: vm, own: map[string]bool{}}
	for _, name := range own {
		r.own[name] = true
	}
	install, err := vm.Eval(ctx, Source, file)
	if err != nil {
		return nil, fmt.Errorf("install the recorder: %w", err)
	}
	report, err := vm.NewFunction("report", 3, r.report)
	if err != nil {
		return nil, fmt.Errorf("install the recorder: %w", err)
	}
	if r.watch, err = vm.Call(ctx, install, vm.Undefined(), report, vm.Int(perPlace)); err != nil {
		return nil, fmt.Errorf("install the recorder: %w", err)
	}
	return r, nil
}

// Watch records the uses of a property that the global object has.
func (r *Recorder) Watch(ctx context.Context, name string) error {
	text, err := r.vm.NewString(name)
	if err != nil {
		return fmt.Errorf("watch %s: %w", name, err)
	}
	if _, err := r.vm.Call(ctx, r.watch, r.vm.Undefined(), text); err != nil {
		return fmt.Errorf("watch %s: %w", name, err)
	}
	return nil
}

// Touches returns what was recorded so far, in order of time. It does not need the
// VM to be alive.
func (r *Recorder) Touches() []Touch { return r.touches }

func (r *Recorder) report(_ context.Context, call *quickjs.Call) (quickjs.Value, error) {
	var parts [3]string
	for i := range parts {
		text, err := call.Arg(i).Text()
		if err != nil {
			return quickjs.Value{}, err
		}
		parts[i] = text
	}
	if name := parts[1]; !r.own[name] && len(r.touches) < maxTouches {
		r.touches = append(r.touches, Touch{Name: name, Operation: Operation(parts[0]), Stack: foreign(parts[2])})
	}
	return r.vm.Undefined(), nil
}

// ownFrame matches the lines of a stack that the recorder and the engine's proxy
// machinery put on top.
var ownFrame = regexp.MustCompile(`\(?` + file + `(:\d+)*\)?$`)

// foreign drops the recorder's own frames.
func foreign(stack string) string {
	var kept []string
	for line := range strings.Lines(stack) {
		line = strings.TrimRight(line, "\n")
		if ownFrame.MatchString(line) || line == "" {
			continue
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "\n")
}
