// Package authority says what a script takes from the global object, without
// running it: which names, by which path, whether they are read, written or only
// looked for, and where the script does something that no reading of the code can
// follow.
//
// It never stays silent about the second kind: a script that hands the global
// object to code that is not known, looks a computed name up in it or makes code
// from text gets an Unknown for it. The other way round it may say too much; a Use
// is what the script can do, not what it does.
package authority

import (
	"fmt"

	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// Kind tells what a script does with a name.
type Kind int

// The kinds of use.
const (
	Read     Kind = iota // the value is taken
	Write                // the name is assigned to, incremented, deleted or defined
	Presence             // it is only asked whether the name exists
)

var kindNames = [...]string{"read", "write", "presence"}

// String names the kind in a word.
func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return "unknown"
	}
	return kindNames[k]
}

// Doubt says how far an object of which a script takes a member may be another one than
// the global object. There is none but for the receiver of functions that are not strict
// code: without an object to be called on, they get the global object as their `this`.
type Doubt int

// The doubts.
const (
	NoDoubt Doubt = iota
	// SomeDoubt is for a function that code which is not known may call without an
	// object: a callback, a function that is exported or taken off its object.
	SomeDoubt
	// GreatDoubt is for a method that nothing takes off its object, and for names that the
	// script gives to members of its own objects. No Use has it.
	GreatDoubt
)

// Use is one place where a script uses a name of the global object.
type Use struct {
	// Name is the global's name: "fetch", "navigator".
	Name string
	// Path goes on from Name as far as static members go: "navigator.clipboard.writeText".
	// A key that holds a dot or a quote stands in brackets, as JSON with \u002e for the dot.
	Path string
	// Root is the name by which the global object was reached, "window" for
	// window.fetch, "this" for this.fetch, and "" for a plain name. The script needs
	// that name too.
	Root string
	// RootGuarded is set where the script had asked for Root before: around this use,
	// or where it gave the global object the name that stands here.
	RootGuarded bool
	// Doubt is NoDoubt or SomeDoubt.
	Doubt Doubt
	Kind  Kind
	// Span is the name or the chain of members in the script.
	Span text.Span
	// Strict is set where strict code assigns to a plain name: unlike other code, it gets a
	// ReferenceError where the global object has no such name.
	Strict bool
	// Guarded is set where a condition has established that the name exists, a
	// fallback stands beside it, or a failure is caught. No Write but a Strict one has it.
	Guarded bool
	// MemberGuarded is the same for the first member on Path, and set too where the script
	// only asks for that member or keeps it in a variable: it does without.
	MemberGuarded bool
	// Loading is set where the code is reached while the script is evaluated: at its
	// top level, and in functions that are certainly called from there.
	Loading bool
}

// Reason tells why the code cannot be followed.
type Reason int

// The reasons.
const (
	ComputedKey     Reason = iota // a member of the global object whose name is computed
	Rest                          // all of its other members are taken by a rest element
	Enumerated                    // its members are listed or copied
	Escapes                       // the object itself goes where it cannot be followed
	CodeFromText                  // eval, Function, a timer with a text
	ConstructorWalk               // code from text by the constructor of some function
	Reflection                    // Reflect and its like with a name that is computed
	DefinesGlobal                 // globals are defined whose names are computed
	With                          // with: any name may be a member of its object
)

var reasonNames = [...]string{
	"computed key", "rest", "enumerated", "escapes", "code from text", "constructor walk", "reflection", "defines global", "with",
}

// String names the reason in a few words.
func (r Reason) String() string {
	if r < 0 || int(r) >= len(reasonNames) {
		return "unknown"
	}
	return reasonNames[r]
}

// Unknown is one place where a script reaches the global object in a way that
// cannot be followed, so that it may use any name.
type Unknown struct {
	Reason  Reason
	Kind    Kind  // Read or Write
	Doubt   Doubt // NoDoubt or SomeDoubt
	Span    text.Span
	Loading bool
	// Detail is the expression, shortened: "root[name]".
	Detail string
}

// Result is what a script takes from the global object, in source order.
type Result struct {
	Uses     []Use
	Unknowns []Unknown
	// Defines are the globals that the script surely makes itself before it first
	// reads them, sorted. A caller that asks what the script needs leaves them out.
	Defines []string
	// Received are the names that methods, which are not strict code, take from the object
	// they are called on, sorted. It is the global object only for somebody who takes the
	// method off its own object first.
	Received []string
}

// Infer reads a script. Its time and memory grow with the script's size; one that is
// too tangled to be followed within them gets an Unknown that covers all of it.
//
// What it does not see: an object that the host hands out (an element's ownerDocument, an
// event's view) is not followed to the global object it belongs to, and a method that is
// not strict code is only taken to be called without its object where something takes a
// member of its name off an object.
func Infer(file *syntax.File) (result Result) {
	// Whatever a package is made of, who checks it lives on, and is told.
	defer func() {
		if reason := recover(); reason != nil {
			result = unread(file, fmt.Sprintf("the inference stopped: %v", reason))
		}
	}()
	tree := syntax.TreeOf(file)
	if tree.Root == nil {
		// Too deep, or more than the parser could take.
		return unread(file, "the script cannot be read")
	}
	e := newEngine(file, tree, 0)
	e.run()
	return e.report()
}

// unread is the result for a script of which nothing is known.
func unread(file *syntax.File, detail string) Result {
	return Result{Unknowns: []Unknown{{
		Reason: Escapes, Span: text.Span{End: len(file.Text)}, Loading: true, Detail: detail,
	}}}
}
