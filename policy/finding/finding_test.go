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
