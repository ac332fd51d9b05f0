package harness

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"io/fs"
	"path"
	"strings"
	"sync"
)

// assets holds what runs in the realm when the build put it there. The folder and not
// its files is embedded, so that the package compiles in a fresh checkout.
//
//go:embed all:assets
var assets embed.FS

// ErrNoModules says that the binary was built without the harness's JavaScript.
var ErrNoModules = errors.New("the test frameworks are not embedded in this build, so no test can run: run `make build`, which bundles them from runtime/harness/js")

// modules are the tool's own modules for bundles of tests, and the requests that they
// answer.
type modules struct {
	files    fs.FS
	provided map[string]string
}

var ownModules = sync.OnceValues(func() (modules, error) {
	files, err := fs.Sub(assets, "assets")
	if err != nil {
		return modules{}, err
	}
	if _, err := fs.Stat(files, "campaign.js"); err != nil {
		return modules{}, ErrNoModules
	}
	m := modules{files, map[string]string{}}
	err = fs.WalkDir(files, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(file) != ".js" {
			return err
		}
		name := strings.TrimSuffix(file, ".js")
		if builtin, ok := strings.CutPrefix(name, "node/"); ok {
			m.provided[builtin] = name
		}
		return nil
	})
	for _, f := range frameworks {
		for _, request := range f.requests {
			m.provided[request] = f.module
		}
	}
	return m, err
})

// Hash returns a hash of the tool's own modules, for cache keys.
var Hash = sync.OnceValue(func() string {
	sum := sha256.New()
	err := fs.WalkDir(assets, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(assets, file)
		sum.Write([]byte(file))
		sum.Write(content)
		return err
	})
	if err != nil {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
})
