// Package grants judges the permissions of a policy by what is known about the
// globals that they name: those that do not exist, that the guest has anyway, that
// hand over more than a list of permissions can bound, and rules that do not narrow
// as they seem to.
package grants

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/attenuation"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/hostglobals"
	"github.com/sandbox-lsp/sandbox-lsp/policy/nodecap"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// Findings judges every permission of a policy. guest holds the names that the guest
// has of its own; nil means that they are not known.
func Findings(p *policy.Policy, guest map[string]bool) []finding.Finding {
	j := judge{policy: p, guest: guest, file: policy.Relative(filepath.Dir(filepath.Dir(p.File)), p.File)}
	for _, library := range p.Libraries {
		j.subject = library.Name
		for _, permission := range library.Permissions {
			j.permission(permission)
		}
		// A grant that does not count today counts as soon as the first one goes.
		for _, permission := range library.Repeated {
			if permission.Allow == nil {
				continue
			}
			from := len(j.findings)
			j.rules(permission)
			for _, f := range j.findings[from:] {
				delete(f.Data, "suggestion") // a fix by name would change the grant that counts
			}
		}
	}
	return j.findings
}

type judge struct {
	policy        *policy.Policy
	guest         map[string]bool
	file, subject string
	findings      []finding.Finding
}

func (j *judge) permission(p policy.Permission) {
	if j.guest[p.Name] {
		j.add(finding.RedundantPermission, finding.Warning, p.Span, p.Name, "Every sandbox has %q of its own, so the permission adds nothing. Remove it, so that the list says what the library really gets.", p.Name)
		return
	}
	g, known := hostglobals.Known(p.Name)
	if !known {
		j.unknown(p)
		return
	}
	if g.Grade == hostglobals.Realm && (p.Allow == nil || attenuation.SubjectOf(p.Name) == attenuation.Nothing) {
		f := j.add(finding.WholeRealm, finding.Warning, p.Span, p.Name, "%q hands over the whole host realm, so %s is not confined any more. %s%s", p.Name, j.subject, g.Reason, instead(g))
		f.Data["grade"] = g.Grade.String()
	}
	if p.Allow != nil {
		j.rules(p)
	}
}

func instead(g hostglobals.Global) string {
	if g.Narrower == "" {
		return ""
	}
	return " Instead: " + g.Narrower
}

// unknown reports a name that is no global. All of its forms have in common that the
// permission grants nothing, which nobody notices until the library fails.
func (j *judge) unknown(p policy.Permission) {
	name := p.Name
	if member, of, ok := path(name); ok {
		j.member(p, member, of)
		return
	}
	if nodecap.IsBuiltin(name) {
		j.add(finding.UnknownGlobal, finding.Error, p.Span, name, "%q is a module of Node, not a global, so the permission grants nothing. Permissions are for globals; the library reaches modules by importing them, which the Node manifest decides about.", name)
		return
	}
	suggestion, ok := hostglobals.Suggest(name)
	if !ok {
		j.add(finding.UnknownGlobal, finding.Error, p.Span, name, "%q is no global of browsers or Node that is known, so the permission grants nothing. Check the spelling; a value of the application's own is passed to the library as an argument.", name)
		return
	}
	f := j.add(finding.UnknownGlobal, finding.Error, p.Span, name, "%q is no global of browsers or Node that is known. Did you mean %q?", name, suggestion)
	f.Data["suggestion"] = suggestion
}

// path takes a permission such as "window.fetch" apart, past every name of the
// global object: the global that it leads to, and whether it was reached as a member
// of the global object.
func path(name string) (global string, ofGlobalObject, ok bool) {
	parts := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(`.[]"'?`, r) })
	if len(parts) < 2 {
		return "", false, false
	}
	for len(parts) > 1 && hostglobals.IsGlobalObject(parts[0]) {
		parts, ofGlobalObject = parts[1:], true
	}
	if _, known := hostglobals.Known(parts[0]); !known {
		return "", false, false
	}
	return parts[0], ofGlobalObject && len(parts) == 1, true
}

// member reports a permission that names a member of a global.
func (j *judge) member(p policy.Permission, global string, ofGlobalObject bool) {
	if ofGlobalObject {
		f := j.add(finding.RedundantPermission, finding.Warning, p.Span, p.Name, "%q grants nothing in this form: permissions name globals, not paths to them. Write %q.", p.Name, global)
		f.Data["suggestion"] = global
		return
	}
	g, _ := hostglobals.Known(global)
	if attenuation.SubjectOf(global) == attenuation.Members {
		if _, rest, ok := strings.Cut(p.Name, global+"."); ok {
			if rule, _ := attenuation.Parse(global, rest); rule.Member != "" {
				j.add(finding.UnknownGlobal, finding.Error, p.Span, p.Name, "%q is a member of %q, and in this form the permission grants nothing. Write { name: %q, allow: [%q] }.", p.Name, global, global, rest)
				return
			}
		}
	}
	f := j.add(finding.UnknownGlobal, finding.Error, p.Span, p.Name, "%q is a member of %q, and members cannot be granted one by one, so the permission grants nothing.", p.Name, global)
	if g.Grade >= hostglobals.Powerful {
		f.Message += fmt.Sprintf(" All of %q is a lot more. %s%s", global, g.Reason, instead(g))
		return
	}
	f.Message += fmt.Sprintf(" Write %q.", global)
	f.Data["suggestion"] = global
}

// severities are those of the problems that a rule can have; the others are warnings.
var severities = map[attenuation.Kind]finding.Severity{
	attenuation.Malformed:     finding.Error,
	attenuation.NotNarrowable: finding.Error,
	attenuation.Subdomains:    finding.Info,
}

// rules reports what is wrong with the rules that narrow a permission.
func (j *judge) rules(p policy.Permission) {
	_, problems := attenuation.ParseAll(p.Name, p.Allow)
	for i, list := range problems {
		span := p.AllowSpan
		if i < len(p.Allow) {
			span = p.AllowSpans[i]
		} else if span == (text.Span{}) {
			continue // allow is no list, which is a finding already
		}
		for _, problem := range list {
			severity, ok := severities[problem.Kind]
			if !ok {
				severity = finding.Warning
			}
			at := span
			if i < len(p.Allow) && problem.End > problem.Start && j.literal(span, p.Allow[i]) {
				at = text.Span{Start: span.Start + 1 + problem.Start, End: span.Start + 1 + problem.End}
			}
			f := j.add(finding.LooseAttenuation, severity, at, p.Name, "%s", problem.Message)
			f.Data["problem"] = problem.Kind.String()
			if i < len(p.Allow) {
				f.Data["rule"] = p.Allow[i]
				if problem.Suggestion != "" {
					f.Data["suggestion"] = problem.Suggestion
				}
			}
		}
	}
}

// literal reports whether a span of the policy is exactly a string with this value,
// without escapes. A value that was computed has the span of what it was computed
// from, in which no part of the value has a place.
func (j *judge) literal(span text.Span, value string) bool {
	source := j.policy.Mapper.Text()
	if span.Start < 0 || span.End > len(source) || span.End-span.Start != len(value)+2 {
		return false
	}
	quote := source[span.Start]
	return strings.IndexByte("\"'`", quote) >= 0 && source[span.End-1] == quote && source[span.Start+1:span.End-1] == value
}

// add reports a finding about a permission. The changes that resolve it are made from
// its Data, by who knows how the policy is written.
func (j *judge) add(code finding.Code, severity finding.Severity, span text.Span, permission, format string, args ...any) *finding.Finding {
	j.findings = append(j.findings, finding.Finding{
		Code: code, Severity: severity, File: j.file, Range: j.policy.Mapper.Range(span), Message: fmt.Sprintf(format, args...),
		Data: map[string]string{"library": j.subject, "permission": permission},
	})
	return &j.findings[len(j.findings)-1]
}
