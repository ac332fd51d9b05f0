package embedded

import (
	"sync"

	"github.com/sandbox-lsp/sandbox-lsp/runtime/bundle"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/js"
)

// file is what stacks of the host call the membrane.
const file = "sandbox-membrane.js"

// program is the membrane as one script, whose value is an object with what the entry
// exports. It is bundled once per process.
var program = sync.OnceValues(func() (string, error) {
	return bundle.Modules(`
		export { embeddedManager } from "./embedded.js";
		export * as errors from "./errors.js";
	`, js.Sources)
})
