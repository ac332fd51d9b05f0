package edit

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// generator writes a policy, and an operation on it, that a string of bytes decides.
// The same bytes give the same policy; an empty rest gives the plainest choices.
type generator struct {
	choices  []byte
	file     string
	newline  string
	unit     string
	quotes   string // the quote characters in use
	bare     int    // how often of 4 a key that may goes without quotes
	chaos    bool   // comments and line ends anywhere
	trailing bool
	comments int
	consts   []string // statements that have to stand before the export
	shared   []string // names of arrays that may be used again
}

// n returns a number below k.
func (g *generator) n(k int) int {
	if len(g.choices) == 0 {
		return 0
	}
	c := int(g.choices[0]) % k
	g.choices = g.choices[1:]
	return c
}

func pick[T any](g *generator, from ...T) T { return from[g.n(len(from))] }

var (
	libraryNames    = []string{"lodash", "date-fns", "@scope/pkg", "qs", "it's", "a\\b"}
	permissionNames = []string{"Intl", "URL", "fetch", "Map", "crypto", "AbortController", "TextDecoderStream", "CompressionStream"}
	exportNames     = []string{"run", "stats", "sum", "default"}
	workloadNames   = []string{"stats", "sums", "by-day"}
	unknownOptions  = []string{"permision", "extra", "sub-paths"}
)

func (g *generator) quoted(s string) string { return literal(s, g.quotes[g.n(len(g.quotes))]) }

func (g *generator) key(name string) string {
	if identifier.MatchString(name) && g.n(4) < g.bare {
		return name
	}
	if g.chaos && g.n(12) == 11 {
		return "[" + g.quoted(name) + "]"
	}
	return g.quoted(name)
}

// gap is what may stand between two tokens.
func (g *generator) gap(indent string) string {
	if !g.chaos || g.n(3) > 0 {
		return ""
	}
	var s strings.Builder
	for range 1 + g.n(3) {
		switch g.n(8) {
		case 7:
			s.WriteString(pick(g, "\u00a0", "\f", "\u2028"))
		case 0, 1:
			s.WriteString(" ")
		case 2:
			s.WriteString(g.newline + indent)
		case 3:
			s.WriteString(g.newline)
		case 4:
			g.comments++
			fmt.Fprintf(&s, "/* c%d, */", g.comments)
		case 5:
			g.comments++
			fmt.Fprintf(&s, "// c%d ]}%s%s", g.comments, g.newline, indent)
		case 6:
			g.comments++
			fmt.Fprintf(&s, "/* c%d%s */", g.comments, g.newline)
		}
	}
	return s.String()
}

// remark is a comment behind an item.
func (g *generator) remark() string {
	if g.n(4) < 3 {
		return ""
	}
	g.comments++
	return pick(g, " // ", "// ") + fmt.Sprintf("c%d, \"x\"", g.comments)
}

// list writes a list of items, each rendered at an indentation.
func (g *generator) list(open, closing string, indent string, items []func(indent string) string) string {
	inner := indent + g.unit
	layout := g.n(4)
	pad := ""
	if open == "{" {
		pad = " "
	}
	if len(items) == 0 {
		switch g.n(5) {
		case 3:
			return open + g.newline + indent + closing
		case 4:
			g.comments++
			return open + fmt.Sprintf("%s%s// c%d%s%s", g.newline, inner, g.comments, g.newline, indent) + closing
		}
		return open + g.gap(inner) + closing
	}
	var b strings.Builder
	b.WriteString(open)
	for i, item := range items {
		last := i == len(items)-1
		switch layout {
		case 0, 1: // on one line
			if i == 0 {
				b.WriteString(pad)
			} else {
				b.WriteString(" ")
			}
			b.WriteString(g.gap(inner) + item(indent) + g.gap(inner))
			if !last || g.chaos && g.n(4) == 3 {
				b.WriteString(",")
			}
		case 2: // each on a line
			if g.n(8) == 7 {
				b.WriteString(g.newline)
			}
			if g.n(6) == 5 {
				g.comments++
				fmt.Fprintf(&b, "%s%s// c%d", g.newline, inner, g.comments)
			}
			b.WriteString(g.newline + inner + g.gap(inner) + item(inner) + g.gap(inner))
			if !last || g.trailing {
				b.WriteString(",")
			}
			b.WriteString(g.remark())
		case 3: // filled lines, or commas in front
			if g.chaos {
				if i > 0 {
					b.WriteString(g.newline + indent + ", ")
				} else {
					b.WriteString(g.newline + inner)
				}
				b.WriteString(item(inner) + g.gap(inner) + g.remark())
				continue
			}
			if i%2 == 0 {
				b.WriteString(g.newline + inner)
			} else {
				b.WriteString(" ")
			}
			b.WriteString(item(inner))
			if !last || g.trailing {
				b.WriteString(",")
			}
			if i%2 == 1 || last {
				b.WriteString(g.remark())
			}
		}
	}
	if layout > 1 {
		b.WriteString(g.newline + indent)
	} else {
		b.WriteString(pad)
	}
	return b.String() + g.gap(indent) + closing
}

func (g *generator) member(name string, value func(indent string) string) func(string) string {
	return func(indent string) string {
		return g.key(name) + g.gap(indent) + ":" + pick(g, " ", "") + g.gap(indent) + value(indent)
	}
}

// wrapped puts parentheses or a type around an expression now and then.
func (g *generator) wrapped(s string) string {
	switch g.n(16) {
	case 13:
		g.comments++
		return fmt.Sprintf("/** @type {c%d} */ (%s)", g.comments, s)
	case 14:
		return "(" + s + ")"
	case 15:
		if strings.HasSuffix(g.file, ".ts") {
			return "(" + s + " as X<1, 2>)"
		}
	}
	return s
}

// names picks some names in an order that may be the sorted one.
func (g *generator) names(from []string) []string {
	var names []string
	for range g.n(5) {
		name := pick(g, from...)
		if !slices.Contains(names, name) || g.n(8) == 7 {
			names = append(names, name)
		}
	}
	if g.n(2) == 0 {
		slices.Sort(names)
	}
	return names
}

func (g *generator) strings(names []string) []func(string) string {
	var items []func(string) string
	for _, name := range names {
		items = append(items, func(string) string {
			if g.n(12) == 11 {
				return literal(name, '`')
			}
			return g.wrapped(g.quoted(name))
		})
	}
	return items
}

func (g *generator) permissions(indent string) string {
	items := g.strings(g.names(permissionNames))
	for i := range items {
		if g.n(6) == 5 {
			name := pick(g, permissionNames...)
			items[i] = func(indent string) string {
				members := []func(string) string{g.member("name", func(string) string { return g.quoted(name) })}
				if g.n(3) == 2 {
					members = append(members, g.member("reason", func(string) string { return g.quoted("it's \"needed\"") }))
				}
				if g.n(2) == 0 {
					members = append(members, g.member("allow", func(indent string) string {
						return g.list("[", "]", indent, g.strings(g.names([]string{"https://a.example/*", "https://*"})))
					}))
				}
				return g.list("{", "}", indent, members)
			}
		}
	}
	switch g.n(20) {
	case 17:
		items = append(items, func(string) string { return "...others" })
	case 18:
		if len(g.shared) > 0 {
			return pick(g, g.shared...)
		}
	case 16:
		name := fmt.Sprintf("name%d", len(g.consts))
		g.consts = append(g.consts, "const "+name+" = "+g.quoted(pick(g, permissionNames...))+";")
		items = append(items, func(string) string { return pick(g, name, "{ name: "+name+" }") })
	case 19:
		name := fmt.Sprintf("list%d", len(g.shared))
		s := g.list("[", "]", "", items)
		g.shared = append(g.shared, name)
		g.consts = append(g.consts, "const "+name+" = "+s+pick(g, ";", ""))
		return name
	}
	return g.wrapped(g.list("[", "]", indent, items))
}

func (g *generator) policyEntry(indent string) string {
	var members []func(string) string
	add := func(name string, value func(string) string) { members = append(members, g.member(name, value)) }
	if g.n(8) < 7 {
		add("permissions", g.permissions)
	}
	if g.n(3) == 2 {
		add("workloads", func(indent string) string {
			var workloads []func(string) string
			for _, name := range g.names(workloadNames) {
				workloads = append(workloads, g.member(name, func(indent string) string {
					var options []func(string) string
					options = append(options, g.member("entry", func(string) string { return g.quoted("src/" + name + ".js") }))
					if g.n(6) < 5 {
						options = append(options, g.member("exports", func(indent string) string {
							return g.list("[", "]", indent, g.strings(g.names(exportNames)))
						}))
					}
					return g.list("{", "}", indent, options)
				}))
			}
			return g.list("{", "}", indent, workloads)
		})
	}
	if g.n(4) == 3 {
		add("subpaths", func(string) string { return g.wrapped("true") })
	}
	if g.n(4) == 3 {
		add(pick(g, unknownOptions...), func(string) string { return pick(g, "1", "undefined", "make()", "[]") })
	}
	if g.n(6) == 5 {
		add("permissions", g.permissions) // once more
	}
	switch g.n(24) {
	case 22:
		members = append([]func(string) string{func(string) string { return "...base" }}, members...)
	case 23:
		members = append(members, func(string) string { return "...base" })
	}
	return g.wrapped(g.list("{", "}", indent, members))
}

// policy writes the whole file.
func (g *generator) policy() string {
	g.file = pick(g, "sandbox.config.js", "sandbox.config.js", "sandbox.config.ts")
	g.newline = pick(g, "\n", "\n", "\r\n")
	g.unit = pick(g, "  ", "    ", "\t")
	g.quotes = pick(g, `"`, `'`, `"'`)
	g.bare = g.n(5)
	g.chaos = g.n(2) == 1
	g.trailing = g.n(2) == 0
	var libraries []func(string) string
	for _, name := range g.names(libraryNames) {
		libraries = append(libraries, g.member(name, g.policyEntry))
	}
	switch g.n(24) {
	case 23:
		libraries = append(libraries, func(string) string { return "...more" })
	case 22:
		g.consts = append(g.consts, "const known = { "+g.quoted("known")+": { permissions: [] } };")
		libraries = append([]func(string) string{func(string) string { return "...known" }}, libraries...)
	}
	root := g.list("{", "}", "", libraries)
	end := pick(g, ";", "")
	switch g.n(6) {
	case 0, 1:
		root = "export default " + root + end
	case 2:
		root = "module.exports = " + root + end
	case 3:
		root = "export default defineConfig(" + root + ")" + end
	case 4:
		root = "const config = " + root + ";" + g.newline + "export default config" + end
	case 5:
		root = "export default (" + root + ")"
		if strings.HasSuffix(g.file, ".ts") {
			root += " satisfies Config"
		}
		root += end
	}
	head := pick(g, "", "\uFEFF", "// c0 the policy"+g.newline)
	return head + strings.Join(append(g.consts, root), g.newline) + pick(g, g.newline, "")
}

// operation picks what to do to the policy.
func (g *generator) operation() operation {
	lib := pick(g, libraryNames...)
	perm := pick(g, permissionNames...)
	switch g.n(22) {
	case 20:
		return operation{"rename-key", []string{pick(g, "permision", "allow", "exports"), pick(g, "limits", "extra"), "1"}}
	case 21:
		return operation{"remove-key", []string{pick(g, "extra", "sub-paths", "allow"), "1"}}
	case 0, 1:
		return operation{"grant", append([]string{lib, perm}, g.names(permissionNames)...)}
	case 2, 3:
		return operation{"revoke", []string{lib, perm}}
	case 4:
		return operation{"rename-permission", []string{lib, perm, pick(g, permissionNames...)}}
	case 5:
		return operation{"narrow", []string{lib, perm, "https://api.example.com/*"}}
	case 6:
		return operation{"set-allow", []string{lib, perm, "https://*", "https://api.example.com/*"}}
	case 7:
		return operation{"add-sample-library", []string{lib}}
	case 8:
		return operation{"rename-library", []string{lib, pick(g, libraryNames...)}}
	case 9:
		return operation{"remove-library", []string{lib}}
	case 10:
		return operation{"set", []string{lib, pick(g, "subpaths", "limits", "extra"), pick(g, "true", "limits", "text")}}
	case 11:
		return operation{"rename-option", []string{lib, pick(g, "permision", "extra", "subpaths"), pick(g, "permissions", "results")}}
	case 12:
		return operation{"remove-option", []string{lib, pick(g, "permision", "extra", "subpaths", "permissions")}}
	case 13:
		return operation{"remove-duplicate", []string{pick(g, append([]string{"permissions"}, libraryNames...)...), pick(g, "2", "3")}}
	case 14:
		return operation{"add-workload", []string{lib, pick(g, workloadNames...), "src/new.js", "run", "walk"}}
	case 15:
		return operation{"add-exports", append([]string{lib, pick(g, workloadNames...), "walk"}, g.names(exportNames)...)}
	case 16:
		return operation{"rename-export", []string{lib, pick(g, workloadNames...), pick(g, exportNames...), "walk"}}
	case 17:
		return operation{"remove-export", []string{lib, pick(g, workloadNames...), pick(g, exportNames...)}}
	case 18:
		return operation{"remove-repeated", []string{lib, perm}}
	}
	return operation{"set-permissions", append([]string{lib}, g.names(permissionNames)...)}
}

// edited makes a policy of the bytes, performs operations on it, one after the other,
// and checks what came of each. It returns how many were not refused.
func edited(t *testing.T, choices []byte) (done int) {
	t.Helper()
	g := &generator{choices: choices}
	before := g.policy()
	if d := syntax.Parse(g.file, before).Diagnostics; len(d) > 0 {
		t.Fatalf("the generator wrote no policy: %v\n%s", d, before)
	}
	for tries := 0; tries < 12 && done < 4 && !t.Failed(); tries++ {
		o := g.operation()
		p := Open(syntax.Parse(g.file, before))
		if strings.HasSuffix(o.verb, "-key") && keyAt(p, o.arg(0), "2") != (text.Span{}) {
			continue // its model changes every key of the name
		}
		edits, err := o.run(p)
		if err != nil {
			var refusal *Refusal
			if !errors.As(err, &refusal) {
				t.Fatalf("%v: %v\n%s", o, err, before)
			}
			continue
		}
		done++
		after := Apply(before, edits)
		checkMeaning(t, o, g.file, before, after, edits)
		if strings.Contains(before, "\r\n") && strings.Count(after, "\n") != strings.Count(after, "\r\n") {
			t.Errorf("%v\na line does not end as the others\n%q", o, after)
		}
		if !g.chaos {
			for line := range strings.Lines(after) {
				if line = strings.TrimRight(line, "\r\n"); strings.TrimRight(line, " \t") != line && !strings.Contains(before, line) {
					t.Errorf("%v\nwhite space is left at the end of %q\nbefore:\n%s\nafter:\n%s", o, line, before, after)
				}
			}
		}
		before = after
	}
	return done
}

var (
	rounds = flag.Int("rounds", 1000, "how many random policies are edited")
	first  = flag.Int("first", 0, "the number of the first of them")
)

// choices returns the bytes of a round.
func choices(round, n int) []byte {
	r := rand.New(rand.NewPCG(1, uint64(round)))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func TestEdit_randomPolicies(t *testing.T) {
	done := 0
	for i := range *rounds {
		done += edited(t, choices(*first+i, 400))
		if t.Failed() {
			t.Fatalf("in round %d", *first+i)
		}
	}
	if done < *rounds {
		t.Errorf("only %d edits in %d rounds were not refused", done, *rounds)
	}
}

func FuzzEdit(f *testing.F) {
	for round := range 20 {
		f.Add(choices(round, 200))
	}
	f.Fuzz(func(t *testing.T, choices []byte) { edited(t, choices) })
}
