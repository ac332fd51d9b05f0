package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
)

// What a workflow command must not hold as it is
// (https://docs.github.com/actions/reference/workflow-commands-for-github-actions).
var (
	escapeMessage  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	escapeProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

var githubCommands = map[finding.Severity]string{finding.Error: "error", finding.Warning: "warning", finding.Info: "notice", finding.Hint: "notice"}

// GitHub writes one workflow command for each finding, which GitHub Actions shows at
// the file's line in a pull request. What is suppressed or in the baseline is left
// out, since an annotation cannot say so.
func (r Report) GitHub(w io.Writer) error {
	out := bufio.NewWriter(w)
	for _, f := range r.Result.Findings {
		fmt.Fprintf(out, "::%s file=%s,line=%d,endLine=%d,col=%d,endColumn=%d,title=%s::%s\n",
			githubCommands[f.Severity], escapeProperty.Replace(r.file(f.File)),
			f.Range.Start.Line+1, f.Range.End.Line+1, f.Range.Start.Character+1, f.Range.End.Character+1,
			escapeProperty.Replace(string(f.Code)), escapeMessage.Replace(printable(f.Message)))
	}
	return flush(out)
}
