package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandbox-lsp/sandbox-lsp/analysis"
	"github.com/sandbox-lsp/sandbox-lsp/analysis/report"
	"github.com/sandbox-lsp/sandbox-lsp/policy/compat"
)

func (c *cli) testCommand() *cobra.Command {
	var options analysis.TestOptions
	cmd := &cobra.Command{
		Use:   "test [dir]",
		Short: "Run the tests of libraries inside and outside of their sandboxes, and compare",
		Args:  cobra.MaximumNArgs(1),
	}
	cmd.RunE = c.onProject(func(ctx context.Context, p *project, progress analysis.Progress) (outcome, error) {
		if !slices.Contains(compat.Engines, options.Engine) {
			return outcome{}, usage("--engine: %q is none of %s", options.Engine, strings.Join(compat.Engines, ", "))
		}
		tested, err := p.snapshot.Test(ctx, options, progress)
		if err != nil {
			return outcome{}, err
		}
		return outcome{result: tested.Result, tested: tested, pretty: func(out report.Pretty, result *analysis.Result, took time.Duration) error {
			return out.Tests(c.out, tested, result, took)
		}}, nil
	})
	c.reportFlags(cmd)
	cmd.Flags().StringVar(&options.Library, "library", "", "only this library's tests")
	cmd.Flags().StringVar(&options.Engine, "engine", compat.Auto, "what the tests run in: "+strings.Join(compat.Engines, ", "))
	return cmd
}
