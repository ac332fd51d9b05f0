package resolve

import (
	"os"
	"path/filepath"
)

// In returns the package of the given name in a folder's own node_modules, without
// looking at the folders above. It reports false when there is none, or none whose
// package.json can be read.
func In(dir, name string) (Package, bool) {
	candidate := filepath.Join(dir, "node_modules", filepath.FromSlash(name))
	if info, err := os.Stat(candidate); err != nil || !info.IsDir() {
		return Package{}, false
	}
	real, err := filepath.EvalSymlinks(candidate)
	if err != nil {
		return Package{}, false
	}
	pkg, err := readPackage(real)
	return pkg, err == nil
}
