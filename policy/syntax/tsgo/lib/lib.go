// Package lib opens the declaration files of the language and of the web platform
// that typescript-go embeds. It only hands the texts out; it must not import the
// parser, the checker or the compiler, so that a program which reads a name out of
// them links none of those.
package lib

import (
	"slices"

	"github.com/microsoft/typescript-go/internal/bundled"
)

// Names returns the names of the embedded files, such as "lib.dom.d.ts", sorted. It
// is empty in a build without them (tag noembed).
func Names() []string {
	if !bundled.Embedded {
		return nil
	}
	names := slices.Clone(bundled.LibNames)
	slices.Sort(names)
	return names
}

// Read returns the text of an embedded file. It costs nothing: the text is part of
// the program's image.
func Read(name string) (string, bool) {
	if !bundled.Embedded {
		return "", false
	}
	// The wrapped file system is asked for embedded paths only, never for its own.
	return bundled.WrapFS(nil).ReadFile(bundled.LibPath() + "/" + name)
}
