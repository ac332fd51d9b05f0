package appscan

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-pkgs/gitignore"
)

// rules are the ignore files that hold in one folder. They are immutable, so that
// folders can be walked side by side; a folder with an ignore file of its own makes
// new ones.
//
// The library takes a pattern for everything below what it names, which is right for
// a whole path in one question but not for a walk that asks of each folder on the
// way: there a later pattern may have let the folder in again. So it is asked pattern
// by pattern. What is left of a difference looks at a file that git ignores, never
// the other way round. The user's global ignore file is not read: a finding must not
// depend on who looks.
type rules struct {
	prefix string // the project root below the folder that paths are relative to, with a slash at its end, or ""
	layers []layer
	all    *gitignore.Matcher // every pattern; what it does not match none does
	each   []rule
}

// layer is one ignore file.
type layer struct {
	dir     string // where it stands, relative to the repository
	content []byte
}

// rule is one pattern.
type rule struct {
	dir     string
	path    bool // it names a path; else a name at any depth
	deep    bool // it means what is below a folder, at any depth,
	folders bool // and of that only folders
	matcher *gitignore.Matcher
}

// with adds an ignore file in a folder of the project.
func (r *rules) with(dir string, content []byte) *rules {
	if dir = path.Clean(r.prefix + dir); dir == "." {
		dir = ""
	}
	return newRules(r.prefix, append(slices.Clip(r.layers), layer{dir, content}))
}

func newRules(prefix string, layers []layer) *rules {
	r := &rules{prefix: prefix, layers: layers, all: &gitignore.Matcher{}}
	for _, l := range layers {
		content := bytes.TrimPrefix(l.content, []byte("\uFEFF"))
		r.all.AddPatterns(content, l.dir)
		for line := range bytes.Lines(content) {
			pattern := bytes.TrimRight(bytes.TrimPrefix(line, []byte("!")), "\r\n ")
			if len(pattern) == 0 || line[0] == '#' {
				continue
			}
			next := rule{dir: l.dir, matcher: &gitignore.Matcher{}}
			pattern, folders := bytes.CutSuffix(pattern, []byte("/"))
			next.path = bytes.Contains(pattern, []byte("/"))
			// a/** is all that is in a, but the library counts a itself; a/* with what
			// is below that comes to what is meant.
			if start, ok := bytes.CutSuffix(pattern, []byte("/**")); ok && len(start) > 0 {
				next.deep, next.folders = true, folders
				line = slices.Concat(line[:bytes.Index(line, pattern)], start, []byte("/*\n"))
			}
			next.matcher.AddPatterns(line, "")
			r.each = append(r.each, next)
		}
	}
	return r
}

// ignored reports whether git would ignore a path, slash-separated and relative to
// the project root, none of whose parents it ignores.
func (r *rules) ignored(rel string, isDir bool) bool {
	full, slash := r.prefix+rel, ""
	if isDir {
		slash = "/"
	}
	if len(r.each) == 0 || !r.all.MatchDetail(full+slash).Matched {
		return false
	}
	for _, rule := range slices.Backward(r.each) {
		name := full
		if rule.dir != "" {
			below, ok := strings.CutPrefix(full, rule.dir+"/")
			if !ok {
				continue
			}
			name = below
		}
		switch {
		case rule.folders && !isDir:
			continue
		case !rule.path:
			name = path.Base(name)
		}
		found := rule.matcher.MatchDetail(name + slash)
		if !found.Matched {
			continue
		}
		if parent := path.Dir(name); !rule.deep && parent != "." && rule.matcher.MatchDetail(parent+"/").Matched {
			continue // it is the parent that the pattern names
		}
		return !found.Negate
	}
	return false
}

// outerRules reads the ignore files that stand above a project: those of the
// repository around it, and its info/exclude. A project that its repository ignores
// is looked at all the same, since somebody asked for it.
func outerRules(root string, read func(string) ([]byte, bool)) *rules {
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	top, git := root, ""
	for dir := root; ; dir = filepath.Dir(dir) {
		candidate := filepath.Join(dir, ".git")
		if _, err := os.Lstat(candidate); err == nil {
			top, git = dir, candidate
			break
		}
		if dir == filepath.Dir(dir) {
			return newRules("", nil)
		}
	}
	rel, err := filepath.Rel(top, root)
	if err != nil {
		return newRules("", nil)
	}
	var layers []layer
	if content, ok := read(filepath.Join(gitFolder(git, read), "info", "exclude")); ok {
		layers = append(layers, layer{"", content})
	}
	prefix := ""
	if rel = filepath.ToSlash(rel); rel != "." {
		prefix = rel + "/"
		parts := strings.Split(rel, "/")
		for i := range parts {
			dir := strings.Join(parts[:i], "/")
			if content, ok := read(filepath.Join(top, filepath.FromSlash(dir), ".gitignore")); ok {
				layers = append(layers, layer{dir, content})
			}
			if newRules("", layers).ignored(strings.Join(parts[:i+1], "/"), true) {
				return newRules("", nil)
			}
		}
	}
	return newRules(prefix, layers)
}

// gitFolder follows the file that stands in place of .git in a worktree or a
// submodule to the folder that the repository shares.
func gitFolder(git string, read func(string) ([]byte, bool)) string {
	content, ok := read(git)
	if !ok { // a folder
		return git
	}
	to, found := strings.CutPrefix(strings.TrimSpace(string(content)), "gitdir: ")
	if !found {
		return git
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(git), to)
	}
	if common, ok := read(filepath.Join(to, "commondir")); ok {
		if dir := strings.TrimSpace(string(common)); filepath.IsAbs(dir) {
			return dir
		} else {
			return filepath.Join(to, dir)
		}
	}
	return to
}
