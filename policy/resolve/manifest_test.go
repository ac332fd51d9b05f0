package resolve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestManifestFault_isWhereTheFileBreaksOff(t *testing.T) {
	tests := map[string]struct {
		content string
		at      string // what stands at the place; "" for the end of the file
		reason  string // "" without a fault
	}{
		"whole":            {`{"name": "app"}`, "", ""},
		"with a BOM":       {"\uFEFF{}", "", ""},
		"a trailing comma": {"{\n  \"a\": 1,\n}\n", "}\n", "is not valid JSON: invalid character '}'"},
		"behind a BOM":     {"\uFEFF{,}", ",}", "is not valid JSON: invalid character ','"},
		"cut off":          {`{"name": "a`, "", "is not valid JSON: unexpected end"},
		"empty":            {"", "", "is not valid JSON: unexpected end"},
		"a comment":        {"// app\n{}", "// app\n{}", "is not valid JSON: invalid character '/'"},
		"more behind it":   {"{} x", "x", "is not valid JSON: invalid character 'x'"},
		"a list":           {`["a"]`, `["a"]`, "is not a JSON object"},
		"null":             {`null`, `null`, "is not a JSON object"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			root := filepath.Join(t.TempDir(), "below", "it")
			file := filepath.Join(filepath.Dir(root), "package.json") // the nearest upwards counts
			if err := os.MkdirAll(root, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(tt.content), 0o644); err != nil {
				t.Fatal(err)
			}
			fault, found := ManifestFault(root)
			if found != (tt.reason != "") {
				t.Fatalf("found %+v", fault)
			}
			if found && (fault.File != file || !strings.HasPrefix(fault.Reason, tt.reason) || fault.Broken != strings.Contains(tt.reason, "JSON:") || tt.content[fault.Offset:] != tt.at) {
				t.Errorf("%+v, at %q", fault, tt.content[fault.Offset:])
			}
		})
	}
}

func TestManifestFault_ofWhatIsNoFile(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "package.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	fault, found := ManifestFault(root)
	if !found || !fault.Broken || !strings.HasPrefix(fault.Reason, "cannot be read: ") || strings.Contains(fault.Reason, root) {
		t.Errorf("found %+v", fault)
	}
}
