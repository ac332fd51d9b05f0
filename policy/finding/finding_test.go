package finding

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

func TestFinding_writesEmptyListsNotNull(t *testing.T) {
	raw, err := json.Marshal(Finding{Code: PolicyUnreadable, Severity: Error, Message: "m", File: "f"})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"code":"SBX001","severity":"error","message":"m","file":"f","range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"related":[],"fixes":[],"data":{}}`
	if string(raw) != want {
		t.Errorf("got  %s\nwant %s", raw, want)
	}
	var back Finding
	if err := json.Unmarshal(raw, &back); err != nil || back.Severity != Error || back.Code != PolicyUnreadable {
		t.Errorf("read back %+v %v", back, err)
	}
}

func TestSort_isByPlaceAndDropsRepetitions(t *testing.T) {
	at := func(file string, line int, code Code) Finding {
		return Finding{Code: code, Severity: Error, File: file, Range: text.Range{Start: text.Position{Line: line}}}
	}
	got := Sort([]Finding{at("b", 0, "SBX002"), at("a", 2, "SBX001"), at("a", 1, "SBX004"), at("a", 1, "SBX003"), at("a", 2, "SBX001")})
	want := []Finding{at("a", 1, "SBX003"), at("a", 1, "SBX004"), at("a", 2, "SBX001"), at("b", 0, "SBX002")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestWorst_andThresholds(t *testing.T) {
	if Worst(nil) != 0 || Worst([]Finding{{Severity: Hint}, {Severity: Warning}, {Severity: Info}}) != Warning {
		t.Error("the worst of a list is wrong")
	}
	if !Error.AtLeast(Warning) || Info.AtLeast(Warning) || !Warning.AtLeast(Warning) {
		t.Error("thresholds are wrong")
	}
}

func TestFingerprint_outlivesEditsAndTellsFindingsApart(t *testing.T) {
	base := Finding{Code: UnusedPermission, Severity: Warning, Message: "m", File: "a.js", Data: map[string]string{"library": "qs", "permission": "fetch"}}
	with := func(change func(*Finding)) Finding {
		f := base
		f.Data = map[string]string{"library": "qs", "permission": "fetch"}
		change(&f)
		return f
	}
	for name, f := range map[string]Finding{
		"moved":    with(func(f *Finding) { f.Range.Start.Line = 7 }),
		"reworded": with(func(f *Finding) { f.Message = "n" }),
		"regraded": with(func(f *Finding) { f.Severity = Error }),
		"a stack":  with(func(f *Finding) { f.Data["stack"] = "at x:1:2" }),
	} {
		if f.Fingerprint() != base.Fingerprint() {
			t.Errorf("%s: the fingerprint changed", name)
		}
	}
	for name, f := range map[string]Finding{
		"code":       with(func(f *Finding) { f.Code = MissingPermission }),
		"file":       with(func(f *Finding) { f.File = "b.js" }),
		"library":    with(func(f *Finding) { f.Data["library"] = "uuid" }),
		"permission": with(func(f *Finding) { f.Data["permission"] = "crypto" }),
		"swapped":    with(func(f *Finding) { f.Data = map[string]string{"library": "fetch", "permission": "qs"} }),
		"field":      with(func(f *Finding) { f.Data = map[string]string{"library": "qs", "option": "fetch"} }),
		"no data":    with(func(f *Finding) { f.Data = nil }),
	} {
		if f.Fingerprint() == base.Fingerprint() {
			t.Errorf("another %s has the same fingerprint", name)
		}
	}
}
