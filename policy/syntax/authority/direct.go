package authority

import (
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
)

// globalNames are the names of the global object itself, and of the windows around it.
var globalNames = map[string]bool{
	"window": true, "self": true, "globalThis": true, "global": true, "top": true, "parent": true, "frames": true,
}

// direct finds the names that the script uses without detours.
func direct(file *syntax.File) Result {
	var out Result
	for _, r := range file.Unresolved() {
		u := Use{Name: r.Name, Path: r.Name, Span: r.Span, Guarded: r.Guarded}
		rest := file.Text[r.Span.End:]
		switch {
		case r.TypeOf:
			u.Kind = Presence
		case r.Write:
			u.Kind = Write
		default:
			for len(rest) > 1 && rest[0] == '.' {
				end := 1
				for end < len(rest) && (rest[end] == '_' || rest[end] == '$' || rest[end] >= '0' && rest[end] <= '9' || rest[end]|0x20 >= 'a' && rest[end]|0x20 <= 'z') {
					end++
				}
				u.Path += rest[:end]
				u.Span.End += end
				rest = rest[end:]
			}
			if root, member, ok := strings.Cut(u.Path, "."); ok && globalNames[root] {
				u.Root, u.Path = root, member
				u.Name, _, _ = strings.Cut(member, ".")
			}
		}
		out.Uses = append(out.Uses, u)
	}
	return out
}
