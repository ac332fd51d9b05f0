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
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

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
		return false, refused("compare with "+name, err)
	}
	return !bytes.Equal(old, content), nil
}

// replace gives files new content. All of it is on the disk, beside the old files,
// before the first one is replaced: a full disk or a folder that may not be written
// leaves everything as it was. The manifest goes last, so that whatever it vouches
// for is there.
func (o *output) replace(ctx context.Context, files []File) error {
	if err := o.sweep(); err != nil {
		return err
	}
	var staged []string
	defer func() {
		for _, temp := range staged {
			_ = o.root.Remove(temp) // those that were renamed are gone already
		}
	}()
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		name := filepath.FromSlash(f.Path)
		if err := o.root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return refused("make the folder of "+f.Path, err)
		}
		temp := fmt.Sprintf("%s.%d.tmp", name, os.Getpid())
		staged = append(staged, temp)
		if err := o.create(temp, f.Content); err != nil {
			return refused("write "+f.Path, err)
		}
	}
	last := -1
	for i, f := range files {
		if f.Path == ManifestFile {
			last = i
			continue
		}
		if err := o.rename(staged[i], f.Path); err != nil {
			return err
		}
	}
	if last >= 0 {
		return o.rename(staged[last], ManifestFile)
	}
	return nil
}

// create makes a file that is not there. A left-over of a process that had the same
// id is cleared away; a link in its place is never followed.
func (o *output) create(name string, content []byte) error {
	const flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	f, err := o.root.OpenFile(name, flags, 0o644)
	if errors.Is(err, fs.ErrExist) {
		if err := o.root.Remove(name); err != nil {
			return err
		}
		f, err = o.root.OpenFile(name, flags, 0o644)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

func (o *output) rename(temp, name string) error {
	if err := o.root.Rename(temp, filepath.FromSlash(name)); err != nil {
		return fmt.Errorf("replace %s: %w; what stands before it in the order of names is new already, so build again once this is mended", name, err)
	}
	return nil
}

// remove takes away files that belong to no library of the policy.
func (o *output) remove(files []string) error {
	for _, name := range files {
		if err := o.root.Remove(filepath.FromSlash(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove %s, which belongs to no library of the policy: %w; remove it by hand, since it still is a sandbox with its old authority", name, err)
		}
	}
	return nil
}

// leftover matches what a build that was killed leaves in the output folders, with
// the id of its process.
var leftover = regexp.MustCompile(`^(?:.+(?:\.bundle\.js|\.bundle\.js\.map|-proxy\.js|-proxy\.d\.ts|-proxy\.js\.map)|sandbox-manifest\.json)\.(\d+)\.tmp$`)

// sweep removes the unfinished files of builds whose process has ended.
func (o *output) sweep() error {
	for _, folder := range []string{OutputFolder, ProxyFolder} {
		entries, err := fs.ReadDir(o.root.FS(), folder)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return refused("look into "+folder, err)
		}
		for _, entry := range entries {
			m := leftover.FindStringSubmatch(entry.Name())
			if m == nil || !entry.Type().IsRegular() {
				continue
			}
			if pid, err := strconv.Atoi(m[1]); err != nil || running(pid) {
				continue
			}
			name := path.Join(folder, entry.Name())
			if err := o.root.Remove(filepath.FromSlash(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return refused("remove "+name+", which a build that was killed has left", err)
			}
		}
	}
	return nil
}

// running reports whether a process may still be at work.
func running(pid int) bool {
	process, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = process.Release() }()
	if runtime.GOOS == "windows" {
		return true // the process was found, and signals are not known there
	}
	err = process.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, fs.ErrPermission)
}

// refused says why a file could not be written, and what may be done about it.
func refused(what string, err error) error {
	var advice string
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		advice = "the disk is full; free some space and build again"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		advice = "the user who builds needs the right to write there"
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR), errors.Is(err, fs.ErrExist):
		advice = "a file stands where a folder belongs, or the other way round; move it away and build again"
	case strings.Contains(err.Error(), "escapes"): // os.Root's error has no name
		advice = "a symbolic link leads out of the project, where a build never writes; put a real folder or file in its place"
	default:
		advice = "mend that and build again"
	}
	return fmt.Errorf("%s: %w: %s. Nothing was replaced: the files of the last build are as they were", what, err, advice)
}

// lastBuild returns the manifest on disk, which says what the last build wrote. One
// that cannot be parsed says nothing.
func (o *output) lastBuild() (manifest, error) {
	raw, err := o.root.ReadFile(filepath.FromSlash(ManifestFile))
	if errors.Is(err, fs.ErrNotExist) {
		return manifest{}, nil
	}
	if err != nil {
		return manifest{}, refused("read the last build's "+ManifestFile, err)
	}
	var m manifest
	if json.Unmarshal(raw, &m) != nil {
		return manifest{}, nil
	}
	return m, nil
}

// standing returns what the last build made of a library that cannot be bundled now,
// and the manifest's entry for it. It returns no files when there are none, when
// they are not what that build wrote, or when the policy's grants are not the same
// any more: an old sandbox must not outlive the authority that it was built with.
func (o *output) standing(last manifest, l *Library) (manifestLibrary, []File, error) {
	now := manifestEntry(l)
	at := slices.IndexFunc(last.Libraries, func(entry manifestLibrary) bool { return entry.Request == now.Request })
	if at < 0 {
		return manifestLibrary{}, nil, nil
	}
	entry := last.Libraries[at]
	if !sameAuthority(entry, now) || !entry.inPlace() {
		return manifestLibrary{}, nil, nil
	}
	var files []File
	for _, f := range entry.files() {
		content, err := o.root.ReadFile(filepath.FromSlash(f.Path))
		switch {
		case errors.Is(err, fs.ErrNotExist) && f.SHA256 == "":
			continue
		case errors.Is(err, fs.ErrNotExist):
			return manifestLibrary{}, nil, nil
		case err != nil:
			return manifestLibrary{}, nil, refused("read "+f.Path+" of the last build", err)
		case f.SHA256 != "" && f.SHA256 != hashOf(content):
			return manifestLibrary{}, nil, nil
		}
		files = append(files, File{Path: f.Path, Content: content})
	}
	return entry, files, nil
}

// leftBehind returns the files of the last build that the new one does not have: a
// library that left the policy must not leave a working sandbox with its old
// authority. Only what lies in the output folders and is there counts, since a
// manifest is a file that anybody may have edited.
func (o *output) leftBehind(before []manifestFile, now []File) ([]string, error) {
	kept := map[string]bool{}
	for _, f := range now {
		kept[f.Path] = true
	}
	var left []string
	for _, f := range before {
		folder := path.Dir(path.Clean(f.Path))
		if kept[f.Path] || path.Clean(f.Path) != f.Path || folder != OutputFolder && folder != ProxyFolder {
			continue
		}
		info, err := o.root.Lstat(filepath.FromSlash(f.Path))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, refused("look for "+f.Path+" of the last build", err)
		case info.Mode().IsRegular():
			left = append(left, f.Path)
		}
	}
	slices.Sort(left)
	return slices.Compact(left), nil
}
