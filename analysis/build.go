package analysis

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
)

// Build is the outcome of a build: what the check found, and the files that belong
// to the project's sandbox.
type Build struct {
	*Result
	Files []File // sorted by path
	// Stale lists the files whose content on disk differs from what a build writes
	// now, and those of an earlier build that belong to it no longer; after a build
	// that wrote, it is empty.
	Stale []string
	// Removed lists the files of an earlier build that this one took away.
	Removed []string
}

// Changed returns how many files the build found missing or different.
func (b *Build) Changed() int {
	n := 0
	for _, f := range b.Files {
		if f.Changed {
			n++
		}
	}
	return n
}

// File is one file of a build.
type File struct {
	Path    string // relative to the project root, slash-separated
	Content []byte
	// Changed says that the file on disk was missing or different.
	Changed bool
}

// Build checks the project and writes its bundles, proxies and manifest. With
// dryRun it writes nothing and only says what is stale.
//
// Nothing is written from a policy that could not be read whole. What a library's faults prevent is left out, and everything else is written: a
// broken library does not take the others' sandboxes away. A file is replaced in
// one step or not at all, and one whose content is right already is not touched.
func (sn *Snapshot) Build(ctx context.Context, dryRun bool, progress Progress) (*Build, error) {
	result, err := sn.Check(ctx, progress)
	if err != nil {
		return nil, err
	}
	build := &Build{Result: result}
	// What is missing from a policy that was read in part may be a revocation or a
	// limit: writing from it could widen authority, so what a whole policy gave stays.
	if result.Policy == nil || !result.Policy.Complete {
		return build, nil
	}
	if build.Files, err = sn.files(result); err != nil {
		return nil, err
	}
	out, err := openOutput(sn.root)
	if err != nil {
		return nil, err
	}
	defer out.close()
	before, err := out.written()
	if err != nil {
		return nil, err
	}
	for i := range build.Files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f := &build.Files[i]
		if f.Changed, err = out.differs(f.Path, f.Content); err != nil {
			return nil, err
		}
		switch {
		case !f.Changed:
		case dryRun:
			build.Stale = append(build.Stale, f.Path)
		default:
			if err := out.write(f.Path, f.Content); err != nil {
				return nil, err
			}
		}
	}
	left, err := out.leftBehind(before, build.Files)
	if err != nil {
		return nil, err
	}
	for _, path := range left {
		if dryRun {
			build.Stale = append(build.Stale, path)
			continue
		}
		if err := out.root.Remove(filepath.FromSlash(path)); err != nil {
			return nil, fmt.Errorf("remove %s, which belongs to no library of the policy: %w", path, err)
		}
		build.Removed = append(build.Removed, path)
	}
	return build, nil
}

// files returns what a build of the result consists of.
func (sn *Snapshot) files(result *Result) ([]File, error) {
	var files []File
	add := func(path string, content []byte) {
		files = append(files, File{Path: path, Content: content})
	}
	addScript := func(s *script) error {
		code, sourceMap, ok := sn.bytes(*s)
		if !ok {
			return fmt.Errorf("the cache lost %s, which it held a moment ago", s.File)
		}
		add(path.Join(OutputFolder, s.File), code)
		add(path.Join(OutputFolder, s.File+".map"), sourceMap)
		return nil
	}
	for _, l := range result.Libraries {
		if l.Resolved.Problem != nil {
			continue
		}
		if l.Bundle != nil {
			if err := addScript(l.Bundle); err != nil {
				return nil, err
			}
		}
		proxies, err := sn.proxiesOf(l)
		if err != nil {
			return nil, err
		}
		for _, p := range proxies {
			add(path.Join(ProxyFolder, p.name+".js"), p.output.JS)
			add(path.Join(ProxyFolder, p.name+".d.ts"), p.output.DTS)
			add(path.Join(ProxyFolder, p.name+".js.map"), p.output.Map)
		}
		for _, w := range l.Workloads {
			if w.Bundle != nil {
				if err := addScript(w.Bundle); err != nil {
					return nil, err
				}
			}
		}
	}
	manifest, err := sn.manifest(result, files)
	if err != nil {
		return nil, err
	}
	add(ManifestFile, manifest)
	slices.SortFunc(files, func(a, b File) int { return bytes.Compare([]byte(a.Path), []byte(b.Path)) })
	return files, nil
}

// output writes below the project root and nowhere else: every path is resolved by
// the operating system inside the root, so a symbolic link that leads out of it is
// refused rather than followed.
type output struct {
	root *os.Root
}

func openOutput(root string) (*output, error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("open the project for writing: %w", err)
	}
	return &output{r}, nil
}

func (o *output) close() { _ = o.root.Close() }

func (o *output) differs(name string, content []byte) (bool, error) {
	old, err := o.root.ReadFile(filepath.FromSlash(name))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("compare with %s: %w", name, err)
	}
	return !bytes.Equal(old, content), nil
}

// write replaces a file atomically: a reader, or a process that dies here, sees the
// old content or the new one.
func (o *output) write(name string, content []byte) error {
	name = filepath.FromSlash(name)
	if err := o.root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fmt.Errorf("make the folder of %s: %w", name, err)
	}
	temp := fmt.Sprintf("%s.%d.tmp", name, os.Getpid())
	err := o.root.WriteFile(temp, content, 0o644)
	if err == nil {
		err = o.root.Rename(temp, name)
	}
	if err != nil {
		_ = o.root.Remove(temp)
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// written lists the files that the manifest on disk speaks of, which is what the
// last build wrote. A manifest that cannot be read speaks of none.
func (o *output) written() ([]string, error) {
	raw, err := o.root.ReadFile(filepath.FromSlash(ManifestFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the last build's manifest: %w", err)
	}
	var m manifest
	if json.Unmarshal(raw, &m) != nil {
		return nil, nil
	}
	var files []string
	add := func(f *manifestFile, beside ...string) {
		if f == nil {
			return
		}
		files = append(files, f.Path)
		for _, extension := range beside {
			files = append(files, strings.TrimSuffix(f.Path, ".js")+extension)
		}
	}
	for _, l := range m.Libraries {
		add(l.Bundle, ".js.map")
		add(l.Proxy, ".d.ts", ".js.map")
		for _, w := range l.Workloads {
			add(w.Bundle, ".js.map")
			add(w.Proxy, ".d.ts", ".js.map")
		}
	}
	return files, nil
}

// leftBehind returns the files of the last build that the new one does not have: a
// library that left the policy must not leave a working sandbox with its old
// authority. Only what lies in the output folders and is there counts, since a
// manifest is a file that anybody may have edited.
func (o *output) leftBehind(before []string, now []File) ([]string, error) {
	kept := map[string]bool{}
	for _, f := range now {
		kept[f.Path] = true
	}
	var left []string
	for _, name := range before {
		folder := path.Dir(path.Clean(name))
		if kept[name] || path.Clean(name) != name || folder != OutputFolder && folder != ProxyFolder {
			continue
		}
		info, err := o.root.Lstat(filepath.FromSlash(name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, fmt.Errorf("look for %s of the last build: %w", name, err)
		case info.Mode().IsRegular():
			left = append(left, name)
		}
	}
	slices.Sort(left)
	return slices.Compact(left), nil
}

// Proxy returns the generated proxy for a request as it would be written now: a
// library's, or a workload's under `sandbox-workload/<library>/<workload>`.
func (sn *Snapshot) Proxy(ctx context.Context, request string) (Preview, error) {
	result, err := sn.Check(ctx, nil)
	if err != nil {
		return Preview{}, err
	}
	for _, l := range result.Libraries {
		for _, w := range l.Workloads {
			if request != "sandbox-workload/"+l.Policy.Name+"/"+w.Policy.Name {
				continue
			}
			if w.Bundle == nil {
				return Preview{}, fmt.Errorf("workload %q has no bundle; see the findings of the policy", w.Policy.Name)
			}
			output, err := sn.workloadProxy(l, w)
			return Preview{Text: string(output.JS), LanguageID: "javascript"}, err
		}
		if request != l.Policy.Name {
			continue
		}
		if l.Resolved.Problem != nil {
			return Preview{}, fmt.Errorf("%q does not resolve to a package; see the findings of the policy", request)
		}
		output, err := sn.proxyOf(l)
		return Preview{Text: string(output.JS), LanguageID: "javascript"}, err
	}
	if worst := finding.Worst(result.Findings); len(result.Libraries) == 0 && worst == finding.Error {
		return Preview{}, fmt.Errorf("the policy cannot be read: %s", result.Findings[0].Message)
	}
	return Preview{}, fmt.Errorf("the policy has no library %q", request)
}
