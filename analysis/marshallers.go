package analysis

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy"
	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// MarshallersFile is the module whose default export, an array, every sandbox of the
// project carries classes over with. A project need not have it.
const MarshallersFile = policy.Folder + "/marshallers/index.js"

// marshallers returns MarshallersFile, or "" where a project has none, and what is wrong
// with the files beside it.
func (sn *Snapshot) marshallers() (string, []finding.Finding) {
	files := sn.marshallerFiles()
	index := sn.absolute(MarshallersFile)
	if len(files) == 0 {
		return "", nil
	}
	first := func(content string) text.Span {
		line, _, _ := strings.Cut(content, "\n")
		return text.Span{End: len(strings.TrimRight(line, "\r"))}
	}
	report := func(file string, severity finding.Severity, where text.Span, content, format string, args ...any) finding.Finding {
		return finding.Finding{
			Code: finding.IdleMarshaller, Severity: severity, File: policy.Relative(sn.root, file),
			Range: text.NewMapper(content).Range(where), Message: fmt.Sprintf(format, args...),
		}
	}
	var found []finding.Finding
	file := ""
	registered := map[string]bool{}
	if slices.Contains(files, index) {
		content, err := sn.Read(index)
		switch exported, form, where := syntax.Parse(index, content).Export(); {
		case err != nil:
			found = append(found, report(index, finding.Error, text.Span{}, "", "The marshallers cannot be read: %v.", reason(err)))
		case form == syntax.ExportNone:
			found = append(found, report(index, finding.Error, first(content), content, "This file has no default export, so proxies would not load. Export the marshallers, the first that wants a value first: export default [decimals];"))
		default:
			file = MarshallersFile
			if slices.Contains(noArrays, exported.Kind) {
				found = append(found, report(index, finding.Error, where, content, "The default export is no array, so no sandbox can be made. Export the marshallers, the first that wants a value first: export default [decimals];"))
			}
		}
		sn.registers(index, files, registered)
	}
	for _, f := range files {
		if registered[f] || f == index {
			continue
		}
		content, _ := sn.Read(f) // for the range alone
		what := "%s does not import this file"
		if !slices.Contains(files, index) {
			what = "there is no %s"
		}
		found = append(found, report(f, finding.Warning, first(content), content, "No marshaller of this file is used, since "+what+": values that it is meant for cross as whatever the membrane makes of them. Import it there and add it to the array that is exported, or remove the file.", MarshallersFile))
	}
	return file, found
}

// registers notes the files that a file imports, and those that they do.
func (sn *Snapshot) registers(file string, files []string, registered map[string]bool) {
	content, err := sn.Read(file)
	if err != nil {
		return // its own finding says so, or nothing can be said
	}
	for _, i := range syntax.Parse(file, content).Imports() {
		if !strings.HasPrefix(i.Specifier, ".") {
			continue
		}
		target := filepath.Join(filepath.Dir(file), filepath.FromSlash(i.Specifier))
		for _, f := range files {
			if (f == target || strings.TrimSuffix(f, path.Ext(f)) == target) && !registered[f] {
				registered[f] = true
				sn.registers(f, files, registered)
			}
		}
	}
}

// marshallerFiles returns the modules beside MarshallersFile and below, sorted, less
// tests and declarations.
func (sn *Snapshot) marshallerFiles() []string {
	folder := filepath.Dir(sn.absolute(MarshallersFile))
	seen := map[string]bool{}
	add := func(file string) {
		name := filepath.Base(file)
		switch path.Ext(name) {
		case ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts":
			seen[file] = !strings.Contains(name, ".d.") && !strings.Contains(name, ".test.") && !strings.Contains(name, ".spec.")
		}
	}
	_ = filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || len(seen) > maxMarshallers:
			return filepath.SkipAll // a folder that is not there, or that nobody wrote by hand
		case entry.Type().IsRegular():
			add(file)
		}
		return nil
	})
	for file := range sn.overlay {
		if rel, err := filepath.Rel(folder, file); err == nil && filepath.IsLocal(rel) {
			add(file)
		}
	}
	var files []string
	for file, counts := range seen {
		if counts {
			files = append(files, file)
		}
	}
	slices.Sort(files)
	return files
}

const maxMarshallers = 200

// noArrays are the kinds of expressions that cannot give one.
var noArrays = []syntax.Kind{
	syntax.KindObject, syntax.KindString, syntax.KindNumber, syntax.KindBool, syntax.KindNull, syntax.KindUndefined,
	syntax.KindBigInt, syntax.KindRegexp, syntax.KindTemplate, syntax.KindFunction,
}
