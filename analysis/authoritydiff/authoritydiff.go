// Package authoritydiff says what a change of a project gives to its libraries and
// what it takes from them. It compares two policies, and what the lockfile pins under
// each of them, in words that a reviewer can judge without reading either file.
package authoritydiff

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sandbox-lsp/sandbox-lsp/analysis/lockfile"
	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// Effect is what a change does to authority.
type Effect string

// The effects. Widened: a library may do more than before, or more code runs outside
// of a sandbox. Narrowed is the opposite. Changed is what a reviewer should know
// although it is neither.
const (
	Widened  Effect = "widened"
	Narrowed Effect = "narrowed"
	Changed  Effect = "changed"
)

var rank = map[Effect]int{Widened: 1, Changed: 2, Narrowed: 3}

// Kind says what was changed. Kinds are part of the JSON report.
type Kind string

// The kinds of changes.
const (
	LibraryAdded      Kind = "library-added"
	LibraryRemoved    Kind = "library-removed"
	PermissionAdded   Kind = "permission-added"
	PermissionRemoved Kind = "permission-removed"
	PermissionWhole   Kind = "permission-whole"  // from a list of rules to all of it
	PermissionListed  Kind = "permission-listed" // from all of it to a list of rules
	RuleAdded         Kind = "rule-added"
	RuleRemoved       Kind = "rule-removed"
	RuleLoosened      Kind = "rule-loosened"
	RuleTightened     Kind = "rule-tightened"
	ReasonChanged     Kind = "reason"
	OwnerChanged      Kind = "owner"
	ExpiresChanged    Kind = "expires"
	LimitChanged      Kind = "limit"
	OptionChanged     Kind = "option"
	WorkloadAdded     Kind = "workload-added"
	WorkloadRemoved   Kind = "workload-removed"
	WorkloadChanged   Kind = "workload-changed"
	VersionChanged    Kind = "version"
	IntegrityChanged  Kind = "integrity"
	SourceChanged     Kind = "source"
	DependencyChanged Kind = "dependencies"
)

// Change is one thing that is otherwise than before.
type Change struct {
	Effect Effect
	Kind   Kind
	// Subject is the permission, option, workload or package that changed, or "".
	Subject string
	// Alarm marks what no ordinary change does: a package with other bytes under the
	// same version.
	Alarm bool
	// Words say what changed, as a sentence without its subject, the library.
	Words Words
	// Span is where the present policy says it, or where the library stands.
	Span text.Span
}

// Library is what changed about one library.
type Library struct {
	Name    string
	Changes []Change // the widened ones first
}

// Report is the difference between two states of a project.
type Report struct {
	Revision  string    // as it was asked for
	Commit    string    // its full hash
	Libraries []Library // those with changes, by name
	// Notes say what could not be compared.
	Notes []string
	// File is the present policy relative to the project root, and Mapper its text;
	// Mapper is nil when there is no policy now.
	File   string
	Mapper *text.Mapper
}

// Count returns how many changes have an effect.
func (r *Report) Count(effect Effect) int {
	n := 0
	for _, l := range r.Libraries {
		for _, c := range l.Changes {
			if c.Effect == effect {
				n++
			}
		}
	}
	return n
}

// Range returns where a change stands in the present policy.
func (r *Report) Range(c Change) text.Range {
	if r.Mapper == nil {
		return text.Range{}
	}
	return r.Mapper.Range(c.Span)
}

// Findings returns an SBX060 for each change that widens authority.
func (r *Report) Findings() []finding.Finding {
	var findings []finding.Finding
	for _, l := range r.Libraries {
		for _, c := range l.Changes {
			if c.Effect != Widened {
				continue
			}
			f := finding.Finding{
				Code: finding.WidenedAuthority, Severity: finding.Warning, File: r.File, Range: r.Range(c),
				Message: fmt.Sprintf("%q %s", l.Name, c.Words.Plain()),
				Data:    map[string]string{"library": l.Name, "problem": string(c.Kind), "revision": r.Commit},
			}
			if c.Alarm {
				f.Severity = finding.Error
			}
			switch c.Kind {
			case PermissionAdded, PermissionWhole, RuleAdded, RuleLoosened, ExpiresChanged:
				f.Data["permission"] = c.Subject
			case LimitChanged, OptionChanged:
				f.Data["option"] = c.Subject
			}
			findings = append(findings, f)
		}
	}
	return finding.Sort(findings)
}

// Side is one of the two states.
type Side struct {
	Policy *policy.Policy // nil when there is none
	// Lock is what npm's lockfile pins, nil when there is none, and Folder the project's
	// folder relative to it.
	Lock   *lockfile.Lock
	Folder string
	// Guest are the globals that every sandbox has of its own: a grant of one adds nothing.
	Guest map[string]bool
}

func (s Side) policyOf(name string) (policy.Library, bool) {
	if s.Policy == nil {
		return policy.Library{}, false
	}
	return s.Policy.Library(name)
}

// installed reports whether the lockfile has a package; known is false without one.
func (s Side) installed(request string) (installed, known bool) {
	_, installed = s.Lock.Find(s.Folder, request)
	return installed, s.Lock != nil
}

// Compare returns what changed for the libraries from one state to the other.
// revision is how the report names the former.
func Compare(before, after Side, revision string) []Library {
	var all []Library
	for _, name := range libraries(before, after) {
		c := comparison{name: name, before: before, after: after, revision: revision}
		c.compareLibrary()
		if len(c.changes) == 0 {
			continue
		}
		slices.SortStableFunc(c.changes, func(a, b Change) int {
			if a.Alarm != b.Alarm {
				return map[bool]int{true: -1, false: 1}[a.Alarm]
			}
			return cmp.Compare(rank[a.Effect], rank[b.Effect])
		})
		all = append(all, Library{Name: name, Changes: c.changes})
	}
	return all
}

// libraries returns the names of the libraries of both states, sorted.
func libraries(sides ...Side) []string {
	var names []string
	for _, s := range sides {
		if s.Policy == nil {
			continue
		}
		for _, l := range s.Policy.Libraries {
			names = append(names, l.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
