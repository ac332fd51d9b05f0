package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/sandbox-lsp/sandbox-lsp/analysis/report"
)

func (c *cli) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [code or global]",
		Short: "Explain a finding by its code, such as SBX014, or what a global such as fetch hands over; alone, list all codes",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := c.checkColor(); err != nil {
				return err
			}
			out := report.Pretty{Color: c.colored()}
			if len(args) == 0 {
				return out.Codes(c.out)
			}
			err := out.Explain(c.out, args[0])
			var unknown *report.UnknownCodeError
			if errors.As(err, &unknown) {
				return usage("%w", err)
			}
			return err
		},
	}
}
