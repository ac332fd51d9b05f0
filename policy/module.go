package policy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// Dialect is what differs between the kinds of configuration files in what is said
// about them.
type Dialect struct {
	Noun    string // "policy"
	Example string // of a whole file
	// Unreadable is the code for files that do not parse or evaluate, NotAnObject for
	// those that export something else, BadOption for faults inside.
	Unreadable, NotAnObject, BadOption finding.Code
}

// Module is a configuration file with what it exports and what was found wrong with
// it so far. The policy and the compatibility manifest are both read through it:
// Load gets the value, the reader of the kind takes it apart with the methods that
// check and report, and Finish puts the findings in order.
type Module struct {
	File   string // absolute
	Name   string // as findings name it
	Mapper *text.Mapper
	Syntax *syntax.File
	// Value is what the file exports; nil for nothing.
	Value *Value
	// Export is the range of the exported value, or empty when there is none.
	Export text.Span
	// Complete says that every value is known: the tree told all, or the evaluation
	// succeeded.
	Complete bool
	Findings []finding.Finding
	// Library is the one whose part is being read, "" outside of them. Findings name it.
	Library string

	root    string
	dialect Dialect
	loaded  int // how many of the findings are Load's
}

// Load reads a file's value: the tree first, then by evaluation what the tree leaves
// open. What cannot be read is a finding; the only error is the context's.
//
// With a nil Evaluator only the tree is read; parts that need evaluation are then
// left out in silence, and Complete is false.
func Load(ctx context.Context, source Source, evaluator Evaluator, dialect Dialect) (*Module, error) {
	m := &Module{
		File: source.File, Name: Relative(source.Root, source.File), Mapper: text.NewMapper(source.Text),
		Syntax: syntax.Parse(source.File, source.Text), root: source.Root, dialect: dialect,
	}
	for _, d := range m.Syntax.Diagnostics {
		m.Add(dialect.Unreadable, finding.Error, d.Span, "The %s does not parse here: %s. What can be read around it still counts in the editor; a build needs the whole file.", dialect.Noun, strings.TrimSuffix(d.Message, "."))
	}
	m.several(source.Ignored)
	node, form, span := m.Syntax.Export()
	if form != syntax.ExportNone && node != nil {
		m.Export, m.Value = span, fromNode(m.Syntax, node, 0)
		if better := mended(m.Syntax); better != nil {
			m.Value = better
		}
	}
	switch why, at := wrongModule(m.Syntax, form, span); {
	case why != "":
		m.Add(dialect.Unreadable, finding.Error, at, "The %s does not run as it is named: %s.", dialect.Noun, why)
	case !m.needsEvaluation():
		m.Complete = len(m.Syntax.Diagnostics) == 0
	// A file that does not parse cannot be evaluated; its own finding says why.
	case evaluator != nil && len(m.Syntax.Diagnostics) == 0:
		evaluated, err := evaluator.Evaluate(ctx, source)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			m.evaluationFailed(err, source)
		default:
			m.Value, m.Complete = overlay(m.Value, evaluated, m.Export), true
		}
	}
	m.loaded = len(m.Findings)
	return m, nil
}

// needsEvaluation reports whether the tree leaves anything open: a part that is
// not literal, or statements that could change the value before it is exported.
func (m *Module) needsEvaluation() bool {
	return m.Value.dynamic() || !m.Syntax.Declarative(RuntimePackage)
}

// cut reports whether a value reaches to the first syntax error, so that what is
// missing from it may be what is being typed.
func (m *Module) cut(v *Value) bool {
	if len(m.Syntax.Diagnostics) == 0 {
		return false
	}
	start := m.Syntax.Diagnostics[0].Span.Start
	return v.Span.End >= start || strings.TrimSpace(m.Syntax.Text[v.Span.End:start]) == ""
}

// Object returns the exported value when it is an object, which is what every kind of
// file has to export, and reports anything else. what names the object's keys.
func (m *Module) Object(what string) (*Value, bool) {
	v, should := m.Value, fmt.Sprintf("an object keyed by %s: %s", what, m.dialect.Example)
	switch {
	case v == nil && !m.unreadable():
		m.Add(m.dialect.NotAnObject, finding.Error, m.Export, "The %s exports nothing. Export %s.", m.dialect.Noun, should)
	case v != nil && v.Kind != Object && v.Kind != Dynamic:
		m.Add(m.dialect.NotAnObject, finding.Error, v.Span, "The %s exports %s. It has to export %s.", m.dialect.Noun, describe(v), should)
	}
	return v, v != nil && v.Kind == Object
}

// unreadable reports whether the file could not be read, so that what is missing from
// it proves nothing.
func (m *Module) unreadable() bool {
	return slices.ContainsFunc(m.Findings, func(f finding.Finding) bool {
		return f.Code == m.dialect.Unreadable && f.Severity == finding.Error
	})
}

// Finish puts the findings in order. It drops what was found wrong at and behind the
// first syntax error: from there on the parser guesses what belongs to what, and a
// fault in its guess is not the author's. What Load found stays.
func (m *Module) Finish() {
	if len(m.Syntax.Diagnostics) > 0 {
		from := m.Mapper.Position(m.Syntax.Diagnostics[0].Span.Start)
		kept := m.Findings[:m.loaded]
		for _, f := range m.Findings[m.loaded:] {
			if f.Range.End.Before(from) {
				kept = append(kept, f)
			}
		}
		m.Findings = kept
	}
	m.Findings = finding.Sort(m.Findings)
}

// Add appends a finding in the file. Its Data is never nil. The pointer is good until
// the next call.
func (m *Module) Add(code finding.Code, severity finding.Severity, span text.Span, format string, args ...any) *finding.Finding {
	data := map[string]string{}
	if m.Library != "" {
		data["library"] = m.Library
	}
	m.Findings = append(m.Findings, finding.Finding{
		Code: code, Severity: severity, File: m.Name,
		Range: m.Mapper.Range(span), Message: fmt.Sprintf(format, args...), Data: data,
	})
	return &m.Findings[len(m.Findings)-1]
}

// Relate points a finding at another place of the file.
func (m *Module) Relate(f *finding.Finding, span text.Span, message string) {
	f.Related = append(f.Related, finding.Related{Message: message, File: m.Name, Range: m.Mapper.Range(span)})
}

// evaluationFailed turns a failed evaluation into a finding at the place that failed.
func (m *Module) evaluationFailed(err error, source Source) {
	var failed *EvaluationError
	if !errors.As(err, &failed) {
		m.Add(m.dialect.Unreadable, finding.Error, m.Export, "The %s could not be evaluated: %v. Only its literal parts are known.", m.dialect.Noun, err)
		return
	}
	f := finding.Finding{
		Code: m.dialect.Unreadable, Severity: finding.Error, File: m.Name,
		Message: fmt.Sprintf("The %s could not be evaluated: %s. Only its literal parts are known; a %[1]s is evaluated without any host capability.", m.dialect.Noun, strings.TrimSuffix(failed.Message, ".")),
		Range:   m.Mapper.Range(m.Export),
	}
	if failed.Stack != "" {
		f.Data = map[string]string{"stack": failed.Stack}
	}
	if failed.File != "" && failed.Line > 0 {
		if content, ok := m.content(failed.File, source); ok {
			in := text.NewMapper(content)
			f.File, f.Range = Relative(m.root, failed.File), in.WordAt(failed.Line, failed.Column, failed.Length)
		}
	}
	m.Findings = append(m.Findings, f)
}

// content returns the text of a file of the project, as the editor has it.
func (m *Module) content(file string, source Source) (string, bool) {
	if file == source.File {
		return source.Text, true
	}
	if content, ok := source.Overlay[file]; ok {
		return content, true
	}
	raw, err := os.ReadFile(file)
	return string(raw), err == nil
}
