package lsp

import (
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/sandbox-lsp/sandbox-lsp/analysis"
)

// projectFile is the usual name of what makes a folder the root of a project; it may
// have others, see analysis.IsProject.
const projectFile = ".sandbox/sandbox.config.js"

// searchDepth and searchLimit bound the search for projects below a folder of the
// workspace: monorepos put packages two or three levels deep, and a folder that is
// not a workspace at all (a home folder, a disk) must not be walked to its end.
const (
	searchDepth = 6
	searchLimit = 50_000 // folders
)

// initialFolders returns the folders of the workspace as initialize names them: by
// the list, or by one of the two fields that came before it.
func initialFolders(p *protocol.InitializeParams) []string {
	var folders []string
	add := func(path string) {
		if path != "" && !slices.Contains(folders, path) {
			folders = append(folders, path)
		}
	}
	list, ok := p.WorkspaceFolders.Get()
	for _, f := range list {
		add(pathOf(f.URI))
	}
	if ok {
		return folders
	}
	//lint:ignore SA1019 clients from before workspace folders send only these two
	root, rootPath := p.RootURI, p.RootPath
	if root != nil {
		add(pathOf(*root))
	} else if path, ok := rootPath.Get(); ok && filepath.IsAbs(path) {
		add(filepath.Clean(path))
	}
	return folders
}

func (s *server) didChangeWorkspaceFolders(p *protocol.DidChangeWorkspaceFoldersParams) error {
	for _, f := range p.Event.Removed {
		path := pathOf(f.URI)
		s.folders = slices.DeleteFunc(s.folders, func(known string) bool { return known == path })
	}
	var added []string
	for _, f := range p.Event.Added {
		if path := pathOf(f.URI); path != "" && !slices.Contains(s.folders, path) {
			added = append(added, path)
		}
	}
	s.folders = append(s.folders, added...)
	s.dropUnneeded()
	s.discover(added)
	return nil
}

// discover looks for projects in the folders, away from the dispatch loop, and
// checks them.
func (s *server) discover(folders []string) {
	if len(folders) == 0 {
		return
	}
	folders = slices.Clone(folders)
	s.spawn("looking for projects", func(ctx context.Context) {
		for _, folder := range folders {
			roots := findProjects(ctx, folder)
			// A project may also lie around the folder that the client opened.
			if root, _ := s.core.Root(filepath.Join(folder, projectFile)); root != "" && !slices.Contains(roots, root) {
				roots = append(roots, root)
			}
			s.conn.post(ctx, func() {
				if !slices.Contains(s.folders, folder) {
					return // removed while it was searched
				}
				for _, root := range roots {
					if s.projects[root] == nil {
						s.project(root).kick(s.docs.view(), nil)
					}
				}
			})
		}
	})
}

// findProjects returns the roots of the projects in a folder and below it. It does
// not look into packages that are installed, nor follow symbolic links.
func findProjects(ctx context.Context, folder string) []string {
	var roots []string
	left := searchLimit
	_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil || left <= 0 {
			return filepath.SkipAll
		}
		if err != nil {
			return nil // what cannot be read has no project that could be checked
		}
		if !entry.IsDir() {
			return nil
		}
		left--
		if path != folder && (entry.Name() == "node_modules" || strings.HasPrefix(entry.Name(), ".")) {
			return filepath.SkipDir
		}
		if analysis.IsProject(path) {
			roots = append(roots, path)
		}
		if below, err := filepath.Rel(folder, path); err == nil && below != "." && strings.Count(below, string(filepath.Separator))+1 >= searchDepth {
			return filepath.SkipDir
		}
		return nil
	})
	return roots
}

// project returns the project at a root, and starts its worker if it is new.
func (s *server) project(root string) *project {
	p := s.projects[root]
	if p == nil || !p.alive() {
		p = newProject(s, root)
		s.projects[root] = p
		s.spawn("project "+root, p.run)
	}
	return p
}

// changed tells the project of a file, if there is one, that the file has changed,
// and passes a build on that is to follow.
func (s *server) changed(path string, build *buildRequest) {
	if path == "" {
		return
	}
	if root, watched := s.core.Root(path); root != "" && watched {
		s.project(root).kick(s.docs.view(), build)
	}
}

// dropUnneeded ends the projects that lie in no folder of the workspace and have no
// open document; what was published about them is withdrawn.
func (s *server) dropUnneeded() {
	open := s.docs.view().byPath
	for root, p := range s.projects {
		needed := slices.ContainsFunc(s.folders, func(folder string) bool { return within(folder, root) || within(root, folder) })
		for path := range open {
			needed = needed || within(root, path)
		}
		if !needed {
			s.drop(root, p)
		}
	}
}

func (s *server) drop(root string, p *project) {
	delete(s.projects, root)
	p.end()
}

// within reports whether a path is a folder or lies in it.
func within(folder, path string) bool {
	below, err := filepath.Rel(folder, path)
	return err == nil && below != ".." && !strings.HasPrefix(below, ".."+string(filepath.Separator))
}

// didChangeWatchedFiles checks the projects of files that changed on disk. What a
// document that is open says on disk does not matter until it is saved or closed.
func (s *server) didChangeWatchedFiles(p *protocol.DidChangeWatchedFilesParams) error {
	roots := map[string]bool{}
	for _, event := range p.Changes {
		path := pathOf(event.URI)
		if path == "" {
			continue
		}
		if s.docs.open[keyOf(event.URI)] != nil && event.Type == protocol.FileChangeTypeChanged {
			continue
		}
		for root, known := range s.projects {
			// The root of a project that was deleted cannot be asked for any more.
			if event.Type == protocol.FileChangeTypeDeleted && within(root, path) && !analysis.IsProject(root) && !s.hasOpen(root) {
				s.drop(root, known)
			}
		}
		if root, watched := s.core.Root(path); root != "" && watched && s.wanted(root) {
			roots[root] = true
		}
	}
	for root := range roots {
		s.project(root).kick(s.docs.view(), nil)
	}
	return nil
}

// wanted reports whether news of a file in a project matter: the project is known,
// or has come into being in a folder of the workspace.
func (s *server) wanted(root string) bool {
	if s.projects[root] != nil {
		return true
	}
	return analysis.IsProject(root) && slices.ContainsFunc(s.folders, func(folder string) bool { return within(folder, root) })
}

func (s *server) hasOpen(root string) bool {
	for path := range s.docs.view().byPath {
		if within(root, path) {
			return true
		}
	}
	return false
}

// target is what a request about a text document works on: the document or file, its
// project, and the view of everything at the time of the request.
type target struct {
	uri      uri.URI
	path     string
	document *document // nil when the file is not open
	root     string
	view     *view
	snapshot Snapshot
}

// target finds out what a request is about. A document that belongs to no project
// gives a target without a root, about which there is nothing to say.
func (s *server) target(u uri.URI) (*target, error) {
	if u == "" {
		return nil, invalidParams("the params name no document")
	}
	t := &target{uri: u, path: pathOf(u), document: s.docs.open[keyOf(u)], view: s.docs.view()}
	if t.path == "" {
		return t, nil
	}
	if t.root, _ = s.core.Root(t.path); t.root != "" {
		t.snapshot = s.core.Snapshot(t.root, t.view.overlay)
	}
	return t, nil
}
