package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sandbox-lsp/sandbox-lsp/analysis"
	"github.com/sandbox-lsp/sandbox-lsp/analysis/authoritydiff"
	"github.com/sandbox-lsp/sandbox-lsp/analysis/report"
	"github.com/sandbox-lsp/sandbox-lsp/analysis/revision"
)

// What a difference of authority has to have for exit code 1.
const (
	failOnWidened = "widened"
	failOnChanged = "changed"
	failOnNone    = "none"
)

func (c *cli) diffCommand() *cobra.Command {
	dir, format, failOn := ".", report.FormatText, failOnWidened
	cmd := &cobra.Command{
		Use:   "diff <revision>",
		Short: "Say what libraries may do now that they could not do at a git revision, and the reverse",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(report.DiffFormats, format) {
				return usage("--format: unknown format %q; use one of %s", format, strings.Join(report.DiffFormats, ", "))
			}
			if !slices.Contains([]string{failOnWidened, failOnChanged, failOnNone}, failOn) {
				return usage("--fail-on: %q is not widened, changed or none", failOn)
			}
			if err := c.checkColor(); err != nil {
				return err
			}
			p, err := c.open([]string{dir})
			if err != nil {
				return err
			}
			defer p.close(cmd.Context())
			diff, err := p.snapshot.Diff(cmd.Context(), args[0])
			if err != nil {
				return comparing(err)
			}
			root := p.snapshot.Root()
			out := report.Diff{Tool: tool(), Report: diff, Root: root, Prefix: prefix(root), Color: c.colored()}
			if err := out.Write(c.out, format); err != nil {
				return err
			}
			if failOn == failOnChanged && len(diff.Libraries) > 0 || failOn == failOnWidened && diff.Count(authoritydiff.Widened) > 0 {
				return &exitError{code: exitFindings}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "dir", ".", "the project")
	cmd.Flags().StringVar(&format, "format", report.FormatText, "report: "+strings.Join(report.DiffFormats, ", "))
	cmd.Flags().StringVar(&failOn, "fail-on", failOnWidened, "what makes the exit code 1: widened, changed (any change) or none")
	return cmd
}

// comparing gives an error of a comparison its exit code: a revision that is not
// there was named wrongly, a policy that cannot be read is a finding.
func comparing(err error) error {
	var unknown *revision.Error
	var unread *analysis.PolicyError
	switch {
	case errors.As(err, &unknown):
		return usage("%w", err)
	case errors.As(err, &unread):
		return &exitError{exitFindings, err}
	}
	return err
}
