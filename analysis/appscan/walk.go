package appscan

import (
	"context"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sourcegraph/conc/iter"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
)

// extensions are those of source files. Components hold scripts between other text.
var extensions = map[string]bool{
	".js": true, ".mjs": true, ".cjs": true, ".jsx": true, ".ts": true, ".mts": true, ".cts": true, ".tsx": true,
	".vue": true, ".svelte": true, ".astro": true,
}

// foreign are the folders that hold no code of the project's own, whatever git says:
// packages, what a build writes, the policy's folder, the tools' own files.
var foreign = map[string]bool{"node_modules": true, "dist": true, policy.Folder: true, ".git": true, ".yarn": true}

// isSource reports whether a file is looked at. Declarations are gone at run time.
func isSource(name string) bool {
	for _, declaration := range []string{".d.ts", ".d.mts", ".d.cts"} {
		if strings.HasSuffix(name, declaration) {
			return false
		}
	}
	return extensions[path.Ext(name)]
}

// isManifest reports whether a file may define aliases.
func isManifest(name string) bool {
	return name == "package.json" || name == "jsconfig.json" || strings.HasPrefix(name, "tsconfig") && strings.HasSuffix(name, ".json")
}

// tree is what a walk found below a root. Paths in it are slash-separated and
// relative to the root.
type tree struct {
	files     []source
	manifests []string
	modules   map[string]bool // the folders that have a node_modules
	truncated bool
}

// source is one file with what tells whether it has changed.
type source struct {
	rel     string
	size    int64
	changed int64 // nanoseconds since 1970
	open    bool  // the overlay has it
}

// walker reads the folders of a project, one level of the tree after the other and
// the folders of a level side by side. Symbolic links are not followed: what they
// lead to inside of the root is found in its own place, and nothing outside of it is
// the project's.
type walker struct {
	root    string
	overlay map[string]string
	skip    map[string]bool // folders of sandboxed packages
	limit   int
	jobs    int
	log     *slog.Logger
}

// folder is one folder to read.
type folder struct {
	rel   string // "" for the root
	rules *rules
}

// listing is what one folder holds.
type listing struct {
	folders   []folder
	files     []source
	manifests []string
	modules   bool
}

func (w *walker) walk(ctx context.Context) (*tree, error) {
	if _, err := os.Stat(w.root); err != nil {
		return nil, err
	}
	t := &tree{modules: map[string]bool{}}
	pending := w.pending()
	level := []folder{{"", outerRules(w.root, w.read)}}
	for len(level) > 0 {
		listings := iter.Mapper[folder, listing]{MaxGoroutines: w.jobs}.Map(level, func(f *folder) listing {
			if ctx.Err() != nil {
				return listing{}
			}
			return w.list(*f, pending[f.rel])
		})
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var next []folder
		for i, l := range listings {
			t.files = append(t.files, l.files...)
			t.manifests = append(t.manifests, l.manifests...)
			next = append(next, l.folders...)
			if l.modules {
				t.modules[level[i].rel] = true
			}
		}
		if len(t.files) > w.limit {
			t.files, t.truncated = t.files[:w.limit], true
			w.log.Warn("the project has more source files than are looked at", "root", w.root, "limit", w.limit)
			break
		}
		level = next
	}
	slices.SortFunc(t.files, func(a, b source) int { return strings.Compare(a.rel, b.rel) })
	slices.Sort(t.manifests)
	return t, nil
}

// pending returns the open documents below the root by folder, for those that are
// not on disk yet.
func (w *walker) pending() map[string][]string {
	pending := map[string][]string{}
	for file := range w.overlay {
		rel, err := filepath.Rel(w.root, file)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		rel = filepath.ToSlash(rel)
		dir := path.Dir(rel)
		if dir == "." {
			dir = ""
		}
		pending[dir] = append(pending[dir], path.Base(rel))
	}
	return pending
}

// list reads one folder. A folder that cannot be read holds nothing: it is as hidden
// from a bundler.
func (w *walker) list(f folder, pending []string) listing {
	entries, err := os.ReadDir(filepath.Join(w.root, filepath.FromSlash(f.rel)))
	if err != nil {
		w.log.Debug("a folder cannot be read", "folder", f.rel, "error", err)
		return listing{}
	}
	if f.rel != "" && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.IsDir() && e.Name() == policy.Folder }) {
		return listing{} // a project of its own
	}
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ".gitignore" }) || slices.Contains(pending, ".gitignore") {
		if content, ok := w.read(filepath.Join(w.root, filepath.FromSlash(f.rel), ".gitignore")); ok {
			f.rules = f.rules.with(f.rel, content)
		}
	}
	var out listing
	for _, entry := range entries {
		name := entry.Name()
		rel := path.Join(f.rel, name)
		switch {
		case entry.IsDir():
			out.modules = out.modules || name == "node_modules"
			if !foreign[name] && !w.skip[rel] && !f.rules.ignored(rel, true) {
				out.folders = append(out.folders, folder{rel, f.rules})
			}
		case !entry.Type().IsRegular():
			out.modules = out.modules || name == "node_modules" // a link to a store
		case isManifest(name):
			out.manifests = append(out.manifests, rel)
		case isSource(name) && !f.rules.ignored(rel, false):
			if s, ok := w.source(rel, entry); ok {
				out.files = append(out.files, s)
			}
		}
	}
	for _, name := range pending {
		onDisk := slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name })
		if rel := path.Join(f.rel, name); !onDisk && isSource(name) && !f.rules.ignored(rel, false) {
			out.files = append(out.files, source{rel: rel, open: true})
		}
	}
	return out
}

// source describes a file, or reports false for one that is not looked at.
func (w *walker) source(rel string, entry fs.DirEntry) (source, bool) {
	if text, open := w.overlay[w.abs(rel)]; open {
		return source{rel: rel, open: true}, len(text) <= maxBytes
	}
	info, err := entry.Info()
	if err != nil { // gone since
		return source{}, false
	}
	if info.Size() > maxBytes {
		w.log.Debug("a file is too large to be looked at", "file", rel, "bytes", info.Size())
		return source{}, false
	}
	return source{rel: rel, size: info.Size(), changed: info.ModTime().UnixNano()}, true
}

func (w *walker) abs(rel string) string { return filepath.Join(w.root, filepath.FromSlash(rel)) }

// read returns a file as the scan sees it. It reports false for what is too large or
// no regular file; git, too, does not follow a link in place of an ignore file.
func (w *walker) read(file string) ([]byte, bool) {
	if text, open := w.overlay[file]; open {
		return []byte(text), true
	}
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxBytes {
		return nil, false
	}
	content, err := os.ReadFile(file)
	return content, err == nil
}
