package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandbox-lsp/sandbox-lsp/analysis"
	"github.com/sandbox-lsp/sandbox-lsp/analysis/report"
)

func tool() report.Tool { return report.Tool{Name: "sandbox-lsp", Version: version} }

func (c *cli) checkCommand() *cobra.Command {
	unsandboxed, fix := false, false
	cmd := &cobra.Command{
		Use:   "check [dir]",
		Short: "Say what is wrong with the policy and with the libraries that it sandboxes",
		Args:  cobra.MaximumNArgs(1),
	}
	cmd.RunE = c.onProject(func(ctx context.Context, p *project, progress analysis.Progress) (outcome, error) {
		result, err := c.checked(ctx, p, fix, progress)
		if err == nil && unsandboxed {
			err = p.snapshot.ListUnsandboxed(ctx, result)
		}
		return outcome{result: result, pretty: func(out report.Pretty, result *analysis.Result, took time.Duration) error {
			return out.Check(c.out, result, took)
		}}, err
	})
	c.reportFlags(cmd)
	cmd.Flags().BoolVar(&fix, "fix", false, "make the fixes that let no library do more than before, then report what is left")
	cmd.Flags().BoolVar(&unsandboxed, "unsandboxed", false, "also list the dependencies that the application imports and no policy covers")
	return cmd
}

// checked checks a project, and with fix repairs it first and says what it changed.
func (c *cli) checked(ctx context.Context, p *project, fix bool, progress analysis.Progress) (*analysis.Result, error) {
	if !fix {
		return p.snapshot.Check(ctx, progress)
	}
	fixed, err := p.session.Fix(ctx, p.snapshot.Root(), progress)
	if err != nil {
		return nil, err
	}
	for _, file := range fixed.Files {
		fmt.Fprintf(c.err, "fixed %s\n", file)
	}
	return fixed.Result, nil
}

func (c *cli) buildCommand() *cobra.Command {
	dryRun := false
	cmd := &cobra.Command{
		Use:   "build [dir]",
		Short: "Write the bundles, the proxies and the manifest",
		Args:  cobra.MaximumNArgs(1),
	}
	cmd.RunE = c.onProject(func(ctx context.Context, p *project, progress analysis.Progress) (outcome, error) {
		build, err := p.snapshot.Build(ctx, dryRun, progress)
		if err != nil {
			return outcome{}, err
		}
		return outcome{result: build.Result, build: build, pretty: func(out report.Pretty, result *analysis.Result, took time.Duration) error {
			shown := *build
			shown.Result = result
			return out.Build(c.out, &shown, dryRun, took)
		}}, nil
	})
	cmd.Flags().BoolVar(&dryRun, "check", false, "write nothing; fail when a file on disk is not what a build would write")
	c.reportFlags(cmd)
	return cmd
}

// outcome is what a command on a project has to report.
type outcome struct {
	result *analysis.Result
	build  *analysis.Build  // nil but for a build
	tested *analysis.Tested // nil but for a test
	pretty func(report.Pretty, *analysis.Result, time.Duration) error
}

// onProject wraps a command that works on a project and reports findings.
func (c *cli) onProject(work func(context.Context, *project, analysis.Progress) (outcome, error)) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := c.checkFlags(); err != nil {
			return err
		}
		p, err := c.open(args)
		if err != nil {
			return err
		}
		defer p.close(cmd.Context())
		began := time.Now()
		show, done := c.progress()
		o, err := work(cmd.Context(), p, show)
		done()
		if err != nil {
			return err
		}
		shown, err := c.selection.apply(cmd.Context(), p, o.result)
		if err != nil {
			return err
		}
		if c.format == report.FormatPretty {
			err = o.pretty(c.pretty(p), shown.Result, time.Since(began))
		} else {
			failLevel, _ := c.threshold() // checkFlags has refused what is none
			all := report.Report{
				Tool: tool(), Result: shown.Result, Build: o.build, Baselined: shown.baselined, Prefix: prefix(p.snapshot.Root()), FailLevel: failLevel,
			}
			if o.tested != nil {
				all.Campaigns = o.tested.Campaigns
			}
			err = all.Write(c.out, c.format)
			if err == nil { // the report is for a program; a log wants a line for people
				err = report.Pretty{}.Summary(c.err, shown.Result, time.Since(began))
			}
		}
		if err != nil {
			return err
		}
		c.selection.say(c, shown)
		return c.verdict(shown.Findings, o.build != nil && len(o.build.Stale) > 0)
	}
}

// prefix returns what annotations put before the files of a project: people run the
// command at the top of a repository, and its annotations are looked up from there.
func prefix(root string) string {
	working, err := os.Getwd()
	if err != nil { // the folder is gone; names from the project's root are all that is left
		return ""
	}
	return report.Prefix(working, root)
}

func (c *cli) proxyCommand() *cobra.Command {
	dir := "."
	cmd := &cobra.Command{
		Use:   "proxy <request>",
		Short: "Print the proxy of a library, or of sandbox-workload/<library>/<workload>",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := c.open([]string{dir})
			if err != nil {
				return err
			}
			defer p.close(cmd.Context())
			preview, err := p.snapshot.Proxy(cmd.Context(), args[0])
			if err != nil {
				return &exitError{exitFindings, err}
			}
			_, err = io.WriteString(c.out, preview.Text)
			return err
		},
	}
	cmd.Flags().StringVar(&dir, "dir", ".", "the project")
	return cmd
}

func (c *cli) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(c.out, "sandbox-lsp", version)
			return err
		},
	}
}
