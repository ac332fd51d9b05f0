package report

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/hostglobals"
	"github.com/sandbox-lsp/sandbox-lsp/policy/resolve"
)

// UnknownCodeError is a word that is neither the code of a finding nor a host global.
type UnknownCodeError struct {
	Code string
	// Suggestion is a code, or a global, that is close to it, or "".
	Suggestion string
}

func (e *UnknownCodeError) Error() string {
	if e.Suggestion != "" {
		return fmt.Sprintf("no finding has the code %s, and no host has a global of that name; did you mean %s?", e.Code, e.Suggestion)
	}
	return fmt.Sprintf("no finding has the code %s, and no host has a global of that name; sandbox-lsp explain lists all codes", e.Code)
}

// Explain prints the page of a code, in whatever case it was typed, or what a host
// global hands over. What is neither is an *UnknownCodeError.
func (p Pretty) Explain(w io.Writer, subject string) error {
	out := bufio.NewWriter(w)
	if page, ok := finding.PageOf(finding.Code(strings.ToUpper(subject))); ok {
		p.page(out, page.Markdown)
		return flush(out)
	}
	if g, ok := hostglobals.Lookup(subject); ok {
		p.page(out, fmt.Sprintf("# %s (%s)\n\n%s\n", g.Name, g.Kind(), strings.ReplaceAll(g.Markdown(), "**", "")))
		return flush(out)
	}
	var known []string
	for _, c := range finding.Codes() {
		known = append(known, string(c))
	}
	suggestion := resolve.Nearest(strings.ToUpper(subject), known)
	if suggestion == "" {
		suggestion, _ = hostglobals.Suggest(subject)
	}
	return &UnknownCodeError{Code: subject, Suggestion: suggestion}
}

var (
	inlineCode = regexp.MustCompile("`[^`]+`")
	fileOfCode = regexp.MustCompile(`title="([^"]*)"`)
)

// page prints a page's Markdown so that it reads well without a renderer: headings
// and code stand out by colour where there is colour, and by indentation anyway.
func (p Pretty) page(out *bufio.Writer, markdown string) {
	inCode := false
	for line := range strings.Lines(markdown) {
		line = strings.TrimSuffix(line, "\n")
		info, fence := strings.CutPrefix(line, "```")
		switch {
		case fence:
			inCode = !inCode
			if m := fileOfCode.FindStringSubmatch(info); m != nil {
				fmt.Fprintf(out, "    %s\n", p.paint(dim, "// "+m[1]))
			}
		case inCode:
			fmt.Fprintln(out, strings.TrimRight("    "+p.paint(cyan, line), " "))
		case strings.HasPrefix(line, "#"):
			fmt.Fprintln(out, p.paint(bold, strings.TrimLeft(line, "# ")))
		default:
			if p.Color {
				line = inlineCode.ReplaceAllStringFunc(line, func(code string) string { return p.paint(cyan, strings.Trim(code, "`")) })
			}
			fmt.Fprintln(out, line)
		}
	}
}

// Codes lists all codes with the titles of their pages.
func (p Pretty) Codes(w io.Writer) error {
	out := bufio.NewWriter(w)
	for _, code := range finding.Codes() {
		page, _ := finding.PageOf(code)
		fmt.Fprintf(out, "%s  %s\n", p.paint(bold, string(code)), page.Title)
	}
	fmt.Fprintf(out, "\nsandbox-lsp explain %s says more about one, and sandbox-lsp explain fetch what that global hands over.\n", finding.MissingPermission)
	return flush(out)
}
