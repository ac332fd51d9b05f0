// Package cache keeps the results of expensive stages on disk, addressed by the
// content that they were made from.
//
// Nothing in the store is trusted without its hash: an entry that was cut short or
// changed is the same as none.
package cache

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Hash is a SHA-256 sum.
type Hash [sha256.Size]byte

// Sum returns the hash of some bytes.
func Sum(b []byte) Hash { return sha256.Sum256(b) }

// String returns the hash in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText writes the hash in hexadecimal.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads a hash in hexadecimal.
func (h *Hash) UnmarshalText(b []byte) error {
	if hex.DecodedLen(len(b)) != len(h) {
		return fmt.Errorf("a hash has %d characters, not %d", hex.EncodedLen(len(h)), len(b))
	}
	_, err := hex.Decode(h[:], b)
	return err
}

// Key hashes the parts of a cache key. Parts cannot run into each other: each is
// preceded by its length.
func Key(parts ...string) Hash {
	sum := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(sum, "%d:", len(part))
		sum.Write([]byte(part))
	}
	return Hash(sum.Sum(nil))
}

// Store is a folder of entries with an in-memory layer over it. It is safe for
// concurrent use by goroutines and by processes. A nil Store is an empty one that
// keeps nothing.
type Store struct {
	dir   string // "" keeps entries in memory only
	limit int64

	mu       sync.Mutex
	copies   layer // of what the folder has too
	unstored layer // what is nowhere else: there is no folder, or it cannot be written
}

// Bounds of what is held in memory, in bytes. What the folder has too is cheap to
// read again. What it has not is the only copy of something that a run still needs,
// so that bound only keeps a project of absurd size from taking the machine with it.
const (
	copiesLimit   = 64 << 20
	unstoredLimit = 512 << 20
)

// Open opens the store in a folder, creating it when needed, and removes the
// oldest entries while the store is over limit bytes. With an empty dir the store
// is in memory.
func Open(dir string, limit int64) (*Store, error) {
	s := &Store{dir: dir, limit: limit, copies: newLayer(copiesLimit), unstored: newLayer(unstoredLimit)}
	if dir == "" {
		return s, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open the cache: %w", err)
	}
	return s, s.prune()
}

// Get returns the entry of a key.
func (s *Store) Get(key Hash) ([]byte, bool) {
	if s == nil {
		return nil, false
	}
	s.mu.Lock()
	content, ok := s.copies.get(key)
	if !ok {
		content, ok = s.unstored.get(key)
	}
	s.mu.Unlock()
	if ok || s.dir == "" {
		return content, ok
	}
	path := s.path(key)
	raw, err := os.ReadFile(path)
	if err != nil || len(raw) < sha256.Size {
		return nil, false
	}
	content = raw[sha256.Size:]
	if Sum(content) != Hash(raw[:sha256.Size]) {
		_ = os.Remove(path) // torn or tampered with: worth nothing
		return nil, false
	}
	now := time.Now()
	_ = os.Chtimes(path, now, now) // what is used stays when the store is pruned
	s.mu.Lock()
	s.copies.put(key, content)
	s.mu.Unlock()
	return content, true
}

// Put stores an entry. The content must not be changed afterwards. A folder that
// cannot be written costs time in later runs and nothing else: this one keeps the
// entry in memory.
func (s *Store) Put(key Hash, content []byte) {
	if s == nil {
		return
	}
	stored := s.dir != "" && s.write(key, content) == nil
	s.mu.Lock()
	defer s.mu.Unlock()
	if stored {
		s.copies.put(key, content)
	} else {
		s.unstored.put(key, content)
	}
}

// write puts an entry into the folder, whole or not at all.
func (s *Store) write(key Hash, content []byte) error {
	path := s.path(key)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	sum := Sum(content)
	temp, err := os.CreateTemp(filepath.Dir(path), ".entry-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(append(sum[:], content...))
	err = errors.Join(err, temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return err
}

func (s *Store) path(key Hash) string {
	name := key.String()
	return filepath.Join(s.dir, name[:2], name[2:])
}

// prune removes the entries that were used longest ago until the store is within
// its limit, and what crashed processes left behind.
func (s *Store) prune() error {
	type found struct {
		path string
		size int64
		used time.Time
	}
	var entries []found
	var total int64
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // another process may be pruning too
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		entries = append(entries, found{path, info.Size(), info.ModTime()})
		total += info.Size()
		return nil
	})
	if err != nil {
		return fmt.Errorf("prune the cache: %w", err)
	}
	slices.SortFunc(entries, func(a, b found) int { return a.used.Compare(b.used) })
	for _, e := range entries {
		stale := filepath.Base(e.path)[0] == '.' && time.Since(e.used) > time.Hour
		if total <= s.limit && !stale {
			continue
		}
		if os.Remove(e.path) == nil {
			total -= e.size
		}
	}
	return nil
}
