// Package baseline keeps a list of findings that a project has decided to live with
// for now, so that a check fails for new ones only.
package baseline

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/google/renameio/v2/maybe"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
)

// schemaVersion changes when older programs could misread the file.
const schemaVersion = 1

// maxBytes bounds what is read as a baseline.
const maxBytes = 64 << 20

// Baseline is the content of a baseline file.
type Baseline struct {
	SchemaVersion int `json:"schemaVersion"`
	// Entries are sorted by file, code, library and fingerprint.
	Entries []Entry `json:"entries"`
}

// Entry stands for findings of one kind about one thing. It has no line, so that
// edits elsewhere in the file do not matter.
type Entry struct {
	Code    finding.Code `json:"code"`
	File    string       `json:"file"`
	Library string       `json:"library,omitempty"`
	// Fingerprint is finding.Fingerprint.
	Fingerprint string `json:"fingerprint"`
	// Count is how many such findings there are.
	Count int `json:"count"`
}

func (e Entry) key() Entry {
	e.Count = 0
	return e
}

func keyOf(f finding.Finding) Entry {
	return Entry{Code: f.Code, File: f.File, Library: f.Data["library"], Fingerprint: f.Fingerprint()}
}

// Of returns the baseline that lists the given findings and nothing else.
func Of(findings []finding.Finding) *Baseline {
	counts := map[Entry]int{}
	for _, f := range findings {
		counts[keyOf(f)]++
	}
	b := &Baseline{SchemaVersion: schemaVersion, Entries: []Entry{}}
	for e, n := range counts {
		e.Count = n
		b.Entries = append(b.Entries, e)
	}
	b.sort()
	return b
}

func (b *Baseline) sort() { slices.SortFunc(b.Entries, compare) }

func compare(a, b Entry) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Library, b.Library), cmp.Compare(a.Fingerprint, b.Fingerprint))
}

// Split is what a baseline says about the findings of a check.
type Split struct {
	// New are the findings that the baseline does not list, Known those that it does;
	// both are in the order of the findings.
	New, Known []finding.Finding
	// Stale are the entries, with their counts, that no finding meets any more.
	Stale []Entry
}

// Split tells the findings that are listed from those that are not. Of more findings
// than an entry counts the later ones are new.
func (b *Baseline) Split(findings []finding.Finding) Split {
	left := map[Entry]int{}
	for _, e := range b.Entries {
		left[e.key()] += e.Count
	}
	var s Split
	for _, f := range findings {
		if key := keyOf(f); left[key] > 0 {
			left[key]--
			s.Known = append(s.Known, f)
		} else {
			s.New = append(s.New, f)
		}
	}
	for e, n := range left {
		if n > 0 {
			e.Count = n
			s.Stale = append(s.Stale, e)
		}
	}
	slices.SortFunc(s.Stale, compare)
	return s
}

// Error is a baseline file that cannot be used, in words for the person who named it.
type Error struct {
	message string
	cause   error
}

func (e *Error) Error() string { return e.message }

func (e *Error) Unwrap() error { return e.cause }

// Read reads a baseline file. What is wrong with it is an *Error.
func Read(path string) (*Baseline, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &Error{fmt.Sprintf("there is no baseline at %s; make one with: sandbox-lsp check --write-baseline %s", path, path), err}
	case err == nil && info.Size() > maxBytes:
		return nil, &Error{fmt.Sprintf("the baseline %s has %d MiB, more than the %d that are read", path, info.Size()>>20, maxBytes>>20), nil}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, &Error{fmt.Sprintf("the baseline cannot be read: %v", err), err}
	}
	var b Baseline
	if err := json.Unmarshal(raw, &b); err != nil {
		return nil, &Error{fmt.Sprintf("the baseline %s is not the JSON that --write-baseline writes, so no finding can be held against it: %v; write it anew", path, err), err}
	}
	if b.SchemaVersion != schemaVersion {
		return nil, &Error{fmt.Sprintf("the baseline %s has version %d, and this program reads version %d; write it anew with --write-baseline, or update sandbox-lsp", path, b.SchemaVersion, schemaVersion), nil}
	}
	return &b, nil
}

// Write replaces a baseline file in one step where the system can. A file that cannot
// be written is an *Error.
func (b *Baseline) Write(path string) error {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(b); err != nil {
		return fmt.Errorf("write the baseline: %w", err)
	}
	if err := maybe.WriteFile(path, out.Bytes(), 0o644); err != nil {
		return &Error{fmt.Sprintf("the baseline cannot be written: %v; its folder has to exist and to be writable", err), err}
	}
	return nil
}
