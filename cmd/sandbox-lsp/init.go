package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sandbox-lsp/sandbox-lsp/analysis"
)

func (c *cli) initCommand() *cobra.Command {
	var selection analysis.Selection
	dryRun := false
	cmd := &cobra.Command{
		Use:   "init [dir]",
		Short: "Write a policy for the libraries that the application imports, with the permissions they need",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := c.open(args)
			if err != nil {
				return err
			}
			defer p.close(cmd.Context())
			show, done := c.progress()
			proposal, err := p.snapshot.Propose(cmd.Context(), selection, show)
			done()
			if err != nil {
				return &exitError{exitFindings, err}
			}
			for _, s := range proposal.Skipped {
				fmt.Fprintf(c.err, "%s is left out: %s\n", s.Library, s.Why)
			}
			_, missing := os.Stat(p.snapshot.PolicyFile())
			switch {
			case len(proposal.Added) > 0:
			case missing != nil:
				return &exitError{exitFindings, fmt.Errorf("%s is not written: %s", proposal.File, whyNothing(proposal, selection))}
			case !dryRun:
				fmt.Fprintf(c.out, "%s: nothing to add: %s\n", proposal.File, whyNothing(proposal, selection))
				return nil
			}
			if dryRun {
				_, err := io.WriteString(c.out, proposal.Text)
				return err
			}
			if err := p.snapshot.WriteProposal(cmd.Context(), proposal); err != nil {
				return err
			}
			for _, a := range proposal.Added {
				fmt.Fprintf(c.out, "%s: [%s]\n", a.Library, strings.Join(a.Permissions, ", "))
				for _, note := range a.Notes {
					fmt.Fprintf(c.out, "  %s\n", note)
				}
			}
			fmt.Fprintf(c.out, "%s: %d added. Read it before you rely on it, then run: sandbox-lsp check\n", proposal.File, len(proposal.Added))
			return nil
		},
	}
	cmd.Flags().StringSliceVar(&selection.Names, "library", nil, "a library to write a policy for; may be repeated (default: every dependency that the application imports)")
	cmd.Flags().BoolVar(&selection.All, "all", false, "every dependency that package.json lists, whether it is imported or not; those of development do not count")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "print the policy instead of writing it")
	return cmd
}

// whyNothing says why a proposal adds no library, and what would give one that does.
func whyNothing(proposal *analysis.Proposal, selection analysis.Selection) string {
	switch {
	case len(proposal.Skipped) > 0:
		return "every library is left out, for the reasons above"
	case selection.All:
		return "package.json lists no dependencies"
	default:
		return "no code of the application was found that imports a dependency which has no policy yet. Name the libraries to sandbox: sandbox-lsp init --library NAME; or take all that package.json lists: sandbox-lsp init --all"
	}
}
