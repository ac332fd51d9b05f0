package syntax

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMembers_findsAccessesAndDeclarationsByName(t *testing.T) {
	for _, test := range []struct{ code, want string }{
		{"a.stack.at", "identifier stack"},
		{"new Error().stack", "new stack"},
		{"b?.stack()", "identifier stack"},
		{"c['stack']", "identifier 'stack'"},
		{"c[`stack`]", "identifier `stack`"},
		{"(e.f).stack", "member stack"},
		{"this.stack()", "self stack"},
		{"class A extends B { m() { super.stack } }", "self stack"},
		{"a.stack += b", "identifier stack"},
		{"stack; d[stack]", ""},
		{"a.#stack; class B { #stack }", ""},
		{"const { stack: s } = g", "pattern stack"},
		{"const { 'stack': s } = g", "pattern 'stack'"},
		{"const { ['stack']: s } = g", "pattern 'stack'"},
		{"function h({ stack }, { ...stack }, [stack], { x: stack }) {}", "pattern stack"},
		{"({ stack } = g)", "pattern stack"},
		{"({ stack: s } = g)", "pattern stack"},
		{"[{ stack: s }] = g", "pattern stack"},
		{"for ({ stack: s } of g);", "pattern stack"},
		{"({ stack: 1 })", "declares stack"},
		{"({ 'stack': 1, stack() {}, get stack() {}, stack })", "declares 'stack', declares stack, declares stack, declares stack"},
		{"class K { stack() {} static stack = 1; set ['stack'](v) {} }", "declares stack, declares stack, declares 'stack'"},
		{"K.prototype.stack = f", "declares stack"},
		{"a['stack'] = f", "declares 'stack'"},
	} {
		f := Parse("x.js", test.code)
		var got []string
		for _, m := range f.Members(map[string]bool{"stack": true}) {
			how := "pattern"
			switch {
			case m.Declares:
				how = "declares"
			case m.Self:
				how = "self"
			case m.Receiver != nil:
				how = m.Receiver.Kind.String()
			}
			got = append(got, how+" "+f.Text[m.Span.Start:m.Span.End])
		}
		if diff := cmp.Diff(test.want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("members of %s (-want +got):\n%s", test.code, diff)
		}
	}
}
