package embedded

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/sandbox-lsp/sandbox-lsp/runtime/bundle"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/quickjs"
)

// The suite that runs in every host of the membrane (runtime/js/test/hosts), in this one.
func TestHost_showsWhatEveryHostShows(t *testing.T) {
	if testing.Short() {
		t.Skip("the whole suite takes minutes; run without -short to do it")
	}
	h := open(t)
	code, err := bundle.Modules(`export { runAll } from "./test/hosts/suite.js";`, os.DirFS("../js"))
	if err != nil {
		t.Fatal(err)
	}
	say, err := h.VM().NewFunction("say", 1, func(_ context.Context, call *quickjs.Call) (quickjs.Value, error) {
		text, err := call.Arg(0).Text()
		t.Log(text)
		return h.VM().Undefined(), err
	})
	if err != nil {
		t.Fatal(err)
	}
	global, err := h.VM().Global()
	if err != nil {
		t.Fatal(err)
	}
	if err := global.Set(t.Context(), quickjs.Name("say"), say); err != nil {
		t.Fatal(err)
	}
	text := in(t, h, `
		const createSandbox = (source, options) => SandboxManager.createSandbox("lib", source, options);
		const told = say; delete globalThis.say;
		return (`+code+`).runAll({ createSandbox, say: told }).then(JSON.stringify);`)
	t.Log(text)
	var got struct {
		Totals struct{ Rows, Sequences, Programs int }
		Wrong  []string
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if got.Totals.Rows == 0 || got.Totals.Sequences == 0 || got.Totals.Programs == 0 {
		t.Errorf("totals are %+v", got.Totals)
	}
	for _, wrong := range got.Wrong {
		t.Error(wrong)
	}
}
