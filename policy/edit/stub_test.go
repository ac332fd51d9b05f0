package edit

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
)

func TestWorkloadStub_exportsWhatWasAskedFor(t *testing.T) {
	names := []string{"run", "default", "delete", "by-day", "a\"b", "run"}
	want := []string{"run", "default", "delete", "by-day", "a\"b"}
	for file, cjs := range map[string]bool{"work.js": false, "work.cjs": true} {
		source := WorkloadStub("@scope/lib", names, cjs)
		parsed := syntax.Parse(file, source)
		if len(parsed.Diagnostics) > 0 {
			t.Fatalf("%s: %v\n%s", file, parsed.Diagnostics, source)
		}
		var got []string
		exported, _ := parsed.ExportedNames()
		for _, e := range exported {
			got = append(got, e.Name)
			if !e.Function {
				t.Errorf("%s: %q is no function", file, e.Name)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%s", file, diff, source)
		}
		if n := strings.Count(source, "throw new Error("); n != len(want) || !strings.Contains(source, `"sandbox-real/@scope/lib"`) {
			t.Errorf("%s: %d functions throw\n%s", file, n, source)
		}
	}
}

func TestWorkloadStub_isReadable(t *testing.T) {
	const want = `// This file runs inside the sandbox of lodash, with the permissions of that library
// and no others. It reaches the library with:
//   import * as library from "sandbox-real/lodash";

export function run() {
  throw new Error("run is not written yet. Write it in the entry of its workload.");
}
`
	if diff := cmp.Diff(want, WorkloadStub("lodash", []string{"run"}, false)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
