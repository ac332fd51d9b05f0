// Package evaluate runs policy modules in QuickJS without any host capability and
// gives their exported value back as data.
//
// It runs inside the process of an editor's server, on files that nobody vouches
// for, so the engine it uses stops everything at its deadline, native loops
// included.
package evaluate

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/bundle"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/quickjs"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/stack"
)

// What a policy may use while it is evaluated.
const (
	Memory  = 64 << 20
	Timeout = 2 * time.Second
)

// maxResult bounds the exported value, in bytes of its encoding.
const maxResult = 16 << 20

// script is the file name that the guest's stacks show for a policy's bundle.
const script = "policy.js"

//go:embed encode.js
var encoder string

// Evaluator implements policy.Evaluator. It is safe for concurrent use; its engine
// opens at the first evaluation.
type Evaluator struct {
	cacheDir string

	mu     sync.Mutex
	engine *quickjs.Engine
}

// New returns an evaluator whose engine keeps its compiled form in cacheDir, which
// may be empty.
func New(cacheDir string) *Evaluator { return &Evaluator{cacheDir: cacheDir} }

// Close ends the engine. Evaluations must have returned.
func (e *Evaluator) Close(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.engine == nil {
		return nil
	}
	engine := e.engine
	e.engine = nil
	return engine.Close(ctx)
}

func (e *Evaluator) open(ctx context.Context) (*quickjs.Engine, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.engine == nil {
		engine, err := quickjs.New(ctx, quickjs.Options{CacheDir: e.cacheDir, Interruptible: true})
		if err != nil {
			return nil, fmt.Errorf("open the engine for policies: %w", err)
		}
		e.engine = engine
	}
	return e.engine, nil
}

// Evaluate bundles a policy with its helpers, runs it, and decodes what it exports.
func (e *Evaluator) Evaluate(ctx context.Context, source policy.Source) (*policy.Value, error) {
	texts := map[string]string{source.File: source.Text}
	for path, content := range source.Overlay {
		texts[path] = content
	}
	bundled, err := bundle.OfPolicy(ctx, source.Root, source.File, texts)
	if err != nil {
		return nil, unbundled(err)
	}
	engine, err := e.open(ctx)
	if err != nil {
		return nil, err
	}
	vm, err := engine.NewVM(ctx, quickjs.VMOptions{Limits: quickjs.Limits{MemoryBytes: Memory, Timeout: Timeout}})
	if err != nil {
		return nil, fmt.Errorf("evaluate the policy: %w", err)
	}
	// The guest's end is not the caller's: the VM goes even when the context has.
	defer func() { _ = vm.Close(context.WithoutCancel(ctx)) }()
	encoded, err := run(ctx, vm, string(bundled.Code))
	if err != nil {
		return nil, failed(ctx, err, bundled, source)
	}
	value, err := decode(encoded)
	if err != nil {
		return nil, fmt.Errorf("evaluate the policy: %w", err)
	}
	return value, nil
}

// run evaluates the encoder first, so that it works with intrinsics that the policy
// has not touched, then the policy, then encodes what it exports.
func run(ctx context.Context, vm *quickjs.VM, code string) (string, error) {
	encode, err := vm.Eval(ctx, encoder, "encode.js")
	if err != nil {
		return "", err
	}
	if _, err := vm.Eval(ctx, code, script); err != nil {
		return "", err
	}
	global, err := vm.Global()
	if err != nil {
		return "", err
	}
	exports, err := global.Get(ctx, quickjs.Name(bundle.PolicyGlobal))
	if err != nil {
		return "", err
	}
	result, err := vm.Call(ctx, encode, vm.Undefined(), exports, vm.Int(maxResult))
	if err != nil {
		return "", err
	}
	return result.Text()
}

// unbundled turns an error of the bundler into one at its place.
func unbundled(err error) error {
	var failed *bundle.Error
	if !errors.As(err, &failed) {
		return err
	}
	m := failed.Messages[0]
	message := m.Text
	switch {
	case strings.HasPrefix(message, "Could not resolve"):
		message += ", and a configuration file can import only files of the project and installed packages"
	case strings.HasPrefix(message, "Top-level await"):
		message = "it uses await at the top level, and a configuration file cannot wait: reading it must not read files or ask the network, so there is nothing to wait for. Write the values out, or import them from a file of the project"
	}
	return &policy.EvaluationError{Message: message, File: m.File, Line: m.Line, Column: m.Column + 1, Length: m.Length}
}

// failed turns an error of the guest into one at the place that the source map
// gives for it.
func failed(ctx context.Context, err error, b *bundle.Bundle, source policy.Source) error {
	var thrown *quickjs.JSError
	var limit *quickjs.LimitError
	out := &policy.EvaluationError{}
	var printed string
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &thrown):
		out.Message, printed = thrown.Error(), thrown.Stack
	case errors.As(err, &limit):
		out.Message, printed = limitMessage(limit), limit.Stack
	default:
		return fmt.Errorf("evaluate the policy: %w", err)
	}
	sources, mapErr := stack.NewMap(b.Map, script, filepath.Join(source.Root, policy.Folder))
	if mapErr != nil {
		return errors.Join(out, mapErr)
	}
	frames := sources.Frames(stack.Parse(printed))
	if limit != nil && limit.Kind == quickjs.LimitTime {
		frames = stack.Blur(frames)
	}
	for _, f := range frames {
		if out.File == "" && filepath.IsAbs(f.File) && f.Line > 0 {
			out.File, out.Line, out.Column = f.File, f.Line, f.Column
		}
	}
	for i := range frames {
		frames[i].File = policy.Relative(source.Root, frames[i].File)
	}
	out.Stack = stack.Format(frames)
	return out
}

func limitMessage(limit *quickjs.LimitError) string {
	switch limit.Kind {
	case quickjs.LimitMemory:
		return fmt.Sprintf("it used more than the %d MB of memory that a configuration file may use", Memory>>20)
	case quickjs.LimitTime:
		return fmt.Sprintf("it ran longer than the %v that a configuration file may take", Timeout)
	default:
		return limit.Error()
	}
}

// node is the encoder's form of a value.
type node struct {
	Kind   string            `json:"t"`
	Scalar json.RawMessage   `json:"v"`
	Keys   []string          `json:"k"`
	Parts  []json.RawMessage `json:"p"`
}

var kinds = map[string]policy.Kind{
	"object": policy.Object, "array": policy.Array, "string": policy.String, "number": policy.Number,
	"boolean": policy.Bool, "null": policy.Null, "undefined": policy.Undefined, "function": policy.Function,
}

func decode(encoded string) (*policy.Value, error) {
	var n node
	if err := json.Unmarshal([]byte(encoded), &n); err != nil {
		return nil, fmt.Errorf("decode the exported value: %w", err)
	}
	return n.value()
}

func (n node) value() (*policy.Value, error) {
	kind, known := kinds[n.Kind]
	if !known {
		return &policy.Value{Kind: policy.Other, Text: n.Kind}, nil
	}
	v := &policy.Value{Kind: kind}
	var err error
	switch kind {
	case policy.String:
		err = json.Unmarshal(n.Scalar, &v.Text)
	case policy.Number:
		var text string // as text: NaN and the infinities are not JSON
		if err = json.Unmarshal(n.Scalar, &text); err == nil {
			_, err = fmt.Sscan(text, &v.Number)
		}
	case policy.Bool:
		err = json.Unmarshal(n.Scalar, &v.Bool)
	case policy.Object, policy.Array:
		for i, raw := range n.Parts {
			var part node
			if err := json.Unmarshal(raw, &part); err != nil {
				return nil, fmt.Errorf("decode the exported value: %w", err)
			}
			child, err := part.value()
			if err != nil {
				return nil, err
			}
			if kind == policy.Array {
				v.Elems = append(v.Elems, child)
			} else if i < len(n.Keys) {
				v.Props = append(v.Props, policy.Prop{Key: n.Keys[i], Value: child})
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("decode the exported value: %w", err)
	}
	return v, nil
}
