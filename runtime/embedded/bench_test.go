package embedded

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// BenchmarkMembrane measures calls with inputs that are fresh each time, in
// microseconds; testdata/bench/embedded.mjs holds them against V8's.
func BenchmarkMembrane(b *testing.B) {
	bench := filepath.Join("..", "..", "testdata", "bench")
	rows, err := os.ReadFile(filepath.Join(bench, "embedded-rows.js"))
	if err != nil {
		b.Fatal(err)
	}
	lodash, err := os.ReadFile(filepath.Join(bench, "node_modules", "lodash", "lodash.js"))
	if err != nil {
		b.Skip("lodash is not installed: make bench does that")
	}
	source, err := json.Marshal(string(lodash))
	if err != nil {
		b.Fatal(err)
	}
	h := open(b)
	var figures map[string]float64
	text := in(b, h, `
		const { library, rows, measure } = `+string(rows)+`;
		const sandbox = SandboxManager.createSandboxSync("bench", `+string(source)+` + ";" + library, { limits: { memoryMB: 256 } });
		const all = rows(sandbox.exports);
		const now = () => performance.now();
		return JSON.stringify(Object.fromEntries(Object.keys(all).map((name) => [name, measure(all[name], now, 500)])));`)
	if err := json.Unmarshal([]byte(text), &figures); err != nil {
		b.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(figures)) {
		us := figures[name]
		b.Run(name, func(b *testing.B) {
			for b.Loop() { // it is measured inside, without what makes the inputs
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(us, "us/call")
		})
	}
}
