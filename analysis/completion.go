package analysis

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/compat"
	"github.com/sandbox-lsp/sandbox-lsp/policy/resolve"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// Complete proposes what can be written at a place of the policy: packages, options,
// their values, permissions and the rules that narrow them; and of the compatibility
// manifest: the policy's libraries, options and their values. Another file has no
// proposals.
func (sn *Snapshot) Complete(ctx context.Context, path string, at text.Position) ([]Completion, error) {
	c, m, ok, err := sn.cursor(path, at)
	if err != nil || !ok || ctx.Err() != nil {
		return nil, err
	}
	where := m.Range(c.replace)
	switch {
	case c.atKey && len(c.path) == 0 && c.manifest:
		return sn.sandboxed(ctx, c, where)
	case c.atKey && len(c.path) == 0:
		return sn.packages(c, where), nil
	case c.atKey:
		return keys(c, where), nil
	}
	switch site := c.site(); {
	case site == siteOther:
		return values(c, where), nil
	case !c.writable():
		return nil, nil
	case site == siteRule:
		return rules(c, where), nil
	}
	guest := sn.guestNames(ctx)
	return permissions(c, where, sn.usedBy(c.path[0], guest), guest), nil
}

// cursor locates a place of the policy or of the compatibility manifest.
func (sn *Snapshot) cursor(path string, at text.Position) (cursor, *text.Mapper, bool, error) {
	manifest, _ := sn.choose(compat.ConfigFiles)
	c := cursor{options: options}
	switch filepath.Clean(path) {
	case sn.PolicyFile():
	case manifest:
		c.options, c.manifest = compat.Options, true
	default:
		return cursor{}, nil, false, nil
	}
	content, err := sn.Read(path)
	if err != nil {
		return cursor{}, nil, false, fmt.Errorf("read %s: %w", policy.Relative(sn.root, path), err)
	}
	m := text.NewMapper(content)
	c.file = syntax.Parse(path, content)
	ok := c.locate(m.Offset(at))
	return c, m, ok, nil
}

// taken returns the keys of the object that stand already, except the one that is
// being written.
func (c cursor) taken() map[string]bool {
	taken := map[string]bool{}
	for i := range c.object.Properties {
		if p := &c.object.Properties[i]; p != c.property {
			taken[p.Key] = true
		}
	}
	return taken
}

// bare reports whether only a key stands under the cursor, so that a proposal has
// to bring its value along.
func (c cursor) bare() bool {
	return c.property == nil || c.property.Shorthand || c.property.Value.Kind == syntax.KindMissing && c.property.Value.Span.Start == c.property.KeySpan.End
}

// packages proposes the libraries that could be sandboxed: the project's
// dependencies first, then whatever else is installed.
func (sn *Snapshot) packages(c cursor, where text.Range) []Completion {
	taken := c.taken()
	var items []Completion
	add := func(name, rank string) {
		if taken[name] || name == policy.RuntimePackage || strings.HasPrefix(name, "@types/") {
			return
		}
		taken[name] = true
		items = append(items, sn.completeLibrary(c, name, rank, where, "permissions: [$0]", "permissions: []"))
	}
	for _, name := range resolve.Dependencies(sn.root) {
		add(name, "0")
	}
	for _, name := range resolve.Installed(sn.root) {
		add(name, "1")
	}
	return items
}

// sandboxed proposes the libraries whose compatibility could be tested: those that the
// policy's text has.
func (sn *Snapshot) sandboxed(ctx context.Context, c cursor, where text.Range) ([]Completion, error) {
	p, _, err := sn.policy(ctx, nil)
	if err != nil || p == nil {
		return nil, err
	}
	taken := c.taken()
	var items []Completion
	for _, l := range p.Libraries {
		if !taken[l.Name] {
			items = append(items, sn.completeLibrary(c, l.Name, "", where, `tests: ["${1:`+escape("node_modules/"+l.Name+"/test/**/*.js")+`}"]`, "tests: []"))
		}
	}
	return items, nil
}

// completeLibrary proposes a library as a key, and where nothing but the key stands the option
// that it needs: as a snippet, and for clients that have none.
func (sn *Snapshot) completeLibrary(c cursor, name, rank string, where text.Range, snippet, plain string) Completion {
	key := c.quote(name)
	item := Completion{
		Label: name, Kind: KindLibrary, Range: where, Sort: rank + name, NewText: key, Plain: key,
		Detail: sn.describe(name),
	}
	if c.bare() {
		item.NewText, item.Plain, item.Snippet = escape(key)+": { "+snippet+" },", key+": { "+plain+" },", true
	}
	return item
}

// describe returns the version and the description that an installed package gives
// of itself, or "".
func (sn *Snapshot) describe(name string) string {
	raw, err := os.ReadFile(filepath.Join(sn.root, "node_modules", filepath.FromSlash(name), "package.json"))
	if err != nil {
		return ""
	}
	var manifest struct{ Version, Description string }
	if json.Unmarshal(raw, &manifest) != nil {
		return ""
	}
	return strings.TrimSpace(manifest.Version + " " + manifest.Description)
}

// keys proposes the options that the object around the cursor does not have yet.
func keys(c cursor, where text.Range) []Completion {
	taken := c.taken()
	var items []Completion
	for i, o := range c.options(c.path) {
		if taken[o.Name] {
			continue
		}
		item := Completion{
			Label: o.Name, Kind: KindOption, Detail: string(o.Type), Documentation: o.Doc, Range: where,
			Sort: fmt.Sprintf("%02d", i), NewText: o.Name, Plain: o.Name,
		}
		if c.bare() {
			item.NewText, item.Plain, item.Snippet = o.Name+": "+o.Snippet+",", o.Name+": ", true
		}
		items = append(items, item)
	}
	return items
}

// values proposes the values of options that take one of a few.
func values(c cursor, where text.Range) []Completion {
	o, ok := c.option(c.path)
	if !ok {
		return nil
	}
	var items []Completion
	add := func(text string) {
		items = append(items, Completion{Label: text, Kind: KindValue, Documentation: o.Doc, NewText: text, Plain: text, Range: where, Sort: fmt.Sprint(len(items))})
	}
	for _, v := range o.Values {
		add(`"` + v + `"`)
	}
	if o.Type == policy.TypeBool {
		add("true")
		add("false")
	}
	return items
}

var identifier = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

// quote writes a key as it is quoted already, or as the other keys of the object
// are.
func (c cursor) quote(name string) string {
	mark, plain := `"`, len(c.object.Properties) > 0
	for i := range c.object.Properties {
		p := &c.object.Properties[i]
		if p.Spread || p.Computed || p == c.property && !quoted(c.file.Text, p.KeySpan) {
			continue
		}
		if quoted(c.file.Text, p.KeySpan) {
			mark, plain = c.file.Text[p.KeySpan.Start:p.KeySpan.Start+1], false
		}
		if p == c.property {
			break
		}
	}
	if plain && identifier.MatchString(name) {
		return name
	}
	return mark + name + mark
}

func quoted(content string, key text.Span) bool {
	return key.End > key.Start && (content[key.Start] == '"' || content[key.Start] == '\'')
}

// escape protects text that stands in a snippet.
func escape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `$`, `\$`, `}`, `\}`).Replace(s)
}
