package finding

import (
	"embed"
	"slices"
	"strings"
)

//go:embed pages/*.md
var pages embed.FS

// Repository is where the project, and with it the pages, can be read.
const Repository = "https://github.com/sandbox-lsp/sandbox-lsp"

// Page explains one code to a person.
type Page struct {
	Code Code
	// Title is the page's first line without the code, a sentence without its full stop.
	Title string
	// Markdown is the whole page, the title line included.
	Markdown string
}

// PageOf returns the page of a code; every code of this package has one.
func PageOf(code Code) (Page, bool) {
	raw, err := pages.ReadFile("pages/" + string(code) + ".md")
	if err != nil {
		return Page{}, false
	}
	first, _, _ := strings.Cut(string(raw), "\n")
	return Page{Code: code, Title: strings.TrimPrefix(first, "# "+string(code)+": "), Markdown: string(raw)}, true
}

// Codes returns the codes that have a page, in order.
func Codes() []Code {
	entries, err := pages.ReadDir("pages")
	if err != nil { // cannot happen: the folder is part of the program
		return nil
	}
	var codes []Code
	for _, e := range entries {
		codes = append(codes, Code(strings.TrimSuffix(e.Name(), ".md")))
	}
	slices.Sort(codes)
	return codes
}

// URL returns where a code's page stands on the web, or "" for a code without one.
func (c Code) URL() string {
	if _, ok := PageOf(c); !ok {
		return ""
	}
	return Repository + "/blob/main/policy/finding/pages/" + string(c) + ".md"
}

// Section returns the text under one of the page's headings, without the blank
// lines around it.
func (p Page) Section(heading string) string {
	_, rest, found := strings.Cut(p.Markdown, "\n## "+heading+"\n")
	if !found {
		return ""
	}
	section, _, _ := strings.Cut(rest, "\n## ")
	return strings.TrimSpace(section)
}

// The headings that every page has, in their order.
const (
	SectionMeaning = "What it means"
	SectionExample = "Example"
	SectionFix     = "How to fix it"
	SectionWhy     = "Why it matters"
)
