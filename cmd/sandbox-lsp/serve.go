package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/sandbox-lsp/sandbox-lsp/analysis"
	"github.com/sandbox-lsp/sandbox-lsp/lsp"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
)

func (c *cli) serveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the language server protocol on standard input and output",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return c.serve(cmd.Context()) },
	}
	cmd.Flags().Bool("stdio", true, "the only transport; accepted because editors pass it")
	return cmd
}

func (c *cli) serve(ctx context.Context) error {
	if err := errors.Join(c.checkJobs(), c.checkCacheDir()); err != nil {
		return err
	}
	logger := slog.New(slog.NewTextHandler(c.err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	session, err := analysis.NewSession(analysis.Options{CacheDir: c.cacheDir, Jobs: c.jobs, Version: version, Logger: logger, Uncommitted: true})
	if err != nil {
		return err
	}
	err = lsp.Serve(ctx, c.in, c.out, core{session}, lsp.Options{
		Version: version, Logger: logger,
		CodeHref: func(code string) string { return finding.Code(code).URL() },
	})
	if closed := session.Close(context.WithoutCancel(ctx)); err == nil {
		err = closed
	}
	if err != nil {
		return &exitError{lsp.ExitCode(err), err}
	}
	return nil
}

// core lets the server, which knows nothing of policies, ask a session.
type core struct{ session *analysis.Session }

func (c core) Root(path string) (string, bool) {
	root, ok := analysis.FindRoot(path)
	return root, ok && analysis.Watches(root, path)
}

func (c core) Snapshot(root string, overlay map[string]string) lsp.Snapshot {
	return snapshot{c.session.Snapshot(root, overlay)}
}

// snapshot narrows what the analysis returns to what the server shows.
type snapshot struct{ *analysis.Snapshot }

func (s snapshot) Check(ctx context.Context, progress analysis.Progress) ([]finding.Finding, error) {
	result, err := s.Snapshot.Check(ctx, progress)
	if err != nil {
		return nil, err
	}
	return result.Findings, nil
}

func (s snapshot) Build(ctx context.Context, progress analysis.Progress) ([]finding.Finding, string, error) {
	build, err := s.Snapshot.Build(ctx, false, progress)
	if err != nil {
		return nil, "", err
	}
	return build.Findings, fmt.Sprintf("%d libraries, %d files, %d changed", len(build.Libraries), len(build.Files), build.Changed()), nil
}
