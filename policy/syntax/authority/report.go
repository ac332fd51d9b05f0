package authority

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/microsoft/typescript-go/shim/parse"

	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

type useKey struct {
	path string
	kind Kind
	span text.Span
}

type unknownKey struct {
	reason Reason
	kind   Kind
	span   text.Span
}

// use is a Use before everything is known of it.
type use struct {
	node *parse.Node
	fact fact
	kind Kind
	// passage is set where the value only goes into a variable; what is done with the
	// variable says more.
	passage bool
}

// unknown is an Unknown with the name by which its place got to the global object, if it
// got there by one, and whether that name had been asked for.
type unknown struct {
	Unknown
	node  *parse.Node
	root  string
	asked bool
}

// use notes that a place uses a path.
func (e *engine) use(n *parse.Node, f fact, kind Kind) {
	e.note(n, f, kind, false)
}

func (e *engine) note(n *parse.Node, f fact, kind Kind, passage bool) {
	if inherited[firstName(f.path)] || f.doubt == GreatDoubt || f.doubt != NoDoubt && kind == Write {
		return // what a function writes into its receiver is nobody's to grant
	}
	key := useKey{f.path, kind, syntax.SpanOf(e.file, n)}
	if known := e.uses[key]; known != nil && known.fact.doubt != f.doubt {
		if f.doubt < known.fact.doubt {
			e.uses[key] = &use{n, f, kind, passage}
		}
		return
	} else if known != nil {
		known.fact.soft = known.fact.soft && f.soft
		known.fact.softMember = known.fact.softMember && f.softMember
		known.passage = known.passage && passage
		switch {
		case f.root == known.fact.root:
			known.fact.asked = known.fact.asked && f.asked
		case rootRank(f.root) < rootRank(known.fact.root):
			known.fact.root, known.fact.asked = f.root, f.asked
		}
		return
	}
	e.uses[key] = &use{n, f, kind, passage}
}

// rootRank orders the ways to the global object, the one that asks for least first.
func rootRank(root string) int {
	if i := slices.Index([]string{"globalThis", "window", "self", "global", "frames", "top", "parent", "this"}, root); i >= 0 {
		return i
	}
	return math.MaxInt
}

// at returns what stands at a name of the global object.
func (f fact) at(name string) fact {
	return fact{what: host, path: name, root: f.root, asked: f.asked, doubt: f.doubt, silent: f.silent, ctx: f.ctx}
}

// value starts following what stands at a path, and notes its use.
func (e *engine) value(n *parse.Node, f fact) {
	if hasFallback(n) {
		f.soft = f.soft || f.root != ""
		f.softMember = f.softMember || isMember(f.path)
	}
	switch e.usage(n) {
	case asExtended, asWritten:
	case asPassage:
		e.note(n, f, Read, true)
	case asTest:
		// A free name that does not exist fails in any test but typeof; a member of the
		// global object does not.
		single := !strings.Contains(f.path, ".")
		if single && (f.root != "" || isTypeOf(n)) {
			e.use(n, f, Presence)
		} else {
			e.use(n, f, Read)
		}
	default:
		e.use(n, f, Read)
	}
	e.arrive(n, f)
}

// hasFallback reports whether another value stands beside an expression for the case
// that it is not there: x || y, x ?? y, x ||= y.
func hasFallback(n *parse.Node) bool {
	for isTransparent(n.Parent) {
		n = n.Parent
	}
	if n.Parent.Kind != parse.KindBinaryExpression || n.Parent.AsBinaryExpression().Left != n {
		return false
	}
	switch n.Parent.AsBinaryExpression().OperatorToken.Kind {
	case parse.TokenBarBar, parse.TokenQuestionQuestion, parse.TokenBarBarEquals, parse.TokenQuestionQuestionEquals:
		return true
	}
	return false
}

func isTypeOf(n *parse.Node) bool {
	for isTransparent(n.Parent) {
		n = n.Parent
	}
	return n.Parent.Kind == parse.KindTypeOfExpression
}

// maxDetail bounds the length of Unknown.Detail, in bytes.
const maxDetail = 60

// unknown notes a place that cannot be followed.
func (e *engine) unknown(why Reason, kind Kind, n *parse.Node) {
	e.unfollowed(why, kind, n, fact{})
}

// unfollowed notes a place where the global object cannot be followed. The script needs
// the name by which it got there.
func (e *engine) unfollowed(why Reason, kind Kind, n *parse.Node, f fact) {
	if f.silent || f.doubt == GreatDoubt || f.doubt == SomeDoubt && kind == Write {
		return
	}
	span := syntax.SpanOf(e.file, n)
	key := unknownKey{why, kind, span}
	known := e.unknowns[key]
	if known == nil {
		known = &unknown{node: n, Unknown: Unknown{Reason: why, Kind: kind, Span: span, Loading: e.isLoading(n), Detail: e.detail(span), Doubt: f.doubt}}
		e.unknowns[key] = known
	}
	known.Doubt = min(known.Doubt, f.doubt)
	if globalNames[f.root] && (known.root == "" || rootRank(f.root) < rootRank(known.root)) {
		known.root, known.asked = f.root, f.asked
	}
}

// detail returns a piece of the script in one short line.
func (e *engine) detail(span text.Span) string {
	code := e.file.Text[span.Start:min(span.End, span.Start+4*maxDetail)]
	code = strings.ToValidUTF8(strings.Join(strings.Fields(code), " "), "")
	if len(code) <= maxDetail && span.End-span.Start <= 4*maxDetail {
		return code
	}
	return strings.ToValidUTF8(code[:min(len(code), maxDetail)], "") + "…"
}

func firstName(path string) string {
	name, _, _ := strings.Cut(path, ".")
	return name
}

// strength says how much a use asks for: loading counts twice, unguarded once.
func (u Use) strength() int {
	s := 0
	if u.Loading {
		s += 2
	}
	if !u.Guarded {
		s++
	}
	return s
}

// report puts the result together.
func (e *engine) report() Result {
	var out Result
	var passing []bool
	var nodes []*parse.Node
	for _, u := range e.unknowns {
		if u.Doubt == NoDoubt && u.root != "" && (u.root != "globalThis" || u.Reason == Escapes) {
			e.use(u.node, fact{what: host, path: u.root, soft: u.asked}, Read)
		}
	}
	// stronger holds, by path, the strengths of the uses that say more than a passage.
	stronger := map[string][4]bool{}
	keys := slices.SortedFunc(maps.Keys(e.uses), func(a, b useKey) int {
		return cmp.Or(cmp.Compare(a.span.Start, b.span.Start), cmp.Compare(a.span.End, b.span.End), cmp.Compare(a.path, b.path), cmp.Compare(a.kind, b.kind))
	})
	for _, key := range keys {
		u := e.uses[key]
		name := firstName(u.fact.path)
		made := Use{
			Name: name, Path: u.fact.path, Root: u.fact.root, Kind: u.kind, Span: key.span,
			Loading:     e.isLoading(u.node),
			Strict:      u.kind == Write && e.isStrictWrite(u),
			Doubt:       u.fact.doubt,
			RootGuarded: u.fact.root != "" && (u.fact.asked || e.guarded(u.node, firstName(u.fact.root), "")),
		}
		made.Guarded = (made.Kind == Read || made.Strict) && (u.fact.soft || e.guarded(u.node, name, u.fact.root))
		made.MemberGuarded = made.Kind == Read && hasMember(made.Path) && e.isMemberGuarded(u)
		out.Uses = append(out.Uses, made)
		passing = append(passing, u.passage)
		nodes = append(nodes, u.node)
		if made.Kind == Presence || made.Doubt != NoDoubt {
			continue
		}
		path := made.Path
		if u.passage {
			path = parentPath(path)
		}
		for ; path != ""; path = parentPath(path) {
			s := stronger[path]
			s[made.strength()] = true
			stronger[path] = s
		}
	}
	out.Received = slices.Sorted(maps.Keys(e.fromOwn))
	out.Defines = defines(out.Uses, nodes)
	kept := out.Uses[:0]
	for i, u := range out.Uses {
		if passing[i] {
			// Taking a member that is missing gives undefined. What matters is what is
			// done with it, and when.
			harmless := u.Root != "" && u.Path == u.Name
			if implied(u.strength(), stronger[u.Path]) || harmless && stronger[u.Path] != [4]bool{} {
				continue
			}
			u.Guarded = u.Guarded || harmless
		}
		kept = append(kept, u)
	}
	out.Uses = slices.Clip(kept)
	for _, key := range slices.SortedFunc(maps.Keys(e.unknowns), func(a, b unknownKey) int {
		return cmp.Or(cmp.Compare(a.span.Start, b.span.Start), cmp.Compare(a.span.End, b.span.End), cmp.Compare(a.reason, b.reason), cmp.Compare(a.kind, b.kind))
	}) {
		out.Unknowns = append(out.Unknowns, e.unknowns[key].Unknown)
	}
	return out
}

func parentPath(path string) string { return path[:max(strings.LastIndexByte(path, '.'), 0)] }

// implied reports whether one of the strengths asks for all that s asks for.
func implied(s int, by [4]bool) bool {
	for strength, have := range by {
		if have && strength&s == s {
			return true
		}
	}
	return false
}

// missing returns the place that decides whether a write happens: its own, or that of
// `x ?? (x = y)` around it, which writes unless there is a value.
func missing(n *parse.Node) *parse.Node {
	p := n.Parent
	if p.Kind != parse.KindBinaryExpression {
		return n
	}
	if operator := p.AsBinaryExpression().OperatorToken.Kind; operator != parse.TokenEquals {
		return p
	}
	outer := p.Parent
	for isTransparent(outer) {
		outer = outer.Parent
	}
	if outer.Kind == parse.KindBinaryExpression && unwrap(outer.AsBinaryExpression().Right) == p && hasFallback(outer.AsBinaryExpression().Left) &&
		memberName(unwrap(outer.AsBinaryExpression().Left)) == memberName(n) {
		return outer
	}
	return n
}

// memberName returns the name in a name or in an access to a member.
func memberName(n *parse.Node) string {
	switch n.Kind {
	case parse.KindIdentifier:
		return n.Text()
	case parse.KindPropertyAccessExpression:
		return n.Name().Text()
	}
	return ""
}

// defines returns the names that are surely written while the script loads, before
// anything needs them. An assignment in strict code needs the name itself.
func defines(uses []Use, nodes []*parse.Node) []string {
	read, written := map[string]bool{}, map[string]bool{}
	for i, u := range uses {
		switch {
		case u.Doubt != NoDoubt:
		case (u.Kind == Read || u.Strict) && u.Loading && !u.Guarded && !written[u.Name]:
			read[u.Name] = true
		case u.Kind == Write && u.Path == u.Name && u.Loading && !read[u.Name] && !isDeleted(nodes[i]) && parse.IsWrite(nodes[i]) && certain(missing(nodes[i])):
			written[u.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(written))
}
