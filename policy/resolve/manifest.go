package resolve

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Fault is a package.json of the application that says nothing.
type Fault struct {
	File   string // absolute
	Broken bool   // it cannot be read, so that the resolver finds no package, whichever are installed
	Offset int    // of the byte that does not fit, as far as that is known
	Reason string // in words that may follow "package.json "
}

// ManifestFault looks at the package.json that the packages of a project are listed
// in, the nearest from the root upwards, and returns what is wrong with it as a whole.
func ManifestFault(root string) (Fault, bool) {
	for dir := root; ; dir = filepath.Dir(dir) {
		file := filepath.Join(dir, "package.json")
		raw, err := os.ReadFile(file)
		if err == nil {
			return faultOf(file, raw)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			var failed *fs.PathError
			if errors.As(err, &failed) {
				err = failed.Err
			}
			return Fault{File: file, Broken: true, Reason: "cannot be read: " + err.Error()}, true
		}
		if dir == filepath.Dir(dir) {
			return Fault{}, false
		}
	}
}

func faultOf(file string, raw []byte) (Fault, bool) {
	bare := trimBOM(raw)
	var fields map[string]json.RawMessage
	err := json.Unmarshal(bare, &fields)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		at := int(syntax.Offset)
		if !strings.HasPrefix(err.Error(), "unexpected end") {
			at-- // what was read ends with the byte that does not fit
		}
		return Fault{File: file, Broken: true, Offset: len(raw) - len(bare) + max(at, 0), Reason: "is not valid JSON: " + err.Error()}, true
	case err != nil || fields == nil:
		return Fault{File: file, Reason: "is not a JSON object"}, true
	}
	return Fault{}, false
}
