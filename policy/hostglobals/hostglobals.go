// Package hostglobals knows the global names of the hosts that a library may run
// beside: browser windows, workers and Node. It is the one table behind every
// answer about a permission: whether the name exists, what it is, where it exists,
// and how much a library gets with it.
//
// Names and descriptions come from the declaration files that the TypeScript
// compiler embeds, read when they are first asked for; Node's own globals and those
// of single browsers are in tables here, as are the grades. What the guest engine
// has of its own is not known here: the engine is asked for that.
package hostglobals

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Realms says which hosts have a global.
type Realms uint8

// The hosts. A name of the language itself is in all of them.
const (
	Window Realms = 1 << iota
	Worker
	Node
)

const everywhere = Window | Worker | Node

// String lists the hosts for a person: "windows, workers and Node".
func (r Realms) String() string {
	var names []string
	for _, host := range []struct {
		realm Realms
		name  string
	}{{Window, "windows"}, {Worker, "workers"}, {Node, "Node"}} {
		if r&host.realm != 0 {
			names = append(names, host.name)
		}
	}
	if len(names) > 1 {
		last := len(names) - 1
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return strings.Join(names, "")
}

// Grade says how much a library gets with a global. A higher grade is more.
type Grade int

// The grades, by what can be reached from the global, not by what it is for.
const (
	// Pure computes from what it is given and reaches nothing: Intl, URL, TextEncoder.
	Pure Grade = iota
	// Ambient reads time, randomness or the environment, or makes its presence
	// felt a little: performance, crypto, console, timers.
	Ambient
	// Powerful reaches the network, storage, the user or devices.
	Powerful
	// Realm hands over everything that the host realm has, directly or by a path of
	// properties.
	Realm
)

// String returns "pure", "ambient", "powerful" or "realm".
func (g Grade) String() string {
	return [...]string{"pure", "ambient", "powerful", "realm"}[g]
}

// Shape says what kind of value a global is.
type Shape string

// The shapes of globals.
const (
	Function Shape = "function"
	Class    Shape = "class"
	Object   Shape = "object"
	Value    Shape = "value" // a string, number or boolean, or an event handler
)

// Global is what is known about one global name.
type Global struct {
	Name string
	// Doc is the first sentence of its documentation in Markdown, or "".
	Doc string
	// Link is the address of its full documentation, or "".
	Link   string
	Realms Realms
	Shape  Shape
	Grade  Grade
	// Reason says in one sentence why it has its grade.
	Reason string
	// Narrower says what to do instead of granting it, or "".
	Narrower string
	// Listed says that its grade was decided for itself and not for a family of
	// classes or event handlers; those are the globals that libraries ask for.
	Listed bool
}

// Markdown describes the global for a person who decides about granting it.
func (g Global) Markdown() string {
	var b strings.Builder
	b.WriteString(g.Doc)
	if g.Link != "" {
		fmt.Fprintf(&b, " [Reference](%s)", g.Link)
	}
	fmt.Fprintf(&b, "\n\nAuthority: **%s**. %s", g.Grade, g.Reason)
	if g.Narrower != "" {
		fmt.Fprintf(&b, "\n\nInstead: %s", g.Narrower)
	}
	return strings.TrimSpace(b.String())
}

// Kind says what the global is and where: "function, in windows and workers".
func (g Global) Kind() string { return fmt.Sprintf("%s, in %s", g.Shape, g.Realms) }

// catalogue is every name with what was found about it, without the texts.
var catalogue = sync.OnceValue(func() map[string]entry {
	entries := make(map[string]entry, 1600)
	scanLibraries(entries)
	for _, o := range own {
		e := entries[o.name]
		e.realms |= o.realms
		entries[o.name] = e
	}
	for name := range strings.FieldsSeq(sharedWithNode) {
		e := entries[name]
		e.realms |= Node
		entries[name] = e
	}
	return entries
})

// Lookup returns what is known about a global.
func Lookup(name string) (Global, bool) {
	e, ok := catalogue()[name]
	if !ok {
		return Global{}, false
	}
	g, typed := facts(name, e)
	g.Doc, g.Link = documentation(name, typed, e.place)
	return g, true
}

// Known is Lookup without the documentation, for callers that only judge a name:
// finding the documentation costs a second reading of the declaration files.
func Known(name string) (Global, bool) {
	e, ok := catalogue()[name]
	if !ok {
		return Global{}, false
	}
	g, _ := facts(name, e)
	return g, true
}

// All returns the whole catalogue, sorted by name. The caller owns the slice.
func All() []Global {
	entries := catalogue()
	all := make([]Global, 0, len(entries))
	for name, e := range entries {
		g, typed := facts(name, e)
		g.Doc, g.Link = documentation(name, typed, e.place)
		all = append(all, g)
	}
	slices.SortFunc(all, func(a, b Global) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// names returns every name, sorted.
var names = sync.OnceValue(func() []string { return slices.Sorted(maps.Keys(catalogue())) })

// facts returns all but the documentation of a global, and the name of the interface
// that describes it, or "".
func facts(name string, e entry) (Global, string) {
	shape, typed := e.shape()
	if e.text == "" {
		shape = ownTable()[name].shape
	}
	r := gradeOf(name, shape)
	return Global{Name: name, Realms: e.realms, Shape: shape, Grade: r.grade, Reason: r.reason, Narrower: r.narrower, Listed: r.names != ""}, typed
}

// ActsOnWrite reports whether a host does something when a script gives a global a value:
// goes to another page, keeps it for the next one, or calls it later.
func ActsOnWrite(name string) bool {
	if name == "location" || name == "name" {
		return true
	}
	_, known := catalogue()[name]
	return known && strings.HasPrefix(name, "on")
}

var facades = map[string][]string{
	"console": strings.Fields("assert clear count countReset debug dir dirxml error group groupCollapsed groupEnd info log table time timeEnd timeLog timeStamp trace warn"),
	"crypto":  {"getRandomValues", "randomUUID"},
}

// Facade returns the members, sorted, that a library gets of a global whose others no grant
// gives; nil for a global that is given whole.
func Facade(name string) []string { return slices.Clone(facades[name]) }

var globalObjects = map[string]bool{
	"window": true, "self": true, "globalThis": true, "global": true, "top": true, "parent": true, "frames": true,
}

// IsGlobalObject reports whether a name is the global object itself, or that of an
// enclosing window, so that a member of it is a global too.
func IsGlobalObject(name string) bool { return globalObjects[name] }
