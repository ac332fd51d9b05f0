package analysis

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
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
	// Kept names the libraries that could not be bundled now and whose files are
	// those of the last build.
	Kept []string
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
// Nothing is written from a policy that could not be read whole. A library that
// cannot be bundled keeps what the last build made of it while the policy gives it
// the same authority, and everything else is written: a broken library takes neither
// its own sandbox away nor those of the others. A file is replaced in one step or
// not at all, and one whose content is right already is not touched. An error means
// that no file was replaced, unless it says otherwise.
func (sn *Snapshot) Build(ctx context.Context, dryRun bool, progress Progress) (*Build, error) {
	// What is on disk is about to be replaced, so how it differs is no finding.
	result, err := sn.check(ctx, progress, stages{load: true})
	if err != nil {
		return nil, err
	}
	build := &Build{Result: result}
	// What is missing from a policy that was read in part may be a revocation or a
	// limit: writing from it could widen authority, so what a whole policy gave stays.
	if result.Policy == nil || !result.Policy.Complete || exportsNoPolicy(result.Policy) {
		return build, nil
	}
	out, err := openOutput(sn.root)
	if err != nil {
		return nil, err
	}
	defer out.close()
	last, err := out.lastBuild()
	if err != nil {
		return nil, err
	}
	if err := sn.compose(build, out, last); err != nil {
		return nil, err
	}
	var changed []File
	for i := range build.Files {
		f := &build.Files[i]
		if f.Changed, err = out.differs(f.Path, f.Content); err != nil {
			return nil, err
		}
		if f.Changed {
			changed = append(changed, *f)
		}
	}
	left, err := out.leftBehind(last.files(), build.Files)
	if err != nil {
		return nil, err
	}
	if dryRun {
		for _, f := range changed {
			build.Stale = append(build.Stale, f.Path)
		}
		build.Stale = append(build.Stale, left...)
		return build, nil
	}
	if err := out.replace(ctx, changed); err != nil {
		return nil, err
	}
	build.Removed = left
	return build, out.remove(left)
}

// exportsNoPolicy reports whether a policy file exports something else. It names no
// library, but an empty file is a slip and not the wish to have no sandbox.
func exportsNoPolicy(p *policy.Policy) bool {
	return slices.ContainsFunc(p.Findings, func(f finding.Finding) bool { return f.Code == finding.PolicyNotAnObject })
}

// compose fills in the files that a build of the result consists of.
func (sn *Snapshot) compose(build *Build, out *output, last manifest) error {
	var kept []manifestLibrary
	add := func(path string, content []byte) {
		build.Files = append(build.Files, File{Path: path, Content: content})
	}
	addScript := func(s *script) error {
		code, sourceMap, ok := sn.bytes(*s)
		if !ok {
			return fmt.Errorf("keep %s until it is written: the cache has lost it; free some memory or disk space and build again", s.File)
		}
		add(path.Join(OutputFolder, s.File), code)
		add(path.Join(OutputFolder, s.File+".map"), sourceMap)
		return nil
	}
	for _, l := range build.Libraries {
		if l.Bundle == nil {
			entry, files, err := out.standing(last, l)
			if err != nil {
				return err
			}
			if files != nil {
				kept = append(kept, entry)
				build.Files = append(build.Files, files...)
				build.Kept = append(build.Kept, l.Policy.Name)
				continue
			}
		}
		if l.Resolved.Problem != nil {
			continue
		}
		if l.Bundle != nil {
			if err := addScript(l.Bundle); err != nil {
				return err
			}
			if bytecode := l.bytecode(); bytecode != nil {
				add(bytecodeFile(l.Policy.Name), bytecode)
			}
		}
		proxies, err := sn.proxiesOf(l)
		if err != nil {
			return err
		}
		for _, p := range proxies {
			add(path.Join(ProxyFolder, p.name+".js"), p.output.JS)
			add(path.Join(ProxyFolder, p.name+".d.ts"), p.output.DTS)
			add(path.Join(ProxyFolder, p.name+".js.map"), p.output.Map)
		}
		for _, w := range l.Workloads {
			if w.Bundle != nil {
				if err := addScript(w.Bundle); err != nil {
					return err
				}
			}
		}
	}
	manifest, err := sn.manifest(build.Result, build.Files, kept)
	if err != nil {
		return err
	}
	add(ManifestFile, manifest)
	slices.SortFunc(build.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return nil
}

// Proxy returns the generated proxy for a request as it would be written now: a
// library's, a subpath's that the application imports, or a workload's under `sandbox-workload/<library>/<workload>`.
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
		for _, s := range l.Subpaths {
			if request == s.Request {
				output, err := sn.subpathProxy(l, s)
				return Preview{Text: string(output.JS), LanguageID: "javascript"}, err
			}
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
