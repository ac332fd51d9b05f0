package load

import (
	"context"
	_ "embed"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"unicode/utf8"

	"github.com/sandbox-lsp/sandbox-lsp/runtime/bundle"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/observe"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/quickjs"
)

// ServeIfWorker turns this process into a load worker when a pool started it as
// one, and then does not return. Programs and test binaries that use a Pool call it
// first of all.
func ServeIfWorker() {
	cacheDir, worker := os.LookupEnv(workerVariable)
	if !worker {
		return
	}
	if err := serve(context.Background(), os.Stdin, os.Stdout, cacheDir); err != nil {
		fmt.Fprintln(os.Stderr, "load worker:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serve answers requests until its input ends.
func serve(ctx context.Context, in io.Reader, out io.Writer, cacheDir string) error {
	dec, enc := gob.NewDecoder(in), gob.NewEncoder(out)
	engine, fault := quickjs.New(ctx, quickjs.Options{CacheDir: cacheDir})
	for {
		var request Request
		if err := dec.Decode(&request); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return fmt.Errorf("read a request: %w", err)
		}
		if fault != nil {
			if err := enc.Encode(answer{Fault: fault.Error()}); err != nil {
				return fmt.Errorf("answer a request: %w", err)
			}
			continue
		}
		if err := enc.Encode(answer{Started: true}); err != nil {
			return fmt.Errorf("answer a request: %w", err)
		}
		var a answer
		result, err := evaluate(ctx, engine, request)
		if err != nil {
			a.Fault = err.Error()
		} else {
			a.Result = result
		}
		if err := enc.Encode(a); err != nil {
			return fmt.Errorf("answer a request: %w", err)
		}
	}
}

//go:embed guest.js
var guestSource string

// guest is one realm with the functions of guest.js, which hold the intrinsics as
// they were before the library ran.
type guest struct {
	vm       *quickjs.VM
	grant    quickjs.Value
	inspect  quickjs.Value
	recorder *observe.Recorder // nil for a load that is not recorded
}

// evaluate loads one library and its workloads, and says what they touched while
// they did. An error is the tool's own.
//
// The recorder stands where absent names are looked for. A load that asked for none
// went as it would have gone without it; any other is repeated, so that what fails
// for lack of a name fails here as it does in an application.
func evaluate(ctx context.Context, engine *quickjs.Engine, request Request) (Result, error) {
	recorded, err := evaluateOnce(ctx, engine, request, true)
	if err != nil || len(recorded.Touches) == 0 {
		return recorded, err
	}
	result, err := evaluateOnce(ctx, engine, request, false)
	result.Touches = recorded.Touches
	return result, err
}

// bundlersOwn are names that bundles use on the bundler's account: where they put
// their exports, and require, for which the bundler's stand-in for a call that it
// could not resolve asks the realm.
var bundlersOwn = []string{bundle.Global, bundle.WorkloadGlobal, "require"}

func evaluateOnce(ctx context.Context, engine *quickjs.Engine, request Request, record bool) (Result, error) {
	vm, err := engine.NewVM(ctx, quickjs.VMOptions{Limits: quickjs.Limits{
		MemoryBytes: uint64(request.Limits.MemoryBytes),
		StackBytes:  uint32(request.Limits.StackBytes),
		Timeout:     request.Limits.Timeout,
	}})
	if err != nil {
		return Result{}, fmt.Errorf("load %s: %w", request.Library, err)
	}
	defer func() { _ = vm.Close(ctx) }() // what a dying VM says is in the result already
	g, err := newGuest(ctx, vm)
	if err != nil {
		return Result{}, fmt.Errorf("load %s: %w", request.Library, err)
	}
	if record {
		if g.recorder, err = observe.Install(ctx, vm, bundlersOwn...); err != nil {
			return Result{}, fmt.Errorf("load %s: %w", request.Library, err)
		}
	}
	for _, name := range request.Permissions {
		err := g.permit(ctx, name)
		if limit := (*quickjs.LimitError)(nil); errors.As(err, &limit) {
			// The stand-ins are made in the guest, out of what it may use.
			return Result{Failure: failure(err)}, nil
		}
		if err != nil {
			return Result{}, fmt.Errorf("grant %s to %s: %w", name, request.Library, err)
		}
	}
	var result Result
	result.Exports, result.Failure = g.script(ctx, request.Script, bundle.Global)
	for _, w := range request.Workloads {
		if result.Failure != nil {
			break
		}
		exports, failure := g.script(ctx, w, bundle.WorkloadGlobal)
		result.Workloads = append(result.Workloads, WorkloadResult{Name: w.Name, Exports: exports, Failure: failure})
	}
	if used, err := vm.MemoryUsed(); err == nil { // a dead VM has no figure
		result.MemoryBytes = int64(used)
	}
	if record {
		result.Touches = g.recorder.Touches()
	}
	return result, nil
}

func newGuest(ctx context.Context, vm *quickjs.VM) (*guest, error) {
	functions, err := vm.Eval(ctx, guestSource, "guest.js")
	if err != nil {
		return nil, err
	}
	g := &guest{vm: vm}
	if g.grant, err = functions.Get(ctx, quickjs.Name("grant")); err != nil {
		return nil, err
	}
	if g.inspect, err = functions.Get(ctx, quickjs.Name("inspect")); err != nil {
		return nil, err
	}
	return g, nil
}

// permit puts a stand-in for a granted host global into the guest, unless the
// engine has it.
func (g *guest) permit(ctx context.Context, name string) error {
	text, err := g.vm.NewString(name)
	if err != nil {
		return err
	}
	granted, err := g.vm.Call(ctx, g.grant, g.vm.Undefined(), text)
	if err != nil || g.recorder == nil {
		return err
	}
	if fresh, err := granted.Bool(); err != nil || !fresh {
		return err
	}
	return g.recorder.Watch(ctx, name)
}

// script evaluates a bundle, runs the jobs that it queued, and lists what it
// assigned to the global.
func (g *guest) script(ctx context.Context, s Script, global string) (Exports, *Failure) {
	if _, err := g.vm.Eval(ctx, string(s.Code), s.File); err != nil {
		return Exports{}, failure(err)
	}
	if _, err := g.vm.RunJobs(ctx, maxJobs); err != nil {
		return Exports{}, failure(err)
	}
	if g.vm.JobsPending() {
		return Exports{}, &Failure{Kind: Limited, Limit: "jobs", Message: fmt.Sprintf("more than %d promise jobs", maxJobs)}
	}
	exports, err := g.exports(ctx, global)
	if err != nil {
		return Exports{}, failure(err)
	}
	if exports.Type == "undefined" {
		return Exports{}, &Failure{Kind: Missing}
	}
	return exports, nil
}

// maxJobs bounds the promise reactions that belong to loading. One that queues more
// never comes to rest, and would keep an application's page busy for ever.
const maxJobs = 100_000

func (g *guest) exports(ctx context.Context, global string) (Exports, error) {
	name, err := g.vm.NewString(global)
	if err != nil {
		return Exports{}, err
	}
	list, err := g.vm.Call(ctx, g.inspect, g.vm.Undefined(), name)
	if err != nil {
		return Exports{}, err
	}
	return readExports(ctx, list)
}

// readExports reads the array that inspect returns: the value's own type, its
// __esModule mark, then name and type by turns.
func readExports(ctx context.Context, list quickjs.Value) (Exports, error) {
	length, err := list.Get(ctx, quickjs.Name("length"))
	if err != nil {
		return Exports{}, err
	}
	n, err := length.Float64()
	if err != nil {
		return Exports{}, err
	}
	texts := make([]string, int(n))
	for i := range texts {
		v, err := list.Get(ctx, quickjs.Index(uint32(i)))
		if err != nil {
			return Exports{}, err
		}
		if texts[i], err = v.Text(); err != nil {
			return Exports{}, err
		}
		if err := v.Free(); err != nil {
			return Exports{}, err
		}
	}
	if len(texts) < 2 {
		return Exports{}, fmt.Errorf("the guest listed %d exports", len(texts))
	}
	e := Exports{Type: texts[0], ESModule: texts[1] == "true"}
	for pair := range slices.Chunk(texts[2:], 2) {
		e.Names = append(e.Names, Export{Name: pair[0], Type: pair[1]})
	}
	slices.SortFunc(e.Names, func(a, b Export) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return e, nil
}

// Bounds of what a failure carries, in bytes: a guest may throw an error whose message
// fills its memory, and people read the first lines.
const (
	maxMessage = 2 << 10
	maxStack   = 64 << 10
)

// overflow is what the engine's error says when the guest's own stack is full. The guest
// may catch it, so it ends no guest; one that leaves the script uncaught ends the load.
const overflow = "Maximum call stack size exceeded"

// failure says how an evaluation ended.
func failure(err error) *Failure {
	var f Failure
	var thrown *quickjs.JSError
	var limit *quickjs.LimitError
	switch {
	case errors.As(err, &limit):
		f = Failure{Kind: Limited, Limit: string(limit.Kind), Message: limit.Error(), Stack: limit.Stack}
	case errors.As(err, &thrown) && thrown.Name == "RangeError" && thrown.Message == overflow:
		f = Failure{Kind: Limited, Limit: string(quickjs.LimitStack), Message: thrown.Message, Stack: thrown.Stack}
	case errors.As(err, &thrown):
		f = Failure{Kind: Threw, Name: thrown.Name, Message: thrown.Message, Stack: thrown.Stack}
	default:
		f = Failure{Kind: Crashed, Message: err.Error()}
	}
	f.Name, f.Message, f.Stack = clip(f.Name, maxMessage), clip(f.Message, maxMessage), clip(f.Stack, maxStack)
	return &f
}

// clip cuts a text off at a character's end.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}
