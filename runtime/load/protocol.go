// Package load evaluates library bundles in QuickJS under exactly the permissions
// that a policy grants, and says what they export or why they failed.
//
// Evaluation happens in a child process; package worker says why.
package load

import (
	"time"

	"github.com/sandbox-lsp/sandbox-lsp/runtime/observe"
)

// Request is one library to load.
type Request struct {
	Library     string
	Script      Script
	Permissions []string
	Limits      Limits
	// Workloads are evaluated after the library, in the same guest.
	Workloads []Script
	// Bytecode asks for the library's.
	Bytecode bool
}

// Script is a bundle with the file name that guest stacks show.
type Script struct {
	Name string // of a workload
	File string
	Code []byte
}

// Limits bound one load. All are positive.
type Limits struct {
	MemoryBytes int64 // the guest's heap, buffers included
	StackBytes  int64
	Timeout     time.Duration // guest time of each script
}

// Result is the outcome of one load.
type Result struct {
	Exports Exports
	// Failure is set when the library itself did not load; nothing of Workloads is
	// then known.
	Failure   *Failure
	Workloads []WorkloadResult // one for each workload, in order
	// MemoryBytes is the guest's heap after the load.
	MemoryBytes int64
	// Touches are the globals that the scripts asked for: those that the guest does
	// not have, and those that were granted, in order of time.
	Touches []observe.Touch
	// Bytecode is that of a library which loads, packed, where the request asks for it.
	Bytecode []byte
}

// WorkloadResult is the outcome of one workload.
type WorkloadResult struct {
	Name    string
	Exports Exports
	Failure *Failure
}

// Exports is what a loaded script exports.
type Exports struct {
	// Type is what the exported value itself is: "object" for a namespace,
	// "function" or "class" for module.exports = function, otherwise its typeof.
	Type string
	// ESModule is set when the value carries the __esModule mark of transpiled code.
	ESModule bool
	// Names are the own string-keyed properties, sorted by name.
	Names []Export
}

// Export is one exported property.
type Export struct {
	Name string
	// Type is "function", "class", "object", "undefined", "string", "number",
	// "boolean", "bigint", "symbol", or "accessor that throws"; or of objects that do not
	// cross as they are, "WeakMap", "WeakSet" or "Arguments".
	Type string
}

// FailureKind says how a load failed.
type FailureKind string

// The kinds of failures.
const (
	Threw   FailureKind = "threw"   // the guest threw; Message and Stack are its own
	Limited FailureKind = "limit"   // a limit fired; Limit says which
	Crashed FailureKind = "crashed" // the engine trapped or the process died
	Missing FailureKind = "missing" // the bundle did not assign its global
)

// Failure is a load that failed.
type Failure struct {
	Kind    FailureKind
	Limit   string // "memory", "time", "stack" or "jobs"
	Name    string // the error's class, for Threw
	Message string
	Stack   string // as the guest prints it, not mapped
}
