package resolve

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agext/levenshtein"
)

// plainly is Nearest without its short cuts.
func plainly(word string, candidates []string) string {
	candidates = slices.Sorted(slices.Values(candidates))
	best, distance := "", max(1, len(word)/3)+1
	for _, candidate := range candidates {
		d := levenshtein.Distance(strings.ToLower(word), strings.ToLower(candidate), nil)
		if swapped(word, candidate) {
			d = 1
		}
		if d < distance && candidate != word {
			best, distance = candidate, d
		}
	}
	return best
}

func TestNearest_findsWhatCountingAllEditsFinds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		runes := []rune("abcABC-@/é漢")
		out := make([]rune, 1+random.IntN(12))
		for i := range out {
			out[i] = runes[random.IntN(len(runes))]
		}
		return string(out)
	}
	for range 2000 {
		var candidates []string
		for range 20 {
			candidates = append(candidates, word())
		}
		w := word()
		if random.IntN(2) == 0 { // one that is near
			runes := []rune(candidates[0])
			runes[random.IntN(len(runes))] = 'b'
			w = string(runes)
		}
		if got, want := Nearest(w, candidates), plainly(w, candidates); got != want {
			t.Fatalf("nearest to %q of %q: got %q, want %q", w, candidates, got, want)
		}
	}
}

// A generated policy may have tens of thousands of libraries. Each of those that are
// not there costs the same, whatever is installed.
func BenchmarkPackages_absent(b *testing.B) {
	root := b.TempDir()
	for i := range 500 {
		folder := filepath.Join(root, "node_modules", fmt.Sprintf("installed-library-%d", i))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			b.Fatal(err)
		}
	}
	for _, n := range []int{1000, 10000} {
		requests := make([]string, n)
		for i := range requests {
			requests[i] = fmt.Sprintf("%d-that-nobody-has", i)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for range b.N {
				if _, err := Packages(b.Context(), root, requests); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/request")
		})
	}
}
