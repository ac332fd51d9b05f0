// Package bundle turns a library, a workload or a policy module into one script
// that QuickJS can evaluate, with esbuild in process.
//
// Nothing here writes to disk, and nothing of the bundled code runs.
package bundle

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// Global is the name of the global variable to which a library bundle assigns
// the library's exports.
const Global = "__SANDBOXED_LIB__"

// WorkloadGlobal is the name of the global variable to which a workload bundle
// assigns the workload's exports.
const WorkloadGlobal = "__SANDBOXED_WORKLOAD__"

// SubpathsGlobal is the name of the global variable to which a library bundle assigns
// what gives the exports of the requests below the library's, by request.
const SubpathsGlobal = "__SANDBOXED_SUBPATHS__"

// RequireStandIn is the name of the function that a bundle calls in the place of
// require for modules that are not in it.
const RequireStandIn = "__require"

// MaxBytes bounds the size of a bundle's code. Above it bundling fails rather
// than filling the memory of an editor's server.
const MaxBytes = 64 << 20

// EngineVersion names the bundler, for cache keys.
const EngineVersion = "esbuild 0.28.2"

// Bundle is a script with its source map.
type Bundle struct {
	Code []byte
	// Map is a version 3 source map whose sources are relative to the output folder.
	Map []byte
	// Inputs are the files that the bundle was made of, absolute and sorted.
	Inputs []string
	// Exports are the names that the entry of a workload exports when it is an ES
	// module, sorted. A CommonJS module's names are known only after evaluation, and
	// a library's are asked of the loaded library.
	Exports []string
	// ESM says whether the entry is an ES module.
	ESM bool
	// Builtins are the Node built-ins that the code reaches.
	Builtins []Import
	// Imports are the bare requests that workload code made, with the file that made
	// them. Library bundles leave it empty.
	Imports []Import

	modules []string // those of Inputs that are ES modules
}

// Import is a request that a file made.
type Import struct {
	Request  string
	Importer string // absolute
}

// Message is something that esbuild said about a file.
type Message struct {
	Text  string
	Notes []string
	// File is absolute, or "" when the message has no place. Line counts from 1,
	// Column and Length count bytes, as esbuild has them.
	File                 string
	Line, Column, Length int
}

// Error is a bundle that could not be made.
type Error struct {
	Messages []Message
}

func (e *Error) Error() string {
	first := e.Messages[0]
	if first.File != "" {
		return fmt.Sprintf("%s:%d:%d: %s", first.File, first.Line, first.Column+1, first.Text)
	}
	return first.Text
}

// run builds one entry. It returns an *Error for faults of the bundled code and
// the context's error when that ended first.
func run(ctx context.Context, options api.BuildOptions) (*Bundle, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	options.Bundle = true
	options.Write = false
	options.Metafile = true
	options.LogLevel = api.LogLevelSilent
	options.Charset = api.CharsetUTF8
	// The guest speaks all of ES2023 and most of what came after it. What it does
	// not parse is lowered; everything else stays as the author wrote it.
	options.Target = api.ESNext
	options.Supported = map[string]bool{"using": false, "decorators": false, "top-level-await": false, "import-attributes": false}
	if options.Define == nil {
		options.Define = map[string]string{}
	}
	// Libraries ask for this one at load; what bundlers for browsers put there is
	// the production value.
	options.Define["process.env.NODE_ENV"] = `"production"`
	// A stylesheet has no effect inside the guest, and failing on it would refuse
	// packages that work.
	options.Loader = map[string]api.Loader{".css": api.LoaderEmpty, ".wasm": api.LoaderBinary}

	build, invalid := api.Context(options)
	if invalid != nil {
		return nil, &Error{Messages: messages(options.AbsWorkingDir, invalid.Errors)}
	}
	stop := context.AfterFunc(ctx, build.Cancel)
	result := build.Rebuild()
	stop()
	build.Dispose()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(result.Errors) > 0 {
		return nil, &Error{Messages: messages(options.AbsWorkingDir, result.Errors)}
	}
	b := &Bundle{}
	for _, file := range result.OutputFiles {
		switch filepath.Ext(file.Path) {
		case ".js":
			b.Code = file.Contents
		case ".map":
			b.Map = file.Contents
		}
	}
	if len(b.Code) > MaxBytes {
		return nil, &Error{Messages: []Message{{Text: fmt.Sprintf("the bundle has %d MiB, more than the %d MiB that a sandbox can hold", len(b.Code)>>20, MaxBytes>>20)}}}
	}
	strict, err := b.readMetafile(options.AbsWorkingDir, result.Metafile)
	if err != nil {
		return nil, err
	}
	if strict {
		b.Code = withDirective(b.Code)
	}
	return b, nil
}

// withDirective makes a script strict. The directive shares a line with what follows,
// so that the source map stays right: nothing is mapped from the beginning of the
// first line, which is the bundler's own.
func withDirective(code []byte) []byte {
	const directive = `"use strict"; `
	var hashbang []byte
	if bytes.HasPrefix(code, []byte("#!")) {
		line := bytes.IndexByte(code, '\n') + 1
		hashbang, code = code[:line], code[line:]
	}
	if bytes.HasPrefix(code, []byte(directive[:len(directive)-1])) {
		return slices.Concat(hashbang, code)
	}
	return slices.Concat(hashbang, []byte(directive), code)
}

// readMetafile takes the inputs and the entry's exports from esbuild's metafile. It
// reports whether all of the code was written as ES modules, and so as strict code,
// which the bundler does not say in the script that it makes of them. Where a
// CommonJS module is among them no directive can be right for both.
func (b *Bundle) readMetafile(dir, metafile string) (strict bool, err error) {
	var meta struct {
		Inputs map[string]struct {
			Format string
		}
		Outputs map[string]struct {
			EntryPoint string
			Exports    []string
		}
	}
	if err := json.Unmarshal([]byte(metafile), &meta); err != nil {
		return false, fmt.Errorf("read the bundler's metafile: %w", err)
	}
	others := 0
	for path, input := range meta.Inputs {
		file, ok := inputPath(dir, path)
		if !ok {
			continue
		}
		b.Inputs = append(b.Inputs, file)
		switch ext := filepath.Ext(file); {
		case ext == ".json" || ext == ".css" || ext == ".wasm" || ext == ".txt":
		case input.Format == "esm":
			b.modules = append(b.modules, file)
		default:
			others++
		}
	}
	slices.Sort(b.Inputs)
	for _, output := range meta.Outputs {
		if output.EntryPoint != "" {
			b.ESM = meta.Inputs[output.EntryPoint].Format == "esm"
			// esbuild lists exports for ES module output only.
			b.Exports = slices.Sorted(slices.Values(output.Exports))
		}
	}
	return len(b.modules) > 0 && others == 0, nil
}

// inputPath turns a metafile path into an absolute one; false for what a plugin
// made up or a browser field switched off.
func inputPath(dir, path string) (string, bool) {
	if strings.HasPrefix(path, "(disabled):") || strings.HasPrefix(path, "<") {
		return "", false
	}
	if namespace, _, ok := strings.Cut(path, ":"); ok && !filepath.IsAbs(path) && len(namespace) > 1 {
		return "", false
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, filepath.FromSlash(path))
	}
	return path, true
}

func messages(dir string, from []api.Message) []Message {
	out := make([]Message, 0, len(from))
	for _, m := range from {
		msg := Message{Text: m.Text}
		if at := m.Location; at != nil {
			msg.Line, msg.Column, msg.Length = at.Line, at.Column, at.Length
			if file, ok := inputPath(dir, at.File); ok {
				msg.File = file
			}
		}
		for _, note := range m.Notes {
			msg.Notes = append(msg.Notes, note.Text)
		}
		out = append(out, msg)
	}
	return out
}
