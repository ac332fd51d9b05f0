package edit

import (
	"fmt"

	"github.com/sandbox-lsp/sandbox-lsp/policy/syntax"
)

// AddWorkload adds a workload to a library, and the option that holds it when it is
// the first. entry is relative to the project root, with slashes.
func (p *Policy) AddWorkload(library, name, entry string, exports []string) ([]Edit, error) {
	object, o, err := p.optionsOf(library)
	if err != nil {
		return nil, err
	}
	workload := Member{name, Object{{"entry", String(entry)}, {"exports", Strings(exports...)}}}
	workloads, err := p.option(object, o, "workloads", syntax.KindObject)
	if err != nil {
		return nil, err
	}
	if workloads == nil {
		return p.addMember(object, len(object.Properties), Member{"workloads", Object{workload}}), nil
	}
	i, err := p.find(workloads, owner(fmt.Sprintf("the workloads of %q", library)), name, false)
	if err != nil {
		return nil, err
	}
	if i >= 0 {
		return nil, refuse(workloads.Properties[i].KeySpan, "%q has a workload %q already.", library, name)
	}
	return p.addMember(workloads, len(workloads.Properties), workload), nil
}

// AddWorkloadExports adds names to the exports of a workload, and the option when it
// is missing.
func (p *Policy) AddWorkloadExports(library, workload string, names ...string) ([]Edit, error) {
	object, exports, err := p.workload(library, workload)
	if err != nil {
		return nil, err
	}
	if exports == nil {
		return p.addMember(object, len(object.Properties), Member{"exports", Strings(distinct(names)...)}), nil
	}
	return p.addStrings(exports, names), nil
}

// RenameWorkloadExport gives a name in the exports of a workload another spelling.
func (p *Policy) RenameWorkloadExport(library, workload, name, to string) ([]Edit, error) {
	_, exports, err := p.workload(library, workload)
	if err != nil {
		return nil, err
	}
	return p.renameString(exports, name, to, fmt.Sprintf("An export of workload %q", workload))
}

// RemoveWorkloadExport takes a name away from the exports of a workload.
func (p *Policy) RemoveWorkloadExport(library, workload, name string) ([]Edit, error) {
	object, exports, err := p.workload(library, workload)
	if err != nil {
		return nil, err
	}
	var indexes []int
	if exports != nil {
		for i, e := range exports.Elements {
			switch n := p.file.Resolve(e); {
			case n.Kind == syntax.KindString && n.Text == name:
				indexes = append(indexes, i)
			case e.Kind == syntax.KindSpread && !p.closed(e, name):
				return nil, refuse(e.Span, "%q may come from %s as well. Change it where that is made.", name, p.text[e.Span.Start:e.Span.End])
			}
		}
	}
	if len(indexes) == 0 {
		return nil, refuse(object.Span, "The exports of workload %q, as they are written here, do not name %q.", workload, name)
	}
	return p.remove(newList(p.text, exports), indexes), nil
}

// workload returns a workload's object, and its exports unless they are missing.
func (p *Policy) workload(library, name string) (object, exports *syntax.Node, err error) {
	lib, o, err := p.optionsOf(library)
	if err != nil {
		return nil, nil, err
	}
	workloads, err := p.option(lib, o, "workloads", syntax.KindObject)
	if err != nil {
		return nil, nil, err
	}
	o = owner(fmt.Sprintf("the workload %q", name))
	if workloads != nil {
		object, err = p.option(workloads, owner(fmt.Sprintf("the workloads of %q", library)), name, syntax.KindObject)
	}
	if err == nil && object == nil {
		err = refuse(lib.Span, "%q has no workload %q.", library, name)
	}
	if err != nil {
		return nil, nil, err
	}
	exports, err = p.option(object, o, "exports", syntax.KindArray)
	return object, exports, err
}
