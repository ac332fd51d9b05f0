package evaluate

import (
	"slices"
	"testing"
)

func TestGlobals_areTheEnginesOwn(t *testing.T) {
	e := newEvaluator(t)
	names, err := e.Globals(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Array", "Map", "WeakRef", "Proxy", "globalThis", "eval", "toString", "Iterator"} {
		if !slices.Contains(names, name) {
			t.Errorf("%s is missing", name)
		}
	}
	for _, name := range []string{"fetch", "window", "document", "process", "Intl", "require"} {
		if slices.Contains(names, name) {
			t.Errorf("%s is no name of the engine", name)
		}
	}
	t.Logf("%d names: %v", len(names), names)
}
