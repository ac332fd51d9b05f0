package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// These tests give the built server clients, documents and projects in a bad state.

// rawServer is a server whose client writes whatever bytes it likes.
type rawServer struct {
	t    *testing.T
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	log  *bytes.Buffer
	done chan struct{}
}

// startRaw starts a server, without a word to it. It is killed when it outlives the
// test, which fails then.
func startRaw(t *testing.T, dir string) *rawServer {
	t.Helper()
	s := &rawServer{t: t, cmd: exec.Command(binary, "serve", "--cache-dir", cacheDir(t)), log: &bytes.Buffer{}, done: make(chan struct{})}
	s.cmd.Dir, s.cmd.Stderr = dir, s.log
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, writer, err := os.Pipe() // not StdoutPipe, which Wait would close under a reader
	if err != nil {
		t.Fatal(err)
	}
	s.cmd.Stdout, s.out = writer, bufio.NewReader(out)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = writer.Close()
	watchdog := time.AfterFunc(2*time.Minute, func() { _ = s.cmd.Process.Kill() })
	go func() {
		defer close(s.done)
		_ = s.cmd.Wait() // how it ended is in its state
	}()
	t.Cleanup(func() {
		watchdog.Stop()
		_ = s.cmd.Process.Kill()
		<-s.done
		_ = out.Close()
		if inside := goInside.FindString(s.log.String()); inside != "" {
			t.Errorf("the inside of the program shows, %q:\n%.3000s", inside, s.log)
		}
	})
	return s
}

// frame sends a body as one message.
func (s *rawServer) frame(body string) {
	s.t.Helper()
	if _, err := fmt.Fprintf(s.in, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		s.t.Fatal(err)
	}
}

// answer reads messages until the answer with an id, in JSON, and returns its error
// code, 0 for a result.
func (s *rawServer) answer(id string) int {
	s.t.Helper()
	e := &editor{t: s.t, in: s.in, out: s.out, diagnostics: map[string][]diagnostic{}}
	for {
		m := e.receive()
		if m.Method != "" || string(m.ID) != id {
			continue
		}
		var failed struct{ Code int }
		if m.Error != nil {
			if err := json.Unmarshal(m.Error, &failed); err != nil {
				s.t.Fatal(err)
			}
		}
		return failed.Code
	}
}

// ends waits for the end of the server and returns its exit code.
func (s *rawServer) ends() int {
	s.t.Helper()
	<-s.done
	return s.cmd.ProcessState.ExitCode()
}

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}`

// TestBadClient_framing holds how the server ends when the frames make no sense any
// more: with exit code 1 and a sentence, never by hanging.
func TestBadClient_framing(t *testing.T) {
	dir := newProject(t, soundFiles())
	for name, tt := range map[string]struct{ bytes, says string }{
		"no header":            {"hello\r\n\r\n", "invalid message header"},
		"no length":            {"Content-Type: text\r\n\r\n{}", "invalid message header"},
		"a negative length":    {"Content-Length: -2\r\n\r\n{}", "invalid message header"},
		"a length of zero":     {"Content-Length: 0\r\n\r\n{}", "invalid message header"},
		"a huge length":        {"Content-Length: 99999999999999999999\r\n\r\n{}", "invalid message header"},
		"a length of a word":   {"Content-Length: many\r\n\r\n{}", "invalid message header"},
		"too short a length":   {"Content-Length: 1\r\n\r\n{}\r\n\r\n", "invalid message header"},
		"too long a length":    {"Content-Length: 100\r\n\r\n{}", "unexpected EOF"},
		"a header that is cut": {"Content-Len", "unexpected EOF"},
		"nothing":              {"", "the client closed the connection before shutdown"},
	} {
		for _, after := range []string{"before initialize", "after initialize"} {
			t.Run(name+" "+after, func(t *testing.T) {
				t.Parallel()
				s := startRaw(t, dir)
				if after == "after initialize" {
					s.frame(hello)
					if code := s.answer("0"); code != 0 {
						t.Fatalf("initialize: error %d", code)
					}
				}
				if _, err := io.WriteString(s.in, tt.bytes); err != nil {
					t.Fatal(err)
				}
				_ = s.in.Close()
				if code := s.ends(); code != 1 || !strings.Contains(s.log.String(), tt.says) {
					t.Errorf("exit %d, %q is wanted:\n%s", code, tt.says, s.log)
				}
			})
		}
	}
}

// TestBadClient_messages sends what costs one message and not the connection.
func TestBadClient_messages(t *testing.T) {
	dir := newProject(t, soundFiles())
	uri := toURI(filepath.Join(dir, policyFile))
	s := startRaw(t, dir)
	steps := []struct {
		name, body, id string
		code           int
	}{
		{"a request before initialize", `{"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":{}}`, "1", -32002},
		{"a notification before initialize", `{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{}}`, "", 0},
		{"initialize", hello, "0", 0},
		{"initialize again", strings.Replace(hello, `"id":0`, `"id":2`, 1), "2", -32600},
		{"no JSON", `{"jsonrpc":`, "null", -32700},
		{"bytes", "\x00\xff\xfe", "null", -32700},
		{"a batch", `[{"jsonrpc":"2.0","id":3,"method":"shutdown"}]`, "null", -32600},
		{"an empty batch", `[]`, "null", -32600},
		{"another version", `{"jsonrpc":"1.0","id":4,"method":"shutdown"}`, "4", -32600},
		{"deep nesting", `{"jsonrpc":"2.0","id":5,"method":"textDocument/hover","params":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`, "5", -32602},
		{"an unknown method", `{"jsonrpc":"2.0","id":6,"method":"no/such"}`, "6", -32601},
		{"an unknown notification", `{"jsonrpc":"2.0","method":"no/such"}`, "", 0},
		{"params of another type", `{"jsonrpc":"2.0","id":7,"method":"textDocument/hover","params":7}`, "7", -32602},
		{"cancel of nothing", `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":4711}}`, "", 0},
		{"cancel of no id", `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":{}}}`, "", 0},
		{"an answer to nothing", `{"jsonrpc":"2.0","id":99,"result":{}}`, "", 0},
		{"a change of nothing", `{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///none.js","version":1},"contentChanges":[{"text":"x"}]}}`, "", 0},
		{"a hover out of bounds", fmt.Sprintf(`{"jsonrpc":"2.0","id":8,"method":"textDocument/hover","params":{"textDocument":{"uri":%q},"position":{"line":4294967295,"character":4294967295}}}`, uri), "8", 0},
		{"an unknown command", `{"jsonrpc":"2.0","id":9,"method":"workspace/executeCommand","params":{"command":"rm -rf"}}`, "9", -32602},
		{"a build of nothing", `{"jsonrpc":"2.0","id":10,"method":"workspace/executeCommand","params":{"command":"sandbox-lsp.build","arguments":["file:///none.js"]}}`, "10", -32803},
		{"shutdown", `{"jsonrpc":"2.0","id":11,"method":"shutdown"}`, "11", 0},
		{"a request after shutdown", `{"jsonrpc":"2.0","id":12,"method":"textDocument/hover","params":{}}`, "12", -32600},
	}
	for _, step := range steps {
		s.frame(step.body)
		if step.id == "" {
			continue
		}
		t.Log(step.name) // the last one shows which answer never came
		if code := s.answer(step.id); code != step.code {
			t.Errorf("%s: error %d, want %d", step.name, code, step.code)
		}
	}
	s.frame(`{"jsonrpc":"2.0","method":"exit"}`)
	if code := s.ends(); code != 0 {
		t.Errorf("exit %d\n%s", code, s.log)
	}
}

// TestBadClient_stopsReading holds that a server whose answers nobody reads ends when
// its input does, although a write to the client never returns.
func TestBadClient_stopsReading(t *testing.T) {
	s := startRaw(t, newProject(t, soundFiles()))
	s.frame(hello)
	for i := range 5000 { // their answers are more than a pipe holds
		s.frame(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"no/such"}`, i+1))
	}
	_ = s.in.Close()
	if code := s.ends(); code != 1 {
		t.Errorf("exit %d\n%s", code, s.log)
	}
}

func TestBadClient_itsProcessDies(t *testing.T) {
	s := startRaw(t, newProject(t, soundFiles()))
	parent := exec.Command(binary, "version")
	if err := parent.Run(); err != nil {
		t.Fatal(err)
	}
	s.frame(strings.Replace(hello, "null", fmt.Sprint(parent.Process.Pid), 1)) // it has ended already
	if code := s.ends(); code != 1 || !strings.Contains(s.log.String(), "the process that started the server has ended") {
		t.Errorf("exit %d\n%s", code, s.log)
	}
}

// says waits until the server has published a finding with a code and a text for a
// file, or none at all for an empty code.
func (e *editor) says(path, code, message string) {
	e.t.Helper()
	for {
		set, told := e.diagnostics[toURI(path)]
		if told && code == "" && len(set) == 0 {
			return
		}
		for _, d := range set {
			if string(d.Code) == code && strings.Contains(d.Message, message) {
				return
			}
		}
		e.receive()
	}
}

func (e *editor) change(path string, version int, changes ...any) {
	e.t.Helper()
	e.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": toURI(path), "version": version}, "contentChanges": changes})
}

func (e *editor) build(path string) {
	e.t.Helper()
	e.call("workspace/executeCommand", map[string]any{"command": "sandbox-lsp.build", "arguments": []any{toURI(path)}})
}

// inServer are the cases of the server alone: what happens to a policy that is open.
func TestBadDocument(t *testing.T) {
	span := func(line, from, line2, to int) map[string]any {
		return map[string]any{"start": map[string]any{"line": line, "character": from}, "end": map[string]any{"line": line2, "character": to}}
	}
	lostPackage := map[string]string{tinyManifest: gone}
	for name, tt := range map[string]struct {
		files map[string]string
		act   func(e *editor, policy string)
	}{
		"deleted while it is open, then closed": {nil, func(e *editor, policy string) {
			e.says(policy, "", "")
			if err := os.Remove(policy); err != nil {
				e.t.Fatal(err)
			}
			e.notify("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{map[string]any{"uri": toURI(policy), "type": 3}}})
			e.build(policy) // of the text that is still open
			e.says(policy, "", "")
			e.notify("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": toURI(policy)}})
			e.says(policy, "SBX001", "There is no policy")
		}},
		"becomes a folder": {nil, func(e *editor, policy string) {
			e.says(policy, "", "")
			if err := errors.Join(os.Remove(policy), os.Mkdir(policy, 0o755)); err != nil {
				e.t.Fatal(err)
			}
			e.notify("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": toURI(policy)}})
			e.says(policy, "SBX001", "is not a file")
		}},
		"a change over all bounds": {nil, func(e *editor, policy string) {
			e.change(policy, 2, map[string]any{"text": soundFiles()[policyFile] + "//" + strings.Repeat("x", 17<<20)})
			e.says(policy, "SBX001", "no more than 16 MiB")
			e.change(policy, 3, map[string]any{"text": soundFiles()[policyFile]})
			e.says(policy, "", "")
		}},
		"many changes in one": {nil, func(e *editor, policy string) {
			var changes []any
			for range 2000 {
				changes = append(changes, map[string]any{"range": span(0, 0, 0, 0), "text": "// x\n"})
			}
			e.change(policy, 2, append(changes, map[string]any{"range": span(2000, 0, 9999, 0), "text": "nonsense"})...)
			e.says(policy, "SBX002", "exports nothing")
		}},
		"ranges out of bounds": {nil, func(e *editor, policy string) {
			e.change(policy, 2,
				map[string]any{"range": span(4_000_000_000, 4_000_000_000, 0, 0), "text": "\n// at the end\n"},
				map[string]any{"range": span(0, 9999, 0, 5), "text": " // reversed"},
				map[string]any{"range": span(0, 0, 4_000_000_000, 4_000_000_000), "text": "export default 7;\n"})
			e.says(policy, "SBX002", "exports the number 7")
		}},
		"mixed line endings": {nil, func(e *editor, policy string) {
			e.change(policy, 2, map[string]any{"text": "// a\r\n// b\r// c\n\r\nexport default 7;\n"})
			e.says(policy, "SBX002", "exports the number 7")
			if at := e.diagnostics[toURI(policy)][0].Range.Start; at.Line != 4 || at.Character != 15 {
				e.t.Errorf("the finding is at %+v", at)
			}
		}},
		"documents that are no files": {lostPackage, func(e *editor, policy string) {
			for _, uri := range []string{
				"untitled:Untitled-1", "git:/x/.sandbox/sandbox.config.js?ref", "file:///c%3A/x/.sandbox/sandbox.config.js", "file:///C:/x/.sandbox/sandbox.config.js",
				"file://host/share/.sandbox/sandbox.config.js", "file:///%00/.sandbox/sandbox.config.js", "vscode-notebook-cell:/a#b", "::", "x", "file:", "file:relative",
			} {
				e.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": uri, "languageId": "javascript", "version": 1, "text": "export default 7;"}})
				e.notify("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": uri}})
			}
			e.says(policy, "SBX003", "no package.json")
		}},
		"another spelling of its URI": {lostPackage, func(e *editor, policy string) {
			spelled := strings.Replace(toURI(policy), ".sandbox/", "%2Esandbox/", 1)
			e.notify("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": toURI(policy)}})
			e.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": spelled, "languageId": "javascript", "version": 1, "text": "export default 7;"}})
			for len(e.diagnostics[spelled]) == 0 || e.diagnostics[spelled][0].Code != "SBX002" {
				e.receive()
			}
		}},
		"200 documents": {lostPackage, func(e *editor, policy string) {
			dir := filepath.Dir(filepath.Dir(policy))
			for i := range 200 {
				e.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{
					"uri": toURI(filepath.Join(dir, "src", fmt.Sprintf("doc%d.js", i))), "languageId": "javascript", "version": 1, "text": strings.Repeat("// x\n", 1000),
				}})
			}
			e.says(policy, "SBX003", "no package.json")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := builtProject(t, tt.files)
			policy := filepath.Join(dir, policyFile)
			e := startEditor(t, dir)
			e.open(policy)
			tt.act(e, policy)
			e.call("shutdown", nil)
			e.notify("exit", nil)
			if err := e.cmd.Wait(); err != nil {
				t.Errorf("exit after shutdown: %v", err)
			}
			holds(t, dir, ended{})
		})
	}
}
