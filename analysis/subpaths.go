package analysis

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/policy/resolve"
	"github.com/sandbox-lsp/sandbox-lsp/proxygen"
)

// subpaths fills in which requests below the libraries' the application imports, and so
// gets proxies of. Those that mean another version where they stand are left as they
// are.
func (c *check) subpaths(ctx context.Context, libraries []*Library) error {
	owners := map[string]*Library{}
	for _, l := range libraries {
		if l.Resolved.Problem == nil {
			owners[l.Policy.Name] = l
		}
	}
	var requests []string
	owner := map[string]*Library{}
	for _, i := range c.imports {
		if l := owners[i.Library]; l != nil && i.Subpath && i.Here == nil && owner[i.Specifier] == nil {
			owner[i.Specifier] = l
			requests = append(requests, i.Specifier)
		}
	}
	slices.Sort(requests)
	resolved, err := resolve.Packages(ctx, c.sn.root, requests)
	if err != nil {
		return err
	}
	taken := fileNames(libraries)
	for _, r := range resolved {
		// Some file systems fold case, and "@a/b" and the subpath "a/b" have one name.
		name := strings.ToLower(proxygen.FileName(r.Request))
		if r.Problem == nil && !taken[name] {
			taken[name] = true
			l := owner[r.Request]
			l.Subpaths = append(l.Subpaths, &Subpath{Request: r.Request, Entry: r.Entry})
		}
	}
	return nil
}

// fileNames returns the names that the proxies of libraries and workloads have.
func fileNames(libraries []*Library) map[string]bool {
	taken := map[string]bool{}
	for _, l := range libraries {
		name := strings.ToLower(proxygen.FileName(l.Policy.Name))
		taken[name] = true
		for _, w := range l.Policy.Workloads {
			taken[name+"."+strings.ToLower(w.Name)] = true
		}
	}
	return taken
}

// subpathProxies generates the proxies of a library's subpaths.
func (sn *Snapshot) subpathProxies(l *Library) ([]proxy, error) {
	var proxies []proxy
	for _, s := range l.Subpaths {
		output, err := sn.subpathProxy(l, s)
		if err != nil {
			return nil, err
		}
		proxies = append(proxies, proxy{proxygen.FileName(s.Request) + "-proxy", output})
	}
	return proxies, nil
}

func (sn *Snapshot) subpathProxy(l *Library, s *Subpath) (proxygen.Output, error) {
	in := proxygen.Library{Request: s.Request, Root: l.Policy.Name, Dir: sn.proxyDir(), Model: s.Model, Broken: l.Bundle == nil}
	if s.Load != nil && s.Load.Failure == nil {
		in.Runtime = exportsOf(s.Load.Exports)
	}
	return generated(in)
}

// manifestSubpath is the manifest's entry of a subpath.
type manifestSubpath struct {
	Request string        `json:"request"`
	Proxy   *manifestFile `json:"proxy"`
}

func subpathProxyFile(request string) string {
	return path.Join(ProxyFolder, proxygen.FileName(request)+"-proxy.js")
}
