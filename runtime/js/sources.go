// Package js carries the sources of the npm package beside it, the membrane among them,
// for hosts that run them outside of Node and browsers.
package js

import "embed"

// Sources are the package's own modules, by their file names.
//
//go:embed *.js
var Sources embed.FS
