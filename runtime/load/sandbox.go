package load

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/runtime/embedded"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/quickjs"
)

//go:embed host.js
var hostSource string

// sandbox is one library in a sandbox of the embedded host.
type sandbox struct {
	host    *embedded.Host
	half    quickjs.Value // what host.js gives
	request Request
}

// inSandbox loads a library and its workloads as an application would.
func inSandbox(ctx context.Context, host *embedded.Host, request Request) (result Result, err error) {
	s := &sandbox{host: host, request: request}
	vm := host.VM()
	construct, err := vm.Eval(ctx, hostSource, "host.js")
	if err != nil {
		return Result{}, err
	}
	if s.half, err = vm.Call(ctx, construct, vm.Undefined(), host.Manager, host.Errors); err != nil {
		return Result{}, err
	}
	defer func() {
		// A host whose load failed is not used again.
		if err == nil && result.Failure == nil {
			_, _, err = s.ask(ctx, "end", nil, nil)
		}
		err = errors.Join(err, construct.Free(), s.half.Free())
	}()
	name := strings.TrimSuffix(request.Script.File, ".bundle.js") // stacks show the file
	numbers := []quickjs.Value{
		vm.Number(float64(request.Limits.MemoryBytes) / (1 << 20)),
		vm.Number(float64(request.Limits.StackBytes) / (1 << 10)),
		vm.Number(float64(request.Limits.Timeout.Microseconds()) / 1000),
	}
	_, f, err := s.ask(ctx, "load", append([]string{name, string(request.Script.Code)}, request.Permissions...), numbers)
	if err == nil && f == nil {
		result.Exports, f, err = s.exports(ctx, "exports")
	}
	if err != nil || f != nil {
		return Result{Failure: f}, err
	}
	for _, w := range request.Workloads {
		loaded := WorkloadResult{Name: w.Name}
		_, loaded.Failure, err = s.ask(ctx, "workload", []string{w.Name, string(w.Code)}, nil)
		if err == nil && loaded.Failure == nil {
			loaded.Exports, loaded.Failure, err = s.exports(ctx, "workloadExports", w.Name)
		}
		if err != nil {
			return Result{}, err
		}
		result.Workloads = append(result.Workloads, loaded)
	}
	used, f, err := s.ask(ctx, "memory", nil, nil)
	if err != nil || f != nil {
		return result, err // a dead guest has no figure
	}
	result.MemoryBytes, err = strconv.ParseInt(used[0], 10, 64)
	return result, err
}

// exports lists what a script exports, as host.js inspects it.
func (s *sandbox) exports(ctx context.Context, method string, args ...string) (Exports, *Failure, error) {
	list, f, err := s.ask(ctx, method, args, nil)
	if err != nil || f != nil {
		return Exports{}, f, err
	}
	if len(list) < 2 {
		return Exports{}, nil, fmt.Errorf("the host listed %d exports", len(list))
	}
	e := Exports{Type: list[0], ESModule: list[1] == "true"}
	for pair := range slices.Chunk(list[2:], 2) {
		e.Names = append(e.Names, Export{Name: pair[0], Type: pair[1]})
	}
	slices.SortFunc(e.Names, func(a, b Export) int { return strings.Compare(a.Name, b.Name) })
	return e, nil, nil
}

// ask calls a method of host.js and runs the jobs that it queued. numbers stand behind
// the first two texts.
func (s *sandbox) ask(ctx context.Context, method string, texts []string, numbers []quickjs.Value) ([]string, *Failure, error) {
	vm := s.host.VM()
	scope := vm.Scope()
	defer scope.Close()
	var args []quickjs.Value
	for i, text := range texts {
		if i == 2 {
			args = append(args, numbers...)
		}
		v, err := vm.NewString(text)
		if err != nil {
			return nil, nil, err
		}
		args = append(args, v)
	}
	if len(texts) == 2 {
		args = append(args, numbers...)
	}
	list, err := vm.CallMethod(ctx, s.half, method, args...)
	if err != nil {
		return nil, nil, err
	}
	answer, err := readTexts(ctx, list)
	if err != nil {
		return nil, nil, err
	}
	if answer[0] != "ok" {
		return nil, s.failure(answer), nil
	}
	if _, err := vm.RunJobs(ctx, maxJobs); err != nil {
		return nil, nil, err
	}
	if vm.JobsPending() {
		return nil, &Failure{Kind: Limited, Limit: "jobs", Message: fmt.Sprintf("more than %d promise jobs", maxJobs)}, nil
	}
	return answer[1:], nil, nil
}

// failure reads what host.js says of one: a kind, and what belongs to it.
func (s *sandbox) failure(answer []string) *Failure {
	kind, rest := FailureKind(answer[0]), append(answer[1:], "", "", "")
	var f Failure
	switch {
	case kind == Limited:
		limit := quickjs.LimitError{Kind: quickjs.LimitKind(rest[0]), Bytes: uint64(s.request.Limits.MemoryBytes), Time: s.request.Limits.Timeout}
		f = Failure{Kind: kind, Limit: rest[0], Message: limit.Error(), Stack: s.host.LimitStack()}
	case kind == Threw && rest[0] == "RangeError" && rest[1] == overflow:
		f = Failure{Kind: Limited, Limit: string(quickjs.LimitStack), Message: rest[1], Stack: rest[2]}
	case kind == Threw:
		f = Failure{Kind: kind, Name: rest[0], Message: rest[1], Stack: rest[2]}
	case kind == Missing:
		f = Failure{Kind: kind}
	default:
		f = Failure{Kind: Crashed, Message: rest[1]}
	}
	f.clip()
	return &f
}

// readTexts reads an array of texts.
func readTexts(ctx context.Context, list quickjs.Value) ([]string, error) {
	length, err := list.Get(ctx, quickjs.Name("length"))
	if err != nil {
		return nil, err
	}
	n, err := length.Float64()
	if err != nil {
		return nil, err
	}
	texts := make([]string, int(n))
	for i := range texts {
		v, err := list.Get(ctx, quickjs.Index(uint32(i)))
		if err != nil {
			return nil, err
		}
		if texts[i], err = v.Text(); err != nil {
			return nil, err
		}
		if err := v.Free(); err != nil {
			return nil, err
		}
	}
	if len(texts) == 0 {
		return nil, errors.New("the host answered nothing")
	}
	return texts, nil
}
