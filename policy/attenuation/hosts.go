package attenuation

import (
	"net/netip"
	"regexp"
	"strings"
)

// shared are domains under which their owner gives names to strangers. The whole
// list of such domains changes by the week; these are the ones that policies meet.
// What is not here is still reported as a wildcard over subdomains.
var shared = func() map[string]bool {
	all := map[string]bool{}
	for name := range strings.FieldsSeq(`
		amazonaws.com appspot.com azureedge.net azurewebsites.net blob.core.windows.net
		blogspot.com cloudapp.azure.com cloudflare.net cloudfront.net cloudfunctions.net
		codesandbox.io deno.dev deno.net digitaloceanspaces.com duckdns.org firebaseapp.com
		fly.dev githubpreview.dev github.io githubusercontent.com gitlab.io glitch.me
		googleapis.com googleusercontent.com herokuapp.com hf.space lambda-url.amazonaws.com
		loca.lt myshopify.com netlify.app ngrok-free.app ngrok.app ngrok.io nip.io
		onrender.com pages.dev r2.dev railway.app readthedocs.io repl.co replit.app
		replit.dev run.app s3.amazonaws.com sslip.io stackblitz.io storage.googleapis.com
		supabase.co surge.sh trycloudflare.com tunnelmole.net vercel.app web.app
		webflow.io wixsite.com wordpress.com workers.dev
	`) {
		all[name] = true
	}
	return all
}()

// registry are the second levels under which countries register names: co.uk, com.au.
var registry = regexp.MustCompile(`^(ac|co|com|edu|gob|gov|go|ltd|me|mil|ne|net|nom|or|org|plc|sch)\.[a-z]{2}$`)

// open reports whether strangers can have a name right under a domain.
func open(domain string) bool {
	return !strings.Contains(domain, ".") || registry.MatchString(domain) || shared[domain]
}

// label is one part of a host name as a URL parser writes it.
var label = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$`)

// hostName reports whether a text is a host name in the form that addresses have it.
func hostName(host string) bool {
	if len(host) > 253 {
		return false
	}
	for part := range strings.SplitSeq(host, ".") {
		if len(part) > 63 || !label.MatchString(part) {
			return false
		}
	}
	return true
}

// numeric reports whether browsers read a host as an IPv4 address: its last part is
// a number.
func numeric(host string) bool {
	last := host[strings.LastIndex(host, ".")+1:]
	return last != "" && strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x")
}

// loopback reports whether a host is the machine itself, where encryption protects
// nothing.
func loopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && addr.IsLoopback()
}
