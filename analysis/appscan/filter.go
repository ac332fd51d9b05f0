package appscan

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// filter tells files that may mention a library from those that cannot, without
// parsing them. It looks at the bytes behind a quote, a slash or a loader's
// exclamation mark, which is where a name in a specifier stands.
type filter struct {
	byFirst [256][]needle
	id      string // tells one set of needles from another
}

type needle struct {
	text string
	// open says that anything may follow; else the name must end there.
	open bool
}

// newFilter makes the filter for a project's libraries and the aliases that lead to
// them.
func newFilter(libraries []Library, aliases []alias) *filter {
	needles := []needle{{workloadPrefix, true}, {realPrefix, true}}
	for _, l := range libraries {
		needles = append(needles, needle{l.Name, false})
		if dir := filepath.ToSlash(l.Package.Dir); dir != "" && !strings.Contains(dir, "/node_modules/") {
			// A package of the workspace can be reached by its folder.
			needles = append(needles, needle{path.Base(dir), false})
		}
		for _, a := range aliases {
			if before, _, wild := strings.Cut(a.pattern, "*"); wild && before != "" {
				needles = append(needles, needle{before + l.Name, false})
			}
		}
	}
	for _, a := range aliases {
		if before, _, wild := strings.Cut(a.pattern, "*"); !wild || before != "" && a.owner != "" {
			needles = append(needles, needle{before, wild})
		}
	}
	slices.SortFunc(needles, func(a, b needle) int { return cmp.Compare(a.text, b.text) })
	f := &filter{}
	var id strings.Builder
	for _, n := range slices.Compact(needles) {
		if n.text == "" {
			continue
		}
		f.byFirst[n.text[0]] = append(f.byFirst[n.text[0]], n)
		id.WriteString(n.text)
		id.WriteByte(0)
	}
	f.id = id.String()
	return f
}

// matches reports whether a text may mention one of the names.
func (f *filter) matches(content string) bool {
	for i := 0; i+1 < len(content); i++ {
		switch content[i] {
		case '"', '\'', '`', '/', '!':
		default:
			continue
		}
		rest := content[i+1:]
		for _, n := range f.byFirst[rest[0]] {
			if strings.HasPrefix(rest, n.text) && (n.open || len(rest) == len(n.text) || !inName(rest[len(n.text)])) {
				return true
			}
		}
	}
	return false
}

// inName holds for the bytes that would make a longer package name of what stands
// before them. A dot may begin a file's extension.
func inName(c byte) bool {
	return c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
