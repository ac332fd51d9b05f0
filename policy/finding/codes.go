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

	WorkloadNoEntry    Code = "SBX020" // workload entry missing; the build goes on without it
	WorkloadNoExport   Code = "SBX021" // an export is named that the entry does not have
	WorkloadUnnamed    Code = "SBX022" // the entry exports a function that the policy does not name
	WorkloadCrossesLib Code = "SBX023" // the workload imports another sandboxed library

	NoDeclarations Code = "SBX030" // no declarations
	UnfaithfulExp  Code = "SBX032" // export that cannot cross the membrane, or is declared but absent

	BundleFailed   Code = "SBX040" // esbuild could not bundle it
	BundleTooLarge Code = "SBX041" // bundle over its size budget
	LoadFailed     Code = "SBX042" // evaluation in QuickJS under the granted permissions failed
	LoadLimit      Code = "SBX043" // a limit was exceeded while loading
)
