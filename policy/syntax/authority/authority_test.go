package authority

import (
	"testing"

	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
)

func TestInfer_findsPlainNames(t *testing.T) {
	t.Parallel()
	got := Infer(syntax.Parse("a.js", `window.navigator.clipboard.x(1)`)).Uses
	if len(got) != 1 || got[0].Path != "navigator.clipboard.x" || got[0].Root != "window" {
		t.Errorf("got %+v", got)
	}
}
