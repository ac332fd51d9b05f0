package policy

// Type is what an option's value has to be.
type Type string

// The types of options.
const (
	TypeObject      Type = "object"
	TypeString      Type = "string"
	TypeBool        Type = "boolean"
	TypeCount       Type = "whole number above 0"
	TypeDate        Type = "date, such as \"2027-01-31\""
	TypeStrings     Type = "array of strings"
	TypePermissions Type = "array of permissions"
	TypeWorkloads   Type = "object of workloads"
)

// Option describes one option of a policy. The table below is the only place that
// knows them: reading, completion, hover and the documentation all follow it.
type Option struct {
	Name     string
	Type     Type
	Required bool
	// Values are the only strings allowed, when there are any.
	Values []string
	// Doc is Markdown, one paragraph.
	Doc string
	// Snippet is what completion inserts for the value, in LSP snippet syntax.
	Snippet string
	// Fields are the options inside an object.
	Fields []Option
}

// LibraryOptions are the options of one library.
var LibraryOptions = []Option{
	{
		Name: "permissions", Type: TypePermissions, Required: true, Snippet: "[$0]",
		Doc: "The host globals that this library may use, by name. `[]` grants none. An entry may be an object, `{ name: \"fetch\", allow: [\"https://api.example.com/*\"], reason: \"loads prices\" }`: `allow` grants a narrower form of the capability; `reason`, `owner` and `expires` say why it is granted, who answers for it and until when.",
	},
	{
		Name: "workloads", Type: TypeWorkloads, Snippet: "{\n\t${1:name}: { entry: \"${2:src/sandbox/work.js}\", exports: [\"${3:run}\"] },\n}",
		Doc: "Coarse-grained adapters that run inside the sandbox of the library, each with its own entry. The application imports one as `sandbox-workload/<library>/<name>`; the entry reaches the library as `sandbox-real/<library>`.",
	},
	{
		Name: "subpaths", Type: TypeBool, Snippet: "${1|true,false|}",
		Doc: "Whether requests below the package, such as `lodash/fp`, are redirected to the sandbox as well: those that the application imports, which share the modules of the library. Without it only the exact request is redirected, and SBX031 reports the others. An entry of its own, `\"lodash/fp\": { … }`, gives one a sandbox of its own.",
	},
	{
		Name: "limits", Type: TypeObject, Snippet: "{ memoryMB: ${1:64}, timeoutMs: ${2:1000} }", Fields: LimitOptions,
		Doc: "Quotas. A limit that fires makes the sandbox dead: every later call fails and says which limit it was.",
	},
	{
		Name: "arguments", Type: TypeString, Values: []string{"membrane", "data"}, Snippet: "\"${1|membrane,data|}\"",
		Doc: "`\"membrane\"` (the default) lets host objects pass as arguments, each of them a capability. `\"data\"` refuses host objects as arguments.",
	},
	{
		Name: "results", Type: TypeString, Values: []string{"mirror", "live"}, Snippet: "\"${1|mirror,live|}\"",
		Doc: "`\"mirror\"` (the default) returns plain results as real host data; `\"live\"` returns proxies that alias the guest's objects.",
	},
	{
		Name: "reads", Type: TypeString, Values: []string{"window", "exact"}, Snippet: "\"${1|window,exact|}\"",
		Doc: "`\"window\"` (the default) reads host arrays and objects ahead in bulk; `\"exact\"` reads property by property, which host proxies such as reactive state can tell apart.",
	},
	{
		Name: "snapshot", Type: TypeBool, Snippet: "${1|true,false|}",
		Doc: "Whether an image of the heap is kept after the library has loaded, from which later sandboxes of it go on; the build writes bytecode for the first. None is kept when loading uses what is granted or draws from `Math.random`.",
	},
}

// LimitOptions are the options of limits.
var LimitOptions = []Option{
	{Name: "memoryMB", Type: TypeCount, Snippet: "${1:64}", Doc: "The guest's heap in MiB, buffers included. 64 when not given."},
	{Name: "timeoutMs", Type: TypeCount, Snippet: "${1:1000}", Doc: "Guest time of one outermost call in milliseconds. Host callbacks do not count; each asynchronous turn counts anew. No limit when not given."},
	{Name: "stackKB", Type: TypeCount, Snippet: "64", Doc: "The guest's stack in KiB. 64, the default, is the only size that was seen to catch recursion, deep sources and deep JSON alike in browsers and Node."},
	{Name: "bundleKB", Type: TypeCount, Snippet: "${1:100}", Doc: "The size budget of the library's bundle in KiB. A build that is over it reports SBX041."},
}

// WorkloadOptions are the options of one workload.
var WorkloadOptions = []Option{
	{Name: "entry", Type: TypeString, Required: true, Snippet: "\"${1:src/sandbox/work.js}\"", Doc: "The workload's JavaScript file, relative to the project root."},
	{Name: "exports", Type: TypeStrings, Required: true, Snippet: "[\"${1:run}\"]", Doc: "The functions that the generated workload proxy exposes."},
}

// PermissionOptions are the options of a permission in its object form.
var PermissionOptions = []Option{
	{Name: "name", Type: TypeString, Required: true, Snippet: "\"${1:fetch}\"", Doc: "The name of the host global."},
	{Name: "allow", Type: TypeStrings, Snippet: "[\"${1:https://api.example.com/*}\"]", Doc: "What the narrowed capability may be used for: URL patterns for `fetch`, key prefixes for storage. Without it the whole capability is granted."},
	{Name: "reason", Type: TypeString, Snippet: "\"$1\"", Doc: "Why the library needs this capability, for whoever reviews the policy. It changes nothing at run time."},
	{Name: "owner", Type: TypeString, Snippet: "\"$1\"", Doc: "Who answers for this grant, such as a team or an address. It changes nothing at run time."},
	{Name: "expires", Type: TypeDate, Snippet: "\"${1:2027-01-31}\"", Doc: "The last day on which this grant is meant to be valid, as `\"2027-01-31\"`. From the next day on it is reported as SBX017, so that somebody decides on it again; the grant itself stays until it is removed."},
}

func option(options []Option, name string) (Option, bool) {
	for _, o := range options {
		if o.Name == name {
			return o, true
		}
	}
	return Option{}, false
}

func optionNames(options []Option) []string {
	names := make([]string, len(options))
	for i, o := range options {
		names[i] = o.Name
	}
	return names
}

// MaxPermissions bounds how many entries one library's permissions may have; a longer list is not read. All hosts
// together have about half as many globals; each grant takes memory of the guest.
const MaxPermissions = 2000

// Defaults and bounds of limits.
const (
	DefaultMemoryMB = 64
	MaxMemoryMB     = 2048
	DefaultStackKB  = 64
	MaxStackKB      = 512
)
