package analysis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/hostglobals"
	"github.com/sandbox-lsp/sandbox-lsp/policy/nodecap"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax/authority"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/bundle"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/load"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/observe"
)

// need is everything that is known of one global that a library asks for.
type need struct {
	name  string
	uses  []Use   // unguarded ones first, then in order of place
	seen  []Touch // while loading
	fatal bool    // the load failed for lack of it
	used  bool    // some use is more than a presence check
	bare  bool    // some use has no guard
	// strict says that strict code gives the name a value, which throws where there is none.
	strict bool
	// made says that the library only gives the name a value, and that no host acts on
	// that: it stays in the guest.
	made bool
}

// needs gathers what a library asks for by name. Names that the guest has of its own
// are left out, and so are those that the library makes itself.
func needs(l *Library, guest map[string]bool) []*need {
	byName := map[string]*need{}
	get := func(name string) *need {
		n := byName[name]
		if n == nil {
			n = &need{name: name}
			byName[name] = n
		}
		return n
	}
	// The bundler asks for require on behalf of a call that it could not resolve; no
	// host has it as a global.
	own := map[string]bool{bundle.Global: true, bundle.WorkloadGlobal: true, "require": true}
	for _, name := range l.Authority.Defines {
		own[name] = true
	}
	for _, u := range l.Authority.Uses {
		if u.Doubt != authority.NoDoubt {
			continue // see doubts
		}
		// window.fetch asks for window before it asks for fetch.
		if u.Root != "" && u.Root != "this" && u.Root != "globalThis" {
			root := u
			// document.defaultView leads there too, and is asked of document.
			root.Name, _, _ = strings.Cut(u.Root, ".")
			root.Path, root.Kind, root.Guarded = u.Root, authority.Read, u.RootGuarded
			n := get(root.Name)
			n.uses = append(n.uses, root)
		}
		n := get(u.Name)
		if u.assigns() {
			// Made inside the guest; the host does not see it. An assignment that throws
			// makes nothing.
			own[u.Name] = own[u.Name] || u.Loading && !u.throws()
			if !hostglobals.ActsOnWrite(u.Name) && !u.throws() {
				continue
			}
		}
		n.uses = append(n.uses, u)
	}
	for _, t := range l.Touches {
		if t.Operation == observe.Get {
			n := get(t.Name)
			n.seen = append(n.seen, t)
		}
	}
	for _, name := range l.Lacks {
		get(name).fatal = true
	}
	var out []*need
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		n := byName[name]
		if guest[name] {
			continue
		}
		if own[name] && !n.fatal {
			n.uses, n.seen = slices.DeleteFunc(n.uses, func(u Use) bool { return !u.assigns() || !hostglobals.ActsOnWrite(u.Name) }), nil
		}
		n.strict = !own[name] && slices.ContainsFunc(n.uses, Use.throws)
		n.made = len(n.uses) == 0 && len(n.seen) == 0 && !n.fatal
		for _, u := range n.uses {
			n.used = n.used || u.Kind != authority.Presence
			n.bare = n.bare || u.Kind != authority.Presence && !u.Guarded
		}
		slices.SortStableFunc(n.uses, func(a, b Use) int { return cmp.Compare(weight(a), weight(b)) })
		out = append(out, n)
	}
	return out
}

// needOf returns what is known of one name, or nil.
func needOf(asked []*need, name string) *need {
	if i := slices.IndexFunc(asked, func(n *need) bool { return n.name == name }); i >= 0 {
		return asked[i]
	}
	return nil
}

// thrown returns the assignment that throws in strict code.
func (n *need) thrown() Use { return n.uses[slices.IndexFunc(n.uses, Use.throws)] }

// weight puts first the uses that say most about what a library needs.
func weight(u Use) int {
	w := 0
	if u.Kind == authority.Presence {
		w += 4
	}
	if u.Guarded {
		w += 2
	}
	if !u.Loading {
		w++
	}
	return w
}

func failureOf(l *Library) *load.Failure {
	if l.Load == nil {
		return nil
	}
	return l.Load.Failure
}

// missingName returns the name whose absence an error is about, or "".
func missingName(failure *load.Failure) string {
	if failure == nil || failure.Name != "ReferenceError" {
		return ""
	}
	name, found := strings.CutSuffix(failure.Message, " is not defined")
	name = strings.Trim(name, "'\"")
	if !found || name == "" || strings.ContainsAny(name, " .") {
		return ""
	}
	return name
}

// grantsSpan is where a finding about a library's permissions as a whole stands.
func (r *reporter) grantsSpan() text.Span {
	if r.lib.PermissionsSpan.End > r.lib.PermissionsSpan.Start {
		return r.lib.PermissionsSpan
	}
	return r.lib.KeySpan
}

// authority holds what the library asks for against what it is granted: SBX013,
// SBX014 and SBX016. Nothing is said of a library that has no bundle.
func (r *reporter) authority(l *Library, guest map[string]bool) {
	if l.Authority == nil {
		return
	}
	granted := map[string]bool{}
	for _, p := range r.lib.Permissions {
		granted[p.Name] = true
	}
	asked := needs(l, guest)
	if !r.lib.Unsure { // else nobody knows what is missing
		r.missing(asked, granted)
	}
	perhaps := doubts(l, guest)
	r.unused(l, asked, guest, perhaps)
	r.unknown(l, perhaps)
}

// missing reports SBX014: one finding for each name that the library uses, and one
// hint for all those that it only looks for.
func (r *reporter) missing(asked []*need, granted map[string]bool) {
	var optional, onlySeen []*need
	for _, n := range asked {
		_, known := hostglobals.Known(n.name)
		switch {
		case granted[n.name], n.made:
		case n.fatal || n.bare:
			r.missingOne(n, known)
		case n.useless(): // it does without what no grant gives
		case known && len(n.uses) == 0:
			onlySeen = append(onlySeen, n)
		case known: // a name that no host has is a question that is always answered with no
			optional = append(optional, n)
		}
	}
	if len(optional) > 0 {
		names := namesOf(optional)
		f := r.at(finding.MissingPermission, finding.Hint, r.grantsSpan(), "%q looks for %s and does without where %s absent. Grant %s only if you want that part of it.",
			r.lib.Name, list(names, 8), plural(len(names), "it is", "they are"), plural(len(names), "it", "one"))
		f.Data["permissions"], f.Data["evidence"] = strings.Join(names, ","), evidenceOfAll(optional)
		for _, n := range optional[:min(len(optional), 5)] {
			f.Related = append(f.Related, finding.Related{Message: n.name + " is looked for here", File: n.uses[0].Place.File, Range: n.uses[0].Place.Range})
		}
	}
	if len(onlySeen) > 0 {
		names := namesOf(onlySeen)
		f := r.at(finding.MissingPermission, finding.Warning, r.grantsSpan(), "%q was seen to ask for %s while it loaded, though its code does not spell %s out; %s not granted. Its parts that use %s will fail; grant what it should have.",
			r.lib.Name, list(names, 8), plural(len(names), "that name", "those names"), plural(len(names), "it is", "they are"), plural(len(names), "it", "them"))
		f.Data["permissions"], f.Data["evidence"] = strings.Join(names, ","), evidenceOfAll(onlySeen)
		for _, n := range onlySeen[:min(len(onlySeen), 5)] {
			if p := n.seen[0].Place; p.File != "" {
				f.Related = append(f.Related, finding.Related{Message: n.name + " was asked for here", File: p.File, Range: p.Range})
			}
		}
	}
}

func namesOf(all []*need) []string {
	names := make([]string, len(all))
	for i, n := range all {
		names[i] = n.name
	}
	return names
}

func (r *reporter) missingOne(n *need, known bool) {
	severity := finding.Warning
	var message strings.Builder
	fmt.Fprintf(&message, "%q refers to %s, which is not granted to it", r.lib.Name, n.name)
	assigned := n.assigned()
	switch {
	case n.fatal && assigned:
		severity = finding.Error
		message.Reset()
		fmt.Fprintf(&message, "%q assigns to %s while it loads", r.lib.Name, n.name)
	case n.fatal:
		severity = finding.Error
		message.Reset()
		fmt.Fprintf(&message, "%q needs %s while it loads, and it is not granted", r.lib.Name, n.name)
	case assigned:
		message.Reset()
		fmt.Fprintf(&message, "%q assigns to %s", r.lib.Name, n.name)
		if n.name != "location" && !n.strict {
			severity = finding.Info // a handler that is never called, a name that nobody reads
		}
	}
	var first Place
	if assigned && n.strict {
		first = n.thrown().Place
	} else if len(n.uses) > 0 {
		first = n.uses[0].Place
	} else if len(n.seen) > 0 {
		first = n.seen[0].Place
	}
	if first.File != "" {
		fmt.Fprintf(&message, " (%s%s)", first, r.inside(first))
	}
	if len(n.uses) > 0 && len(n.seen) > 0 {
		message.WriteString("; seen while loading")
	}
	switch g, _ := hostglobals.Known(n.name); {
	case assigned && n.strict:
		message.WriteString(". Its code is strict, where an assignment to a name that does not exist throws a ReferenceError. ")
		if known {
			fmt.Fprintf(&message, "A grant only keeps it from throwing, in hosts that have %s: the value stays in the sandbox. Pass the library a function that does it instead.", n.name)
		} else {
			message.WriteString("No host that is known has a global of that name: a missing declaration in the library is the likely reason.")
		}
	case assigned:
		fmt.Fprintf(&message, ". The value stays in the sandbox, whether %s is granted or not, so nothing happens outside. Pass the library a function that does it instead.", n.name)
	case n.useless():
		fmt.Fprintf(&message, ". It uses %s, which no grant gives: %s. Pass the library a function that does it instead.", members(n.ungrantable()), facade(n.name))
	case !known:
		message.WriteString(". No host that is known has a global of that name: another script would have to set it.")
	case hostglobals.IsGlobalObject(n.name) && g.Grade == hostglobals.Pure:
		message.WriteString(". Code that uses it will fail; a grant gives it the sandbox's own global object under that name, and nothing of the host.")
	case g.Grade == hostglobals.Realm:
		message.WriteString(". Do not grant it lightly: " + caution(g))
	case g.Grade == hostglobals.Powerful:
		message.WriteString(". Code that uses it will fail; before you grant it, know that " + caution(g))
	default:
		message.WriteString(". Code that uses it will fail; grant it if the library should have it.")
	}
	if lacking := n.ungrantable(); len(lacking) > 0 && !n.useless() {
		fmt.Fprintf(&message, " A grant does not give it %s: %s.", members(lacking), facade(n.name))
	}
	f := r.at(finding.MissingPermission, severity, r.grantsSpan(), "%s", message.String())
	f.Data[n.datum()] = n.name
	f.Data["evidence"] = n.evidence()
	f.Data["access"] = n.access()
	if first.Package != "" && first.Package != r.lib.Name {
		f.Data["package"] = first.Package
	}
	for _, u := range n.uses {
		if len(f.Related) == 4 {
			break
		}
		message := u.Path
		switch {
		case u.Kind == authority.Presence:
			message += " is looked for here"
		case u.Kind == authority.Write:
			message += " is written here"
		case u.Guarded:
			message += " is used here if it exists"
		case u.Loading:
			message += " is used here, while loading"
		default:
			message += " is used here"
		}
		f.Related = append(f.Related, finding.Related{Message: message, File: u.Place.File, Range: u.Place.Range})
	}
	for _, t := range n.seen[:min(len(n.seen), 2)] {
		if t.Place.File != "" {
			f.Related = append(f.Related, finding.Related{Message: "seen while loading", File: t.Place.File, Range: t.Place.Range})
		}
	}
}

// caution says what a global hands over and what to do instead, in sentences that may
// follow a colon.
func caution(g hostglobals.Global) string {
	said := lowerFirst(g.Reason)
	if g.Narrower != "" {
		said += " " + g.Narrower
	}
	return said
}

// inside names the dependency that a place belongs to, when it is not the library.
func (r *reporter) inside(p Place) string {
	if p.Package == "" || p.Package == r.lib.Name || strings.HasPrefix(r.lib.Name, p.Package+"/") {
		return ""
	}
	return ", in its dependency " + p.Package
}

// assigns reports whether a use gives the global itself a value.
func (u Use) assigns() bool { return u.Kind == authority.Write && u.Path == u.Name }

// throws reports whether the use is an assignment that fails where the name does not exist.
func (u Use) throws() bool { return u.assigns() && u.Strict && !u.Guarded }

// assigned reports whether all that matters of a need is that the library gives the name
// a value: it does nothing else with it, or strict code means a variable of its own, since
// no host has one of that name. A load fails for that in strict code only.
func (n *need) assigned() bool {
	if _, known := hostglobals.Known(n.name); !known && n.strict {
		return true
	}
	if n.fatal && !n.strict || len(n.seen) > 0 || len(n.uses) == 0 {
		return false
	}
	return !slices.ContainsFunc(n.uses, func(u Use) bool { return !u.assigns() })
}

// datum is the key under which the data of a finding has the name: "permission", or
// "global" where a grant would not help.
func (n *need) datum() string {
	if n.assigned() || n.useless() {
		return "global"
	}
	return "permission"
}

// access tells what a library does with a global: "read", "write", "read,write" or
// "presence", when it only asks whether there is one.
func (n *need) access() string {
	reads, writes := len(n.uses) == 0, false
	for _, u := range n.uses {
		reads = reads || u.Kind == authority.Read
		writes = writes || u.Kind == authority.Write
	}
	switch {
	case reads && writes:
		return "read,write"
	case writes:
		return "write"
	case reads:
		return "read"
	}
	return "presence"
}

// evidence tells how a need is known.
func (n *need) evidence() string {
	switch {
	case len(n.uses) == 0 && len(n.seen) == 0:
		return "failure"
	case len(n.uses) == 0:
		return "observed"
	case len(n.seen) == 0:
		return "static"
	default:
		return "both"
	}
}

func evidenceOfAll(all []*need) string {
	kind := all[0].evidence()
	for _, n := range all {
		if n.evidence() != kind {
			return "mixed"
		}
	}
	return kind
}

// unused reports SBX013. A library whose authority is not known in full may use what
// no scan sees, so for one of those it is only a hint.
func (r *reporter) unused(l *Library, asked []*need, guest map[string]bool, perhaps doubtful) {
	byName := map[string]*need{}
	for _, n := range asked {
		byName[n.name] = n
	}
	for _, p := range r.lib.Permissions {
		if _, known := hostglobals.Known(p.Name); !known || guest[p.Name] {
			continue // SBX010 and SBX011 say what is to be said of those
		}
		if n := byName[p.Name]; n != nil {
			if n.assigned() && !perhaps.names[p.Name] && len(readable(l.Authority.Unknowns)) == 0 {
				if n.strict {
					f := r.at(finding.UnusedPermission, finding.Hint, p.Span, "%s is granted to %q, which only assigns to it (%s). The value stays in the sandbox: all that the grant does is to keep strict code from throwing. Pass the library a function that does it instead.",
						p.Name, r.lib.Name, n.uses[0].Place)
					f.Data["global"] = p.Name // without the grant it throws
					continue
				}
				f := r.at(finding.UnusedPermission, finding.Hint, p.Span, "%s is granted to %q, which only assigns to it (%s). The value stays in the sandbox, so the grant does nothing. Pass the library a function that does it instead.",
					p.Name, r.lib.Name, n.uses[0].Place)
				f.Data["permission"] = p.Name
			}
			r.lacksMembers(n, p)
			continue
		}
		if perhaps.names[p.Name] {
			continue // SBX016 says where
		}
		if p.Name == "Intl" && l.Authority.takesFromIntl() {
			continue // SBX034 advises to grant it
		}
		severity, why := finding.Warning, "nothing in its bundle refers to it and nothing asked for it while loading. Remove it: what a library cannot do needs no watching."
		reads := readable(l.Authority.Unknowns)
		switch {
		case len(reads) > 0:
			severity = finding.Hint
			why = fmt.Sprintf("no reference to it was found, though code that cannot be followed may use it (%s). Remove it only if you know that the library does without.", reads[0].Place)
		case slices.Contains(l.Authority.Received, p.Name):
			severity = finding.Hint
			why = "only methods refer to a member of that name, of the object that they are called on. Remove it only if you know that the library does without."
		}
		f := r.at(finding.UnusedPermission, severity, p.Span, "%s is granted to %q, but %s", p.Name, r.lib.Name, why)
		f.Data["permission"] = p.Name
	}
}

func readable(unknowns []Unknown) []Unknown {
	return slices.DeleteFunc(slices.Clone(unknowns), func(u Unknown) bool { return u.Kind == authority.Write })
}

// unknown reports SBX016: once for a library, with the places.
func (r *reporter) unknown(l *Library, perhaps doubtful) {
	unknowns := slices.DeleteFunc(slices.Clone(l.Authority.Unknowns), func(u Unknown) bool { return u.Doubt != authority.NoDoubt })
	if len(unknowns) == 0 {
		r.doubtful(perhaps)
		return
	}
	reasons := map[string]int{}
	for _, u := range unknowns {
		reasons[u.Reason.String()]++
	}
	first := unknowns[0]
	what := fmt.Sprintf("in a way that no reading of the code can follow (%s at %s%s)", first.Detail, first.Place, r.inside(first.Place))
	if len(unknowns) > 1 {
		what = fmt.Sprintf("in %d ways that no reading of the code can follow (the first: %s at %s%s)", len(unknowns), first.Detail, first.Place, r.inside(first.Place))
	}
	f := r.at(finding.UnknownAuthority, finding.Info, r.grantsSpan(), "%q reaches the global object %s, so what it needs is not known in full. The sandbox holds all the same: what is not granted is not there.", r.lib.Name, what)
	f.Data["reasons"] = strings.Join(slices.Sorted(maps.Keys(reasons)), ",")
	for _, u := range unknowns[:min(len(unknowns), 5)] {
		f.Related = append(f.Related, finding.Related{Message: u.Reason.String() + ": " + u.Detail, File: u.Place.File, Range: u.Place.Range})
	}
}

// builtins reports SBX033, once for each module.
func (r *reporter) builtins(l *Library) {
	if l.Bundle == nil {
		return
	}
	seen := map[string]bool{}
	for _, i := range l.Bundle.Builtins {
		if seen[i.Request] {
			continue
		}
		seen[i.Request] = true
		disposition, _ := nodecap.Lookup(i.Request)
		severity := finding.Warning
		if disposition == nodecap.Allowed {
			severity = finding.Info
		}
		place := Place{Package: packageOf(i.Importer)}
		f := r.at(finding.BuiltinReached, severity, r.lib.KeySpan, "%q imports the Node built-in %q%s, which a sandboxed library does not have: the import succeeds and a use of it throws. The Node capability manifest calls the module %s.", r.lib.Name, i.Request, r.inside(place), disposition)
		f.Data["builtin"], f.Data["disposition"] = i.Request, string(disposition)
		if file, where, ok := r.importIn(i.Importer, i.Request); ok {
			f.Related = append(f.Related, finding.Related{Message: "imported here", File: file, Range: where})
		}
	}
}

// computed reports SBX033 for modules whose names are computed, once for a library. An
// import that is caught is a part that the library does without.
func (r *reporter) computed(l *Library) {
	if l.Authority == nil || len(l.Authority.Computed) == 0 {
		return
	}
	all := slices.Clone(l.Authority.Computed)
	slices.SortStableFunc(all, func(a, b Computed) int {
		switch {
		case a.Caught == b.Caught:
			return 0
		case b.Caught:
			return -1
		}
		return 1
	})
	severity, then := finding.Info, "A sandbox has only what was bundled, so such a load fails there. Sandbox an entry that names its modules, or give the library what it would load."
	if all[0].Caught {
		severity, then = finding.Hint, "A sandbox has only what was bundled, so such a load fails there; the code catches that and goes on without."
	}
	places := ""
	if more := len(all) - 1; more > 0 {
		places = fmt.Sprintf(" and %d more %s", more, plural(more, "place", "places"))
	}
	f := r.at(finding.BuiltinReached, severity, r.lib.KeySpan, "%q loads modules whose names it computes (%s%s%s), so nobody can tell which. %s", r.lib.Name, all[0].Place, r.inside(all[0].Place), places, then)
	f.Data["modules"] = "computed"
	for _, c := range all[:min(len(all), 4)] {
		f.Related = append(f.Related, finding.Related{Message: "loaded here", File: c.Place.File, Range: c.Place.Range})
	}
}

// silent reports SBX034, once for a library.
func (r *reporter) silent(l *Library) {
	if l.Authority == nil {
		return
	}
	intl := slices.Contains(r.lib.PermissionNames(), "Intl")
	var names []string
	first := map[string]Silent{} // of each, one that is no method of its own if there is one
	for _, s := range l.Authority.Silent {
		if (intl || r.lib.Unsure) && differences[s.Method].Intl {
			continue
		}
		known, ok := first[s.Method]
		if !ok {
			names = append(names, s.Method)
		}
		if !ok || known.Own != nil && s.Own == nil {
			first[s.Method] = s
		}
	}
	if len(names) == 0 {
		return
	}
	slices.Sort(names)
	what := make([]string, len(names))
	severity, advice := finding.Hint, ""
	for i, name := range names {
		what[i] = fmt.Sprintf("%s %s", name, differences[name].What)
		if own := first[name].Own; own != nil {
			what[i] += fmt.Sprintf(", unless it is the library's own (%s)", own)
		} else {
			severity = finding.Info
		}
		if differences[name].Intl {
			advice = " Grant Intl to have the host answer."
		}
	}
	f := r.at(finding.SilentDifference, severity, r.grantsSpan(), "%q uses what the guest answers in another way than browsers and Node, without an error: %s.%s", r.lib.Name, strings.Join(what, "; "), advice)
	f.Data["methods"] = strings.Join(names, ",")
	for _, name := range names[:min(len(names), 5)] {
		f.Related = append(f.Related, finding.Related{Message: name + " is used here", File: first[name].Place.File, Range: first[name].Place.Range})
	}
}

// list prints names for a sentence, the first so many of them.
func list(names []string, most int) string {
	if len(names) == 1 {
		return names[0]
	}
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
