package authority

import (
	"strings"

	"github.com/microsoft/typescript-go/shim/parse"

	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
)

// property follows a value into an object literal.
func (e *engine) property(n, p *parse.Node, f fact) {
	literal := p.Parent
	if p.Kind == parse.KindShorthandPropertyAssignment && p.AsShorthandPropertyAssignment().ObjectAssignmentInitializer == n {
		e.assign(p.Name(), f, n)
		return
	}
	if syntax.IsWrite(literal) || p.Kind == parse.KindPropertyAssignment && p.Initializer() != n {
		return
	}
	if f.what == host && !makesCode(f.path) || f.what == walk || f.what == woven || p.Kind == parse.KindPropertyAssignment && e.isWrapped(n) {
		return
	}
	if f.what == code {
		f.fn.escapes = true
		f.fn.keep(memberNames(p))
		e.owned[literal] = append(e.owned[literal], f)
		f.fn.adrift = f.fn.adrift || !f.bound && (e.isExported(literal) || e.isForAll(literal))
		return
	}
	if p.Kind == parse.KindPropertyAssignment && p.Name().Kind != parse.KindComputedPropertyName && p.Name().Text() == "__proto__" {
		// An object that inherits from it has its members.
		e.arrive(literal, f)
		return
	}
	places, ok := e.members(literal, p)
	if !ok {
		e.lost(n, f)
		return
	}
	for _, place := range places {
		e.arrive(place, f)
	}
}

// members returns the places where the member of an object literal is taken again;
// false when the object goes elsewhere than into one variable whose members alone
// are used.
func (e *engine) members(literal, property *parse.Node) ([]*parse.Node, bool) {
	for isTransparent(literal.Parent) {
		literal = literal.Parent
	}
	declaration := literal.Parent
	if property.Name().Kind == parse.KindComputedPropertyName || declaration.Kind != parse.KindVariableDeclaration || declaration.Initializer() != literal || declaration.Name().Kind != parse.KindIdentifier {
		return nil, false
	}
	symbol := declaration.Symbol()
	if symbol == nil || len(symbol.Declarations) != 1 || !e.untouched(symbol) {
		return nil, false
	}
	var out []*parse.Node
	for _, id := range e.tree.Uses[symbol] {
		if !e.spend() {
			return nil, false
		}
		place := id.Parent
		if place.Kind != parse.KindPropertyAccessExpression || place.Expression() != id || isCallee(place) {
			return nil, false
		}
		if place.Name().Text() == property.Name().Text() && !syntax.IsWrite(place) {
			out = append(out, place)
		}
	}
	return out, true
}

// pattern takes a value apart.
func (e *engine) pattern(pattern *parse.Node, f fact) {
	switch pattern.Kind {
	case parse.KindObjectBindingPattern, parse.KindObjectLiteralExpression:
	default:
		if f.what == global || f.what == code || f.what == maker {
			e.lost(pattern, f)
		}
		return
	}
	if f.what == code {
		f.fn.escapes = true // a member of it may be anything
		return
	}
	members := pattern.Elements
	if pattern.Kind == parse.KindObjectLiteralExpression {
		members = pattern.Properties
	}
	for _, m := range members() {
		e.taken(m, f)
	}
}

// taken follows a value into one member of a pattern.
func (e *engine) taken(m *parse.Node, f fact) {
	var key, target *parse.Node
	soft := false
	switch m.Kind {
	case parse.KindBindingElement:
		b := m.AsBindingElement()
		if b.DotDotDotToken != nil {
			e.rest(m, f)
			return
		}
		key, target, soft = b.PropertyName, m.Name(), b.Initializer != nil
		if key == nil {
			key = m.Name()
		}
	case parse.KindPropertyAssignment:
		key, target = m.Name(), m.Initializer()
		soft = target != nil && target.Kind == parse.KindBinaryExpression
	case parse.KindShorthandPropertyAssignment:
		key, target, soft = m.Name(), m.Name(), m.AsShorthandPropertyAssignment().ObjectAssignmentInitializer != nil
	case parse.KindSpreadAssignment:
		e.rest(m, f)
		return
	}
	if key == nil || target == nil {
		return
	}
	names, ok := e.keys(key, f.ctx)
	if !ok {
		if f.what == global && !(key.Kind == parse.KindComputedPropertyName && isSymbol(key.Expression())) {
			e.unfollowed(ComputedKey, Read, m, f)
		}
		return
	}
	for _, name := range names {
		name = segment(name)
		var member fact
		switch {
		case f.what == global && f.doubt != NoDoubt:
			e.received(key, f, name)
			continue
		case f.what == global && globalNames[name]:
			member = f
		case f.what == global && inherited[name]:
			continue
		case f.what == global:
			member = f.at(name)
		case f.what == host && strings.Count(f.path, ".") < maxSegments:
			member = f
			member.path += "." + name
		default:
			continue
		}
		if member.what == host {
			member.soft = member.soft || soft
			member.softMember = member.softMember || soft && isMember(member.path)
			if target.Kind != parse.KindObjectBindingPattern && target.Kind != parse.KindObjectLiteralExpression {
				e.note(key, member, Read, target.Kind == parse.KindIdentifier)
			}
		}
		if m.Kind == parse.KindBindingElement {
			e.declare(m, member)
		} else {
			e.assign(target, member, target)
		}
	}
}

func (e *engine) rest(m *parse.Node, f fact) {
	switch f.what {
	case global:
		e.unfollowed(Rest, Read, m, f)
	case host:
		e.use(m, f, Read)
	}
}

// keys returns the names that a property name can be.
func (e *engine) keys(key *parse.Node, ctx *context) ([]string, bool) {
	switch key.Kind {
	case parse.KindComputedPropertyName:
		return e.constants(key.Expression(), ctx, 0)
	case parse.KindIdentifier, parse.KindStringLiteral, parse.KindNumericLiteral, parse.KindNoSubstitutionTemplate:
		return []string{key.Text()}, true
	}
	return nil, false
}
