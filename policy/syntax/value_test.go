package syntax

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// show prints a node in a form close to JSON that keeps what JSON loses.
func show(n *Node) string {
	switch n.Kind {
	case KindObject:
		var parts []string
		for _, p := range n.Properties {
			switch {
			case p.Spread:
				parts = append(parts, "..."+show(p.Value))
			case p.Computed:
				parts = append(parts, "[?]:"+show(p.Value))
			case p.Shorthand:
				parts = append(parts, p.Key)
			default:
				parts = append(parts, p.Key+":"+show(p.Value))
			}
		}
		return "{" + strings.Join(parts, ",") + "}"
	case KindArray:
		return "[" + showAll(n.Elements) + "]"
	case KindString:
		return strconv.Quote(n.Text)
	case KindNumber:
		return strconv.FormatFloat(n.Number, 'g', -1, 64)
	case KindBool:
		return strconv.FormatBool(n.Bool)
	case KindIdentifier, KindBigInt, KindRegexp:
		return n.Text
	case KindMember:
		return show(n.Operand) + "." + n.Text
	case KindCall:
		return show(n.Callee) + "(" + showAll(n.Args) + ")"
	case KindNew:
		return "new " + show(n.Callee) + "(" + showAll(n.Args) + ")"
	case KindSpread:
		return "..." + show(n.Operand)
	}
	return "<" + n.Kind.String() + ">"
}

func showAll(nodes []*Node) string {
	var parts []string
	for _, n := range nodes {
		parts = append(parts, show(n))
	}
	return strings.Join(parts, ",")
}

func TestParse_readsEveryKindOfValue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ source, want string }{
		{`{ "lodash": { permissions: ["Intl", 'fetch'] } }`, `{lodash:{permissions:["Intl","fetch"]}}`},
		{"{ a: `x`, b: `x${y}` }", `{a:"x",b:<template>}`},
		{`[1, -2.5, +3, 0x10, 1_000, 1e400]`, `[1,-2.5,3,16,1000,+Inf]`},
		{`[10n, -10n]`, `[10n,-10n]`},
		{`[true, false, null, undefined, void 0, , 1]`, `[true,false,<null>,<undefined>,<undefined>,<undefined>,1]`},
		{`/a\/b/g`, `/a\/b/g`},
		{`({ a: (1), b: [("x")] })`, `{a:1,b:["x"]}`},
		{`{ a, ...b, [c]: 1, ["d"]: 2, [3]: 4, 5: 6, m() {}, get g() { return 1 } }`,
			`{a,...b,[?]:1,d:2,3:4,5:6,m:<function>,g:<expression>}`},
		{`f(1, ...x)`, `f(1,...x)`},
		{`new URL("x")`, `new URL("x")`},
		{`a.b["c"]`, `a.b.c`},
		{`[() => 1, function () {}, class {}]`, `[<function>,<function>,<function>]`},
		{`a ? 1 : 2`, `<expression>`},
		{`"\u{1F600}\n"`, `"😀\n"`},
	} {
		t.Run(c.source, func(t *testing.T) {
			t.Parallel()
			n, _, _ := Parse("a.js", "export default "+c.source).Export()
			if got := show(n); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestParse_unwrapsTypes(t *testing.T) {
	t.Parallel()
	f := Parse("a.ts", `export default ({ a: <string>"x", b: y!, c: ["d"] as const } as const) satisfies Config`)
	n, _, _ := f.Export()
	if got, want := show(n), `{a:"x",b:y,c:["d"]}`; got != want || len(f.Diagnostics) != 0 {
		t.Errorf("got %s, %v; want %s and no diagnostics", got, f.Diagnostics, want)
	}
}

func TestParse_keepsWhatCanBeReadOfHalfTypedText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ source, want string }{
		{`{ "lodash": { permissions: ["Intl", `, `{lodash:{permissions:["Intl"]}}`},
		{`{ "lodash": { permissions: ["Intl", "fe`, `{lodash:{permissions:["Intl","fe"]}}`},
		{`{ "lodash": { permissions: `, `{lodash:{permissions:<missing>}}`},
		{`{ "lodash": { permissions: }, qs: {} }`, `{lodash:{permissions:<missing>},qs:{}}`},
		{`{ "lodash": { permissions`, `{lodash:{permissions}}`},
		{`{ "lodash": { "permissions"`, `{lodash:{permissions:<missing>}}`},
		{`{ "lodash"`, `{lodash:<missing>}`},
		{`{ a: 1 b: 2 }`, `{a:1,b:2}`},
		{`{ a: [1 2] }`, `{a:[1,2]}`},
		{`{ a: { b: 1, }, c: `, `{a:{b:1},c:<missing>}`},
		{`defineConfig({ a: { permissions: ["x"`, `{a:{permissions:["x"]}}`},
		{``, `<missing>`},
	} {
		t.Run(c.source, func(t *testing.T) {
			t.Parallel()
			f := Parse("a.js", "export default "+c.source)
			n, form, _ := f.Export()
			if n == nil || form != ExportDefault {
				t.Fatalf("no export found: %v", f.Diagnostics)
			}
			if got := show(n); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if len(f.Diagnostics) == 0 {
				t.Error("a broken text must have diagnostics")
			}
		})
	}
}

func TestParse_spansCoverTheirText(t *testing.T) {
	t.Parallel()
	const source = "// é\nexport default { /* c */ \"löd\" /* d */: { permissions: [ \"Intl\" ] }, ...rest, [k]: 1 }"
	f := Parse("a.js", source)
	n, _, statement := f.Export()
	var got []string
	at := func(label string, start, end int) { got = append(got, label+" "+source[start:end]) }
	at("statement", statement.Start, statement.End)
	at("object", n.Span.Start, n.Span.End)
	for _, p := range n.Properties {
		at("key", p.KeySpan.Start, p.KeySpan.End)
		at("member", p.Span.Start, p.Span.End)
		at("value", p.Value.Span.Start, p.Value.Span.End)
	}
	element := n.Properties[0].Value.Property("permissions").Value.Elements[0]
	at("element", element.Span.Start, element.Span.End)
	want := []string{
		"statement " + source[6:],
		"object " + source[21:],
		`key "löd"`, `member "löd" /* d */: { permissions: [ "Intl" ] }`, `value { permissions: [ "Intl" ] }`,
		`key `, `member ...rest`, `value rest`,
		`key [k]`, `member [k]: 1`, `value 1`,
		`element "Intl"`,
	}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

func TestNodeProperty_lastOfDuplicatesWins(t *testing.T) {
	t.Parallel()
	n, _, _ := Parse("a.js", `export default { a: 1, a: 2, ...a }`).Export()
	if p := n.Property("a"); p == nil || p.Value.Number != 2 {
		t.Errorf("got %+v, want the second a", p)
	}
	if p := n.Property("b"); p != nil {
		t.Errorf("got %+v for a key that is not there", p)
	}
}

func TestNodeLiteral_tellsWhatNeedsEvaluation(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]bool{
		`{ a: [1, "x", { b: null }] }`: true, `{ ...a }`: false, `{ [a]: 1 }`: false, `{ a }`: false,
		`[f()]`: false, `{ get a() {} }`: false, `{ a: ["x",`: true, `{ a: `: false,
	} {
		n, _, _ := Parse("a.js", "export default "+source).Export()
		if got := n.Literal(); got != want {
			t.Errorf("%s: got %v, want %v", source, got, want)
		}
	}
}

func TestParse_wholeKeepsWhatTheValueLeavesOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, source, want string }{
		{"a.ts", `export default [("a") as Name, <B>b!, c, ({} satisfies C)]`, `("a") as Name|<B>b!|c|({} satisfies C)`},
		{"a.js", `export default [/** @type {Name} */ ("a"), /** @satisfies {C} */ ({})]`, `("a")|({})`},
	} {
		f := Parse(c.file, c.source)
		n, _, _ := f.Export()
		var whole []string
		for _, e := range n.Elements {
			whole = append(whole, f.Text[e.Whole.Start:e.Whole.End])
		}
		if got := strings.Join(whole, "|"); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.source, got, c.want)
		}
	}
}
