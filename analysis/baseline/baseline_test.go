package baseline

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

func at(line int, code finding.Code, file, library string) finding.Finding {
	return finding.Finding{
		Code: code, Severity: finding.Error, File: file, Message: "m",
		Range: text.Range{Start: text.Position{Line: line}}, Data: map[string]string{"library": library},
	}
}

func TestSplit(t *testing.T) {
	first, again, other := at(1, "SBX004", "a.js", "qs"), at(5, "SBX004", "a.js", "qs"), at(2, "SBX014", "a.js", "uuid")
	moved := at(90, "SBX004", "a.js", "qs")
	moved.Message = "reworded"
	tests := map[string]struct {
		listed, now []finding.Finding
		new, known  []int // lines
		stale       []string
	}{
		"all known":               {[]finding.Finding{first, other}, []finding.Finding{first, other}, nil, []int{1, 2}, nil},
		"nothing listed":          {nil, []finding.Finding{first}, []int{1}, nil, nil},
		"moved and reworded":      {[]finding.Finding{first}, []finding.Finding{moved}, nil, []int{90}, nil},
		"one more of the kind":    {[]finding.Finding{first}, []finding.Finding{first, again}, []int{5}, []int{1}, nil},
		"one less of the kind":    {[]finding.Finding{first, again}, []finding.Finding{first}, nil, []int{1}, []string{"SBX004 1"}},
		"gone":                    {[]finding.Finding{first, again, other}, nil, nil, nil, []string{"SBX004 2", "SBX014 1"}},
		"in another file":         {[]finding.Finding{first}, []finding.Finding{at(1, "SBX004", "b.js", "qs")}, []int{1}, nil, []string{"SBX004 1"}},
		"of another library":      {[]finding.Finding{first}, []finding.Finding{at(1, "SBX004", "a.js", "ms")}, []int{1}, nil, []string{"SBX004 1"}},
		"nothing at all":          {nil, nil, nil, nil, nil},
		"listed twice in a merge": {[]finding.Finding{first, first}, []finding.Finding{first, again}, nil, []int{1, 5}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := Of(tt.listed).Split(tt.now)
			lines := func(findings []finding.Finding) []int {
				var out []int
				for _, f := range findings {
					out = append(out, f.Range.Start.Line)
				}
				return out
			}
			var stale []string
			for _, e := range s.Stale {
				stale = append(stale, string(e.Code)+" "+string(rune('0'+e.Count)))
			}
			if diff := cmp.Diff([]any{tt.new, tt.known, tt.stale}, []any{lines(s.New), lines(s.Known), stale}); diff != "" {
				t.Errorf("new, known, stale (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWrite_isSortedAndReadsBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "baseline.json")
	findings := []finding.Finding{at(1, "SBX014", "b.js", "b"), at(1, "SBX014", "b.js", "a"), at(1, "SBX003", "b.js", "z"), at(1, "SBX060", "a.js", ""), at(9, "SBX060", "a.js", "")}
	if err := Of(findings).Write(path); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(findings)
	if err := Of(findings).Write(path); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(path); err != nil || string(again) != string(raw) {
		t.Errorf("the order of the findings shows in the file: %v\n%s", err, again)
	}
	b, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, e := range b.Entries {
		order = append(order, e.File+" "+string(e.Code)+" "+e.Library)
	}
	if diff := cmp.Diff([]string{"a.js SBX060 ", "b.js SBX003 z", "b.js SBX014 a", "b.js SBX014 b"}, order); diff != "" || b.Entries[0].Count != 2 {
		t.Errorf("entries (-want +got):\n%s\n%s", diff, raw)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("left in the folder: %v %v", entries, err)
	}
}

func TestRead_saysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	for name, tt := range map[string]struct{ content, want string }{
		"truncated":       {`{"schemaVersion": 1, "entr`, "write it anew"},
		"another version": {`{"schemaVersion": 2, "entries": []}`, "version 2"},
		"no version":      {`{"entries": []}`, "version 0"},
		"a list":          {`[]`, "not the JSON"},
		"empty":           {``, "not the JSON"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(tt.content), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Read(path)
		if named := new(Error); !errors.As(err, &named) || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for path, want := range map[string]string{filepath.Join(dir, "missing"): "--write-baseline", dir: "cannot be read"} {
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := Of(nil).Write(filepath.Join(dir, "no", "folder")); err == nil || !strings.Contains(err.Error(), "folder has to exist") {
		t.Errorf("written into no folder: %v", err)
	}
}
