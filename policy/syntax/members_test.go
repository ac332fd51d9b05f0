package syntax

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMembers_findsAccessesByName(t *testing.T) {
	f := Parse("x.js", "a.stack.at; new Error().stack; b?.stack(); c['stack']; ({ stack: 1 }); stack; d[stack]; class K { stack() {} } (e.f).stack")
	var got []string
	for _, m := range f.Members(map[string]bool{"stack": true}) {
		got = append(got, m.Receiver.Kind.String()+" "+f.Text[m.Span.Start:m.Span.End])
	}
	want := []string{"identifier stack", "new stack", "identifier stack", "identifier 'stack'", "member stack"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
}
