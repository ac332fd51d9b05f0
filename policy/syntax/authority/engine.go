package authority

import (
	"github.com/microsoft/typescript-go/shim/parse"

	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// The engine moves facts through the tree: "this expression may be the global
// object", "this one may be navigator.clipboard". It starts where such a value comes
// from (a free name, a sloppy `this`, Function("return this")()) and looks at what the
// code around the expression does with it: takes a member, puts it in a variable,
// hands it to a function. Where it cannot follow, it says so.
//
// Functions go first and alone, which gives the call graph; the rest then follows
// calls into parameters and back. Within a variable the order of assignments does not
// count. A parameter's facts remember the calls they came through, so that
// get(window, "a") and get(other, "b") do not make window.b.

const (
	maxSegments  = 8  // of a path
	maxContext   = 4  // calls that a fact remembers
	maxFunctions = 32 // that one variable may stand for
	// stepsPerByte bounds the work by the size of the script. Real ones take a
	// hundredth of it.
	stepsPerByte = 4
	minSteps     = 200_000
)

type what uint8

const (
	global  what = iota // the global object
	host                // what stands at a path below it
	code                // a function of the script
	builtin             // some function of the engine
	maker               // the constructor of functions, got from a function
	giver               // a function that returns the global object
	walk                // perhaps the constructor of a function: a member of one under a name that is computed, or one of that name of what may be any object
	woven               // what it returned
)

// fact is what an expression may be.
type fact struct {
	what what
	path string // host: the path. maker: where it was got
	root string // global, host, giver: how the global object was reached, "" for a plain name
	soft bool   // host: a fallback stood beside it
	// softMember: the same of a member of it
	softMember bool
	strict     bool // host: Use.Strict of code that stands in a text
	// asked: the name by which the global object was reached had been asked for
	asked bool
	// namespace: the bundler's object around a CommonJS module that exports it, which
	// has it as its default, and its members as its own
	namespace bool
	fn        *function
	bound     bool // code: with a receiver
	// doubt: how far the object may be another one than the global object
	doubt  Doubt
	silent bool // where it cannot be followed, nothing is to be said of it
	ctx    *context
}

// edge is a call that reaches a function.
type edge struct {
	call *parse.Node
	fn   *function
	// first is the index of the argument that the first parameter takes, -1 when the
	// parameters cannot be told; receiver that of `this`, or -1.
	first, receiver int
	plain           bool // no receiver
	result          bool // the call's value is what the function returns
}

// argument returns what a parameter takes, or nil.
func (c edge) argument(param int) *parse.Node {
	args := c.call.Arguments()
	if c.first < 0 || param < 0 || param+c.first >= len(args) {
		return nil
	}
	for _, a := range args[:param+c.first+1] {
		if a.Kind == parse.KindSpreadElement {
			return nil
		}
	}
	return args[param+c.first]
}

// context is the calls through which a fact came, the last one first.
type context struct {
	edge  edge
	up    *context
	depth int
}

type arrival struct {
	node *parse.Node
	fact fact
}

// codeArrival is an arrival of a function. They are by far the most, and smaller as
// keys of a map.
type codeArrival struct {
	node  *parse.Node
	fn    *function
	bound bool
}

// argument is a fact in the arguments of a call.
type argument struct {
	call  *parse.Node
	index int
	fact  fact
}

type engine struct {
	*survey
	file   *syntax.File
	nested int // how many texts deep

	queue    []arrival
	seen     map[arrival]bool
	seenCode map[codeArrival]bool
	facts    map[*parse.Node][]fact
	steps    int
	limit    int
	stopped  bool

	callees    map[*parse.Node][]edge
	handed     map[*parse.Node][]argument // code in arguments
	full       map[*parse.Node]bool       // memo of covered
	contexts   map[context]*context
	carried    map[*parse.Symbol]int
	pending    []argument // the global object in arguments
	evaluating map[*parse.Symbol]bool
	exits      map[*parse.Node][]*parse.Node
	made       []*parse.Node          // accesses to the constructor of a function of the script
	owned      map[*parse.Node][]fact // the functions of the script that are members of an object, by its expressions
	perhaps    []*parse.Node          // those to the constructor of what may be a function
	bodies     map[string]bool        // memo of givenCode
	hostCalls  map[*parse.Node][]hostCall
	texts      map[string]*engine
	asks       map[*parse.Node]truth  // memo of withoutArgument
	pure       map[*parse.Symbol]bool // memo of onlyCode

	uses     map[useKey]*use
	fromOwn  map[string]bool // Received
	unknowns map[unknownKey]*unknown
}

func newEngine(file *syntax.File, tree syntax.Tree, nested int) *engine {
	e := &engine{
		survey: newSurvey(tree), file: file, nested: nested,
		seen: map[arrival]bool{}, seenCode: map[codeArrival]bool{}, facts: map[*parse.Node][]fact{}, limit: max(minSteps, stepsPerByte*len(file.Text)),
		callees: map[*parse.Node][]edge{}, handed: map[*parse.Node][]argument{}, full: map[*parse.Node]bool{},
		contexts: map[context]*context{}, carried: map[*parse.Symbol]int{}, evaluating: map[*parse.Symbol]bool{},
		exits: map[*parse.Node][]*parse.Node{}, hostCalls: map[*parse.Node][]hostCall{}, texts: map[string]*engine{}, asks: map[*parse.Node]truth{}, pure: map[*parse.Symbol]bool{}, bodies: map[string]bool{}, owned: map[*parse.Node][]fact{}, uses: map[useKey]*use{}, fromOwn: map[string]bool{}, unknowns: map[unknownKey]*unknown{},
	}
	return e
}

// run does everything but the report.
func (e *engine) run() {
	for _, fn := range e.functions[1:] {
		switch fn.node.Kind {
		case parse.KindFunctionDeclaration, parse.KindClassDeclaration:
			e.variable(fn.node.Symbol(), fact{what: code, fn: fn})
			if fn.node.Symbol() == nil {
				fn.escapes, fn.adrift = true, true
			}
		case parse.KindFunctionExpression, parse.KindClassExpression:
			// The name that a function expression has inside itself.
			if fn.node.Name() != nil {
				e.variable(fn.node.Symbol(), fact{what: code, fn: fn})
			}
			e.arrive(fn.node, fact{what: code, fn: fn})
		case parse.KindArrowFunction:
			e.arrive(fn.node, fact{what: code, fn: fn})
		default:
			fn.escapes = !e.isWrapped(fn.node)
			fn.adrift = fn.adrift || e.isExported(fn.node.Parent) || e.isForAll(fn.node.Parent)
		}
		if e.isWrapped(fn.node) {
			call := fn.node.Parent
			for call.Kind != parse.KindCallExpression {
				call = call.Parent
			}
			e.arrive(call, fact{what: code, fn: fn})
		}
	}
	e.drain()
	e.findExported()
	e.findEscaping()
	e.findLoading()
	e.seed()
	e.settle()
	e.walked()
	e.settle()
	if e.stopped {
		all := text.Span{End: len(e.file.Text)}
		e.unknowns[unknownKey{Escapes, Read, all}] = &unknown{
			Unknown: Unknown{Reason: Escapes, Span: all, Loading: true, Detail: "the script is too tangled to be followed"},
		}
	}
}

// settle follows everything to its end.
func (e *engine) settle() {
	e.drain()
	for len(e.pending) > 0 && !e.stopped {
		list := e.pending
		e.pending = nil
		for _, a := range list {
			e.argument(a)
		}
		e.drain()
	}
}

// seed puts in the facts from which everything starts.
func (e *engine) seed() {
	for _, id := range e.tree.Free {
		name := id.Text()
		switch {
		case e.isDead(id), name == "undefined", name == "NaN", name == "Infinity", name == "arguments" && e.functionAt(id) != e.script:
		case inherited[name]:
			if name == "constructor" {
				e.arrive(id, fact{what: builtin})
			}
		default:
			e.name(id, name)
		}
	}
	for _, n := range e.script.this {
		if !e.tree.Module {
			e.arrive(n, fact{what: global, root: "this"})
		}
	}
	e.receive()
	for _, n := range e.makers {
		if !e.isDead(n) {
			e.constructor(n)
		}
	}
	for _, n := range e.made {
		if e.onlyCode(n.Expression(), 0) {
			e.arrive(n, fact{what: maker, root: "constructor"})
		}
	}
	for _, m := range e.takers {
		if !e.isDead(m) {
			e.constructorTaken(m)
		}
	}
	for _, n := range e.withs {
		if !e.isDead(n) {
			e.unknown(With, Read, n.AsWithStatement().Expression)
		}
	}
}

// name starts from a free name.
func (e *engine) name(id *parse.Node, name string) {
	if syntax.IsWrite(id) {
		e.use(id, fact{what: host, path: name}, Write)
		if parse.IsWriteOnly(id) || isDeleted(id) || !parse.IsWrite(id) {
			return
		}
	}
	if globalNames[name] {
		f := fact{what: global, root: name, asked: name == "globalThis" || e.guarded(id, name, "")}
		if e.usage(id) == asTest {
			e.use(id, fact{what: host, path: name}, Presence)
		}
		e.arrive(id, f)
		return
	}
	e.value(id, fact{what: host, path: name})
}

// arrive notes that an expression may be something.
func (e *engine) arrive(n *parse.Node, f fact) {
	if n == nil || e.stopped || e.isDead(n) {
		return
	}
	a := arrival{n, f}
	if f.what == code {
		c := codeArrival{n, f.fn, f.bound}
		if e.seenCode[c] || !e.spend() {
			return
		}
		e.seenCode[c] = true
	} else {
		if e.seen[a] || !e.spend() {
			return
		}
		e.seen[a] = true
		e.facts[n] = append(e.facts[n], f)
	}
	e.queue = append(e.queue, a)
}

// spend takes a step of the allowance; false when there is none left.
func (e *engine) spend() bool {
	e.steps++
	e.stopped = e.stopped || e.steps > e.limit
	return !e.stopped
}

func (e *engine) drain() {
	for len(e.queue) > 0 && !e.stopped {
		a := e.queue[len(e.queue)-1]
		e.queue = e.queue[:len(e.queue)-1]
		e.step(a.node, a.fact)
	}
}

// variable notes that a variable may be something.
func (e *engine) variable(symbol *parse.Symbol, f fact) { e.variableExcept(symbol, f, stretch{}) }

// variableExcept leaves out the uses in a stretch.
func (e *engine) variableExcept(symbol *parse.Symbol, f fact, except stretch) {
	if symbol == nil {
		return
	}
	if symbol.ExportSymbol != nil {
		symbol = symbol.ExportSymbol
	}
	if f.what == code {
		if e.carried[symbol]++; e.carried[symbol] > maxFunctions {
			f.fn.escapes, f.fn.adrift = true, true
			return
		}
	}
	for _, id := range e.tree.Uses[symbol] {
		if !e.spend() {
			return
		}
		if parse.IsWriteOnly(id) || isDeleted(id) || except.start <= id.Pos() && id.End() <= except.end {
			continue
		}
		e.arrive(id, f)
		if f.what == host && traced(f.path) && e.usage(id) == asValue {
			e.use(id, f, Read)
		}
	}
}

// declare gives a value to what a declaration declares.
func (e *engine) declare(declaration *parse.Node, f fact) {
	name := declaration.Name()
	switch {
	case name == nil:
	case name.Kind == parse.KindIdentifier:
		symbol := declaration.Symbol()
		if symbol == nil {
			e.lost(declaration, f)
			return
		}
		if e.isResult(declaration, symbol) {
			e.lost(e.origin(declaration.Initializer(), 0), f)
			return
		}
		e.variable(symbol, f)
	default:
		e.pattern(name, f)
	}
}

// isResult reports whether a variable is for other scripts: a var of the script itself,
// and so a member of the global object, that nothing in the script reads. The bundler
// leaves what a library exports in one.
func (e *engine) isResult(declaration *parse.Node, symbol *parse.Symbol) bool {
	if e.tree.Module || e.nested > 0 || declaration.Kind != parse.KindVariableDeclaration || declaration.Initializer() == nil || len(e.tree.Uses[symbol]) > 0 {
		return false
	}
	list := declaration.Parent
	return list != nil && list.Kind == parse.KindVariableDeclarationList && !parse.IsConst(list) && !parse.IsLet(list) &&
		list.Parent.Kind == parse.KindVariableStatement && list.Parent.Parent == e.tree.Root
}

// origin returns the expression that a call's value comes from, where the functions
// that it calls are known: what a module exports is told where it exports it.
func (e *engine) origin(n *parse.Node, depth int) *parse.Node {
	n = last(n)
	if depth < maxContext {
		for _, c := range e.callees[n] {
			if c.result && c.fn.gives != nil {
				return e.origin(c.fn.gives, depth+1)
			}
		}
	}
	return n
}

// carriedFrom returns the expression that a value comes from which the bundler takes
// from module to module, in its variables and through its helpers.
func (e *engine) carriedFrom(n *parse.Node) *parse.Node {
	for range maxConstantDepth {
		n = last(n)
		var next *parse.Node
		switch n.Kind {
		case parse.KindCallExpression:
			if e.moduleHelper(n) != noHelper && len(n.Arguments()) > 0 {
				next = n.Arguments()[0]
			}
		case parse.KindIdentifier:
			if symbol := e.symbols[n]; symbol != nil {
				next, _ = e.only(symbol)
			}
		case parse.KindPropertyAccessExpression:
			// import_g.default
			if n.Name().Text() == "default" && e.isNamespace(n.Expression()) {
				next = n.Expression()
			}
		}
		if next == nil || !e.spend() {
			break
		}
		n = next
	}
	return e.origin(n, 0)
}

// isNamespace reports whether an expression is a variable with the bundler's object
// around a CommonJS module.
func (e *engine) isNamespace(n *parse.Node) bool {
	symbol := e.symbols[last(n)]
	if symbol == nil {
		return false
	}
	value, _ := e.only(symbol)
	return value != nil && last(value).Kind == parse.KindCallExpression && e.moduleHelper(last(value)) == toModule
}

// assign gives a value to the target of an assignment.
func (e *engine) assign(target *parse.Node, f fact, value *parse.Node) {
	target = unwrap(target)
	switch target.Kind {
	case parse.KindIdentifier:
		if symbol := e.symbols[target]; symbol != nil {
			e.variableExcept(symbol, f, e.before(target, symbol))
			return
		}
		// A global of the script's own.
		for _, id := range e.free[target.Text()] {
			if !syntax.IsWrite(id) {
				e.arrive(id, f)
			}
		}
		if f.what == code {
			f.fn.escapes = true
		}
	case parse.KindObjectLiteralExpression, parse.KindArrayLiteralExpression:
		e.pattern(target, f)
	case parse.KindBinaryExpression:
		// A target with a default.
		e.assign(target.AsBinaryExpression().Left, f, value)
	default:
		e.store(target, f, value)
	}
}

// before returns the code that an assignment runs before it assigns, and that is not
// run again afterwards: the right side, when the variable is the function's own and
// there is no loop.
func (e *engine) before(target *parse.Node, symbol *parse.Symbol) stretch {
	b := target.Parent
	if b.Kind != parse.KindBinaryExpression || b.AsBinaryExpression().Left != target || len(symbol.Declarations) != 1 {
		return stretch{}
	}
	fn := e.functionAt(b)
	d := symbol.Declarations[0]
	if d.Kind == parse.KindParameter && e.byNode[d.Parent] != fn || d.Kind != parse.KindParameter && e.functionAt(d) != fn {
		return stretch{}
	}
	n := b
	for range maxClimb {
		switch n.Kind {
		case parse.KindWhileStatement, parse.KindDoStatement, parse.KindForStatement, parse.KindForInStatement, parse.KindForOfStatement:
			return stretch{}
		}
		if n == fn.node {
			right := b.AsBinaryExpression().Right
			return stretch{right.Pos(), right.End()}
		}
		n = n.Parent
	}
	return stretch{}
}

// store gives a value to a member of an object.
func (e *engine) store(target *parse.Node, f fact, value *parse.Node) {
	if target.Kind == parse.KindPropertyAccessExpression && target.Name().Text() == "exports" {
		object := unwrap(target.Expression())
		if module := e.modules[e.symbols[object]]; module != nil && e.symbols[object] != nil && len(module.params) > 1 && module.params[1].Name() == declaredName(e.symbols[object]) {
			e.returns(module, f, value)
			return
		}
	}
	if f.what == code {
		f.fn.escapes = true
		if target.Kind != parse.KindPropertyAccessExpression && target.Kind != parse.KindElementAccessExpression {
			return // no code that runs
		}
		f.fn.keep(memberNames(target))
		object := unwrap(target.Expression())
		e.owned[object] = append(e.owned[object], f)
		// What a module exports may be called without the module.
		f.fn.adrift = f.fn.adrift || (e.isExports(target.Expression()) || e.isForAll(target)) && !f.bound
		return
	}
	e.lost(value, f)
}

func declaredName(symbol *parse.Symbol) *parse.Node {
	if len(symbol.Declarations) == 0 {
		return nil
	}
	return symbol.Declarations[0].Name()
}

// lost notes that a value goes where it cannot be followed.
func (e *engine) lost(n *parse.Node, f fact) {
	switch f.what {
	case code:
		f.fn.escapes = true
		f.fn.adrift = f.fn.adrift || !f.bound
	case global:
		if !globalNames[f.root] {
			f.root = "globalThis"
		}
		e.unfollowed(Escapes, Read, n, f)
	case host:
		if makesCode(f.path) {
			e.unfollowed(CodeFromText, Read, n, f)
		}
	case giver:
		e.unfollowed(Escapes, Read, n, f)
	case maker:
		// It is Function by another way.
		e.unknown(ConstructorWalk, Read, n)
	}
}
