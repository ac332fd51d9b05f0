package finding

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

func edit(file string, start, end int, s string) Edit {
	return Edit{File: file, Range: text.Range{Start: text.Position{Character: start}, End: text.Position{Character: end}}, NewText: s}
}

func TestMerge_leavesOutWhatTouches(t *testing.T) {
	fixes := []Fix{
		{Edits: []Edit{edit("a", 6, 7, "six"), edit("a", 9, 9, "!")}},
		{Edits: []Edit{edit("a", 7, 8, "seven")}},
		{Edits: []Edit{edit("b", 7, 8, "other file")}},
		{Edits: []Edit{edit("a", 0, 1, "zero"), edit("b", 8, 8, "touches")}},
		{Edits: []Edit{edit("a", 0, 1, "0")}, Creates: []NewFile{{"c", "x"}}},
		{Creates: []NewFile{{"c", "y"}}},
	}
	merged, skipped := Merge(fixes)
	want := Fix{
		Edits:   []Edit{edit("a", 0, 1, "0"), edit("a", 6, 7, "six"), edit("a", 9, 9, "!"), edit("b", 7, 8, "other file")},
		Creates: []NewFile{{"c", "x"}},
	}
	if diff := cmp.Diff(want, merged); diff != "" || skipped != 3 {
		t.Errorf("skipped %d (-want +got):\n%s", skipped, diff)
	}
	if got := Apply("ä123456789", "a", merged.Edits); got != "012345six78!9" {
		t.Errorf("applied: %q", got)
	}
}

func TestPreferred_takesEachFixOnce(t *testing.T) {
	same := Fix{Title: "b", Edits: []Edit{edit("a", 0, 1, "x")}, Preferred: true}
	findings := []Finding{
		{Fixes: []Fix{{Title: "a"}, same}},
		{Fixes: []Fix{{Title: "c"}}},
		{Fixes: []Fix{same}},
	}
	if diff := cmp.Diff([]Fix{same}, Preferred(findings)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPreferred_takesNothingThatGrants(t *testing.T) {
	findings := []Finding{{Fixes: []Fix{{Title: "a", Edits: []Edit{edit("a", 0, 1, "x")}, Preferred: true, Grants: true}}}}
	if fixes := Preferred(findings); len(fixes) > 0 {
		t.Errorf("would make %+v unasked", fixes)
	}
}

func TestFix_writesWhatItHas(t *testing.T) {
	for want, fix := range map[string]Fix{
		`{"title":"t","edits":[]}`: {Title: "t"},
		`{"title":"t","edits":[],"creates":[{"file":"f","text":"x"}],"preferred":true}`: {Title: "t", Creates: []NewFile{{"f", "x"}}, Preferred: true},
		`{"title":"t","edits":[],"grants":true}`:                                        {Title: "t", Grants: true},
	} {
		raw, err := json.Marshal(fix)
		if err != nil || string(raw) != want {
			t.Errorf("got  %s %v\nwant %s", raw, err, want)
		}
	}
}
