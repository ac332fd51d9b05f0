package finding

// Code identifies a kind of finding. Codes are stable: they are never renumbered
// and never reused, since scripts, baselines and suppressions name them.
type Code string

// The codes of the sandbox policy. What each means in full stands in its page
// under pages/.
const (
	PolicyUnreadable  Code = "SBX001" // policy file missing, unreadable, or its evaluation failed
	PolicyNotAnObject Code = "SBX002" // the export is not a library-keyed object
	PackageUnresolved Code = "SBX003" // package cannot be resolved from the project root
	BadOption         Code = "SBX004" // duplicate key, unknown option, wrong type
	NoPermissions     Code = "SBX005" // `permissions` is missing

	UnknownGlobal       Code = "SBX010" // the permission names no host global that is known
	RedundantPermission Code = "SBX011" // the guest has the global of its own, or the permission is listed twice
	WholeRealm          Code = "SBX012" // the permission hands over the whole host realm
	UnusedPermission    Code = "SBX013" // granted, but nothing in the bundle refers to it
	MissingPermission   Code = "SBX014" // the bundle refers to it, but it is not granted
	LooseAttenuation    Code = "SBX015" // the attenuation is malformed, or looser than it looks
	UnknownAuthority    Code = "SBX016" // the library reaches the global object in a way that no scan can follow
	ExpiredGrant        Code = "SBX017" // the date until which the permission was granted has passed

	WorkloadNoEntry    Code = "SBX020" // workload entry missing; the build goes on without it
	WorkloadNoExport   Code = "SBX021" // an export is named that the entry does not have
	WorkloadUnnamed    Code = "SBX022" // the entry exports a function that the policy does not name
	WorkloadCrossesLib Code = "SBX023" // the workload imports another sandboxed library

	NoDeclarations   Code = "SBX030" // no declarations
	EscapedImport    Code = "SBX031" // application code imports the library in a way that the redirect does not cover
	UnfaithfulExp    Code = "SBX032" // export that cannot cross the membrane, or is declared but absent
	BuiltinReached   Code = "SBX033" // the library reaches a built-in module of Node
	SilentDifference Code = "SBX034" // the library calls what the guest answers differently

	BundleFailed      Code = "SBX040" // esbuild could not bundle it
	BundleTooLarge    Code = "SBX041" // bundle over its size budget
	LoadFailed        Code = "SBX042" // evaluation in QuickJS under the granted permissions failed
	LoadLimit         Code = "SBX043" // a limit was exceeded while loading
	VersionMismatch   Code = "SBX044" // a redirected import resolves to another version than the sandboxed one
	HashMismatch      Code = "SBX045" // a built file is not what the manifest says
	BadSuppression    Code = "SBX046" // a suppression without a reason, or that suppresses nothing
	BadCompatManifest Code = "SBX047" // error in compat.config.js
	IdleMarshaller    Code = "SBX048" // a marshaller that no sandbox uses, or marshallers that none can

	SandboxRegression      Code = "SBX050" // a test passes natively and fails in the sandbox
	StaleLimitation        Code = "SBX051" // a declared limitation that passes
	NativeFailure          Code = "SBX052" // a test fails against the library itself
	NotRunnable            Code = "SBX053" // tests that cannot run in the engine
	FlakyTest              Code = "SBX054" // two native runs of a test differ
	UnclassifiedDifference Code = "SBX055" // a regression of no known kind

	WidenedAuthority Code = "SBX060" // a change widens what a library may do
)
