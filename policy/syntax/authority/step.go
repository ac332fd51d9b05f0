package authority

import (
	"slices"
	"strconv"
	"strings"

	"github.com/microsoft/typescript-go/shim/parse"

	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
)

// globalNames are the names of the global object itself, and of the windows around it.
var globalNames = map[string]bool{
	"window": true, "self": true, "globalThis": true, "global": true, "top": true, "parent": true, "frames": true,
}

// inherited are the members that every object has. As members of the global object
// they are nobody's to grant.
var inherited = map[string]bool{
	"constructor": true, "hasOwnProperty": true, "isPrototypeOf": true, "propertyIsEnumerable": true, "toLocaleString": true,
	"toString": true, "valueOf": true, "__proto__": true, "__defineGetter__": true, "__defineSetter__": true,
	"__lookupGetter__": true, "__lookupSetter__": true,
}

// step looks at what the code around an expression does with it.
func (e *engine) step(n *parse.Node, f fact) {
	p := n.Parent
	if p == nil {
		return
	}
	if isTransparent(p) || p.Kind == parse.KindAwaitExpression {
		e.arrive(p, f)
		return
	}
	switch p.Kind {
	case parse.KindBinaryExpression:
		e.operand(n, p, f)
	case parse.KindConditionalExpression:
		if p.AsConditionalExpression().Condition != n {
			e.arrive(p, f.orNothing())
		}
	case parse.KindVariableDeclaration, parse.KindParameter, parse.KindBindingElement:
		if p.Initializer() == n {
			e.declare(p, f)
		}
	case parse.KindReturnStatement:
		e.returns(e.functionAt(p), f, n)
	case parse.KindArrowFunction:
		if p.Body() == n {
			e.returns(e.byNode[p], f, n)
		}
	case parse.KindPropertyAccessExpression:
		if p.Expression() == n && p.Name().Kind == parse.KindIdentifier {
			e.member(n, p, f, []string{p.Name().Text()})
		}
	case parse.KindElementAccessExpression:
		if p.Expression() == n {
			e.element(n, p, f)
		}
	case parse.KindCallExpression, parse.KindNewExpression:
		if p.Expression() == n {
			e.called(p, f)
		} else {
			e.passed(p, slices.Index(p.Arguments(), n), f)
		}
	case parse.KindPropertyAssignment, parse.KindShorthandPropertyAssignment:
		e.property(n, p, f)
	case parse.KindSpreadAssignment:
		if f.what == global && !syntax.IsWrite(p.Parent) {
			e.unfollowed(Enumerated, Read, p, f)
		}
	case parse.KindForInStatement:
		if f.what == global && p.AsForInOrOfStatement().Expression == n {
			e.unfollowed(Enumerated, Read, n, f)
		}
	case parse.KindTypeOfExpression, parse.KindPrefixUnaryExpression, parse.KindPostfixUnaryExpression, parse.KindVoidExpression,
		parse.KindDeleteExpression, parse.KindExpressionStatement, parse.KindIfStatement, parse.KindWhileStatement,
		parse.KindDoStatement, parse.KindForStatement, parse.KindSwitchStatement, parse.KindCaseClause, parse.KindWithStatement,
		parse.KindComputedPropertyName:
		// Looked at and let go, or turned into a text.
	case parse.KindTemplateSpan:
		// A tag is given what stands in its template as arguments; else it becomes a text.
		if p.Parent.Parent.Kind == parse.KindTaggedTemplateExpression {
			e.lost(n, f)
		}
	case parse.KindExpressionWithTypeArguments:
		if class := e.byNode[p.Parent.Parent]; f.what == code && class != nil {
			class.base = append(class.base, f.fn)
			f.fn.built, f.fn.derived = true, true
		} else if f.what != code {
			e.lost(n, f)
		}
	case parse.KindTaggedTemplateExpression:
		switch {
		case f.what == walk && p.AsTaggedTemplateExpression().Tag == n:
			e.arrive(p, fact{what: woven})
		case f.what != code || p.AsTaggedTemplateExpression().Tag != n:
			e.lost(n, f)
		default:
			f.fn.escapes, f.fn.tagged = true, true
		}
	default:
		e.lost(n, f)
	}
}

// operand follows a value through an operator.
func (e *engine) operand(n, p *parse.Node, f fact) {
	b := p.AsBinaryExpression()
	right := b.Right == n
	switch b.OperatorToken.Kind {
	case parse.TokenComma:
		if right {
			e.arrive(p, f)
		}
	case parse.TokenAmpersandAmpersand:
		if right {
			e.arrive(p, f.orNothing())
		}
	case parse.TokenBarBar, parse.TokenQuestionQuestion:
		if !right {
			f = f.orElse()
		}
		e.arrive(p, f)
	case parse.TokenEquals, parse.TokenBarBarEquals, parse.TokenQuestionQuestionEquals, parse.TokenAmpersandAmpersandEquals:
		if right {
			e.assign(b.Left, f, n)
		}
		if !syntax.IsWrite(p) && (right || b.OperatorToken.Kind != parse.TokenEquals) {
			e.arrive(p, f)
		}
	case parse.TokenIn:
		if right && f.what == global {
			names, ok := e.constants(b.Left, f.ctx, 0)
			if !ok {
				if !isSymbol(b.Left) {
					e.unfollowed(ComputedKey, Read, p, f)
				}
				return
			}
			for _, name := range names {
				e.use(p, f.at(segment(name)), Presence)
			}
		}
	case parse.TokenInstanceOf:
		if right && f.what == code {
			f.fn.built = true
		}
	}
}

// element follows a value into a member whose name is in brackets.
func (e *engine) element(n, p *parse.Node, f fact) {
	key := p.AsElementAccessExpression().ArgumentExpression
	names, ok := e.constants(key, f.ctx, 0)
	if ok {
		e.member(n, p, f, names)
		return
	}
	switch f.what {
	case global:
		if isSymbol(key) {
			return
		}
		reads, writes := access(p)
		if writes {
			e.unfollowed(ComputedKey, Write, p, f)
		}
		if reads {
			e.unfollowed(ComputedKey, Read, p, f)
		}
	case code:
		f.fn.escapes = f.fn.escapes || isCallee(p)
	case maker, giver:
		e.lost(n, f)
	}
}

// isSymbol reports whether a key is certainly a symbol. A grant is a name, so
// no symbol is anybody's to grant.
func isSymbol(key *parse.Node) bool {
	key = unwrap(key)
	if key.Kind == parse.KindCallExpression {
		key = unwrap(key.Expression())
	}
	for key.Kind == parse.KindPropertyAccessExpression {
		key = unwrap(key.Expression())
	}
	return key.Kind == parse.KindIdentifier && key.Text() == "Symbol"
}

func isCallee(n *parse.Node) bool {
	for isTransparent(n.Parent) {
		n = n.Parent
	}
	return (n.Parent.Kind == parse.KindCallExpression || n.Parent.Kind == parse.KindNewExpression) && n.Parent.Expression() == n
}

// access tells whether a member is read or written where it stands.
func access(p *parse.Node) (reads, writes bool) {
	switch {
	case isDeleted(p):
		return false, true
	case !syntax.IsWrite(p):
		return true, false
	}
	return parse.IsWrite(p) && !parse.IsWriteOnly(p), true
}

func isDeleted(n *parse.Node) bool {
	for isTransparent(n.Parent) {
		n = n.Parent
	}
	return n.Parent.Kind == parse.KindDeleteExpression
}

// member follows a value into its members of the given names.
func (e *engine) member(n, p *parse.Node, f fact, names []string) {
	for _, name := range names {
		if f.namespace {
			inner := f
			inner.namespace = false
			if name == "default" {
				e.arrive(p, inner)
			} else {
				e.member(n, p, inner, []string{name})
			}
			continue
		}
		name = segment(name)
		switch f.what {
		case global:
			e.globalMember(p, f, name)
		case host:
			e.hostMember(n, p, f, name)
		case code:
			e.functionMember(p, f, name)
		case maker, giver, walk:
			if name == "call" || name == "apply" || name == "bind" {
				e.arrive(p, f)
			}
		case builtin:
			// Its constructor is looked for from the other end.
		}
	}
}

// segment returns a name as a part of a path. Only strings as keys can hold what would
// look like two parts.
func segment(name string) string {
	if name == "" || strings.ContainsAny(name, `."[]`) {
		return "[" + strings.ReplaceAll(strconv.Quote(name), ".", `\u002e`) + "]"
	}
	return name
}

// globalMember follows the global object into a member.
func (e *engine) globalMember(p *parse.Node, f fact, name string) {
	reads, writes := access(p)
	if inherited[name] {
		e.inheritedMember(p, f, name)
		return
	}
	if f.doubt != NoDoubt {
		e.received(p, f, name)
		return
	}
	member := f.at(name)
	if writes {
		e.use(p, member, Write)
	}
	if !reads {
		return
	}
	if globalNames[name] {
		if e.usage(p) == asTest {
			e.use(p, member, Presence)
		}
		e.arrive(p, f)
		return
	}
	member.soft = isOptional(p)
	e.value(p, member)
}

// isOptional reports whether a chain of members goes on after ?. only.
func isOptional(p *parse.Node) bool {
	for isTransparent(p.Parent) {
		p = p.Parent
	}
	switch next := p.Parent; next.Kind {
	case parse.KindPropertyAccessExpression:
		return next.Expression() == p && next.AsPropertyAccessExpression().QuestionDotToken != nil
	case parse.KindElementAccessExpression:
		return next.Expression() == p && next.AsElementAccessExpression().QuestionDotToken != nil
	case parse.KindCallExpression:
		return next.Expression() == p && next.AsCallExpression().QuestionDotToken != nil
	}
	return false
}

// inheritedMember follows the global object into what it has from Object.prototype.
func (e *engine) inheritedMember(p *parse.Node, f fact, name string) {
	if f.doubt != NoDoubt && name != "valueOf" {
		return // every object has these
	}
	switch name {
	case "constructor":
		e.arrive(p, fact{what: builtin})
	case "hasOwnProperty", "propertyIsEnumerable":
		if isCallee(p) {
			e.asked(callOf(p), 0, f)
		}
	case "__proto__":
		_, writes := access(p)
		kind := Read
		if writes {
			kind = Write
		}
		e.unfollowed(Reflection, kind, p, f)
	case "valueOf":
		if isCallee(p) {
			e.arrive(callOf(p), f)
		}
	case "__defineGetter__", "__defineSetter__":
		if isCallee(p) {
			e.defined(callOf(p), 0, f)
		}
	case "__lookupGetter__", "__lookupSetter__":
		if isCallee(p) {
			e.looked(callOf(p), 0, f)
		}
	}
}

func callOf(callee *parse.Node) *parse.Node {
	for isTransparent(callee.Parent) {
		callee = callee.Parent
	}
	return callee.Parent
}

// hostMember follows a path into a member.
func (e *engine) hostMember(n, p *parse.Node, f fact, name string) {
	if (name == "call" || name == "apply" || name == "bind") && isCallee(p) && f.path != "Reflect" {
		e.arrive(p, f)
		return
	}
	if strings.Count(f.path, ".") >= maxSegments || isIndex(name) {
		return
	}
	if inherited[name] {
		if name == "constructor" && isCallee(p) && f.doubt == NoDoubt {
			e.arrive(p, fact{what: maker, root: "constructor"})
		}
		return
	}
	f.path += "." + name
	f.soft, f.softMember = f.soft || isOptional(p), f.softMember || isMember(f.path) && isOptional(p)
	reads, writes := access(p)
	if writes {
		e.use(p, f, Write)
	}
	if !reads {
		return
	}
	if f.path == "document.defaultView" {
		e.use(p, f, Read)
		e.arrive(p, fact{what: global, root: f.path, asked: f.soft || e.guarded(p, firstName(f.path), f.root), doubt: f.doubt, silent: f.silent, ctx: f.ctx})
		return
	}
	e.value(p, f)
}

// isIndex reports whether a name is an index into a list, which is part of no path.
func isIndex(name string) bool { return name != "" && name[0] >= '0' && name[0] <= '9' }

// functionMember follows a function of the script into a member.
func (e *engine) functionMember(p *parse.Node, f fact, name string) {
	switch name {
	case "prototype":
		f.fn.built = true
	case "constructor":
		e.made = append(e.made, p)
	case "call", "apply", "bind":
		if !isCallee(p) {
			f.fn.escapes, f.fn.adrift = true, true
			return
		}
		call := callOf(p)
		first := 1
		if name == "apply" {
			first = -1
		}
		plain := !f.bound && (len(call.Arguments()) == 0 || isNothing(call.Arguments()[0]))
		e.call(edge{call: call, fn: f.fn, first: first, receiver: 0, plain: plain, result: name != "bind"})
		if name == "bind" {
			f.bound = f.bound || !plain
			e.arrive(call, f)
		}
	}
}

// called follows a value that is called.
func (e *engine) called(call *parse.Node, f fact) {
	isNew := call.Kind == parse.KindNewExpression
	switch f.what {
	case code:
		if isNew {
			f.fn.built = true
		}
		// What the bundler's wrapper returns is taken to be the module itself.
		e.call(edge{call: call, fn: f.fn, first: 0, receiver: -1, plain: !isNew && !f.bound, result: e.wrapped[call] == nil})
	case giver:
		if !isNew {
			f.what = global
			e.arrive(call, f)
		}
	case host:
		e.calledHost(call, f)
	case maker:
		e.compiled(call, 0, ConstructorWalk, f.root)
	case walk:
		switch {
		case e.givenCode(call):
			e.unknown(ConstructorWalk, Read, call)
		case len(call.Arguments()) > 0:
			e.arrive(call, fact{what: woven})
		}
	case woven:
		// It was given something and returned a function, as the constructor of functions
		// does with a text.
		e.unknown(ConstructorWalk, Read, call)
	}
}

// passed follows a value into the arguments of a call.
func (e *engine) passed(call *parse.Node, index int, f fact) {
	if index < 0 {
		return
	}
	if kind := e.moduleHelper(call); kind != noHelper {
		e.throughHelper(call, index, f, kind)
		return
	}
	a := argument{call, index, f}
	switch f.what {
	case code:
		e.handed[call] = append(e.handed[call], a)
		for _, c := range e.callees[call] {
			e.hand(c, a)
		}
	case host:
		if makesCode(f.path) {
			e.pending = append(e.pending, a)
		}
		if traced(f.path) {
			for _, c := range e.callees[call] {
				e.hand(c, a)
			}
		}
	case global, maker, giver, walk:
		// The callee may become known later.
		e.pending = append(e.pending, a)
	}
}

// makesCode reports whether what stands at a path makes code from text.
func makesCode(path string) bool { return path == "Function" || path == "eval" }

// traced reports whether a path is worth following into calls: nothing that hangs on
// the names of the language, apart from those that make code or look into objects.
func traced(path string) bool {
	name, _, _ := strings.Cut(path, ".")
	switch name {
	case "Object", "Reflect", "Function", "eval":
		return true
	}
	return name != "" && (name[0] < 'A' || name[0] > 'Z') && name != "undefined"
}
