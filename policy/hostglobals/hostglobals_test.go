package hostglobals

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/microsoft/typescript-go/shim/lib"
	"github.com/microsoft/typescript-go/shim/parse"
)

// TestScan_findsWhatTheParserFinds holds the scanner of lines against the parser, on
// every declaration of every file.
func TestScan_findsWhatTheParserFinds(t *testing.T) {
	want := map[string]Realms{}
	for _, name := range lib.Names() {
		realms := realmsOf(name)
		if realms == 0 {
			continue
		}
		text, ok := lib.Read(name)
		if !ok {
			t.Fatalf("%s is listed and cannot be read", name)
		}
		for _, statement := range parse.File("/"+name, text).Statements.Nodes {
			for _, global := range declared(statement) {
				want[global] |= realms
			}
		}
	}
	scanned := map[string]entry{}
	scanLibraries(scanned)
	got := map[string]Realms{}
	for name, e := range scanned {
		got[name] = e.realms
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got) < 900 {
		t.Errorf("%d names (-parser +scanner):\n%s", len(got), diff)
	}
}

// declared returns the names of the values that a statement declares.
func declared(statement *parse.Node) []string {
	switch statement.Kind {
	case parse.KindVariableStatement:
		var names []string
		for _, d := range statement.AsVariableStatement().DeclarationList.AsVariableDeclarationList().Declarations.Nodes {
			names = append(names, d.Name().Text())
		}
		return names
	case parse.KindFunctionDeclaration, parse.KindClassDeclaration, parse.KindModuleDeclaration:
		if name := statement.Name(); name.Kind == parse.KindIdentifier && name.Text() != "global" {
			return []string{name.Text()}
		}
	}
	return nil
}

func TestLookup_knowsShapeRealmAndDocumentation(t *testing.T) {
	tests := []struct {
		name   string
		realms Realms
		shape  Shape
		grade  Grade
		doc    string
	}{
		{"fetch", Window | Worker | Node, Function, Powerful, "over the network"},
		{"URL", Window | Worker | Node, Class, Pure, "parse, construct, normalize, and encode URLs"},
		{"AbortController", Window | Worker | Node, Class, Pure, "controller object"},
		{"Intl", Window | Worker | Node, Object, Pure, "rules of a language"},
		{"Temporal", Window | Worker | Node, Object, Ambient, "time zones"},
		{"Date", Window | Worker | Node, Class, Ambient, "dates and times"},
		{"Symbol", Window | Worker | Node, Function, Pure, ""},
		{"Iterator", Window | Worker | Node, Class, Pure, ""},
		{"console", Window | Worker | Node, Object, Ambient, "debugging console"},
		{"localStorage", Window | Node, Object, Powerful, "**`Storage`**"},
		{"WebAssembly", Window | Worker | Node, Object, Ambient, ""},
		{"document", Window, Object, Realm, ""},
		{"importScripts", Worker, Function, Realm, ""},
		{"innerWidth", Window, Value, Ambient, "width"},
		{"onclick", Window, Value, Ambient, ""},
		{"HTMLDivElement", Window, Class, Ambient, "div"},
		{"FileReaderSync", Worker, Class, Pure, ""},
		{"Buffer", Node, Class, Powerful, "byte arrays"},
		{"process", Node, Object, Realm, "environment"},
		{"setImmediate", Node, Function, Ambient, ""},
		{"QuotaExceededError", Window | Worker | Node, Class, Pure, ""},
		{"chrome", Window | Worker, Object, Realm, "extensions"},
		{"webkitURL", Window, Class, Pure, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g, ok := Lookup(tt.name)
			if !ok {
				t.Fatal("is not known")
			}
			if g.Realms != tt.realms || g.Shape != tt.shape || g.Grade != tt.grade || !strings.Contains(g.Doc, tt.doc) {
				t.Errorf("%s in %s, %s: %q", g.Shape, g.Realms, g.Grade, g.Doc)
			}
			known, _ := Known(tt.name)
			g.Doc, g.Link = "", ""
			if known != g {
				t.Errorf("Known says %+v, Lookup %+v", known, g)
			}
		})
	}
}

func TestLookup_doesNotKnowWhatIsNoValue(t *testing.T) {
	for _, name := range []string{"", "RequestInit", "PropertyKey", "ThisType", "ArrayLike", "WScript", "ActiveXObject", "hasOwnProperty", "constructor", "__proto__", "window.fetch", "Console", "fs"} {
		if g, ok := Lookup(name); ok {
			t.Errorf("%q is known: %+v", name, g)
		}
	}
}

func TestAll_describesEveryGlobal(t *testing.T) {
	all := All()
	if !slices.IsSortedFunc(all, func(a, b Global) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("not sorted")
	}
	for _, g := range all {
		if g.Realms == 0 || g.Shape == "" {
			t.Errorf("%s: %+v", g.Name, g)
		}
		if !strings.HasSuffix(g.Reason, ".") || g.Narrower != "" && !strings.HasSuffix(g.Narrower, ".") {
			t.Errorf("%s: reason %q, narrower %q", g.Name, g.Reason, g.Narrower)
		}
		if g.Grade == Realm && g.Narrower == "" {
			t.Errorf("%s hands over everything, and nothing narrower is proposed", g.Name)
		}
		if g.Doc == "" && !strings.HasPrefix(g.Name, "on") {
			t.Errorf("%s has no documentation", g.Name)
		}
		if len(g.Doc) > 400 || strings.ContainsAny(g.Doc, "\n\r") || strings.Contains(g.Doc, "*/") || strings.Contains(g.Doc, "@param") {
			t.Errorf("%s: documentation %q", g.Name, g.Doc)
		}
		if g.Link != "" && !strings.HasPrefix(g.Link, "https://developer.mozilla.org/") {
			t.Errorf("%s: link %q", g.Name, g.Link)
		}
	}
}

// TestGrades_areNotBelowThePublishedList names what the review guide of the most
// used policy tool for packages calls powerful.
func TestGrades_areNotBelowThePublishedList(t *testing.T) {
	for _, name := range []string{
		"fetch", "XMLHttpRequest", "WebSocket", "EventSource", "document", "open", "navigator", "chrome", "browser", "process",
		"addEventListener", "location", "Buffer", "top", "parent", "Function", "eval",
		"require", "module", "localStorage", "sessionStorage", "indexedDB", "Worker", "SharedWorker", "importScripts", "alert", "postMessage",
		"history", "caches", "cookieStore", "RTCPeerConnection", "WebTransport", "Image", "opener", "event", "frameElement",
	} {
		if g, ok := Lookup(name); !ok || g.Grade < Powerful {
			t.Errorf("%s: known %v, %s", name, ok, g.Grade)
		}
	}
	// The list has the names of the global object too. A sandbox gets its own by them, and
	// nothing of the host, unless the name may be that of another window.
	for name := range globalObjects {
		want := Pure
		if name == "top" || name == "parent" {
			want = Realm
		}
		if g, _ := Lookup(name); g.Grade != want || !IsGlobalObject(name) {
			t.Errorf("the global object %s is graded %s", name, g.Grade)
		}
	}
}

// TestGrades_ofFunctionsAndObjectsAreDecidedByName keeps a new member of the platform
// from getting a grade that nobody thought about: only classes and event handlers have
// a grade by family.
func TestGrades_ofFunctionsAndObjectsAreDecidedByName(t *testing.T) {
	for _, g := range All() {
		if (g.Shape == Function || g.Shape == Object || g.Shape == Value) && byName()[g.Name] == nil && !strings.HasPrefix(g.Name, "on") {
			t.Errorf("%s, a %s, is graded %s by default", g.Name, g.Shape, g.Grade)
		}
	}
}

func TestRules_nameGlobalsThatExistAndOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rules {
		if r.names != "" && r.pattern != nil {
			t.Errorf("a rule with names and a pattern: %+v", r)
		}
		for name := range strings.FieldsSeq(r.names) {
			if seen[name] {
				t.Errorf("%s is graded twice", name)
			}
			seen[name] = true
			if _, ok := Lookup(name); !ok {
				t.Errorf("%s is graded and not known", name)
			}
		}
	}
}

func TestOwnTables_addWhatTheDeclarationsLack(t *testing.T) {
	scanned := map[string]entry{}
	scanLibraries(scanned)
	for _, o := range own {
		if _, ok := scanned[o.name]; ok {
			t.Errorf("%s is declared in the embedded files; its own entry is not needed", o.name)
		}
	}
	for _, name := range strings.Fields(sharedWithNode) {
		if _, ok := catalogue()[name]; !ok || catalogue()[name].realms == Node {
			t.Errorf("%s is listed as shared with Node and known nowhere else", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(docs)) {
		if _, ok := scanned[name]; !ok {
			t.Errorf("%s has a description and is not declared", name)
		}
	}
}

// TestNode_hasNothingUnknown asks the Node that is installed.
func TestNode_hasNothingUnknown(t *testing.T) {
	script := `console.log(Object.getOwnPropertyNames(globalThis).concat(["require", "module", "exports", "__filename", "__dirname"]).join("\n"))`
	file := t.TempDir() + "/globals.cjs"
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("node", file).Output()
	if errors.Is(err, exec.ErrNotFound) && os.Getenv("CI") == "" {
		t.Skip("node is not installed; install Node 20.19 or newer to hold the catalogue against its globals")
	}
	if err != nil {
		t.Fatalf("ask node for its globals: %v", err)
	}
	have := strings.Fields(string(out))
	if len(have) < 100 {
		t.Fatalf("node has only %d globals: %v", len(have), have)
	}
	for _, name := range have {
		if g, ok := Lookup(name); !ok || g.Realms&Node == 0 {
			t.Errorf("%s: known %v, in %s", name, ok, g.Realms)
		}
	}
}

func TestSuggest_findsWhatWasMeant(t *testing.T) {
	tests := map[string]string{
		"Fetch": "fetch", "fecth": "fetch", "ftch": "fetch", "fetchh": "fetch",
		"XMLHTTPRequest": "XMLHttpRequest", "XmlHttpRequest": "XMLHttpRequest", "xhr": "XMLHttpRequest",
		"localstorage": "localStorage", "local_storage": "localStorage", "local-storage": "localStorage", "LocalStorge": "localStorage",
		"url": "URL", "Url": "URL", "UrlSearchParams": "URLSearchParams", "URLSearchParam": "URLSearchParams",
		"set_timeout": "setTimeout", "settimeout": "setTimeout", "setTimout": "setTimeout",
		"websocket": "WebSocket", "intl": "Intl", "Crypto ": "crypto", "perfomance": "performance", "Console": "console",
		"procces": "process", "buffer": "Buffer", "globalthis": "globalThis", "text-encoder": "TextEncoder", "TextEncoders": "TextEncoder",
		"structuredclone": "structuredClone", "IndexedDB": "indexedDB", "AbortControler": "AbortController",
		"lodash": "", "myOwnCapability": "", "": "", "x": "", "qqqqqq": "", "$": "",
	}
	for name, want := range tests {
		if got, ok := Suggest(name); got != want || ok != (want != "") {
			t.Errorf("%q gives %q, want %q", name, got, want)
		}
	}
}

func TestRealms_areReadable(t *testing.T) {
	for realms, want := range map[Realms]string{Window: "windows", Node: "Node", Window | Worker: "windows and workers", everywhere: "windows, workers and Node"} {
		if got := realms.String(); got != want {
			t.Errorf("%d is %q, want %q", realms, got, want)
		}
	}
}

// BenchmarkCatalogue is what the first question costs.
func BenchmarkCatalogue(b *testing.B) {
	for b.Loop() {
		scanLibraries(make(map[string]entry, 1600))
	}
}

func BenchmarkKnown(b *testing.B) {
	for b.Loop() {
		Known("XMLHttpRequest")
	}
}

func BenchmarkLookup(b *testing.B) {
	for b.Loop() {
		Lookup("AbortController")
	}
}

func BenchmarkSuggest(b *testing.B) {
	for b.Loop() {
		Suggest("perfomance")
	}
}
