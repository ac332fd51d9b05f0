package edit

import (
	"fmt"
	"strings"
)

// reserved are the words that look like names and cannot name a function of a module
// or a strict script.
const reserved = " arguments await break case catch class const continue debugger default delete do else enum eval export" +
	" extends false finally for function if implements import in instanceof interface let new null package private" +
	" protected public return static super switch this throw true try typeof undefined var void while with yield "

// WorkloadStub returns the source of a new entry of a workload of a library: each of
// the exports is a function that throws until it is written. With cjs the file is
// CommonJS.
func WorkloadStub(library string, exports []string, cjs bool) string {
	var b strings.Builder
	example := fmt.Sprintf("import * as library from %q;", "sandbox-real/"+library)
	if cjs {
		example = fmt.Sprintf("const library = require(%q);", "sandbox-real/"+library)
	}
	fmt.Fprintf(&b, "// This file runs inside the sandbox of %s, with the permissions of that library\n// and no others. It reaches the library with:\n//   %s\n", library, example)
	for i, name := range distinct(exports) {
		body := fmt.Sprintf("{\n  throw new Error(%s);\n}", literal(fmt.Sprintf("%s is not written yet. Write it in the entry of its workload.", name), '"'))
		b.WriteString("\n")
		plain := identifier.MatchString(name) && !strings.Contains(reserved, " "+name+" ")
		switch {
		case cjs && identifier.MatchString(name):
			fmt.Fprintf(&b, "exports.%s = function () %s;\n", name, body)
		case cjs:
			fmt.Fprintf(&b, "exports[%s] = function () %s;\n", literal(name, '"'), body)
		case plain:
			fmt.Fprintf(&b, "export function %s() %s\n", name, body)
		case name == "default":
			fmt.Fprintf(&b, "export default function () %s\n", body)
		default:
			as := name
			if !identifier.MatchString(name) {
				as = literal(name, '"')
			}
			local := fmt.Sprintf("export%d", i+1)
			fmt.Fprintf(&b, "function %s() %s\nexport { %s as %s };\n", local, body, local, as)
		}
	}
	return b.String()
}
