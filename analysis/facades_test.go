package analysis

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/hostglobals"
)

// What the catalogue says of a facade is what a library sees of it.
func TestFacade_isWhatTheRuntimeGives(t *testing.T) {
	for _, name := range []string{"console", "crypto"} {
		source := fmt.Sprintf("throw new Error(Object.getOwnPropertyNames(%s).sort().join(', '));", name)
		result, err := installed(t, fmt.Sprintf("export default {\n  lists: { permissions: [%q] },\n};\n", name), map[string]string{"lists": source}).Check(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		want := "Error: " + strings.Join(hostglobals.Facade(name), ", ") + " ("
		if !slices.ContainsFunc(result.Findings, func(f finding.Finding) bool {
			return f.Code == finding.LoadFailed && strings.Contains(f.Message, want)
		}) {
			t.Errorf("%s: no finding says %q: %v", name, want, result.Findings)
		}
	}
}
