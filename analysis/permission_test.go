package analysis

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-lsp/sandbox-lsp/policy/attenuation"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// propose asks for completion where a | stands.
func propose(t *testing.T, s *Session, content string) []Completion {
	t.Helper()
	sn, path, position := at(t, s, content)
	items, err := sn.Complete(t.Context(), path, position)
	if err != nil {
		t.Fatal(err)
	}
	return items
}

func TestComplete_proposesPermissions(t *testing.T) {
	s := newSession(t)
	all := []string{"fetch", "Intl", "URL", "localStorage", "console", "Buffer", "document", "HTMLDivElement", "fetch with allow"}
	tests := map[string]struct {
		content string
		has     []string
		hasNot  []string
	}{
		"in an empty list":              {`export default { lodash: { permissions: [|] } };`, all, []string{"permissions", "lodash", "onclick", "Map", "Promise"}},
		"in an empty string":            {`export default { lodash: { permissions: ["|"] } };`, all, nil},
		"behind others":                 {`export default { lodash: { permissions: ["Intl", |] } };`, []string{"fetch"}, []string{"Intl"}},
		"between others":                {`export default { lodash: { permissions: ["Intl", "|", { name: "fetch" }] } };`, []string{"URL"}, []string{"Intl", "fetch"}},
		"the one that stands there":     {`export default { lodash: { permissions: ["fet|ch"] } };`, []string{"fetch"}, nil},
		"for a name that is typed bare": {`export default { lodash: { permissions: [fe|] } };`, []string{"fetch"}, nil},
		"in a list without an end":      {"export default { lodash: { permissions: [\n  |", []string{"fetch"}, nil},
		"in a string without an end":    {"export default { lodash: { permissions: [\"|\n", []string{"fetch"}, nil},
		"in a list behind a name":       {`const p = [|]; export default { lodash: { permissions: p } };`, []string{"fetch"}, nil},
		"in the object form":            {`export default { lodash: { permissions: ["Intl", { name: "|" }] } };`, []string{"fetch", "localStorage"}, []string{"Intl", "fetch with allow"}},
		"not behind the list":           {`export default { lodash: { permissions: []| } };`, nil, []string{"fetch"}},
		"not in another list":           {`export default { lodash: { workloads: { w: { exports: [|] } } } };`, nil, []string{"fetch"}},
		"not instead of an expression":  {`export default { lodash: { permissions: [...ba|se] } };`, nil, []string{"fetch"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var labels []string
			for _, i := range propose(t, s, tt.content) {
				labels = append(labels, i.Label)
			}
			for _, want := range tt.has {
				if !slices.Contains(labels, want) {
					t.Errorf("%q is not proposed among %d", want, len(labels))
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

func TestComplete_ofPermissionsWritesWhatFits(t *testing.T) {
	s := newSession(t)
	tests := map[string]struct{ content, label, want string }{
		"a name":                    {`export default { zod: { permissions: [|] } };`, "fetch", `export default { zod: { permissions: ["fetch"] } };`},
		"over a string":             {`export default { zod: { permissions: ["fe|"] } };`, "fetch", `export default { zod: { permissions: ["fetch"] } };`},
		"in its quotes":             {`export default { zod: { permissions: ['fe|'] } };`, "fetch", `export default { zod: { permissions: ['fetch'] } };`},
		"in the quotes of others":   {`export default { zod: { permissions: ['URL', |] } };`, "fetch", `export default { zod: { permissions: ['URL', 'fetch'] } };`},
		"over a bare name":          {`export default { zod: { permissions: [fe|] } };`, "fetch", `export default { zod: { permissions: ["fetch"] } };`},
		"over an open string":       {"export default { zod: { permissions: [\"fe|] } };", "fetch", `export default { zod: { permissions: ["fetch"] } };`},
		"the narrower form":         {`export default { zod: { permissions: ["|"] } };`, "fetch with allow", `export default { zod: { permissions: [{ name: "fetch", allow: ["https://api.example.com/*"] }] } };`},
		"a name in the object form": {`export default { zod: { permissions: [{ name: '|' }] } };`, "fetch", `export default { zod: { permissions: [{ name: 'fetch' }] } };`},
		"a rule":                    {`export default { zod: { permissions: [{ name: "fetch", allow: [|] }] } };`, "https://*.example.com/*", `export default { zod: { permissions: [{ name: "fetch", allow: ["https://*.example.com/*"] }] } };`},
		"a rule over a string":      {`export default { zod: { permissions: [{ name: "WebSocket", allow: ["x|"] }] } };`, "wss://api.example.com/*", `export default { zod: { permissions: [{ name: "WebSocket", allow: ["wss://api.example.com/*"] }] } };`},
		"a rule before its name":    {`export default { zod: { permissions: [{ allow: [|], name: "localStorage" }] } };`, "mylib:*", `export default { zod: { permissions: [{ allow: ["mylib:*"], name: "localStorage" }] } };`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			items := propose(t, s, tt.content)
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

func TestComplete_putsTheSmallerAuthorityFirst(t *testing.T) {
	items := propose(t, newSession(t), `export default { "never-built": { permissions: [|] } };`)
	slices.SortFunc(items, func(a, b Completion) int { return strings.Compare(a.Sort, b.Sort) })
	var order []string
	for _, i := range items {
		if slices.Contains([]string{"document", "window", "fetch", "console", "Intl", "fetch with allow", "AnalyserNode"}, i.Label) {
			order = append(order, i.Label)
		}
	}
	if diff := cmp.Diff([]string{"Intl", "window", "console", "AnalyserNode", "fetch", "fetch with allow", "document"}, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestPermissions_putsWhatTheLibraryUsesFirst(t *testing.T) {
	sn, path, position := at(t, newSession(t), `export default { lodash: { permissions: [|] } };`)
	c, _, ok, err := sn.cursor(path, position)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	items := permissions(c, text.Range{}, map[string]bool{"document": true, "onclick": true}, map[string]bool{"Map": true})
	first := slices.MinFunc(items, func(a, b Completion) int { return strings.Compare(a.Sort, b.Sort) })
	if first.Label != "document" || !strings.Contains(first.Detail, "realm object") || !strings.Contains(first.Detail, "used by this library") || !strings.Contains(first.Documentation, "Instead:") {
		t.Errorf("first %+v", first)
	}
	for _, i := range items {
		if i.Label == "Map" {
			t.Error("what the guest has is proposed")
		}
	}
}

// TestExamples_areFaultlessRules keeps the product from proposing what it reports.
func TestExamples_areFaultlessRules(t *testing.T) {
	for _, global := range attenuation.Globals() {
		if len(examples(global)) == 0 {
			t.Errorf("%s has no examples", global)
		}
		for _, e := range examples(global) {
			_, problems := attenuation.Parse(global, e.plain())
			for _, p := range problems {
				if p.Kind != attenuation.Subdomains {
					t.Errorf("%s: %s: %s", global, e.plain(), p.Message)
				}
			}
		}
	}
	if got := examples("console"); got != nil {
		t.Errorf("console has examples: %v", got)
	}
}

func TestHover_describesPermissions(t *testing.T) {
	s := newSession(t)
	for name, tt := range map[string]struct {
		content string
		want    []string
	}{
		"a global":               {`export default { zod: { permissions: ["fe|tch"] } };`, []string{"**fetch** (function, in windows, workers and Node)", "over the network", "Authority: **powerful**.", "Instead: Narrow fetch", "https://developer.mozilla.org/"}},
		"in the object form":     {`export default { zod: { permissions: [{ name: "local|Storage" }] } };`, []string{"**localStorage**"}},
		"a global of one host":   {`export default { zod: { permissions: ["Buf|fer"] } };`, []string{"in Node)"}},
		"the whole realm":        {`export default { zod: { permissions: ["docu|ment"] } };`, []string{"Authority: **realm**.", "Instead: Let the application"}},
		"the global object":      {`export default { zod: { permissions: ["win|dow"] } };`, []string{"Authority: **pure**.", "sandbox's own global object", "still needs a grant of its own"}},
		"an unknown one":         {`export default { zod: { permissions: ["Fet|ch"] } };`, []string{"**Fetch** is no global", "`fetch`"}},
		"one that the guest has": {`export default { zod: { permissions: ["Ma|p"] } };`, []string{"**Map**", "of its own"}},
		"a rule":                 {`export default { zod: { permissions: [{ name: "fetch", allow: ["https://a.exa|mple/*"] }] } };`, []string{"Allows a.example, any path and query"}},
		"a malformed rule":       {`export default { zod: { permissions: [{ name: "fetch", allow: ["a.exa|mple"] }] } };`, []string{"Allows nothing.", "has no scheme"}},
		"a rule without a name":  {`export default { zod: { permissions: [{ allow: ["a.exa|mple"] }] } };`, []string{"Allows nothing before"}},
	} {
		t.Run(name, func(t *testing.T) {
			sn, path, position := at(t, s, tt.content)
			h, err := sn.Hover(t.Context(), path, position)
			if err != nil || h == nil {
				t.Fatal(h, err)
			}
			for _, want := range tt.want {
				if !strings.Contains(h.Markdown, want) {
					t.Errorf("hover does not say %q:\n%s", want, h.Markdown)
				}
			}
		})
	}
}
