package resolve

import (
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// Nearest returns the candidate with the fewest edits from a word, or "" when none
// is near enough to be meant. Ties go to the first in sorted order.
func Nearest(word string, candidates []string) string {
	return newDictionary(candidates).nearest(word)
}

// dictionary is a set of names that words are compared with.
type dictionary struct {
	names []entry // sorted
}

type entry struct {
	name, folded string
	letters      [32]int32 // how often each occurs; some share a place
}

func newDictionary(names []string) *dictionary {
	names = slices.Clone(names)
	slices.Sort(names)
	names = slices.Compact(names)
	d := &dictionary{names: make([]entry, len(names))}
	for i, name := range names {
		folded := strings.ToLower(name)
		d.names[i] = entry{name, folded, letters(folded)}
	}
	return d
}

func letters(word string) (counts [32]int32) {
	for _, r := range word {
		counts[r&31]++
	}
	return counts
}

// nearest returns the name with the fewest edits from a word. Two edits in six letters
// is about what a typing error amounts to; more makes for silly suggestions.
func (d *dictionary) nearest(word string) string {
	best, distance := "", max(1, len(word)/3)+1
	folded := strings.ToLower(word)
	sought := entry{word, folded, letters(folded)}
	for _, e := range d.names {
		// An edit brings one letter at most and takes one at most, so most names are known
		// to be too far without counting their edits.
		if e.name == word || apart(sought, e) >= distance {
			continue
		}
		edits := levenshtein.Distance(folded, e.folded, nil)
		if swapped(word, e.name) {
			edits = 1
		}
		if edits < distance {
			best, distance = e.name, edits
		}
	}
	return best
}

// apart returns how many edits there are at least between two names.
func apart(a, b entry) int {
	if swapped(a.name, b.name) {
		return 0
	}
	more, less := 0, 0
	for i := range a.letters {
		if d := int(a.letters[i] - b.letters[i]); d > 0 {
			more += d
		} else {
			less -= d
		}
	}
	return max(more, less)
}

// swapped reports whether two words differ by one exchange of neighbours, the
// commonest slip of the hand, which counts as two edits otherwise.
func swapped(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := 0; i+1 < len(a); i++ {
		if a[i] != b[i] {
			return a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
		}
	}
	return false
}
