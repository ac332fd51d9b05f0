package appscan

import (
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
// Where the matcher differs from git it takes a negated pattern for everything below
// it, and so scans a file that git would ignore, never the other way round. The
// user's global ignore file is not read: a finding must not depend on who looks.
type rules struct {
	prefix  string // the project root below the folder that paths are relative to, with a slash at its end, or ""
	layers  []layer
	matcher *gitignore.Matcher
}

// layer is one ignore file.
type layer struct {
	dir     string // where it stands, relative to the repository
	content []byte
}

// with adds an ignore file in a folder of the project.
func (r *rules) with(dir string, content []byte) *rules {
	if dir = path.Clean(r.prefix + dir); dir == "." {
		dir = ""
	}
	return newRules(r.prefix, append(slices.Clip(slices.Clone(r.layers)), layer{dir, content}))
}

func newRules(prefix string, layers []layer) *rules {
	r := &rules{prefix: prefix, layers: layers, matcher: &gitignore.Matcher{}}
	for _, l := range layers {
		r.matcher.AddPatterns(l.content, l.dir)
	}
	return r
}

// ignored reports whether git would ignore a path, slash-separated and relative to
// the project root, none of whose parents it ignores.
func (r *rules) ignored(rel string, isDir bool) bool {
	return len(r.layers) > 0 && r.matcher.MatchPath(r.prefix+rel, isDir)
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
