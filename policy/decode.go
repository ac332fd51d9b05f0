package policy

import (
	"fmt"
	"math"
	"path"
	"regexp"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/resolve"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// decode reads the libraries out of the policy's value.
func (r *reader) decode(v *Value) {
	switch {
	case v == nil && !r.failed():
		r.add(finding.PolicyNotAnObject, finding.Error, r.policy.Export, "The policy exports nothing. Export an object keyed by package: export default { \"lodash\": { permissions: [] } }.")
		return
	case v == nil || v.Kind == Dynamic:
		return
	case v.Kind != Object:
		r.add(finding.PolicyNotAnObject, finding.Error, v.Span, "The policy exports %s. It has to export an object keyed by package: export default { \"lodash\": { permissions: [] } }.", describe(v))
		return
	}
	r.duplicates(v, "library")
	for i := range v.Props {
		p := &v.Props[i]
		if v.Prop(p.Key) == p { // of repeated keys the last one counts
			r.readLibrary(p)
		}
	}
}

// failed reports whether the file could not be read, so that what is missing from
// it proves nothing.
func (r *reader) failed() bool {
	for _, f := range r.policy.Findings {
		if f.Code == finding.PolicyUnreadable && f.Severity == finding.Error {
			return true
		}
	}
	return false
}

func (r *reader) readLibrary(p *Prop) {
	r.library = p.Key
	defer func() { r.library = "" }()
	v := p.Value
	lib := Library{Name: p.Key, KeySpan: p.KeySpan, Span: p.Span, Value: v.Span, Arguments: "membrane", Results: "mirror", Reads: "window"}
	if !r.expect(v, Object, fmt.Sprintf("The policy of %q", p.Key), "an object with its options, such as { permissions: [] }") {
		if v.Kind == Dynamic {
			r.policy.Libraries = append(r.policy.Libraries, lib)
		}
		return
	}
	r.options(v, LibraryOptions, fmt.Sprintf("%q", p.Key), finding.NoPermissions, p.KeySpan)
	if permissions := v.Get("permissions"); permissions != nil {
		lib.PermissionsSpan = permissions.Span
		lib.Permissions = r.permissions(permissions)
	}
	lib.Workloads = r.workloads(v.Get("workloads"))
	lib.Limits, lib.LimitSpans = r.limits(v.Get("limits"))
	lib.Arguments = r.choice(v, "arguments", lib.Arguments)
	lib.Results = r.choice(v, "results", lib.Results)
	lib.Reads = r.choice(v, "reads", lib.Reads)
	lib.Subpaths = r.boolean(v, "subpaths")
	lib.Snapshot = r.boolean(v, "snapshot")
	r.policy.Libraries = append(r.policy.Libraries, lib)
}

// options reports duplicate and unknown keys and missing required ones. missing is
// the code for a required option that is not there, reported at near.
func (r *reader) options(v *Value, table []Option, owner string, missing finding.Code, near text.Span) {
	r.duplicates(v, "option")
	misspelt := map[string]bool{}
	for _, p := range v.Props {
		if _, known := option(table, p.Key); known {
			continue
		}
		hint := "Known options: " + strings.Join(optionNames(table), ", ") + "."
		suggestion := resolve.Nearest(p.Key, optionNames(table))
		if suggestion != "" {
			hint = fmt.Sprintf("Did you mean %q?", suggestion)
			misspelt[suggestion] = true
		}
		f := r.add(finding.BadOption, finding.Error, p.KeySpan, "%s has no option %q, and nothing reads it. %s", capital(owner), p.Key, hint)
		f.Data["option"] = p.Key
		if suggestion != "" {
			f.Data["suggestion"] = suggestion
		}
	}
	if v.Open {
		return
	}
	for _, o := range table {
		// One slip of the hand is one finding: what is there under a misspelt name is
		// not missing as well.
		if !o.Required || v.Prop(o.Name) != nil || misspelt[o.Name] {
			continue
		}
		if missing == finding.NoPermissions {
			r.add(missing, finding.Error, near, "%s has no permissions, so nobody can tell what it may do. List the host globals that it needs; permissions: [] grants none.", capital(owner))
			continue
		}
		r.add(missing, finding.Error, near, "%s has no %s, which is required: %s", capital(owner), o.Name, firstSentence(o.Doc))
	}
}

func (r *reader) duplicates(v *Value, what string) {
	first := map[string]text.Span{}
	for _, p := range v.Props {
		at, seen := first[p.Key]
		if !seen {
			first[p.Key] = p.KeySpan
			continue
		}
		f := r.add(finding.BadOption, finding.Error, p.KeySpan, "Duplicate %s %q: JavaScript keeps only the last one, so the first is silently lost. Remove or merge one of them.", what, p.Key)
		f.Data[what] = p.Key
		r.related(f, at, "first written here")
	}
}

// expect reports a value of the wrong kind. A value that is not known passes in
// silence and gives false.
func (r *reader) expect(v *Value, kind Kind, owner, want string) bool {
	if v.Kind == kind {
		return true
	}
	if v.Kind != Dynamic {
		r.add(finding.BadOption, finding.Error, v.Span, "%s has to be %s, not %s.", owner, want, describe(v))
	}
	return false
}

func (r *reader) permissions(v *Value) []Permission {
	if !r.expect(v, Array, "permissions", "an array of the names of host globals, such as [\"Intl\"]") {
		return nil
	}
	permissions := []Permission{}
	seen := map[string]text.Span{}
	for _, e := range v.Elems {
		p := r.permission(e)
		if p.Name == "" {
			if e.Kind == String {
				r.add(finding.BadOption, finding.Error, e.Span, "A permission is the name of a host global, such as \"Intl\"; this one is empty.")
			}
			continue
		}
		if at, again := seen[p.Name]; again {
			f := r.add(finding.BadOption, finding.Warning, p.Span, "%q is granted twice. Remove one of the two.", p.Name)
			f.Data["permission"] = p.Name
			r.related(f, at, "first granted here")
			continue
		}
		seen[p.Name] = p.Span
		permissions = append(permissions, p)
	}
	return permissions
}

// permission reads one entry of permissions. Without a name it grants nothing.
func (r *reader) permission(e *Value) Permission {
	p := Permission{Span: e.Span}
	switch e.Kind {
	case String:
		p.Name = e.Text
	case Object:
		r.options(e, PermissionOptions, "a permission", finding.BadOption, e.Span)
		if name := e.Get("name"); name != nil && r.expect(name, String, "A permission's name", "a string, such as \"fetch\"") {
			p.Name, p.Span = name.Text, name.Span
		}
		if allow := e.Get("allow"); allow != nil {
			p.Allow = []string{}
			for _, rule := range r.strings(allow, "allow", "[\"https://api.example.com/*\"]") {
				p.Allow, p.AllowSpans = append(p.Allow, rule.Text), append(p.AllowSpans, rule.Span)
			}
			if allow.Kind == Array {
				p.AllowSpan = allow.Span
			}
		}
		p.Reason = r.sentence(e, "reason", "a string that says why the library needs this capability")
		p.Owner = r.sentence(e, "owner", "a string that says who answers for this grant")
		r.expiry(e, &p)
	default:
		r.expect(e, String, "A permission", "the name of a host global, such as \"Intl\", or an object { name, allow }")
	}
	return p
}

// sentence reads an option that is free text for people.
func (r *reader) sentence(v *Value, name, want string) string {
	got := v.Get(name)
	if got == nil || !r.expect(got, String, name, want) {
		return ""
	}
	text := strings.TrimSpace(got.Text)
	if text == "" {
		r.add(finding.BadOption, finding.Error, got.Span, "%s has to be %s; this one is empty. Fill it in or remove the option.", name, want)
	}
	return text
}

// expiry reads the last day of a grant, and reports one that has passed. The day
// itself still counts.
func (r *reader) expiry(e *Value, p *Permission) {
	v := e.Get("expires")
	const want = "a date as a string, year first, such as \"2027-01-31\""
	if v == nil || !r.expect(v, String, "expires", want) {
		return
	}
	day, err := ParseDate(v.Text)
	if err != nil {
		r.add(finding.BadOption, finding.Error, v.Span, "expires has to be %s; %q is no such day.", want, shorten(v.Text))
		return
	}
	p.Expires, p.ExpiresSpan = day, v.Span
	if p.Name == "" || r.today.IsZero() || !day.Before(r.today) {
		return
	}
	who := "It names no owner; whoever looks after this library"
	if p.Owner != "" {
		who = p.Owner
	}
	f := r.add(finding.ExpiredGrant, finding.Warning, v.Span, "The grant of %q ended on %s, %s ago, but still has its effect. %s has to decide: remove the permission, or set a later date if it is still needed.", p.Name, day, days(day.DaysUntil(r.today)), who)
	f.Data["permission"], f.Data["expires"] = p.Name, day.String()
	if p.Owner != "" {
		f.Data["owner"] = p.Owner
	}
}

func days(n int) string {
	if n == 1 {
		return "1 day"
	}
	return fmt.Sprintf("%d days", n)
}

var workloadName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

func (r *reader) workloads(v *Value) []Workload {
	if v == nil || !r.expect(v, Object, "workloads", "an object of workloads by name, such as { stats: { entry: \"src/stats.js\", exports: [\"run\"] } }") {
		return nil
	}
	r.duplicates(v, "workload")
	var workloads []Workload
	for i := range v.Props {
		p := &v.Props[i]
		if v.Prop(p.Key) != p {
			continue
		}
		if !workloadName.MatchString(p.Key) {
			r.add(finding.BadOption, finding.Error, p.KeySpan, "%q cannot name a workload, since the name becomes part of a file name and an import. Use letters, digits, _, - and dots.", p.Key)
			continue
		}
		w := Workload{Name: p.Key, KeySpan: p.KeySpan, Span: p.Span, ExportsSpan: p.KeySpan}
		if !r.expect(p.Value, Object, fmt.Sprintf("Workload %q", p.Key), "an object { entry, exports }") {
			continue
		}
		r.options(p.Value, WorkloadOptions, fmt.Sprintf("workload %q", p.Key), finding.BadOption, p.KeySpan)
		if entry := p.Value.Get("entry"); entry != nil && r.expect(entry, String, "entry", "the workload's file, relative to the project root") {
			w.Entry, w.EntrySpan = r.entry(entry)
		}
		if exports := p.Value.Get("exports"); exports != nil {
			w.Exports, w.ExportsSpan = r.strings(exports, "exports", "[\"run\"]"), exports.Span
		}
		workloads = append(workloads, w)
	}
	return workloads
}

// entry checks that a workload's entry stays inside the project: a build must not
// bundle what lies around it.
func (r *reader) entry(v *Value) (string, text.Span) {
	clean := path.Clean(strings.ReplaceAll(v.Text, `\`, "/"))
	if v.Text == "" || path.IsAbs(clean) || clean == ".." || strings.HasPrefix(clean, "../") || strings.Contains(clean, ":") {
		r.add(finding.BadOption, finding.Error, v.Span, "entry has to be a file inside the project, relative to the folder that holds %s; %q is not.", Folder, v.Text)
		return "", v.Span
	}
	return clean, v.Span
}

// strings reads an array of distinct, non-empty strings.
func (r *reader) strings(v *Value, name, example string) []Name {
	if !r.expect(v, Array, name, "an array of strings, such as "+example) {
		return nil
	}
	names := []Name{}
	seen := map[string]bool{}
	for _, e := range v.Elems {
		if !r.expect(e, String, "Each entry of "+name, "a string") {
			continue
		}
		switch {
		case e.Text == "":
			r.add(finding.BadOption, finding.Error, e.Span, "An entry of %s is empty.", name)
		case seen[e.Text]:
			r.add(finding.BadOption, finding.Warning, e.Span, "%q stands twice in %s. Remove one of the two.", e.Text, name)
		default:
			seen[e.Text] = true
			names = append(names, Name{Text: e.Text, Span: e.Span})
		}
	}
	return names
}

func (r *reader) limits(v *Value) (Limits, map[string]text.Span) {
	var limits Limits
	spans := map[string]text.Span{}
	if v == nil || !r.expect(v, Object, "limits", "an object, such as { memoryMB: 64, timeoutMs: 1000 }") {
		return limits, spans
	}
	r.options(v, LimitOptions, "limits", finding.BadOption, v.Span)
	for _, field := range []struct {
		name string
		max  int
		into *int
	}{
		{"memoryMB", MaxMemoryMB, &limits.MemoryMB},
		{"timeoutMs", math.MaxInt32, &limits.TimeoutMs},
		{"stackKB", MaxStackKB, &limits.StackKB},
		{"bundleKB", math.MaxInt32, &limits.BundleKB},
	} {
		n := v.Get(field.name)
		if n == nil || !r.expect(n, Number, field.name, "a whole number above 0") {
			continue
		}
		if n.Number != math.Trunc(n.Number) || n.Number < 1 || n.Number > float64(field.max) {
			r.add(finding.BadOption, finding.Error, n.Span, "%s has to be a whole number from 1 to %d.", field.name, field.max)
			continue
		}
		*field.into, spans[field.name] = int(n.Number), n.Span
	}
	if limits.StackKB > DefaultStackKB {
		r.add(finding.BadOption, finding.Warning, spans["stackKB"], "stackKB above %d is not safe in browsers and Node: deeply nested source or JSON then overflows the host's stack instead of throwing inside the sandbox. Leave it at %d.", DefaultStackKB, DefaultStackKB)
	}
	return limits, spans
}

// choice reads an option that takes one of a few strings.
func (r *reader) choice(v *Value, name, otherwise string) string {
	got := v.Get(name)
	if got == nil {
		return otherwise
	}
	o, _ := option(LibraryOptions, name)
	want := `"` + strings.Join(o.Values, `" or "`) + `"`
	if !r.expect(got, String, name, want) {
		return otherwise
	}
	for _, allowed := range o.Values {
		if got.Text == allowed {
			return allowed
		}
	}
	r.add(finding.BadOption, finding.Error, got.Span, "%s has to be %s, not %q.", name, want, got.Text)
	return otherwise
}

func (r *reader) boolean(v *Value, name string) bool {
	got := v.Get(name)
	return got != nil && r.expect(got, Bool, name, "true or false") && got.Bool
}

// describe names a value for a message.
func describe(v *Value) string {
	switch v.Kind {
	case String:
		return fmt.Sprintf("the string %q", shorten(v.Text))
	case Number:
		return fmt.Sprintf("the number %v", v.Number)
	case Bool:
		return fmt.Sprintf("%v", v.Bool)
	case Other:
		if v.Text != "" {
			return v.Text
		}
	}
	return v.Kind.String()
}

func shorten(s string) string {
	if runes := []rune(s); len(runes) > 40 {
		return string(runes[:40]) + "…"
	}
	return s
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func firstSentence(doc string) string {
	if i := strings.Index(doc, ". "); i > 0 {
		return doc[:i+1]
	}
	return doc
}
