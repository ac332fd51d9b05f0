package report

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/resolve"
)

// UnknownCodeError is a code that no finding has.
type UnknownCodeError struct {
	Code string
	// Suggestion is a code that is close to it, or "".
	Suggestion string
}

func (e *UnknownCodeError) Error() string {
	if e.Suggestion != "" {
		return fmt.Sprintf("no finding has the code %s; did you mean %s?", e.Code, e.Suggestion)
	}
	return fmt.Sprintf("no finding has the code %s; sandbox-lsp explain lists all codes", e.Code)
}

// Explain prints the page of a code, in whatever case it was typed. A code that does
// not exist is an *UnknownCodeError.
func (p Pretty) Explain(w io.Writer, code string) error {
	page, ok := finding.PageOf(finding.Code(strings.ToUpper(code)))
	if !ok {
		var known []string
		for _, c := range finding.Codes() {
			known = append(known, string(c))
		}
		return &UnknownCodeError{Code: code, Suggestion: resolve.Nearest(strings.ToUpper(code), known)}
	}
	out := bufio.NewWriter(w)
	p.page(out, page)
	return flush(out)
}

var (
	inlineCode = regexp.MustCompile("`[^`]+`")
	fileOfCode = regexp.MustCompile(`title="([^"]*)"`)
)

// page prints a page's Markdown so that it reads well without a renderer: headings
// and code stand out by colour where there is colour, and by indentation anyway.
func (p Pretty) page(out *bufio.Writer, page finding.Page) {
	inCode := false
	for line := range strings.Lines(page.Markdown) {
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
	fmt.Fprintf(out, "\nsandbox-lsp explain %s says more about one.\n", finding.MissingPermission)
	return flush(out)
}
