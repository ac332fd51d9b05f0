package syntax

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestComputedLoads_findsWhatNobodySpelledOut(t *testing.T) {
	tests := map[string]struct {
		code string
		want []string
	}{
		"a variable":               {"f(__require(n))", []string{"__require(n)"}},
		"a constant":               {"const N = 'x'; __require(N)", []string{"__require(N)"}},
		"a concatenation":          {"__require('./' + n)", []string{"__require('./' + n)"}},
		"a template":               {"__require(`./${n}`)", []string{"__require(`./${n}`)"}},
		"import of a variable":     {"import(n).then(f)", []string{"import(n)"}},
		"import of an address":     {"import('https://example.com/x.js')", []string{"import('https://example.com/x.js')"}},
		"the stand-in handed on":   {"const r = __require; r(n)", []string{"__require"}},
		"as an argument":           {"f(__require)", []string{"__require"}},
		"as a value":               {"x = { r: __require }", []string{"__require"}},
		"caught":                   {"try { __require(n) } catch {}", []string{"__require(n) caught"}},
		"caught and thrown again":  {"try { __require(n) } catch (e) { throw e }", []string{"__require(n)"}},
		"in a catch":               {"try { f() } catch { __require(n) }", []string{"__require(n)"}},
		"with finally alone":       {"try { __require(n) } finally { f() }", []string{"__require(n)"}},
		"in a function in a try":   {"try { g = () => __require(n) } catch {}", []string{"__require(n)"}},
		"two":                      {"__require(a); import(b)", []string{"__require(a)", "import(b)"}},
		"a text":                   {"try { __require('x') } catch {}", nil},
		"a template that is text":  {"__require(`x`)", nil},
		"no argument":              {"__require()", nil},
		"its declaration":          {"var __require = ((x) => x)(function (x) {})", nil},
		"a function of the name":   {"x = function __require() {}", nil},
		"a question":               {"typeof __require === 'function'", nil},
		"resolve":                  {"__require.resolve(n)", nil},
		"another's of the name":    {"o.__require(n); ({ __require: 1 })", nil},
		"another function":         {"require(n)", nil},
		"a key that is no mention": {"x = { __require: f }", nil},
		"a file that does not end": {"__require(", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := Parse("x.js", tt.code)
			var got []string
			for _, l := range f.ComputedLoads("__require") {
				at := f.Text[l.Span.Start:l.Span.End]
				if l.Caught {
					at += " caught"
				}
				got = append(got, at)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
