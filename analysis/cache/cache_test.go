package cache

import (
	"bytes"
	"os"
	"path/filepath"
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
	if err := first.Put(key, []byte("content")); err != nil {
		t.Fatal(err)
	}
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
	if err := s.Put(key, []byte("honest")); err != nil {
		t.Fatal(err)
	}
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
			if err := fresh.Put(key, []byte("honest")); err != nil {
				t.Fatal(err)
			}
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
		if err := s.Put(key, make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
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
