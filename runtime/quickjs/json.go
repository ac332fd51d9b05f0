package quickjs

import "context"

// ParseJSON parses a JSON text in the guest, without a global a script could have
// replaced. filename appears in the SyntaxError.
func (vm *VM) ParseJSON(ctx context.Context, text, filename string) (Value, error) {
	if err := vm.alive(); err != nil {
		return Value{}, err
	}
	source, err := vm.putBytes(append([]byte(text), 0)) // the parser needs the NUL
	if err != nil {
		return Value{}, err
	}
	defer vm.drop(source)
	name, err := vm.putText(filename)
	if err != nil {
		return Value{}, err
	}
	defer vm.drop(name)
	return vm.made(vm.runValue(ctx, xParseJSON, uint64(vm.cx), uint64(source.p), uint64(len(text)), uint64(name.p)))
}

// JSON is JSON.stringify(v, null, indent), without a global a script could have
// replaced; it runs the guest's toJSON and getters. ok is false for what has no
// JSON text, such as undefined.
func (v Value) JSON(ctx context.Context, indent int) (text string, ok bool, err error) {
	defer v.pin().unpin()
	bits, err := v.ready()
	if err != nil {
		return "", false, err
	}
	space := packNumber(float64(indent))
	s, err := v.vm.runValue(ctx, xStringify, uint64(v.vm.cx), bits, bitsUndefined, space)
	if err != nil {
		return "", false, err
	}
	defer v.vm.release(s)
	if t := tagOf(s); t != tagString && t != tagRope {
		return "", false, nil
	}
	text, err = v.vm.text(ctx, s)
	return text, err == nil, err
}
