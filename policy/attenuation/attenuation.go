// Package attenuation reads the rules that narrow a permission:
//
//	{ name: "fetch", allow: ["https://api.example.com/v1/*"] }
//	{ name: "localStorage", allow: ["mylib:*", "theme"] }
//
// # Addresses
//
// A rule for fetch and WebSocket is `scheme://host[:port]/path`. It is
// compared part by part with the address as the host's URL parser writes it out
// (URL.href), never as one text, so that no rule for one server can match another.
//
//   - The scheme has to be the same. Other than in a content security policy, http
//     does not stand for https as well. WebSocket compares ws and wss.
//   - The host has to be the same, or, behind a leading `*.`, a subdomain at any
//     depth. As in a content security policy, and other than in the match patterns of
//     browser extensions, `*.example.com` does not match example.com itself. A host of
//     `*` is every server.
//   - The port has to be the same. A rule without one means the scheme's own port,
//     not any.
//   - The path has to be the same, bytes and case, unless the rule ends in `*`: then
//     the path has to begin with what stands before it. `/v1/*` matches /v1/ and all
//     below, not /v1. A rule without any path stands for `/*`.
//   - The query is not compared, as in URLPattern when a pattern has none: whoever
//     may ask a path may ask it anything. Fragments are never sent and so have no
//     place in a rule.
//
// An address with a user name, with a dot segment that a server might resolve once
// more (`..%2f`, `%252e%252e/`, `..;/`), or that is not in its written-out form matches nothing.
//
// A redirect is a new address: whoever enforces a rule has to compare that one too,
// or refuse it. XMLHttpRequest and EventSource follow redirects on their own and cannot
// be told not to, which is why they cannot be narrowed.
//
// # Keys
//
// A rule for localStorage and sessionStorage is a key, or the beginning of keys with
// a `*` behind it. Enumeration shows the keys that match and no others.
//
// # Members
//
// A rule for history, location, navigator, performance, process and screen is the name
// of a member, such as "language". The library gets an object that has those members
// and leads nowhere else; what a member itself holds, it gets whole. Members are read:
// an assignment changes nothing.
package attenuation

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Subject is what the rules of a global are about.
type Subject int

// The subjects. Nothing is narrowed by rules about Nothing.
const (
	Nothing Subject = iota
	Addresses
	Keys
	Members
)

var subjects = map[string]Subject{
	"fetch": Addresses, "WebSocket": Addresses,
	"localStorage": Keys, "sessionStorage": Keys,
	"history": Members, "location": Members, "navigator": Members,
	"performance": Members, "process": Members, "screen": Members,
}

// SubjectOf says what the rules of a global are about; Nothing for one that cannot
// be narrowed.
func SubjectOf(global string) Subject { return subjects[global] }

// Globals returns the globals that can be narrowed, sorted.
func Globals() []string { return slices.Sorted(maps.Keys(subjects)) }

// Rule is one parsed rule, in the form that a runtime enforces. The zero Rule matches
// nothing.
type Rule struct {
	// Scheme is the scheme of an address rule, "" for a rule about keys.
	Scheme string `json:"scheme,omitempty"`
	// Host is in the form that addresses have it: lower case, punycode, IPv6 in
	// brackets. "" stands for every host.
	Host string `json:"host,omitempty"`
	// Subdomains says that the hosts below Host match, instead of Host.
	Subdomains bool `json:"subdomains,omitempty"`
	// Port is the scheme's own port where the rule has none.
	Port int `json:"port,omitempty"`
	// Text is the path, percent-encoded, or the key.
	Text string `json:"text,omitempty"`
	// Prefix says that Text is a beginning.
	Prefix bool `json:"prefix,omitempty"`
	// Member is the name of a member.
	Member string `json:"member,omitempty"`
}

// Subject says what the rule is about; Nothing for the zero Rule.
func (r Rule) Subject() Subject {
	switch {
	case r.Scheme != "":
		return Addresses
	case r.Member != "":
		return Members
	case r.Text != "" || r.Prefix:
		return Keys
	}
	return Nothing
}

// ports are the schemes that rules can have, with their own ports.
var ports = map[string]int{"https": 443, "http": 80, "wss": 443, "ws": 80}

// schemesOf returns the schemes of a global's addresses, the encrypted one first.
func schemesOf(global string) []string {
	if global == "WebSocket" {
		return []string{"wss", "ws"}
	}
	return []string{"https", "http"}
}

// Match reports whether the rule allows an address, a key, or a member.
func (r Rule) Match(value string) bool {
	switch r.Subject() {
	case Keys:
		return r.matchText(value)
	case Members:
		return value == r.Member
	case Addresses:
		a, ok := parseAddress(value)
		if r.Scheme == "wss" || r.Scheme == "ws" {
			a.scheme = strings.Replace(a.scheme, "http", "ws", 1) // as WebSocket itself reads it
		}
		return ok && a.scheme == r.Scheme && a.port == r.port() && r.matchHost(a.host) && r.matchText(a.path)
	}
	return false
}

func (r Rule) port() int {
	if r.Port != 0 {
		return r.Port
	}
	return ports[r.Scheme]
}

func (r Rule) matchText(text string) bool {
	if r.Prefix {
		return strings.HasPrefix(text, r.Text)
	}
	return text == r.Text
}

func (r Rule) matchHost(host string) bool {
	switch {
	case r.Host == "":
		return true
	case r.Subdomains:
		below, ok := strings.CutSuffix(host, "."+r.Host)
		return ok && below != ""
	}
	return host == r.Host
}

// Covers reports whether everything that another rule allows is allowed by this one.
func (r Rule) Covers(other Rule) bool {
	if r.Subject() == Nothing || r.Subject() != other.Subject() {
		return false
	}
	if r.Subject() == Members {
		return r.Member == other.Member
	}
	text := r.Text == other.Text && r.Prefix == other.Prefix || r.Prefix && strings.HasPrefix(other.Text, r.Text)
	if r.Subject() == Keys {
		return text
	}
	if !text || r.Scheme != other.Scheme || r.port() != other.port() {
		return false
	}
	switch {
	case r.Host == "":
		return true
	case other.Host == "":
		return false
	case r.Subdomains && other.Subdomains:
		return r.Host == other.Host || strings.HasSuffix(other.Host, "."+r.Host)
	case other.Subdomains:
		return false
	}
	return r.matchHost(other.Host)
}

// String writes a rule as a pattern.
func (r Rule) String() string {
	var b strings.Builder
	b.WriteString(r.Member)
	if r.Subject() == Addresses {
		b.WriteString(r.Scheme + "://")
		switch {
		case r.Host == "":
			b.WriteString("*")
		case r.Subdomains:
			b.WriteString("*.")
		}
		b.WriteString(r.Host)
		if r.port() != ports[r.Scheme] {
			b.WriteString(":" + strconv.Itoa(r.port()))
		}
	}
	b.WriteString(r.Text)
	if r.Prefix {
		b.WriteString("*")
	}
	return b.String()
}

// Describe says what a rule allows, in words that follow "allows".
func (r Rule) Describe() string {
	switch r.Subject() {
	case Keys:
		if r.Prefix {
			return fmt.Sprintf("every key that begins with %q", r.Text)
		}
		return fmt.Sprintf("the key %q", r.Text)
	case Members:
		return fmt.Sprintf("the member %q, and all that it holds", r.Member)
	case Nothing:
		return "nothing"
	}
	host := r.Host
	switch {
	case r.Host == "":
		host = "every server"
	case r.Subdomains:
		host = "every subdomain of " + r.Host
	}
	what := fmt.Sprintf("%s, path %s, any query", host, r.Text)
	switch {
	case r.Prefix && r.Text == "/":
		what = host + ", any path and query"
	case r.Prefix:
		what = fmt.Sprintf("%s, paths that begin with %s, any query", host, r.Text)
	}
	return fmt.Sprintf("%s, over %s on port %d", what, r.Scheme, r.port())
}

type address struct {
	scheme, host, path string
	port               int
}

// parseAddress takes an address apart. It accepts only what a URL parser could have
// written out, so that a difference between two parsers cannot be used: no bytes
// outside of printable ASCII, no backslash, no credentials, no dot segments.
func parseAddress(value string) (address, bool) {
	for i := 0; i < len(value); i++ {
		if value[i] <= ' ' || value[i] > '~' || value[i] == '\\' {
			return address{}, false
		}
	}
	u, err := url.Parse(value)
	if err != nil || u.User != nil || u.Opaque != "" || u.Host == "" || strings.Contains(u.Host, "@") {
		return address{}, false
	}
	a := address{scheme: u.Scheme, host: strings.ToLower(u.Hostname()), path: rawPath(value)}
	own, known := ports[a.scheme]
	if !known || a.host == "" || strings.ContainsAny(a.host, "%*") {
		return address{}, false
	}
	if strings.Contains(a.host, ":") {
		a.host = "[" + a.host + "]"
	}
	a.port = own
	if text := u.Port(); text != "" {
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return address{}, false
		}
		a.port = int(n)
	}
	return a, !climbs(a.path)
}

// rawPath returns the path of an address as it is written there: net/url encodes
// more than browsers do.
func rawPath(value string) string {
	_, rest, _ := strings.Cut(value, "://")
	rest, _, _ = strings.Cut(rest, "#")
	rest, _, _ = strings.Cut(rest, "?")
	if i := strings.Index(rest, "/"); i >= 0 {
		return rest[i:]
	}
	return "/"
}

// maxEscapes is how often over a path may be escaped.
const maxEscapes = 4

// escaped is a character of ASCII that is written as an escape.
var escaped = regexp.MustCompile(`%[0-7][0-9A-Fa-f]`)

func unescape(text string) string {
	n, _ := strconv.ParseUint(text[1:], 16, 8)
	return string(rune(n))
}

// climbs reports whether a path has a segment of one or two dots, written in any way
// that a server might still resolve: servers and the proxies before them undo escapes
// more than once, and some put what stands behind a semicolon aside.
func climbs(path string) bool {
	for n := 0; escaped.MatchString(path); n++ {
		if n == maxEscapes {
			return true
		}
		path = escaped.ReplaceAllStringFunc(path, unescape)
	}
	for segment := range strings.SplitSeq(strings.ReplaceAll(path, `\`, "/"), "/") {
		name, _, _ := strings.Cut(segment, ";")
		if name == "." || name == ".." {
			return true
		}
	}
	return false
}
