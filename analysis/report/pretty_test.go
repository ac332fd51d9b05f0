package report

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-lsp/sandbox-lsp/analysis"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

func at(line, start, end int) text.Range {
	return text.Range{Start: text.Position{Line: line, Character: start}, End: text.Position{Line: line, Character: end}}
}

func TestPretty_drawsTheRangeUnderItsLine(t *testing.T) {
	long := strings.Repeat("a", 5000) + "HERE" + strings.Repeat("b", 5000)
	files := map[string]string{
		"/p/tabs.js":   "\t\"🎉x\": ünd,\r\n",
		"/p/escape.js": "a \x1b[31mb\n",
		"/p/long.js":   long,
	}
	p := Pretty{Read: func(path string) (string, error) {
		if content, ok := files[path]; ok {
			return content, nil
		}
		return "", errors.New("gone")
	}}
	tests := map[string]struct {
		file  string
		where text.Range
		want  []string // the excerpt's lines
	}{
		"tabs and wide characters": {"tabs.js", at(0, 8, 11), []string{`    1 │   "🎉x": ünd,`, `      │         ^^^`}},
		"escape sequences":         {"escape.js", at(0, 2, 3), []string{`    1 │ a ·[31mb`, `      │   ^`}},
		"a file that is gone":      {"gone.js", at(0, 0, 1), nil},
		"past the end":             {"tabs.js", at(9, 9, 10), []string{`   10 │ `, `      │ ^`}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			result := &analysis.Result{Root: "/p", Findings: []finding.Finding{{Code: "SBX004", Severity: finding.Error, Message: "M.", File: tt.file, Range: tt.where}}}
			if err := p.Check(&out, result, 1500*time.Microsecond); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(out.String(), "\n")
			if !strings.HasPrefix(lines[0], tt.file+":") || !strings.HasSuffix(lines[0], " error SBX004") {
				t.Errorf("headline %q", lines[0])
			}
			if diff := cmp.Diff(append(tt.want, "", "1 error in 0 libraries (2ms)", ""), lines[2:]); diff != "" {
				t.Errorf("excerpt (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("a minified line is cut around the range", func(t *testing.T) {
		var out strings.Builder
		result := &analysis.Result{Root: "/p", Findings: []finding.Finding{{Code: "SBX040", Severity: finding.Error, File: "long.js", Range: at(0, 5000, 5004)}}}
		if err := p.Check(&out, result, 0); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(out.String(), "\n")
		code, marks := []rune(lines[2]), []rune(lines[3])
		i := strings.Index(string(marks), "^^^^")
		if len(code) > 200 || i < 0 {
			t.Fatalf("excerpt %q %q", lines[2], lines[3])
		}
		start := len([]rune(string(marks)[:i]))
		if got := string(code[start : start+4]); got != "HERE" {
			t.Errorf("the marks stand under %q", got)
		}
	})
}

func TestPretty_paintsOnlyWhenAsked(t *testing.T) {
	result := &analysis.Result{Findings: []finding.Finding{{Code: "SBX004", Severity: finding.Warning, File: "x"}}}
	for _, color := range []bool{false, true} {
		var out strings.Builder
		p := Pretty{Color: color, Read: func(string) (string, error) { return "", errors.New("none") }}
		if err := p.Check(&out, result, 0); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "\x1b[") != color {
			t.Errorf("color %v: %q", color, out.String())
		}
	}
}

func TestPretty_aMessageSendsNothingToTheTerminal(t *testing.T) {
	result := &analysis.Result{Findings: []finding.Finding{{Code: "SBX042", Severity: finding.Error, File: "x", Message: "thrown: \x1b]0;title\a \u009b31m\nsecond line"}}}
	var out strings.Builder
	p := Pretty{Read: func(string) (string, error) { return "", errors.New("none") }}
	if err := p.Check(&out, result, 0); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, "\n  thrown: ·]0;title· ·31m\n  second line\n") {
		t.Errorf("%q", got)
	}
}
