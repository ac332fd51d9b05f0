package policy

import (
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// decode reads the libraries out of the policy's value.
func (r *reader) decode() {
	v, ok := r.Object("package")
	if !ok {
		return
	}
	r.Duplicates(v, "library")
	for _, p := range v.Members() {
		r.readLibrary(p)
	}
}

func (r *reader) readLibrary(p *Prop) {
	r.Library = p.Key
	defer func() { r.Library = "" }()
	v := p.Value
	lib := Library{Name: p.Key, KeySpan: p.KeySpan, Span: p.Span, Value: v.Span, Arguments: "membrane", Results: "mirror", Reads: "window"}
	if !r.Expect(v, Object, fmt.Sprintf("The policy of %q", p.Key), "an object with its options, such as { permissions: [] }") {
		if v.Kind == Dynamic {
			lib.Unsure = true
			r.libraries = append(r.libraries, lib)
		}
		return
	}
	// permissions is the only option that is required.
	if missing := r.Options(v, LibraryOptions, fmt.Sprintf("%q", p.Key)); len(missing) > 0 {
		r.Add(finding.NoPermissions, finding.Error, p.KeySpan, "%q has no permissions, so nobody can tell what it may do. List the host globals that it needs; permissions: [] grants none.", p.Key)
	}
	lib.Unsure = v.Open
	if permissions := v.Get("permissions"); permissions != nil {
		lib.PermissionsSpan = permissions.Span
		lib.Permissions, lib.Repeated = r.permissions(permissions)
		lib.Unsure = lib.Unsure || !permissions.listed()
	}
	lib.Workloads = r.workloads(v.Get("workloads"))
	lib.Limits, lib.LimitSpans = r.limits(v.Get("limits"))
	lib.Arguments = r.Choice(v, LibraryOptions, "arguments", lib.Arguments)
	lib.Results = r.Choice(v, LibraryOptions, "results", lib.Results)
	lib.Reads = r.Choice(v, LibraryOptions, "reads", lib.Reads)
	lib.Subpaths = r.Boolean(v, "subpaths")
	lib.Snapshot = r.Boolean(v, "snapshot")
	r.libraries = append(r.libraries, lib)
}

// listed reports whether the value of permissions tells all that it grants. What has
// no name that could be read grants nothing when it is a slip, and may grant anything
// when it was not evaluated.
func (v *Value) listed() bool {
	if v.Kind == Dynamic || v.Open {
		return false
	}
	if len(v.Elems) > MaxPermissions {
		return false
	}
	return !slices.ContainsFunc(v.Elems, func(e *Value) bool {
		name := e
		if e.Kind == Object {
			if name = e.Get("name"); name == nil {
				return e.Open
			}
		}
		return name.Kind == Dynamic
	})
}

// permissions reads the grants, and those whose name an earlier one has already.
func (r *reader) permissions(v *Value) (permissions, repeated []Permission) {
	if !r.Expect(v, Array, "permissions", "an array of the names of host globals, such as [\"Intl\"]") {
		return nil, nil
	}
	permissions = []Permission{}
	seen := map[string]Permission{}
	if len(v.Elems) > MaxPermissions {
		r.Add(finding.BadOption, finding.Error, v.Elems[MaxPermissions].Span, "permissions has %d entries, and a list of more than %d is not read, so it grants nothing: no host has as many globals. Name only what the library uses.", len(v.Elems), MaxPermissions)
		return permissions, nil
	}
	for _, e := range v.Elems {
		p := r.permission(e)
		if p.Name == "" {
			if e.Kind == String {
				r.Add(finding.BadOption, finding.Error, e.Span, "A permission is the name of a host global, such as \"Intl\"; this one is empty.")
			}
			continue
		}
		if first, again := seen[p.Name]; again {
			f := r.Add(finding.BadOption, finding.Warning, p.Span, "%q is granted twice. Only the first one counts%s; remove one of the two.", p.Name, first.differs(p))
			f.Data["permission"] = p.Name
			r.Relate(f, first.Span, "first granted here")
			repeated = append(repeated, p)
			continue
		}
		seen[p.Name] = p
		permissions = append(permissions, p)
	}
	return permissions, repeated
}

// differs says what a grant gives where another one of the same name gives something
// else, as the rest of a sentence, or "".
func (p Permission) differs(other Permission) string {
	switch {
	case (p.Allow == nil) == (other.Allow == nil) && slices.Equal(slices.Sorted(slices.Values(p.Allow)), slices.Sorted(slices.Values(other.Allow))):
		return ""
	case p.Allow == nil:
		return ", which grants all of it, so that allow has no effect here"
	case len(p.Allow) == 0:
		return ", whose allow lists nothing"
	default:
		return fmt.Sprintf(", which allows no more than %s", listed(quotedAll(p.Allow), "and"))
	}
}

func quotedAll(words []string) []string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = fmt.Sprintf("%q", shorten(word))
	}
	return quoted
}

// permission reads one entry of permissions. Without a name it grants nothing.
func (r *reader) permission(e *Value) Permission {
	p := Permission{Span: e.Span}
	switch e.Kind {
	case String:
		p.Name = e.Text
	case Object:
		r.Require(e, PermissionOptions, "a permission", e.Span)
		if name := e.Get("name"); name != nil && r.Expect(name, String, "A permission's name", "a string, such as \"fetch\"") {
			p.Name, p.Span = name.Text, name.Span
		}
		if allow := e.Get("allow"); allow != nil {
			p.Allow = []string{}
			for _, rule := range r.Strings(allow, "allow", "[\"https://api.example.com/*\"]") {
				p.Allow, p.AllowSpans = append(p.Allow, rule.Text), append(p.AllowSpans, rule.Span)
			}
			if allow.Kind == Array {
				p.AllowSpan = allow.Span
			}
		}
		p.Reason = r.Sentence(e, "reason", "a string that says why the library needs this capability")
		p.Owner = r.Sentence(e, "owner", "a string that says who answers for this grant")
		r.expiry(e, &p)
	default:
		r.Expect(e, String, "A permission", "the name of a host global, such as \"Intl\", or an object { name, allow }")
	}
	return p
}

// expiry reads the last day of a grant, and reports one that has passed. The day
// itself still counts.
func (r *reader) expiry(e *Value, p *Permission) {
	v := e.Get("expires")
	const want = "a date as a string, year first, such as \"2027-01-31\""
	if v == nil || !r.Expect(v, String, "expires", want) {
		return
	}
	day, err := ParseDate(v.Text)
	if err != nil {
		r.Add(finding.BadOption, finding.Error, v.Span, "expires has to be %s; %q is no such day.", want, shorten(v.Text))
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
	f := r.Add(finding.ExpiredGrant, finding.Warning, v.Span, "The grant of %q ended on %s, but still has its effect. %s has to decide: remove the permission, or set a later date if it is still needed.", p.Name, day, who)
	f.Data["permission"], f.Data["expires"] = p.Name, day.String()
	if p.Owner != "" {
		f.Data["owner"] = p.Owner
	}
}

var workloadName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

func (r *reader) workloads(v *Value) []Workload {
	if v == nil || !r.Expect(v, Object, "workloads", "an object of workloads by name, such as { stats: { entry: \"src/stats.js\", exports: [\"run\"] } }") {
		return nil
	}
	r.Duplicates(v, "workload")
	var workloads []Workload
	for _, p := range v.Members() {
		if !workloadName.MatchString(p.Key) {
			r.Add(finding.BadOption, finding.Error, p.KeySpan, "%q cannot name a workload, since the name becomes part of a file name and an import. Use letters, digits, _, - and dots.", p.Key)
			continue
		}
		w := Workload{Name: p.Key, KeySpan: p.KeySpan, Span: p.Span, ExportsSpan: p.KeySpan}
		if !r.Expect(p.Value, Object, fmt.Sprintf("Workload %q", p.Key), "an object { entry, exports }") {
			continue
		}
		r.Require(p.Value, WorkloadOptions, fmt.Sprintf("workload %q", p.Key), p.KeySpan)
		if entry := p.Value.Get("entry"); entry != nil && r.Expect(entry, String, "entry", "the workload's file, relative to the project root") {
			w.Entry, w.EntrySpan = r.entry(entry)
		}
		if exports := p.Value.Get("exports"); exports != nil {
			w.Exports, w.ExportsSpan = r.Strings(exports, "exports", "[\"run\"]"), exports.Span
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
		r.Add(finding.BadOption, finding.Error, v.Span, "entry has to be a file inside the project, relative to the folder that holds %s; %q is not.", Folder, v.Text)
		return "", v.Span
	}
	return clean, v.Span
}

func (r *reader) limits(v *Value) (Limits, map[string]text.Span) {
	var limits Limits
	spans := map[string]text.Span{}
	if v == nil || !r.Expect(v, Object, "limits", "an object, such as { memoryMB: 64, timeoutMs: 1000 }") {
		return limits, spans
	}
	r.Require(v, LimitOptions, "limits", v.Span)
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
		if n == nil || !r.Expect(n, Number, field.name, "a whole number above 0") {
			continue
		}
		if n.Number != math.Trunc(n.Number) || n.Number < 1 || n.Number > float64(field.max) {
			r.Add(finding.BadOption, finding.Error, n.Span, "%s has to be a whole number from 1 to %d.", field.name, field.max)
			continue
		}
		*field.into, spans[field.name] = int(n.Number), n.Span
	}
	if limits.StackKB > DefaultStackKB {
		r.Add(finding.BadOption, finding.Warning, spans["stackKB"], "stackKB above %d is not safe in browsers and Node: deeply nested source or JSON then overflows the host's stack instead of throwing inside the sandbox. Leave it at %d.", DefaultStackKB, DefaultStackKB)
	}
	return limits, spans
}
