package proxygen

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/microsoft/typescript-go/shim/check"

	"github.com/sandbox-lsp/sandbox-lsp/policy/resolve"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
)

// probeFile is a file that exists in the program only: it imports every request.
const probeFile = "__sandbox_lsp_declarations__.ts"

// Declarations reads the declarations of the requests as TypeScript resolves them
// from the project root (an absolute path), all in one program. What TypeScript does
// not find is looked for below the package, and in the project's own ambient
// declarations.
//
// Every request gets a model; one without declarations has an empty Entry. Files
// are read from disk and nothing is run. A failure of the type checker is an error
// that names the request; the models of the others are returned with it.
func Declarations(ctx context.Context, root string, requests []string) (map[string]*Model, error) {
	models := make(map[string]*Model, len(requests))
	var errs []error
	found, err := read(ctx, root, requests)
	if err != nil {
		return nil, err
	}
	var missing []string
	for _, request := range requests {
		result := found[request]
		if result.err != nil {
			errs = append(errs, fmt.Errorf("declarations of %s: %w", request, result.err))
			continue
		}
		result.model.Request, result.model.Specifier = request, request
		models[request] = result.model
		// Wherever the declarations come from, the package's own manifest had a say.
		if name, _, ok := resolve.SplitRequest(request); ok {
			if dir := installed(root, name); dir != "" {
				result.model.Files = union(result.model.Files, []string{filepath.Join(dir, "package.json")})
			}
		}
		if result.model.Entry == "" {
			missing = append(missing, request)
		}
	}
	if len(missing) > 0 {
		if err := fallBack(ctx, root, missing, models); err != nil {
			errs = append(errs, err)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return models, errors.Join(errs...)
}

// fallBack looks for declarations that TypeScript does not resolve and completes the
// models with them.
func fallBack(ctx context.Context, root string, requests []string, models map[string]*Model) error {
	candidates := map[string][]stray{}
	var specifiers []string
	var references []string
	ambient, err := ambientFiles(ctx, root, requests)
	if err != nil {
		return err
	}
	for _, request := range requests {
		list, err := strays(ctx, root, request)
		if err != nil {
			return err
		}
		if file, ok := ambient[request]; ok {
			list = append(list, stray{file: file, specifier: request})
			references = append(references, file)
		}
		candidates[request] = list
		for _, c := range list {
			specifiers = append(specifiers, c.specifier)
		}
	}
	if len(specifiers) == 0 {
		return nil
	}
	found, err := read(ctx, root, specifiers, references...)
	if err != nil {
		return err
	}
	for _, request := range requests {
		for _, c := range candidates[request] {
			result := found[c.specifier]
			if result.err != nil || result.model.Entry == "" || len(result.model.Exports) == 0 {
				continue
			}
			m := result.model
			m.Request = request
			if c.specifier == request {
				m.Specifier = request
			}
			// What was looked at before belongs to the answer too.
			m.Files = union(m.Files, models[request].Files)
			models[request] = m
			break
		}
	}
	return nil
}

// result is the outcome for one specifier.
type result struct {
	model *Model
	err   error
}

// read makes a program that imports the specifiers and references further files, and
// reads the model of each import.
func read(ctx context.Context, root string, specifiers []string, references ...string) (found map[string]result, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// The compiler is handed texts that nobody vouches for. It runs on this goroutine,
	// so that its panics end here.
	defer func() {
		if r := recover(); r != nil {
			found, err = nil, fmt.Errorf("declarations of %s: the type checker stopped: %v", strings.Join(specifiers, ", "), r)
		}
	}()
	root = filepath.ToSlash(root)
	probe := strings.TrimSuffix(root, "/") + "/" + probeFile
	var source strings.Builder
	for _, file := range references {
		fmt.Fprintf(&source, "/// <reference path=%q />\n", filepath.ToSlash(file))
	}
	for i, specifier := range specifiers {
		fmt.Fprintf(&source, "import * as _%d from %s;\n", i, quote(specifier))
	}
	program := check.New(ctx, check.Options{
		Root:  root,
		Files: map[string]string{probe: source.String()},
		// A request whose files are refused ends up without declarations.
		Accept: func(name, content string) bool { return syntax.TooDeep(name, content) == "" },
	})
	defer program.Close()
	file := program.File(probe)
	if file == nil {
		return nil, fmt.Errorf("declarations of %s: the program has no root", strings.Join(specifiers, ", "))
	}
	reader := &reader{program: program, checker: program.Checker(), mappers: map[string]*fileText{}}
	found = make(map[string]result, len(specifiers))
	for _, specifier := range check.Specifiers(file) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		name := specifier.Text()
		if _, done := found[name]; done {
			continue
		}
		model, err := reader.model(file, specifier)
		found[name] = result{model, err}
	}
	// A specifier that is no valid module name never becomes an import.
	for _, specifier := range specifiers {
		if _, ok := found[specifier]; !ok {
			found[specifier] = result{model: &Model{}}
		}
	}
	return found, nil
}

func union(a, b []string) []string {
	all := append(slices.Clone(a), b...)
	slices.Sort(all)
	return slices.Compact(all)
}
