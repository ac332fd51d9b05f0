package resolve

import (
	"slices"
	"strings"
	"testing"
)

func TestTypesPackage_followsTheNamesOfDefinitelyTyped(t *testing.T) {
	tests := map[string]struct {
		types string
		known bool
	}{
		"lodash":               {"@types/lodash", true},
		"lodash/fp":            {"@types/lodash", true},
		"bn.js":                {"@types/bn.js", true},
		"@babel/core":          {"@types/babel__core", true},
		"@babel/core/lib/x.js": {"@types/babel__core", true},
		"@scope/name":          {"@types/scope__name", false},
		"scope/name":           {"@types/scope", false},
		"nobody-has-this":      {"@types/nobody-has-this", false},
		"uuid":                 {"@types/uuid", false}, // it has its own
		"./lodash":             {"", false},
		"@scope":               {"", false},
	}
	for library, tt := range tests {
		if types, known := TypesPackage(library); types != tt.types || known != tt.known {
			t.Errorf("%s: %s %v", library, types, known)
		}
	}
	if len(definitelyTyped) < 40 {
		t.Errorf("only %d packages are known", len(definitelyTyped))
	}
	for name := range definitelyTyped {
		if _, _, ok := SplitRequest(name); !ok || strings.Contains(name, "/") || slices.Contains([]string{"uuid", "marked", "glob"}, name) {
			t.Errorf("%q cannot be listed", name)
		}
	}
}
