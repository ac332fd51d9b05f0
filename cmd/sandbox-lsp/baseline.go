package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/sandbox-lsp/sandbox-lsp/analysis"
	"github.com/sandbox-lsp/sandbox-lsp/analysis/baseline"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
)

// selection says which of a check's findings count.
type selection struct {
	baseline      string // a file
	writeBaseline string // a file
	changed       string // a git revision
}

func (s selection) check() error {
	switch {
	case s.writeBaseline != "" && s.changed != "":
		return usage("--write-baseline with --changed would list the findings of a part of the project only; write it without --changed")
	case s.writeBaseline != "" && s.baseline != "":
		return usage("--write-baseline writes a baseline of everything that is found; leave --baseline out")
	}
	return nil
}

// selected is a check's result with the findings that count, and those that were set
// aside.
type selected struct {
	*analysis.Result
	baselined []finding.Finding
	stale     []baseline.Entry
}

// apply sets aside what does not belong to the change, and then what the baseline
// lists.
func (s selection) apply(ctx context.Context, p *project, result *analysis.Result) (selected, error) {
	shown := *result
	if s.changed != "" {
		changes, err := p.snapshot.Since(ctx, s.changed, result.Policy)
		if err != nil {
			return selected{}, comparing(err)
		}
		for _, findings := range []*[]finding.Finding{&shown.Findings, &shown.Suppressed} {
			if *findings, err = changes.Of(ctx, *findings); err != nil {
				return selected{}, err
			}
		}
	}
	b, err := s.read(shown.Findings)
	if b == nil || err != nil {
		return selected{Result: &shown}, err
	}
	split := b.Split(shown.Findings)
	shown.Findings = split.New
	out := selected{Result: &shown, baselined: split.Known}
	// What a part of the project, or half a policy, does not show may be there still.
	if s.changed == "" && result.Policy != nil && result.Policy.Complete {
		out.stale = split.Stale
	}
	return out, nil
}

// read reads the baseline, or writes the one that lists the findings; it returns nil
// when neither was asked for.
func (s selection) read(findings []finding.Finding) (*baseline.Baseline, error) {
	var b *baseline.Baseline
	var err error
	switch {
	case s.writeBaseline != "":
		b = baseline.Of(findings)
		err = b.Write(s.writeBaseline)
	case s.baseline != "":
		b, err = baseline.Read(s.baseline)
	}
	var named *baseline.Error
	if errors.As(err, &named) {
		return nil, usage("%w", err)
	}
	return b, err
}

// say tells a person what was set aside.
func (s selection) say(c *cli, out selected) {
	if s.writeBaseline != "" {
		fmt.Fprintf(c.err, "Wrote a baseline of %d findings to %s.\n", len(out.baselined), s.writeBaseline)
		return
	}
	if s.baseline == "" {
		return
	}
	fmt.Fprintf(c.err, "In the baseline: %d.\n", len(out.baselined))
	for _, e := range out.stale {
		library := ""
		if e.Library != "" {
			library = fmt.Sprintf(" of %q", e.Library)
		}
		fmt.Fprintf(c.err, "The baseline lists %d × %s%s in %s, which is not found any more.\n", e.Count, e.Code, library, e.File)
	}
	if len(out.stale) > 0 {
		fmt.Fprintf(c.err, "Stale entries would hide such findings if they came back. Write it anew: --write-baseline %s\n", s.baseline)
	}
}
