package nodecap

import "testing"

func TestIsBuiltin_tellsModulesFromPackages(t *testing.T) {
	for request, want := range map[string]bool{
		"fs": true, "node:fs": true, "fs/promises": true, "node:fs/promises": true,
		"node:sqlite": true, "sqlite": false, "node:test": true, "test": false,
		"lodash": false, "node:lodash": false, "": false, "FS": false, "fs/": false, "_stream_readable": true,
	} {
		if got := IsBuiltin(request); got != want {
			t.Errorf("IsBuiltin(%q) = %v, want %v", request, got, want)
		}
	}
}
