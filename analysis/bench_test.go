package analysis

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// five are the libraries that the build is measured with, beside the peer's.
const five = `export default {
  lodash: { permissions: [] },
  dayjs: { permissions: [] },
  zod: { permissions: [] },
  "date-fns": { permissions: [] },
  uuid: { permissions: ["crypto"] },
};
`

func project(b *testing.B) *Snapshot {
	b.Helper()
	root, err := filepath.Abs(filepath.Join("..", "testdata", "projects", "storefront"))
	if err != nil {
		b.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "node_modules")); err != nil {
		b.Fatal("the packages of storefront are not installed; run: make deps")
	}
	s, err := NewSession(Options{CacheDir: "-", Version: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close(context.Background()) })
	return s.Snapshot(root, map[string]string{filepath.Join(root, ".sandbox", "sandbox.config.js"): five})
}

// BenchmarkBuild_ofFive is a build with nothing cached, less the load check and the
// writing: policy, resolution, bundles, declarations, proxies and manifest.
func BenchmarkBuild_ofFive(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		sn := project(b)
		b.StartTimer()
		result, err := sn.check(b.Context(), nil, stages{})
		if err != nil {
			b.Fatal(err)
		}
		if err := sn.compose(&Build{Result: result}, nil, manifest{}); err != nil { // no build went before it
			b.Fatal(err)
		}
	}
}

// BenchmarkBuild_ofFiveWithLoad is the same with the load check, in worker processes
// that start anew.
func BenchmarkBuild_ofFiveWithLoad(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		sn := project(b)
		b.StartTimer()
		result, err := sn.Check(b.Context(), nil)
		if err != nil {
			b.Fatal(err)
		}
		if err := sn.compose(&Build{Result: result}, nil, manifest{}); err != nil { // no build went before it
			b.Fatal(err)
		}
	}
}

// BenchmarkCheck_nothingChanged is what an edit costs that changes no library, once
// the debounce is over.
func BenchmarkCheck_nothingChanged(b *testing.B) {
	sn := project(b)
	if _, err := sn.Check(b.Context(), nil); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := sn.Check(b.Context(), nil); err != nil {
			b.Fatal(err)
		}
	}
}
