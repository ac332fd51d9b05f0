package analysis

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/harness"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/load"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/worker"
)

// cacheDir is shared by the tests of this package.
var cacheDir string

func TestMain(m *testing.M) {
	worker.ServeIfWorker(load.Service, harness.Service)
	dir, err := os.MkdirTemp("", "sandbox-lsp-analysis-*")
	if err != nil {
		panic(err)
	}
	cacheDir = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// newSession returns a session with the shared cache.
func newSession(t *testing.T) *Session {
	t.Helper()
	s, err := NewSession(Options{CacheDir: cacheDir, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(t.Context()); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	})
	return s
}

func storefront(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", "testdata", "projects", "storefront"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "node_modules")); err != nil {
		t.Fatal("the packages of storefront are not installed; run: make deps")
	}
	return root
}

// generator writes a policy piece by piece and notes where it planted what.
type generator struct {
	t      *testing.T
	random *rand.Rand
	root   string
	out    strings.Builder
	files  map[string]string // open documents, by path below the root
	wants  []planted
}

// planted is a fault: a code at a range of bytes of a file.
type planted struct {
	file string
	code string
	span text.Span
}

func (g *generator) write(format string, args ...any) { fmt.Fprintf(&g.out, format, args...) }

// fault writes text at which a finding has to appear.
func (g *generator) fault(code, text string) {
	start := g.out.Len()
	g.out.WriteString(text)
	g.plant(code, start, g.out.Len())
}

func (g *generator) plant(code string, start, end int) {
	g.wants = append(g.wants, planted{".sandbox/sandbox.config.js", code, text.Span{Start: start, End: end}})
}

// source adds a file of the project, with the place of a fault in it.
func (g *generator) source(content, code, at string) string {
	name := fmt.Sprintf("src/sandbox/generated-%d.js", len(g.files))
	g.files[name] = content
	if code != "" {
		i := strings.Index(content, at)
		g.wants = append(g.wants, planted{name, code, text.Span{Start: i, End: i + len(at)}})
	}
	return name
}

// faults are the kinds that a library's entry may have. Each writes the entry's
// options behind the opening brace; the key is written already, at the given span.
// lodash says that the library is lodash, whose workloads need it.
var faults = []struct {
	name  string
	write func(g *generator, key text.Span)
}{
	{"none", func(g *generator, _ text.Span) { g.write("permissions: []") }},
	{"no permissions", func(g *generator, key text.Span) {
		g.write("snapshot: false")
		g.plant("SBX005", key.Start, key.End)
	}},
	{"unknown option", func(g *generator, _ text.Span) {
		g.write("permissions: [], ")
		g.fault("SBX004", pick(g, "permisions", "limit", "workload", "colour"))
		g.write(": []")
	}},
	{"wrong type", func(g *generator, _ text.Span) {
		g.write("permissions: ")
		g.fault("SBX004", pick(g, `"Intl"`, "true", "{ Intl: true }", "null", "7"))
	}},
	{"wrong element", func(g *generator, _ text.Span) {
		g.write(`permissions: ["Intl", `)
		g.fault("SBX004", pick(g, "1", `""`, "[]", "false"))
		g.write("]")
	}},
	{"unknown global", func(g *generator, _ text.Span) {
		g.write("permissions: [\"Intl\", ")
		g.fault("SBX010", pick(g, `"fecth"`, `'Fetch'`, `"notAGlobal"`))
		g.write("]")
	}},
	{"global of the guest", func(g *generator, _ text.Span) {
		g.write("permissions: [")
		g.fault("SBX011", pick(g, `"Map"`, `"Promise"`, `'JSON'`))
		g.write("]")
	}},
	{"whole realm", func(g *generator, _ text.Span) {
		g.write("permissions: [")
		g.fault("SBX012", pick(g, `"document"`, `"process"`, `"top"`))
		g.write("]")
	}},
	{"loose rule", func(g *generator, _ text.Span) {
		g.write("permissions: [{ name: \"fetch\", allow: [\"%s", pick(g, "https://", ""))
		g.fault("SBX015", "*")
		g.write("\"] }]")
	}},
	{"expired grant", func(g *generator, _ text.Span) {
		g.write("permissions: [{ name: \"fetch\", reason: \"a trial\", expires: ")
		g.fault("SBX017", `"2020-02-29"`)
		g.write(" }]")
	}},
	{"duplicate option", func(g *generator, _ text.Span) {
		g.write("permissions: [], snapshot: true, ")
		g.fault("SBX004", pick(g, "snapshot", `"snapshot"`, "'snapshot'"))
		g.write(": false")
	}},
	{"bad limit", func(g *generator, _ text.Span) {
		g.write("permissions: [], limits: { %s: ", pick(g, "memoryMB", "timeoutMs", "stackKB"))
		g.fault("SBX004", pick(g, "0", "-1", "1.5", `"64"`, "[]"))
		g.write(" }")
	}},
	{"bad choice", func(g *generator, _ text.Span) {
		g.write("permissions: [], %s: ", pick(g, "arguments", "results", "reads"))
		g.fault("SBX004", pick(g, `"fast"`, "true", `""`))
	}},
	{"over budget", func(g *generator, _ text.Span) {
		g.write("permissions: [], limits: { bundleKB: ")
		g.fault("SBX041", "1")
		g.write(" }")
	}},
	{"workload without entry", func(g *generator, _ text.Span) {
		g.write("permissions: [], workloads: { work: { entry: ")
		g.fault("SBX020", `"src/sandbox/generated-gone.js"`)
		g.write(`, exports: ["run"] } }`)
	}},
	{"workload without the export", func(g *generator, _ text.Span) {
		g.write(`permissions: [], workloads: { work: { entry: %q, exports: ["run", `, g.source("export function run() {}\n", "", ""))
		g.fault("SBX021", `"stop"`)
		g.write("] } }")
	}},
	{"workload with an unnamed export", func(g *generator, _ text.Span) {
		g.write(`permissions: [], workloads: { work: { entry: %q, exports: `, g.source("export function run() {}\nexport const stop = () => {};\nexport const limit = 3;\n", "", ""))
		g.fault("SBX022", `["run"]`)
		g.write(" } }")
	}},
	{"workload that crosses", func(g *generator, _ text.Span) {
		g.write(`permissions: [], workloads: { work: { entry: %q, exports: ["run"] } }`,
			g.source("import { v4 } from \"uuid\";\nexport const run = () => v4();\n", "SBX023", `"uuid"`))
	}},
	{"workload that does not parse", func(g *generator, _ text.Span) {
		g.write(`permissions: [], workloads: { work: { entry: %q, exports: ["run"] } }`,
			g.source("export const run = () => {\n  return = 1;\n};\n", "SBX040", "="))
		w := &g.wants[len(g.wants)-1] // esbuild stops at the second of the three
		content := g.files[w.file]
		i := strings.Index(content, "return =") + len("return ")
		w.span = text.Span{Start: i, End: i + 1}
	}},
	{"workload with a missing import", func(g *generator, _ text.Span) {
		g.write(`permissions: [], workloads: { work: { entry: %q, exports: ["run"] } }`,
			g.source("import x from \"./absent.js\";\nexport const run = () => x;\n", "SBX040", `"./absent.js"`))
	}},
	{"workload that throws", func(g *generator, _ text.Span) {
		g.write("permissions: [], workloads: { ")
		g.fault("SBX042", "work")
		g.write(`: { entry: %q, exports: ["run"] } }`, g.source("document.title = \"x\";\nexport const run = () => 1;\n", "", ""))
	}},
	{"workload that runs out of memory", func(g *generator, _ text.Span) {
		g.write("permissions: [], limits: { timeoutMs: 600000 }, workloads: { ")
		g.fault("SBX043", "work")
		g.write(`: { entry: %q, exports: ["run"] } }`, g.source("const held = [];\nfor (;;) held.push(new Uint8Array(16 << 20));\nexport const run = () => held;\n", "", ""))
	}},
}

func pick(g *generator, options ...string) string { return options[g.random.IntN(len(options))] }

// misspelt are names of which each is near an installed package and is none.
var misspelt = map[string]string{"lodash": "lodahs", "dayjs": "dajys", "zod": "zodd", "date-fns": "date-fn", "uuid": "uiud", "qs": "qss"}

// policy generates one policy. Libraries come in a random order; each has a fault
// or none.
func (g *generator) policy() string {
	form := pick(g, "export default {", "module.exports = {", "const config = {", "import { defineConfig } from \"@sandbox-lsp/runtime\";\nexport default defineConfig({")
	g.write("// 🎉 generated\n%s\n", form)
	names := []string{"lodash", "dayjs", "zod", "date-fns", "uuid", "qs"}
	g.random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	// uuid stays, since a workload that crosses imports it.
	names = slices.DeleteFunc(names, func(n string) bool { return n != "uuid" && g.random.IntN(3) == 0 })
	for i, name := range names {
		quote := pick(g, `"`, "'")
		g.write("  ")
		if name != "uuid" && g.random.IntN(6) == 0 {
			g.fault("SBX003", quote+misspelt[name]+quote)
			g.write(": { permissions: [] },\n")
			continue
		}
		start := g.out.Len()
		g.write("%s%s%s", quote, name, quote)
		key := text.Span{Start: start, End: g.out.Len()}
		if name == "dayjs" { // its declarations promise a class that it does not export
			g.plant("SBX032", key.Start, key.End)
		}
		g.write(": { ")
		f := faults[(g.random.IntN(2)*7+i*5+g.random.IntN(len(faults)))%len(faults)]
		if strings.HasPrefix(f.name, "workload") && name == "uuid" {
			f = faults[0]
		}
		f.write(g, key)
		g.write(" },\n")
	}
	switch {
	case strings.HasPrefix(form, "const"):
		g.write("};\n%s\n", pick(g, "export default config;", "module.exports = config;", "export { config as default };"))
	case strings.HasPrefix(form, "import"):
		g.write("});\n")
	default:
		g.write("};\n")
	}
	if g.random.IntN(6) == 0 { // the whole policy fails, and its literal parts still count
		g.fault("SBX001", "notThere")
		g.write("();\n")
	}
	return g.out.String()
}

// ofTheCode are the findings about what is in a package, which real packages have
// whatever the policy says.
var ofTheCode = map[finding.Code]bool{
	finding.UnusedPermission: true, finding.MissingPermission: true, finding.UnknownAuthority: true,
	finding.BuiltinReached: true, finding.SilentDifference: true, finding.HashMismatch: true, finding.EscapedImport: true,
}

// TestCheck_findsExactlyThePlantedFaults plants known faults in 30 policies over the
// storefront's packages and expects those findings, at those ranges, and no others.
func TestCheck_findsExactlyThePlantedFaults(t *testing.T) {
	session, root := newSession(t), storefront(t)
	planted := map[string]int{}
	for seed := range uint64(30) {
		g := &generator{t: t, random: rand.New(rand.NewPCG(seed, 2026)), root: root, files: map[string]string{}}
		content := g.policy()
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			overlay := map[string]string{
				filepath.Join(root, ".sandbox", "sandbox.config.js"): content,
				filepath.Join(root, ".sandbox", "compat.config.js"):  "export default {};\n",
			}
			for name, source := range g.files {
				overlay[filepath.Join(root, filepath.FromSlash(name))] = source
			}
			result, err := session.Snapshot(root, overlay).Check(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var want, got []string
			for _, p := range g.wants {
				source := content
				if s, ok := g.files[p.file]; ok {
					source = s
				}
				want = append(want, line(p.file, p.code, text.NewMapper(source).Range(p.span)))
				planted[p.code]++
			}
			for _, f := range result.Findings {
				if !ofTheCode[f.Code] {
					got = append(got, line(f.File, string(f.Code), f.Range))
				}
			}
			slices.Sort(want)
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("findings (-planted +found):\n%s\npolicy:\n%s\nfiles: %v", diff, content, g.files)
			}
		})
	}
	for _, code := range []string{"SBX001", "SBX003", "SBX004", "SBX005", "SBX010", "SBX011", "SBX012", "SBX015", "SBX017", "SBX020", "SBX021", "SBX022", "SBX023", "SBX032", "SBX040", "SBX041", "SBX042", "SBX043"} {
		if planted[code] == 0 {
			t.Errorf("no policy has a %s planted", code)
		}
	}
}

func line(file, code string, r text.Range) string {
	return fmt.Sprintf("%s:%d:%d-%d:%d %s", file, r.Start.Line+1, r.Start.Character+1, r.End.Line+1, r.End.Character+1, code)
}

// TestCheck_refusesTwoRequestsWithTheSameFiles: one of them would otherwise run the
// other's code with its own permissions.
func TestCheck_refusesTwoRequestsWithTheSameFiles(t *testing.T) {
	root := t.TempDir()
	overlay := map[string]string{filepath.Join(root, ".sandbox", "sandbox.config.js"): "export default { '@a/b': { permissions: [] }, 'a/b': { permissions: [] } };"}
	result, err := newSession(t).Snapshot(root, overlay).Check(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, f := range result.Findings {
		codes = append(codes, string(f.Code))
	}
	if diff := cmp.Diff([]string{"SBX003", "SBX004"}, codes); diff != "" || !strings.Contains(result.Findings[1].Message, "a__b.*") {
		t.Errorf("findings %v", result.Findings)
	}
}
