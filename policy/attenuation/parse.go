package attenuation

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Kind says what is wrong with a rule.
type Kind int

// The kinds of problems.
const (
	// Malformed rules match nothing.
	Malformed Kind = iota + 1
	// NotNarrowable is a global on which rules have no effect.
	NotNarrowable
	// AnyHost and AnyKey are rules that leave everything open.
	AnyHost
	AnyKey
	// PublicSuffix is a wildcard over a domain under which strangers register names.
	PublicSuffix
	// Unencrypted is a scheme whose traffic anybody on the way can read and change.
	Unencrypted
	// NoPath is a rule that ends behind the host, and so allows every path.
	NoPath
	// OpenPrefix is a prefix that ends inside a word, and so allows longer words.
	OpenPrefix
	// Subdomains is a wildcard that allows every subdomain there is or will be.
	Subdomains
	// Duplicate and Shadowed rules add nothing to an earlier or a broader one.
	Duplicate
	Shadowed
	// LeadsOn is a member that hands out much more than its name says.
	LeadsOn
	// Empty is a list without rules, which allows nothing.
	Empty
)

// String returns a stable name, such as "any-host", for tools.
func (k Kind) String() string {
	return [...]string{"", "malformed", "not-narrowable", "any-host", "any-key", "public-suffix", "unencrypted", "no-path", "open-prefix", "subdomains", "duplicate", "shadowed", "leads-on", "empty"}[k]
}

// Problem is one thing that is wrong with a rule.
type Problem struct {
	Kind Kind
	// Start and End are the bytes of the pattern that it is about.
	Start, End int
	// Message says what the rule does and why that matters, in plain sentences.
	Message string
	// Suggestion is a pattern that says what was probably meant, or "".
	Suggestion string
}

// Parse reads one rule of a global. A rule with a Malformed or NotNarrowable problem
// is the zero Rule.
func Parse(global, pattern string) (Rule, []Problem) {
	switch SubjectOf(global) {
	case Addresses:
		p := parser{global: global, pattern: pattern}
		p.address()
		return p.result()
	case Keys:
		p := parser{global: global, pattern: pattern}
		p.key()
		return p.result()
	case Members:
		p := parser{global: global, pattern: pattern}
		p.member()
		return p.result()
	}
	return Rule{}, []Problem{{Kind: NotNarrowable, End: len(pattern), Message: cannotNarrow(global)}}
}

func cannotNarrow(global string) string {
	why := "Rules exist for " + strings.Join(Globals(), ", ") + "."
	if global == "XMLHttpRequest" || global == "EventSource" {
		why = "It follows redirects to other servers unseen; grant fetch with the same rules instead."
	}
	return fmt.Sprintf("%s cannot be narrowed by `allow`. %s", global, why)
}

// ParseAll reads the list of a global's rules. The problems of a rule stand at its
// index; those of the list as a whole come in the last element, behind the rules.
func ParseAll(global string, patterns []string) ([]Rule, [][]Problem) {
	rules, problems := make([]Rule, len(patterns)), make([][]Problem, len(patterns)+1)
	if SubjectOf(global) == Nothing {
		problems[len(patterns)] = []Problem{{Kind: NotNarrowable, Message: cannotNarrow(global)}}
		return rules, problems
	}
	for i, pattern := range patterns {
		rules[i], problems[i] = Parse(global, pattern)
	}
	for i := range rules {
		if p, ok := superfluous(rules, patterns, i); ok {
			problems[i] = append(problems[i], p)
		}
	}
	if len(patterns) == 0 {
		problems[0] = []Problem{{Kind: Empty, Message: fmt.Sprintf("An empty `allow` grants nothing: %s is there, and every use of it fails. List what is needed, or remove the permission.", global)}}
	}
	return rules, problems
}

// superfluous finds another rule that makes one rule unnecessary. Of two that say
// the same, the later one is.
func superfluous(rules []Rule, patterns []string, i int) (Problem, bool) {
	for j, other := range rules {
		if j == i || !other.Covers(rules[i]) {
			continue
		}
		same := rules[i].Covers(other)
		if same && j > i {
			continue
		}
		p := Problem{Kind: Shadowed, End: len(patterns[i]), Message: fmt.Sprintf("%q adds nothing: %q allows all of it already. Remove one of the two: this one if the broad rule is meant, the broad one if not.", patterns[i], patterns[j])}
		if same {
			p.Kind, p.Message = Duplicate, fmt.Sprintf("%q says the same as %q. Remove one of the two.", patterns[i], patterns[j])
		}
		return p, true
	}
	return Problem{}, false
}

type parser struct {
	global, pattern string
	rule            Rule
	problems        []Problem
}

func (p *parser) add(kind Kind, start, end int, suggestion, format string, args ...any) {
	p.problems = append(p.problems, Problem{Kind: kind, Start: start, End: end, Message: fmt.Sprintf(format, args...), Suggestion: suggestion})
}

func (p *parser) result() (Rule, []Problem) {
	for _, problem := range p.problems {
		if problem.Kind == Malformed {
			return Rule{}, p.problems
		}
	}
	return p.rule, p.problems
}

// key reads a storage key or a prefix of keys.
func (p *parser) key() {
	all := p.pattern
	text, prefix := strings.CutSuffix(all, "*")
	switch {
	case all == "":
		p.add(Malformed, 0, 0, "", "A rule is empty. Name a key, or the beginning of keys with a * behind it, such as \"mylib:*\".")
		return
	case text == "":
		p.add(AnyKey, 0, 1, "mylib:*", "\"*\" allows every key, those of all other code included, so it narrows nothing. Name the beginning of the library's own keys, such as \"mylib:*\".")
	case strings.Contains(text, "*"):
		i := strings.Index(text, "*")
		p.add(Malformed, i, i+1, text[:i]+"*", "A * may only stand at the end of a key; in %q it stands inside, and the rule matches nothing.", all)
		return
	case prefix && wordEnd(text):
		p.add(OpenPrefix, len(text), len(text)+1, text+":*", "%q also allows keys of others that only begin the same, such as %q. End the prefix with a separator.", all, text+"2-token")
	}
	p.rule.Text, p.rule.Prefix = text, prefix
}

// ofEveryObject are members that say nothing of the object that they are found on.
var ofEveryObject = []string{
	"__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__", "__proto__", "constructor",
	"hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf",
}

// leadOn are the members that hand out much more than their names say.
var leadOn = map[string]string{
	"location.assign":          "the page itself, which a javascript: address runs code in, outside of the sandbox",
	"location.replace":         "the page itself, which a javascript: address runs code in, outside of the sandbox",
	"navigator.clipboard":      "what the user copied in other programs",
	"navigator.credentials":    "the passwords and keys of the user",
	"navigator.sendBeacon":     "a way to send whatever the library sees to any address",
	"navigator.serviceWorker":  "scripts that outlast the page and see all of its requests",
	"process.binding":          "the internals of Node",
	"process.dlopen":           "native code",
	"process.env":              "every variable of the environment, secrets among them",
	"process.getBuiltinModule": "every module of Node",
	"process.mainModule":       "the application's own modules, and all that it can require",
}

// member reads the name of a member.
func (p *parser) member() {
	name := p.pattern
	bare := name
	if at := strings.LastIndex(name, "."); at >= 0 {
		bare = name[at+1:]
	}
	switch {
	case name == "":
		p.add(Malformed, 0, 0, "", "A rule is empty. Name a member of %s.", p.global)
	case bare != name && identifier(bare):
		p.add(Malformed, 0, len(name), bare, "A rule is the name of one member, without the object in front of it: %q.", bare)
	case !identifier(name):
		p.add(Malformed, 0, len(name), "", "%q is no name of a member, so it gives the library nothing. Name each member that it needs.", name)
	case slices.Contains(ofEveryObject, name):
		p.add(Malformed, 0, len(name), "", "Every object has %q, so that it is no member to grant.", name)
	}
	if what := leadOn[p.global+"."+name]; what != "" {
		p.add(LeadsOn, 0, len(name), "", "%s.%s hands out %s. Pass the library the values that it needs instead.", p.global, name, what)
	}
	p.rule.Member = name
}

// identifier reports whether a text can stand behind a dot.
func identifier(text string) bool {
	for i, c := range text {
		letter := c == '_' || c == '$' || c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return text != ""
}

// wordEnd reports whether a text ends inside a word, so that a longer word begins
// with it.
func wordEnd(text string) bool {
	c := text[len(text)-1]
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

// address reads a URL pattern. It stops at the first part that it cannot read.
func (p *parser) address() {
	all := p.pattern
	if !p.characters() {
		return
	}
	secure := schemesOf(p.global)[0]
	i := strings.Index(all, "://")
	if i < 0 {
		suggestion := ""
		if bare := strings.TrimPrefix(all, "//"); strings.Contains(bare, ".") && !strings.HasPrefix(bare, "*") && !strings.HasPrefix(bare, "/") {
			suggestion = p.repaired(secure + "://" + bare)
		}
		if all == "*" {
			p.add(Malformed, 0, 1, "", "\"*\" is no address. To allow every address, grant %s by its name without `allow`; to narrow it, name a server, such as \"%s://api.example.com/*\".", p.global, secure)
			return
		}
		p.add(Malformed, 0, len(all), suggestion, "%q has no scheme, and the rule matches nothing. Write a whole address, such as \"%s://api.example.com/*\".", all, secure)
		return
	}
	if !p.scheme(all[:i], i) {
		return
	}
	rest := all[i+len("://"):]
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	start := i + len("://")
	if !p.authority(rest[:end], start) {
		return
	}
	if p.path(rest[end:], start+end) && p.rule.Scheme != secure && !loopback(p.rule.Host) {
		p.add(Unencrypted, 0, i, secure+all[i:], "%s is not encrypted: whoever stands between the user and the server reads and changes what the library exchanges with it. Use %s.", p.rule.Scheme, secure)
	}
}

// characters reports what no address has in any of its parts.
func (p *parser) characters() bool {
	all := p.pattern
	switch {
	case all == "":
		p.add(Malformed, 0, 0, "", "A rule is empty. Write an address, such as \"%s://api.example.com/*\".", schemesOf(p.global)[0])
	case strings.TrimSpace(all) != all && len(strings.Fields(all)) == 1:
		p.add(Malformed, 0, len(all), p.repaired(strings.TrimSpace(all)), "There are spaces around %q, and the rule matches nothing. Remove them.", strings.TrimSpace(all))
	case strings.ContainsFunc(all, func(r rune) bool { return r <= ' ' || r == 0x7f || r == 0xa0 }):
		i := strings.IndexFunc(all, func(r rune) bool { return r <= ' ' || r == 0x7f || r == 0xa0 })
		p.add(Malformed, i, i+1, "", "An address has no spaces and no control characters. Two addresses are two rules; a space in a path is written %%20.")
	case strings.Contains(all, `\`):
		i := strings.Index(all, `\`)
		p.add(Malformed, i, i+1, p.repaired(strings.ReplaceAll(all, `\`, "/")), "Browsers read a backslash in an address as a slash, so that it is easily another server than it looks. Write slashes.")
	default:
		return true
	}
	return false
}

// repaired returns a suggestion if it is a rule without faults of form, else "".
func (p *parser) repaired(pattern string) string {
	if pattern == p.pattern {
		return ""
	}
	if rule, _ := Parse(p.global, pattern); rule.Subject() == Nothing {
		return ""
	}
	return pattern
}

func (p *parser) scheme(scheme string, end int) bool {
	schemes := schemesOf(p.global)
	if scheme == schemes[0] || scheme == schemes[1] {
		p.rule.Scheme = scheme
		return true
	}
	rest := p.pattern[end:]
	lower := strings.ToLower(scheme)
	switch {
	case strings.Contains(scheme, "*"):
		p.add(Malformed, 0, end, p.repaired(schemes[0]+rest), "A scheme cannot be a wildcard, and the rule matches nothing. Write %s; a rule for an unencrypted server has to say so.", schemes[0])
	case lower == schemes[0] || lower == schemes[1]:
		p.add(Malformed, 0, end, p.repaired(lower+rest), "Addresses have their scheme in lower case, so %q matches nothing. Write %s.", scheme, lower)
	case ports[lower] != 0:
		p.add(Malformed, 0, end, p.repaired(schemes[0]+rest), "The addresses of %s begin with %s, so %q matches nothing.", p.global, schemes[0], scheme)
	default:
		p.add(Malformed, 0, end, "", "%s has no addresses that begin with %q, and the rule matches nothing. Write %s.", p.global, scheme+":", schemes[0])
	}
	return false
}

// authority reads host and port, which start at an offset of the pattern.
func (p *parser) authority(text string, start int) bool {
	end := start + len(text)
	before, after := p.pattern[:start], p.pattern[end:]
	if i := strings.LastIndex(text, "@"); i >= 0 {
		p.add(Malformed, start, start+i+1, p.repaired(before+text[i+1:]+after), "Everything before the @ is a user name: the server is %q. A rule has no credentials, and addresses with them are refused.", text[i+1:])
		return false
	}
	host, port := text, ""
	if i := strings.LastIndex(text, ":"); i >= 0 && !strings.HasSuffix(text, "]") {
		host, port = text[:i], text[i:]
		n, err := strconv.ParseUint(port[1:], 10, 16)
		switch {
		case port == ":*":
			p.add(Malformed, start+i, end, p.repaired(before+host+after), "A port cannot be a wildcard. Without a port the rule means %d, the scheme's own.", ports[p.rule.Scheme])
			return false
		case err != nil || n == 0 || port[1] == '+':
			p.add(Malformed, start+i, end, p.repaired(before+host+after), "%q is no port; ports are whole numbers from 1 to 65535.", port[1:])
			return false
		}
		p.rule.Port = int(n)
	} else {
		p.rule.Port = ports[p.rule.Scheme]
	}
	return p.host(host, start, before, port+after)
}

// host reads the host, whose text starts at an offset of the pattern; before and
// after are what stands around it.
func (p *parser) host(host string, start int, before, after string) bool {
	end := start + len(host)
	base, wild := strings.CutPrefix(host, "*.")
	switch {
	case host == "":
		p.add(Malformed, start, end, "", "The rule names no server.")
		return false
	case host == "*":
		p.add(AnyHost, start, end, "", "%q allows every server there is, so whatever the library sees can be sent to anybody. Name the servers that it needs.", p.pattern)
		return true
	case strings.Contains(base, "*"):
		return p.wildcard(host, start, before, after)
	case strings.HasPrefix(host, "["):
		return p.ipv6(host, start)
	}
	if !p.name(base, end-len(base), before+host[:len(host)-len(base)], after) {
		return false
	}
	p.rule.Host, p.rule.Subdomains = base, wild
	switch {
	case !wild:
	case numeric(base):
		p.add(Malformed, start, start+2, p.repaired(before+base+after), "An IP address has no subdomains.")
		return false
	case open(base):
		p.add(PublicSuffix, start, end, "", "Anybody can have a name under %s, so %q allows servers of strangers. Name the servers that the library needs.", base, p.pattern)
	default:
		p.add(Subdomains, start, start+2, "", "%q allows every subdomain of %s at any depth, those with content of users and those that somebody takes over later included; %s itself is not one of them. Name the subdomains if they are few.", p.pattern, base, base)
	}
	return true
}

// wildcard reports a * inside a host.
func (p *parser) wildcard(host string, start int, before, after string) bool {
	i := strings.LastIndex(host, "*")
	suggestion := ""
	if rest := host[i+1:]; strings.HasPrefix(rest, ".") {
		suggestion = p.repaired(before + "*" + rest + after)
	} else if trimmed := strings.TrimRight(host, "*."); rest == "" && trimmed == host[:i] && !strings.Contains(trimmed, "*") {
		suggestion = p.repaired(before + trimmed + "/*")
		p.add(Malformed, start+i, start+i+1, suggestion, "Read as a beginning, %q would also allow %q, the server of somebody else. The rule matches nothing; end the host with a slash.", host, strings.TrimSuffix(host, "*")+".evil.example")
		return false
	}
	p.add(Malformed, start+i, start+i+1, suggestion, "In a host, a * may only stand for all subdomains, at the beginning and before a dot, as in \"*.example.com\"; the rule matches nothing.")
	return false
}

func (p *parser) ipv6(host string, start int) bool {
	text, closed := strings.CutSuffix(host[1:], "]")
	addr, err := netip.ParseAddr(text)
	if !closed || err != nil || !addr.Is6() || addr.Zone() != "" {
		p.add(Malformed, start, start+len(host), "", "%q is no IPv6 address.", host)
		return false
	}
	canonical := "[" + addr.String() + "]"
	if addr.Is4In6() { // browsers write these without dots
		b := addr.As16()
		canonical = fmt.Sprintf("[::ffff:%x:%x]", int(b[12])<<8|int(b[13]), int(b[14])<<8|int(b[15]))
	}
	p.rule.Host = canonical
	return true
}

// name checks a host name or an IPv4 address, which has to be written as addresses
// have it.
func (p *parser) name(host string, start int, before, after string) bool {
	end := start + len(host)
	lower := strings.ToLower(host)
	switch {
	case strings.ContainsFunc(host, func(r rune) bool { return r >= 0x80 }):
		p.add(Malformed, start, end, "", "Addresses have %q in its xn-- form, so this rule matches nothing; letters of other scripts also look like others. Write what `new URL(…).hostname` gives.", host)
	case lower != host && hostName(lower):
		p.add(Malformed, start, end, p.repaired(before+lower+after), "Addresses have their host in lower case, so %q matches nothing. Write %q.", host, lower)
	case !hostName(host):
		p.add(Malformed, start, end, p.repaired(before+strings.Trim(host, ".")+after), "%q is no host name, and the rule matches nothing. Host names are letters, digits and hyphens, with single dots between.", host)
	case numeric(host):
		// Browsers write short forms of IPv4 addresses out.
		if addr, err := netip.ParseAddr(host); err == nil && addr.String() == host {
			return true
		}
		p.add(Malformed, start, end, "", "Browsers read %q as an IPv4 address and write it with four numbers, so the rule matches nothing. Write all four.", host)
	default:
		return true
	}
	return false
}

// path reads what stands behind the host, from an offset of the pattern. It reports
// whether that was readable.
func (p *parser) path(text string, start int) bool {
	before := p.pattern[:start]
	if i := strings.IndexAny(text, "?#"); i >= 0 {
		what, why := "query", "Queries are not compared: whoever may ask a path may ask it anything."
		if text[i] == '#' {
			what, why = "fragment", "Fragments are never sent to a server."
		}
		kept := text[:i]
		if kept == "" {
			kept = "/"
		}
		p.add(Malformed, start+i, start+len(text), p.repaired(before+kept), "A rule has no %s. %s Remove it.", what, why)
		return false
	}
	if text == "" {
		p.rule.Text, p.rule.Prefix = "/", true
		if p.rule.Host == "" {
			return true // no path matters where any server will do
		}
		p.add(NoPath, start, start, before+"/*", "%q ends behind the host, and so allows every path of the server. Write %q if that is meant, and the path that the library needs if not.", p.pattern, before+"/*")
		return true
	}
	path, prefix := strings.CutSuffix(text, "*")
	if i := strings.Index(path, "*"); i >= 0 {
		p.add(Malformed, start+i, start+i+1, p.repaired(before+path[:i]+"*"), "In a path, a * may only stand at the end; the rule matches nothing.")
		return false
	}
	if climbs(path) {
		p.add(Malformed, start, start+len(text), "", "The path goes up with a segment of dots. Browsers resolve those before they ask, so the rule matches nothing. Write the path that is meant.")
		return false
	}
	if encoded := encode(path); encoded != path {
		p.add(Malformed, start, start+len(text), p.repaired(before+encoded+text[len(path):]), "Addresses have %q as %q, so the rule matches nothing. Write the encoded form.", path, encoded)
		return false
	}
	p.rule.Text, p.rule.Prefix = path, prefix
	if prefix && wordEnd(path) {
		p.add(OpenPrefix, start+len(path), start+len(text), before+path+"/*", "%q also allows longer words that begin the same, such as %q. Put a slash before the *.", text, path+"-admin")
	}
	return true
}

// encode percent-encodes what a URL parser encodes in a path.
func encode(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if c := path[i]; c >= 0x7f || strings.IndexByte("\"<>^`{}", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
