package syntax

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMembers_findsAccessesByName(t *testing.T) {
	f := Parse("x.js", "a.stack.at; new Error().stack; b?.stack(); c['stack']; ({ stack: 1 }); stack; d[stack]; class K { stack() {} } (e.f).stack; const { stack: s } = g; function h({ stack }, { ...stack }, [stack], { x: stack }) {}")
	var got []string
	for _, m := range f.Members(map[string]bool{"stack": true}) {
		if m.Receiver == nil {
			got = append(got, "pattern "+f.Text[m.Span.Start:m.Span.End])
			continue
		}
		got = append(got, m.Receiver.Kind.String()+" "+f.Text[m.Span.Start:m.Span.End])
	}
	want := []string{"identifier stack", "new stack", "identifier stack", "identifier 'stack'", "member stack", "pattern stack", "pattern stack"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
}
