package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
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

func (c *cli) serve(ctx context.Context) error { return errors.New("x") }
