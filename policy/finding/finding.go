// Package finding defines the one type in which every layer says what is wrong
// with a policy: the policy reader, the build, the load check, and later the
// harness and the Node manifest all produce it, and the CLI and the language
// server both print it unchanged.
package finding

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// Severity grades a finding. The numbers are those of LSP 3.18
// (DiagnosticSeverity), so that a smaller one is more severe.
type Severity int

// The four severities.
const (
	Error Severity = iota + 1
	Warning
	Info
	Hint
)

var severityNames = map[Severity]string{Error: "error", Warning: "warning", Info: "info", Hint: "hint"}

// String returns "error", "warning", "info" or "hint".
func (s Severity) String() string {
	if name, ok := severityNames[s]; ok {
		return name
	}
	return fmt.Sprintf("severity(%d)", int(s))
}

// AtLeast reports whether s is as severe as the threshold or more so.
func (s Severity) AtLeast(threshold Severity) bool { return s <= threshold }

// MarshalText writes the severity's name.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a severity's name.
func (s *Severity) UnmarshalText(b []byte) error {
	for sev, name := range severityNames {
		if name == string(b) {
			*s = sev
			return nil
		}
	}
	return fmt.Errorf("unknown severity %q", b)
}

// Finding is one thing that a person should know. The JSON form is part of the
// CLI's interface.
type Finding struct {
	Code     Code     `json:"code"`
	Severity Severity `json:"severity"`
	// Message says what is wrong and what to do about it, in one or two sentences.
	Message string `json:"message"`
	// File is slash-separated and relative to the project root, with ../ for a file
	// outside of it.
	File string `json:"file"`
	// Range is in UTF-16 positions of the file's text.
	Range   text.Range `json:"range"`
	Related []Related  `json:"related"`
	Fixes   []Fix      `json:"fixes"`
	// Data holds what tools may want without parsing the message: the library, the
	// permission, the guest stack.
	Data map[string]string `json:"data"`
}

// Related points at another place that explains a finding.
type Related struct {
	Message string     `json:"message"`
	File    string     `json:"file"`
	Range   text.Range `json:"range"`
}

// Fix is a change that resolves a finding. Its edits do not overlap and belong
// together: one of them alone would leave a file broken.
type Fix struct {
	Title string `json:"title"`
	Edits []Edit `json:"edits"`
	// Creates are files to be written first, none of which may exist.
	Creates []NewFile `json:"creates,omitempty"`
	// Preferred marks a fix that may be made without asking, together with those of
	// other findings: the author can mean nothing else, and no library may do more
	// afterwards than before.
	Preferred bool `json:"preferred,omitempty"`
	// Grants marks a fix after which a library may do more than before. A person has
	// to choose it: nothing may make it unasked, even where it is the only fix.
	Grants bool `json:"grants,omitempty"`
}

// NewFile is a file that a fix writes.
type NewFile struct {
	File string `json:"file"` // as in Finding
	Text string `json:"text"`
}

// Edit replaces a range of one file.
type Edit struct {
	File    string     `json:"file"`
	Range   text.Range `json:"range"`
	NewText string     `json:"newText"`
}

// MarshalJSON writes empty lists as [] and {} rather than null, which LSP clients
// and scripts alike trip over.
func (f Finding) MarshalJSON() ([]byte, error) {
	type plain Finding
	p := plain(f)
	if p.Related == nil {
		p.Related = []Related{}
	}
	if p.Fixes == nil {
		p.Fixes = []Fix{}
	}
	if p.Data == nil {
		p.Data = map[string]string{}
	}
	return json.Marshal(p)
}

// MarshalJSON writes an empty list of edits as [].
func (f Fix) MarshalJSON() ([]byte, error) {
	type plain Fix
	p := plain(f)
	if p.Edits == nil {
		p.Edits = []Edit{}
	}
	return json.Marshal(p)
}

// Sort orders findings by file, place, severity, code and message, the order in
// which every report prints them, and drops exact repetitions.
func Sort(findings []Finding) []Finding {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(a.File, b.File),
			cmp.Compare(a.Range.Start.Line, b.Range.Start.Line),
			cmp.Compare(a.Range.Start.Character, b.Range.Start.Character),
			cmp.Compare(a.Severity, b.Severity),
			cmp.Compare(a.Code, b.Code),
			cmp.Compare(a.Message, b.Message),
			cmp.Compare(a.Range.End.Line, b.Range.End.Line),
			cmp.Compare(a.Range.End.Character, b.Range.End.Character),
		)
	})
	return slices.CompactFunc(findings, func(a, b Finding) bool {
		return a.Code == b.Code && a.Message == b.Message && a.File == b.File && a.Range == b.Range
	})
}

// Worst returns the most severe severity present, or 0 when there is none.
func Worst(findings []Finding) Severity {
	var worst Severity
	for _, f := range findings {
		if worst == 0 || f.Severity < worst {
			worst = f.Severity
		}
	}
	return worst
}
