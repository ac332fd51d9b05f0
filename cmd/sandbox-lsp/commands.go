package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandbox-lsp/sandbox-lsp/analysis/report"
)

func tool() report.Tool { return report.Tool{Name: "sandbox-lsp", Version: version} }

func (c *cli) checkCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check [dir]",
		Short: "Say what is wrong with the policy and with the libraries that it sandboxes",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
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
			result, err := p.snapshot.Check(cmd.Context(), show)
			done()
			if err != nil {
				return err
			}
			if c.format == "json" {
				err = report.JSON(c.out, tool(), result, nil)
			} else {
				err = c.pretty(p).Check(c.out, result, time.Since(began))
			}
			if err != nil {
				return err
			}
			return c.verdict(result.Findings, false)
		},
	}
	c.reportFlags(cmd)
	return cmd
}

func (c *cli) buildCommand() *cobra.Command {
	dryRun := false
	cmd := &cobra.Command{
		Use:   "build [dir]",
		Short: "Write the bundles, the proxies and the manifest",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
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
			build, err := p.snapshot.Build(cmd.Context(), dryRun, show)
			done()
			if err != nil {
				return err
			}
			if c.format == "json" {
				err = report.JSON(c.out, tool(), build.Result, build)
			} else {
				err = c.pretty(p).Build(c.out, build, dryRun, time.Since(began))
			}
			if err != nil {
				return err
			}
			return c.verdict(build.Findings, len(build.Stale) > 0)
		},
	}
	cmd.Flags().BoolVar(&dryRun, "check", false, "write nothing; fail when a file on disk is not what a build would write")
	c.reportFlags(cmd)
	return cmd
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
