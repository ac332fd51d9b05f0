package authority

import (
	"slices"
	"strings"

	"github.com/microsoft/typescript-go/shim/parse"
)

// orNothing is a fact behind a condition that does not ask for it: what else stands there
// may be nothing at all, and is not a fallback of a member.
func (f fact) orNothing() fact {
	f.soft = f.what == host
	return f
}

// orElse is a fact in front of || or ??.
func (f fact) orElse() fact {
	f.soft = f.soft || f.what == host
	f.softMember = f.softMember || f.what == host && isMember(f.path)
	return f
}

// isMember reports whether a path ends with the first member behind its name.
func isMember(path string) bool { return strings.Count(path, ".") == 1 }

// hasMember reports whether a path goes on behind its name.
func hasMember(path string) bool { return strings.Contains(path, ".") }

// firstMember returns a path up to the first member behind its name.
func firstMember(path string) string {
	parts := strings.SplitN(path, ".", 3)
	return strings.Join(parts[:min(len(parts), 2)], ".")
}

// isStrictWrite reports whether a place assigns to a plain name in strict code.
func (e *engine) isStrictWrite(u *use) bool {
	n := u.node
	return u.fact.strict || u.fact.root == "" && n.Kind == parse.KindIdentifier && parse.IsWrite(n) && !isDeleted(n) && e.functionAt(n).strict
}

// isMemberGuarded reports whether a script does without the first member on the path of a
// use: it only asks for it or keeps it, something else stands beside it, or the code
// around has asked.
func (e *engine) isMemberGuarded(u *use) bool {
	if u.passage || u.fact.softMember {
		return true
	}
	if isMember(u.fact.path) && e.usage(u.node) == asTest {
		return true
	}
	g := &guards{engine: e, names: []string{firstName(u.fact.path)}, member: firstMember(u.fact.path)}
	return g.search(u.node)
}

// isIn reports whether a condition `key in object` asks for the member that is looked for.
func (g *guards) isIn(key, object *parse.Node) bool {
	names, ok := g.constants(key, nil, 0)
	if !ok || len(names) != 1 {
		return false
	}
	if g.member == "" {
		return slices.Contains(g.names, names[0])
	}
	return g.names[0]+"."+names[0] == g.member && g.leadsTo(object, g.names[0])
}

// leadsTo reports whether an expression may be what stands at a path, or a member of that.
func (g *guards) leadsTo(n *parse.Node, path string) bool {
	n = last(n)
	if n.Kind == parse.KindIdentifier && g.symbols[n] == nil && n.Text() == path {
		return true
	}
	return slices.ContainsFunc(g.facts[n], func(f fact) bool {
		return f.what == host && (f.path == path || strings.HasPrefix(f.path, path+"."))
	})
}
