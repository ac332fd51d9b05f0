package resolve

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
)

// surroundings is what lies around a project root and decides what its requests may
// lead to. It is read once for all requests, of which a generated policy may have tens
// of thousands.
type surroundings struct {
	root   string // symlinks resolved
	listed map[string]bool
	levels []level // the root first, then every folder above it
	// known are the names that a mistyped one is compared with.
	known func() *dictionary
}

// level is a folder that may hold packages.
type level struct {
	modules string // its node_modules
	// names are what lies in there, in lower case since some file systems fold it; of
	// scopes also what lies in them. It is nil when the folder cannot be listed.
	names map[string]bool
	// own are the requests that the folder's package.json may answer itself: the
	// package's own name, and what its browser field replaces.
	own map[string]bool
	// virtual is set for a folder whose packages are found through a manifest of
	// Yarn's, and lie in no node_modules.
	virtual bool
}

func survey(root string) *surroundings {
	s := &surroundings{root: root, listed: listedDependencies(root)}
	for dir := root; ; dir = filepath.Dir(dir) {
		s.levels = append(s.levels, surveyLevel(dir))
		if dir == filepath.Dir(dir) {
			break
		}
	}
	s.known = sync.OnceValue(func() *dictionary {
		names := Installed(root)
		for name := range s.listed {
			names = append(names, name)
		}
		return newDictionary(names)
	})
	return s
}

func surveyLevel(dir string) level {
	l := level{modules: filepath.Join(dir, "node_modules"), own: map[string]bool{}}
	if _, err := os.ReadDir(l.modules); err == nil || errors.Is(err, fs.ErrNotExist) {
		l.names = map[string]bool{}
		for _, name := range Installed(dir) {
			name = strings.ToLower(name)
			l.names[name] = true
			l.names[strings.TrimSuffix(name, path.Ext(name))] = true // "a" finds a.js
		}
	}
	fields, _ := readManifest(filepath.Join(dir, "package.json"))
	var name string
	if json.Unmarshal(fields["name"], &name) == nil {
		l.own[name] = true
	}
	var browser map[string]json.RawMessage
	if json.Unmarshal(fields["browser"], &browser) == nil {
		for request := range browser {
			if name, _, ok := SplitRequest(request); ok {
				l.own[name] = true
			}
		}
	}
	for _, file := range []string{".pnp.cjs", ".pnp.js", ".pnp.data.json"} {
		_, err := os.Lstat(filepath.Join(dir, file))
		l.virtual = l.virtual || err == nil
	}
	return l
}

// mayHold reports whether a package may lie in the level's node_modules.
func (l level) mayHold(name string) bool { return l.names == nil || l.names[strings.ToLower(name)] }

// mayResolve reports whether the resolver has to be asked for a package. It need not
// where nothing of the name is anywhere around.
func (s *surroundings) mayResolve(name string) bool {
	for _, l := range s.levels {
		if l.virtual || l.own[name] || l.mayHold(name) {
			return true
		}
	}
	return false
}

// installedAt looks for a package's folder in the node_modules of the root and of
// every folder above it. An error says that something is there that is no folder.
func (s *surroundings) installedAt(name string) (string, bool, error) {
	for _, l := range s.levels {
		if !l.mayHold(name) {
			continue
		}
		candidate := filepath.Join(l.modules, filepath.FromSlash(name))
		info, err := os.Lstat(candidate)
		if err != nil {
			continue
		}
		real, err := filepath.EvalSymlinks(candidate)
		if err != nil {
			return "", false, fmt.Errorf("%s is a symbolic link that leads nowhere or in a circle", slashed(s.root, candidate))
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			info, err = os.Stat(real)
		}
		if err == nil && info.IsDir() {
			return real, true, nil
		}
	}
	return "", false, nil
}

// nearest returns the known package name that is closest to a mistyped one, or "".
func (s *surroundings) nearest(name string) string { return s.known().nearest(name) }
