package cache

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

func TestStore_entriesOutliveTheProcess(t *testing.T) {
	dir := t.TempDir()
	first, err := Open(dir, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	key := Key("a", "b")
	first.Put(key, []byte("content"))
	second, err := Open(dir, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := second.Get(key); !ok || string(got) != "content" {
		t.Errorf("got %q %v", got, ok)
	}
	if _, ok := second.Get(Key("ab")); ok {
		t.Error("a key that was never stored is there")
	}
}

func TestStore_anEntryThatWasChangedIsNone(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	key := Key("x")
	s.Put(key, []byte("honest"))
	for name, change := range map[string]func([]byte) []byte{
		"tampered":  func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
		"cut short": func(b []byte) []byte { return b[:len(b)-2] },
		"empty":     func([]byte) []byte { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			fresh, err := Open(dir, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			fresh.Put(key, []byte("honest"))
			raw, err := os.ReadFile(fresh.path(key))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(fresh.path(key), change(bytes.Clone(raw)), 0o600); err != nil {
				t.Fatal(err)
			}
			reader, err := Open(dir, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			if got, ok := reader.Get(key); ok {
				t.Errorf("served %q", got)
			}
		})
	}
}

func TestOpen_removesTheOldestAboveTheLimit(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	old, young := Key("old"), Key("young")
	for _, key := range []Hash{old, young} {
		s.Put(key, make([]byte, 1000))
	}
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(s.path(old), past, past); err != nil {
		t.Fatal(err)
	}
	small, err := Open(dir, 1500)
	if err != nil {
		t.Fatal(err)
	}
	_, oldThere := small.Get(old)
	_, youngThere := small.Get(young)
	if oldThere || !youngThere {
		t.Errorf("old %v young %v", oldThere, youngThere)
	}
}

func TestKey_partsDoNotRunTogether(t *testing.T) {
	if Key("ab", "c") == Key("a", "bc") || Key("a") == Key("a", "") {
		t.Error("two keys are the same")
	}
}

func TestRecall_noticesEveryChangeOfAnInput(t *testing.T) {
	dir := t.TempDir()
	there, absent := filepath.Join(dir, "there"), filepath.Join(dir, "absent")
	write := func(path, content string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(there, "one")
	s, err := Open("", 0)
	if err != nil {
		t.Fatal(err)
	}
	files, key := NewFiles(), Key("stage")
	type result struct{ N int }
	if err := Remember(s, files, key, result{7}, []string{there, absent}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if got, ok := Recall[result](s, files, key); !ok || got.N != 7 {
		t.Fatalf("fresh: %v %v", got, ok)
	}
	write(there, "two") // same size, and within the grain of the clock
	if _, ok := Recall[result](s, files, key); ok {
		t.Error("a changed input went unnoticed")
	}
	write(there, "one")
	if _, ok := Recall[result](s, files, key); !ok {
		t.Error("an input that is as it was still counts as changed")
	}
	write(absent, "")
	if _, ok := Recall[result](s, files, key); ok {
		t.Error("a new file went unnoticed")
	}
}

func TestRemember_keepsNothingThatChangedMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open("", 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := Remember(s, NewFiles(), Key("k"), 1, []string{path}, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, ok := Recall[int](s, NewFiles(), Key("k")); ok {
		t.Error("a value of two states was kept")
	}
}

func TestStore_aFolderThatCannotBeWrittenLosesNothing(t *testing.T) {
	for name, dir := range map[string]string{"no folder": "", "a file in its place": filepath.Join(t.TempDir(), "cache")} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(dir, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			if dir != "" {
				if err := os.RemoveAll(dir); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(dir, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			large := make([]byte, copiesLimit)
			s.Put(Key("large"), large)
			for i := range 100 {
				s.Put(Key("small", strconv.Itoa(i)), make([]byte, 1<<20))
			}
			if got, ok := s.Get(Key("large")); !ok || len(got) != len(large) {
				t.Errorf("%d bytes, %v", len(got), ok)
			}
		})
	}
}

func TestLayer_dropsWhatWasUsedLongestAgo(t *testing.T) {
	l := newLayer(10)
	l.put(Key("a"), []byte("aa"))
	for _, name := range []string{"b", "c", "d", "e"} {
		l.put(Key(name), []byte("22"))
	}
	l.get(Key("a"))
	l.put(Key("f"), []byte("22"))
	l.put(Key("large"), make([]byte, 3))
	l.put(Key("f"), []byte("1"))
	for name, want := range map[string]bool{"a": true, "b": false, "c": true, "f": true, "large": false} {
		if _, got := l.get(Key(name)); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if l.held != 9 || len(l.entries) != 5 {
		t.Errorf("%d bytes in %d entries", l.held, len(l.entries))
	}
}
