package syntax

import (
	"github.com/microsoft/typescript-go/shim/parse"

	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// Reference is one use of a name that the file does not declare.
type Reference struct {
	Name string
	Span text.Span
	// TypeOf is set for the operand of typeof, which does not throw when the name
	// does not exist.
	TypeOf bool
	// Write is set where the name is assigned to, incremented, destructured into
	// or deleted. A compound assignment reads as well.
	Write bool
}

// maxClimb bounds the steps up the tree that resolving one file's names may take,
// some seconds' worth.
const maxClimb = 100_000_000

// index is what scope analysis found.
type index struct {
	free  []*parse.Node
	bound map[*parse.Symbol][]*parse.Node // uses, declarations not included
	find  func(at *parse.Node, name string) *parse.Symbol
}

// scopes resolves every name of the file once.
func (f *tree) scopes() *index {
	f.once.Do(func() {
		x := &index{bound: map[*parse.Symbol][]*parse.Node{}, find: func(*parse.Node, string) *parse.Symbol { return nil }}
		f.index = x
		if f.source == nil {
			return
		}
		// A file whose scopes cannot be built must not look as if it used nothing:
		// every name in it then counts as free.
		func() {
			defer func() { _ = recover() }()
			x.find = parse.Bind(f.source)
		}()
		hoisted := map[*parse.Node]map[string]bool{}
		cost := 0
		eachReference(f.source.AsNode(), 0, func(id *parse.Node, depth int) {
			// Looking a name up climbs the tree. Real files stay four orders of
			// magnitude below the bound; in one that does not, the rest of the names
			// count as free.
			cost += depth
			if cost > maxClimb {
				x.free = append(x.free, id)
				return
			}
			symbol := x.lookup(id)
			switch {
			case symbol == nil && sloppyFunction(f, id, hoisted):
			case symbol == nil:
				x.free = append(x.free, id)
			default:
				x.bound[symbol] = append(x.bound[symbol], id)
			}
		})
	})
	return f.index
}

// lookup resolves an identifier. The resolver asserts what a parsed program
// guarantees and a broken file does not; a name it stumbles over counts as free.
func (x *index) lookup(id *parse.Node) (symbol *parse.Symbol) {
	defer func() {
		if recover() != nil {
			symbol = nil
		}
	}()
	symbol = x.find(id, id.Text())
	if symbol != nil && parse.IsTypeOnlySymbol(symbol) {
		return nil
	}
	return symbol
}

func (f *tree) unresolved() []Reference {
	var out []Reference
	for _, id := range f.scopes().free {
		out = append(out, Reference{Name: id.Text(), Span: f.span(id), TypeOf: isTypeOf(id), Write: isWrite(id)})
	}
	return out
}

// eachReference calls visit for the identifiers that stand for the value of a
// variable, in source order.
func eachReference(n *parse.Node, depth int, visit func(id *parse.Node, depth int)) {
	children(n, func(child *parse.Node) {
		switch {
		case child.Kind == parse.KindIdentifier:
			if isReference(child) {
				visit(child, depth)
			}
		case skipped(child):
		default:
			eachReference(child, depth+1, visit)
		}
	})
}

// skipped reports whether a subtree holds no values.
func skipped(n *parse.Node) bool {
	switch n.Kind {
	case parse.KindInterfaceDeclaration, parse.KindTypeAliasDeclaration, parse.KindTypeParameter, parse.KindImportDeclaration:
		return true
	case parse.KindHeritageClause:
		return n.AsHeritageClause().Token != parse.TokenExtends
	case parse.KindExportDeclaration:
		d := n.AsExportDeclaration()
		return d.IsTypeOnly || d.ModuleSpecifier != nil
	case parse.KindVariableStatement, parse.KindFunctionDeclaration, parse.KindClassDeclaration,
		parse.KindEnumDeclaration, parse.KindModuleDeclaration:
		return parse.IsAmbient(n)
	}
	return parse.IsType(n)
}

// isReference tells a variable's use from the other places of an identifier.
func isReference(id *parse.Node) bool {
	if parse.IsMissing(id) || id.Text() == "" {
		return false
	}
	parent := id.Parent
	switch parent.Kind {
	case parse.KindShorthandPropertyAssignment:
		return true
	case parse.KindExportSpecifier:
		s := parent.AsExportSpecifier()
		return !s.IsTypeOnly && (s.PropertyName == id || s.PropertyName == nil)
	case parse.KindImportSpecifier:
		return false
	case parse.KindBindingElement:
		return parent.AsBindingElement().Initializer == id
	case parse.KindLabeledStatement, parse.KindBreakStatement, parse.KindContinueStatement:
		return parent.Label() != id
	case parse.KindQualifiedName:
		return parent.AsQualifiedName().Left == id
	case parse.KindJsxOpeningElement, parse.KindJsxSelfClosingElement:
		// Lower-case tags are strings.
		return parent.TagName() != id || id.Text()[0] < 'a' || id.Text()[0] > 'z'
	case parse.KindJsxClosingElement:
		return false
	}
	return parent.Name() != id
}

// isWrite adds to the compiler's notion rest elements and delete.
func isWrite(n *parse.Node) bool {
	switch n.Parent.Kind {
	case parse.KindSpreadElement, parse.KindParenthesizedExpression:
		return isWrite(n.Parent)
	case parse.KindSpreadAssignment:
		return isWrite(n.Parent.Parent)
	case parse.KindDeleteExpression:
		return true
	}
	return parse.IsWrite(n)
}

func isTypeOf(n *parse.Node) bool {
	for n.Parent.Kind == parse.KindParenthesizedExpression {
		n = n.Parent
	}
	return n.Parent.Kind == parse.KindTypeOfExpression
}

// sloppyFunction reports whether a name is declared by a function inside a block
// of an enclosing function. In sloppy code such a declaration also makes a
// variable of the function (ECMA-262, annex B.3.3), which the binder, thinking of
// strict code, does not know.
func sloppyFunction(f *tree, id *parse.Node, known map[*parse.Node]map[string]bool) bool {
	if parse.IsModule(f.source) {
		return false
	}
	for scope := id.Parent; scope != nil; scope = scope.Parent {
		switch scope.Kind {
		case parse.KindFunctionDeclaration, parse.KindFunctionExpression, parse.KindArrowFunction, parse.KindMethodDeclaration,
			parse.KindConstructor, parse.KindGetAccessor, parse.KindSetAccessor, parse.KindSourceFile:
			names, ok := known[scope]
			if !ok {
				names = map[string]bool{}
				blockFunctions(scope, names)
				known[scope] = names
			}
			if names[id.Text()] {
				return true
			}
		}
	}
	return false
}

// blockFunctions collects the names of functions declared below a node, not
// looking into nested functions.
func blockFunctions(n *parse.Node, names map[string]bool) {
	children(n, func(child *parse.Node) {
		switch child.Kind {
		case parse.KindFunctionDeclaration:
			if name := child.Name(); name != nil {
				names[name.Text()] = true
			}
		case parse.KindFunctionExpression, parse.KindArrowFunction, parse.KindMethodDeclaration, parse.KindConstructor,
			parse.KindGetAccessor, parse.KindSetAccessor:
		default:
			blockFunctions(child, names)
		}
	})
}
