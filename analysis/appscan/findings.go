package appscan

import (
	"fmt"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// Findings reports what the imports of a project have wrong: SBX031 for those that
// run a library past its sandbox, SBX044 for those that would mean another version
// of it. A policy that is not completely known is not held to have no entry for a
// subpath or no such workload.
func Findings(project Project, p *policy.Policy, imports []Import) []finding.Finding {
	r := reporter{project: project, policy: p}
	for _, i := range imports {
		switch {
		case i.Here != nil:
			r.version(i)
		case i.Covered:
		case !p.Complete && (i.Escape == Subpath || i.Escape == UnknownWorkload):
		default:
			r.escape(i)
		}
	}
	return finding.Sort(r.findings)
}

// reporter makes the findings of one scan.
type reporter struct {
	project  Project
	policy   *policy.Policy
	findings []finding.Finding
}

func (r *reporter) add(i Import, code finding.Code, severity finding.Severity, format string, args ...any) *finding.Finding {
	f := finding.Finding{
		Code: code, Severity: severity, File: policy.Relative(r.project.Root, i.File), Range: i.Range,
		Message: fmt.Sprintf(format, args...),
		Data:    map[string]string{"specifier": i.Specifier, "form": string(i.Form)},
	}
	if i.Library != "" {
		f.Data["library"] = i.Library
	}
	if l, ok := r.policy.Library(i.Library); ok {
		f.Related = []finding.Related{{
			Message: fmt.Sprintf("the policy of %q", i.Library), File: policy.Relative(r.project.Root, r.policy.File), Range: r.policy.Mapper.Range(l.KeySpan),
		}}
	}
	r.findings = append(r.findings, f)
	return &r.findings[len(r.findings)-1]
}

// consequence says what an import past the redirect amounts to.
const consequence = "so that copy of the library runs outside of its sandbox, with everything that the page may do"

// perhaps says it of what may only give a place or a text.
const perhaps = "so that copy of the library may run outside of its sandbox"

// harmless reports whether a query of Vite asks for a file's address or its text. Other
// bundlers pass over the query and run the file.
func harmless(specifier string) bool {
	return strings.HasSuffix(specifier, "?url") || strings.HasSuffix(specifier, "?raw")
}

// escape reports SBX031.
func (r *reporter) escape(i Import) {
	severity := finding.Error
	if !forms[i.Form].certain && i.Escape != InsideOnly && i.Escape != UnknownWorkload || i.Escape == Computed || harmless(i.Specifier) {
		severity = finding.Warning
	}
	switch i.Escape {
	case InsideOnly:
		r.add(i, finding.EscapedImport, finding.Error, "%q exists only inside of workloads, and this file is part of none, so the import fails. Import %s, or name this file as the entry of a workload in the policy.", i.Specifier, r.instead(i))
	case UnknownWorkload:
		hint := r.workloadHint(i)
		f := r.add(i, finding.EscapedImport, finding.Error, "The policy has no workload for %q, so nothing answers this import and it fails.%s", i.Specifier, hint)
		if i.Suggestion != "" {
			f.Data["suggestion"] = i.Suggestion
			f.Fixes = []finding.Fix{r.respell(f.File, i)}
		}
	case NoSubpath:
		r.add(i, finding.EscapedImport, finding.Error, "The package of %q has nothing that %q means, so nothing answers this import and it fails. Import what the package has, or install the version that has it.", i.Library, i.Specifier)
	case Subpath:
		r.add(i, finding.EscapedImport, severity, "%q is not redirected, since %s, %s. Import what it has from %q itself, set subpaths: true, or give %q an entry of its own in the policy.", i.Specifier, i.Why, consequence, i.Library, strings.TrimSuffix(i.Specifier, "/"))
	case Computed:
		r.add(i, finding.EscapedImport, severity, "This %s may load %q past the redirect: %s. Write each specifier out, and choose among the modules instead.", i.Form, i.Library, i.Why)
	case Alias, FilePath, Decorated:
		what := consequence
		if harmless(i.Specifier) {
			what = perhaps
		}
		r.add(i, finding.EscapedImport, severity, "%q is not redirected, since %s, %s. Import %q instead.", i.Specifier, i.Why, what, i.Library)
	default:
		what := consequence
		if severity == finding.Warning {
			what = perhaps
		}
		r.add(i, finding.EscapedImport, severity, "This %s of %q is not redirected, since %s, %s. %s", i.Form, i.Specifier, i.Why, what, advice(i))
	}
}

// advice says what to write in place of a form that the redirect does not cover.
func advice(i Import) string {
	switch i.Form {
	case syntax.FormImportEquals, syntax.FormCreatedRequire, syntax.FormModuleRequire, syntax.FormCopiedRequire, syntax.FormImportScripts:
		return fmt.Sprintf("Use import … from %q.", i.Specifier)
	default:
		return fmt.Sprintf("If the code behind it is to run, use import … from %q.", i.Specifier)
	}
}

// instead names what application code imports where a workload uses sandbox-real.
func (r *reporter) instead(i Import) string {
	if i.Library == "" {
		return "the library by its own name"
	}
	return fmt.Sprintf("%q", i.Library)
}

func (r *reporter) workloadHint(i Import) string {
	if i.Suggestion != "" {
		return fmt.Sprintf(" Did you mean %q?", i.Suggestion)
	}
	if i.Library != "" {
		return fmt.Sprintf(" Add the workload to %q, or remove the import.", i.Library)
	}
	return " Write it as sandbox-workload/<library>/<name>, with a library and a workload of the policy."
}

// respell replaces a specifier by the suggested one.
func (r *reporter) respell(file string, i Import) finding.Fix {
	inner := text.Range{Start: i.Range.Start, End: i.Range.End}
	inner.Start.Character++
	inner.End.Character--
	return finding.Fix{
		Title: fmt.Sprintf("Import %q", i.Suggestion),
		Edits: []finding.Edit{{File: file, Range: inner, NewText: i.Suggestion}},
	}
}

// version reports SBX044.
func (r *reporter) version(i Import) {
	var held string
	for _, l := range r.project.Libraries {
		if l.Name == i.Library {
			held = l.Package.Version
			if l.Package.Name != i.Here.Name {
				held = l.Package.Name + " " + held
			}
		}
	}
	f := r.add(i, finding.VersionMismatch, finding.Warning, "%q resolves to %s %s here (%s), but the sandbox holds %s. The redirect leaves this import as it is, so that it runs outside of the sandbox. Bring the two to one version, or give this part of the project a .sandbox folder of its own.",
		i.Specifier, i.Here.Name, i.Here.Version, policy.Relative(r.project.Root, i.Here.Dir), held)
	f.Data["version"], f.Data["sandboxed"] = i.Here.Version, held
}
