package appscan

import (
	"path"
	"regexp"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
)

// tag matches the start of what may hide or hold a script in a component.
var (
	tag      = regexp.MustCompile(`(?i)<!--|<script(?:\s(?:[^>"']|"[^"]*"|'[^']*')*)?>`)
	closing  = regexp.MustCompile(`(?i)</script\s*>`)
	language = regexp.MustCompile(`(?i)\slang\s*=\s*["']?(ts|tsx|jsx)\b`)
)

// Parse reads the scripts of a source file: of a component, such as those of Vue, what
// stands around them is as if it were blank, and every place is that of the file.
func Parse(name, content string) *syntax.File {
	return syntax.Parse(script(name, content))
}

// script returns the code of a file and the name to parse it by. Of components it is
// the text with everything outside of their scripts blanked out, so that every place
// stays where it was. Expressions in templates are not looked at.
func script(name, content string) (parseAs, code string) {
	ext := path.Ext(name)
	switch ext {
	case ".vue", ".svelte", ".astro":
	default:
		return name, content
	}
	var (
		blank strings.Builder
		done  int
		lang  = "js"
	)
	keep := func(start, end int) {
		blank.WriteString(blanked(content[done:start]))
		blank.WriteString(content[start:end])
		done = end
	}
	i := 0
	if ext == ".astro" {
		lang = "ts"
		if start, end, ok := frontmatter(content); ok {
			keep(start, end)
			i = end
		}
	}
	for {
		at := tag.FindStringIndex(content[i:])
		if at == nil {
			break
		}
		open := content[i+at[0] : i+at[1]]
		i += at[1]
		if open == "<!--" {
			end := strings.Index(content[i:], "-->")
			if end < 0 {
				break
			}
			i += end
			continue
		}
		if m := language.FindStringSubmatch(open); m != nil {
			lang = strings.ToLower(m[1])
		}
		end := len(content)
		if at := closing.FindStringIndex(content[i:]); at != nil {
			end = i + at[0]
		}
		keep(i, end)
		i = end
	}
	keep(len(content), len(content))
	return name + "." + lang, blank.String()
}

// frontmatter returns where the script at the head of an Astro component stands.
func frontmatter(content string) (start, end int, ok bool) {
	const fence = "---"
	start = strings.Index(content, fence)
	if start < 0 || strings.TrimSpace(strings.TrimPrefix(content[:start], "\uFEFF")) != "" {
		return 0, 0, false
	}
	start += len(fence)
	length := strings.Index(content[start:], "\n"+fence)
	if length < 0 {
		return 0, 0, false
	}
	return start, start + length + 1, true
}

// blanked replaces every byte but line breaks. The semicolon ends the statement of
// the block before, which need not end in one.
func blanked(content string) string {
	b := []byte(content)
	for i, c := range b {
		if c != '\n' && c != '\r' {
			b[i] = ' '
		}
	}
	if len(b) > 0 && b[0] == ' ' {
		b[0] = ';'
	}
	return string(b)
}
