package analysis

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// proposed returns the labels that completion offers at a place.
func proposed(t *testing.T, sn *Snapshot, path string, position text.Position) []string {
	t.Helper()
	items, err := sn.Complete(t.Context(), path, position)
	if err != nil {
		t.Fatal(err)
	}
	var labels []string
	for _, i := range items {
		labels = append(labels, i.Label)
	}
	return labels
}

// at opens a policy whose text has a | where the cursor is.
func at(t *testing.T, s *Session, content string) (*Snapshot, string, text.Position) {
	t.Helper()
	root := storefront(t)
	path := filepath.Join(root, ".sandbox", "sandbox.config.js")
	before, after := cut(t, content)
	sn := s.Snapshot(root, map[string]string{path: before + after})
	return sn, path, text.NewMapper(before + after).Position(len(before))
}

// atManifest does the same with a compatibility manifest, beside a policy of lodash
// and date-fns.
func atManifest(t *testing.T, s *Session, content string) (*Snapshot, string, text.Position) {
	t.Helper()
	root := storefront(t)
	path := filepath.Join(root, ".sandbox", "compat.config.js")
	before, after := cut(t, content)
	sn := s.Snapshot(root, map[string]string{
		path: before + after,
		filepath.Join(root, ".sandbox", "sandbox.config.js"): `export default { lodash: { permissions: [] }, "date-fns": { permissions: [] } };`,
	})
	return sn, path, text.NewMapper(before + after).Position(len(before))
}

func cut(t *testing.T, content string) (before, after string) {
	t.Helper()
	before, after, ok := strings.Cut(content, "|")
	if !ok {
		t.Fatalf("no cursor in %q", content)
	}
	return before, after
}

func TestComplete_proposesWhatFitsThePlace(t *testing.T) {
	s := newSession(t)
	tests := map[string]struct {
		content string
		has     []string
		hasNot  []string
	}{
		"packages in an empty policy":       {"export default { | };", []string{"lodash", "qs"}, []string{"permissions", "@types/qs", "@sandbox-lsp/runtime"}},
		"packages that are not there yet":   {`export default { lodash: { permissions: [] }, | };`, []string{"qs"}, []string{"lodash"}},
		"a half-typed package":              {`export default { "lod|" };`, []string{"lodash"}, []string{"permissions"}},
		"a half-typed bare key":             {"export default { lod|\n", []string{"lodash"}, []string{"permissions"}},
		"a package before an open end":      {"export default { lodash: { permissions: [] },\n  |", []string{"qs"}, []string{"lodash"}},
		"options":                           {`export default { lodash: { | } };`, []string{"permissions", "workloads", "limits"}, []string{"qs", "memoryMB"}},
		"options that are not there yet":    {`export default { lodash: { permissions: [], | } };`, []string{"workloads"}, []string{"permissions"}},
		"options of a const":                {`const l = { permissions: [], | }; export default { lodash: l };`, []string{"workloads"}, []string{"permissions"}},
		"options in an unclosed object":     {"export default { lodash: {\n  perm|", []string{"permissions"}, []string{"lodash"}},
		"options inside defineConfig":       {`module.exports = defineConfig({ lodash: { | } });`, []string{"permissions"}, nil},
		"limits":                            {`export default { lodash: { limits: { | } } };`, []string{"memoryMB", "bundleKB"}, []string{"permissions"}},
		"workload options":                  {`export default { lodash: { workloads: { w: { | } } } };`, []string{"entry", "exports"}, []string{"permissions"}},
		"workload names are free":           {`export default { lodash: { workloads: { | } } };`, nil, []string{"entry", "permissions"}},
		"options of a permission object":    {`export default { lodash: { permissions: [{ | }] } };`, []string{"name", "allow"}, []string{"permissions"}},
		"values of an option":               {`export default { lodash: { arguments: | } };`, []string{`"membrane"`, `"data"`}, []string{"permissions"}},
		"values behind a half-typed string": {`export default { lodash: { results: "|" } };`, []string{`"mirror"`, `"live"`}, nil},
		"booleans":                          {`export default { lodash: { snapshot: t| } };`, []string{"true", "false"}, nil},
		"nothing outside of the policy":     {`const x = { | }; export default {};`, nil, []string{"lodash", "permissions"}},
		"nothing in an empty file":          {"|", nil, []string{"lodash"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			sn, path, position := at(t, s, tt.content)
			labels := proposed(t, sn, path, position)
			for _, want := range tt.has {
				if !slices.Contains(labels, want) {
					t.Errorf("%q is not proposed among %v", want, labels)
				}
			}
			for _, not := range tt.hasNot {
				if slices.Contains(labels, not) {
					t.Errorf("%q is proposed", not)
				}
			}
		})
	}
}

func TestComplete_editsFitWhatStandsThere(t *testing.T) {
	s := newSession(t)
	tests := map[string]struct{ content, label, want string }{
		"a new library":             {"export default { | };", "lodash", `export default { "lodash": { permissions: [] }, };`},
		"in the file's own quotes":  {"export default { 'zod': { permissions: [] }, | };", "qs", "export default { 'zod': { permissions: [] }, 'qs': { permissions: [] }, };"},
		"bare where keys are bare":  {"export default { zod: { permissions: [] }, | };", "qs", "export default { zod: { permissions: [] }, qs: { permissions: [] }, };"},
		"quoted where it has to be": {"export default { zod: { permissions: [] }, | };", "date-fns", `export default { zod: { permissions: [] }, "date-fns": { permissions: [] }, };`},
		"a half-typed string":       {`export default { "lod|" };`, "lodash", `export default { "lodash": { permissions: [] }, };`},
		"only the key of a member":  {`export default { "lod|": { permissions: [] } };`, "lodash", `export default { "lodash": { permissions: [] } };`},
		"a value":                   {`export default { zod: { results: "|" } };`, `"live"`, `export default { zod: { results: "live" } };`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			sn, path, position := at(t, s, tt.content)
			items, err := sn.Complete(t.Context(), path, position)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(items, func(c Completion) bool { return c.Label == tt.label })
			if i < 0 {
				t.Fatalf("%q is not proposed", tt.label)
			}
			content := strings.Replace(tt.content, "|", "", 1)
			span := text.NewMapper(content).Span(items[i].Range)
			if got := content[:span.Start] + items[i].Plain + content[span.End:]; got != tt.want {
				t.Errorf("gives %s\nwant  %s", got, tt.want)
			}
		})
	}
}

func TestHover_describesLibrariesAndOptions(t *testing.T) {
	s := newSession(t)
	for name, tt := range map[string]struct{ content, want string }{
		"a library":          {`export default { lod|ash: { permissions: [] } };`, "**lodash** 4."},
		"an unknown library": {`export default { lod|ahs: { permissions: [] } };`, "does not resolve"},
		"an option":          {`export default { lodash: { perm|issions: [] } };`, "The host globals that this library may use"},
		"a limit":            {`export default { lodash: { limits: { memory|MB: 1 } } };`, "guest's heap"},
		"a value":            {`export default { lodash: { results: "li|ve" } };`, "proxies that alias"},
		"nothing":            {`export default { | };`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			sn, path, position := at(t, s, tt.content)
			h, err := sn.Hover(t.Context(), path, position)
			if err != nil {
				t.Fatal(err)
			}
			if tt.want == "" {
				if h != nil {
					t.Errorf("hover %+v", h)
				}
				return
			}
			if h == nil || !strings.Contains(h.Markdown, tt.want) {
				t.Errorf("hover %+v does not say %q", h, tt.want)
			}
		})
	}
}

func TestSymbols_nestPermissionsAndWorkloads(t *testing.T) {
	sn, path, _ := at(t, newSession(t), `|export default { lodash: { permissions: ["Intl"], workloads: { stats: { entry: "a.js", exports: [] } } }, qs: { permissions: [] } };`)
	symbols, err := sn.Symbols(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	var walk func([]Symbol, string)
	walk = func(list []Symbol, indent string) {
		for _, s := range list {
			got = append(got, indent+s.Name)
			if s.Selection.Start.Before(s.Range.Start) || s.Range.End.Before(s.Selection.End) {
				t.Errorf("%s is selected outside of itself", s.Name)
			}
			walk(s.Children, indent+"  ")
		}
	}
	walk(symbols, "")
	if diff := cmp.Diff([]string{"lodash", "  Intl", "  stats", "qs"}, got); diff != "" {
		t.Errorf("symbols (-want +got):\n%s", diff)
	}
}

func TestComplete_knowsTheCompatibilityManifest(t *testing.T) {
	s := newSession(t)
	tests := map[string]struct {
		content string
		want    []string // all that is proposed
	}{
		"libraries of the policy":       {"export default { | };", []string{"date-fns", "lodash"}},
		"that are not there yet":        {"export default { lodash: { tests: [] }, | };", []string{"date-fns"}},
		"options":                       {"export default { lodash: { tests: [], | } };", []string{"engine", "framework", "limitations"}},
		"options of a limitation":       {"export default { lodash: { limitations: [{ test: 'a', | }] } };", []string{"kind", "reason"}},
		"values":                        {"export default { lodash: { engine: '|' } };", []string{`"auto"`, `"browser"`, `"embedded"`, `"node"`}},
		"nothing where anything may be": {"export default { lodash: { tests: ['|'] } };", nil},
		"no permissions":                {"export default { lodash: { permissions: ['|'] } };", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			sn, path, position := atManifest(t, s, tt.content)
			labels := proposed(t, sn, path, position)
			slices.Sort(labels)
			if diff := cmp.Diff(tt.want, labels); diff != "" {
				t.Errorf("proposed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHover_knowsTheCompatibilityManifest(t *testing.T) {
	s := newSession(t)
	for content, want := range map[string]string{
		"export default { lod|ash: { tests: [] } };":                         "**lodash** 4.",
		"export default { lodash: { te|sts: [] } };":                         "**tests** (array of strings, required)",
		"export default { lodash: { engine: 'no|de' } };":                    "What the tests run in",
		"export default { lodash: { limitations: [{ ki|nd: 'limit' }] } };":  "What differs inside the sandbox",
		"export default { lodash: { permissions: ['fe|tch'] } };":            "",
		"const a = { te|sts: [] }; export default { lodash: { tests: [] } }": "",
	} {
		sn, path, position := atManifest(t, s, content)
		h, err := sn.Hover(t.Context(), path, position)
		if err != nil {
			t.Fatal(err)
		}
		if (h == nil) != (want == "") || h != nil && !strings.Contains(h.Markdown, want) {
			t.Errorf("%s: hover %+v does not say %q", content, h, want)
		}
	}
}

// TestSnapshot_survivesEveryPrefixOfAPolicy types a policy character by character
// and asks everything at each step.
func TestSnapshot_survivesEveryPrefixOfAPolicy(t *testing.T) {
	s := newSession(t)
	const content = "import { defineConfig } from \"@sandbox-lsp/runtime\";\nexport default defineConfig({\n  lodash: { permissions: [\"Intl\"], workloads: { a: { entry: \"x.js\", exports: [\"run\"] } } },\n  '🎉': { permissions: [{ name: 'fetch' }] },\n});\n"
	for i := range len(content) + 1 {
		sn, path, position := at(t, s, content[:i]+"|")
		if _, err := sn.Parse(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := sn.Complete(t.Context(), path, position); err != nil {
			t.Fatal(err)
		}
		if _, err := sn.Symbols(t.Context(), path); err != nil {
			t.Fatal(err)
		}
	}
}
