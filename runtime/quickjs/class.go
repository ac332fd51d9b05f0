package quickjs

import "context"

// The tests below look at the engine's class of an object. A script cannot fake
// them with constructors or prototypes, and they run none of its code. A Proxy is
// only a Proxy, whatever its target is, except for IsArray, as in the language.

// IsArray reports whether the value is an array.
func (v Value) IsArray() bool { return v.test(xIsArray) }

// IsError reports whether the value is an Error.
func (v Value) IsError() bool { return v.test(xIsError) }

// IsProxy reports whether the value is a Proxy.
func (v Value) IsProxy() bool { return v.test(xIsProxy) }

// IsPromise reports whether the value is a Promise.
func (v Value) IsPromise() bool { return v.test(xIsPromise) }

// IsMap reports whether the value is a Map.
func (v Value) IsMap() bool { return v.test(xIsMap) }

// IsSet reports whether the value is a Set.
func (v Value) IsSet() bool { return v.test(xIsSet) }

// IsDate reports whether the value is a Date.
func (v Value) IsDate() bool { return v.test(xIsDate) }

// IsRegExp reports whether the value is a RegExp.
func (v Value) IsRegExp() bool { return v.test(xIsRegExp) }

// IsWeakRef reports whether the value is a WeakRef.
func (v Value) IsWeakRef() bool { return v.test(xIsWeakRef) }

// IsWeakMap reports whether the value is a WeakMap.
func (v Value) IsWeakMap() bool { return v.test(xIsWeakMap) }

// IsWeakSet reports whether the value is a WeakSet.
func (v Value) IsWeakSet() bool { return v.test(xIsWeakSet) }

// IsDataView reports whether the value is a DataView.
func (v Value) IsDataView() bool { return v.test(xIsDataView) }

// IsArrayBuffer reports whether the value is an ArrayBuffer.
func (v Value) IsArrayBuffer() bool { return v.test(xIsArrayBuffer) }

// IsTypedArray reports whether the value is a typed array.
func (v Value) IsTypedArray() bool { return v.typedArray() >= 0 }

// IsConstructor reports whether `new v` may be tried.
func (v Value) IsConstructor() bool { return v.test(xIsConstructor) }

// ClassName returns the engine's name of an object's class, such as "Map", and ""
// for what is not an object. A Proxy is an "Object".
func (v Value) ClassName(ctx context.Context) (string, error) {
	bits, err := v.ready()
	if err != nil || tagOf(bits) != tagObject {
		return "", err
	}
	vm := v.vm
	class, err := vm.call(xClassID, bits)
	if err != nil {
		return "", err
	}
	name, err := vm.run(ctx, xClassName, uint64(vm.rt), class)
	if err != nil || uint32(name) == 0 {
		return "", err
	}
	defer vm.dropAtom(atom{id: uint32(name)})
	s, err := vm.runValue(ctx, xAtomToValue, uint64(vm.cx), name)
	if err != nil {
		return "", err
	}
	defer vm.release(s)
	return vm.text(ctx, s)
}

// ProxyTarget returns the target of a Proxy without calling a trap; [ErrType] for
// anything else.
func (v Value) ProxyTarget(ctx context.Context) (Value, error) { return v.proxyPart(ctx, xProxyTarget) }

// ProxyHandler returns the handler of a Proxy without calling a trap; [ErrType] for
// anything else.
func (v Value) ProxyHandler(ctx context.Context) (Value, error) {
	return v.proxyPart(ctx, xProxyHandler)
}

func (v Value) proxyPart(ctx context.Context, x export) (Value, error) {
	bits, err := v.ready()
	if err != nil {
		return Value{}, err
	}
	if !v.IsProxy() {
		return Value{}, ErrType
	}
	return v.vm.made(v.vm.runValue(ctx, x, uint64(v.vm.cx), bits))
}
