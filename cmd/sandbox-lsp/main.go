// Command sandbox-lsp checks, builds and serves sandbox policies. It only parses
// arguments: what it does is in package analysis, and in package lsp for editors.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/sandbox-lsp/sandbox-lsp/runtime/harness"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/load"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/worker"
)

// version is set by the linker.
var version = "0.1.0-dev"

func main() {
	worker.ServeIfWorker(load.Service, harness.Service)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}
