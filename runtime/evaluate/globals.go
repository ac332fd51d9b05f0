package evaluate

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/sandbox-lsp/sandbox-lsp/runtime/quickjs"
)

// Globals returns the names that a script finds in a realm of the engine to which
// nothing was granted, inherited ones included, sorted.
func (e *Evaluator) Globals(ctx context.Context) ([]string, error) {
	engine, err := e.open(ctx)
	if err != nil {
		return nil, err
	}
	vm, err := engine.NewVM(ctx, quickjs.VMOptions{})
	if err != nil {
		return nil, fmt.Errorf("ask the engine for its globals: %w", err)
	}
	defer func() { _ = vm.Close(context.WithoutCancel(ctx)) }()
	v, err := vm.Eval(ctx, `JSON.stringify([globalThis, Object.prototype].flatMap(Object.getOwnPropertyNames).sort())`, "globals.js")
	if err != nil {
		return nil, fmt.Errorf("ask the engine for its globals: %w", err)
	}
	text, err := v.Text()
	if err != nil {
		return nil, fmt.Errorf("ask the engine for its globals: %w", err)
	}
	var names []string
	if err := json.Unmarshal([]byte(text), &names); err != nil {
		return nil, fmt.Errorf("ask the engine for its globals: %w", err)
	}
	return names, nil
}
