package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

func (c *cli) initCommand() *cobra.Command {
	var libraries []string
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
			proposal, err := p.snapshot.Propose(cmd.Context(), libraries, show)
			done()
			if err != nil {
				return &exitError{exitFindings, err}
			}
			for _, s := range proposal.Skipped {
				fmt.Fprintf(c.err, "%s is left out: %s\n", s.Library, s.Why)
			}
			if dryRun {
				_, err := io.WriteString(c.out, proposal.Text)
				return err
			}
			if len(proposal.Added) == 0 {
				fmt.Fprintf(c.out, "%s: nothing to add\n", proposal.File)
				return nil
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
	cmd.Flags().StringSliceVar(&libraries, "library", nil, "a library to write a policy for; may be repeated (default: every dependency that the application imports)")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "print the policy instead of writing it")
	return cmd
}
