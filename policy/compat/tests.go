package compat

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/resolve"
)

// Bounds on a pattern, which anybody may have written. Each brace multiplies what has
// to be looked at.
const (
	maxPattern = 1000
	maxBraces  = 8
)

// maxEntries bounds how many names of the disk one pattern may be held against.
const maxEntries = 500_000

// ErrTooMany says that a pattern reaches over more files than are looked at.
var ErrTooMany = fmt.Errorf("the pattern reaches over more than %d files", maxEntries)

// clean returns a pattern in the form that matching takes, or why it has none.
func clean(pattern string) (cleaned, why string) {
	cleaned = pattern
	for strings.HasPrefix(cleaned, "./") {
		cleaned = strings.TrimLeft(cleaned[1:], "/")
	}
	switch {
	case strings.Contains(cleaned, `\`):
		return "", "write / between folders, on Windows too."
	case path.IsAbs(cleaned) || len(cleaned) > 1 && cleaned[1] == ':':
		return "", "it is not relative to the project root."
	case slices.Contains(strings.Split(cleaned, "/"), ".."):
		return "", "it leads out of the project. Tests have to lie in the project, or in its node_modules."
	case strings.HasPrefix(cleaned, "!"):
		return "", "files cannot be excluded. List what to run."
	case cleaned == "" || strings.HasSuffix(cleaned, "/"):
		return "", "it names a folder. Say which files in it, such as " + cleaned + "*.js."
	case len(cleaned) > maxPattern || strings.Count(cleaned, "{") > maxBraces:
		return "", fmt.Sprintf("it is longer than %d characters or has more than %d braces. Split it.", maxPattern, maxBraces)
	case !doublestar.ValidatePattern(cleaned):
		return "", "a bracket or a brace in it is not closed."
	}
	return cleaned, ""
}

// Files returns the files that a pattern of a manifest matches below a root,
// slash-separated, relative and sorted. Symbolic links are followed where the pattern
// spells them out, as those that package managers put into node_modules, and not by
// its wildcards. ErrTooMany and the context's error come with what was found so far.
func Files(ctx context.Context, root, pattern string) ([]string, error) {
	return files(ctx, root, pattern, 0)
}

// files is Files, ending at the first so many when limit is above 0.
func files(ctx context.Context, root, pattern string, limit int) ([]string, error) {
	seen := map[string]bool{} // alternatives may overlap
	disk := &boundedFS{FS: os.DirFS(root), ctx: ctx, left: maxEntries}
	err := doublestar.GlobWalk(disk, pattern, func(name string, entry fs.DirEntry) error {
		if entry.Type()&fs.ModeSymlink != 0 {
			if info, err := fs.Stat(disk, name); err != nil || !info.Mode().IsRegular() {
				return nil
			}
		}
		seen[name] = true
		if len(seen) == limit {
			return fs.SkipAll
		}
		return nil
	}, doublestar.WithFilesOnly(), doublestar.WithNoFollow(), doublestar.WithFailOnIOErrors())
	if errors.Is(err, fs.SkipAll) {
		err = nil
	}
	names := make([]string, 0, len(seen))
	for name := range seen {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, err
}

// boundedFS ends a walk at its context's end or when it has seen too much. What
// cannot be read is as good as not there.
type boundedFS struct {
	fs.FS
	ctx  context.Context
	left int
}

func (b *boundedFS) spend(n int) error {
	if err := b.ctx.Err(); err != nil {
		return err
	}
	if b.left -= n; b.left < 0 {
		return ErrTooMany
	}
	return nil
}

// ReadDir implements fs.ReadDirFS.
func (b *boundedFS) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(b.FS, name)
	if over := b.spend(len(entries) + 1); over != nil {
		return nil, over
	}
	if err != nil {
		return nil, fs.ErrNotExist
	}
	return entries, nil
}

// Stat implements fs.StatFS.
func (b *boundedFS) Stat(name string) (fs.FileInfo, error) {
	if over := b.spend(1); over != nil {
		return nil, over
	}
	info, err := fs.Stat(b.FS, name)
	if err != nil {
		return nil, fs.ErrNotExist
	}
	return info, nil
}

// Check holds the manifest against the policy and the disk: libraries that the policy
// does not have, patterns that match no file. It looks at the disk, so it is not for
// every keystroke. A nil policy is not held against. The only error is the context's.
func (m *Manifest) Check(ctx context.Context, root string, p *policy.Policy) ([]finding.Finding, error) {
	var findings []finding.Finding
	add := func(l Library, f finding.Finding) {
		f.Code, f.Severity, f.File = finding.BadCompatManifest, finding.Error, m.name
		f.Data = map[string]string{"library": l.Name}
		findings = append(findings, f)
	}
	for _, l := range m.Libraries {
		// A policy that is not known in full may have the library all the same.
		if p != nil && p.Complete {
			if why, suggestion := unknown(l.Name, p); why != "" {
				add(l, finding.Finding{Range: m.Mapper.Range(l.KeySpan), Message: why})
				if suggestion != "" {
					findings[len(findings)-1].Data["suggestion"] = suggestion
				}
			}
		}
		for _, g := range l.Tests {
			found, err := files(ctx, root, g.Text, 1)
			switch {
			case ctx.Err() != nil:
				return nil, ctx.Err()
			case errors.Is(err, ErrTooMany) && len(found) == 0:
				add(l, finding.Finding{Range: m.Mapper.Range(g.Span), Message: fmt.Sprintf("%q reaches over more than %d files, and none of those that were looked at matches. Name the folder that the tests lie in.", g.Text, maxEntries)})
			case len(found) == 0:
				add(l, finding.Finding{Range: m.Mapper.Range(g.Span), Message: fmt.Sprintf("No file matches %q, so a run would pass without running it. Patterns start at the project root%s.", g.Text, missing(root, g.Text))})
			}
		}
	}
	return finding.Sort(findings), nil
}

// unknown says that the policy does not have a library, or "" when it does.
func unknown(name string, p *policy.Policy) (why, suggestion string) {
	if _, ok := p.Library(name); ok {
		return "", ""
	}
	names := make([]string, len(p.Libraries))
	for i, l := range p.Libraries {
		names[i] = l.Name
	}
	hint := "Add it to the policy, or remove it here."
	if suggestion = resolve.Nearest(name, names); suggestion != "" {
		hint = fmt.Sprintf("Did you mean %q?", suggestion)
	}
	return fmt.Sprintf("The policy does not sandbox %q, so there is nothing to test its compatibility with. %s", name, hint), suggestion
}

// missing names the first folder on a pattern's way that does not exist, for the end
// of a sentence.
func missing(root, pattern string) string {
	base, _ := doublestar.SplitPattern(pattern)
	at := ""
	for _, part := range strings.Split(base, "/") {
		if strings.ContainsAny(part, "*?[{") {
			break
		}
		at = path.Join(at, part)
		if _, err := fs.Stat(os.DirFS(root), at); err != nil {
			return "; there is no " + at
		}
	}
	return ""
}
