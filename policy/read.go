package policy

import (
	"context"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
)

var dialect = Dialect{
	Noun: "policy", Example: `export default { "lodash": { permissions: [] } }`,
	Unreadable: finding.PolicyUnreadable, NotAnObject: finding.PolicyNotAnObject, BadOption: finding.BadOption,
}

// Read reads a policy. It always returns one: what cannot be read is a finding.
//
// With a nil Evaluator only the tree is read, which is quick enough for every
// keystroke; parts that need evaluation are then left out in silence and
// Policy.Complete is false. The only error is the context's.
func Read(ctx context.Context, source Source, evaluator Evaluator) (*Policy, error) {
	module, err := Load(ctx, source, evaluator, dialect)
	if err != nil {
		return nil, err
	}
	r := &reader{Module: module, today: source.Today}
	r.decode()
	r.Finish()
	return &Policy{
		File: r.File, Mapper: r.Mapper, Syntax: r.Syntax, Libraries: r.libraries,
		Findings: r.Findings, Export: r.Export, Complete: r.Complete,
	}, nil
}

// reader takes a policy apart.
type reader struct {
	*Module
	today     Date
	libraries []Library
}
