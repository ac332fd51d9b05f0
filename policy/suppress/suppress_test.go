package suppress

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding/findingtest"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

const policyFile = policy.ConfigFile

// planted are the places where a fixture puts a finding in.
var planted = regexp.MustCompile(`/\*(SBX\d{3})(?: ([^*]+))?\*/`)

// project is the files of a fixture with what is found in them.
type project struct {
	texts map[string]string
	files []string
	found []finding.Finding
}

func (p *project) add(name, content string) {
	p.texts[name] = content
	p.files = append(p.files, name)
	m := text.NewMapper(content)
	for _, at := range planted.FindAllStringSubmatchIndex(content, -1) {
		f := finding.Finding{
			Code: finding.Code(content[at[2]:at[3]]), Severity: finding.Warning, File: name,
			Range: m.Range(text.Span{Start: at[0], End: at[1]}), Message: "planted",
		}
		if at[4] >= 0 {
			f.Data = map[string]string{"library": content[at[4]:at[5]]}
		}
		p.found = append(p.found, f)
	}
}

// set parses a file of the project; the policy with its libraries.
func (p *project) set(t *testing.T, name string) (Set, bool) {
	content, ok := p.texts[name]
	if !ok {
		return Set{}, false
	}
	if name == policyFile {
		read, err := policy.Read(t.Context(), policy.Source{Root: "/p", File: "/p/" + name, Text: content}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return Parse(name, content, read.Syntax, read.Libraries), true
	}
	return Parse(name, content, syntax.Parse("/p/"+name, content), nil), true
}

func (p *project) apply(t *testing.T, complete bool) Result {
	t.Helper()
	return Apply(p.found, p.files, func(file string) (Set, bool) { return p.set(t, file) }, complete)
}

func newProject() *project { return &project{texts: map[string]string{}} }

func TestApply_doesWhatTheFixturesSay(t *testing.T) {
	findingtest.Fixtures(t, func(t *testing.T, archive *txtar.Archive) {
		p, suppressed, fixed := newProject(), "", map[string]string{}
		var wants []findingtest.Want
		for _, f := range archive.Files {
			content := string(f.Data)
			file, isFixed := strings.CutPrefix(f.Name, "fixed/")
			switch {
			case isFixed:
				fixed[file] = content
			case f.Name == "suppressed":
				suppressed = content
			default:
				p.add(f.Name, content)
				wants = append(wants, findingtest.Parse(t, f.Name, content)...)
			}
		}
		result := p.apply(t, true)
		findingtest.Compare(t, wants, result.Kept)
		var got strings.Builder
		for _, f := range result.Suppressed {
			fmt.Fprintf(&got, "%s:%d %s %s\n", f.File, f.Range.Start.Line+1, f.Code, f.Data[ReasonKey])
		}
		if diff := gocmp.Diff(suppressed, got.String()); diff != "" {
			t.Errorf("suppressed (-want +got):\n%s", diff)
		}
		for _, f := range result.Kept {
			stale := f.Code == finding.BadSuppression && f.Severity == finding.Warning
			if len(finding.Preferred([]finding.Finding{f})) > 0 != stale {
				t.Errorf("%d:%d %s: preferred fixes are for what is stale: %+v", f.Range.Start.Line+1, f.Range.Start.Character+1, f.Message, f.Fixes)
			}
		}
		for file, want := range fixed {
			if diff := gocmp.Diff(want, unmarked(fix(p.texts[file], file, result.Kept))); diff != "" {
				t.Errorf("%s after its fixes (-want +got):\n%s", file, diff)
			}
		}
	})
}

// fix applies every edit for a file.
func fix(content, file string, findings []finding.Finding) string {
	m := text.NewMapper(content)
	var edits []finding.Edit
	for _, f := range findings {
		for _, fix := range f.Fixes {
			for _, e := range fix.Edits {
				if e.File == file {
					edits = append(edits, e)
				}
			}
		}
	}
	slices.SortFunc(edits, func(a, b finding.Edit) int { return cmp.Compare(m.Span(b.Range).Start, m.Span(a.Range).Start) })
	for _, e := range edits {
		span := m.Span(e.Range)
		content = content[:span.Start] + e.NewText + content[span.End:]
	}
	return content
}

// unmarked takes the expectations out of a fixture.
func unmarked(content string) string {
	return regexp.MustCompile(`(?m)^[ \t]*//[ \t]*<?\^+ SBX.*\n`).ReplaceAllString(content, "")
}

func TestApply_removalsLeaveTheLinesTidy(t *testing.T) {
	const c = "// sandbox-lsp-ignore SBX013 -- why"
	const b = "/* sandbox-lsp-ignore SBX013 -- why */"
	tests := map[string]struct{ before, after string }{
		"only line":                   {c, ""},
		"only line with its end":      {c + "\n", ""},
		"first line":                  {c + "\nf();\n", "f();\n"},
		"first line before a gap":     {c + "\n\nf();\n", "f();\n"},
		"last line":                   {"f();\n" + c + "\n", "f();\n"},
		"last line without an end":    {"f();\n" + c, "f();"},
		"last line behind a gap":      {"f();\n\n" + c + "\n", "f();\n\n"},
		"between two gaps":            {"f();\n\n\t" + c + "\n\ng();\n", "f();\n\ng();\n"},
		"behind a gap":                {"f();\n\n" + c + "\ng();\n", "f();\n\ng();\n"},
		"before a gap":                {"f();\n" + c + "\n\ng();\n", "f();\n\ng();\n"},
		"behind code":                 {"f(); \t " + c + "\ng();\n", "f();\ng();\n"},
		"behind code, at the end":     {"f(); " + c, "f();"},
		"block behind code":           {"f(); " + b + "  \ng();\n", "f();\ng();\n"},
		"block before code":           {"  " + b + " f();\n", "  f();\n"},
		"block between code":          {"f(1, " + b + " 2);\n", "f(1, 2);\n"},
		"block that joins code":       {"f(1," + b + " 2);\n", "f(1, 2);\n"},
		"block over lines":            {"f();\n/*\n * sandbox-lsp-ignore SBX013 -- why\n * and more\n */\ng();\n", "f();\ng();\n"},
		"block over lines in a row":   {"f(); /* sandbox-lsp-ignore SBX013 -- why\n */ g();\n", "f(); g();\n"},
		"CRLF":                        {"f();\r\n\r\n" + c + "\r\n\r\ng();\r\n", "f();\r\n\r\ng();\r\n"},
		"CRLF without an end":         {"f();\r\n" + c, "f();"},
		"byte order mark":             {"\ufeff" + c + "\nf();\n", "\ufefff();\n"},
		"characters of several units": {"f('🎉é'); " + b + " g('🎉');\n", "f('🎉é'); g('🎉');\n"},
		"JSX":                         {"x = <a>{" + b + "}</a>;\n", "x = <a>{}</a>;\n"},
		"text that looks like it":     {"f(`" + c + "`, /" + "\\/\\/ sandbox-lsp-ignore SBX013 -- why/);\n", "f(`" + c + "`, /" + "\\/\\/ sandbox-lsp-ignore SBX013 -- why/);\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := newProject()
			p.add("src/a.jsx", tt.before)
			if got := fix(tt.before, "src/a.jsx", p.apply(t, true).Kept); got != tt.after {
				t.Errorf("got  %q\nwant %q", got, tt.after)
			}
		})
	}
}

func TestApply_callsNothingStaleThatItCannotKnow(t *testing.T) {
	const stale = "// sandbox-lsp-ignore SBX013 -- why\n"
	const whole = "export default { lodash: { permissions: [] } };\n"
	at := func(code finding.Code, severity finding.Severity, library string) finding.Finding {
		return finding.Finding{Code: code, Severity: severity, File: "other", Data: map[string]string{"library": library}}
	}
	tests := map[string]struct {
		content  string
		complete bool
		with     []finding.Finding
		want     int
	}{
		"a complete run":             {stale + whole, true, nil, 1},
		"a run over the text alone":  {stale + whole, false, nil, 0},
		"a file that does not parse": {stale + "export default { lodash: ", true, nil, 0},
		"a policy that was not read": {stale + whole, true, []finding.Finding{at(finding.PolicyUnreadable, finding.Error, "")}, 0},
		"a second policy file":       {stale + whole, true, []finding.Finding{at(finding.PolicyUnreadable, finding.Warning, "")}, 1},
		"its library failed to load": {stale + whole, true, []finding.Finding{at(finding.LoadFailed, finding.Error, "lodash")}, 0},
		"its library is missing":     {stale + whole, true, []finding.Finding{at(finding.PackageUnresolved, finding.Error, "lodash")}, 0},
		"no library is found":        {stale + whole, true, []finding.Finding{{Code: finding.PackageUnresolved, Severity: finding.Error, File: "package.json"}}, 0},
		"its library is not listed":  {stale + whole, true, []finding.Finding{at(finding.PackageUnresolved, finding.Warning, "lodash")}, 1},
		"another failed to load":     {stale + whole, true, []finding.Finding{at(finding.LoadFailed, finding.Error, "qs")}, 1},
		"an error is one anyway":     {"// sandbox-lsp-ignore SBX013\n" + whole, false, nil, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := newProject()
			p.add(policyFile, tt.content)
			p.found = tt.with
			got := 0
			for _, f := range p.apply(t, tt.complete).Kept {
				if f.Code == finding.BadSuppression {
					got++
				}
			}
			if got != tt.want {
				t.Errorf("%d findings about suppressions, want %d", got, tt.want)
			}
		})
	}
}

func TestApply_callsNothingStaleOutsideOfThePolicyWhileALibraryFails(t *testing.T) {
	for code, want := range map[finding.Code]int{finding.LoadFailed: 0, finding.UnusedPermission: 1} {
		p := newProject()
		p.add("src/a.js", "f(); // sandbox-lsp-ignore SBX031 -- why\n")
		p.found = []finding.Finding{{Code: code, File: policyFile, Data: map[string]string{"library": "qs"}}}
		if kept := p.apply(t, true).Kept; len(kept) != 1+want {
			t.Errorf("%s: %+v", code, kept)
		}
	}
}

func TestApply_asksOncePerFileAndChangesNoFinding(t *testing.T) {
	p := newProject()
	p.add("src/a.js", "f(); /*SBX031*/ // sandbox-lsp-ignore SBX031 -- first\nf(); /*SBX031*/ // sandbox-lsp-ignore SBX031 -- second\n")
	p.add("src/b.js", "f(); /*SBX031 lodash*/\n")
	p.files = []string{"src/a.js", "src/unread.js", "src/a.js"}
	asked := map[string]int{}
	result := Apply(p.found, p.files, func(file string) (Set, bool) {
		asked[file]++
		return p.set(t, file)
	}, true)
	if diff := gocmp.Diff(map[string]int{"src/a.js": 1, "src/b.js": 1, "src/unread.js": 1}, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	if len(result.Kept) != 1 || result.Kept[0].File != "src/b.js" || len(result.Suppressed) != 2 {
		t.Errorf("result %+v", result)
	}
	for _, f := range p.found {
		if f.Data[ReasonKey] != "" {
			t.Error("the caller's finding was changed")
		}
	}
}

func TestMentions_sparesTextsWithout(t *testing.T) {
	for content, want := range map[string]bool{"": false, "f() // ignore": false, "// sandbox-lsp-ignore": true, "/*\n * sandbox-lsp-ignore-library X": true} {
		if Mentions(content) != want {
			t.Errorf("%q: %v", content, !want)
		}
	}
}

func FuzzApply(f *testing.F) {
	for _, seed := range []string{
		"// sandbox-lsp-ignore SBX013 -- why\nexport default {}", "/* sandbox-lsp-ignore-library SBX016,SBX1 -- */ export default { a: {} }",
		"export default { a: { /** sandbox-lsp-ignore-library SBX016\n * -- 🎉 */ } } // sandbox-lsp-ignore", "\ufeff/* sandbox-lsp-ignore SBX013 -- a\r\n*/\r\n\r\n",
		"x /* sandbox-lsp-ignore SBX013 -- a", "//\x00sandbox-lsp-ignore SBX013 -- \xff", "<a>{/* sandbox-lsp-ignore SBX013, SBX014 -- b */}</a>",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) {
		p := newProject()
		p.add(policyFile, content)
		result := p.apply(t, true)
		m := text.NewMapper(content)
		for _, f := range result.Kept {
			if f.Code != finding.BadSuppression {
				continue
			}
			span := m.Span(f.Range)
			if span.Start >= span.End {
				t.Errorf("a finding without a range: %+v", f)
			}
			for _, e := range f.Fixes[min(len(f.Fixes), 1):] {
				t.Errorf("more than one fix: %+v", e)
			}
		}
		if len(result.Kept)+len(result.Suppressed) < len(p.found) {
			t.Errorf("%d findings became %d and %d", len(p.found), len(result.Kept), len(result.Suppressed))
		}
	})
}
