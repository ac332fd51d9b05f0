package analysis_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-lsp/sandbox-lsp/analysis"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/proxygen"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/evaluate"
)

// The corpus is a project of published packages, each sandboxed without permissions.
// What a check says of each stands in a golden file, and in why.json a person says
// why that is right. The tests hold the two together: a verdict that changes has to
// be read, and argued for anew.

var update = flag.Bool("update", false, "rewrite the golden files of the corpus")

const (
	// leastPackages and leastOfShape keep the corpus worth its name.
	leastPackages = 45
	leastOfShape  = 4
	// digits is how much of a hash why.json repeats.
	digits = 12
)

// reason is what why.json says of one package.
type reason struct {
	// Shapes are the package's kinds, of those in the table shapes.
	Shapes []string `json:"shapes"`
	// Why says what the package is, what it asks of the host and why its verdict is
	// right.
	Why string `json:"why"`
	// Verdict is the digest of what the check said when that was judged, and Judged the
	// digest of the Why that it was judged with. Both are written by -update.
	Verdict string `json:"verdict"`
	Judged  string `json:"judged"`
}

// settle returns the reason as it is to be written when the check's verdict is the
// given one, and what is to be done first, "" if nothing. A verdict that changes under
// a why that stays as it was is never taken over.
func (r reason) settle(verdict string) (settled reason, advice string) {
	settled = r
	settled.Verdict, settled.Judged = verdict, digest(r.Why)
	switch {
	case r.Verdict != verdict && r.Judged == settled.Judged:
		return r, "the verdict changed, and the why in why.json is still the one of the verdict before. Read the difference of the golden and the library's code where it points; write into the why what is right about the new verdict, and run this test with -update"
	case r.Verdict != settled.Verdict || r.Judged != settled.Judged:
		return settled, "why.json has another why or verdict than was judged; run this test with -update"
	}
	return settled, ""
}

// corpus is the project as a check sees it, with what each library's build is made of.
type corpus struct {
	root      string
	libraries []*analysis.Library
	findings  []finding.Finding
	files     map[string][]byte // of the build, by path
	packages  map[string]string // exact versions by name, as package.json lists them
	reasons   map[string]reason
	guest     map[string]bool // the globals that every guest has
}

func corpusRoot(tb testing.TB) string {
	tb.Helper()
	root, err := filepath.Abs(filepath.Join("..", "testdata", "corpus"))
	if err != nil {
		tb.Fatal(err)
	}
	// Packages are reported where they really are, and a checkout may stand behind a link.
	if root, err = filepath.EvalSymlinks(root); err != nil {
		tb.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "node_modules")); err != nil {
		tb.Fatal("the packages of the corpus are not installed; run: make deps")
	}
	return root
}

func readJSON(tb testing.TB, into any, path ...string) {
	tb.Helper()
	file := filepath.Join(path...)
	raw, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if err := decoder.Decode(into); err != nil {
		tb.Fatalf("read %s: %v", file, err)
	}
}

// openCorpus checks the whole corpus once, with nothing cached.
func openCorpus(t *testing.T) *corpus {
	t.Helper()
	c := &corpus{root: corpusRoot(t), files: map[string][]byte{}, guest: map[string]bool{}}
	var manifest struct {
		Dependencies map[string]string
	}
	readJSON(t, &manifest, c.root, "package.json")
	c.packages = manifest.Dependencies
	readJSON(t, &c.reasons, c.root, "why.json")
	session, err := analysis.NewSession(analysis.Options{CacheDir: t.TempDir(), Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	build, err := session.Snapshot(c.root, nil).Build(t.Context(), true, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.libraries, c.findings = build.Libraries, build.Findings
	evaluator := evaluate.New("")
	names, err := evaluator.Globals(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := evaluator.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		c.guest[name] = true
	}
	for _, f := range build.Files {
		c.files[f.Path] = f.Content
	}
	return c
}

func TestCorpus_saysOfEveryPackageWhatItsGoldenSays(t *testing.T) {
	if testing.Short() {
		t.Skip("checking sixty packages takes seconds; run without -short to do it")
	}
	c := openCorpus(t)
	if *update {
		defer c.writeReasons(t)
	}
	for _, l := range c.libraries {
		t.Run(l.Policy.Name, func(t *testing.T) {
			got, verdict := c.render(t, l)
			file := c.golden(l.Policy.Name)
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("%v; run this test with -update and read what it writes", err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s is out of date (-want +got); run this test with -update if the change is right:\n%s", file, diff)
			}
			settled, advice := c.reasons[l.Policy.Name].settle(verdict)
			if *update && settled.Verdict == verdict {
				c.reasons[l.Policy.Name], advice = settled, ""
			}
			if advice != "" {
				t.Errorf("%s: %s", l.Policy.Name, advice)
			}
			c.inferenceCoversTheLoad(t, l)
			for _, shape := range c.reasons[l.Policy.Name].Shapes {
				if holds, known := shapes[shape]; !known {
					t.Errorf("there is no shape %q; there are %v", shape, slices.Sorted(maps.Keys(shapes)))
				} else if !holds(c.evidence(t, l)) {
					t.Errorf("%s is not of the shape %q", l.Policy.Name, shape)
				}
			}
		})
	}
}

// writeReasons writes why.json as it is kept: by name, two spaces deep.
func (c *corpus) writeReasons(t *testing.T) {
	t.Helper()
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(c.reasons); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.root, "why.json"), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestReason_aVerdictChangesWithItsWhy(t *testing.T) {
	was := reason{Why: "It reads the clock.", Verdict: "a", Judged: digest("It reads the clock.")}
	tests := map[string]struct {
		why, verdict string
		taken        bool   // -update writes the verdict
		advice       string // part of it
	}{
		"nothing changed":    {was.Why, "a", true, ""},
		"another verdict":    {was.Why, "b", false, "still the one of the verdict before"},
		"another why":        {"It reads the time.", "a", true, "run this test with -update"},
		"both are different": {"It reads the time.", "b", true, "run this test with -update"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			now := was
			now.Why = tt.why
			settled, advice := now.settle(tt.verdict)
			if (settled.Verdict == tt.verdict) != tt.taken || (advice == "") != (tt.advice == "") || !strings.Contains(advice, tt.advice) {
				t.Errorf("%+v %q", settled, advice)
			}
			if again, advice := settled.settle(tt.verdict); tt.taken && (again.Verdict != settled.Verdict || advice != "") {
				t.Errorf("once written: %q", advice)
			}
		})
	}
}

// inferenceCoversTheLoad holds the two ways of knowing what a library asks for
// against each other: what was seen to be asked for while it loaded stands in its
// code, or the inference says that it cannot follow the code.
func (c *corpus) inferenceCoversTheLoad(t *testing.T, l *analysis.Library) {
	t.Helper()
	if l.Authority == nil {
		t.Fatalf("nothing was inferred for %s", l.Policy.Name)
	}
	inferred := map[string]bool{}
	for _, u := range l.Authority.Uses {
		inferred[u.Name], inferred[u.Root] = true, true
	}
	for _, touch := range l.Touches {
		if !inferred[touch.Name] && len(l.Authority.Unknowns) == 0 {
			t.Errorf("%s asks for %s while loading (%s), which was not inferred, nor anything unknown", l.Policy.Name, touch.Name, touch.Place)
		}
	}
}

// golden returns the path of a library's golden file.
func (c *corpus) golden(name string) string {
	return filepath.Join(c.root, "goldens", proxygen.FileName(name)+".golden")
}

func TestCorpus_isCompleteAndOfEveryShape(t *testing.T) {
	root := corpusRoot(t)
	var manifest struct {
		Dependencies map[string]string
	}
	readJSON(t, &manifest, root, "package.json")
	var reasons map[string]reason
	readJSON(t, &reasons, root, "why.json")
	if len(manifest.Dependencies) < leastPackages {
		t.Errorf("the corpus has %d packages, fewer than %d", len(manifest.Dependencies), leastPackages)
	}
	count := map[string]int{}
	for name, r := range reasons {
		if _, ok := manifest.Dependencies[name]; !ok {
			t.Errorf("why.json speaks of %s, which package.json does not list", name)
		}
		if len(r.Shapes) == 0 {
			t.Errorf("why.json gives %s no shape", name)
		}
		if len(strings.Fields(r.Why)) < 12 {
			t.Errorf("why.json does not say why the verdict of %s is right", name)
		}
		for _, shape := range r.Shapes {
			count[shape]++
		}
	}
	wanted := map[string]bool{}
	for name, version := range manifest.Dependencies {
		if _, ok := reasons[name]; !ok {
			t.Errorf("why.json has no entry for %s", name)
		}
		if strings.Trim(version, "0123456789.") != "" {
			t.Errorf("the version of %s is not exact: %s", name, version)
		}
		wanted[proxygen.FileName(name)+".golden"] = true
	}
	for shape := range shapes {
		if count[shape] < leastOfShape {
			t.Errorf("%d packages are of the shape %q, fewer than %d", count[shape], shape, leastOfShape)
		}
	}
	goldens, err := os.ReadDir(filepath.Join(root, "goldens"))
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range goldens {
		if !wanted[g.Name()] {
			t.Errorf("goldens/%s belongs to no package", g.Name())
		}
		delete(wanted, g.Name())
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		t.Errorf("goldens/%s is missing", name)
	}
}
