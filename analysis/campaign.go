package analysis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sourcegraph/conc/pool"

	"github.com/sandbox-lsp/sandbox-lsp/analysis/cache"
	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/compat"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/hostglobals"
	"github.com/sandbox-lsp/sandbox-lsp/policy/resolve"
	"github.com/sandbox-lsp/sandbox-lsp/proxygen"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/bundle"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/harness"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/quickjs"
)

// The stages of a campaign:
//
//	stage       inputs                                               kept by
//	tests       test files, what they import, the tool's modules     content
//	entries     the library's modules that tests import              content
//	run         both bundles; for the sandbox its options too        hash
//
// A change of the policy alone runs the tests again in the sandbox only.

// campaignTime bounds one run of one campaign's tests.
const campaignTime = 2 * time.Minute

// Campaign is what the tests of one library came to.
type Campaign struct {
	Library string
	Version string // of the package
	// Frameworks are those that the tests are written for; Detected says that they were
	// told from the tests, not by the manifest.
	Frameworks []string
	Detected   bool
	Engine     string
	Files      []string // relative to the project root
	Verdicts   []harness.Verdict
	// NotRunnable says what kept files, or all of them, from running.
	NotRunnable []NotRunnable
	// Native and Sandbox are how long the runs took when they ran; Cached says that
	// none had to.
	Native, Sandbox time.Duration
	Cached          bool

	tests compat.Library
}

// NotRunnable is why tests could not run.
type NotRunnable struct {
	File   string // "" for all of them
	Reason string
	// Install is the command that would install what is missing, or "".
	Install string
}

// Count returns how many cases have an outcome.
func (c *Campaign) Count(outcome harness.Outcome) int {
	n := 0
	for _, v := range c.Verdicts {
		if v.Outcome == outcome {
			n++
		}
	}
	return n
}

// TestOptions say which campaigns to run.
type TestOptions struct {
	Library string // "" for all of the manifest
	Engine  string // one of compat.Engines; auto leaves it to the manifest
}

// Tested is the outcome of running campaigns.
type Tested struct {
	*Result
	// Manifest is the path of the compatibility manifest below the project root, or where
	// one belongs.
	Manifest  string
	Campaigns []*Campaign // in the manifest's order
}

// Test checks the project and runs the campaigns of its compatibility manifest.
func (sn *Snapshot) Test(ctx context.Context, options TestOptions, progress Progress) (*Tested, error) {
	result, err := sn.check(ctx, progress, stages{load: true})
	if err != nil {
		return nil, err
	}
	file, _ := sn.choose(compat.ConfigFiles)
	tested := &Tested{Result: result, Manifest: policy.Relative(sn.root, file)}
	m, _, err := sn.compatManifest(ctx, sn.session.evaluator)
	if err != nil || m == nil {
		return tested, err
	}
	for _, l := range m.Libraries {
		if options.Library != "" && l.Name != options.Library {
			continue
		}
		i := slices.IndexFunc(result.Libraries, func(known *Library) bool { return known.Policy.Name == l.Name })
		if i < 0 {
			continue
		}
		if progress != nil {
			progress(Event{Library: l.Name, Stage: "test", Done: len(tested.Campaigns), Total: len(m.Libraries)})
		}
		c, err := sn.campaign(ctx, result.Libraries[i], l, options.Engine)
		if err != nil {
			return nil, fmt.Errorf("test %q: %w", l.Name, err)
		}
		tested.Campaigns = append(tested.Campaigns, c)
	}
	found := sn.campaignFindings(m, tested)
	reviewed := sn.suppressed(result.Policy, found, false)
	result.Suppressed = append(result.Suppressed, reviewed.Suppressed...)
	result.Findings = finding.Sort(append(result.Findings, reviewed.Kept...))
	return tested, nil
}

// campaign runs the tests of one library.
func (sn *Snapshot) campaign(ctx context.Context, l *Library, tests compat.Library, engine string) (*Campaign, error) {
	c := &Campaign{Library: l.Policy.Name, Version: l.Resolved.Package.Version, Detected: tests.Framework == compat.Auto, Engine: embeddedEngine, Cached: true, tests: tests}
	stop := func(format string, args ...any) (*Campaign, error) {
		c.NotRunnable = append(c.NotRunnable, NotRunnable{Reason: fmt.Sprintf(format, args...)})
		return c, nil
	}
	if engine == compat.Auto {
		engine = tests.Engine
	}
	if engine != compat.Auto && engine != embeddedEngine {
		return stop("the engine %s is not in this version; tests run in embedded", engine)
	}
	for _, g := range tests.Tests {
		files, err := compat.Files(ctx, sn.root, g.Text)
		if err != nil && !errors.Is(err, compat.ErrTooMany) {
			return nil, err
		}
		for _, f := range files {
			if !slices.Contains(c.Files, f) {
				c.Files = append(c.Files, f)
			}
		}
	}
	switch {
	case l.Bundle == nil:
		return stop("the library has no bundle; the findings of the policy say why")
	case len(c.Files) == 0:
		return stop("no test file matches")
	}
	batches := harness.Batches(tests.Framework, c.Files, func(file string) string {
		text, err := sn.Read(filepath.Join(sn.root, filepath.FromSlash(file)))
		if err != nil {
			return "" // bundling says it
		}
		return text
	})
	limitations := map[string]harness.Declared{}
	for _, l := range tests.Limitations {
		limitations[l.Test] = harness.Declared{Kind: harness.Kind(l.Kind), Reason: l.Reason}
	}
	results := make([]batchResult, len(batches))
	work := pool.New().WithMaxGoroutines(sn.session.options.Jobs).WithContext(ctx).WithCancelOnError().WithFirstError()
	for i, b := range batches {
		if !slices.Contains(c.Frameworks, b.Framework) {
			c.Frameworks = append(c.Frameworks, b.Framework)
		}
		work.Go(func(ctx context.Context) (err error) {
			results[i], err = sn.runBatch(ctx, l, b, limitations)
			return err
		})
	}
	if err := work.Wait(); err != nil {
		return nil, err
	}
	for _, r := range results {
		c.Verdicts = append(c.Verdicts, r.verdicts...)
		c.NotRunnable = append(c.NotRunnable, r.notRunnable...)
		c.Native, c.Sandbox = c.Native+r.native, c.Sandbox+r.sandbox
		c.Cached = c.Cached && r.cached
	}
	return c, nil
}

const embeddedEngine = "embedded"

// batchResult is what one batch of a campaign came to.
type batchResult struct {
	verdicts        []harness.Verdict
	notRunnable     []NotRunnable
	native, sandbox time.Duration
	cached          bool
}

// runBatch runs one batch of a library's tests, twice natively and once in its sandbox.
func (sn *Snapshot) runBatch(ctx context.Context, l *Library, b harness.Batch, limitations map[string]harness.Declared) (r batchResult, err error) {
	made, err := sn.bundleTests(ctx, l, b)
	var failed *bundle.Error
	if errors.As(err, &failed) {
		r.notRunnable = append(r.notRunnable, NotRunnable{File: strings.Join(b.Files, ", "), Reason: fmt.Sprintf("the tests cannot be bundled: %v", failed)})
		return r, nil
	}
	if err != nil {
		return r, err
	}
	request := harness.Request{Timeout: campaignTime, Plain: slices.Equal(made.Entries, []string{bundle.RootEntry})}
	library := *l.Bundle
	if !request.Plain {
		if library, err = sn.bundleEntries(ctx, l, made.Entries); err != nil {
			return r, err
		}
	}
	var runs [3]harness.Run
	r.cached = true
	for i := range runs {
		ask := request
		if i == 2 {
			ask.Sandbox = sandboxOf(l.Policy)
		}
		run, cached, err := sn.runTests(ctx, ask, made.Script, library, i)
		if err != nil {
			return r, err
		}
		r.cached = r.cached && cached
		runs[i] = run
	}
	r.native, r.sandbox = runs[0].Elapsed, runs[2].Elapsed
	r.verdicts = harness.Compare(runs[0], runs[1], runs[2], limitations)
	if err := sn.tryGrants(ctx, l, request, made.Script, library, r.verdicts); err != nil {
		return r, err
	}
	markMissing(r.verdicts, made.Missing)
	if len(made.Missing) > 0 {
		r.notRunnable = append(r.notRunnable, sn.notInstalled(made.Missing))
	}
	if stopped := runs[0].Stopped; stopped != "" {
		r.notRunnable = append(r.notRunnable, NotRunnable{File: strings.Join(b.Files, ", "), Reason: "the native run stopped: " + stopped})
	}
	return r, nil
}

// maxTried bounds how many grants are tried to explain the regressions of a batch.
const maxTried = 6

// tryGrants runs tests in the sandbox once more for each capability that the library
// asks for and is not granted, while there are regressions that one may explain.
// Nothing is tried that would hand over the whole realm.
func (sn *Snapshot) tryGrants(ctx context.Context, l *Library, request harness.Request, tests, library script, verdicts []harness.Verdict) error {
	guest, err := sn.session.guestGlobals(ctx)
	if err != nil || l.Authority == nil {
		return err
	}
	tried := 0
	for _, n := range needs(l, guest) {
		known, listed := hostglobals.Known(n.name)
		if !listed || known.Grade == hostglobals.Realm || slices.Contains(l.Policy.PermissionNames(), n.name) || tried == maxTried {
			continue
		}
		if !slices.ContainsFunc(verdicts, harness.Verdict.Open) {
			return nil
		}
		tried++
		ask := request
		ask.Sandbox = sandboxOf(l.Policy)
		ask.Sandbox.Permissions = append(ask.Sandbox.Permissions, harness.Permission{Name: n.name})
		run, _, err := sn.runTests(ctx, ask, tests, library, 2)
		if err != nil {
			return err
		}
		harness.Explain(verdicts, run, n.name)
	}
	return nil
}

// markMissing tells the cases that fail for lack of a package from those that fail.
func markMissing(verdicts []harness.Verdict, missing []bundle.Import) {
	for i := range verdicts {
		v := &verdicts[i]
		if v.Outcome != harness.NativeFailure || v.Native.Error == nil {
			continue
		}
		for _, m := range missing {
			if v.Native.Error.Message == bundle.NotFound(m.Request) {
				v.Outcome, v.Reason = harness.NotRun, m.Request+" is not installed"
			}
		}
	}
}

// notInstalled says which packages tests import that nobody has installed.
func (sn *Snapshot) notInstalled(missing []bundle.Import) NotRunnable {
	var names []string
	for _, m := range missing {
		name, _, ok := resolve.SplitRequest(m.Request)
		if ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var files []string
	for _, m := range missing {
		if file := policy.Relative(sn.root, m.Importer); !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	return NotRunnable{File: strings.Join(files, ", "), Reason: "not installed: " + strings.Join(names, ", "), Install: "npm install --save-dev " + strings.Join(names, " ")}
}

// testScript is a bundle of tests as the cache keeps it.
type testScript struct {
	Script  script
	Entries []string
	Missing []bundle.Import
}

// bundleTests runs the tests stage.
func (sn *Snapshot) bundleTests(ctx context.Context, l *Library, b harness.Batch) (testScript, error) {
	file := proxygen.FileName(l.Policy.Name) + ".tests.js"
	key := sn.key("tests", append([]string{bundle.EngineVersion, harness.Hash(), l.Policy.Name, l.Resolved.Entry, b.Framework}, b.Files...)...)
	store := sn.session.store
	if made, ok := cache.Recall[testScript](store, sn, key); ok {
		if _, _, whole := sn.bytes(made.Script); whole {
			return made, nil
		}
	}
	began := time.Now()
	made, err := harness.Bundle(ctx, bundle.Tests{
		Root: sn.root, Files: b.Files, Library: bundle.Target{Name: l.Policy.Name, Entry: l.Resolved.Entry, Dir: l.Resolved.Package.Dir},
		OutDir: filepath.Join(sn.root, OutputFolder), File: file, Overlay: sn.overlay,
	}, b.Framework)
	if err != nil {
		return testScript{}, err
	}
	kept := testScript{Script: sn.keep(file, &made.Bundle), Entries: made.Entries, Missing: made.Missing}
	return kept, cache.Remember(store, sn, key, kept, governing(sn.root, made.Inputs), began)
}

// bundleEntries runs the entries stage.
func (sn *Snapshot) bundleEntries(ctx context.Context, l *Library, entries []string) (script, error) {
	file := proxygen.FileName(l.Policy.Name) + ".entries.js"
	key := sn.key("entries", append([]string{bundle.EngineVersion, l.Resolved.Entry}, entries...)...)
	s, _, err := sn.bundled(key, file, l.Resolved.Package.Manifest(), func() (*bundle.Bundle, error) {
		return bundle.OfEntries(ctx, bundle.Library{
			Root: sn.root, Entry: l.Resolved.Entry, OutDir: filepath.Join(sn.root, OutputFolder), File: file,
		}, l.Resolved.Package.Dir, entries)
	})
	return s, err
}

// runTests runs the run stage, the nth time over the same inputs.
func (sn *Snapshot) runTests(ctx context.Context, request harness.Request, tests, library script, n int) (harness.Run, bool, error) {
	options, err := json.Marshal(request.Sandbox)
	if err != nil {
		return harness.Run{}, false, err
	}
	key := sn.key("run", quickjs.Hash(), tests.Code.String(), library.Code.String(), strconv.FormatBool(request.Plain), string(options), strconv.Itoa(n))
	if run, ok := cache.Recall[harness.Run](sn.session.store, sn, key); ok {
		return run, true, nil
	}
	began := time.Now()
	testCode, _, ok := sn.bytes(tests)
	code, _, also := sn.bytes(library)
	if !ok || !also {
		return harness.Run{}, false, errors.New("the cache lost a bundle that it held a moment ago")
	}
	request.Tests = harness.Script{File: tests.File, Code: testCode}
	request.Library = harness.Script{File: library.File, Code: code}
	run, err := harness.Do(ctx, sn.session.workers, request)
	if err != nil || run.Stopped != "" {
		return run, false, err
	}
	return run, false, cache.Remember(sn.session.store, sn, key, run, nil, began)
}

// sandboxOf returns how a policy sandboxes a library.
func sandboxOf(l policy.Library) *harness.Sandbox {
	s := &harness.Sandbox{Name: l.Name, Permissions: []harness.Permission{}, Limits: map[string]int{}, Arguments: l.Arguments, Results: l.Results, Reads: l.Reads}
	for _, p := range l.Permissions {
		s.Permissions = append(s.Permissions, harness.Permission{Name: p.Name, Allow: p.Allow})
	}
	for name, n := range map[string]int{"memoryMB": l.Limits.MemoryMB, "stackKB": l.Limits.StackKB} {
		if n > 0 {
			s.Limits[name] = n
		}
	}
	if l.Limits.TimeoutMs > 0 { // which is meant for faster engines
		s.Limits["timeoutMs"] = max(l.Limits.TimeoutMs, int(minLoadTime.Milliseconds()))
	}
	return s
}
