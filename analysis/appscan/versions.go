package appscan

import (
	"path"
	"path/filepath"

	"github.com/sandbox-lsp/sandbox-lsp/policy/resolve"
)

// versions answers what Node would load from a folder. Only folders with a
// node_modules of their own between the file and the root can make a difference;
// everything else resolves as the policy does.
type versions struct {
	root      string
	modules   map[string]bool
	libraries []Library
}

// other returns the package that Node would take for a library from a folder, if
// that is another version than the one in the sandbox.
func (v *versions) other(dir, library string) *resolve.Package {
	name, _, ok := resolve.SplitRequest(library)
	if !ok {
		return nil
	}
	for ; dir != "." && dir != ""; dir = path.Dir(dir) {
		if !v.modules[dir] {
			continue
		}
		here, ok := resolve.In(filepath.Join(v.root, filepath.FromSlash(dir)), name)
		if !ok {
			continue
		}
		for _, l := range v.libraries {
			if l.Name == library && l.Package.Dir != "" && l.Package.Dir != here.Dir && (here.Version != l.Package.Version || here.Name != l.Package.Name) {
				return &here
			}
		}
		return nil
	}
	return nil
}
