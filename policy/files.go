package policy

import (
	"path"

	"github.com/sandbox-lsp/sandbox-lsp/policy/finding"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// extensions are those of configuration files, in order of preference: .mjs and .mts
// are ES modules, .cjs and .cts CommonJS, the other two what their text is.
var extensions = []string{".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"}

// ConfigFiles are the paths below the project root that a policy may have,
// slash-separated. A project has one of them; of several the first is read.
var ConfigFiles = FileNames("sandbox.config")

// FileNames returns the paths below the project root that a configuration file may
// have, in order of preference. name has no extension.
func FileNames(name string) []string {
	names := make([]string, len(extensions))
	for i, extension := range extensions {
		names[i] = Folder + "/" + name + extension
	}
	return names
}

// ChooseFile returns the first of the names that exists and the others that exist
// as well. When none does it returns the first name, which is where to create one.
func ChooseFile(names []string, exists func(name string) bool) (used string, ignored []string) {
	for _, name := range names {
		switch {
		case !exists(name):
		case used == "":
			used = name
		default:
			ignored = append(ignored, name)
		}
	}
	if used == "" {
		used = names[0]
	}
	return used, ignored
}

// wrongModule says how a file exports its value in a way that its extension rules
// out, and where, given its export. An export that fits gives "".
func wrongModule(parsed *syntax.File, form syntax.ExportForm, span text.Span) (why string, at text.Span) {
	extension := path.Ext(parsed.Path)
	commonJS := form == syntax.ModuleExports || form == syntax.ExportsDefault
	switch {
	case (extension == ".mjs" || extension == ".mts") && commonJS:
		why = "a " + extension + " file is an ES module, where module and exports do not exist. Write export default, or rename the file to .c" + extension[2:]
	case extension == ".cjs" && (form == syntax.ExportDefault || form == syntax.ExportSpecifier):
		why = "a .cjs file is CommonJS, where export does not parse. Write module.exports =, or rename the file to .mjs"
	default:
		return "", text.Span{}
	}
	end := span.Start
	for end < span.End && isName(parsed.Text[end]) {
		end++
	}
	return why, text.Span{Start: span.Start, End: end}
}

func isName(c byte) bool {
	return c == '.' || c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// several reports that more than one file could be meant.
func (m *Module) several(ignored []string) {
	if len(ignored) == 0 {
		return
	}
	m.Add(m.dialect.Unreadable, finding.Warning, text.Span{}, "The project has more than one %s. This one, %s, is read; nothing that %s says has any effect. Move what is still needed here and delete the rest.", m.dialect.Noun, m.Name, listed(ignored, "or"))
}

// listed joins names for a sentence.
func listed(names []string, conjunction string) string {
	switch n := len(names); n {
	case 0:
		return ""
	case 1:
		return names[0]
	default:
		out := names[0]
		for _, name := range names[1 : n-1] {
			out += ", " + name
		}
		return out + " " + conjunction + " " + names[n-1]
	}
}
