package authoritydiff

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-lsp/sandbox-lsp/analysis/lockfile"
	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
)

// read reads a policy without evaluating it; "" gives none.
func read(t *testing.T, text string) *policy.Policy {
	t.Helper()
	if text == "" {
		return nil
	}
	p, err := policy.Read(t.Context(), policy.Source{Root: "/p", File: "/p/.sandbox/sandbox.config.js", Text: text}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !p.Complete || finding.Worst(p.Findings) == finding.Error {
		t.Fatalf("the policy of the test is wrong: %v\n%s", p.Findings, text)
	}
	return p
}

// side makes a state of a policy and of a lockfile's packages, "" for none.
func side(t *testing.T, text, packages string) Side {
	t.Helper()
	s := Side{Policy: read(t, text)}
	if packages != "" {
		lock, err := lockfile.Parse(fmt.Sprintf(`{"packages": {%s}}`, packages))
		if err != nil {
			t.Fatal(err)
		}
		s.Lock = lock
	}
	s.Guest = map[string]bool{"Math": true}
	return s
}

func lines(libraries []Library) []string {
	var out []string
	for _, l := range libraries {
		for _, c := range l.Changes {
			alarm := ""
			if c.Alarm {
				alarm = "!"
			}
			out = append(out, fmt.Sprintf("%s %s%s %s: %s", l.Name, c.Effect, alarm, c.Kind, c.Words.Plain()))
		}
	}
	return out
}

func TestCompare_options(t *testing.T) {
	tests := map[string]struct {
		before, after string // the entry of qs
		want          []string
	}{
		"nothing": {`permissions: ["URL"], limits: { memoryMB: 64 }`, `limits: {}, permissions: ["URL"]`, nil},
		"a permission is added": {`permissions: ["URL"]`, `permissions: ["URL", "performance"]`,
			[]string{`qs widened permission-added: is granted performance, which it was not at main.`}},
		"with its reason": {`permissions: []`, `permissions: [{ name: "performance", reason: "times itself" }]`,
			[]string{`qs widened permission-added: is granted performance, which it was not at main. The policy's reason: "times itself".`}},
		"with rules": {`permissions: []`, `permissions: [{ name: "localStorage", allow: ["qs:*", "q"] }]`,
			[]string{`qs widened permission-added: is granted localStorage, which it was not at main, for qs:*, q only. ` + reason(t, "localStorage")}},
		"a powerful one": {`permissions: []`, `permissions: ["document"]`,
			[]string{`qs widened permission-added: is granted document, which it was not at main. ` + reason(t, "document")}},
		"an unknown one": {`permissions: []`, `permissions: ["frob"]`,
			[]string{`qs widened permission-added: is granted frob, which it was not at main. No host is known to have a global of that name.`}},
		"a permission is removed": {`permissions: ["URL"]`, `permissions: []`,
			[]string{`qs narrowed permission-removed: is no longer granted URL.`}},
		"from narrow to whole": {`permissions: [{ name: "fetch", allow: ["https://a.example/*"] }]`, `permissions: ["fetch"]`,
			[]string{`qs widened permission-whole: has all of fetch; at main it was narrowed to https://a.example/*.`}},
		"from nothing to whole": {`permissions: [{ name: "fetch", allow: [] }]`, `permissions: ["fetch"]`,
			[]string{`qs widened permission-whole: has all of fetch; at main it was narrowed to nothing.`}},
		"from whole to narrow": {`permissions: ["fetch"]`, `permissions: [{ name: "fetch", allow: ["https://a.example/*"] }]`,
			[]string{`qs narrowed permission-listed: has fetch for https://a.example/* only; at main it had all of it.`}},
		"a rule is added": {allow("https://a.example/*"), allow("https://a.example/*", "https://b.example/*"),
			[]string{`qs widened rule-added: may use fetch for https://b.example/* as well, which it could not at main.`}},
		"a rule is removed": {allow("https://a.example/*", "https://b.example/*"), allow("https://a.example/*"),
			[]string{`qs narrowed rule-removed: may no longer use fetch for https://b.example/*.`}},
		"a rule is looser": {allow("https://a.example/v1/*"), allow("https://a.example/*"),
			[]string{`qs widened rule-loosened: may use fetch for https://a.example/*; at main that was https://a.example/v1/*, which allows less.`}},
		"a rule is tighter": {allow("https://a.example/*"), allow("https://a.example/v1/*"),
			[]string{`qs narrowed rule-tightened: may use fetch for https://a.example/v1/*; at main that was https://a.example/*, which allows more.`}},
		"a rule within another is added": {allow("https://a.example/*"), allow("https://a.example/*", "https://a.example/v1/*"),
			[]string{`qs changed rule-added: may use fetch for https://a.example/v1/*, which https://a.example/* allowed already.`}},
		"a rule within another is removed": {allow("https://a.example/*", "https://a.example/v1/*"), allow("https://a.example/*"),
			[]string{`qs changed rule-removed: has no rule https://a.example/v1/* for fetch any more, which https://a.example/* allows all the same.`}},
		"rules change places": {allow("https://a.example/*", "https://b.example/*"), allow("https://b.example/*", "https://a.example/*"), nil},
		"reason and owner": {`permissions: [{ name: "fetch", reason: "old", owner: "a" }]`, `permissions: [{ name: "fetch", reason: "new one" }]`,
			[]string{`qs changed reason: has fetch with the reason "new one", no longer old.`, `qs changed owner: has fetch without the owner that was given, a.`}},
		"a reason is given": {`permissions: ["fetch"]`, `permissions: [{ name: "fetch", reason: "r" }]`,
			[]string{`qs changed reason: has fetch with the reason r; before, none was given.`}},
		"a later end":    {expires("2027-01-31"), expires("2027-02-01"), []string{`qs widened expires: has fetch until 2027-02-01; at main it was until 2027-01-31.`}},
		"an earlier end": {expires("2027-02-01"), expires("2027-01-31"), []string{`qs narrowed expires: has fetch until 2027-01-31; at main it was until 2027-02-01.`}},
		"no end any more": {expires("2027-02-01"), `permissions: ["fetch"]`,
			[]string{`qs widened expires: has fetch without an end; at main it was granted until 2027-02-01.`}},
		"an end":         {`permissions: ["fetch"]`, expires("2027-02-01"), []string{`qs narrowed expires: has fetch until 2027-02-01; at main it had no end.`}},
		"more memory":    {`permissions: []`, `permissions: [], limits: { memoryMB: 128 }`, []string{`qs widened limit: may use 128 MiB of memory; at main it was 64 MiB of memory.`}},
		"back to normal": {`permissions: [], limits: { memoryMB: 32 }`, `permissions: []`, []string{`qs widened limit: may use 64 MiB of memory; at main it was 32 MiB of memory.`}},
		"less memory":    {`permissions: [], limits: { memoryMB: 128 }`, `permissions: []`, []string{`qs narrowed limit: may use 64 MiB of memory; at main it was 128 MiB of memory.`}},
		"no time limit": {`permissions: [], limits: { timeoutMs: 100 }`, `permissions: []`,
			[]string{`qs widened limit: may use any amount of time for a call; at main it was 100 ms of time for a call.`}},
		"a time limit": {`permissions: []`, `permissions: [], limits: { timeoutMs: 100 }`,
			[]string{`qs narrowed limit: may use 100 ms of time for a call; at main it was any amount of time for a call.`}},
		"more than one limit": {`permissions: [], limits: { timeoutMs: 100, bundleKB: 10 }`, `permissions: [], limits: { timeoutMs: 200, bundleKB: 5 }`,
			[]string{`qs widened limit: may use 200 ms of time for a call; at main it was 100 ms of time for a call.`, `qs narrowed limit: may use 5 KiB of bundle; at main it was 10 KiB of bundle.`}},
		"arguments": {`permissions: [], arguments: "data"`, `permissions: []`,
			[]string{`qs widened option: may be passed host objects and functions as arguments; at main it took only data.`}},
		"arguments, back": {`permissions: [], arguments: "membrane"`, `permissions: [], arguments: "data"`,
			[]string{`qs narrowed option: takes only data as arguments; at main the application could pass it host objects and functions.`}},
		"subpaths": {`permissions: [], subpaths: true`, `permissions: []`,
			[]string{`qs widened option: lets the requests below it run outside of its sandbox; at main they were redirected.`}},
		"subpaths, back": {`permissions: []`, `permissions: [], subpaths: true`,
			[]string{`qs narrowed option: has the requests below it redirected to its sandbox; at main they ran outside.`}},
		"options of a call": {`permissions: []`, `permissions: [], results: "live", reads: "exact", snapshot: true`,
			[]string{`qs changed option: has results live; at main it was mirror.`, `qs changed option: has reads exact; at main it was window.`, `qs changed option: has snapshot true; at main it was false.`}},
		"workloads": {
			`permissions: [], workloads: { a: { entry: "a.js", exports: ["x", "y"] }, b: { entry: "b.js", exports: ["x"] } }`,
			`permissions: [], workloads: { a: { entry: "c d.js", exports: ["y", "z"] }, n: { entry: "n.js", exports: ["x"] } }`,
			[]string{
				`qs changed workload-changed: runs the file "c d.js" as workload a; at main it was a.js.`, `qs changed workload-changed: offers more functions of workload a: z.`,
				`qs changed workload-changed: offers fewer functions of workload a, without x.`, `qs changed workload-added: has a new workload n, the file n.js, which runs with its permissions.`,
				`qs changed workload-removed: has no workload b any more.`,
			}},
		"widened comes first": {`permissions: ["URL"], snapshot: true`, `permissions: ["performance"]`, []string{
			`qs widened permission-added: is granted performance, which it was not at main.`, `qs changed option: has snapshot false; at main it was true.`, `qs narrowed permission-removed: is no longer granted URL.`,
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			entry := func(body string) string { return "export default {\n  qs: { " + body + " },\n};\n" }
			before, after := side(t, entry(tt.before), ""), side(t, entry(tt.after), "")
			got := lines(Compare(before, after, "main"))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
			back := Compare(after, before, "main")
			if (len(back) == 0) != (len(got) == 0) {
				t.Errorf("the way back: %v", lines(back))
			}
			if lost := count(Compare(before, after, "main"), Widened) > 0 && count(back, Narrowed) == 0; lost {
				t.Errorf("what is widened one way is not narrowed the other: %v", lines(back))
			}
			if self := Compare(after, after, "main"); len(self) > 0 {
				t.Errorf("a policy differs from itself: %v", lines(self))
			}
		})
	}
}

func count(libraries []Library, effect Effect) int {
	return (&Report{Libraries: libraries}).Count(effect)
}

// from is a package of a lockfile that says where it comes from.
func from(name, resolved, integrity string) string {
	return fmt.Sprintf(`"node_modules/%s": {"version": "1.0.0", "resolved": %q, "integrity": %q}`, name, resolved, integrity)
}

func allow(rules ...string) string {
	return fmt.Sprintf(`permissions: [{ name: "fetch", allow: ["%s"] }]`, strings.Join(rules, `", "`))
}

func expires(day string) string {
	return fmt.Sprintf(`permissions: [{ name: "fetch", expires: %q }]`, day)
}

// reason is what the catalogue says of a global, which is not this package's to hold.
func reason(t *testing.T, global string) string {
	t.Helper()
	libraries := Compare(side(t, `export default { x: { permissions: [] } };`, ""), side(t, fmt.Sprintf(`export default { x: { permissions: [%q] } };`, global), ""), "main")
	_, sentence, found := strings.Cut(libraries[0].Changes[0].Words.Plain(), "main. ")
	if !found || len(sentence) < 20 {
		t.Fatalf("nothing is said of %s: %q", global, sentence)
	}
	return sentence
}

func TestCompare_librariesAndWhatIsInstalled(t *testing.T) {
	const none, one, two = `export default {};`, `export default { qs: { permissions: ["URL"] } };`, `export default { qs: { permissions: ["URL"] }, uuid: { permissions: [] } };`
	pkg := func(location, version, integrity string) string {
		return fmt.Sprintf(`"node_modules/%s": { "version": %q, "integrity": %q, "dependencies": { "dep": "*" } }`, location, version, integrity)
	}
	all := func(packages ...string) string { return strings.Join(packages, ",") }
	const empty = `"": {}`
	tests := map[string]struct {
		before, locked, after, lockedNow string
		want                             []string
	}{
		"a library comes in": {none, "", one, "",
			[]string{`qs narrowed library-added: runs in a sandbox now; at main it ran outside of one, with everything that the page has. It keeps URL.`}},
		"one that was installed": {one, pkg("uuid", "1.0.0", "i"), two, pkg("uuid", "1.0.0", "i"),
			[]string{`uuid narrowed library-added: runs in a sandbox now; at main it ran outside of one, with everything that the page has. It keeps nothing of that.`}},
		"a new dependency": {none, empty, one, pkg("qs", "1.0.0", "i"), []string{
			`qs widened permission-added: is granted URL, which it was not at main.`, `qs changed library-added: is new to the project, and runs in a sandbox.`,
		}},
		"the first policy":            {"", "", one, "", []string{`qs narrowed library-added: runs in a sandbox now; at main it ran outside of one, with everything that the page has. It keeps URL.`}},
		"a library leaves":            {two, "", one, "", []string{`uuid widened library-removed: is gone from the policy and still installed: it runs outside of any sandbox, with everything that the page has.`}},
		"it leaves the project":       {two, pkg("uuid", "1", "i"), one, empty, []string{`uuid narrowed library-removed: is gone from the policy, and the lockfile has it no longer either.`}},
		"it stays installed":          {two, pkg("uuid", "1", "i"), one, pkg("uuid", "1", "i"), []string{`uuid widened library-removed: is gone from the policy and still installed: it runs outside of any sandbox, with everything that the page has.`}},
		"the policy is deleted":       {one, "", "", "", []string{`qs widened library-removed: is gone from the policy and still installed: it runs outside of any sandbox, with everything that the page has.`}},
		"another version":             {one, pkg("qs", "6.1.0", "i"), one, pkg("qs", "6.2.0", "j"), []string{`qs changed version: is version 6.2.0; at main it was 6.1.0.`}},
		"other bytes":                 {one, pkg("qs", "6.1.0", "sha512-a"), one, pkg("qs", "6.1.0", "sha512-b"), []string{`qs widened! integrity: has other bytes under the same version, "qs 6.1.0": its hash in the lockfile was sha512-a and is sha512-b. A registry does not do that; find out who did.`}},
		"no hash any more":            {one, pkg("qs", "6.1.0", "sha512-a"), one, pkg("qs", "6.1.0", ""), []string{`qs widened integrity: is no longer pinned by its hash in the lockfile: any bytes may be installed as "qs 6.1.0".`}},
		"a hash at last":              {one, pkg("qs", "6.1.0", ""), one, pkg("qs", "6.1.0", "i"), nil},
		"dependencies":                {one, all(pkg("qs", "1", "i"), pkg("dep", "1", "i")), one, all(pkg("qs", "1", "i"), pkg("dep", "2", "j")), []string{`qs changed dependencies: may be bundled with other dependencies: "dep 2, before 1".`}},
		"dependencies come and go":    {one, all(pkg("qs", "1", "i"), pkg("dep", "1", "i")), one, all(pkg("qs", "1", "i"), pkg("qs/node_modules/dep", "1", "i")), []string{`qs changed dependencies: may be bundled with other dependencies: "qs/node_modules/dep 1 is new"; "dep 1 is gone".`}},
		"other bytes of a dependency": {one, all(pkg("qs", "1", "i"), pkg("dep", "1", "a")), one, all(pkg("qs", "1", "i"), pkg("dep", "1", "b")), []string{`qs widened! integrity: has a dependency that has other bytes under the same version, "dep 1": its hash in the lockfile was a and is b. A registry does not do that; find out who did.`}},
		"what every sandbox has":      {`export default { qs: { permissions: [] } };`, "", `export default { qs: { permissions: ["Math"] } };`, "", []string{`qs changed permission-added: is granted Math, which adds nothing: every sandbox has it of its own.`}},
		"what every sandbox has goes": {`export default { qs: { permissions: ["Math"] } };`, "", `export default { qs: { permissions: [] } };`, "", []string{`qs changed permission-removed: is no longer granted Math, which every sandbox has of its own.`}},
		"another host":                {one, from("qs", "https://registry.example/qs.tgz", "i"), one, from("qs", "https://evil.example/qs.tgz", "i"), []string{`qs changed source: is taken from another place, "qs 1.0.0": the lockfile named https://registry.example and names https://evil.example.`}},
		"a repository": {one, from("qs", "https://registry.example/qs.tgz", "i"), one, from("qs", "git+ssh://git@host.example/evil/qs.git#abc", ""), []string{
			`qs widened source: is taken from another place, "qs 1.0.0": the lockfile named https://registry.example and names git+ssh://host.example/evil/qs.git.`,
			`qs widened integrity: is no longer pinned by its hash in the lockfile: any bytes may be installed as "qs 1.0.0".`,
		}},
		"another file of the host":        {one, from("qs", "https://registry.example/qs.tgz", "i"), one, from("qs", "https://registry.example/qs/-/qs.tgz", "i"), nil},
		"no lockfile at one of the sides": {one, "", one, pkg("qs", "1", "i"), nil},
		"nothing":                         {two, all(pkg("qs", "1", "i"), pkg("uuid", "1", "i")), two, all(pkg("qs", "1", "i"), pkg("uuid", "1", "i")), nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := lines(Compare(side(t, tt.before, tt.locked), side(t, tt.after, tt.lockedNow), "main"))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFindings_standAtWhatWidens(t *testing.T) {
	before := read(t, `export default { gone: { permissions: [] }, qs: { permissions: [{ name: "fetch", allow: ["https://a.example/*"] }], limits: { timeoutMs: 5 } } };`)
	const text = `export default {
  qs: {
    permissions: [{ name: "fetch", allow: ["https://a.example/*", "https://b.example/*"], expires: "2027-01-31" }, "crypto"],
    limits: { memoryMB: 512 },
  },
};`
	after := read(t, text)
	report := &Report{Commit: "c0ffee", File: ".sandbox/sandbox.config.js", Mapper: after.Mapper, Libraries: Compare(Side{Policy: before}, Side{Policy: after}, "main")}
	var got []string
	for _, f := range report.Findings() {
		if f.Code != finding.WidenedAuthority || f.Severity != finding.Warning || f.File != report.File || f.Data["revision"] != "c0ffee" {
			t.Errorf("finding %+v", f)
		}
		s := after.Mapper.Span(f.Range)
		got = append(got, f.Data["library"]+" "+f.Data["problem"]+" "+text[s.Start:s.End])
	}
	slices.Sort(got)
	want := []string{`gone library-removed `, `qs limit 512`, `qs limit qs`, `qs permission-added "crypto"`, `qs rule-added "https://b.example/*"`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

func TestWords_valuesStayValues(t *testing.T) {
	w := say("is {} and {}", "a|b `c`\n@everyone <img>", "fetch")
	if got, want := w.Markdown(), "is `` a\\|b `c` @everyone <img> `` and `fetch`"; got != want {
		t.Errorf("markdown %q, want %q", got, want)
	}
	if got, want := w.Plain(), `is "a|b `+"`c`"+`\n@everyone <img>" and fetch`; got != want {
		t.Errorf("plain %q, want %q", got, want)
	}
	if got := say("x {} y", "{}").Plain(); got != `x "{}" y` {
		t.Errorf("a value took a place: %q", got)
	}
	if got := Code(""); got != "`  `" {
		t.Errorf("nothing is %q", got)
	}
}
