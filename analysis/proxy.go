package analysis

import (
	"fmt"
	"path/filepath"

	"github.com/sandbox-lsp/sandbox-lsp/proxygen"
	"github.com/sandbox-lsp/sandbox-lsp/runtime/quickjs"
)

// proxy is a generated proxy with its file name less the extension.
type proxy struct {
	name   string
	output proxygen.Output
}

// proxiesOf generates the proxies of a library and of its workloads.
func (sn *Snapshot) proxiesOf(l *Library) ([]proxy, error) {
	output, err := sn.proxyOf(l)
	if err != nil {
		return nil, err
	}
	base := proxygen.FileName(l.Policy.Name)
	proxies, err := sn.subpathProxies(l)
	if err != nil {
		return nil, err
	}
	proxies = append(proxies, proxy{base + "-proxy", output})
	for _, w := range l.Workloads {
		if w.Bundle == nil {
			continue
		}
		output, err := sn.workloadProxy(l, w)
		if err != nil {
			return nil, err
		}
		proxies = append(proxies, proxy{base + "." + w.Policy.Name + "-proxy", output})
	}
	return proxies, nil
}

func (sn *Snapshot) proxyOf(l *Library) (proxygen.Output, error) {
	in := proxygen.Library{
		Request: l.Policy.Name, Dir: sn.proxyDir(), Model: l.Model, Broken: l.Bundle == nil,
		CommonJS:    l.Bundle != nil && !l.Bundle.ESM,
		Permissions: l.Policy.Permissions, Limits: l.Policy.Limits,
		Arguments: l.Policy.Arguments, Results: l.Policy.Results, Reads: l.Policy.Reads, Snapshot: l.Policy.Snapshot,
		Engine: quickjs.Hash(),
	}
	if file, _ := sn.marshallers(); file != "" {
		in.Marshallers = "../marshallers/index.js" // from ProxyFolder
	}
	if l.Bundle != nil {
		in.Bundle.SHA256 = l.Bundle.Code.String()
		if bytecode := l.bytecode(); bytecode != nil {
			in.Bundle.Bytecode = hashOf(bytecode)
		}
	}
	if l.Loaded() {
		in.Runtime = exportsOf(l.Load.Exports)
	}
	return generated(in)
}

func generated(in proxygen.Library) (proxygen.Output, error) {
	output, err := proxygen.Generate(in)
	if err != nil {
		return output, fmt.Errorf("generate the proxy of %q: %w", in.Request, err)
	}
	return output, nil
}

func (sn *Snapshot) workloadProxy(l *Library, w *Workload) (proxygen.Output, error) {
	in := proxygen.Workload{Library: l.Policy.Name, Name: w.Policy.Name, Entry: w.Entry, Dir: sn.proxyDir()}
	in.Bundle.SHA256 = w.Bundle.Code.String()
	for _, e := range w.Policy.Exports {
		in.Exports = append(in.Exports, e.Text)
	}
	output, err := proxygen.GenerateWorkload(in)
	if err != nil {
		return output, fmt.Errorf("generate the proxy of workload %q: %w", w.Policy.Name, err)
	}
	return output, nil
}

func (sn *Snapshot) proxyDir() string {
	return filepath.Join(sn.root, filepath.FromSlash(ProxyFolder))
}
