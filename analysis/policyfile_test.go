package analysis

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
)

func TestSnapshot_readsThePolicyUnderEveryNameThatItMayHave(t *testing.T) {
	const literal = `{ "gone-package": { permisions: [] } }`
	tests := map[string]struct {
		files map[string]string // below .sandbox
		open  map[string]string // likewise, in the editor only
		file  string
		codes string // of the findings that the text alone tells, in order
		says  string
	}{
		"none":             {nil, nil, "sandbox.config.js", "SBX001", "no policy at .sandbox/sandbox.config.js"},
		"js":               {map[string]string{"sandbox.config.js": "export default " + literal}, nil, "sandbox.config.js", "SBX004", ""},
		"mjs":              {map[string]string{"sandbox.config.mjs": "export default " + literal}, nil, "sandbox.config.mjs", "SBX004", ""},
		"cjs":              {map[string]string{"sandbox.config.cjs": "module.exports = " + literal}, nil, "sandbox.config.cjs", "SBX004", ""},
		"ts":               {map[string]string{"sandbox.config.ts": "export default " + literal + " satisfies object"}, nil, "sandbox.config.ts", "SBX004", ""},
		"open but unsaved": {nil, map[string]string{"sandbox.config.ts": "export default " + literal}, "sandbox.config.ts", "SBX004", ""},
		"two":              {map[string]string{"sandbox.config.ts": "", "sandbox.config.js": "export default " + literal}, nil, "sandbox.config.js", "SBX001 SBX004", "nothing that .sandbox/sandbox.config.ts says"},
		"a second unsaved": {map[string]string{"sandbox.config.ts": "export default " + literal}, map[string]string{"sandbox.config.js": "export default {}"}, "sandbox.config.js", "SBX001", "nothing that .sandbox/sandbox.config.ts says"},
		"a folder":         {map[string]string{"sandbox.config.mjs/x": ""}, nil, "sandbox.config.mjs", "SBX001", ".sandbox/sandbox.config.mjs is not a file"},
	}
	s := newSession(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for file, content := range tt.files {
				writeFile(t, filepath.Join(root, ".sandbox", file), content)
			}
			overlay := map[string]string{}
			for file, content := range tt.open {
				overlay[filepath.Join(root, ".sandbox", file)] = content
			}
			sn := s.Snapshot(root, overlay)
			if want := filepath.Join(root, ".sandbox", tt.file); sn.PolicyFile() != want {
				t.Errorf("the policy is %s, want %s", sn.PolicyFile(), want)
			}
			findings, err := sn.Parse(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var codes []string
			var messages string
			for _, f := range findings {
				codes = append(codes, string(f.Code))
				messages += f.Message
				if f.File != ".sandbox/"+tt.file {
					t.Errorf("a finding in %s: %s", f.File, f.Message)
				}
				if len(tt.files) > 1 && f.Code == finding.PolicyUnreadable && f.Severity != finding.Warning {
					t.Errorf("severity %s", f.Severity)
				}
			}
			if got := strings.Join(codes, " "); got != tt.codes || !strings.Contains(messages, tt.says) {
				t.Errorf("findings %s: %s", got, messages)
			}
		})
	}
}
