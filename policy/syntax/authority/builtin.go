package authority

import (
	"slices"
	"strings"

	"github.com/microsoft/typescript-go/shim/parse"

	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
)

// hostCall is a call of what stands at a path.
type hostCall struct {
	path string
	// first is the index of the first argument that the function gets: 1 behind .call,
	// -1 when the arguments come in an array.
	first int
}

// calledHost follows a call of what stands at a path.
func (e *engine) calledHost(call *parse.Node, f fact) {
	if f.doubt != NoDoubt {
		if makesCode(f.path) {
			e.unfollowed(CodeFromText, Read, call, f)
		}
		return
	}
	h := hostCall{path: f.path}
	if callee := last(call.Expression()); callee.Kind == parse.KindPropertyAccessExpression {
		switch name := callee.Name().Text(); {
		case strings.HasSuffix(f.path, "."+name):
		case name == "call":
			h.first = 1
		case name == "apply":
			h.first = -1
		case name == "bind":
			h.first = -1
			e.arrive(call, f)
			if makesCode(f.path) && len(call.Arguments()) > 1 {
				e.unknown(CodeFromText, Read, call)
			}
			e.hostCalls[call] = append(e.hostCalls[call], h)
			return
		}
	}
	e.hostCalls[call] = append(e.hostCalls[call], h)
	switch f.path {
	case "eval":
		e.evaluated(call, h.first)
	case "Function":
		e.compiled(call, h.first, CodeFromText, "Function")
	case "setTimeout", "setInterval", "setImmediate", "execScript":
		if args := call.Arguments(); h.first >= 0 && len(args) > h.first && e.isText(args[h.first], 0) {
			e.unknown(CodeFromText, Read, call)
		}
	case "Reflect.get":
		if surely, perhaps := e.takesConstructor(call, h.first); surely {
			e.arrive(call, fact{what: maker, root: "constructor"})
		} else if perhaps {
			e.perhaps = append(e.perhaps, call)
		}
	case "Object.getOwnPropertyDescriptor", "Reflect.getOwnPropertyDescriptor":
		if surely, perhaps := e.takesConstructor(call, h.first); surely {
			e.unknown(ConstructorWalk, Read, call)
		} else if p := call.Parent; perhaps && p.Kind == parse.KindPropertyAccessExpression && p.Name().Text() == "value" {
			e.perhaps = append(e.perhaps, p)
		}
	}
}

// takesConstructor reports whether a call is given the text "constructor" and surely, or
// perhaps, a function.
func (e *engine) takesConstructor(call *parse.Node, first int) (surely, perhaps bool) {
	args := call.Arguments()
	if first < 0 || len(args) < first+2 {
		return false, false
	}
	if names, ok := e.constants(args[first+1], nil, 0); !ok || !slices.Contains(names, "constructor") {
		return false, false
	}
	return e.isFunction(args[first], 0) || e.onlyCode(args[first], 0), !e.isNoFunction(args[first])
}

// isText reports whether an expression is surely a text.
func (e *engine) isText(n *parse.Node, depth int) bool {
	n = last(n)
	if n == nil || depth > maxConstantDepth {
		return false
	}
	switch n.Kind {
	case parse.KindStringLiteral, parse.KindNoSubstitutionTemplate, parse.KindTemplateExpression:
		return true
	case parse.KindBinaryExpression:
		b := n.AsBinaryExpression()
		return b.OperatorToken.Kind == parse.TokenPlus && (e.isText(b.Left, depth+1) || e.isText(b.Right, depth+1))
	}
	texts, ok := e.constants(n, nil, depth)
	return ok && len(texts) > 0 && n.Kind != parse.KindNumericLiteral
}

const (
	maxNested = 2 // texts within texts
	maxTexts  = 8 // that one call may make code from
)

// compiled follows a call that makes a function from texts.
func (e *engine) compiled(call *parse.Node, first int, why Reason, root string) {
	args := call.Arguments()
	if first < 0 || first > len(args) {
		e.unknown(why, Read, call)
		return
	}
	args = args[first:]
	if len(args) == 0 {
		return
	}
	params := []string{""}
	bodies := []string{""}
	for i, arg := range args {
		values, ok := e.constants(arg, nil, 0)
		if ok && i < len(args)-1 {
			if params, ok = joined(params, values); ok && i < len(args)-2 {
				params, ok = joined(params, []string{","})
			}
		} else if ok {
			bodies = values
		}
		if !ok || len(bodies)*len(params) > maxTexts {
			e.unknown(why, Read, call)
			return
		}
	}
	for _, p := range params {
		for _, body := range bodies {
			inner := e.text("(function (" + p + "\n) {\n" + body + "\n})()")
			if inner == nil {
				e.unknown(why, Read, call)
				continue
			}
			e.adopt(inner, call)
			if made := result(inner); inner.isGlobal(made) {
				e.arrive(call, fact{what: giver, root: root})
			}
		}
	}
}

// evaluated follows a call of eval.
func (e *engine) evaluated(call *parse.Node, first int) {
	args := call.Arguments()
	if first < 0 {
		e.unknown(CodeFromText, Read, call)
		return
	}
	if first >= len(args) {
		return
	}
	texts, ok := e.constants(args[first], nil, 0)
	if !ok || len(texts) > maxTexts {
		e.unknown(CodeFromText, Read, call)
		return
	}
	direct := unwrap(call.Expression()).Kind == parse.KindIdentifier
	for _, content := range texts {
		inner := e.text(content)
		if inner == nil || direct && !inner.rooted() {
			// What a direct eval names may be the variables around it.
			e.unknown(CodeFromText, Read, call)
			continue
		}
		e.adopt(inner, call)
		if inner.isGlobal(result(inner)) {
			e.arrive(call, fact{what: global, root: "eval"})
		}
	}
}

// text reads code that is made from a text; nil when that cannot be done.
func (e *engine) text(content string) *engine {
	if known, ok := e.texts[content]; ok {
		return known
	}
	e.texts[content] = nil
	e.steps += len(content)
	if e.nested >= maxNested || !e.spend() {
		return nil
	}
	file := syntax.Parse("text.js", content)
	tree := syntax.TreeOf(file)
	if tree.Root == nil || len(file.Diagnostics) > 0 {
		return nil
	}
	inner := newEngine(file, tree, e.nested+1)
	inner.run()
	e.steps += inner.steps
	e.texts[content] = inner
	return inner
}

// result returns the expression whose value evaluating a script gives, or nil.
func result(e *engine) *parse.Node {
	statements := e.tree.Root.Statements()
	if len(statements) == 0 || statements[len(statements)-1].Kind != parse.KindExpressionStatement {
		return nil
	}
	return last(statements[len(statements)-1].Expression())
}

func (e *engine) isGlobal(n *parse.Node) bool {
	return slices.ContainsFunc(e.facts[n], func(f fact) bool { return f.what == global })
}

// rooted reports whether a script names nothing but the global object.
func (e *engine) rooted() bool {
	for _, u := range e.uses {
		if u.fact.root == "" {
			return false
		}
	}
	return true
}

// adopt counts what the code of a text does as done by the call that makes it.
func (e *engine) adopt(inner *engine, call *parse.Node) {
	result := inner.report()
	for _, u := range result.Uses {
		e.use(call, fact{what: host, path: u.Path, root: u.Root, soft: u.Guarded, softMember: u.MemberGuarded, asked: u.RootGuarded, strict: u.Strict, doubt: u.Doubt}, u.Kind)
	}
	for _, u := range result.Unknowns {
		e.unfollowed(u.Reason, u.Kind, call, fact{doubt: u.Doubt})
	}
}

// argument follows the global object into a call.
func (e *engine) argument(a argument) {
	call, f := a.call, a.fact
	if f.what == host {
		for _, h := range e.hostCalls[call] {
			if h.path == "Reflect.construct" || h.path == "Reflect.apply" {
				e.unknown(CodeFromText, Read, call)
			}
		}
		// What the language's own functions do with one is harmless otherwise, except for
		// those that hand it on.
		harmless := slices.ContainsFunc(e.hostCalls[call], func(h hostCall) bool {
			switch firstName(h.path) {
			case "Object", "Reflect", "String", "Boolean", "Number", "Symbol", "JSON", "Math", "Error", "isNaN", "isFinite":
				return true
			}
			return false
		})
		if !harmless && !e.covered(call) {
			e.lost(call.Arguments()[a.index], f)
		}
		return
	}
	arg := call.Arguments()[a.index]
	if f.what == walk && slices.ContainsFunc(e.hostCalls[call], func(h hostCall) bool {
		return a.index == 0 && (h.path == "Reflect.construct" || h.path == "Reflect.apply")
	}) {
		e.arrive(call, fact{what: woven})
		return
	}
	if f.doubt != NoDoubt && (e.passesOn(call, a.index) || e.setsReceiver(call, a.index-1)) {
		return // one function's receiver becomes another one's
	}
	if f.what == global {
		known := false
		for _, h := range e.hostCalls[call] {
			known = true
			if !e.builtinArgument(call, h, a.index, f) {
				e.lost(arg, f)
			}
		}
		if known || e.borrowed(call, a.index, f) {
			return
		}
	}
	for _, c := range e.callees[call] {
		e.hand(c, a)
	}
	if !e.covered(call) {
		e.lost(arg, f)
	}
}

// borrowed handles a method of every object that is called on the global object by
// .call, whatever object it was taken from.
func (e *engine) borrowed(call *parse.Node, index int, f fact) bool {
	callee := last(call.Expression())
	if index != 0 || callee.Kind != parse.KindPropertyAccessExpression || callee.Name().Text() != "call" {
		return false
	}
	switch e.methodName(callee.Expression()) {
	case "hasOwnProperty", "propertyIsEnumerable":
		e.asked(call, 1, f)
	case "valueOf":
		e.arrive(call, f)
	case "toString", "toLocaleString", "isPrototypeOf":
	default:
		return false
	}
	return true
}

// methodName returns the name under which a function was taken from an object.
func (e *engine) methodName(n *parse.Node) string {
	n = last(n)
	if n.Kind == parse.KindIdentifier {
		symbol := e.symbols[n]
		if symbol == nil {
			if inherited[n.Text()] {
				return n.Text()
			}
			return ""
		}
		value, _ := e.only(symbol)
		if value == nil {
			return ""
		}
		n = last(value)
	}
	if n.Kind == parse.KindPropertyAccessExpression {
		return n.Name().Text()
	}
	return ""
}

// builtinArgument says what the language's own functions do with the global object as
// their argument; false when nothing is known of the function.
func (e *engine) builtinArgument(call *parse.Node, h hostCall, index int, f fact) bool {
	if h.first != 0 && index == 0 {
		// The receiver. Functions of the host get their own global object.
		switch name := h.path[strings.LastIndexByte(h.path, '.')+1:]; name {
		case "hasOwnProperty", "propertyIsEnumerable":
			e.asked(call, 1, f)
		default:
			e.borrowed(call, index, f)
		}
		return true
	}
	if h.first < 0 {
		return false
	}
	i := index - h.first
	next := h.first + 1
	switch h.path {
	case "String", "Boolean", "Number", "isNaN", "isFinite", "Array.isArray", "Object.is", "Object.isFrozen", "Object.isSealed",
		"Object.isExtensible", "Reflect.isExtensible", "Object.getOwnPropertySymbols":
	case "Object":
		e.arrive(call, f)
	case "Object.keys", "Object.values", "Object.entries", "Object.getOwnPropertyNames", "Object.getOwnPropertyDescriptors",
		"Reflect.ownKeys", "JSON.stringify":
		e.unfollowed(Enumerated, Read, call, f)
	case "Object.assign":
		if i > 0 {
			e.unfollowed(Enumerated, Read, call, f)
			break
		}
		for _, source := range call.Arguments()[next:] {
			e.merged(call, source, f)
		}
		e.arrive(call, f)
	case "Object.defineProperties":
		if i > 0 {
			return false
		}
		if args := call.Arguments(); len(args) > next {
			e.merged(call, args[next], f)
		}
		e.arrive(call, f)
	case "Object.defineProperty", "Reflect.defineProperty", "Reflect.get", "Reflect.set", "Reflect.deleteProperty",
		"Object.getOwnPropertyDescriptor", "Reflect.getOwnPropertyDescriptor", "Object.hasOwn", "Reflect.has":
		if i > 0 {
			// The value of a property, or a receiver that a getter sees.
			return h.path == "Reflect.get"
		}
		e.keyed(call, h.path, next, f)
	case "Object.freeze", "Object.seal", "Object.preventExtensions", "Object.setPrototypeOf", "Reflect.preventExtensions", "Reflect.setPrototypeOf":
		if i > 0 {
			return false
		}
		e.unfollowed(DefinesGlobal, Write, call, f)
		e.arrive(call, f)
	case "Object.getPrototypeOf", "Reflect.getPrototypeOf":
		e.unfollowed(Reflection, Read, call, f)
	case "Reflect.apply":
		return i == 1
	default:
		return false
	}
	return true
}

// keyed handles the functions that take an object and a key.
func (e *engine) keyed(call *parse.Node, path string, key int, f fact) {
	switch path {
	case "Object.defineProperty", "Reflect.defineProperty":
		e.defined(call, key, f)
		if path == "Object.defineProperty" {
			e.arrive(call, f)
		}
	case "Reflect.set", "Reflect.deleteProperty":
		e.eachKey(call, key, f, Reflection, Write, func(member fact) { e.use(call, member, Write) })
	case "Object.hasOwn", "Reflect.has":
		e.asked(call, key, f)
	case "Reflect.get":
		e.eachKey(call, key, f, Reflection, Read, func(member fact) {
			if globalNames[member.path] {
				e.arrive(call, f)
			} else {
				e.value(call, member)
			}
		})
	default:
		e.looked(call, key, f)
	}
}

// eachKey calls do for the members that a key argument names.
func (e *engine) eachKey(call *parse.Node, key int, f fact, why Reason, kind Kind, do func(member fact)) {
	args := call.Arguments()
	if key >= len(args) {
		return
	}
	names, ok := e.constants(args[key], f.ctx, 0)
	if !ok {
		if !isSymbol(args[key]) {
			e.unfollowed(why, kind, call, f)
		}
		return
	}
	for _, name := range names {
		if !inherited[name] {
			do(f.at(segment(name)))
		}
	}
}

// asked handles the question whether the global object has a member.
func (e *engine) asked(call *parse.Node, key int, f fact) {
	e.eachKey(call, key, f, Reflection, Read, func(member fact) { e.use(call, member, Presence) })
}

// defined handles the definition of a member of the global object.
func (e *engine) defined(call *parse.Node, key int, f fact) {
	e.eachKey(call, key, f, DefinesGlobal, Write, func(member fact) { e.use(call, member, Write) })
}

// looked handles a look at the descriptor of a member of the global object.
func (e *engine) looked(call *parse.Node, key int, f fact) {
	e.eachKey(call, key, f, Reflection, Read, func(member fact) { e.use(call, member, Read) })
}

// merged handles an object whose members are copied into the global object.
func (e *engine) merged(call, source *parse.Node, f fact) {
	source = unwrap(source)
	if source.Kind != parse.KindObjectLiteralExpression {
		e.unfollowed(DefinesGlobal, Write, call, f)
		return
	}
	for _, m := range source.Properties() {
		if m.Kind == parse.KindSpreadAssignment {
			e.unfollowed(DefinesGlobal, Write, call, f)
			continue
		}
		names, ok := e.keys(m.Name(), f.ctx)
		if !ok {
			e.unfollowed(DefinesGlobal, Write, call, f)
			continue
		}
		for _, name := range names {
			e.use(m.Name(), f.at(segment(name)), Write)
		}
	}
}
