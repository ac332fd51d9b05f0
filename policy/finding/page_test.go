package finding

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the table of findings in the README")

// declared returns the codes that codes.go declares.
func declared(t *testing.T) []Code {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var codes []Code
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, err := strconv.Unquote(lit.Value); err == nil {
				codes = append(codes, Code(s))
			}
		}
		return true
	})
	slices.Sort(codes)
	return codes
}

func TestPages_everyCodeHasOneAndEveryPageACode(t *testing.T) {
	if diff := cmp.Diff(declared(t), Codes()); diff != "" {
		t.Errorf("codes and pages (-codes +pages):\n%s", diff)
	}
}

func TestPages_haveTheirPartsAndFitAScreen(t *testing.T) {
	heading := regexp.MustCompile(`(?m)^## (.*)$`)
	for _, code := range Codes() {
		t.Run(string(code), func(t *testing.T) {
			p, ok := PageOf(code)
			if !ok {
				t.Fatal("no page")
			}
			if !strings.HasPrefix(p.Markdown, fmt.Sprintf("# %s: %s\n\n", code, p.Title)) || p.Title == "" || strings.HasSuffix(p.Title, ".") {
				t.Errorf("title %q", p.Title)
			}
			var headings []string
			for _, m := range heading.FindAllStringSubmatch(p.Markdown, -1) {
				headings = append(headings, m[1])
			}
			if diff := cmp.Diff([]string{SectionMeaning, SectionExample, SectionFix, SectionWhy}, headings); diff != "" {
				t.Errorf("headings (-want +got):\n%s", diff)
			}
			for _, h := range headings {
				if len(p.Section(h)) < 40 {
					t.Errorf("%q says %q", h, p.Section(h))
				}
			}
			if example := p.Section(SectionExample); !strings.Contains(example, "```js") && !strings.Contains(example, "```sh") || !strings.Contains(example, string(code)) {
				t.Errorf("the example shows no code or no message:\n%s", example)
			}
			if n := strings.Count(p.Markdown, "\n"); n < 20 || n > 45 {
				t.Errorf("%d lines", n)
			}
			if !strings.HasSuffix(code.URL(), "/policy/finding/pages/"+string(code)+".md") {
				t.Errorf("URL %q", code.URL())
			}
		})
	}
}

func TestPageOf_unknownCode(t *testing.T) {
	for _, code := range []Code{"SBX999", "", "sbx001", "../pages/SBX001"} {
		if p, ok := PageOf(code); ok || code.URL() != "" {
			t.Errorf("%q has the page %q at %q", code, p.Title, code.URL())
		}
	}
}

// The README lists the findings by the titles of their pages.
func TestREADME_listsEveryFinding(t *testing.T) {
	const path, begin, end = "../../README.md", "<!-- findings -->\n", "<!-- /findings -->"
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(raw), begin)
	got, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("the README has no table between %q and %q", begin, end)
	}
	var want strings.Builder
	want.WriteString("| Code | What is so |\n|---|---|\n")
	for _, code := range Codes() {
		p, _ := PageOf(code)
		fmt.Fprintf(&want, "| [%s](policy/finding/pages/%s.md) | %s |\n", code, code, p.Title)
	}
	if *update {
		if err := os.WriteFile(path, []byte(before+begin+want.String()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want.String(), got); diff != "" {
		t.Errorf("the table is stale; run: go test ./policy/finding -update\n%s", diff)
	}
}
