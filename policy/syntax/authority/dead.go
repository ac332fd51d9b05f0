package authority

import (
	"slices"

	"github.com/microsoft/typescript-go/shim/parse"

	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
)

// ends reports whether the code after a statement is not reached.
func (s *survey) ends(statement *parse.Node) bool {
	switch statement.Kind {
	case parse.KindReturnStatement, parse.KindThrowStatement, parse.KindBreakStatement, parse.KindContinueStatement:
		return true
	case parse.KindBlock:
		return slices.ContainsFunc(statement.Statements(), s.ends)
	case parse.KindIfStatement:
		i := statement.AsIfStatement()
		if outcome, known := s.truth(i.Expression, 0); known {
			return outcome && s.ends(i.ThenStatement) || !outcome && i.ElseStatement != nil && s.ends(i.ElseStatement)
		}
		return i.ElseStatement != nil && s.ends(i.ThenStatement) && s.ends(i.ElseStatement)
	case parse.KindTryStatement:
		t := statement.AsTryStatement()
		return t.FinallyBlock != nil && s.ends(t.FinallyBlock) ||
			s.ends(t.TryBlock) && (t.CatchClause == nil || s.ends(t.CatchClause.AsCatchClause().Block))
	case parse.KindForStatement:
		l := statement.AsForStatement()
		return s.endless(l.Condition, l.Statement)
	case parse.KindWhileStatement:
		l := statement.AsWhileStatement()
		return s.endless(l.Expression, l.Statement)
	case parse.KindDoStatement:
		l := statement.AsDoStatement()
		return s.endless(l.Expression, l.Statement)
	}
	return false
}

// endless reports whether a loop is only left together with the code around it.
func (s *survey) endless(condition, body *parse.Node) bool {
	if condition != nil {
		if outcome, known := s.truth(condition, 0); !known || !outcome {
			return false
		}
	}
	return !breaks(body, true)
}

// breaks reports whether a statement may break out of the loop that it is the body of.
// own is set while a break without a label would be that loop's.
func breaks(n *parse.Node, own bool) bool {
	if isFunctionLike(n) {
		return false
	}
	switch n.Kind {
	case parse.KindBreakStatement:
		return own || n.AsBreakStatement().Label != nil
	case parse.KindContinueStatement:
		return n.AsContinueStatement().Label != nil
	case parse.KindForStatement, parse.KindForInStatement, parse.KindForOfStatement, parse.KindWhileStatement, parse.KindDoStatement, parse.KindSwitchStatement:
		own = false
	}
	found := false
	syntax.Children(n, func(child *parse.Node) { found = found || breaks(child, own) })
	return found
}

// isFunctionLike reports whether the code in a node runs at another time than the code
// around it.
func isFunctionLike(n *parse.Node) bool {
	switch n.Kind {
	case parse.KindFunctionDeclaration, parse.KindFunctionExpression, parse.KindArrowFunction, parse.KindMethodDeclaration,
		parse.KindConstructor, parse.KindGetAccessor, parse.KindSetAccessor, parse.KindClassDeclaration, parse.KindClassExpression:
		return true
	}
	return false
}

// cases walks a switch. Where what it compares is known, so is the clause that it
// comes to.
func (s *survey) cases(n *parse.Node, in frame) {
	sw := n.AsSwitchStatement()
	s.walk(sw.Expression, in)
	clauses := sw.CaseBlock.AsCaseBlock().Clauses.Nodes
	first, known := s.entered(sw.Expression, clauses)
	live := !known
	for i, clause := range clauses {
		live = live || i == first
		if live || slices.ContainsFunc(clause.Statements(), isFunctionLike) {
			s.walk(clause, in)
		} else {
			s.bury(clause)
		}
		live = live && (!known || !slices.ContainsFunc(clause.Statements(), s.ends))
	}
}

// entered returns the index of the clause at which a switch begins, -1 for none.
func (s *survey) entered(compared *parse.Node, clauses []*parse.Node) (first int, known bool) {
	value := s.literal(compared, 0)
	if value == "" {
		return 0, false
	}
	other := -1
	for i, clause := range clauses {
		if clause.Kind == parse.KindDefaultClause {
			other = i
			continue
		}
		switch s.literal(clause.AsCaseOrDefaultClause().Expression, 0) {
		case "":
			return 0, false
		case value:
			return i, true
		}
	}
	return other, true
}

// fixedMember returns the value of a member that is never changed, of an object whose
// members are all that is ever used of it; nil for any other.
func (s *survey) fixedMember(access *parse.Node) *parse.Node {
	object := unwrap(access.Expression())
	symbol := s.symbols[object]
	if object.Kind != parse.KindIdentifier || symbol == nil {
		return nil
	}
	value, _ := s.only(symbol)
	if value == nil || unwrap(value).Kind != parse.KindObjectLiteralExpression {
		return nil
	}
	fixed, asked := s.fixed[symbol]
	if !asked {
		fixed = !slices.ContainsFunc(s.tree.Uses[symbol], func(id *parse.Node) bool {
			p := id.Parent
			return p.Kind != parse.KindPropertyAccessExpression || p.Expression() != id || isCallee(p) || syntax.IsWrite(p) || isDeleted(p)
		})
		s.fixed[symbol] = fixed
	}
	if !fixed {
		return nil
	}
	var found *parse.Node
	for _, m := range unwrap(value).Properties() {
		if m.Kind != parse.KindPropertyAssignment || m.Name().Kind == parse.KindComputedPropertyName || m.Name().Text() == "__proto__" {
			return nil
		}
		if m.Name().Text() == access.Name().Text() {
			found = m.Initializer()
		}
	}
	return found
}

// passage is the question whether a declaration has been passed when a function runs.
type passage struct{ declaration, function *parse.Node }

// maxReferences bounds how many places settled looks at.
const maxReferences = 300

// settled reports whether a var has surely been given the value of its declaration
// where a use of it runs. The bundler makes vars of the constants of a module. The use
// must stand behind the declaration in the same function, or in a function that is
// made behind it; one that is made before, as declared functions are, must only be
// spoken of behind it.
func (s *survey) settled(declaration, use *parse.Node) bool {
	list := declaration.Parent
	if list == nil || list.Parent == nil || list.Parent.Kind != parse.KindVariableStatement {
		return false
	}
	body := list.Parent.Parent
	if body.Kind != parse.KindSourceFile && (body.Kind != parse.KindBlock || !isFunctionLike(body.Parent)) {
		return false
	}
	asked := map[*parse.Node]bool{}
	queue := []*parse.Node{use}
	left := maxReferences
	var first *parse.Node
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		if left--; left < 0 {
			return false
		}
		made, ok := outermost(n, body)
		switch {
		case !ok:
			return false
		case made == nil:
			made = n
			fallthrough
		case made.Kind != parse.KindFunctionDeclaration || made.Parent != body:
			if made.Pos() < declaration.End() {
				namespace := s.exporting(made)
				if namespace == nil {
					s.late[passage{declaration, first}] = false
					return false
				}
				// The bundler's list of what a module exports stands in front of it, and
				// is only looked at through the module's object.
				for _, id := range s.tree.Uses[namespace] {
					if id.Parent.Kind != parse.KindCallExpression || id.Parent.Arguments()[0] != id || s.exports(id.Parent) == nil {
						queue = append(queue, id)
					}
				}
			}
		case !asked[made]:
			asked[made] = true
			if first == nil {
				first = made
				if known, ok := s.late[passage{declaration, made}]; ok {
					return known
				}
			}
			queue = append(queue, s.tree.Uses[made.Symbol()]...)
		}
	}
	for fn := range asked {
		s.late[passage{declaration, fn}] = true
	}
	return true
}

// outermost returns the outermost function in a body that holds a node, nil where the
// node is code of the body itself; false where it is not in the body.
func outermost(n, body *parse.Node) (made *parse.Node, ok bool) {
	for ; n != nil && n != body; n = n.Parent {
		if isFunctionLike(n) {
			made = n
		}
	}
	return made, n == body
}

// exporting returns the variable of the module object whose getter a function is, or
// nil for any other function.
func (s *survey) exporting(getter *parse.Node) *parse.Symbol {
	if getter.Kind != parse.KindArrowFunction || getter.Parent.Kind != parse.KindPropertyAssignment {
		return nil
	}
	call := getter.Parent.Parent.Parent
	if call == nil || call.Kind != parse.KindCallExpression {
		return nil
	}
	return s.exports(call)
}
