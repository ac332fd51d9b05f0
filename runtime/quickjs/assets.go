package quickjs

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"io/fs"
	"sync"
)

// assets holds the engine when the build put it there. The folder and not the file
// is embedded, so that the package compiles in a fresh checkout.
//
//go:embed all:assets
var assets embed.FS

const wasmAsset = "assets/quickjs.wasm"

// ErrNoEngine says that the binary was built without the engine's wasm.
var ErrNoEngine = errors.New("quickjs.wasm is not embedded in this build, so no JavaScript can run: run `make build`, which takes it from the npm package quickjs-wasi")

var engineBytes = sync.OnceValues(func() ([]byte, error) { return readEngine(assets) })

func readEngine(from fs.FS) ([]byte, error) {
	wasm, err := fs.ReadFile(from, wasmAsset)
	if err != nil {
		return nil, ErrNoEngine
	}
	return wasm, nil
}

var engineHash = sync.OnceValue(func() string {
	wasm, err := engineBytes()
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(wasm)
	return hex.EncodeToString(sum[:])
})

// Hash returns the SHA-256 of the embedded engine in lower-case hex, or "" when
// none is embedded. Everything derived from the engine (images, bytecode, load
// results) is keyed by it.
func Hash() string { return engineHash() }
