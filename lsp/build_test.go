package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-lsp/sandbox-lsp/analysis"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
)

// withProgress are the capabilities of a client that shows progress.
var withProgress = map[string]any{"window": map[string]any{"workDoneProgress": true}}

// progress waits until the operation with this token, or any if it is nil, ends and
// returns what the client saw of it.
func (e *editor) progress(token any) []string {
	e.t.Helper()
	var seen []string
	for {
		var p struct {
			Token any
			Value struct {
				Kind, Title, Message string
				Percentage           *int
			}
		}
		e.take(fmt.Sprint("progress after ", seen), func(m message) bool {
			if m.Method != "$/progress" {
				return false
			}
			p.Token = nil
			p.Value.Title, p.Value.Message, p.Value.Percentage = "", "", nil
			if err := json.Unmarshal(m.Params, &p); err != nil {
				e.t.Fatal(err)
			}
			return token == nil || p.Token == token
		})
		token = p.Token
		line := p.Value.Kind
		if p.Value.Percentage != nil {
			line += fmt.Sprintf(" %d%%", *p.Value.Percentage)
		}
		if text := p.Value.Title + p.Value.Message; text != "" {
			line += " " + text
		}
		seen = append(seen, line)
		if p.Value.Kind == "end" {
			return seen
		}
	}
}

// twoLibraries is a build that reports its way through two libraries.
func twoLibraries(_ context.Context, sn *fakeSnapshot, report analysis.Progress) ([]finding.Finding, string, error) {
	report(analysis.Event{Library: "a", Stage: "bundle", Done: 0, Total: 2})
	report(analysis.Event{Library: "a", Stage: "bundle", Done: 0, Total: 2}) // the same again
	report(analysis.Event{Library: "a", Stage: "load", Done: 1, Total: 2})
	report(analysis.Event{Library: "b", Stage: "bundle", Done: 0, Total: 2}) // late: must not go back
	report(analysis.Event{Stage: "write", Done: 2, Total: 2})
	return sn.words("bad", "deep"), "2 libraries built", nil
}

func TestBuild_aSaveBuildsAndShowsProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		created := make(chan struct{})
		core := &fakeCore{}
		core.build = func(ctx context.Context, sn *fakeSnapshot, report analysis.Progress) ([]finding.Finding, string, error) {
			<-created
			synctest.Wait()
			return twoLibraries(ctx, sn, report)
		}
		e := start(t, core, Options{})
		e.answer = func(m message) (any, bool) {
			if m.Method == "window/workDoneProgress/create" {
				close(created)
			}
			return nil, true
		}
		e.initialize(withProgress, nil)
		e.open(policyURI, "bad deep")
		e.notify("textDocument/didSave", doc(policyURI))
		want := []string{"begin 0% Building the sandbox", "report 0% a: bundle", "report 50% a: load", "report 50% b: bundle", "report 100% write", "end 2 libraries built"}
		if diff := cmp.Diff(want, e.progress(nil)); diff != "" {
			t.Errorf("progress (-want +got):\n%s", diff)
		}
		e.diagnostics(policyURI)
		if got := e.diagnostics(policyURI).messages(); !cmp.Equal(got, []string{"bad 1", "deep 1"}) {
			t.Errorf("the build published %v", got)
		}
		pass(DefaultDebounce)
		if asked := core.asked(); slices.Contains(asked, "check bad deep") {
			t.Errorf("what the build found was looked for again: %v", asked)
		}
		e.stop()
	})
}

func TestBuild_isShownInWhateverWayTheClientSupports(t *testing.T) {
	tests := map[string]struct {
		capabilities map[string]any
		answers      bool
		fails        bool
		wantLog      string
		wantEnd      string
	}{
		"no progress":           {nil, true, false, `{"type":3,"message":"Building the sandbox: 2 libraries built"}`, ""},
		"no progress, failed":   {nil, true, true, `{"type":1,"message":"Building the sandbox: The build failed: the disk is full"}`, ""},
		"progress":              {withProgress, true, false, "", "end 2 libraries built"},
		"progress, failed":      {withProgress, true, true, `{"type":1,"message":"Building the sandbox: The build failed: the disk is full"}`, "end The build failed: the disk is full"},
		"a client that dawdles": {withProgress, false, false, `{"type":3,"message":"Building the sandbox: 2 libraries built"}`, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				core := &fakeCore{build: twoLibraries}
				if tt.fails {
					core.build = func(context.Context, *fakeSnapshot, analysis.Progress) ([]finding.Finding, string, error) {
						return nil, "", errors.New("the disk is full")
					}
				}
				e := start(t, core, Options{})
				e.answer = func(message) (any, bool) { return nil, tt.answers }
				e.initialize(tt.capabilities, nil)
				e.open(policyURI, "deep")
				e.notify("textDocument/didSave", doc(policyURI))
				if tt.wantEnd != "" {
					seen := e.progress(nil)
					if got := seen[len(seen)-1]; got != tt.wantEnd {
						t.Errorf("the progress ended with %q, want %q", got, tt.wantEnd)
					}
				}
				pass(createGrace)
				var logs []string
				for _, m := range e.settle() {
					if m.Method == "window/logMessage" {
						logs = append(logs, string(m.Params))
					}
				}
				var want []string
				if tt.wantLog != "" {
					want = []string{tt.wantLog}
				}
				if diff := cmp.Diff(want, logs); diff != "" {
					t.Errorf("log messages (-want +got):\n%s", diff)
				}
				// A build that fails leaves the findings to a check.
				if asked := core.asked(); slices.Contains(asked, "check deep") != tt.fails {
					t.Errorf("asked: %v", asked)
				}
				e.stop()
			})
		})
	}
}

// untilCancelled is a build that waits until it is cancelled.
func untilCancelled(ctx context.Context, _ *fakeSnapshot, report analysis.Progress) ([]finding.Finding, string, error) {
	report(analysis.Event{Library: "a", Stage: "bundle", Done: 0, Total: 1})
	<-ctx.Done()
	return nil, "", ctx.Err()
}

func TestBuild_theClientCancelsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core := &fakeCore{build: untilCancelled}
		e := start(t, core, Options{})
		e.initialize(withProgress, nil)
		e.open(policyURI, "deep")
		e.notify("textDocument/didSave", doc(policyURI))
		create := e.take("the progress", func(m message) bool { return m.Method == "window/workDoneProgress/create" })
		pass(time.Minute) // a build may take its time
		e.notify("window/workDoneProgress/cancel", json.RawMessage(create.Params))
		seen := e.progress(nil)
		if got := seen[len(seen)-1]; got != "end Cancelled" {
			t.Errorf("the progress ended with %q", got)
		}
		pass(DefaultDebounce)
		// The findings are still wanted, and a check brings them.
		e.diagnostics(policyURI)
		if got := e.diagnostics(policyURI).messages(); !cmp.Equal(got, []string{"deep 1"}) {
			t.Errorf("published %v", got)
		}
		e.notify("window/workDoneProgress/cancel", json.RawMessage(create.Params)) // too late
		e.notify("window/workDoneProgress/cancel", map[string]any{"token": 99})
		e.stop()
	})
}

func TestBuild_aNewerSaveCancelsTheOlderBuild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core := &fakeCore{}
		running := 0
		core.build = func(ctx context.Context, sn *fakeSnapshot, report analysis.Progress) ([]finding.Finding, string, error) {
			running++
			defer func() { running-- }()
			if running > 1 {
				t.Error("two builds write at the same time")
			}
			if sn.policy() == "deep 3" {
				return sn.words("deep"), "built", nil
			}
			return untilCancelled(ctx, sn, report)
		}
		e := start(t, core, Options{})
		e.initialize(withProgress, nil)
		e.open(policyURI, "deep 1")
		e.notify("textDocument/didSave", doc(policyURI))
		for version := 2; version <= 3; version++ {
			synctest.Wait()
			e.replace(policyURI, version, fmt.Sprint("deep ", version))
			e.notify("textDocument/didSave", doc(policyURI))
		}
		const cancelled = "end Cancelled: a newer build took its place"
		for token, want := range map[string]string{"sandbox-lsp/1": cancelled, "sandbox-lsp/2": cancelled, "sandbox-lsp/3": "end built"} {
			seen := e.progress(token)
			if got := seen[len(seen)-1]; got != want {
				t.Errorf("%s ended with %q, want %q", token, got, want)
			}
		}
		e.stop()
	})
}

func TestBuild_nothingIsCheckedBesideIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		core := &fakeCore{build: func(_ context.Context, sn *fakeSnapshot, _ analysis.Progress) ([]finding.Finding, string, error) {
			<-release
			return sn.words("deep"), "built", nil
		}}
		e := start(t, core, Options{})
		e.initialize(nil, nil)
		e.open(policyURI, "deep")
		e.notify("textDocument/didSave", doc(policyURI))
		pass(2 * DefaultDebounce)
		close(release)
		pass(2 * DefaultDebounce)
		if asked := core.asked(); slices.Contains(asked, "check deep") {
			t.Errorf("asked %v", asked)
		}
		e.stop()
	})
}

func TestBuild_whatWasSavedIsBuilt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core := &fakeCore{}
		release := make(chan struct{})
		core.build = func(_ context.Context, sn *fakeSnapshot, _ analysis.Progress) ([]finding.Finding, string, error) {
			<-release
			return sn.words("deep"), "built", nil
		}
		e := start(t, core, Options{})
		e.initialize(nil, nil)
		e.open(policyURI, "deep 1")
		// Two saves that wait for a build to end, and an edit behind them.
		for version := 2; version <= 4; version++ {
			e.notify("textDocument/didSave", doc(policyURI))
			synctest.Wait()
			e.replace(policyURI, version, fmt.Sprint("deep ", version))
		}
		close(release)
		pass(DefaultDebounce)
		var builds []string
		for _, event := range core.asked() {
			if strings.HasPrefix(event, "build") || strings.HasPrefix(event, "check") {
				builds = append(builds, event)
			}
		}
		if diff := cmp.Diff([]string{"build deep 1", "build deep 3", "check deep 4"}, builds); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		e.stop()
	})
}

func TestBuild_editsDoNotCancelIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		core := &fakeCore{build: func(ctx context.Context, sn *fakeSnapshot, _ analysis.Progress) ([]finding.Finding, string, error) {
			<-release
			return sn.words("deep"), "built", ctx.Err()
		}}
		e := start(t, core, Options{})
		e.initialize(withProgress, nil)
		e.open(policyURI, "deep")
		e.notify("textDocument/didSave", doc(policyURI))
		synctest.Wait()
		e.replace(policyURI, 2, "deep deep")
		pass(DefaultDebounce)
		close(release)
		if seen := e.progress(nil); seen[len(seen)-1] != "end built" {
			t.Errorf("the build ended with %q", seen[len(seen)-1])
		}
		pass(DefaultDebounce)
		// What it found is about a text that is gone and is not published.
		versions := 0
		for _, m := range e.settle() {
			var p published
			if m.Method != "textDocument/publishDiagnostics" {
				continue
			}
			if err := json.Unmarshal(m.Params, &p); err != nil {
				t.Fatal(err)
			}
			if *p.Version < versions {
				t.Errorf("version %d was published after version %d", *p.Version, versions)
			}
			versions = *p.Version
		}
		if versions != 2 {
			t.Errorf("the last version that was published is %d", versions)
		}
		e.stop()
	})
}

func TestBuild_onSaveIsASetting(t *testing.T) {
	off := map[string]any{"sandbox": map[string]any{"buildOnSave": false}}
	tests := map[string]struct {
		capabilities map[string]any
		options      any
		pulled       any // what the client answers when it is asked
		pushed       any
		want         bool
	}{
		"default":                          {nil, nil, nil, nil, true},
		"in the initialization options":    {nil, off, nil, nil, false},
		"without the section":              {nil, map[string]any{"buildOnSave": false}, nil, nil, false},
		"pushed":                           {nil, nil, nil, off, false},
		"pushed back":                      {nil, off, nil, map[string]any{"sandbox": map[string]any{"buildOnSave": true}}, true},
		"pushed without it":                {nil, off, nil, map[string]any{"sandbox": map[string]any{}}, false},
		"pushed of the wrong type":         {nil, off, nil, map[string]any{"sandbox": map[string]any{"buildOnSave": "yes"}}, false},
		"pushed null":                      {nil, off, nil, json.RawMessage("null"), false},
		"pulled":                           {map[string]any{"workspace": map[string]any{"configuration": true}}, nil, []any{map[string]any{"buildOnSave": false}}, nil, false},
		"pulled null":                      {map[string]any{"workspace": map[string]any{"configuration": true}}, nil, []any{nil}, nil, true},
		"pulled again when it has changed": {map[string]any{"workspace": map[string]any{"configuration": true}}, nil, []any{map[string]any{"buildOnSave": false}}, map[string]any{}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				core := &fakeCore{}
				e := start(t, core, Options{})
				pulls := 0
				e.answer = func(m message) (any, bool) {
					if m.Method == "workspace/configuration" {
						pulls++
						if string(m.Params) != `{"items":[{"section":"sandbox"}]}` {
							t.Errorf("asked for %s", m.Params)
						}
						return tt.pulled, true
					}
					return nil, true
				}
				e.initialize(tt.capabilities, map[string]any{"initializationOptions": tt.options})
				synctest.Wait()
				if tt.pushed != nil {
					e.notify("workspace/didChangeConfiguration", map[string]any{"settings": tt.pushed})
					synctest.Wait()
					if tt.pulled != nil && pulls != 2 {
						t.Errorf("asked %d times, want 2", pulls)
					}
				}
				e.open(policyURI, "x")
				e.notify("textDocument/didSave", doc(policyURI))
				pass(DefaultDebounce)
				if asked := core.asked(); slices.Contains(asked, "build x") != tt.want {
					t.Errorf("asked %v; build: want %v", asked, tt.want)
				}
				e.stop()
			})
		})
	}
}
