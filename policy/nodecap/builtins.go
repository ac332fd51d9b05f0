// Package nodecap holds what is known of Node's built-in modules: their identities,
// and what the reviewed capability manifest decides about each.
package nodecap

import "strings"

// Disposition is the manifest's decision about one built-in module.
type Disposition string

// The dispositions.
const (
	// Allowed: a library of general computation, available as it is.
	Allowed Disposition = "allowed"
	// Attenuated: importable, with what carries authority replaced, virtualised or
	// constrained.
	Attenuated Disposition = "attenuated"
	// ModeDependent: unavailable to code from a string, reads of the staged folder for
	// code from files.
	ModeDependent Disposition = "mode-dependent"
	// Denied: every way of loading it fails.
	Denied Disposition = "denied"
	// OptionalDenied: denied, and not there at all unless Node was started with a flag.
	OptionalDenied Disposition = "optional-denied"
)

// builtins are the raw identities that the supported Node lines report: bare
// names, and names that exist only behind the node: scheme. The six _stream_
// entries left Node with version 26, are still imported by old packages, and have
// the disposition of the module whose parts they were.
var builtins = map[string]Disposition{
	"_http_agent":         Denied,
	"_http_client":        Denied,
	"_http_common":        Denied,
	"_http_incoming":      Denied,
	"_http_outgoing":      Denied,
	"_http_server":        Denied,
	"_stream_duplex":      Allowed,
	"_stream_passthrough": Allowed,
	"_stream_readable":    Allowed,
	"_stream_transform":   Allowed,
	"_stream_wrap":        Allowed,
	"_stream_writable":    Allowed,
	"_tls_common":         Denied,
	"_tls_wrap":           Denied,
	"assert":              Allowed,
	"assert/strict":       Allowed,
	"async_hooks":         Attenuated,
	"buffer":              Allowed,
	"child_process":       Attenuated,
	"cluster":             Denied,
	"console":             Denied,
	"constants":           Allowed,
	"crypto":              Attenuated,
	"dgram":               Attenuated,
	"diagnostics_channel": Denied,
	"dns":                 Attenuated,
	"dns/promises":        Attenuated,
	"domain":              Allowed,
	"events":              Allowed,
	"fs":                  ModeDependent,
	"fs/promises":         ModeDependent,
	"http":                Attenuated,
	"http2":               Attenuated,
	"https":               Attenuated,
	"inspector":           Attenuated,
	"inspector/promises":  Attenuated,
	"module":              Attenuated,
	"net":                 Attenuated,
	"node:ffi":            Denied,
	"node:quic":           OptionalDenied,
	"node:sea":            Attenuated,
	"node:sqlite":         Attenuated,
	"node:test":           Denied,
	"node:test/reporters": Denied,
	"os":                  Attenuated,
	"path":                Allowed,
	"path/posix":          Allowed,
	"path/win32":          Allowed,
	"perf_hooks":          Attenuated,
	"process":             Attenuated,
	"punycode":            Allowed,
	"querystring":         Allowed,
	"readline":            Allowed,
	"readline/promises":   Allowed,
	"repl":                Denied,
	"stream":              Allowed,
	"stream/consumers":    Allowed,
	"stream/promises":     Allowed,
	"stream/web":          Allowed,
	"string_decoder":      Allowed,
	"sys":                 Allowed,
	"timers":              Allowed,
	"timers/promises":     Allowed,
	"tls":                 Attenuated,
	"trace_events":        Denied,
	"tty":                 Attenuated,
	"url":                 Allowed,
	"util":                Allowed,
	"util/types":          Allowed,
	"v8":                  Attenuated,
	"vm":                  Allowed,
	"wasi":                Attenuated,
	"worker_threads":      Attenuated,
	"zlib":                Attenuated,
}

// Lookup returns the disposition of the built-in that a module request names. A bare
// name is looked up as it stands; a node: request is looked up as it stands and then
// without the scheme. So "fs" and "node:fs" are built-ins, and so is "node:sqlite",
// while "sqlite" is a package.
func Lookup(request string) (Disposition, bool) {
	if d, ok := builtins[request]; ok {
		return d, true
	}
	if bare, scheme := strings.CutPrefix(request, "node:"); scheme {
		d, ok := builtins[bare]
		return d, ok
	}
	return "", false
}

// IsBuiltin reports whether a module request names a Node built-in.
func IsBuiltin(request string) bool {
	_, ok := Lookup(request)
	return ok
}
