package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf16"
	"unicode/utf8"

	"go.lsp.dev/protocol"

	"github.com/sandbox-lsp/sandbox-lsp/analysis"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// hoverText returns the text of a document as a request sees it.
func hoverText(t *testing.T, answer message) string {
	t.Helper()
	var hover struct {
		Contents struct{ Value string }
	}
	if err := json.Unmarshal(answer.Result, &hover); err != nil {
		t.Fatalf("hover %s: %v", answer.Result, err)
	}
	return hover.Contents.Value
}

func TestDocuments_aBurstIsHandledInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core := &fakeCore{hover: textOf}
		e := start(t, core, Options{})
		e.initialize(nil, nil)
		e.open(policyURI, "")
		model := ""
		answers := map[int]string{}
		for version := 2; version <= 5001; version++ {
			// Each change is right only on top of the one before it.
			char := string(rune('a' + version%26))
			where := (version * 7919) % (len(model) + 1)
			e.change(policyURI, version, map[string]any{"range": map[string]any{"start": pos(0, where), "end": pos(0, where)}, "text": char})
			model = model[:where] + char + model[where:]
			if version%500 == 0 {
				// A request sees the changes before it and none behind it, however late it is
				// worked on.
				answers[e.send("textDocument/hover", at(policyURI, 0, 0))] = model
			}
		}
		for id, want := range answers {
			if got := hoverText(t, e.response(fmt.Sprint(id))); got != want {
				t.Errorf("request %d saw a text of %d characters, want one of %d", id, len(got), len(want))
			}
		}
		if got := hoverText(t, e.call("textDocument/hover", at(policyURI, 0, 0))); got != model {
			t.Error("the text is not the model's")
		}
		pass(DefaultDebounce)
		checks := 0
		for _, event := range core.asked() {
			if strings.HasPrefix(event, "check") {
				checks++
				if event != "check "+model {
					t.Error("a check saw a text that is not the last one")
				}
			}
		}
		if checks != 1 {
			t.Errorf("%d checks for one burst, want 1", checks)
		}
		e.stop()
		if log := e.log.String(); log != "" {
			t.Errorf("log:\n%s", log)
		}
	})
}

// modelOffset is a second way to find a place in a text, slow and plain: it splits
// lines by searching and counts units by encoding each character.
func modelOffset(content string, line, character int, encoding text.Encoding) int {
	start := 0
	for ; line > 0; line-- {
		end := strings.IndexAny(content[start:], "\r\n")
		if end < 0 {
			return len(content)
		}
		start += end + 1
		if content[start-1] == '\r' && start < len(content) && content[start] == '\n' {
			start++
		}
	}
	rest := content[start:]
	if end := strings.IndexAny(rest, "\r\n"); end >= 0 {
		rest = rest[:end]
	}
	offset := start
	for _, r := range rest {
		switch encoding {
		case text.UTF8:
			character -= utf8.RuneLen(r)
		case text.UTF16:
			character -= len(utf16.Encode([]rune{r}))
		default:
			character--
		}
		if character < 0 {
			break
		}
		offset += utf8.RuneLen(r)
	}
	return offset
}

// pieces are what random edits insert: every line break, characters of one to four
// bytes, a byte-order mark, nothing.
var pieces = []string{"", "a", "bc", "\n", "\r\n", "\r", "ü", "€", "😀", "\uFEFF", "x\ny", "\u2028", "👩‍👩‍👧", "long text without anything in it"}

func TestDocuments_randomEditsEqualAModel(t *testing.T) {
	for name, encoding := range map[protocol.PositionEncodingKind]text.Encoding{"utf-8": text.UTF8, "utf-16": text.UTF16, "utf-32": text.UTF32} {
		t.Run(string(name), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := start(t, &fakeCore{hover: textOf}, Options{})
				e.initialize(map[string]any{"general": map[string]any{"positionEncodings": []any{name}}}, nil)
				random := rand.New(rand.NewPCG(1, 2))
				e.open(policyURI, "")
				model := ""
				version := 1
				for edits := 0; edits < 10_000; {
					version++
					var changes []any
					for range 1 + random.IntN(3) {
						edits++
						piece := pieces[random.IntN(len(pieces))]
						if random.IntN(500) == 0 || len(model) > 4000 {
							model = piece
							changes = append(changes, map[string]any{"text": piece})
							continue
						}
						// Now and then past the end of a line and of the text.
						lines := strings.Count(model, "\n") + strings.Count(model, "\r") + 2
						from := pos(random.IntN(lines), random.IntN(12))
						to := pos(from["line"].(int)+random.IntN(2), random.IntN(12))
						changes = append(changes, map[string]any{"range": map[string]any{"start": from, "end": to}, "text": piece})
						start := modelOffset(model, from["line"].(int), from["character"].(int), encoding)
						end := max(start, modelOffset(model, to["line"].(int), to["character"].(int), encoding))
						model = model[:start] + piece + model[end:]
					}
					e.change(policyURI, version, changes...)
					if version%100 == 0 {
						if got := hoverText(t, e.call("textDocument/hover", at(policyURI, 0, 0))); got != model {
							t.Fatalf("after version %d the text is %q, want %q", version, got, model)
						}
					}
				}
				if got := hoverText(t, e.call("textDocument/hover", at(policyURI, 0, 0))); got != model {
					t.Fatalf("in the end the text is %q, want %q", got, model)
				}
				e.stop()
			})
		})
	}
}

func FuzzIncrementalSync(f *testing.F) {
	f.Add("a😀\r\nb", uint32(0), uint32(1), uint32(1), uint32(0), "x", uint8(0))
	f.Add("\uFEFFone\rtwo", uint32(0), uint32(4), uint32(0), uint32(4), "\n", uint8(1))
	f.Add("", uint32(9), uint32(9), uint32(0), uint32(0), "end", uint8(2))
	f.Fuzz(func(t *testing.T, content string, line, character, line2, character2 uint32, inserted string, enc uint8) {
		if !utf8.ValidString(content) || !utf8.ValidString(inserted) {
			return // cannot come out of a JSON string
		}
		encoding := text.Encoding(enc % 3)
		change := &protocol.TextDocumentContentChangePartial{Text: inserted}
		change.Range.Start = protocol.Position{Line: line % 1000, Character: character}
		change.Range.End = protocol.Position{Line: line2 % 1000, Character: character2}
		got, err := apply(content, []protocol.TextDocumentContentChangeEvent{change}, encoding)
		if err != nil {
			t.Fatal(err)
		}
		start := modelOffset(content, int(line%1000), int(character), encoding)
		end := max(start, modelOffset(content, int(line2%1000), int(character2), encoding))
		if want := content[:start] + inserted + content[end:]; got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

func TestDocuments_versionsHaveToGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := start(t, &fakeCore{hover: textOf}, Options{})
		e.initialize(nil, nil)
		e.open(policyURI, "one")
		e.replace(policyURI, 5, "five")
		e.replace(policyURI, 5, "again")
		e.replace(policyURI, 4, "late")
		if got := hoverText(t, e.call("textDocument/hover", at(policyURI, 0, 0))); got != "five" {
			t.Errorf("the text is %q", got)
		}
		e.stop()
	})
}

func TestDocuments_whatIsNotOpenCannotChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core := &fakeCore{hover: textOf}
		e := start(t, core, Options{})
		e.initialize(nil, nil)
		e.replace(policyURI, 2, "x")
		e.notify("textDocument/didSave", doc(policyURI))
		e.notify("textDocument/didClose", doc(policyURI))
		pass(DefaultDebounce)
		if asked := core.asked(); len(asked) > 0 {
			t.Errorf("the core was asked %v", asked)
		}
		// Opening twice is a client's fault, but the second text is the newer one.
		e.open(policyURI, "one")
		e.open(policyURI, "two")
		if got := hoverText(t, e.call("textDocument/hover", at(policyURI, 0, 0))); got != "two" {
			t.Errorf("the text is %q", got)
		}
		e.stop()
	})
}

// place is a place in the text of TestPositions and its numbers in each encoding.
const placesText = "\uFEFFa😀b\r\nüx\rlast 👩‍👩‍👧 bad\n"

func TestPositions_areInTheNegotiatedEncoding(t *testing.T) {
	tests := map[string]struct {
		offers []string
		want   string
		// What the client sends for the place behind the emoji of the first line, and what
		// it must get for the word "bad".
		behindEmoji, bad [2]int
	}{
		"nothing offered":     {nil, "utf-16", [2]int{0, 4}, [2]int{2, 14}},
		"UTF-16":              {[]string{"utf-16"}, "utf-16", [2]int{0, 4}, [2]int{2, 14}},
		"UTF-8 preferred":     {[]string{"utf-8", "utf-16"}, "utf-8", [2]int{0, 8}, [2]int{2, 24}},
		"UTF-16 preferred":    {[]string{"utf-16", "utf-8"}, "utf-16", [2]int{0, 4}, [2]int{2, 14}},
		"UTF-32":              {[]string{"utf-32"}, "utf-32", [2]int{0, 3}, [2]int{2, 11}},
		"something unknown":   {[]string{"utf-7"}, "utf-16", [2]int{0, 4}, [2]int{2, 14}},
		"unknown, then known": {[]string{"utf-7", "utf-8"}, "utf-8", [2]int{0, 8}, [2]int{2, 24}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var seen text.Position
				core := &fakeCore{hover: func(_ context.Context, _ *fakeSnapshot, _ string, at text.Position) (*analysis.Hover, error) {
					seen = at
					return &analysis.Hover{Markdown: "x", Range: text.Range{Start: at, End: text.Position{Line: 0, Character: 5}}}, nil
				}}
				e := start(t, core, Options{})
				capabilities := map[string]any{}
				if tt.offers != nil {
					capabilities["general"] = map[string]any{"positionEncodings": tt.offers}
				}
				if got := e.initialize(capabilities, nil)["positionEncoding"]; got != tt.want {
					t.Errorf("the encoding is %v, want %s", got, tt.want)
				}
				e.open(policyURI, placesText)
				var hover struct{ Range protocol.Range }
				e.result("textDocument/hover", at(policyURI, tt.behindEmoji[0], tt.behindEmoji[1]), &hover)
				if want := (text.Position{Line: 0, Character: 4}); seen != want {
					t.Errorf("the core was asked about %v, want %v", seen, want)
				}
				wantRange := protocol.Range{
					Start: protocol.Position{Character: uint32(tt.behindEmoji[1])},
					End:   protocol.Position{Character: uint32(tt.behindEmoji[1] + 1)},
				}
				if hover.Range != wantRange {
					t.Errorf("the hover is at %v, want %v", hover.Range, wantRange)
				}
				var diagnostics []struct{ Range protocol.Range }
				if err := json.Unmarshal(e.diagnostics(policyURI).Diagnostics, &diagnostics); err != nil || len(diagnostics) != 1 {
					t.Fatalf("diagnostics: %v %v", diagnostics, err)
				}
				wantRange = protocol.Range{
					Start: protocol.Position{Line: uint32(tt.bad[0]), Character: uint32(tt.bad[1])},
					End:   protocol.Position{Line: uint32(tt.bad[0]), Character: uint32(tt.bad[1] + 3)},
				}
				if diagnostics[0].Range != wantRange {
					t.Errorf("the finding is at %v, want %v", diagnostics[0].Range, wantRange)
				}
				e.stop()
			})
		})
	}
}

func TestURIs(t *testing.T) {
	tests := map[string]struct {
		uri, path string
	}{
		"a file":                     {"file:///p/a.js", "/p/a.js"},
		"percent-encoded":            {"file:///p/%61%20b/%C3%BC.js", "/p/a b/ü.js"},
		"a scope":                    {"file:///p/@scope/x.js", "/p/@scope/x.js"},
		"an encoded scope":           {"file:///p/%40scope/x.js", "/p/@scope/x.js"},
		"dots":                       {"file:///p/b/../a.js", "/p/a.js"},
		"localhost":                  {"file://localhost/p/a.js", "/p/a.js"},
		"untitled":                   {"untitled:Untitled-1", ""},
		"untitled with a path":       {"untitled:/p/a.js", ""},
		"a revision":                 {"git:/p/a.js?%7B%22ref%22%3A%22HEAD%22%7D", ""},
		"a remote file":              {"vscode-remote://ssh/p/a.js", ""},
		"HTTP":                       {"https://example.com/p/a.js", ""},
		"another host":               {"file://server/p/a.js", ""},
		"Windows":                    {"file:///c:/p/a.js", ""},
		"Windows, encoded and upper": {"file:///C%3A/p/a.js", ""},
		"a zero byte":                {"file:///p/%00.js", ""},
		"no scheme":                  {"/p/a.js", "/p/a.js"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var id protocol.TextDocumentIdentifier
			if err := protocol.Unmarshal([]byte(encode(map[string]any{"uri": tt.uri})), &id); err != nil {
				t.Fatal(err)
			}
			if got := pathOf(id.URI); got != tt.path {
				t.Errorf("the path is %q, want %q", got, tt.path)
			}
		})
	}
}

func TestURIs_spellingsOfOneDocumentAreOneDocument(t *testing.T) {
	for _, spellings := range [][2]string{
		{"file:///p/a%20b/@x.js", "file:///p/a b/%40x.js"},
		{"file:///C:/p/a.js", "file:///c%3A/p/a.js"},
		{"untitled:Untitled-1", "untitled:Untitled-1"},
		{"git:/p/a.js?x=1", "git:/p/a.js?x%3D1"},
	} {
		t.Run(spellings[0], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := start(t, &fakeCore{}, Options{})
				e.initialize(nil, nil)
				e.open(spellings[0], "one")
				e.replace(spellings[1], 2, "two")
				e.notify("textDocument/didSave", doc(spellings[1]))
				e.notify("textDocument/didClose", doc(spellings[1]))
				e.stop()
				if log := e.log.String(); log != "" {
					t.Errorf("log:\n%s", log)
				}
			})
		})
	}
}

func TestURIs_documentsThatAreNoFilesGetNoAnswersAndDoNoHarm(t *testing.T) {
	for _, uri := range []string{"untitled:Untitled-1", "git:/p/.sandbox/sandbox.config.js?HEAD", "file:///c%3A/p/.sandbox/sandbox.config.js", "file://server/p/a.js", "vscode-notebook-cell:/p/a.js#x"} {
		t.Run(uri, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				core := &fakeCore{hover: textOf}
				e := start(t, core, Options{})
				e.initialize(nil, nil)
				e.open(uri, "bad")
				e.replace(uri, 2, "bad bad")
				e.notify("textDocument/didSave", doc(uri))
				for method, want := range map[string]string{"textDocument/hover": "null", "textDocument/completion": "null", "textDocument/documentSymbol": "[]"} {
					if got := e.call(method, at(uri, 0, 0)); string(got.Result) != want {
						t.Errorf("%s answered %s %v, want %s", method, got.Result, got.Error, want)
					}
				}
				params := map[string]any{"textDocument": map[string]any{"uri": uri}, "range": map[string]any{"start": pos(0, 0), "end": pos(0, 0)}, "context": map[string]any{"diagnostics": []any{}}}
				if got := e.call("textDocument/codeAction", params); string(got.Result) != "[]" {
					t.Errorf("textDocument/codeAction answered %s %v", got.Result, got.Error)
				}
				if got := e.call("sandbox/proxyPreview", map[string]any{"uri": uri, "request": "x"}).code(); got != -32803 {
					t.Errorf("sandbox/proxyPreview: code %d", got)
				}
				e.notify("textDocument/didClose", doc(uri))
				pass(DefaultDebounce)
				if asked := core.asked(); len(asked) > 0 {
					t.Errorf("the core was asked %v", asked)
				}
				if rest := e.settle(); len(rest) > 0 {
					t.Errorf("the server said %v", rest)
				}
				e.stop()
			})
		})
	}
}
