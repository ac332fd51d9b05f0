package main

import (
	_ "github.com/microsoft/typescript-go/shim/check"
	_ "github.com/microsoft/typescript-go/shim/parse"
	_ "github.com/bmatcuk/doublestar/v4"
	_ "github.com/evanw/esbuild/pkg/api"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/google/renameio/v2"
	_ "github.com/sourcegraph/conc/pool"
	_ "github.com/spf13/cobra"
	_ "github.com/tetratelabs/wazero"
	_ "go.lsp.dev/protocol"
	_ "go.lsp.dev/jsonrpc2"
	_ "go.lsp.dev/uri"
	_ "golang.org/x/tools/txtar"
	_ "golang.org/x/term"
	_ "github.com/agext/levenshtein"
	_ "github.com/go-sourcemap/sourcemap"
)

func main() {}
