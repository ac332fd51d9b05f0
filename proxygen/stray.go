package proxygen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy/resolve"
)

const (
	// maxWalk bounds how many entries of a folder are looked at.
	maxWalk = 20_000
	// maxStrays bounds how many files are tried for one request.
	maxStrays = 8
	// maxAmbient bounds the size of a file that is searched for ambient modules.
	maxAmbient = 1 << 20
)

// stray is a declaration file that the package's own manifest does not lead to.
type stray struct {
	file      string // absolute
	specifier string // how the probe imports it
}

// strays returns the declaration files below the request's package, the likeliest
// first: those named as the request, then index files, then the nearest to the
// package's root, then by name.
func strays(ctx context.Context, root, request string) ([]stray, error) {
	name, subpath, ok := resolve.SplitRequest(request)
	if !ok {
		return nil, nil
	}
	var folders []string
	types := path.Join("@types", strings.ReplaceAll(strings.TrimPrefix(name, "@"), "/", "__"))
	for _, candidate := range []string{name, types} {
		if dir := installed(root, candidate); dir != "" {
			folders = append(folders, dir)
		}
	}
	var out []stray
	for _, dir := range folders {
		files, err := declarationFiles(ctx, dir)
		if err != nil {
			return nil, fmt.Errorf("look for declarations of %s: %w", request, err)
		}
		want := strings.TrimPrefix(subpath, "./")
		if subpath != "" {
			files = slices.DeleteFunc(files, func(f string) bool {
				base := withoutExtension(f)
				return base != want && base != want+"/index" && !strings.HasSuffix(base, "/"+want)
			})
		}
		last := path.Base(name)
		rank := func(f string) int {
			switch base := withoutExtension(f); {
			case subpath != "" && base == want:
				return 0
			case path.Base(base) == "index":
				return 1
			case path.Base(base) == last:
				return 2
			}
			return 3
		}
		slices.SortFunc(files, func(a, b string) int {
			return cmp.Or(cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")), cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
		})
		for _, f := range files[:min(len(files), maxStrays)] {
			file := filepath.Join(dir, filepath.FromSlash(f))
			out = append(out, stray{file: file, specifier: moduleSpecifier(filepath.ToSlash(file))})
		}
	}
	return out, nil
}

// installed returns the folder of a package, searched upwards from the root, or "".
func installed(root, name string) string {
	for dir := root; ; dir = filepath.Dir(dir) {
		candidate := filepath.Join(dir, "node_modules", filepath.FromSlash(name))
		if info, err := os.Stat(candidate); err == nil && info.IsDir() {
			return candidate
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// declarationFiles lists the declaration files below a folder, slash-separated and
// relative to it, packages nested in it left out.
func declarationFiles(ctx context.Context, dir string) ([]string, error) {
	var out []string
	entries := 0
	err := filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what cannot be listed holds no declarations for us
		}
		if entries++; entries > maxWalk {
			return filepath.SkipAll
		}
		if entries%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if entry.IsDir() {
			if name := entry.Name(); file != dir && (name == "node_modules" || strings.HasPrefix(name, ".")) {
				return filepath.SkipDir
			}
			return nil
		}
		if isDeclaration(entry.Name()) && entry.Type().IsRegular() {
			rel, err := filepath.Rel(dir, file)
			if err != nil {
				return err
			}
			out = append(out, filepath.ToSlash(rel))
		}
		return nil
	})
	return out, err
}

func isDeclaration(name string) bool {
	return strings.HasSuffix(name, ".d.ts") || strings.HasSuffix(name, ".d.mts") || strings.HasSuffix(name, ".d.cts")
}

// withoutExtension takes .d.ts and its kin off a name.
func withoutExtension(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, path.Ext(name)), ".d")
}

// moduleSpecifier returns how an import names a TypeScript file by its path: by the
// JavaScript file that would stand beside it.
func moduleSpecifier(file string) string {
	switch ext := path.Ext(file); ext {
	case ".mts", ".cts":
		return withoutExtension(file) + "." + ext[1:2] + "js"
	default:
		return withoutExtension(file) + ".js"
	}
}

// ambientFiles finds the files of the project itself that declare the requests with
// `declare module "…"`, the first by path for each.
func ambientFiles(ctx context.Context, root string, requests []string) (map[string]string, error) {
	files, err := declarationFiles(ctx, root)
	if err != nil {
		return nil, fmt.Errorf("look for ambient declarations: %w", err)
	}
	slices.Sort(files)
	found := map[string]string{}
	for _, f := range files {
		file := filepath.Join(root, filepath.FromSlash(f))
		content, err := readBounded(file, maxAmbient)
		if err != nil {
			continue
		}
		for _, request := range requests {
			_, done := found[request]
			if !done && (strings.Contains(content, `module "`+request+`"`) || strings.Contains(content, `module '`+request+`'`)) {
				found[request] = file
			}
		}
	}
	return found, nil
}

var errTooLarge = errors.New("too large")

func readBounded(file string, limit int64) (string, error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", err
	}
	if info.Size() > limit {
		return "", errTooLarge
	}
	content, err := os.ReadFile(file)
	return string(content), err
}
