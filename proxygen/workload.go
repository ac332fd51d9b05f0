package proxygen

import (
	"fmt"
	"slices"
	"strings"
)

// GenerateWorkload writes the proxy of a workload. It shares the sandbox of its
// library's proxy, which it imports from the same folder.
func GenerateWorkload(w Workload) (Output, error) {
	if w.Library == "" || w.Name == "" {
		return Output{}, fmt.Errorf("generate a workload's proxy: library %q, name %q", w.Library, w.Name)
	}
	library := FileName(w.Library)
	base := library + "." + w.Name
	if w.Bundle.Path == "" {
		w.Bundle.Path = "../../dist/" + base + ".workload.bundle.js"
	}
	if w.Bundle.URL == "" {
		w.Bundle.URL = "/dist/" + base + ".workload.bundle.js"
	}
	title := w.Library + ", workload " + w.Name
	out := newWriter(base+"-proxy.js", w.Dir)
	out.print(header(title))
	out.print("import { loadBundle } from " + quote(runtimePackage) + ";\n")
	out.print("import { __sandbox } from " + quote("./"+library+"-proxy.js") + ";\n\n")
	out.print("const workloadCode = " + w.Bundle.load() + ";\n")
	out.print("const workload = await __sandbox.loadWorkload(" + quote(w.Name) + ", workloadCode);\n\n")
	out.print("// A workload lives and ends with its library's sandbox: see disposeLibrary there.\nexport function disposeWorkload() {}\n\n")
	types := header(title) + "\n"
	for _, name := range sorted(w.Exports) {
		if name == "disposeWorkload" {
			continue
		}
		access := "workload[" + quote(name) + "]"
		if isIdentifier(name) {
			access = "workload." + name
		}
		switch local := binding(name); {
		case name == "default":
			out.print("export default " + access + ";\n")
		case isFree(name) && !workloadNames[name]:
			out.print("export const " + name + " = " + access + ";\n")
		default:
			out.print("const " + local + " = " + access + ";\nexport { " + local + " as " + exportName(name) + " };\n")
		}
	}
	return Output{JS: out.finish(), DTS: []byte(types + w.types()), Map: out.sourceMap()}, nil
}

// workloadNames are the bindings of a workload proxy's own.
var workloadNames = map[string]bool{"loadBundle": true, "__sandbox": true, "workloadCode": true, "workload": true, "URL": true, "undefined": true}

// types declares a workload's exports: by the adapter's own types where it has any,
// as functions of anything where it is JavaScript.
func (w Workload) types() string {
	var b strings.Builder
	names := slices.DeleteFunc(sorted(w.Exports), func(n string) bool { return n == "disposeWorkload" })
	if w.Entry != "" && isTypeScript(w.Entry) {
		for i, n := range names {
			names[i] = exportName(n)
		}
		list(&b, "export {", names, moduleSpecifier(relative(w.Dir, w.Entry)))
	} else {
		for _, n := range names {
			declareConst(&b, n, "(...args: any[]) => any")
		}
	}
	b.WriteString("export declare function disposeWorkload(): void;\n")
	return b.String()
}

func sorted(names []string) []string {
	out := slices.Clone(names)
	slices.Sort(out)
	return slices.Compact(out)
}
