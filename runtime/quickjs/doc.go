// Package quickjs runs JavaScript in QuickJS, compiled to WebAssembly, under
// wazero. It is the only package that knows the engine: what a value is inside
// the guest, how host functions are reached, and what has to hold so that a
// hostile script can neither leave its memory nor stop the process.
//
// An [Engine] is one compiled module; a [VM] is one instance of it with a memory
// of its own. A VM belongs to one goroutine at a time; different VMs are
// independent and may run in parallel.
//
// # Values
//
// A [Value] is a handle. Handles of heap values have to be freed ([Value.Free]) or
// made inside a [Scope]; using one that was freed returns [ErrStale] and never
// touches guest memory. The arguments of a host call are borrowed: they end with
// the call, and [Value.Dup] keeps one.
//
// # What ends a VM
//
// A limit that fired, a trap, a panic in a host function or a stack pointer that is
// not back where it was leave the guest torn in the middle of something, so the VM
// is dead from then on: the call that saw it returns the cause, every later one a
// [DeadError]. Errors that the guest can catch, a stack overflow among them, end
// nothing.
//
// # Why nothing unwinds
//
// A Go panic or an early return through wasm frames would leave the guest's shadow
// stack where it was, a little lower each time, until evaluation fails. So a host
// function's error becomes a guest exception, a panic is recovered at the import,
// and each entry compares the stack pointer on its way out.
//
// Re-entering a wazero Function while it is active corrupts the process, so every
// export that can reach guest code comes from a pool by depth (exports.go).
package quickjs
