package attenuation

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMatch_comparesPartByPart(t *testing.T) {
	// The runtime, which enforces rules in JavaScript, is held to the same table.
	table, err := os.ReadFile(filepath.Join("testdata", "match.json"))
	if err != nil {
		t.Fatal(err)
	}
	var tests map[string]struct {
		Global, Pattern string
		Yes, No         []string
	}
	if err := json.Unmarshal(table, &tests); err != nil {
		t.Fatal(err)
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			rule, _ := Parse(tt.Global, tt.Pattern)
			var copied Rule // a runtime gets rules as JSON
			raw, err := json.Marshal(rule)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(raw, &copied); err != nil {
				t.Fatal(err)
			}
			for _, r := range []Rule{rule, copied} {
				for _, value := range tt.Yes {
					if !r.Match(value) {
						t.Errorf("%q does not match %q", tt.Pattern, value)
					}
				}
				for _, value := range tt.No {
					if r.Match(value) {
						t.Errorf("%q matches %q", tt.Pattern, value)
					}
				}
			}
		})
	}
}

// marked returns a pattern with [] around what each problem is about, for one problem
// alone.
func marked(pattern string, p Problem) string {
	return pattern[:p.Start] + "[" + pattern[p.Start:p.End] + "]" + pattern[p.End:]
}

func TestParse_saysWhatIsWrongAndWhere(t *testing.T) {
	tests := []struct {
		global, marked string // the pattern, with the place of the problem in brackets
		kind           Kind   // 0 for a faultless rule
		suggestion     string
	}{
		{"fetch", "https://api.example.com/*", 0, ""},
		{"fetch", "https://api.example.com/v1/*", 0, ""},
		{"fetch", "https://api.example.com:8443/v1/users", 0, ""},
		{"fetch", "http://localhost:3000/*", 0, ""},
		{"fetch", "http://127.0.0.1/*", 0, ""},
		{"WebSocket", "wss://live.example.com/*", 0, ""},
		{"WebSocket", "ws://localhost/*", 0, ""},
		{"fetch", "https://xn--bcher-kva.example/*", 0, ""},

		{"fetch", "[]", Malformed, ""},
		{"fetch", "[*]", Malformed, ""},
		{"fetch", "[api.example.com/*]", Malformed, "https://api.example.com/*"},
		{"fetch", "[//api.example.com/*]", Malformed, "https://api.example.com/*"},
		{"WebSocket", "[live.example.com/*]", Malformed, "wss://live.example.com/*"},
		{"fetch", "[/v1/*]", Malformed, ""},
		{"fetch", "[ https://api.example.com/*]", Malformed, "https://api.example.com/*"},
		{"fetch", `https:[\]\api.example.com\*`, Malformed, "https://api.example.com/*"},
		{"fetch", "[HTTPS]://api.example.com/*", Malformed, "https://api.example.com/*"},
		{"fetch", "[*]://api.example.com/*", Malformed, "https://api.example.com/*"},
		{"fetch", "[wss]://api.example.com/*", Malformed, "https://api.example.com/*"},
		{"WebSocket", "[https]://live.example.com/*", Malformed, "wss://live.example.com/*"},
		{"fetch", "[file]:///etc/*", Malformed, ""},
		{"fetch", "https://[api.example.com@]evil.example/*", Malformed, "https://evil.example/*"},
		{"fetch", "https://[user:pass@]api.example.com/*", Malformed, "https://api.example.com/*"},
		{"fetch", "https://api.example.com[:99999]/*", Malformed, "https://api.example.com/*"},
		{"fetch", "https://api.example.com[:0]/*", Malformed, "https://api.example.com/*"},
		{"fetch", "https://api.example.com[:+80]/*", Malformed, "https://api.example.com/*"},
		{"fetch", "https://api.example.com[:*]/*", Malformed, "https://api.example.com/*"},
		{"fetch", "https://api.example.com[*]", Malformed, "https://api.example.com/*"},
		{"fetch", "https://api.example.[*]", Malformed, ""},
		{"fetch", "https://api.[*].example.com/*", Malformed, "https://*.example.com/*"},
		{"fetch", "https://[*]example.com/*", Malformed, ""},
		{"fetch", "https://*.[*].example.com/*", Malformed, "https://*.example.com/*"},
		{"fetch", "https://[API.example.com]/*", Malformed, "https://api.example.com/*"},
		{"fetch", "https://[bücher.example]/*", Malformed, ""},
		{"fetch", "https://[xn--bücher.example]/*", Malformed, ""},
		{"fetch", "https://[example..com]/*", Malformed, ""},
		{"fetch", "https://[example.com.]/*", Malformed, "https://example.com/*"},
		{"fetch", "https://[127.1]/*", Malformed, ""},
		{"fetch", "https://[0x7f000001]/*", Malformed, ""},
		{"fetch", "https://[2130706433]/*", Malformed, ""},
		{"fetch", "https://[*.]127.0.0.1/*", Malformed, "https://127.0.0.1/*"},
		{"fetch", "https://[[::g]]/*", Malformed, ""},
		{"fetch", "https://[]/x", Malformed, ""},
		{"fetch", "https://api.example.com/x[?y=1]", Malformed, "https://api.example.com/x"},
		{"fetch", "https://api.example.com/x[#y]", Malformed, "https://api.example.com/x"},
		{"fetch", "https://api.example.com[/v1/../*]", Malformed, ""},
		{"fetch", "https://api.example.com[/..]", Malformed, ""},
		{"fetch", "https://api.example.com[/v1/%2E%2e/*]", Malformed, ""},
		{"fetch", "https://api.example.com/[*]/users", Malformed, "https://api.example.com/*"},
		{"fetch", "https://api.example.com[/ü/*]", Malformed, "https://api.example.com/%C3%BC/*"},

		{"fetch", "https://[*]/*", AnyHost, ""},
		{"fetch", "https://[*]", AnyHost, ""},
		{"fetch", "https://[*.com]/*", PublicSuffix, ""},
		{"fetch", "https://[*.co.uk]/*", PublicSuffix, ""},
		{"fetch", "https://[*.github.io]/*", PublicSuffix, ""},
		{"fetch", "https://[*.]example.com/*", Subdomains, ""},
		{"fetch", "[http]://api.example.com/*", Unencrypted, "https://api.example.com/*"},
		{"WebSocket", "[ws]://live.example.com/*", Unencrypted, "wss://live.example.com/*"},
		{"fetch", "https://api.example.com[]", NoPath, "https://api.example.com/*"},
		{"fetch", "https://api.example.com/v1[*]", OpenPrefix, "https://api.example.com/v1/*"},

		{"localStorage", "mylib:*", 0, ""},
		{"localStorage", "theme", 0, ""},
		{"localStorage", "[]", Malformed, ""},
		{"localStorage", "my[*]lib", Malformed, "my*"},
		{"localStorage", "[*]", AnyKey, "mylib:*"},
		{"sessionStorage", "mylib[*]", OpenPrefix, "mylib:*"},

		{"navigator", "language", 0, ""},
		{"performance", "now", 0, ""},
		{"navigator", "[]", Malformed, ""},
		{"navigator", "[lang*]", Malformed, ""},
		{"navigator", "[1st]", Malformed, ""},
		{"navigator", "[navigator.language]", Malformed, "language"},
		{"navigator", "[constructor]", Malformed, ""},
		{"process", "[getBuiltinModule]", LeadsOn, ""},
		{"process", "[env]", LeadsOn, ""},

		{"console", "[log]", NotNarrowable, ""},
		{"XMLHttpRequest", "[https://api.example.com/*]", NotNarrowable, ""},
	}
	for _, tt := range tests {
		pattern := tt.marked
		if tt.kind != 0 {
			before, rest, _ := strings.Cut(tt.marked, "[")
			i := strings.LastIndex(rest, "]")
			pattern = before + rest[:i] + rest[i+1:]
		}
		t.Run(tt.global+" "+pattern, func(t *testing.T) {
			_, problems := Parse(tt.global, pattern)
			if tt.kind == 0 {
				if len(problems) > 0 {
					t.Errorf("problems with a good rule: %+v", problems)
				}
				return
			}
			if len(problems) != 1 {
				t.Fatalf("problems: %+v", problems)
			}
			p := problems[0]
			if p.Kind != tt.kind || marked(pattern, p) != tt.marked || p.Suggestion != tt.suggestion {
				t.Errorf("%s at %s, suggests %q; want %s at %s, %q\n%s", p.Kind, marked(pattern, p), p.Suggestion, tt.kind, tt.marked, tt.suggestion, p.Message)
			}
			if p.Message == "" || !strings.HasSuffix(p.Message, ".") {
				t.Errorf("message %q", p.Message)
			}
		})
	}
}

func TestParse_reportsSeveralProblemsOfOneRule(t *testing.T) {
	_, problems := Parse("fetch", "http://*.com")
	var kinds []string
	for _, p := range problems {
		kinds = append(kinds, p.Kind.String())
	}
	if diff := cmp.Diff([]string{"public-suffix", "no-path", "unencrypted"}, kinds); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
}

func TestParse_ofSeveralAddressesInOneRule(t *testing.T) {
	rule, problems := Parse("fetch", "https://a.example/*, https://b.example/*")
	if rule != (Rule{}) || len(problems) != 1 || problems[0].Kind != Malformed || !strings.Contains(problems[0].Message, "two rules") {
		t.Errorf("rule %+v, problems %+v", rule, problems)
	}
}

func TestParseAll_findsRulesThatAddNothing(t *testing.T) {
	tests := map[string]struct {
		global   string
		patterns []string
		want     []string // kind by pattern, then of the list
	}{
		"none superfluous":        {"fetch", []string{"https://a.example/x/*", "https://b.example/x/*"}, []string{"", "", ""}},
		"the same with its port":  {"fetch", []string{"https://a.example/*", "https://a.example:443/*"}, []string{"", "duplicate", ""}},
		"a broader one after":     {"fetch", []string{"https://a.example/x", "https://a.example/*"}, []string{"shadowed", "", ""}},
		"a broader one before":    {"fetch", []string{"https://a.example/*", "https://a.example/x/*"}, []string{"", "shadowed", ""}},
		"a subdomain":             {"fetch", []string{"https://*.a.example/*", "https://b.a.example/*"}, []string{"subdomains", "shadowed", ""}},
		"a malformed one":         {"fetch", []string{"https://a.example*", "https://a.example/*"}, []string{"malformed", "", ""}},
		"keys":                    {"localStorage", []string{"a:*", "a:b", "a:b:*", "a"}, []string{"", "shadowed", "shadowed", "", ""}},
		"an empty list":           {"fetch", nil, []string{"empty"}},
		"not to be narrowed":      {"console", []string{"log", "warn"}, []string{"", "", "not-narrowable"}},
		"not to be narrowed, too": {"console", nil, []string{"not-narrowable"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			rules, problems := ParseAll(tt.global, tt.patterns)
			var got []string
			for _, list := range problems {
				var kinds []string
				for _, p := range list {
					kinds = append(kinds, p.Kind.String())
				}
				got = append(got, strings.Join(kinds, " "))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || len(rules) != len(tt.patterns) {
				t.Errorf("kinds (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDescribe_saysWhatIsAllowed(t *testing.T) {
	tests := []struct{ global, pattern, want string }{
		{"fetch", "https://a.example/*", "a.example, any path and query, over https on port 443"},
		{"fetch", "https://a.example/v1/*", "a.example, paths that begin with /v1/, any query, over https on port 443"},
		{"fetch", "http://localhost:3000/me", "localhost, path /me, any query, over http on port 3000"},
		{"WebSocket", "wss://*.a.example/*", "every subdomain of a.example, any path and query, over wss on port 443"},
		{"fetch", "https://*/*", "every server, any path and query, over https on port 443"},
		{"fetch", "*", "nothing"},
		{"localStorage", "a:*", `every key that begins with "a:"`},
		{"localStorage", "a", `the key "a"`},
	}
	for _, tt := range tests {
		rule, _ := Parse(tt.global, tt.pattern)
		if got := rule.Describe(); got != tt.want {
			t.Errorf("%s allows %s, want %s", tt.pattern, got, tt.want)
		}
	}
}

func TestGlobals_areThoseWithASubject(t *testing.T) {
	var want []string
	for name := range subjects {
		want = append(want, name)
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, Globals()); diff != "" {
		t.Errorf("globals (-want +got):\n%s", diff)
	}
}

// FuzzMatch holds the promise that matters: a rule with a host of its own allows
// addresses of that origin and of no other, as another parser sees them.
func FuzzMatch(f *testing.F) {
	for _, pattern := range []string{"https://api.example.com/*", "https://api.example.com", "http://localhost:3000/a/*", "https://*.example.com/*", "https://[::1]:8443/*", "https://api.example.com@evil.example/*"} {
		for _, value := range []string{"https://api.example.com/x", "https://api.example.com.evil.example/", "https://a@api.example.com/", `https://api.example.com\@evil.example/`, "https://api.example.com:444/", "http://localhost:3000/a/../b", "https://a.example.com/", "https://[::1]:8443/"} {
			f.Add(pattern, value)
		}
	}
	f.Fuzz(func(t *testing.T, pattern, value string) {
		rule, problems := Parse("fetch", pattern)
		for _, p := range problems {
			if p.Start < 0 || p.End < p.Start || p.End > len(pattern) {
				t.Fatalf("%q: problem at %d-%d", pattern, p.Start, p.End)
			}
			if p.Suggestion != "" {
				if again, _ := Parse("fetch", p.Suggestion); again == (Rule{}) {
					t.Fatalf("%q: the suggestion %q is malformed", pattern, p.Suggestion)
				}
			}
		}
		if rule != (Rule{}) {
			if again, _ := Parse("fetch", rule.String()); again != rule {
				t.Fatalf("%q is written as %q, which is another rule: %+v, %+v", pattern, rule, rule, again)
			}
		}
		if rule.Host == "" || !rule.Match(value) {
			return
		}
		u, err := url.Parse(value)
		if err != nil {
			t.Fatalf("%q matches %q, which is no address", pattern, value)
		}
		host, port := strings.ToLower(u.Hostname()), u.Port()
		if port == "" {
			port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
		}
		wantHost := strings.Trim(rule.Host, "[]")
		if host != wantHost && !(rule.Subdomains && strings.HasSuffix(host, "."+wantHost)) || rule.Subdomains && host == wantHost {
			t.Errorf("%q matches %q of another host", pattern, value)
		}
		if u.Scheme != rule.Scheme || strings.TrimLeft(port, "0") != strings.TrimLeft(strconv.Itoa(rule.Port), "0") || u.User != nil {
			t.Errorf("%q matches %q of another origin", pattern, value)
		}
		if !strings.HasPrefix(u.EscapedPath()+"/", strings.TrimSuffix(rule.Text, "/")) && !strings.HasPrefix(rawPath(value), rule.Text) {
			t.Errorf("%q matches %q of another path", pattern, value)
		}
	})
}
