package lsp

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-lsp/sandbox-lsp/analysis"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
)

// tree makes files, empty but there, in a new folder.
func tree(t *testing.T, files ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, f := range files {
		path := filepath.Join(root, filepath.FromSlash(f))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// diskCore is a core whose projects are on disk and have one finding each.
type diskCore struct{ fakeCore }

func newDiskCore() *diskCore {
	c := &diskCore{}
	c.check = func(_ context.Context, sn *fakeSnapshot) ([]finding.Finding, error) {
		return []finding.Finding{{Code: finding.NoPermissions, Severity: finding.Warning, Message: "found", File: projectFile}}, nil
	}
	return c
}

func (c *diskCore) Root(path string) (string, bool) {
	for dir := path; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if analysis.IsProject(dir) {
			return dir, filepath.Ext(path) == ".js"
		}
	}
	return "", false
}

func (c *diskCore) Snapshot(root string, overlay map[string]string) Snapshot {
	return &fakeSnapshot{core: &c.fakeCore, root: root, overlay: overlay}
}

// policies returns the policies below root that the messages say have findings, and
// those that they say have none.
func policies(t *testing.T, root string, messages []message) (with, without []string) {
	t.Helper()
	for _, m := range messages {
		if m.Method != "textDocument/publishDiagnostics" {
			continue
		}
		var p published
		if err := json.Unmarshal(m.Params, &p); err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(strings.TrimSuffix(p.URI, "/"+projectFile), string(uriOf(root)))
		if len(p.messages()) > 0 {
			with = append(with, name)
		} else {
			without = append(without, name)
		}
	}
	sort.Strings(with)
	sort.Strings(without)
	return with, without
}

func folder(path string) map[string]any {
	return map[string]any{"uri": string(uriOf(path)), "name": filepath.Base(path)}
}

func TestWorkspace_projectsAreFoundAndChecked(t *testing.T) {
	files := []string{
		projectFile, "packages/a/" + projectFile, "packages/b/deeper/c/" + projectFile,
		"node_modules/x/" + projectFile, "packages/a/node_modules/y/" + projectFile, ".hidden/" + projectFile,
		"1/2/3/4/5/6/" + projectFile, "1/2/3/4/5/6/7/" + projectFile,
		"no/.sandbox/other.js", "packages/typed/.sandbox/sandbox.config.ts",
	}
	tests := map[string]struct {
		params func(root string) map[string]any
		want   []string
	}{
		"workspace folders": {func(root string) map[string]any { return map[string]any{"workspaceFolders": []any{folder(root)}} }, []string{"", "/1/2/3/4/5/6", "/packages/a", "/packages/b/deeper/c", "/packages/typed"}},
		"two of them": {func(root string) map[string]any {
			return map[string]any{"workspaceFolders": []any{folder(root + "/packages/a"), folder(root + "/packages/b")}}
		}, []string{"", "/packages/a", "/packages/b/deeper/c"}}, // the second lies in the outermost project
		"one below the project": {func(root string) map[string]any {
			return map[string]any{"workspaceFolders": []any{folder(root + "/packages/b/deeper/c/src")}}
		}, []string{"/packages/b/deeper/c"}},
		"the root URI": {func(root string) map[string]any {
			return map[string]any{"rootUri": string(uriOf(root + "/packages/a"))}
		}, []string{"/packages/a"}},
		"the root path":    {func(root string) map[string]any { return map[string]any{"rootPath": root + "/packages/a"} }, []string{"/packages/a"}},
		"no folder at all": {func(string) map[string]any { return map[string]any{"workspaceFolders": nil} }, nil},
		"an empty list": {func(root string) map[string]any {
			return map[string]any{"workspaceFolders": []any{}, "rootUri": string(uriOf(root))}
		}, nil},
		"folders that are no files": {func(string) map[string]any {
			return map[string]any{"workspaceFolders": []any{map[string]any{"uri": "vscode-vfs://github/x", "name": "x"}}}
		}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			root := tree(t, files...)
			synctest.Test(t, func(t *testing.T) {
				e := start(t, newDiskCore(), Options{})
				e.initialize(nil, tt.params(root))
				// One round trip to be sure that the search has begun, one pause per worker.
				synctest.Wait()
				pass(DefaultDebounce)
				with, without := policies(t, root, e.settle())
				if diff := cmp.Diff(tt.want, with); diff != "" || len(without) > 0 {
					t.Errorf("checked (-want +got):\n%s and %v", diff, without)
				}
				e.stop()
			})
		})
	}
}

func TestWorkspace_foldersComeAndGo(t *testing.T) {
	root := tree(t, "a/"+projectFile, "b/"+projectFile, "c/"+projectFile)
	synctest.Test(t, func(t *testing.T) {
		e := start(t, newDiskCore(), Options{})
		e.initialize(nil, map[string]any{"workspaceFolders": []any{folder(root + "/a")}})
		change := func(added, removed []any) (with, without []string) {
			if added != nil || removed != nil {
				e.notify("workspace/didChangeWorkspaceFolders", map[string]any{"event": map[string]any{"added": added, "removed": removed}})
			}
			synctest.Wait()
			pass(DefaultDebounce)
			return policies(t, root, e.settle())
		}
		steps := []struct {
			name           string
			added, removed []any
			open           string
			with, without  []string
		}{
			{name: "the first", with: []string{"/a"}},
			{name: "two more", added: []any{folder(root + "/b"), folder(root + "/c")}, removed: []any{}, with: []string{"/b", "/c"}},
			{name: "one again", added: []any{folder(root + "/b")}, removed: []any{}},
			{name: "two go", added: []any{}, removed: []any{folder(root + "/a"), folder(root + "/c")}, without: []string{"/a", "/c"}},
			{name: "one comes back", added: []any{folder(root + "/a")}, removed: []any{}, with: []string{"/a"}},
			{name: "a document is opened", open: root + "/a/" + projectFile, with: []string{"/a"}},
			{name: "its folder goes, the document stays", added: []any{}, removed: []any{folder(root + "/a")}},
		}
		for _, step := range steps {
			if step.open != "" {
				e.open(string(uriOf(step.open)), "")
			}
			with, without := change(step.added, step.removed)
			if diff := cmp.Diff([2][]string{step.with, step.without}, [2][]string{with, without}); diff != "" {
				t.Errorf("%s (-want +got):\n%s", step.name, diff)
			}
		}
		e.notify("textDocument/didClose", doc(string(uriOf(root+"/a/"+projectFile))))
		pass(DefaultDebounce)
		if _, without := policies(t, root, e.settle()); !cmp.Equal(without, []string{"/a"}) {
			t.Errorf("closed and without a folder, cleared %v", without)
		}
		e.stop()
	})
}

func TestWorkspace_closedDocumentsOfAFolderAreCheckedAsTheyAreOnDisk(t *testing.T) {
	root := tree(t, projectFile)
	synctest.Test(t, func(t *testing.T) {
		core := newDiskCore()
		core.parse = core.check
		e := start(t, core, Options{})
		uri := string(uriOf(filepath.Join(root, projectFile)))
		e.initialize(nil, map[string]any{"workspaceFolders": []any{folder(root)}})
		e.open(uri, "x")
		synctest.Wait()
		pass(DefaultDebounce)
		e.settle()
		e.notify("textDocument/didClose", doc(uri))
		if got := e.diagnostics(uri); string(got.Diagnostics) != "[]" {
			t.Errorf("published %s", got.Diagnostics)
		}
		pass(DefaultDebounce)
		if got := e.diagnostics(uri); len(got.messages()) != 1 || got.Version != nil {
			t.Errorf("published %s", got.Diagnostics)
		}
		e.stop()
	})
}

func TestWorkspace_openedFilesAreKnownByTheClientsSpelling(t *testing.T) {
	root := tree(t, projectFile)
	synctest.Test(t, func(t *testing.T) {
		e := start(t, newDiskCore(), Options{})
		usual := string(uriOf(filepath.Join(root, projectFile)))
		odd := strings.Replace(usual, "/.sandbox/", "/%2esandbox/", 1)
		e.initialize(nil, map[string]any{"workspaceFolders": []any{folder(root)}})
		if got := e.diagnostics(usual).messages(); len(got) != 1 {
			t.Errorf("published %v", got)
		}
		e.open(odd, "")
		if got := e.diagnostics(usual); string(got.Diagnostics) != "[]" {
			t.Errorf("under the usual spelling, %s is left", got.Diagnostics)
		}
		if got := e.diagnostics(odd); len(got.messages()) != 1 || *got.Version != 1 {
			t.Errorf("published %s", got.Diagnostics)
		}
		e.stop()
	})
}

func TestWorkspace_watchedFiles(t *testing.T) {
	type event struct {
		file string
		kind int
	}
	const created, changed, deleted = 1, 2, 3
	tests := map[string]struct {
		act    func(t *testing.T, root string)
		open   string
		event  event
		checks []string // the projects that are checked again
		clears []string
	}{
		"a source changes":       {event: event{"a/src/x.js", changed}, checks: []string{"a"}},
		"something else changes": {event: event{"a/README.md", changed}},
		"an open file changes":   {event: event{"a/" + projectFile, changed}, open: "a/" + projectFile},
		"an open file vanishes":  {event: event{"a/src/x.js", deleted}, open: "a/src/x.js", checks: []string{"a"}},
		"a file of no project":   {event: event{"x.js", changed}},
		"a project comes": {
			act: func(t *testing.T, root string) {
				if err := os.MkdirAll(root+"/new/.sandbox", 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(root+"/new/"+projectFile, nil, 0o644); err != nil {
					t.Fatal(err)
				}
			},
			event: event{"new/" + projectFile, created}, checks: []string{"new"},
		},
		"a project goes": {
			act: func(t *testing.T, root string) {
				if err := os.RemoveAll(root + "/a/.sandbox"); err != nil {
					t.Fatal(err)
				}
			},
			event: event{"a/" + projectFile, deleted}, clears: []string{"/a"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			root := tree(t, "a/"+projectFile, "b/"+projectFile)
			synctest.Test(t, func(t *testing.T) {
				core := newDiskCore()
				var checked []string
				inner := core.check
				core.check = func(ctx context.Context, sn *fakeSnapshot) ([]finding.Finding, error) {
					core.mu.Lock()
					checked = append(checked, filepath.Base(sn.root))
					core.mu.Unlock()
					return inner(ctx, sn)
				}
				e := start(t, core, Options{})
				var registered json.RawMessage
				e.answer = func(m message) (any, bool) {
					if m.Method == "client/registerCapability" {
						registered = m.Params
					}
					return nil, true
				}
				e.initialize(map[string]any{"workspace": map[string]any{"didChangeWatchedFiles": map[string]any{"dynamicRegistration": true}}}, map[string]any{"workspaceFolders": []any{folder(root)}})
				if tt.open != "" {
					e.open(string(uriOf(filepath.Join(root, tt.open))), "")
				}
				synctest.Wait()
				pass(DefaultDebounce)
				e.settle()
				if !strings.Contains(string(registered), `"workspace/didChangeWatchedFiles"`) || !strings.Contains(string(registered), `**/.sandbox/**`) {
					t.Errorf("registered %s", registered)
				}
				if slices.Sort(checked); !cmp.Equal(checked, []string{"a", "b"}) {
					t.Errorf("at first, checked %v", checked)
				}
				checked = nil
				if tt.act != nil {
					tt.act(t, root)
				}
				e.notify("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{map[string]any{"uri": string(uriOf(filepath.Join(root, tt.event.file))), "type": tt.event.kind}}})
				synctest.Wait()
				pass(DefaultDebounce)
				if diff := cmp.Diff(tt.checks, checked); diff != "" {
					t.Errorf("checked (-want +got):\n%s", diff)
				}
				if _, without := policies(t, root, e.settle()); !cmp.Equal(tt.clears, without) {
					t.Errorf("cleared %v, want %v", without, tt.clears)
				}
				e.stop()
			})
		})
	}
}
