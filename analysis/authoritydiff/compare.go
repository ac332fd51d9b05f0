package authoritydiff

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/attenuation"
	"github.com/sandbox-lsp/sandbox-lsp/policy/hostglobals"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// comparison collects what changed about one library.
type comparison struct {
	name          string
	before, after Side
	revision      string
	changes       []Change
}

func (c *comparison) add(effect Effect, kind Kind, subject string, span text.Span, format string, values ...string) *Change {
	c.changes = append(c.changes, Change{Effect: effect, Kind: kind, Subject: subject, Span: span, Words: say(format, values...)})
	return &c.changes[len(c.changes)-1]
}

func (c *comparison) compareLibrary() {
	old, was := c.before.policyOf(c.name)
	now, is := c.after.policyOf(c.name)
	switch {
	case !was:
		c.sandboxed(now)
	case !is:
		c.unsandboxed()
	default:
		c.permissions(old, now)
		c.limits(old, now)
		c.options(old, now)
		c.workloads(old, now)
		c.packages(now.KeySpan)
	}
}

// sandboxed reports a library that the policy did not have before. One that ran
// without a sandbox can do less now; one that is new to the project brings authority
// with it.
func (c *comparison) sandboxed(now policy.Library) {
	installed, known := c.before.installed(c.name)
	if installed || !known {
		keeps := "nothing of that"
		if n := len(now.Permissions); n > 0 {
			keeps = places(n)
		}
		c.add(Narrowed, LibraryAdded, "", now.KeySpan, "runs in a sandbox now; at {} it ran outside of one, with everything that the page has. It keeps "+keeps+".", append([]string{c.revision}, now.PermissionNames()...)...)
		return
	}
	c.add(Changed, LibraryAdded, "", now.KeySpan, "is new to the project, and runs in a sandbox.")
	for _, p := range now.Permissions {
		c.granted(p)
	}
}

// places returns the places of n values in a sentence.
func places(n int) string { return strings.TrimSuffix(strings.Repeat("{}, ", n), ", ") }

// unsandboxed reports a library that left the policy.
func (c *comparison) unsandboxed() {
	var span text.Span
	if c.after.Policy != nil {
		span = text.Span{Start: c.after.Policy.Export.Start, End: c.after.Policy.Export.Start}
	}
	if installed, known := c.after.installed(c.name); known && !installed {
		c.add(Narrowed, LibraryRemoved, "", span, "is gone from the policy, and the lockfile has it no longer either.")
		return
	}
	c.add(Widened, LibraryRemoved, "", span, "is gone from the policy and still installed: it runs outside of any sandbox, with everything that the page has.")
}

func (c *comparison) permissions(old, now policy.Library) {
	before := map[string]policy.Permission{}
	for _, p := range old.Permissions {
		before[p.Name] = p
	}
	for _, p := range now.Permissions {
		q, was := before[p.Name]
		if !was {
			c.granted(p)
			continue
		}
		delete(before, p.Name)
		c.rules(q, p)
		c.terms(q, p)
	}
	for _, p := range old.Permissions {
		if _, gone := before[p.Name]; gone {
			span := now.PermissionsSpan
			if span == (text.Span{}) {
				span = now.KeySpan
			}
			if c.after.Guest[p.Name] {
				c.add(Changed, PermissionRemoved, p.Name, span, "is no longer granted {}, which every sandbox has of its own.", p.Name)
				continue
			}
			c.add(Narrowed, PermissionRemoved, p.Name, span, "is no longer granted {}.", p.Name)
		}
	}
}

// granted reports a permission that the library did not have, with what it gives.
func (c *comparison) granted(p policy.Permission) {
	if c.after.Guest[p.Name] {
		c.add(Changed, PermissionAdded, p.Name, p.Span, "is granted {}, which adds nothing: every sandbox has it of its own.", p.Name)
		return
	}
	format, values := "is granted {}, which it was not at {}", []string{p.Name, c.revision}
	if p.Allow != nil {
		format += ", for " + rules(p.Allow) + " only"
		values = append(values, p.Allow...)
	}
	format += "."
	if g, known := hostglobals.Known(p.Name); known && g.Grade >= hostglobals.Powerful {
		format += " " + strings.ReplaceAll(g.Reason, "{}", "{ }")
	} else if !known {
		format += " No host is known to have a global of that name."
	}
	if p.Reason != "" {
		format += " The policy's reason: {}."
		values = append(values, p.Reason)
	}
	c.add(Widened, PermissionAdded, p.Name, p.Span, format, values...)
}

// rules returns the places of a list of rules in a sentence.
func rules(allow []string) string {
	if len(allow) == 0 {
		return "nothing"
	}
	return places(len(allow))
}

// rules compares what a permission is narrowed to.
func (c *comparison) rules(old, now policy.Permission) {
	switch {
	case old.Allow == nil && now.Allow == nil:
		return
	case now.Allow == nil:
		c.add(Widened, PermissionWhole, now.Name, now.Span, "has all of {}; at {} it was narrowed to "+rules(old.Allow)+".", append([]string{now.Name, c.revision}, old.Allow...)...)
		return
	case old.Allow == nil:
		c.add(Narrowed, PermissionListed, now.Name, now.Span, "has {} for "+rules(now.Allow)+" only; at {} it had all of it.", slices.Concat([]string{now.Name}, now.Allow, []string{c.revision})...)
		return
	}
	var looser []string // old rules that a new one stands for
	for i, rule := range now.Allow {
		if slices.Contains(old.Allow, rule) {
			continue
		}
		span := now.Span
		if i < len(now.AllowSpans) {
			span = now.AllowSpans[i]
		}
		var within, over string
		for _, other := range old.Allow {
			switch {
			case covers(now.Name, other, rule):
				within = other
			case covers(now.Name, rule, other) && !slices.Contains(now.Allow, other):
				over = other
			}
		}
		switch {
		case within != "" && slices.Contains(now.Allow, within):
			c.add(Changed, RuleAdded, now.Name, span, "may use {} for {}, which {} allowed already.", now.Name, rule, within)
		case within != "":
			looser = append(looser, within)
			c.add(Narrowed, RuleTightened, now.Name, span, "may use {} for {}; at {} that was {}, which allows more.", now.Name, rule, c.revision, within)
		case over != "":
			looser = append(looser, over)
			c.add(Widened, RuleLoosened, now.Name, span, "may use {} for {}; at {} that was {}, which allows less.", now.Name, rule, c.revision, over)
		default:
			c.add(Widened, RuleAdded, now.Name, span, "may use {} for {} as well, which it could not at {}.", now.Name, rule, c.revision)
		}
	}
	for _, rule := range old.Allow {
		if slices.Contains(now.Allow, rule) || slices.Contains(looser, rule) {
			continue
		}
		if i := slices.IndexFunc(now.Allow, func(other string) bool { return covers(now.Name, other, rule) }); i >= 0 {
			c.add(Changed, RuleRemoved, now.Name, now.Span, "has no rule {} for {} any more, which {} allows all the same.", rule, now.Name, now.Allow[i])
			continue
		}
		c.add(Narrowed, RuleRemoved, now.Name, now.Span, "may no longer use {} for {}.", now.Name, rule)
	}
}

// covers reports whether one rule allows all that another does. Rules that do not
// parse allow nothing that could be compared.
func covers(global, rule, other string) bool {
	a, _ := attenuation.Parse(global, rule)
	b, _ := attenuation.Parse(global, other)
	return a.Covers(b)
}

// terms compares why, by whom and until when a permission is granted.
func (c *comparison) terms(old, now policy.Permission) {
	c.text(ReasonChanged, "reason", old.Name, old.Reason, now.Reason, now.Span)
	c.text(OwnerChanged, "owner", old.Name, old.Owner, now.Owner, now.Span)
	if old.Expires == now.Expires {
		return
	}
	span := now.Span
	if !now.Expires.IsZero() {
		span = now.ExpiresSpan
	}
	switch {
	case now.Expires.IsZero():
		c.add(Widened, ExpiresChanged, now.Name, span, "has {} without an end; at {} it was granted until {}.", now.Name, c.revision, old.Expires.String())
	case old.Expires.IsZero():
		c.add(Narrowed, ExpiresChanged, now.Name, span, "has {} until {}; at {} it had no end.", now.Name, now.Expires.String(), c.revision)
	case old.Expires.Before(now.Expires):
		c.add(Widened, ExpiresChanged, now.Name, span, "has {} until {}; at {} it was until {}.", now.Name, now.Expires.String(), c.revision, old.Expires.String())
	default:
		c.add(Narrowed, ExpiresChanged, now.Name, span, "has {} until {}; at {} it was until {}.", now.Name, now.Expires.String(), c.revision, old.Expires.String())
	}
}

func (c *comparison) text(kind Kind, what, permission, old, now string, span text.Span) {
	switch {
	case old == now:
	case old == "":
		c.add(Changed, kind, permission, span, "has {} with the "+what+" {}; before, none was given.", permission, now)
	case now == "":
		c.add(Changed, kind, permission, span, "has {} without the "+what+" that was given, {}.", permission, old)
	default:
		c.add(Changed, kind, permission, span, "has {} with the "+what+" {}, no longer {}.", permission, now, old)
	}
}

// limits compares quotas by what they come to: leaving one out means its default.
func (c *comparison) limits(old, now policy.Library) {
	for _, l := range []struct {
		name, unit string
		old, now   int
		otherwise  int // 0 for no limit
	}{
		{"memoryMB", "MiB of memory", old.Limits.MemoryMB, now.Limits.MemoryMB, policy.DefaultMemoryMB},
		{"timeoutMs", "ms of time for a call", old.Limits.TimeoutMs, now.Limits.TimeoutMs, 0},
		{"stackKB", "KiB of stack", old.Limits.StackKB, now.Limits.StackKB, policy.DefaultStackKB},
		{"bundleKB", "KiB of bundle", old.Limits.BundleKB, now.Limits.BundleKB, 0},
	} {
		before, after := l.old, l.now
		if before == 0 {
			before = l.otherwise
		}
		if after == 0 {
			after = l.otherwise
		}
		if before == after {
			continue
		}
		effect := Narrowed
		if after == 0 || before != 0 && after > before {
			effect = Widened
		}
		span, given := now.LimitSpans[l.name]
		if !given {
			span = now.KeySpan
		}
		c.add(effect, LimitChanged, l.name, span, "may use "+amount(after, l.unit)+"; at {} it was "+amount(before, l.unit)+".", c.revision)
	}
}

func amount(n int, unit string) string {
	if n == 0 {
		_, what, _ := strings.Cut(unit, " of ")
		return "any amount of " + what
	}
	return strconv.Itoa(n) + " " + unit
}

func (c *comparison) options(old, now policy.Library) {
	if old.Arguments != now.Arguments {
		if now.Arguments == "data" {
			c.add(Narrowed, OptionChanged, "arguments", now.KeySpan, "takes only data as arguments; at {} the application could pass it host objects and functions.", c.revision)
		} else {
			c.add(Widened, OptionChanged, "arguments", now.KeySpan, "may be passed host objects and functions as arguments; at {} it took only data.", c.revision)
		}
	}
	if old.Subpaths != now.Subpaths {
		if now.Subpaths {
			c.add(Narrowed, OptionChanged, "subpaths", now.KeySpan, "has the requests below it redirected to its sandbox; at {} they ran outside.", c.revision)
		} else {
			c.add(Widened, OptionChanged, "subpaths", now.KeySpan, "lets the requests below it run outside of its sandbox; at {} they were redirected.", c.revision)
		}
	}
	c.option("results", old.Results, now.Results, now.KeySpan)
	c.option("reads", old.Reads, now.Reads, now.KeySpan)
	c.option("snapshot", strconv.FormatBool(old.Snapshot), strconv.FormatBool(now.Snapshot), now.KeySpan)
}

func (c *comparison) option(name, old, now string, span text.Span) {
	if old != now {
		c.add(Changed, OptionChanged, name, span, "has {} {}; at {} it was {}.", name, now, c.revision, old)
	}
}

func (c *comparison) workloads(old, now policy.Library) {
	before := map[string]policy.Workload{}
	for _, w := range old.Workloads {
		before[w.Name] = w
	}
	for _, w := range now.Workloads {
		q, was := before[w.Name]
		if !was {
			c.add(Changed, WorkloadAdded, w.Name, w.KeySpan, "has a new workload {}, the file {}, which runs with its permissions.", w.Name, w.Entry)
			continue
		}
		delete(before, w.Name)
		if q.Entry != w.Entry {
			c.add(Changed, WorkloadChanged, w.Name, w.EntrySpan, "runs the file {} as workload {}; at {} it was {}.", w.Entry, w.Name, c.revision, q.Entry)
		}
		added, removed := exports(q, w), exports(w, q)
		if len(added) > 0 {
			c.add(Changed, WorkloadChanged, w.Name, w.ExportsSpan, "offers more functions of workload {}: "+places(len(added))+".", append([]string{w.Name}, added...)...)
		}
		if len(removed) > 0 {
			c.add(Changed, WorkloadChanged, w.Name, w.ExportsSpan, "offers fewer functions of workload {}, without "+places(len(removed))+".", append([]string{w.Name}, removed...)...)
		}
	}
	for _, w := range old.Workloads {
		if _, gone := before[w.Name]; gone {
			c.add(Changed, WorkloadRemoved, w.Name, now.KeySpan, "has no workload {} any more.", w.Name)
		}
	}
}

// exports returns the functions that one workload offers and the other does not.
func exports(without, with policy.Workload) []string {
	var names []string
	for _, e := range with.Exports {
		if !slices.ContainsFunc(without.Exports, func(o policy.Name) bool { return o.Text == e.Text }) {
			names = append(names, e.Text)
		}
	}
	return names
}
