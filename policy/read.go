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

// Read reads a policy. It always returns one: what cannot be read is a finding.
//
// With a nil Evaluator only the tree is read, which is quick enough for every
// keystroke; parts that need evaluation are then left out in silence and
// Policy.Complete is false. The only error is the context's.
func Read(ctx context.Context, source Source, evaluator Evaluator) (*Policy, error) {
	r := &reader{
		policy: &Policy{File: source.File, Mapper: text.NewMapper(source.Text)},
		file:   Relative(source.Root, source.File),
		root:   source.Root,
		today:  source.Today,
	}
	parsed := syntax.Parse(source.File, source.Text)
	r.policy.Syntax = parsed
	for _, d := range parsed.Diagnostics {
		r.add(finding.PolicyUnreadable, finding.Error, d.Span, "The policy does not parse here: %s. What can be read around it still counts in the editor; a build needs the whole file.", strings.TrimSuffix(d.Message, "."))
	}
	r.several(source.Ignored)
	tree := r.fromTree(parsed)

	value := tree
	if why, at := wrongModule(parsed); why != "" {
		r.add(finding.PolicyUnreadable, finding.Error, at, "The policy does not run as it is named: %s.", why)
	} else if needsEvaluation(parsed, tree) {
		r.policy.Complete = false
		// A file that does not parse cannot be evaluated; its own finding says why.
		if evaluator != nil && len(parsed.Diagnostics) == 0 {
			evaluated, err := evaluator.Evaluate(ctx, source)
			switch {
			case ctx.Err() != nil:
				return nil, ctx.Err()
			case err != nil:
				r.evaluationFailed(err, source)
			default:
				value = overlay(tree, evaluated, r.policy.Export)
				r.policy.Complete = true
			}
		}
	} else {
		r.policy.Complete = len(parsed.Diagnostics) == 0
	}
	r.decode(value)
	if len(parsed.Diagnostics) > 0 {
		r.withdrawBehind(parsed.Diagnostics[0].Span.Start)
	}
	r.policy.Findings = finding.Sort(r.policy.Findings)
	return r.policy, nil
}

// withdrawBehind drops what was found wrong behind the first syntax error: from
// there on the parser guesses what belongs to what, and a fault in its guess is not
// the author's. The syntax errors stay.
func (r *reader) withdrawBehind(offset int) {
	from := r.policy.Mapper.Position(offset)
	r.policy.Findings = slices.DeleteFunc(r.policy.Findings, func(f finding.Finding) bool {
		return f.Code != finding.PolicyUnreadable && !f.Range.Start.Before(from)
	})
}

// needsEvaluation reports whether the tree leaves anything open: a part that is
// not literal, or statements that could change the value before it is exported.
func needsEvaluation(parsed *syntax.File, tree *Value) bool {
	return tree != nil && tree.dynamic() || !parsed.Declarative(RuntimePackage)
}

type reader struct {
	policy *Policy
	file   string
	root   string
	today  Date
	// library is the one that is being read, "" outside of them. Findings name it.
	library string
}

// fromTree converts the exported value, or returns nil when nothing is exported.
func (r *reader) fromTree(parsed *syntax.File) *Value {
	node, form, span := parsed.Export()
	if form == syntax.ExportNone || node == nil {
		return nil
	}
	r.policy.Export = span
	return fromNode(parsed, node, 0)
}

// maxDepth bounds how deep identifiers and literals are followed; a policy has
// five levels.
const maxDepth = 64

func fromNode(parsed *syntax.File, node *syntax.Node, depth int) *Value {
	if node == nil || depth > maxDepth {
		return &Value{Kind: Dynamic}
	}
	node = parsed.Resolve(node)
	v := &Value{Span: node.Span, Text: node.Text, Number: node.Number, Bool: node.Bool}
	switch node.Kind {
	case syntax.KindObject:
		v.Kind = Object
		for _, p := range node.Properties {
			addProperty(parsed, v, p, depth)
		}
	case syntax.KindArray:
		v.Kind = Array
		for _, e := range node.Elements {
			if e.Kind == syntax.KindSpread {
				v.Open = true
				continue
			}
			v.Elems = append(v.Elems, fromNode(parsed, e, depth+1))
		}
	case syntax.KindString:
		v.Kind = String
	case syntax.KindNumber:
		v.Kind = Number
	case syntax.KindBool:
		v.Kind = Bool
	case syntax.KindNull:
		v.Kind = Null
	case syntax.KindUndefined:
		v.Kind = Undefined
	case syntax.KindFunction:
		v.Kind = Function
	case syntax.KindBigInt, syntax.KindRegexp:
		v.Kind = Other
	default:
		v.Kind = Dynamic
	}
	return v
}

// addProperty adds a property of the tree. A spread of an object that stands in
// the same file is taken in place; everything else that is not a plain key and
// value leaves the object open.
func addProperty(parsed *syntax.File, v *Value, p syntax.Property, depth int) {
	if p.Spread {
		inner := fromNode(parsed, p.Value, depth+1)
		if inner.Kind != Object {
			v.Open = true
			return
		}
		v.Open = v.Open || inner.Open
		for _, q := range inner.Props {
			// A key that a later one overrides through a spread is not a slip, so the
			// earlier one goes.
			dropKey(v, q.Key)
			v.Props = append(v.Props, q)
		}
		return
	}
	// `__proto__: x` sets the prototype and makes no own property.
	if p.Computed || p.Accessor || p.Key == "__proto__" && !p.Shorthand && !p.Method {
		v.Open = true
		return
	}
	value := fromNode(parsed, p.Value, depth+1)
	if p.Method {
		value = &Value{Kind: Function, Span: p.Span}
	}
	v.Props = append(v.Props, Prop{Key: p.Key, KeySpan: p.KeySpan, Span: p.Span, Value: value})
}

func dropKey(v *Value, key string) {
	for i := range v.Props {
		if v.Props[i].Key == key {
			v.Props = append(v.Props[:i], v.Props[i+1:]...)
			return
		}
	}
}

// evaluationFailed turns a failed evaluation into SBX001 at the place that failed.
func (r *reader) evaluationFailed(err error, source Source) {
	var failed *EvaluationError
	if !errors.As(err, &failed) {
		r.add(finding.PolicyUnreadable, finding.Error, r.policy.Export, "The policy could not be evaluated: %v. Only its literal parts are known.", err)
		return
	}
	f := finding.Finding{
		Code: finding.PolicyUnreadable, Severity: finding.Error, File: r.file,
		Message: fmt.Sprintf("The policy could not be evaluated: %s. Only its literal parts are known; a policy is evaluated without any host capability.", strings.TrimSuffix(failed.Message, ".")),
		Range:   r.policy.Mapper.Range(r.policy.Export),
	}
	if failed.Stack != "" {
		f.Data = map[string]string{"stack": failed.Stack}
	}
	if failed.File != "" && failed.Line > 0 {
		if content, ok := r.content(failed.File, source); ok {
			m := text.NewMapper(content)
			f.File, f.Range = Relative(r.root, failed.File), m.WordAt(failed.Line, failed.Column, failed.Length)
		}
	}
	r.policy.Findings = append(r.policy.Findings, f)
}

// content returns the text of a file of the project, as the editor has it.
func (r *reader) content(file string, source Source) (string, bool) {
	if file == source.File {
		return source.Text, true
	}
	if content, ok := source.Overlay[file]; ok {
		return content, true
	}
	raw, err := os.ReadFile(file)
	return string(raw), err == nil
}

// add appends a finding in the policy file. Its Data is never nil.
func (r *reader) add(code finding.Code, severity finding.Severity, span text.Span, format string, args ...any) *finding.Finding {
	data := map[string]string{}
	if r.library != "" {
		data["library"] = r.library
	}
	r.policy.Findings = append(r.policy.Findings, finding.Finding{
		Code: code, Severity: severity, File: r.file,
		Range: r.policy.Mapper.Range(span), Message: fmt.Sprintf(format, args...), Data: data,
	})
	return &r.policy.Findings[len(r.policy.Findings)-1]
}

func (r *reader) related(f *finding.Finding, span text.Span, message string) {
	f.Related = append(f.Related, finding.Related{Message: message, File: r.file, Range: r.policy.Mapper.Range(span)})
}
