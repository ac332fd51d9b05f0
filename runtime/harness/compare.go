package harness

import "fmt"

// Outcome says what a case is evidence of.
type Outcome string

// The outcomes.
const (
	Compatible    Outcome = "compatible"     // it passes on both sides
	Regression    Outcome = "regression"     // it passes natively only
	Limitation    Outcome = "limitation"     // a regression that the manifest declares
	NativeFailure Outcome = "native-failure" // it fails natively, whatever it does in the sandbox
	Stale         Outcome = "stale"          // declared as a limitation, and passes
	NotRun        Outcome = "not-run"        // it says itself that it is not to run
	Flaky         Outcome = "flaky"          // two native runs differ
)

// Outcomes are all outcomes, in the order in which summaries list them.
var Outcomes = []Outcome{Compatible, Regression, Limitation, Stale, NativeFailure, Flaky, NotRun}

// Side is how a case ended on one side.
type Side struct {
	Status Status // "" when the case did not run there
	Error  *Error
	Ms     float64
}

// Verdict is one case of a campaign.
type Verdict struct {
	File    string
	Name    string // in full
	Outcome Outcome
	// Kind is the kind of difference, of a regression or a limitation.
	Kind Kind
	// Grant is the host global with which a regression was seen to pass, or "".
	Grant string
	// Reason says why the outcome is what it is, where that needs saying.
	Reason          string
	Native, Sandbox Side
}

// Declared is a limitation of the manifest.
type Declared struct {
	Kind   Kind
	Reason string
}

// Compare holds two native runs of the same tests against one in the sandbox. There is
// a verdict for each case that the first native run lists, in its order, and for each
// that only another run lists: nothing is dropped.
func Compare(native, again, sandboxed Run, limitations map[string]Declared) []Verdict {
	second, inside := byKey(again), byKey(sandboxed)
	var verdicts []Verdict
	listed := map[key]bool{}
	for _, c := range native.Cases {
		k := keyOf(c)
		listed[k] = true
		v := Verdict{File: c.File, Name: c.FullName(), Native: sideOf(c)}
		if s, ran := inside[k]; ran {
			v.Sandbox = sideOf(s)
		}
		repeated, ran := second[k]
		declared, expected := limitations[v.Name]
		switch {
		case !ran:
			v.Outcome, v.Reason = Flaky, "a second native run did not have it"
		case repeated.Status != c.Status:
			v.Outcome, v.Reason = Flaky, fmt.Sprintf("%s in one native run and %s in another", c.Status, repeated.Status)
		case c.Status == Skipped:
			v.Outcome, v.Reason = NotRun, "the test is marked to be skipped"
		case c.Status == Todo:
			v.Outcome, v.Reason = NotRun, "the test is marked as still to be done"
		case c.Status == Failed:
			v.Outcome = NativeFailure
		case v.Sandbox.Status == Passed && expected:
			v.Outcome, v.Reason = Stale, "it passes, and the manifest says that it does not"
		case v.Sandbox.Status == Passed:
			v.Outcome = Compatible
		default:
			v.Outcome = Regression
			if v.Sandbox.Status == "" {
				v.Reason = missing(sandboxed)
			}
			v.Kind = Classify(v, sandboxed)
			if expected {
				v.Outcome, v.Kind, v.Reason = Limitation, declared.Kind, declared.Reason
			}
		}
		verdicts = append(verdicts, v)
	}
	for _, other := range []struct {
		run    Run
		native bool
	}{{again, true}, {sandboxed, false}} {
		for _, c := range other.run.Cases {
			if k := keyOf(c); !listed[k] {
				listed[k] = true
				v := Verdict{File: c.File, Name: c.FullName(), Outcome: Flaky, Reason: "only a second native run had it", Native: sideOf(c)}
				if !other.native {
					// Where a native case is missing in the sandbox, that is the regression.
					v.Outcome, v.Native, v.Sandbox = NotRun, Side{}, sideOf(c)
					v.Reason = "only the run in the sandbox has it"
				}
				verdicts = append(verdicts, v)
			}
		}
	}
	return verdicts
}

// missing says why a run lacks a case.
func missing(r Run) string {
	if r.Stopped != "" {
		return "it did not come to it in the sandbox: " + r.Stopped
	}
	return "it did not come to it in the sandbox"
}

type key struct{ file, name string }

func keyOf(c Case) key { return key{c.File, c.FullName()} }

func byKey(r Run) map[key]Case {
	cases := make(map[key]Case, len(r.Cases))
	for _, c := range r.Cases {
		cases[keyOf(c)] = c
	}
	return cases
}

func sideOf(c Case) Side { return Side{c.Status, c.Error, c.Ms} }

// Explain marks the regressions that pass in a run of the sandbox with one more grant.
func Explain(verdicts []Verdict, granted Run, name string) {
	inside := byKey(granted)
	for i := range verdicts {
		v := &verdicts[i]
		if v.Open() && inside[key{v.File, v.Name}].Status == Passed {
			v.Kind, v.Grant, v.Reason = MissingCapability, name, "it passes when "+name+" is granted"
		}
	}
}

// Open reports whether a verdict is a regression that a grant may explain.
func (v Verdict) Open() bool {
	return v.Outcome == Regression && v.Grant == "" && v.Kind != Limit && v.Kind != MembraneFault
}
