package authority

import (
	"sort"

	"github.com/microsoft/typescript-go/shim/parse"

	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
)

// function is a function, a class (whose code is its constructor's) or the script.
type function struct {
	node   *parse.Node
	outer  *function // nil for the script
	strict bool
	method bool // called on an object, or by new: `this` is not the global object
	params []*parse.Node
	this   []*parse.Node // its `this`, those of its arrow functions included
	own    []*parse.Node // the same of a method that is not strict code
	// arguments are the uses of the arguments object other than its length.
	arguments []*parse.Node
	calls     []site
	module    bool // a CommonJS module that the bundler wrapped: what it exports is what it returns
	base      []*function

	// What the call graph says.
	callers   []edge
	escapes   bool     // unknown code may call it
	built     bool     // used as a constructor
	derived   bool     // a class extends it
	stored    bool     // a member of some object, and so perhaps called on it
	names     []string // of those members, as far as they are known
	adrift    bool     // code that is not known may call it without an object
	tagged    bool     // a template's tag
	handedOut bool     // memo of handOut
	returned  []fact
	gives     *parse.Node   // where it returns what is not code of the script, the first place
	results   []*parse.Node // what it returns, as far as that is reached

	loading bool
}

// site is a call in a function's body.
type site struct {
	node    *parse.Node
	certain bool // no condition decides whether it happens when the body runs
}

// region says that code from pos on, to the next region, belongs to a function.
type region struct {
	pos int
	fn  *function
}

// stretch is a range of bytes.
type stretch struct{ start, end int }

// survey is what one walk over the tree collects.
type survey struct {
	tree      syntax.Tree
	script    *function
	functions []*function // in source order, the script first
	byNode    map[*parse.Node]*function
	regions   []region
	dead      []stretch // code that no run reaches, in source order
	symbols   map[*parse.Node]*parse.Symbol
	free      map[string][]*parse.Node
	withs     []*parse.Node
	makers    []*parse.Node // accesses to a member named constructor
	takers    []*parse.Node // members of patterns that take one
	wrapped   map[*parse.Node]*parse.Node
	modules   map[*parse.Symbol]*function // the parameters exports and module of wrapped modules
	lazy      map[*parse.Node]bool
	written   map[*parse.Symbol][]*parse.Node
	ownNames  map[string]bool // names that the script gives to members of objects
	loose     map[string]bool // names of members that it takes off objects
	aliases   [][2]string     // members that it takes from one object to another: to, from
	truths    map[*parse.Symbol]truth
	fixed     map[*parse.Symbol]bool // memo of fixedMember
	late      map[passage]bool       // memo of settled
	helpers   map[*parse.Node]moduleHelper
}

// frame is where the walk stands.
type frame struct {
	fn, this *function // this is nil where `this` is an instance or a class
	certain  bool
}

func (f frame) maybe() frame { f.certain = false; return f }

func newSurvey(tree syntax.Tree) *survey {
	s := &survey{
		tree: tree, byNode: map[*parse.Node]*function{}, symbols: map[*parse.Node]*parse.Symbol{}, free: map[string][]*parse.Node{},
		wrapped: map[*parse.Node]*parse.Node{}, modules: map[*parse.Symbol]*function{}, lazy: map[*parse.Node]bool{},
		written: map[*parse.Symbol][]*parse.Node{}, truths: map[*parse.Symbol]truth{},
		ownNames: map[string]bool{}, loose: map[string]bool{},
		fixed: map[*parse.Symbol]bool{}, late: map[passage]bool{}, helpers: map[*parse.Node]moduleHelper{},
	}
	for symbol, uses := range tree.Uses {
		for _, id := range uses {
			s.symbols[id] = symbol
		}
	}
	for _, id := range tree.Free {
		s.free[id.Text()] = append(s.free[id.Text()], id)
	}
	s.script = &function{node: tree.Root, strict: tree.Module || directive(tree.Root)}
	s.functions = append(s.functions, s.script)
	s.byNode[tree.Root] = s.script
	s.regions = append(s.regions, region{0, s.script})
	s.statements(tree.Root.Statements(), frame{s.script, s.script, true})
	return s
}

// directive reports whether a body begins with "use strict".
func directive(body *parse.Node) bool {
	if body == nil || body.Kind != parse.KindBlock && body.Kind != parse.KindSourceFile {
		return false
	}
	for _, statement := range body.Statements() {
		if statement.Kind != parse.KindExpressionStatement || statement.Expression().Kind != parse.KindStringLiteral {
			return false
		}
		if statement.Expression().Text() == "use strict" {
			return true
		}
	}
	return false
}

func (s *survey) bury(n *parse.Node) { s.dead = append(s.dead, stretch{n.Pos(), n.End()}) }

// isDead reports whether no run reaches the node.
func (s *survey) isDead(n *parse.Node) bool {
	i := sort.Search(len(s.dead), func(i int) bool { return s.dead[i].end >= n.End() })
	return i < len(s.dead) && s.dead[i].start <= n.Pos()
}

// functionAt returns the function whose code a node is part of. A function's own
// node is part of the function around it.
func (s *survey) functionAt(n *parse.Node) *function {
	i := sort.Search(len(s.regions), func(i int) bool { return s.regions[i].pos > n.Pos() })
	fn := s.script
	if i > 0 {
		fn = s.regions[i-1].fn
	}
	for fn.outer != nil && fn.node.Pos() >= n.Pos() && fn.node.End() <= n.End() {
		fn = fn.outer
	}
	return fn
}

func (s *survey) statements(list []*parse.Node, in frame) {
	ended := false
	for _, statement := range list {
		switch {
		case parse.IsSynthesized(statement):
		case !ended || statement.Kind == parse.KindFunctionDeclaration:
			s.walk(statement, in)
		default:
			s.bury(statement)
		}
		ended = ended || s.ends(statement)
	}
}

func (s *survey) children(n *parse.Node, in frame) {
	syntax.Children(n, func(child *parse.Node) { s.walk(child, in) })
}

func (s *survey) branch(n *parse.Node, live bool, in frame) {
	switch {
	case n == nil:
	case live:
		s.walk(n, in)
	default:
		s.bury(n)
	}
}

func (s *survey) walk(n *parse.Node, in frame) {
	if n == nil {
		return
	}
	switch n.Kind {
	case parse.KindFunctionDeclaration, parse.KindFunctionExpression, parse.KindArrowFunction:
		s.function(n, in, in, false)
	case parse.KindMethodDeclaration, parse.KindGetAccessor, parse.KindSetAccessor:
		s.function(n, in, in, true)
	case parse.KindClassDeclaration, parse.KindClassExpression:
		s.class(n, in)
	case parse.KindBlock, parse.KindSourceFile:
		s.statements(n.Statements(), in)
	case parse.KindSwitchStatement:
		s.cases(n, in)
	case parse.KindCaseClause, parse.KindDefaultClause:
		s.walk(n.AsCaseOrDefaultClause().Expression, in.maybe())
		s.statements(n.Statements(), in.maybe())
	case parse.KindIfStatement:
		i := n.AsIfStatement()
		s.walk(i.Expression, in)
		outcome, known := s.truth(i.Expression, 0)
		if !known {
			in = in.maybe()
		}
		s.branch(i.ThenStatement, !known || outcome, in)
		s.branch(i.ElseStatement, !known || !outcome, in)
	case parse.KindConditionalExpression:
		c := n.AsConditionalExpression()
		s.walk(c.Condition, in)
		outcome, known := s.truth(c.Condition, 0)
		if !known {
			in = in.maybe()
		}
		s.branch(c.WhenTrue, !known || outcome, in)
		s.branch(c.WhenFalse, !known || !outcome, in)
	case parse.KindBinaryExpression:
		s.binary(n, in)
	case parse.KindWhileStatement:
		w := n.AsWhileStatement()
		s.walk(w.Expression, in)
		outcome, known := s.truth(w.Expression, 0)
		in.certain = in.certain && known
		s.branch(w.Statement, !known || outcome, in)
	case parse.KindForStatement:
		l := n.AsForStatement()
		s.walk(l.Initializer, in)
		live := true
		if l.Condition != nil {
			s.walk(l.Condition, in)
			outcome, known := s.truth(l.Condition, 0)
			live = !known || outcome
			in.certain = in.certain && known
		}
		s.branch(l.Incrementor, live, in)
		s.branch(l.Statement, live, in)
	case parse.KindForInStatement, parse.KindForOfStatement:
		l := n.AsForInOrOfStatement()
		s.walk(l.Initializer, in)
		s.walk(l.Expression, in)
		s.walk(l.Statement, in.maybe())
	case parse.KindCatchClause:
		s.children(n, in.maybe())
	case parse.KindReturnStatement:
		if n.Expression() != nil {
			in.fn.results = append(in.fn.results, n.Expression())
		}
		s.children(n, in)
	case parse.KindWithStatement:
		s.withs = append(s.withs, n)
		s.children(n, in)
	case parse.KindCallExpression, parse.KindNewExpression:
		if wrapped := s.wrappedModule(n); wrapped != nil {
			s.wrapped[n] = wrapped
		}
		in.fn.calls = append(in.fn.calls, site{n, in.certain})
		s.children(n, in)
	case parse.KindPropertyAccessExpression:
		if n.Name().Text() == "constructor" {
			s.makers = append(s.makers, n)
		}
		s.spelled(n)
		s.children(n, in)
	case parse.KindElementAccessExpression:
		s.makers = append(s.makers, n)
		s.spelled(n)
		s.children(n, in)
	case parse.KindBindingElement, parse.KindPropertyAssignment, parse.KindShorthandPropertyAssignment:
		if key := takenKey(n); key != nil && (key.Kind == parse.KindComputedPropertyName || key.Text() == "constructor") {
			s.takers = append(s.takers, n)
		}
		s.spelled(n)
		s.children(n, in)
	case parse.KindThisKeyword:
		if in.this != nil {
			in.this.this = append(in.this.this, n)
		}
	case parse.KindIdentifier:
		if in.this != nil && in.this.outer != nil && n.Text() == "arguments" && !isLength(n.Parent) {
			in.this.arguments = append(in.this.arguments, n)
		}
	default:
		if !parse.IsType(n) {
			s.children(n, in)
		}
	}
}

func isLength(n *parse.Node) bool {
	return n.Kind == parse.KindPropertyAccessExpression && n.Name().Text() == "length"
}

func (s *survey) binary(n *parse.Node, in frame) {
	b := n.AsBinaryExpression()
	s.walk(b.Left, in)
	switch b.OperatorToken.Kind {
	case parse.TokenAmpersandAmpersand:
		outcome, known := s.truth(b.Left, 0)
		in.certain = in.certain && known
		s.branch(b.Right, !known || outcome, in)
	case parse.TokenBarBar:
		outcome, known := s.truth(b.Left, 0)
		in.certain = in.certain && known
		s.branch(b.Right, !known || !outcome, in)
	case parse.TokenQuestionQuestion, parse.TokenAmpersandAmpersandEquals, parse.TokenBarBarEquals, parse.TokenQuestionQuestionEquals:
		s.walk(b.Right, in.maybe())
	default:
		s.walk(b.Right, in)
	}
}

func (s *survey) enter(n *parse.Node, outer *function) *function {
	fn := &function{node: n, outer: outer, strict: outer.strict}
	s.functions = append(s.functions, fn)
	s.byNode[n] = fn
	s.regions = append(s.regions, region{n.Pos(), fn})
	return fn
}

func (s *survey) leave(n *parse.Node, outer *function) {
	s.regions = append(s.regions, region{n.End(), outer})
}

// function walks a function. What stands in its computed name runs in another frame.
func (s *survey) function(n *parse.Node, in, named frame, method bool) {
	fn := s.enter(n, in.fn)
	fn.method = method
	fn.strict = fn.strict || directive(n.Body())
	fn.params = n.Parameters()
	inner := frame{fn, fn, true}
	switch {
	case n.Kind == parse.KindArrowFunction:
		inner.this = in.this
	case method && !s.isWrapped(n):
		inner.this = &function{outer: fn} // not the global object; nobody asks for it
	}
	if s.isWrapped(n) {
		fn.method, fn.module = false, len(fn.params) > 0
		for _, p := range fn.params {
			if symbol := p.Symbol(); symbol != nil {
				s.modules[symbol] = fn
			}
		}
	}
	syntax.Children(n, func(child *parse.Node) {
		switch {
		case child != n.Name():
			s.walk(child, inner)
		case child.Kind == parse.KindComputedPropertyName:
			s.around(child, named, fn)
		}
	})
	if n.Kind == parse.KindArrowFunction && n.Body().Kind != parse.KindBlock {
		fn.results = append(fn.results, n.Body())
	}
	if method {
		// Those of a method are looked for under the stand-in.
		fn.arguments = inner.this.arguments
		if !fn.strict && !s.isWrapped(n) {
			fn.own = inner.this.this
		}
		s.spelled(n)
		fn.keep(memberNames(n))
	}
	s.leave(n, in.fn)
}

// around walks a piece of a function or a class that the code around it runs.
func (s *survey) around(n *parse.Node, in frame, fn *function) {
	s.regions = append(s.regions, region{n.Pos(), in.fn})
	s.children(n, in)
	s.regions = append(s.regions, region{n.End(), fn})
}

func (s *survey) class(n *parse.Node, in frame) {
	fn := s.enter(n, in.fn)
	fn.method, fn.strict, fn.built = true, true, true
	stand := &function{outer: fn}
	instance := frame{fn, stand, true}
	static := frame{in.fn, nil, in.certain}
	syntax.Children(n, func(child *parse.Node) {
		switch child.Kind {
		case parse.KindConstructor:
			fn.params = child.Parameters()
			s.byNode[child] = fn
			s.children(child, instance)
		case parse.KindPropertyDeclaration:
			if parse.IsStatic(child) {
				s.around(child, static, fn)
				return
			}
			syntax.Children(child, func(part *parse.Node) {
				if part.Kind == parse.KindComputedPropertyName {
					s.around(part, in, fn)
				} else {
					s.walk(part, instance)
				}
			})
		case parse.KindClassStaticBlockDeclaration:
			s.around(child, static, fn)
		case parse.KindHeritageClause:
			s.around(child, in, fn)
		case parse.KindMethodDeclaration, parse.KindGetAccessor, parse.KindSetAccessor:
			s.function(child, instance, in, true)
		default:
			s.walk(child, instance)
		}
	})
	fn.arguments = stand.arguments
	s.leave(n, in.fn)
}

// unwrap strips what leaves no trace at run time.
func unwrap(n *parse.Node) *parse.Node {
	for n != nil && isTransparent(n) {
		n = n.Expression()
	}
	return n
}

func isTransparent(n *parse.Node) bool {
	switch n.Kind {
	case parse.KindParenthesizedExpression, parse.KindAsExpression, parse.KindNonNullExpression, parse.KindSatisfiesExpression, parse.KindTypeAssertionExpression:
		return true
	}
	return false
}

// last strips parentheses and what stands before a comma operator.
func last(n *parse.Node) *parse.Node {
	for {
		n = unwrap(n)
		if n == nil || n.Kind != parse.KindBinaryExpression || n.AsBinaryExpression().OperatorToken.Kind != parse.TokenComma {
			return n
		}
		n = n.AsBinaryExpression().Right
	}
}
