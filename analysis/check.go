package analysis

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sourcegraph/conc/pool"

	"github.com/sandbox-lsp/sandbox-lsp/analysis/appscan"
	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/compat"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/resolve"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
	"github.com/sandbox-lsp/sandbox-lsp/proxygen"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/bundle"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/load"
)

// maxPolicyBytes bounds what is read as a policy; a policy of a thousand libraries
// has a tenth of it.
const maxPolicyBytes = 16 << 20

// Result is what a check knows of a project.
type Result struct {
	Root      string
	Policy    *policy.Policy // nil when the file could not be read at all
	Libraries []*Library     // in the policy's order
	Findings  []finding.Finding
	// Suppressed are the findings that a comment accepts; their Data says why.
	Suppressed []finding.Finding
	// Unsandboxed are dependencies that application code imports and the policy does
	// not have; filled in on request.
	Unsandboxed []appscan.Dependency
}

// Library is what a check knows of one library. Fields of stages that did not run,
// because an earlier one failed, are zero.
type Library struct {
	Policy    policy.Library
	Resolved  resolve.Result
	Bundle    *script
	Load      *load.Result
	Model     *proxygen.Model
	Workloads []*Workload
	// Subpaths are the requests below the library's that the application imports and
	// the policy has redirected, by name.
	Subpaths []*Subpath
	// Authority is what the library and its workloads take from the global object by
	// their code, Touches what they were seen to ask for while they loaded.
	Authority *Authority
	Touches   []Touch
	// Lacks are the host globals for lack of which it, or a workload of it, did not
	// load.
	Lacks []string
	// Elapsed is the time that the library's own stages took; Cached says that all of
	// them came from the cache.
	Elapsed time.Duration
	Cached  bool
}

// Loaded reports whether the library evaluated in the guest.
func (l *Library) Loaded() bool { return l.Load != nil && l.Load.Failure == nil }

// Size returns the size of the library's bundle in bytes, or 0 without one.
func (l *Library) Size() int {
	if l.Bundle == nil {
		return 0
	}
	return l.Bundle.Bytes
}

// Exports returns how many names the loaded library exports.
func (l *Library) Exports() int {
	if l.Load == nil {
		return 0
	}
	return len(l.Load.Exports.Names)
}

// Workload is what a check knows of one workload.
type Workload struct {
	Policy policy.Workload
	Entry  string // absolute
	Bundle *script
	Load   *load.WorkloadResult
}

// Subpath is what a check knows of a request below a library's.
type Subpath struct {
	Request string
	Entry   string // absolute
	Load    *load.WorkloadResult
	Model   *proxygen.Model
}

// Parse returns what the policy's text alone tells, quickly enough for every
// keystroke: nothing is resolved, bundled or evaluated.
func (sn *Snapshot) Parse(ctx context.Context) ([]finding.Finding, error) {
	p, unreadable, err := sn.policy(ctx, nil)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return []finding.Finding{*unreadable}, nil
	}
	found, err := sn.ofPolicy(ctx, p)
	if err != nil {
		return nil, err
	}
	others, err := sn.compatibility(ctx, p, nil)
	if err != nil {
		return nil, err
	}
	return sn.suppressed(p, append(found, others...), false).Kept, nil
}

// policy reads the project's policy. A file that cannot be read gives no policy and
// a finding.
func (sn *Snapshot) policy(ctx context.Context, evaluator policy.Evaluator) (*policy.Policy, *finding.Finding, error) {
	file, ignored := sn.choose(policy.ConfigFiles)
	name := policy.Relative(sn.root, file)
	unreadable := func(format string, args ...any) *finding.Finding {
		return &finding.Finding{Code: finding.PolicyUnreadable, Severity: finding.Error, File: name, Message: fmt.Sprintf(format, args...)}
	}
	tooLarge := func(bytes int64) *finding.Finding {
		return unreadable("The policy has %.1f MiB, and no more than %d MiB are read. Move what is not policy into files that it imports.", float64(bytes)/(1<<20), maxPolicyBytes>>20)
	}
	content, open := sn.overlay[file]
	if !open {
		info, err := os.Stat(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, unreadable("There is no policy at %s. Create the file with: export default { \"package\": { permissions: [] } }; or have it written from what the application imports: sandbox-lsp init", name), nil
		case err != nil:
			return nil, unreadable("The policy cannot be read: %v. %s", reason(err), mendPolicy), nil
		case !info.Mode().IsRegular():
			return nil, unreadable("The policy cannot be read: %s is not a file. %s", name, mendPolicy), nil
		case info.Size() > maxPolicyBytes:
			return nil, tooLarge(info.Size()), nil
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, unreadable("The policy cannot be read: %v. %s", reason(err), mendPolicy), nil
		}
		content = string(raw)
	}
	if len(content) > maxPolicyBytes {
		return nil, tooLarge(int64(len(content))), nil
	}
	p, err := policy.Read(ctx, policy.Source{Root: sn.root, File: file, Text: content, Overlay: sn.overlay, Ignored: ignored, Today: sn.session.today()}, evaluator)
	return p, nil, err
}

// mendPolicy says what to do about a policy that is there and cannot be read.
const mendPolicy = "Until it can, nothing is checked and a build writes nothing; make it a file that the user who runs sandbox-lsp may read."

// reason returns what the operating system said, less the path, which a finding has
// already.
func reason(err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

// Check runs every stage up to the load and returns all that they found. An error
// means that the context ended or that the tool itself cannot work; what is wrong
// with the project is in the findings.
func (sn *Snapshot) Check(ctx context.Context, progress Progress) (*Result, error) {
	return sn.check(ctx, progress, stages{load: true, compare: true})
}

// stages says which of the stages that can be left out are wanted.
type stages struct {
	load    bool // evaluate the libraries in the guest
	compare bool // hold the built files against their manifest
}

func (sn *Snapshot) check(ctx context.Context, progress Progress, stages stages) (*Result, error) {
	result := &Result{Root: sn.root}
	p, unreadable, err := sn.policy(ctx, sn.session.evaluator)
	if err != nil {
		return nil, err
	}
	if p == nil {
		result.Findings = []finding.Finding{*unreadable}
		return result, nil
	}
	result.Policy = p
	requests := make([]string, len(p.Libraries))
	for i, lib := range p.Libraries {
		requests[i] = lib.Name
	}
	resolved, err := resolve.Packages(ctx, sn.root, requests)
	if err != nil {
		return nil, err
	}
	for i, first := range sharedFileNames(requests) {
		if first != "" {
			resolved[i].Problem = &resolve.Problem{Kind: resolve.SharesFiles, Detail: first}
		}
	}
	fault, unlisted := resolve.ManifestFault(sn.root)
	guest, err := sn.session.guestGlobals(ctx)
	if err != nil {
		return nil, err
	}
	c := &check{sn: sn, policy: p, guest: guest, withLoad: stages.load, progress: progress, total: len(requests), reporters: make([]*reporter, len(requests))}
	for i, lib := range p.Libraries {
		result.Libraries = append(result.Libraries, &Library{Policy: lib, Resolved: resolved[i], Cached: true})
		c.reporters[i] = &reporter{sn: sn, policy: p, lib: lib, unlisted: unlisted}
	}
	if err := c.run(ctx, result.Libraries, resolved); err != nil {
		return nil, err
	}
	if result.Findings, err = sn.ofPolicy(ctx, p); err != nil {
		return nil, err
	}
	if unlisted {
		result.Findings = append(result.Findings, sn.manifestFault(fault))
	}
	inferred(result.Findings, guest, func(name string) *Library {
		i := slices.IndexFunc(result.Libraries, func(l *Library) bool { return l.Policy.Name == name })
		return result.Libraries[i]
	})
	result.Findings = append(result.Findings, c.escaped...)
	others, err := sn.compatibility(ctx, p, sn.session.evaluator)
	if err != nil {
		return nil, err
	}
	result.Findings = append(result.Findings, others...)
	_, idle := sn.marshallers()
	result.Findings = append(result.Findings, idle...)
	if stages.compare {
		sn.integrity(result, c.reporters)
	}
	for i, l := range result.Libraries {
		r := c.reporters[i]
		if l.Model != nil && l.Resolved.Problem == nil {
			r.declared(l.Model, l.Load)
		}
		result.Findings = append(result.Findings, r.findings...)
	}
	compatibility, _ := sn.choose(compat.ConfigFiles)
	reviewed := sn.suppressed(p, result.Findings, p.Complete && stages.load, append(c.suppressing, compatibility)...)
	result.Suppressed = reviewed.Suppressed
	hints, err := sn.uncommitted(ctx, p)
	if err != nil {
		return nil, err
	}
	result.Findings = finding.Sort(append(reviewed.Kept, hints...))
	sn.session.see(result)
	return result, nil
}

// sharedFileNames returns, for each request whose files an earlier one has already,
// the earlier request: "@a/b" and the subpath "a/b" have one name between them.
func sharedFileNames(requests []string) []string {
	shared := make([]string, len(requests))
	first := map[string]string{}
	for i, request := range requests {
		name := strings.ToLower(proxygen.FileName(request)) // some file systems fold case
		if first[name] == "" {
			first[name] = request
		} else {
			shared[i] = first[name]
		}
	}
	return shared
}

// check is one run of Check. Each library has a reporter of its own, so that
// concurrent work shares only the progress.
type check struct {
	sn        *Snapshot
	policy    *policy.Policy
	reporters []*reporter
	withLoad  bool
	guest     map[string]bool // names that every guest has

	// What the scan of the application told.
	imports     []appscan.Import
	escaped     []finding.Finding
	suppressing []string // files that may hold suppressions

	mu       sync.Mutex
	progress Progress
	done     int
	total    int
}

// run works on the libraries side by side; the declarations of all of them, which
// are one piece of work, go beside that.
func (c *check) run(ctx context.Context, libraries []*Library, resolved []resolve.Result) error {
	redirected := slices.ContainsFunc(libraries, func(l *Library) bool { return l.Policy.Subpaths })
	if redirected {
		// What the application imports is part of their bundles.
		if err := c.application(ctx, resolved); err != nil {
			return err
		}
		if err := c.subpaths(ctx, libraries); err != nil {
			return err
		}
	}
	work := pool.New().WithContext(ctx).WithCancelOnError().WithFirstError().WithMaxGoroutines(c.sn.session.options.Jobs + 1)
	work.Go(func(ctx context.Context) error { return c.declare(ctx, libraries) })
	if !redirected {
		work.Go(func(ctx context.Context) error { return c.application(ctx, resolved) })
	}
	for i, l := range libraries {
		work.Go(func(ctx context.Context) error {
			began := time.Now()
			err := c.examine(ctx, l, c.reporters[i])
			l.Elapsed = time.Since(began)
			c.event(Event{Library: l.Policy.Name, Stage: "load", Cached: l.Cached}, true)
			return err
		})
	}
	err := work.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// event reports progress, one event at a time.
func (c *check) event(e Event, finished bool) {
	if c.progress == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if finished {
		c.done++
	}
	e.Done, e.Total = c.done, c.total
	c.progress(e)
}

func (c *check) declare(ctx context.Context, libraries []*Library) error {
	var requests []string
	for _, l := range libraries {
		if l.Resolved.Problem == nil {
			requests = append(requests, l.Policy.Name)
			for _, s := range l.Subpaths {
				requests = append(requests, s.Request)
			}
		}
	}
	if len(requests) == 0 {
		return nil
	}
	c.event(Event{Stage: "declarations"}, false)
	models, err := c.sn.declarations(ctx, requests)
	if err != nil {
		return fmt.Errorf("read declarations: %w", err)
	}
	for _, l := range libraries {
		l.Model = models[l.Policy.Name]
		for _, s := range l.Subpaths {
			s.Model = models[s.Request]
		}
	}
	return nil
}

// examine takes one library through its stages.
func (c *check) examine(ctx context.Context, l *Library, r *reporter) error {
	r.resolution(l.Resolved)
	name := fmt.Sprintf("%q", l.Policy.Name)
	if l.Resolved.Problem == nil {
		c.event(Event{Library: l.Policy.Name, Stage: "bundle"}, false)
		s, cached, err := c.sn.bundleLibrary(ctx, l.Resolved, l.Subpaths, proxygen.FileName(l.Policy.Name)+".bundle.js")
		var failed *bundle.Error
		switch {
		case errors.As(err, &failed):
			r.bundling(failed, name, l.Policy.KeySpan)
		case err != nil:
			return fmt.Errorf("bundle %s: %w", name, err)
		default:
			l.Bundle, l.Cached = &s, l.Cached && cached
			r.budget(s)
		}
	}
	// Workloads are looked at even when their library fails: their faults are their
	// own.
	if err := c.workloads(ctx, l, r); err != nil {
		return err
	}
	if err := c.infer(ctx, l); err != nil {
		return err
	}
	if l.Bundle != nil && c.withLoad {
		c.event(Event{Library: l.Policy.Name, Stage: "load"}, false)
		if err := c.load(ctx, l, r, name); err != nil {
			return fmt.Errorf("load %s: %w", name, err)
		}
	}
	for _, w := range l.Workloads {
		if w.Bundle != nil {
			r.workloadImports(w.Policy, *w.Bundle)
		}
		c.workloadExports(w, r)
	}
	r.authority(l, c.guest)
	r.builtins(l)
	r.computed(l)
	r.silent(l)
	return nil
}

// workloads bundles the workloads of a library, reporting SBX020 and SBX040.
func (c *check) workloads(ctx context.Context, l *Library, r *reporter) error {
	for _, p := range l.Policy.Workloads {
		w := &Workload{Policy: p}
		l.Workloads = append(l.Workloads, w)
		if p.Entry == "" {
			continue
		}
		w.Entry = filepath.Join(c.sn.root, filepath.FromSlash(p.Entry))
		if _, open := c.sn.overlay[w.Entry]; !open {
			if info, err := os.Stat(w.Entry); err != nil || !info.Mode().IsRegular() {
				w.Entry = ""
				r.at(finding.WorkloadNoEntry, finding.Warning, p.EntrySpan, "The entry of workload %q does not exist: %s. The build goes on without this workload; importing it will fail.", p.Name, p.Entry)
				continue
			}
		}
		file := proxygen.FileName(l.Policy.Name) + "." + p.Name + ".workload.bundle.js"
		s, cached, err := c.sn.bundleWorkload(ctx, l.Policy.Name, w.Entry, file)
		var failed *bundle.Error
		switch {
		case errors.As(err, &failed):
			r.bundling(failed, fmt.Sprintf("Workload %q", p.Name), p.EntrySpan)
		case err != nil:
			return fmt.Errorf("bundle workload %q: %w", p.Name, err)
		default:
			w.Bundle, l.Cached = &s, l.Cached && cached
		}
	}
	return nil
}

// load runs the load stage and reports SBX042 and SBX043.
func (c *check) load(ctx context.Context, l *Library, r *reporter, name string) error {
	var bundled []*Workload
	var scripts []script
	for _, w := range l.Workloads {
		if w.Bundle != nil {
			bundled, scripts = append(bundled, w), append(scripts, *w.Bundle)
		}
	}
	loaded, cached, err := c.sn.loadLibrary(ctx, l.Policy, *l.Bundle, l.Subpaths, scripts)
	if err != nil {
		return err
	}
	l.Load, l.Cached = &loaded, l.Cached && cached
	if l.Touches, err = c.sn.touches(loaded.Touches, l.scripts(), l.entries()); err != nil {
		return err
	}
	failed := func(failure *load.Failure, s script, what string, span text.Span) {
		var lacks *need
		if name := r.lacking(l, failure, s, c.guest); name != "" {
			l.Lacks = append(l.Lacks, name)
			if l.Policy.Unsure {
				return // it may be granted: the permissions are not known in full
			}
			lacks = needOf(needs(l, c.guest), name)
		}
		r.loading(failure, s, what, span, lacks)
	}
	failed(loaded.Failure, *l.Bundle, name, l.Policy.KeySpan)
	for i := range loaded.Workloads {
		if i < len(l.Subpaths) {
			s := l.Subpaths[i]
			s.Load = &loaded.Workloads[i]
			failed(s.Load.Failure, *l.Bundle, fmt.Sprintf("%q", s.Request), l.Policy.KeySpan)
			continue
		}
		w := bundled[i-len(l.Subpaths)]
		w.Load = &loaded.Workloads[i]
		failed(w.Load.Failure, *w.Bundle, fmt.Sprintf("Workload %q", w.Policy.Name), w.Policy.KeySpan)
	}
	return nil
}

// workloadExports holds the names of the policy against what the workload exports:
// what it was seen to export when it loaded, else what its source says.
func (c *check) workloadExports(w *Workload, r *reporter) {
	if w.Bundle == nil {
		return
	}
	names := map[string]string{}
	switch {
	case w.Load != nil && w.Load.Failure == nil:
		for _, e := range w.Load.Exports.Names {
			names[e.Name] = e.Type
		}
	case w.Bundle.ESM:
		for _, name := range w.Bundle.Exports {
			names[name] = ""
		}
		c.sourceTypes(w.Entry, names)
	default:
		return
	}
	r.workloadExports(w.Policy, w.Entry, names)
}

// sourceTypes fills in which of the names the source declares as functions.
func (c *check) sourceTypes(entry string, names map[string]string) {
	content, err := c.sn.Read(entry)
	if err != nil {
		return
	}
	exported, _ := syntax.Parse(entry, content).ExportedNames()
	for _, e := range exported {
		if _, ok := names[e.Name]; ok && !e.Function {
			names[e.Name] = "value"
		}
	}
}
