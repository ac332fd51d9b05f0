package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// editor is a language client on the standard streams of the built binary.
type editor struct {
	t    *testing.T
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	next int
	// diagnostics is the last set that the server published, by URI.
	diagnostics map[string][]diagnostic
}

type diagnostic struct {
	Range    text.Range
	Severity finding.Severity `json:"-"`
	Number   int              `json:"severity"`
	Code     finding.Code
	Message  string
	Page     struct{ Href string } `json:"codeDescription"`
	Related  []struct {
		Location struct {
			URI   string
			Range text.Range
		}
		Message string
	} `json:"relatedInformation"`
	Data struct {
		File  string
		Fixes []finding.Fix
		Data  map[string]string
	}
}

func startEditor(t *testing.T, dir string) *editor {
	t.Helper()
	cmd := exec.Command(binary, "serve", "--stdio", "--cache-dir", cacheDir(t))
	cmd.Dir = dir
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// A server that never answers must fail the test, not hang it.
	watchdog := time.AfterFunc(3*time.Minute, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() {
		watchdog.Stop()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	e := &editor{t: t, cmd: cmd, in: in, out: bufio.NewReader(out), diagnostics: map[string][]diagnostic{}}
	e.call("initialize", map[string]any{
		"processId": os.Getpid(), "rootUri": toURI(dir),
		"capabilities": map[string]any{"textDocument": map[string]any{"publishDiagnostics": map[string]any{"relatedInformation": true, "codeDescriptionSupport": true}}},
	})
	e.notify("initialized", map[string]any{})
	return e
}

func toURI(path string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
}

func fromURI(t *testing.T, uri string) string {
	t.Helper()
	u, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.FromSlash(u.Path)
}

func (e *editor) send(m map[string]any) {
	e.t.Helper()
	m["jsonrpc"] = "2.0"
	raw, err := json.Marshal(m)
	if err != nil {
		e.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(e.in, "Content-Length: %d\r\n\r\n%s", len(raw), raw); err != nil {
		e.t.Fatal(err)
	}
}

func (e *editor) notify(method string, params any) {
	e.t.Helper()
	e.send(map[string]any{"method": method, "params": params})
}

// call sends a request and reads messages until its answer.
func (e *editor) call(method string, params any) json.RawMessage {
	e.t.Helper()
	e.next++
	e.send(map[string]any{"id": e.next, "method": method, "params": params})
	for {
		m := e.receive()
		if m.Method != "" || string(m.ID) != strconv.Itoa(e.next) {
			continue
		}
		if m.Error != nil {
			e.t.Fatalf("%s: %s", method, m.Error)
		}
		return m.Result
	}
}

type received struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  json.RawMessage
}

// receive reads one message, keeps diagnostics, and answers the server's requests.
func (e *editor) receive() received {
	e.t.Helper()
	header, err := textproto.NewReader(e.out).ReadMIMEHeader()
	if err != nil {
		e.t.Fatalf("the server ended: %v", err)
	}
	length, err := strconv.Atoi(header.Get("Content-Length"))
	if err != nil {
		e.t.Fatal(err)
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(e.out, body); err != nil {
		e.t.Fatal(err)
	}
	var m received
	if err := json.Unmarshal(body, &m); err != nil {
		e.t.Fatalf("not JSON: %s", body)
	}
	switch {
	case m.Method == "textDocument/publishDiagnostics":
		var p struct {
			URI         string
			Diagnostics []diagnostic
		}
		if err := json.Unmarshal(m.Params, &p); err != nil {
			e.t.Fatal(err)
		}
		e.diagnostics[p.URI] = p.Diagnostics
	case m.Method != "" && len(m.ID) > 0:
		e.send(map[string]any{"id": m.ID, "result": nil})
	}
	return m
}

// open opens a file with the text that it has on disk, or none.
func (e *editor) open(path string) {
	e.t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		e.t.Fatal(err)
	}
	e.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{
		"uri": toURI(path), "languageId": "javascript", "version": 1, "text": string(raw),
	}})
}

// findings rebuilds the findings from the published diagnostics.
func (e *editor) findings(dir string) []finding.Finding {
	e.t.Helper()
	all := []finding.Finding{}
	for uri, set := range e.diagnostics {
		path := fromURI(e.t, uri)
		for _, d := range set {
			f := finding.Finding{
				Code: d.Code, Severity: finding.Severity(d.Number), Message: d.Message, Range: d.Range,
				File: d.Data.File, Fixes: d.Data.Fixes, Data: d.Data.Data,
			}
			if abs := filepath.Join(dir, filepath.FromSlash(f.File)); f.File == "" || abs != path && filepath.FromSlash(f.File) != path {
				e.t.Errorf("a finding in %q was published for %s", f.File, path)
			}
			if want := d.Code.URL(); d.Page.Href != want || want == "" {
				e.t.Errorf("the page of %s is %q, not %q", d.Code, d.Page.Href, want)
			}
			for _, r := range d.Related {
				file := fromURI(e.t, r.Location.URI)
				if rel, err := filepath.Rel(dir, file); err == nil && !strings.HasPrefix(rel, "..") {
					file = filepath.ToSlash(rel)
				}
				f.Related = append(f.Related, finding.Related{Message: r.Message, File: file, Range: r.Location.Range})
			}
			all = append(all, f)
		}
	}
	return finding.Sort(all)
}

// same compares two lists of findings byte for byte.
func same(t *testing.T, want, got []finding.Finding) string {
	t.Helper()
	a, err := json.MarshalIndent(want, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.MarshalIndent(got, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(a, b) {
		return ""
	}
	return cmp.Diff(string(a), string(b))
}

// TestServerAndCommandLine_saySameFindings holds what the server publishes against
// what check prints, over every fixture and some projects in a bad state.
func TestServerAndCommandLine_saySameFindings(t *testing.T) {
	projects := map[string]string{
		"storefront": fixture(t, "storefront"),
		"faulty":     fixture(t, "faulty"),
		"half typed": newProject(t, map[string]string{".sandbox/sandbox.config.js": "export default { 'lodash': { permissions: [\"Intl\", \n"}),
		"not an object": newProject(t, map[string]string{
			".sandbox/sandbox.config.js": "module.exports = [];\n",
		}),
		"throws": newProject(t, map[string]string{
			".sandbox/sandbox.config.js": "import { base } from './base.js';\nexport default base(null);\n",
			".sandbox/base.js":           "// \U0001F389 positions count UTF-16\nexport const base = (x) => /* \U0001F389 */ x.y;\n",
		}),
	}
	for name, dir := range projects {
		t.Run(name, func(t *testing.T) {
			printed := parseReport(t, execute(t, dir, cacheDir(t), "check", "--format", "json")).Findings
			e := startEditor(t, dir)
			policy := filepath.Join(dir, ".sandbox", "sandbox.config.js")
			e.open(policy)
			// The command answers once the build has ended and its findings are published.
			e.call("workspace/executeCommand", map[string]any{"command": "sandbox-lsp.build", "arguments": []any{toURI(policy)}})
			published := e.findings(dir)
			if diff := same(t, printed, published); diff != "" {
				t.Errorf("server differs from command line (-cli +server):\n%s", diff)
			}
			if len(printed) == 0 {
				t.Fatal("the project has no findings to compare")
			}
			if same(t, printed, published[1:]) == "" {
				t.Error("a dropped finding goes unnoticed")
			}
		})
	}
}

func TestServer_answersAboutTheCompatibilityManifest(t *testing.T) {
	const content = "export default {\n  uuid: { tests: ['test/*.js'],  },\n};\n"
	dir := newProject(t, map[string]string{policyFile: "export default { uuid: { permissions: [] } };\n", ".sandbox/compat.config.js": content})
	e := startEditor(t, dir)
	manifest := filepath.Join(dir, ".sandbox", "compat.config.js")
	e.open(manifest)
	m := text.NewMapper(content)
	at := func(s string, delta int) map[string]any {
		return map[string]any{"textDocument": map[string]any{"uri": toURI(manifest)}, "position": m.Position(strings.Index(content, s) + delta)}
	}
	if hover := string(e.call("textDocument/hover", at("tests", 1))); !strings.Contains(hover, "test files, as patterns") {
		t.Errorf("hover of an option: %s", hover)
	}
	if items := string(e.call("textDocument/completion", at("],  }", 3))); !strings.Contains(items, `"limitations"`) || strings.Contains(items, `"tests"`) || strings.Contains(items, `"permissions"`) {
		t.Errorf("completion of options: %s", items)
	}
	if items := string(e.call("textDocument/completion", at("  uuid", 0))); strings.Contains(items, `"uuid"`) {
		t.Errorf("a library is proposed again: %s", items)
	}
}

func TestServer_answersAboutThePolicy(t *testing.T) {
	dir := fixture(t, "storefront")
	e := startEditor(t, dir)
	policy := filepath.Join(dir, ".sandbox", "sandbox.config.js")
	e.open(policy)
	raw, err := os.ReadFile(policy)
	if err != nil {
		t.Fatal(err)
	}
	m := text.NewMapper(string(raw))
	at := func(s string, delta int) map[string]any {
		i := strings.Index(string(raw), s)
		if i < 0 {
			t.Fatalf("the policy has no %q", s)
		}
		return map[string]any{"textDocument": map[string]any{"uri": toURI(policy)}, "position": m.Position(i + delta)}
	}
	if hover := string(e.call("textDocument/hover", at("dayjs:", 1))); !strings.Contains(hover, "dayjs") || !strings.Contains(hover, "1.11") {
		t.Errorf("hover of a library: %s", hover)
	}
	if hover := string(e.call("textDocument/hover", at("timeoutMs", 1))); !strings.Contains(hover, "Guest time") {
		t.Errorf("hover of an option: %s", hover)
	}
	if symbols := string(e.call("textDocument/documentSymbol", at("dayjs", 0))); !strings.Contains(symbols, `"date-fns"`) || !strings.Contains(symbols, `"stats"`) {
		t.Errorf("symbols: %s", symbols)
	}
	if items := string(e.call("textDocument/completion", at("uuid: {", len("uuid: {")))); !strings.Contains(items, `"workloads"`) || strings.Contains(items, `"permissions"`) {
		t.Errorf("completion of options: %s", items)
	}
	items := string(e.call("textDocument/completion", at("  qs: {", 0)))
	if !strings.Contains(items, `"side-channel"`) || strings.Contains(items, `"label":"lodash"`) || strings.Contains(items, "@types/qs") {
		t.Errorf("completion of packages: %s", items)
	}
	var preview struct{ Text, LanguageID string }
	if err := json.Unmarshal(e.call("sandbox/proxyPreview", map[string]any{"uri": toURI(policy), "request": "qs"}), &preview); err != nil || preview.LanguageID != "javascript" {
		t.Errorf("preview: %v %+v", err, preview)
	}
	if o := execute(t, dir, cacheDir(t), "proxy", "qs"); o.stdout != preview.Text {
		t.Errorf("the preview differs from the command line's:\n%s", cmp.Diff(o.stdout, preview.Text))
	}
	e.call("shutdown", nil)
	e.notify("exit", nil)
	if err := e.cmd.Wait(); err != nil {
		t.Errorf("exit after shutdown: %v", err)
	}
}
