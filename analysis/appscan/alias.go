package appscan

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy/resolve"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
)

// alias is another name for a module, given by a project's file. The redirect looks
// at requests as they are written and does not know it.
type alias struct {
	scope   string // the folder in and below which it holds, relative to the root
	file    string // where it is defined, relative to the root
	pattern string // with at most one *
	target  string // what stands for the request, with a * for what the pattern's took
	kind    string // as a message names it
	owner   string // the library that it leads to, "" when only the * tells
}

// expand returns what a specifier becomes by the alias.
func (a alias) expand(specifier string) (string, bool) {
	before, after, wild := strings.Cut(a.pattern, "*")
	if !wild {
		return a.target, specifier == a.pattern
	}
	if len(specifier) < len(before)+len(after) || !strings.HasPrefix(specifier, before) || !strings.HasSuffix(specifier, after) {
		return "", false
	}
	return strings.Replace(a.target, "*", specifier[len(before):len(specifier)-len(after)], 1), true
}

// aliases reads the files that may define some. Only those that can lead to a
// library are returned, those of the innermost folders first.
func (w *walker) aliases(manifests []string, j *judge) []alias {
	var all []alias
	for _, rel := range manifests {
		content, ok := w.read(w.abs(rel))
		if !ok {
			continue
		}
		scope := path.Dir(rel)
		if scope == "." {
			scope = ""
		}
		var found []alias
		if path.Base(rel) == "package.json" {
			found = packageAliases(content)
		} else {
			found = compilerAliases(content)
		}
		for _, a := range found {
			a.scope, a.file = scope, rel
			// Targets in files are relative to them.
			if strings.HasPrefix(a.target, ".") {
				a.target = j.abs(scope, a.target)
			}
			library, _ := j.owner(scope, a.target)
			if a.owner = library; library != "" || strings.Contains(a.pattern, "*") && leadsToPackages(a.target) {
				all = append(all, a)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b alias) int { return len(b.scope) - len(a.scope) })
	return all
}

// leadsToPackages reports whether a wildcard stands for the name of a package.
func leadsToPackages(target string) bool {
	return strings.HasPrefix(target, "*") || strings.Contains(target, "node_modules/*")
}

// packageAliases reads the imports of a package.json (Node, "Subpath imports") and
// the dependencies that npm installs under another name.
func packageAliases(content []byte) []alias {
	if !bytes.Contains(content, []byte(`"imports"`)) && !bytes.Contains(content, []byte(`"npm:`)) {
		return nil
	}
	var manifest struct {
		Imports                                             map[string]any
		Dependencies, DevDependencies, OptionalDependencies map[string]any
	}
	if json.Unmarshal(bytes.TrimPrefix(content, []byte("\uFEFF")), &manifest) != nil {
		return nil
	}
	var out []alias
	for _, pattern := range sortedKeys(manifest.Imports) {
		eachString(manifest.Imports[pattern], func(target string) {
			out = append(out, alias{pattern: pattern, target: target, kind: "the imports of"})
		})
	}
	for _, group := range []map[string]any{manifest.Dependencies, manifest.DevDependencies, manifest.OptionalDependencies} {
		for _, name := range sortedKeys(group) {
			version, _ := group[name].(string)
			spec, found := strings.CutPrefix(version, "npm:")
			if !found {
				continue
			}
			if at := strings.LastIndex(spec, "@"); at > 0 {
				spec = spec[:at]
			}
			if _, _, ok := resolve.SplitRequest(spec); ok && spec != name {
				out = append(out, alias{pattern: name, target: spec, kind: "the dependencies of"},
					alias{pattern: name + "/*", target: spec + "/*", kind: "the dependencies of"})
			}
		}
	}
	return out
}

// eachString visits the targets of an entry: a string, or conditions and fallbacks
// of any depth.
func eachString(v any, visit func(string)) {
	switch v := v.(type) {
	case string:
		visit(v)
	case []any:
		for _, e := range v {
			eachString(e, visit)
		}
	case map[string]any:
		for _, key := range sortedKeys(v) {
			eachString(v[key], visit)
		}
	}
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// compilerAliases reads compilerOptions.paths of a tsconfig.json, which may have
// comments. What a configuration extends is read where it stands, and whether a file
// is part of it is not asked.
func compilerAliases(content []byte) []alias {
	if !bytes.Contains(content, []byte("paths")) {
		return nil
	}
	root, _, _ := syntax.Parse("tsconfig.js", "export default "+strings.TrimPrefix(string(content), "\uFEFF")).Export()
	options := valueOf(root, "compilerOptions")
	base := "."
	if url := valueOf(options, "baseUrl"); url != nil && url.Kind == syntax.KindString {
		base = url.Text
	}
	paths := valueOf(options, "paths")
	if paths == nil {
		return nil
	}
	var out []alias
	for _, p := range paths.Properties {
		for _, target := range p.Value.Elements {
			if target.Kind == syntax.KindString && p.Key != "" {
				full := target.Text
				if !path.IsAbs(full) {
					full = "./" + path.Join(base, full)
				}
				out = append(out, alias{pattern: p.Key, target: full, kind: "the paths of"})
			}
		}
	}
	return out
}

func valueOf(n *syntax.Node, key string) *syntax.Node {
	if p := n.Property(key); p != nil {
		return p.Value
	}
	return nil
}
