package analysis

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sandbox-lsp/sandbox-lsp/analysis/appscan"
	"github.com/sandbox-lsp/sandbox-lsp/analysis/cache"
	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/evaluate"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/quickjs"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/worker"
)

// cacheLimit bounds the cache on disk, for all projects of a user together.
const cacheLimit = 512 << 20

// Options configure a Session.
type Options struct {
	// CacheDir holds results between runs; "" means the user's cache folder, and "-"
	// keeps nothing on disk.
	CacheDir string
	// Jobs is how many libraries are worked on at a time; 0 means one per core.
	Jobs int
	// Version of the tool; manifests name it.
	Version string
	Logger  *slog.Logger
	// Uncommitted says whether a check tells, as hints, what the policy gives to its
	// libraries that it did not give in the last commit. That is for editors.
	Uncommitted bool
}

// Session owns what analysis shares between snapshots: the cache, the engine that
// evaluates policies, the processes that load libraries. It is safe for concurrent
// use. Close it once everything that uses it has returned.
type Session struct {
	options   Options
	identity  string // of the program, part of every cache key
	store     *cache.Store
	files     *cache.Files
	evaluator *evaluate.Evaluator
	workers   *worker.Pool
	scanner   *appscan.Scanner

	mu        sync.Mutex
	seen      map[string]*Result    // the last result by root, for what an editor asks between checks
	committed map[string]*committed // what was last committed, by root
	guest     map[string]bool       // see guestGlobals
}

// guestGlobals returns the names that a guest has before anything is granted to it,
// asked of the engine once and kept.
func (s *Session) guestGlobals(ctx context.Context) (map[string]bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.guest != nil {
		return s.guest, nil
	}
	key := cache.Key(s.identity, "guest globals", quickjs.Hash())
	names, ok := cache.Recall[[]string](s.store, s.files, key)
	if !ok {
		began := time.Now()
		var err error
		if names, err = s.evaluator.Globals(ctx); err != nil {
			return nil, err
		}
		if err := cache.Remember(s.store, s.files, key, names, nil, began); err != nil {
			return nil, err
		}
	}
	guest := make(map[string]bool, len(names))
	for _, name := range names {
		guest[name] = true
	}
	s.guest = guest
	return guest, nil
}

// lastSeen returns what the last check of a project knew of a library.
func (s *Session) lastSeen(root, name string) (*Library, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if result := s.seen[root]; result != nil {
		for _, l := range result.Libraries {
			if l.Policy.Name == name {
				return l, true
			}
		}
	}
	return nil, false
}

// see keeps the result of a check.
func (s *Session) see(r *Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[r.Root] = r
}

// NewSession opens a session. Engines start when they are first needed.
func NewSession(options Options) (*Session, error) {
	if options.Jobs <= 0 {
		options.Jobs = runtime.GOMAXPROCS(0)
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	engineCache := ""
	switch options.CacheDir {
	case "-":
		options.CacheDir = ""
	case "":
		dir, err := os.UserCacheDir()
		if err != nil { // no home: a service account, a container
			dir = filepath.Join(os.TempDir(), fmt.Sprintf("sandbox-lsp-%d", os.Getuid()))
		}
		options.CacheDir = filepath.Join(dir, "sandbox-lsp")
	}
	results := ""
	if options.CacheDir != "" {
		results = filepath.Join(options.CacheDir, "results")
		engineCache = filepath.Join(options.CacheDir, "engine")
	}
	store, err := cache.Open(results, cacheLimit)
	if err != nil {
		// A cache that cannot be used costs time, not correctness.
		options.Logger.Warn("working without a cache on disk", "error", err)
		engineCache = ""
		if store, err = cache.Open("", 0); err != nil {
			return nil, err
		}
	}
	return &Session{
		options:   options,
		identity:  identity(options.Version),
		store:     store,
		files:     cache.NewFiles(),
		evaluator: evaluate.New(engineCache),
		workers:   worker.NewPool(options.Jobs, engineCache),
		scanner:   appscan.NewScanner(appscan.Options{Jobs: options.Jobs, Logger: options.Logger}),
		seen:      map[string]*Result{},
		committed: map[string]*committed{},
	}, nil
}

// identity tells one build of the program from another: a version alone is the same
// for every build that a developer makes between two commits, and results of the
// one must not stand for the other's.
func identity(version string) string {
	path, err := os.Executable()
	if err != nil {
		return version
	}
	info, err := os.Stat(path)
	if err != nil {
		return version
	}
	return fmt.Sprintf("%s %d %d", version, info.Size(), info.ModTime().UnixNano())
}

// Close ends the session's processes and engines.
func (s *Session) Close(ctx context.Context) error {
	s.workers.Close()
	return s.evaluator.Close(ctx)
}

// FindRoot returns the project root of a file or folder: the nearest folder, from
// there upwards, that holds a .sandbox folder.
func FindRoot(path string) (string, bool) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", false
	}
	for dir := path; ; dir = filepath.Dir(dir) {
		if filepath.Base(dir) != policy.Folder {
			if info, err := os.Stat(filepath.Join(dir, policy.Folder)); err == nil && info.IsDir() {
				return dir, true
			}
		}
		if dir == filepath.Dir(dir) {
			return "", false
		}
	}
}

// IsProject reports whether a folder holds a policy.
func IsProject(root string) bool {
	if _, err := os.Stat(filepath.Join(root, policy.Folder)); err != nil {
		return false // as most folders, at the price of one question
	}
	return slices.ContainsFunc(policy.ConfigFiles, func(name string) bool {
		info, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
		return err == nil && info.Mode().IsRegular()
	})
}

// Snapshot is one immutable view of a project.
type Snapshot struct {
	session *Session
	root    string
	overlay map[string]string
}

// Snapshot returns a view of the project at root, with the texts of open documents
// by absolute path laid over the files on disk. The map must not be changed
// afterwards.
func (s *Session) Snapshot(root string, overlay map[string]string) *Snapshot {
	return &Snapshot{session: s, root: filepath.Clean(root), overlay: overlay}
}

// Root returns the project root.
func (sn *Snapshot) Root() string { return sn.root }

// PolicyFile returns the path of the project's policy, or of the file to create when
// there is none.
func (sn *Snapshot) PolicyFile() string {
	file, _ := sn.choose(policy.ConfigFiles)
	return file
}

// choose returns the file that counts of those that a configuration may be written
// in, and the paths below the root of the others that exist.
func (sn *Snapshot) choose(names []string) (file string, ignored []string) {
	used, ignored := policy.ChooseFile(names, func(name string) bool {
		path := filepath.Join(sn.root, filepath.FromSlash(name))
		if _, open := sn.overlay[path]; open {
			return true
		}
		// What is there and cannot be read is there all the same: its own finding says so.
		_, err := os.Lstat(path)
		return err == nil
	})
	return filepath.Join(sn.root, filepath.FromSlash(used)), ignored
}

// Read returns the text of a file as the snapshot sees it.
func (sn *Snapshot) Read(path string) (string, error) {
	if content, open := sn.overlay[path]; open {
		return content, nil
	}
	raw, err := os.ReadFile(path)
	return string(raw), err
}

// absolute returns the path of a file that a finding names.
func (sn *Snapshot) absolute(file string) string {
	path := filepath.FromSlash(file)
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(sn.root, path)
}

// Hash returns the hash of a file as the snapshot sees it; it makes a Snapshot a
// cache.Hasher.
func (sn *Snapshot) Hash(path string) cache.Hash {
	if content, open := sn.overlay[path]; open {
		return cache.Sum([]byte(content))
	}
	return sn.session.files.Hash(path)
}

// key returns the cache key of a stage's result for this project.
func (sn *Snapshot) key(stage string, parts ...string) cache.Hash {
	return cache.Key(append([]string{sn.session.identity, stage, sn.root}, parts...)...)
}

// Watches reports whether a project's findings may depend on a file: the policy and
// what lies beside it, the manifests and lockfiles that decide what is installed,
// the project's own sources, and what git writes down at every commit. What a build
// writes is not among them, else every build would call for another.
func Watches(root, path string) bool {
	rel := policy.Relative(root, path)
	if policy.Outside(rel) {
		return slices.Contains(lockfiles, filepath.Base(path)) // of a workspace above the root
	}
	switch {
	case strings.HasPrefix(rel, OutputFolder+"/"), strings.HasPrefix(rel, ProxyFolder+"/"), strings.HasPrefix(rel, "node_modules/"):
		return slices.Contains(lockfiles, rel)
	case strings.HasPrefix(rel, policy.Folder+"/"), slices.Contains(lockfiles, rel):
		return true
	}
	if filepath.Base(rel) == ".gitignore" || rel == ".git/logs/HEAD" {
		return true
	}
	switch strings.ToLower(filepath.Ext(rel)) {
	case ".vue", ".svelte", ".astro", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".json":
		return true
	}
	return false
}
