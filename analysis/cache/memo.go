package cache

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"
)

// Files hashes files and remembers the hashes for as long as a file's size and
// times stay the same. It is safe for concurrent use.
type Files struct {
	mu    sync.Mutex
	known map[string]fileState
}

type fileState struct {
	size    int64
	changed time.Time
	hash    Hash
}

// NewFiles returns an empty Files.
func NewFiles() *Files { return &Files{known: map[string]fileState{}} }

// settled is how old a file's last change has to be before its time can be relied
// on: within the clock's grain a file may change twice and look the same.
const settled = 2 * time.Second

// Hash returns the hash of a file's content; a file that cannot be read has the
// zero hash, which is as good a state as any other.
func (f *Files) Hash(path string) Hash {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return Hash{}
	}
	f.mu.Lock()
	state, ok := f.known[path]
	f.mu.Unlock()
	if ok && state.size == info.Size() && state.changed.Equal(info.ModTime()) {
		return state.hash
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return Hash{}
	}
	state = fileState{info.Size(), info.ModTime(), Sum(raw)}
	if time.Since(info.ModTime()) > settled {
		f.mu.Lock()
		f.known[path] = state
		f.mu.Unlock()
	}
	return state.hash
}

// Hasher tells the hash of a file's content; Files does for files on disk.
type Hasher interface {
	Hash(path string) Hash
}

// record is a stored result with the files that it was made from.
type record struct {
	Inputs []input         `json:"inputs"`
	Value  json.RawMessage `json:"value"`
}

type input struct {
	Path string `json:"path"`
	Hash Hash   `json:"hash"`
}

// Recall returns the stored value of a key when none of the files that it was made
// from has changed since.
func Recall[T any](s *Store, files Hasher, key Hash) (value T, ok bool) {
	raw, found := s.Get(key)
	if !found {
		return value, false
	}
	var r record
	if json.Unmarshal(raw, &r) != nil {
		return value, false
	}
	for _, in := range r.Inputs {
		if files.Hash(in.Path) != in.Hash {
			return value, false
		}
	}
	return value, json.Unmarshal(r.Value, &value) == nil
}

// Remember stores a value with the files that it was made from, absolute paths in
// any order. Files that do not exist may be among them: their coming into being
// makes the value stale. When a file changed after began, the time at which the
// work on the value started, the value may be of either state, and nothing is
// stored.
func Remember[T any](s *Store, files Hasher, key Hash, value T, inputs []string, began time.Time) error {
	encoded, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode a cache entry: %w", err)
	}
	r := record{Value: encoded, Inputs: []input{}}
	sorted := slices.Clone(inputs)
	slices.Sort(sorted)
	for _, path := range slices.Compact(sorted) {
		if info, err := os.Stat(path); err == nil && info.ModTime().After(began) {
			return nil
		}
		r.Inputs = append(r.Inputs, input{path, files.Hash(path)})
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode a cache entry: %w", err)
	}
	s.Put(key, raw)
	return nil
}
