package lsp

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/sandbox-lsp/sandbox-lsp/analysis"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// The project of most tests. It does not exist on disk.
const (
	policyPath = "/p/.sandbox/sandbox.config.js"
	policyURI  = "file://" + policyPath
)

// fakeCore is a core whose findings can be read off the text: the policy has a
// finding at each "bad", which its text tells at once, and one at each "deep", which
// only a check finds. Tests replace what they are about.
type fakeCore struct {
	roots []string

	parse    func(ctx context.Context, sn *fakeSnapshot) ([]finding.Finding, error)
	check    func(ctx context.Context, sn *fakeSnapshot) ([]finding.Finding, error)
	build    func(ctx context.Context, sn *fakeSnapshot, progress analysis.Progress) ([]finding.Finding, string, error)
	hover    func(ctx context.Context, sn *fakeSnapshot, path string, at text.Position) (*analysis.Hover, error)
	complete func(sn *fakeSnapshot, path string, at text.Position) []analysis.Completion
	symbols  func(sn *fakeSnapshot, path string) []analysis.Symbol
	proxy    func(sn *fakeSnapshot, request string) (analysis.Preview, error)

	mu     sync.Mutex
	events []string // what was asked of it, in order
}

func (c *fakeCore) note(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, fmt.Sprintf(format, args...))
}

// asked returns what was asked of the core since the last time.
func (c *fakeCore) asked() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	events := c.events
	c.events = nil
	return events
}

func (c *fakeCore) Root(path string) (string, bool) {
	roots := c.roots
	if roots == nil {
		roots = []string{"/p", "/q"}
	}
	longest := ""
	for _, root := range roots {
		if within(root, path) && len(root) > len(longest) {
			longest = root
		}
	}
	return longest, longest != "" && slices.Contains([]string{".js", ".ts", ".json"}, filepath.Ext(path))
}

func (c *fakeCore) Snapshot(root string, overlay map[string]string) Snapshot {
	return &fakeSnapshot{core: c, root: root, overlay: overlay}
}

type fakeSnapshot struct {
	core    *fakeCore
	root    string
	overlay map[string]string
}

// policy returns the text of the project's policy; a file that is not open is empty.
func (sn *fakeSnapshot) policy() string { return sn.overlay[sn.root+"/.sandbox/sandbox.config.js"] }

// words returns a finding at each of the words in the policy.
func (sn *fakeSnapshot) words(words ...string) []finding.Finding {
	m := text.NewMapper(sn.policy())
	var found []finding.Finding
	for _, word := range words {
		for from := 0; ; {
			i := strings.Index(m.Text()[from:], word)
			if i < 0 {
				break
			}
			span := text.Span{Start: from + i, End: from + i + len(word)}
			from = span.End
			severity := finding.Error
			if word == "deep" {
				severity = finding.Warning
			}
			found = append(found, finding.Finding{
				Code: finding.BadOption, Severity: severity, File: ".sandbox/sandbox.config.js",
				Message: fmt.Sprintf("%s %d", word, strings.Count(m.Text()[:span.End], word)), Range: m.Range(span),
			})
		}
	}
	return found
}

func (sn *fakeSnapshot) Parse(ctx context.Context) ([]finding.Finding, error) {
	sn.core.note("parse %s", sn.policy())
	if sn.core.parse != nil {
		return sn.core.parse(ctx, sn)
	}
	return sn.words("bad"), nil
}

func (sn *fakeSnapshot) Check(ctx context.Context, _ analysis.Progress) ([]finding.Finding, error) {
	sn.core.note("check %s", sn.policy())
	if sn.core.check != nil {
		return sn.core.check(ctx, sn)
	}
	return sn.words("bad", "deep"), nil
}

func (sn *fakeSnapshot) Build(ctx context.Context, progress analysis.Progress) ([]finding.Finding, string, error) {
	sn.core.note("build %s", sn.policy())
	if sn.core.build != nil {
		return sn.core.build(ctx, sn, progress)
	}
	return sn.words("bad", "deep"), "built", nil
}

func (sn *fakeSnapshot) Hover(ctx context.Context, path string, at text.Position) (*analysis.Hover, error) {
	if sn.core.hover == nil {
		return nil, nil
	}
	return sn.core.hover(ctx, sn, path, at)
}

func (sn *fakeSnapshot) Complete(_ context.Context, path string, at text.Position) ([]analysis.Completion, error) {
	if sn.core.complete == nil {
		return nil, nil
	}
	return sn.core.complete(sn, path, at), nil
}

func (sn *fakeSnapshot) Symbols(_ context.Context, path string) ([]analysis.Symbol, error) {
	if sn.core.symbols == nil {
		return nil, nil
	}
	return sn.core.symbols(sn, path), nil
}

func (sn *fakeSnapshot) Proxy(_ context.Context, request string) (analysis.Preview, error) {
	if sn.core.proxy == nil {
		return analysis.Preview{}, fmt.Errorf("the policy has no library %q", request)
	}
	return sn.core.proxy(sn, request)
}

// textOf is a hover that shows the text that a request sees.
func textOf(_ context.Context, sn *fakeSnapshot, path string, at text.Position) (*analysis.Hover, error) {
	return &analysis.Hover{Markdown: sn.overlay[path], Range: text.Range{Start: at, End: at}}, nil
}
