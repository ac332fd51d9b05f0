package harness

import (
	"regexp"
	"strings"
)

// Kind is a kind of difference between the library and its sandbox. The compatibility
// manifest has the same words, but for the last two.
type Kind string

// The kinds.
const (
	Identity          Kind = "identity"
	Prototype         Kind = "prototype"
	InternalSlot      Kind = "internal slot"
	Symbols           Kind = "symbol"
	Locale            Kind = "Intl"
	StackText         Kind = "stack text"
	Timing            Kind = "timing"
	MissingCapability Kind = "missing capability"
	Limit             Kind = "limit"
	MembraneFault     Kind = "membrane fault"
	// Unclassified is the kind of a difference that none of the others explains.
	Unclassified Kind = "unclassified"
)

// Kinds are all kinds, in the order in which findings list them.
var Kinds = []Kind{MissingCapability, Limit, Identity, Prototype, InternalSlot, Symbols, Locale, StackText, Timing, MembraneFault, Unclassified}

// Advice says what to do about a kind, in a sentence.
func (k Kind) Advice() string {
	switch k {
	case MissingCapability:
		return "Grant what it names, if the library may have it, or declare the limitation."
	case Limit:
		return "Raise the limit, if the library has a reason to need more, or declare the limitation."
	case MembraneFault:
		return "That is a fault of the sandbox and should be reported."
	}
	return "Declare it under limitations, if the application can do without."
}

var (
	undefinedName = regexp.MustCompile(`^'?([A-Za-z_$][\w$]*)'? is not defined`)
	brandError    = regexp.MustCompile(`(?i)not an? (?:Date|Map|Set|WeakMap|WeakSet|RegExp|typed array|ArrayBuffer|Promise)|incompatible receiver|(?:Date|Map|Set|RegExp) object expected|internal slot`)
	topFrame      = regexp.MustCompile(`^\s*at [^\n]*\(sandbox-membrane\.js:`)
)

// Classify says what kind of difference a regression is, by how the case failed in
// the sandbox. Where nothing tells, it is Unclassified, and never another kind.
func Classify(v Verdict, sandboxed Run) Kind {
	e := v.Sandbox.Error
	if e == nil {
		switch {
		case strings.Contains(sandboxed.Stopped, "was stopped") || strings.Contains(sandboxed.Stopped, "still running after"):
			return Limit
		case undefinedName.MatchString(lastPart(sandboxed.Stopped)):
			return MissingCapability
		}
		return Unclassified
	}
	shown := e.Actual + "\n" + e.Expected
	switch {
	case e.Name == "SandboxLimitError" || e.Name == "SandboxDeadError" || strings.Contains(e.Message, "Maximum call stack size exceeded"):
		return Limit
	case e.Name == "ReferenceError" && undefinedName.MatchString(e.Message), strings.Contains(e.Message, "is not granted"):
		return MissingCapability
	case e.Name == "TypeError" && topFrame.MatchString(e.Stack):
		return MembraneFault
	case e.Name == "Unsettled":
		return Timing
	case e.Name == "TypeError" && brandError.MatchString(e.Message):
		return InternalSlot
	case strings.Contains(shown, "Intl") || strings.Contains(e.Message, "Intl."):
		return Locale
	case strings.Contains(shown, "    at ") && strings.Contains(shown, ".js:"):
		return StackText
	case e.Actual != "" && e.Actual == e.Expected:
		return Identity
	case strings.Contains(e.Actual, "null-prototype ") != strings.Contains(e.Expected, "null-prototype "), strings.Contains(e.Message, "instanceof") || strings.Contains(e.Message, "to be an instance of"):
		return Prototype
	case strings.Contains(e.Actual, "Symbol(") != strings.Contains(e.Expected, "Symbol("):
		return Symbols
	}
	return Unclassified
}

// lastPart is what stands behind the last prefix of a message.
func lastPart(message string) string {
	first, _, _ := strings.Cut(message, "\n")
	parts := strings.Split(first, ": ")
	return parts[len(parts)-1]
}
