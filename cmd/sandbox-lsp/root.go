package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/sandbox-lsp/sandbox-lsp/analysis"
	"github.com/sandbox-lsp/sandbox-lsp/analysis/report"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
)

// The exit codes, which scripts rely on.
const (
	exitClean    = 0
	exitFindings = 1
	exitUsage    = 2
	exitInternal = 3
)

type streams struct {
	in       io.Reader
	out, err io.Writer
}

// exitError ends a command with a code; err is nil when all is said already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func usage(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// run executes a command line and returns its exit code.
func run(ctx context.Context, args []string, std streams) int {
	c := &cli{streams: std}
	root := c.root()
	root.SetArgs(args)
	root.SetIn(std.in)
	root.SetOut(std.out)
	root.SetErr(std.err)
	err := root.ExecuteContext(ctx)
	var exit *exitError
	switch {
	case err == nil:
		return exitClean
	case errors.As(err, &exit):
		if exit.err != nil {
			fmt.Fprintln(std.err, "sandbox-lsp:", exit.err)
		}
		return exit.code
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(std.err, "sandbox-lsp: interrupted; no file was left half-written")
		return exitInternal
	case !c.started: // cobra's own: an unknown command or flag
		fmt.Fprintf(std.err, "sandbox-lsp: %v\nRun sandbox-lsp help for usage.\n", err)
		return exitUsage
	default:
		fmt.Fprintln(std.err, "sandbox-lsp:", err)
		return exitInternal
	}
}

// cli holds the flags that commands share.
type cli struct {
	streams
	started   bool // argument parsing is over
	format    string
	failLevel string
	color     string
	cacheDir  string
	jobs      int
	selection selection
}

func (c *cli) root() *cobra.Command {
	stdio := false
	root := &cobra.Command{
		Use:           "sandbox-lsp",
		Short:         "Check, build and serve the policies that isolate JavaScript dependencies",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if stdio { // editors pass a bare --stdio
				return c.serve(cmd.Context())
			}
			return cmd.Help()
		},
		PersistentPreRun: func(*cobra.Command, []string) { c.started = true },
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.Flags().BoolVar(&stdio, "stdio", false, "serve the language server protocol on standard input and output")
	flags := root.PersistentFlags()
	flags.StringVar(&c.color, "color", "auto", "colours: auto, always or never")
	flags.StringVar(&c.cacheDir, "cache-dir", "", "where results are kept between runs (default: the user's cache folder; - for none)")
	flags.IntVar(&c.jobs, "jobs", 0, "libraries to work on at a time (default: one per core)")
	root.AddCommand(c.initCommand(), c.checkCommand(), c.buildCommand(), c.testCommand(), c.diffCommand(), c.proxyCommand(), c.explainCommand(), c.serveCommand(), c.versionCommand())
	return root
}

func (c *cli) reportFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.format, "format", report.FormatPretty, "report: "+strings.Join(report.Formats, ", "))
	cmd.Flags().StringVar(&c.failLevel, "fail-level", "error", "least severity that makes the exit code 1: error, warning, info, hint or none")
	cmd.Flags().StringVar(&c.selection.baseline, "baseline", "", "a file of findings that do not count, as --write-baseline writes it")
	cmd.Flags().StringVar(&c.selection.writeBaseline, "write-baseline", "", "write all findings to a file, to be given to --baseline later")
	cmd.Flags().StringVar(&c.selection.changed, "changed", "", "only findings in files, or of libraries, that changed since a git revision")
}

// project is what a command works on.
type project struct {
	session  *analysis.Session
	snapshot *analysis.Snapshot
}

// open finds the project of a command's folder argument and starts a session.
func (c *cli) open(args []string) (*project, error) {
	if err := errors.Join(c.checkJobs(), c.checkCacheDir()); err != nil {
		return nil, err
	}
	dir := "."
	if len(args) > 0 {
		dir = args[0]
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, usage("%s is not a folder", dir)
	}
	root, found := analysis.FindRoot(dir)
	if !found {
		absolute, err := filepath.Abs(dir)
		if err != nil {
			return nil, fmt.Errorf("find the project: %w", err)
		}
		root = absolute // the check says that there is no policy, and where it belongs
	}
	session, err := analysis.NewSession(analysis.Options{CacheDir: c.cacheDir, Jobs: c.jobs, Version: version})
	if err != nil {
		return nil, err
	}
	return &project{session, session.Snapshot(root, nil)}, nil
}

func (p *project) close(ctx context.Context) {
	_ = p.session.Close(context.WithoutCancel(ctx)) // the process ends; there is nobody to tell
}

// verdict turns findings into the command's outcome.
func (c *cli) verdict(findings []finding.Finding, alsoFails bool) error {
	if alsoFails {
		return &exitError{code: exitFindings}
	}
	threshold, err := c.threshold()
	if err != nil {
		return err
	}
	if worst := finding.Worst(findings); worst != 0 && worst.AtLeast(threshold) {
		return &exitError{code: exitFindings}
	}
	return nil
}

// threshold is the least severity that makes the command fail; with "none" no severity is
// as severe.
func (c *cli) threshold() (finding.Severity, error) {
	if c.failLevel == "none" {
		return 0, nil
	}
	var threshold finding.Severity
	if err := threshold.UnmarshalText([]byte(c.failLevel)); err != nil {
		return 0, usage("--fail-level: %v; use one of error, warning, info, hint, none", err)
	}
	return threshold, nil
}

func (c *cli) checkFlags() error {
	if !slices.Contains(report.Formats, c.format) {
		return usage("--format: unknown format %q; use one of %s", c.format, strings.Join(report.Formats, ", "))
	}
	if err := c.checkColor(); err != nil {
		return err
	}
	if err := c.selection.check(); err != nil {
		return err
	}
	return c.verdict(nil, false)
}

func (c *cli) checkJobs() error {
	if c.jobs < 0 {
		return usage("--jobs: %d libraries cannot be worked on at a time; give a number from 1, or 0 for one per core", c.jobs)
	}
	return nil
}

// checkCacheDir refuses what cannot be a folder for results. One that cannot be written
// costs time and nothing else.
func (c *cli) checkCacheDir() error {
	if c.cacheDir == "" || c.cacheDir == "-" {
		return nil
	}
	for dir := filepath.Clean(c.cacheDir); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		switch {
		case err == nil && !info.IsDir():
			return usage("--cache-dir: %s is a file, and results are kept in a folder. Name a folder, which is made if it is not there, or - to keep none", dir)
		case err == nil || dir == filepath.Dir(dir):
			return nil
		}
	}
}

func (c *cli) checkColor() error {
	switch c.color {
	case "auto", "always", "never":
		return nil
	}
	return usage("--color: %q is not auto, always or never", c.color)
}

func (c *cli) pretty(p *project) report.Pretty {
	return report.Pretty{Color: c.colored(), Read: p.snapshot.Read}
}

func (c *cli) colored() bool {
	switch c.color {
	case "always":
		return true
	case "never":
		return false
	}
	return os.Getenv("NO_COLOR") == "" && terminal(c.out)
}

func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// progress shows what is being worked on, on a terminal only; done removes it.
func (c *cli) progress() (show analysis.Progress, done func()) {
	if !terminal(c.err) {
		return nil, func() {}
	}
	began := time.Now()
	return func(e analysis.Event) {
			if time.Since(began) > 200*time.Millisecond { // quick work needs no show
				fmt.Fprintf(c.err, "\r\x1b[K%d/%d %s %s", e.Done, e.Total, e.Stage, e.Library)
			}
		}, func() {
			fmt.Fprint(c.err, "\r\x1b[K")
		}
}
