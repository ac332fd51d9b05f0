package analysis

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/hostglobals"
	"github.com/sandbox-lsp/sandbox-lsp/policy/resolve"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
	"github.com/sandbox-lsp/sandbox-lsp/proxygen"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/bundle"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/load"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/stack"
)

// reporter makes the findings of one library out of what its stages returned.
type reporter struct {
	sn       *Snapshot
	policy   *policy.Policy
	lib      policy.Library
	unlisted bool // the application's package.json is broken, which has its own finding
	findings []finding.Finding
}

// at adds a finding in the policy file.
func (r *reporter) at(code finding.Code, severity finding.Severity, span text.Span, format string, args ...any) *finding.Finding {
	return r.in(policy.Relative(r.sn.root, r.policy.File), r.policy.Mapper.Range(span), code, severity, format, args...)
}

// in adds a finding in any file.
func (r *reporter) in(file string, where text.Range, code finding.Code, severity finding.Severity, format string, args ...any) *finding.Finding {
	r.findings = append(r.findings, finding.Finding{
		Code: code, Severity: severity, File: file, Range: where,
		Message: fmt.Sprintf(format, args...),
		Data:    map[string]string{"library": r.lib.Name},
	})
	return &r.findings[len(r.findings)-1]
}

// fromPolicy points a finding in another file back at the policy.
func (r *reporter) fromPolicy(f *finding.Finding, span text.Span, message string) {
	f.Related = append(f.Related, finding.Related{
		Message: message, File: policy.Relative(r.sn.root, r.policy.File), Range: r.policy.Mapper.Range(span),
	})
}

// place converts a place that a compiler or a stack printed. It reports false for
// a file that cannot be read.
func (r *reporter) place(file string, line, column, length int) (string, text.Range, bool) {
	content, err := r.sn.Read(file)
	if err != nil || line < 1 {
		return "", text.Range{}, false
	}
	return policy.Relative(r.sn.root, file), text.NewMapper(content).WordAt(line, column, length), true
}

// manifestFault is the finding of a package.json that lists no packages. It stands in
// for those of all libraries that are not found or not listed by it.
func (sn *Snapshot) manifestFault(fault resolve.Fault) finding.Finding {
	f := finding.Finding{
		Code: finding.PackageUnresolved, Severity: finding.Error, File: policy.Relative(sn.root, fault.File),
		Message: fmt.Sprintf("package.json %s. Until it is mended no library is found from here, whichever are installed, and what is not found is not checked.", fault.Reason),
	}
	if !fault.Broken {
		f.Severity = finding.Warning
		f.Message = fmt.Sprintf("package.json %s, so no package.json lists the libraries of the policy, and the next install may remove them or change their versions. Write an object with dependencies.", fault.Reason)
	}
	if content, err := os.ReadFile(fault.File); err == nil {
		_, size := utf8.DecodeRuneInString(string(content[fault.Offset:]))
		f.Range = text.NewMapper(string(content)).Range(text.Span{Start: fault.Offset, End: fault.Offset + size})
	}
	return f
}

// resolution reports SBX003.
func (r *reporter) resolution(res resolve.Result) {
	name, span := r.lib.Name, r.lib.KeySpan
	if r.unlisted && (res.Problem == nil || slices.Contains([]resolve.ProblemKind{resolve.NoEntry, resolve.NotInstalled, resolve.Unknown}, res.Problem.Kind)) {
		return // the broken file may be all that is wrong
	}
	if res.Problem == nil {
		if !res.Listed {
			r.at(finding.PackageUnresolved, finding.Warning, span, "%q is installed, but no package.json lists it, so the next install may remove it or change its version. Add it with: npm install %s", name, name)
		}
		return
	}
	if first := res.Problem.Detail; res.Problem.Kind == resolve.SharesFiles {
		r.at(finding.BadOption, finding.Error, span, "%q and %q would have the same files, %s.*, and one would run as the other. Remove one of them from the policy.", name, first, proxygen.FileName(first))
		return
	}
	var why string
	switch p := res.Problem; p.Kind {
	case resolve.NotARequest:
		why = "is not a package name. Write the name as an import would, such as \"lodash\" or \"@scope/name\""
	case resolve.Builtin:
		why = "is a module of Node, not an npm package; the Node capability manifest governs those"
	case resolve.NotInstalled:
		why = "is listed in package.json, but not installed. Run: npm install"
	case resolve.NoEntry:
		why = "is installed, but has nothing to import under this request"
		if p.Detail != "" {
			why += ": " + strings.TrimRight(p.Detail, ":.")
		}
		why += ". If the package should have it, install it again with: npm install"
	case resolve.BadManifest:
		why = "is installed, but not whole: " + p.Detail + ". Install it again with: npm install"
	default:
		why = "cannot be found from the project root: it is neither installed nor listed in package.json"
		if p.Suggestion != "" {
			why += fmt.Sprintf(". Did you mean %q?", p.Suggestion)
		} else {
			why += ". Install it with: npm install " + name
		}
	}
	f := r.at(finding.PackageUnresolved, finding.Error, span, "%q %s", name, why)
	if res.Problem.Suggestion != "" {
		f.Data["suggestion"] = res.Problem.Suggestion
	}
}

// bundling reports SBX040 for a bundle that failed, at esbuild's own range. what
// names the bundle, span is where the policy asks for it.
func (r *reporter) bundling(failed *bundle.Error, what string, span text.Span) {
	for _, m := range failed.Messages {
		m.Text = plainly(m.Text)
		notes := ""
		for _, note := range m.Notes {
			if !strings.Contains(note, "external") { // advice on options that nobody here can set
				notes += " " + note
			}
		}
		if file, where, ok := r.place(m.File, m.Line, m.Column+1, m.Length); ok {
			f := r.in(file, where, finding.BundleFailed, finding.Error, "%s cannot be bundled: %s.%s", what, strings.TrimSuffix(m.Text, "."), notes)
			r.fromPolicy(f, span, "asked for here")
			continue
		}
		r.at(finding.BundleFailed, finding.Error, span, "%s cannot be bundled: %s.%s", what, strings.TrimSuffix(m.Text, "."), notes)
	}
}

// plainly says what esbuild says of its options, which nobody here can set, in terms of a
// sandbox.
func plainly(message string) string {
	switch {
	case strings.HasPrefix(message, "Top-level await is not available"):
		return "It awaits while it loads, and a sandbox's library is there as soon as it is evaluated. Sandbox an entry of it that does not, or await in a function"
	case strings.HasPrefix(message, "No loader is configured for "):
		ending, _, _ := strings.Cut(strings.TrimPrefix(message, "No loader is configured for "), " files")
		return "It imports a file that is no JavaScript (" + strings.Trim(ending, `"`) + "), which nothing in a sandbox could run. Sandbox an entry of it that does without"
	}
	return message
}

// budget reports SBX041.
func (r *reporter) budget(s script) {
	budget := r.lib.Limits.BundleKB
	if kb := (s.Bytes + 1023) / 1024; budget > 0 && kb > budget {
		r.at(finding.BundleTooLarge, finding.Error, r.lib.LimitSpans["bundleKB"], "The bundle of %q has %d KiB, over its budget of %d KiB. Raise bundleKB if the growth is wanted, or sandbox a smaller entry of the package.", r.lib.Name, kb, budget)
	}
}

// loading reports SBX042 and SBX043 for a script that failed to load. lacks is the
// global for lack of which it did, or nil.
func (r *reporter) loading(failure *load.Failure, s script, what string, span text.Span, lacks *need) {
	if failure == nil {
		return
	}
	if failure.Kind == load.Limited {
		f := r.at(finding.LoadLimit, finding.Error, span, "%s %s", what, limitSentence(failure.Limit, r.lib.Limits))
		f.Data["limit"] = failure.Limit
		r.guestStack(f, failure, s)
		return
	}
	var message string
	switch failure.Kind {
	case load.Threw:
		message = failure.Message
		if failure.Name != "" {
			message = failure.Name + ": " + failure.Message
		}
	case load.Missing:
		message = "its bundle exports nothing"
	default:
		message = "the engine stopped: " + failure.Message
	}
	frames := r.frames(failure, s)
	if place := r.ownPlace(frames); place != "" {
		message += " (" + place + ")"
	}
	f := r.at(finding.LoadFailed, finding.Error, span, "%s does not load in the sandbox: %s.%s", what, strings.TrimSuffix(message, "."), advice(failure, lacks))
	if lacks != nil {
		f.Data[lacks.datum()] = lacks.name
	}
	r.guestStack(f, failure, s)
}

// limitSentence says which limit a load exceeded and what may be done about it.
func limitSentence(limit string, l policy.Limits) string {
	given := loadLimits(l)
	switch limit {
	case "memory":
		return fmt.Sprintf("exceeded its memory limit while loading. It has %d MiB; raise limits.memoryMB if the library really needs more.", given.MemoryBytes>>20)
	case "time":
		why := ""
		if own := time.Duration(l.TimeoutMs) * time.Millisecond; own > 0 && own < given.Timeout {
			why = fmt.Sprintf(" (more than the %v of timeoutMs, since the engine of this check is slower than a browser's)", own)
		}
		return fmt.Sprintf("exceeded its time limit while loading. It had %v%s; a library that computes this long at load will block the page, and one that loops never ends.", given.Timeout, why)
	case "stack":
		return "exceeded its stack limit while loading. Its code nests deeper than the guest's stack allows, or calls itself without end."
	case "jobs":
		return "never comes to rest after loading: it queues promise jobs without end, which would keep the page busy for ever."
	case "engine":
		return "asked the engine for more than it can make while loading, such as a string of half a gigabyte. No limit of the policy raises that; it is a fault of the library."
	default:
		return fmt.Sprintf("exceeded the engine's limit (%s) while loading.", limit)
	}
}

// advice says what to do about an error that a missing global or module explains.
func advice(failure *load.Failure, lacks *need) string {
	if strings.Contains(failure.Message, bundle.BuiltinMissing) {
		return " Sandbox an entry of it that is made for browsers, or install a package of the module's name that stands in for it."
	}
	if lacks == nil {
		return ""
	}
	name := lacks.name
	switch g, known := hostglobals.Known(name); {
	case lacks.assigned():
		return fmt.Sprintf(" It assigns to %s, which throws in strict code where there is no such name; %s says more.", name, finding.MissingPermission)
	case lacks.useless():
		return fmt.Sprintf(" It uses %s, which no grant gives; %s says more.", members(lacks.ungrantable()), finding.MissingPermission)
	case !known:
		return fmt.Sprintf(" No host that is known has a global %s: another script would have to set it, or the library lacks a declaration.", name)
	case g.Grade == hostglobals.Realm:
		return fmt.Sprintf(" %s is not granted to it; %s says why that needs thought.", name, finding.MissingPermission)
	}
	return fmt.Sprintf(" %s is not granted to it; add %q to its permissions if it should have it.", name, name)
}

// frames maps a guest stack to the files that a person can open.
func (r *reporter) frames(failure *load.Failure, s script) []stack.Frame {
	frames := stack.Parse(failure.Stack)
	_, sourceMap, ok := r.sn.bytes(s)
	if !ok {
		return frames
	}
	m, err := stack.NewMap(sourceMap, s.File, filepath.Join(r.sn.root, OutputFolder))
	if err != nil {
		r.sn.session.options.Logger.Warn("a bundle has no usable source map", "bundle", s.File, "error", err)
		return frames
	}
	frames = m.Frames(frames)
	if failure.Limit == "time" {
		frames = stack.Blur(frames)
	}
	return frames
}

// ownPlace prints the innermost frame that lies in a file, as file:line:column.
func (r *reporter) ownPlace(frames []stack.Frame) string {
	for _, f := range frames {
		if filepath.IsAbs(f.File) && f.Line > 0 {
			return fmt.Sprintf("%s:%d:%d", policy.Relative(r.sn.root, f.File), f.Line, f.Column)
		}
	}
	return ""
}

// guestStack attaches the mapped stack, as text and as related places.
func (r *reporter) guestStack(f *finding.Finding, failure *load.Failure, s script) {
	frames := r.frames(failure, s)
	for i, frame := range frames {
		frames[i].File = policy.Relative(r.sn.root, frame.File)
		if file, where, ok := r.place(frame.File, frame.Line, frame.Column, 0); ok && len(f.Related) < 3 {
			name := frame.Function
			if name == "" || strings.HasPrefix(name, "<") {
				name = "module code"
			}
			f.Related = append(f.Related, finding.Related{Message: "called from " + name, File: file, Range: where})
		}
	}
	if len(f.Related) > 0 && failure.Kind == load.Threw {
		f.Related[0].Message = "thrown here"
	}
	if len(frames) > 0 {
		f.Data["stack"] = stack.Format(frames)
	}
}

// unfaithful says of a type of export why it does not cross as it is.
var unfaithful = map[string]string{
	"WeakMap":   "a WeakMap, whose members cannot be listed: what WeakMap.prototype.set.call puts into it stays on the side that called",
	"WeakSet":   "a WeakSet, whose members cannot be listed: what WeakSet.prototype.add.call puts into it stays on the side that called",
	"Arguments": "an arguments object, which crosses as a strict one: its callee throws",
}

// crossing reports SBX032 for exports that do not cross the membrane as they are.
func (r *reporter) crossing(e load.Exports) {
	for _, x := range e.Names {
		if why := unfaithful[x.Type]; why != "" {
			r.at(finding.UnfaithfulExp, finding.Hint, r.lib.KeySpan, "The export %s of %q is %s.", x.Name, r.lib.Name, why)
		}
	}
}

// declared reports SBX030, and SBX032 for what is declared but absent.
func (r *reporter) declared(model *proxygen.Model, loaded *load.Result) {
	usable := loaded != nil && loaded.Failure == nil
	if usable {
		r.crossing(loaded.Exports)
	}
	if model.Entry == "" {
		if usable || r.lib.Unsure {
			r.noDeclarations(finding.Warning, ", so its proxy exports what the loaded library has, with types unknown.")
			return
		}
		r.noDeclarations(finding.Error, " and does not load, so nothing is known of its exports and its proxy throws.")
		return
	}
	if !usable {
		return
	}
	absent := proxygen.Absent(model, exportsOf(loaded.Exports))
	if len(absent) == 0 {
		return
	}
	names := make([]string, len(absent))
	for i, e := range absent {
		names[i] = e.Name
	}
	shown := strings.Join(names[:min(len(names), 5)], ", ")
	if len(names) > 5 {
		shown += fmt.Sprintf(" and %d more", len(names)-5)
	}
	f := r.at(finding.UnfaithfulExp, finding.Warning, r.lib.KeySpan, "The declarations of %q promise %s, which the loaded library does not export. The proxy leaves them out; importing one fails at build time instead of giving undefined.", r.lib.Name, shown)
	for _, e := range absent[:min(len(absent), 3)] {
		f.Related = append(f.Related, finding.Related{Message: e.Name + " is declared here", File: policy.Relative(r.sn.root, e.File), Range: e.Range})
	}
}

// noDeclarations reports SBX030, with the command that may bring the declarations.
// Nobody but DefinitelyTyped publishes below @types, so a name there that is not taken
// yet cannot be taken by somebody else.
func (r *reporter) noDeclarations(severity finding.Severity, consequence string) {
	types, known := resolve.TypesPackage(r.lib.Name)
	command := "npm install --save-dev " + types
	advice := fmt.Sprintf("DefinitelyTyped may have some: %s. Otherwise a declaration of your own will do.", command)
	if known {
		advice = fmt.Sprintf("DefinitelyTyped has them: %s", command)
	}
	if slices.Contains(resolve.Dependencies(r.sn.root), types) {
		command = "npm install"
		advice = fmt.Sprintf("package.json lists %s, which is not installed. Run: %s", types, command)
	}
	f := r.at(finding.NoDeclarations, severity, r.lib.KeySpan, "%q has no type declarations%s %s", r.lib.Name, consequence, advice)
	f.Data["install"] = command
}

// exportsOf converts the load's list to the generator's.
func exportsOf(e load.Exports) *proxygen.RuntimeExports {
	out := &proxygen.RuntimeExports{Type: e.Type, ESModule: e.ESModule}
	for _, x := range e.Names {
		out.Names = append(out.Names, proxygen.RuntimeExport{Name: x.Name, Type: x.Type})
	}
	return out
}

// workloadImports reports SBX023: a workload that takes another sandbox's library,
// or a second copy of its own, into the sandbox.
func (r *reporter) workloadImports(w policy.Workload, s script) {
	for _, i := range s.Imports {
		request, real := strings.CutPrefix(i.Request, bundle.RealPrefix)
		name, _, _ := resolve.SplitRequest(request)
		_, sandboxed := r.policy.Library(request)
		if !sandboxed {
			_, sandboxed = r.policy.Library(name)
		}
		own := request == r.lib.Name || name == r.lib.Name
		var message string
		severity := finding.Error
		switch {
		case real && request == r.lib.Name:
			continue
		case real:
			message = fmt.Sprintf("Workload %q runs in the sandbox of %q and cannot reach %q, which this import asks for.", w.Name, r.lib.Name, i.Request)
		case own:
			severity = finding.Warning
			message = fmt.Sprintf("This import brings a second copy of %q into its own sandbox. Import %q instead.", r.lib.Name, bundle.RealPrefix+r.lib.Name)
		case sandboxed:
			message = fmt.Sprintf("Workload %q imports %q, which has a sandbox of its own. Here it would run with the permissions of %q instead. Pass its results in as arguments.", w.Name, request, r.lib.Name)
		default:
			continue
		}
		file, where, ok := r.importSpan(i)
		if !ok {
			file, where = policy.Relative(r.sn.root, r.policy.File), r.policy.Mapper.Range(w.EntrySpan)
		}
		f := r.in(file, where, finding.WorkloadCrossesLib, severity, "%s", message)
		r.fromPolicy(f, w.KeySpan, fmt.Sprintf("workload %q", w.Name))
	}
}

// importSpan finds an import in the project's own file that made it; packages'
// files are not the user's to change, so those report at the workload's entry.
func (r *reporter) importSpan(i bundle.Import) (string, text.Range, bool) {
	if strings.Contains(i.Importer, string(filepath.Separator)+"node_modules"+string(filepath.Separator)) {
		return "", text.Range{}, false
	}
	return r.importIn(i.Importer, i.Request)
}

// importIn finds an import of a request in a file.
func (r *reporter) importIn(importer, request string) (string, text.Range, bool) {
	content, err := r.sn.Read(importer)
	if err != nil {
		return "", text.Range{}, false
	}
	for _, found := range syntax.Parse(importer, content).Imports() {
		if found.Specifier == request {
			return policy.Relative(r.sn.root, importer), text.NewMapper(content).Range(found.Span), true
		}
	}
	return "", text.Range{}, false
}

// workloadExports reports SBX021 and SBX022. names are what the workload exports,
// by name with the typeof, or "" where that is not known.
func (r *reporter) workloadExports(w policy.Workload, entry string, names map[string]string) {
	have := make([]string, 0, len(names))
	for name := range names {
		have = append(have, name)
	}
	slices.Sort(have)
	named := map[string]bool{}
	for _, e := range w.Exports {
		named[e.Text] = true
		if _, ok := names[e.Text]; ok {
			continue
		}
		hint := "It exports nothing"
		if len(have) > 0 {
			hint = "It exports " + strings.Join(have[:min(len(have), 8)], ", ")
		}
		suggestion := resolve.Nearest(e.Text, have)
		if suggestion != "" {
			hint = fmt.Sprintf("Did you mean %q?", suggestion)
		} else {
			hint += "."
		}
		f := r.at(finding.WorkloadNoExport, finding.Error, e.Span, "%s does not export %q, so the workload's proxy would hand out undefined. %s", w.Entry, e.Text, hint)
		f.Data["workload"], f.Data["export"] = w.Name, e.Text
		if suggestion != "" {
			f.Data["suggestion"] = suggestion
		}
	}
	for _, name := range have {
		if named[name] || name == "default" || names[name] != "" && names[name] != "function" {
			continue
		}
		f := r.at(finding.WorkloadUnnamed, finding.Info, w.ExportsSpan, "%s exports the function %q, which exports does not name, so the application cannot call it.", w.Entry, name)
		f.Data["workload"], f.Data["export"] = w.Name, name
		if file, where, ok := r.exportSpan(entry, name); ok {
			f.Related = append(f.Related, finding.Related{Message: "exported here", File: file, Range: where})
		}
	}
}

// exportSpan finds where a file exports a name.
func (r *reporter) exportSpan(file, name string) (string, text.Range, bool) {
	content, err := r.sn.Read(file)
	if err != nil {
		return "", text.Range{}, false
	}
	exported, _ := syntax.Parse(file, content).ExportedNames()
	for _, e := range exported {
		if e.Name == name {
			return policy.Relative(r.sn.root, file), text.NewMapper(content).Range(e.Span), true
		}
	}
	return "", text.Range{}, false
}
