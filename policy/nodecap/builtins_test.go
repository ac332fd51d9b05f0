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

func TestLookup_givesTheManifestsDecision(t *testing.T) {
	for request, want := range map[string]Disposition{
		"path": Allowed, "node:path": Allowed, "_stream_readable": Allowed, "zlib": Attenuated, "node:sqlite": Attenuated,
		"fs": ModeDependent, "node:fs/promises": ModeDependent, "cluster": Denied, "node:test": Denied, "node:quic": OptionalDenied,
		"sqlite": "", "quic": "", "lodash": "",
	} {
		if got, ok := Lookup(request); got != want || ok != (want != "") {
			t.Errorf("Lookup(%q) = %q %v, want %q", request, got, ok, want)
		}
	}
}
