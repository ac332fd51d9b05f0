package appscan

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy/resolve"
	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
)

// judge decides what a mention means under the policy. It is immutable once its
// aliases are set.
type judge struct {
	root      string
	libraries []Library // longest name first, so that the closest request wins
	// folders are those of packages that do not lie in a node_modules, such as those of
	// a workspace, slash-separated and absolute; "" for others.
	folders   []string
	workloads map[string]string // library by request
	requests  []string          // of the workloads, without the prefix, sorted
	aliases   []alias
}

func newJudge(p Project, root string) *judge {
	j := &judge{root: root, libraries: slices.Clone(p.Libraries), workloads: map[string]string{}}
	slices.SortStableFunc(j.libraries, func(a, b Library) int { return len(b.Name) - len(a.Name) })
	for _, l := range j.libraries {
		dir := filepath.ToSlash(l.Package.Dir)
		if strings.Contains(dir, "/node_modules/") {
			dir = ""
		}
		j.folders = append(j.folders, dir)
		for _, w := range l.Workloads {
			request := l.Name + "/" + w.Name
			j.workloads[workloadPrefix+request] = l.Name
			j.requests = append(j.requests, request)
		}
	}
	slices.Sort(j.requests)
	return j
}

// mention judges one mention of a file; rel is the file. It reports false for what
// has nothing to do with the policy.
func (j *judge) mention(rel string, m syntax.Mention) (Import, bool) {
	i := Import{Specifier: m.Specifier, Form: m.Form, Span: m.Span}
	if m.Form == syntax.FormType {
		return i, false
	}
	request, decorated := undecorated(m.Specifier)
	form := forms[m.Form]
	switch {
	case strings.HasPrefix(request, realPrefix):
		i.Escape = InsideOnly
		i.Library = j.named(strings.TrimPrefix(request, realPrefix))
		i.Why = "sandbox-real/ exists only inside of the workloads that the policy names"
		return i, true
	case strings.HasPrefix(request, workloadPrefix):
		return j.workload(i, request, m, decorated), true
	}
	library, how := j.owner(path.Dir(rel), request)
	i.Library = library
	if library == "" {
		return j.alias(i, rel, request)
	}
	switch {
	case how != exactly && isAsset(request):
		return i, false
	case m.Form == syntax.FormImportScripts && how != byPath:
		return i, false // an address, which a bare name is not one of a package
	case how == byPath:
		i.Escape, i.Why = FilePath, "it is a path to the library's files and not the request that the redirect knows"
	case m.Computed:
		i.Escape, i.Why = Computed, "what it loads is only known at run time, and bundlers resolve only what is spelled out"
	case decorated:
		i.Escape, i.Why = Decorated, "a loader or a query in the specifier makes another request of it"
	case !form.covered:
		i.Escape, i.Why = OtherForm, form.why
	case how == below && j.find(library).Subpaths && isRequest(request):
		i.Covered, i.Subpath, i.Why = true, true, form.why
	case how == below:
		i.Escape, i.Why = Subpath, fmt.Sprintf("the policy redirects %q alone and nothing below it", library)
	default:
		i.Covered, i.Why = true, form.why
	}
	return i, true
}

// isRequest reports whether a specifier is one that a package can answer.
func isRequest(specifier string) bool {
	_, _, ok := resolve.SplitRequest(specifier)
	return ok
}

// workload judges a request for a workload's proxy.
func (j *judge) workload(i Import, request string, m syntax.Mention, decorated bool) Import {
	library, known := j.workloads[request]
	i.Library = library
	form := forms[m.Form]
	switch {
	case m.Computed:
		i.Escape, i.Why = Computed, "what it loads is only known at run time, and bundlers resolve only what is spelled out"
		i.Library = j.named(strings.TrimPrefix(request, workloadPrefix))
	case !known:
		i.Escape, i.Why = UnknownWorkload, "the policy has no such workload"
		i.Library = j.named(strings.TrimPrefix(request, workloadPrefix))
		// The prefix is left out: it would make two requests alike that are not.
		if near := resolve.Nearest(strings.TrimPrefix(request, workloadPrefix), j.requests); near != "" {
			i.Suggestion = workloadPrefix + near
		}
	case decorated:
		i.Escape, i.Why = Decorated, "a loader or a query in the specifier makes another request of it"
	case !form.covered:
		i.Escape, i.Why = OtherForm, form.why
	default:
		i.Covered, i.Why = true, form.why
	}
	return i
}

// alias judges a request that only another name may lead to a library.
func (j *judge) alias(i Import, rel, request string) (Import, bool) {
	for _, a := range j.aliases {
		if a.scope != "" && !strings.HasPrefix(rel, a.scope+"/") {
			continue
		}
		target, ok := a.expand(request)
		if !ok {
			continue
		}
		if library, _ := j.owner(a.scope, target); library != "" && !isAsset(request) {
			i.Library, i.Escape = library, Alias
			i.Why = fmt.Sprintf("%s %s make it another name of the library, and the redirect looks at requests as they are written", a.kind, a.file)
			return i, true
		}
	}
	return i, false
}

// reach is how a request names a library.
type reach int

const (
	exactly reach = iota // by the policy's request
	below                // by a request below that
	byPath               // by the path of a file
)

// owner returns the library that a request from a folder of the project reaches,
// aliases aside, or "".
func (j *judge) owner(dir, request string) (string, reach) {
	if at := strings.LastIndex(request, "node_modules/"); at >= 0 && (at == 0 || request[at-1] == '/') {
		rest := request[at+len("node_modules/"):]
		for _, l := range j.libraries {
			if tail, ok := strings.CutPrefix(rest, l.Name); ok && (tail == "" || tail[0] == '/' || tail[0] == '.') {
				return l.Name, byPath
			}
		}
		return "", 0
	}
	if strings.HasPrefix(request, ".") || strings.HasPrefix(request, "/") {
		full := j.abs(dir, request)
		for i, l := range j.libraries {
			if folder := j.folders[i]; folder != "" && (full == folder || strings.HasPrefix(full, folder+"/")) {
				return l.Name, byPath
			}
		}
		return "", 0
	}
	for _, l := range j.libraries {
		if request == l.Name {
			return l.Name, exactly
		}
		if strings.HasPrefix(request, l.Name) && request[len(l.Name)] == '/' {
			return l.Name, below
		}
	}
	return "", 0
}

// abs returns the slash-separated absolute path that a relative specifier means.
func (j *judge) abs(dir, request string) string {
	if path.IsAbs(request) {
		return path.Clean(request)
	}
	return path.Join(filepath.ToSlash(j.root), dir, request)
}

// named returns the library whose name begins a request behind one of our prefixes,
// or "".
func (j *judge) named(rest string) string {
	for _, l := range j.libraries {
		if rest == l.Name || strings.HasPrefix(rest, l.Name+"/") {
			return l.Name
		}
	}
	return ""
}

func (j *judge) find(name string) Library {
	at := slices.IndexFunc(j.libraries, func(l Library) bool { return l.Name == name })
	return j.libraries[at]
}

// undecorated takes webpack's inline loaders (a!b!request) and Vite's queries
// (request?url) off a specifier. # begins a package's own imports, and elsewhere a
// fragment.
func undecorated(specifier string) (request string, decorated bool) {
	request = specifier
	if at := strings.LastIndex(request, "!"); at >= 0 {
		request = request[at+1:]
	}
	if at := strings.IndexAny(request, "?#"); at > 0 {
		request = request[:at]
	}
	return request, request != specifier
}

// assets are the extensions of files that hold no code.
var assets = map[string]bool{
	".css": true, ".scss": true, ".sass": true, ".less": true, ".styl": true, ".json": true, ".svg": true, ".png": true, ".jpg": true,
	".jpeg": true, ".gif": true, ".webp": true, ".avif": true, ".ico": true, ".woff": true, ".woff2": true, ".ttf": true, ".otf": true,
	".md": true, ".txt": true,
}

func isAsset(request string) bool { return assets[strings.ToLower(path.Ext(request))] }
