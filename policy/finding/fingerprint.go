package finding

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
)

// identifying are the fields of Data that say what a finding is about. The others
// say what is known of it today: a stack, a suggestion, a version.
var identifying = []string{"library", "workload", "permission", "permissions", "global", "option", "rule", "problem", "specifier", "builtin", "limit"}

// Fingerprint names a finding in the same way after lines have moved and sentences
// were reworded: it is made of the code, the file and the fields of Data that say
// what the finding is about. Two findings of one project may share it, such as two
// options of the wrong type in one entry.
func (f Finding) Fingerprint() string {
	sum := sha256.New()
	part := func(s string) {
		fmt.Fprintf(sum, "%d:", len(s))
		io.WriteString(sum, s)
	}
	part(string(f.Code))
	part(f.File)
	for _, field := range identifying {
		if value, ok := f.Data[field]; ok {
			part(field)
			part(value)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}
