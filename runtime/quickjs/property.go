package quickjs

import (
	"context"
	"fmt"
)

// Key names a property: by text, by index or by a value (a symbol, or whatever
// converts to a key).
type Key struct {
	kind  keyKind
	name  string
	index uint32
	value Value
}

type keyKind uint8

const (
	byName keyKind = iota
	byIndex
	byValue
)

// Name is the key of a text, in WTF-8 like [VM.NewString].
func Name(name string) Key { return Key{kind: byName, name: name} }

// Index is the key of an array element.
func Index(i uint32) Key { return Key{kind: byIndex, index: i} }

// At is the key that a value converts to; the value has to outlive the Key.
func At(v Value) Key { return Key{kind: byValue, value: v} }

// key interns a key.
func (vm *VM) key(ctx context.Context, k Key) (atom, error) {
	switch k.kind {
	case byName:
		return vm.atom(ctx, k.name)
	case byIndex:
		id, err := vm.run(ctx, xNewAtomUint32, uint64(vm.cx), uint64(k.index))
		return vm.freshAtom(ctx, id, err)
	}
	defer k.value.pin().unpin()
	bits, err := vm.raw(k.value)
	if err != nil {
		return atom{}, fmt.Errorf("key: %w", err)
	}
	id, err := vm.run(ctx, xValueToAtom, uint64(vm.cx), bits)
	return vm.freshAtom(ctx, id, err)
}

func (vm *VM) freshAtom(ctx context.Context, id uint64, err error) (atom, error) {
	if err != nil {
		return atom{}, err
	}
	if uint32(id) == 0 {
		return atom{}, vm.caught(ctx)
	}
	return atom{id: uint32(id)}, nil
}

// on prepares an operation on a property of v.
func (v Value) on(ctx context.Context, k Key) (bits uint64, a atom, err error) {
	if bits, err = v.ready(); err != nil {
		return 0, atom{}, err
	}
	if a, err = v.vm.key(ctx, k); err != nil {
		return 0, atom{}, err
	}
	return bits, a, nil
}

// Get reads a property as v[k] does; getters and traps run.
func (v Value) Get(ctx context.Context, k Key) (Value, error) {
	defer v.pin().unpin()
	if k.kind == byIndex {
		bits, err := v.ready()
		if err != nil {
			return Value{}, err
		}
		return v.vm.made(v.vm.runValue(ctx, xGetPropertyUint32, uint64(v.vm.cx), bits, uint64(k.index)))
	}
	bits, a, err := v.on(ctx, k)
	if err != nil {
		return Value{}, err
	}
	defer v.vm.dropAtom(a)
	return v.vm.made(v.vm.runValue(ctx, xGetProperty, uint64(v.vm.cx), bits, uint64(a.id)))
}

// Set writes a property as strict v[k] = value does; setters and traps run.
func (v Value) Set(ctx context.Context, k Key, value Value) error {
	defer v.pin().unpin()
	defer value.pin().unpin()
	if v.vm == nil {
		return ErrStale
	}
	val, err := v.vm.raw(value)
	if err != nil {
		return fmt.Errorf("set: %w", err)
	}
	bits, a, err := v.on(ctx, k)
	if err != nil {
		return err
	}
	defer v.vm.dropAtom(a)
	if err := v.vm.retain(val); err != nil { // the engine takes the reference over
		return err
	}
	_, err = v.vm.runStatus(ctx, xSetProperty, uint64(v.vm.cx), bits, uint64(a.id), val)
	return err
}

// Has is `k in v`.
func (v Value) Has(ctx context.Context, k Key) (bool, error) {
	defer v.pin().unpin()
	bits, a, err := v.on(ctx, k)
	if err != nil {
		return false, err
	}
	defer v.vm.dropAtom(a)
	return v.vm.runStatus(ctx, xHasProperty, uint64(v.vm.cx), bits, uint64(a.id))
}

// Delete is `delete v[k]` outside strict mode: it reports whether the property is
// gone.
func (v Value) Delete(ctx context.Context, k Key) (bool, error) {
	defer v.pin().unpin()
	bits, a, err := v.on(ctx, k)
	if err != nil {
		return false, err
	}
	defer v.vm.dropAtom(a)
	return v.vm.runStatus(ctx, xDeleteProperty, uint64(v.vm.cx), bits, uint64(a.id), 0)
}

// Flag is an attribute of a property, or unset.
type Flag uint8

// The states of a Flag.
const (
	Unset Flag = iota // keep what is there; false for a new property
	No
	Yes
)

// FlagOf returns Yes or No.
func FlagOf(b bool) Flag {
	if b {
		return Yes
	}
	return No
}

// Descriptor describes a property. The zero Value in Value, Get or Set means that
// the field is absent.
type Descriptor struct {
	Value, Get, Set                    Value
	Writable, Enumerable, Configurable Flag
}

// Accessor reports whether the descriptor has a getter or a setter.
func (d Descriptor) Accessor() bool { return d.Get.vm != nil || d.Set.vm != nil }

// Free frees the descriptor's values.
func (d Descriptor) Free() {
	for _, v := range []Value{d.Value, d.Get, d.Set} {
		if v.vm != nil {
			_ = v.Free()
		}
	}
}

// Define is Reflect.defineProperty: it reports false where the object refuses.
func (v Value) Define(ctx context.Context, k Key, d Descriptor) (bool, error) {
	defer v.pin().unpin()
	for _, part := range []Value{d.Value, d.Get, d.Set} {
		defer part.pin().unpin()
	}
	if v.vm == nil {
		return false, ErrStale
	}
	flags := uint64(0)
	for _, f := range []struct {
		flag     Flag
		has, set uint64
	}{
		{d.Configurable, propHasConfig, propConfigurable},
		{d.Enumerable, propHasEnum, propEnumerable},
		{d.Writable, propHasWritable, propWritable},
	} {
		if f.flag != Unset {
			flags |= f.has
		}
		if f.flag == Yes {
			flags |= f.set
		}
	}
	parts := [3]uint64{bitsUndefined, bitsUndefined, bitsUndefined}
	for i, p := range []struct {
		value Value
		has   uint64
	}{{d.Value, propHasValue}, {d.Get, propHasGet | propAccessor}, {d.Set, propHasSet | propAccessor}} {
		if p.value.vm == nil {
			continue
		}
		var err error
		if parts[i], err = v.vm.raw(p.value); err != nil {
			return false, fmt.Errorf("define: %w", err)
		}
		flags |= p.has
	}
	bits, a, err := v.on(ctx, k)
	if err != nil {
		return false, err
	}
	defer v.vm.dropAtom(a)
	return v.vm.runStatus(ctx, xDefineProperty, uint64(v.vm.cx), bits, uint64(a.id), parts[0], parts[1], parts[2], flags)
}

// GetOwn is Object.getOwnPropertyDescriptor: found is false without such a property.
// No getter runs; on a Proxy its trap does. The descriptor's values are handles.
func (v Value) GetOwn(ctx context.Context, k Key) (d Descriptor, found bool, err error) {
	defer v.pin().unpin()
	bits, a, err := v.on(ctx, k)
	if err != nil {
		return Descriptor{}, false, err
	}
	defer v.vm.dropAtom(a)
	raw, found, err := v.vm.ownPropertyAtom(ctx, bits, a.id)
	if err != nil || !found {
		return Descriptor{}, false, err
	}
	d.Configurable = FlagOf(raw.flags&propConfigurable != 0)
	d.Enumerable = FlagOf(raw.flags&propEnumerable != 0)
	if raw.flags&propAccessor != 0 {
		v.vm.release(raw.value)
		d.Get, d.Set = v.vm.own(raw.getter), v.vm.own(raw.setter)
		return d, true, nil
	}
	d.Writable = FlagOf(raw.flags&propWritable != 0)
	d.Value = v.vm.own(raw.value)
	return d, true, nil
}

// KeyFilter selects own keys; flags may be combined.
type KeyFilter uint32

// The filters of own keys.
const (
	StringKeys     KeyFilter = 1 << 0
	SymbolKeys     KeyFilter = 1 << 1
	EnumerableOnly KeyFilter = 1 << 4
	AllKeys                  = StringKeys | SymbolKeys
)

// OwnKeys lists own keys as handles of strings and symbols, in the order of
// Reflect.ownKeys.
func (v Value) OwnKeys(ctx context.Context, filter KeyFilter) ([]Value, error) {
	defer v.pin().unpin()
	bits, err := v.ready()
	if err != nil {
		return nil, err
	}
	vm := v.vm
	at := vm.block()
	if _, err := vm.runStatus(ctx, xOwnNames, uint64(vm.cx), uint64(at), uint64(at+4), bits, uint64(filter)); err != nil {
		return nil, err
	}
	table, _ := vm.mem.u32(at)
	n, _ := vm.mem.u32(at + 4)
	keys := make([]Value, 0, min(n, 1<<16))
	for i := range n {
		id, ok := vm.mem.u32(table + i*8 + 4) // {bool enumerable; atom}
		if !ok {
			err = fmt.Errorf("read %d keys: out of range", n)
			break
		}
		var key uint64
		if key, err = vm.runValue(ctx, xAtomToValue, uint64(vm.cx), uint64(id)); err != nil {
			break
		}
		keys = append(keys, vm.own(key))
	}
	if _, freed := vm.run(ctx, xFreePropertyEnum, uint64(vm.cx), uint64(table), uint64(n)); freed != nil && err == nil {
		err = freed
	}
	if err != nil {
		for _, k := range keys {
			_ = k.Free()
		}
		return nil, err
	}
	return keys, nil
}

// OwnNames lists the names of own properties that are strings.
func (v Value) OwnNames(ctx context.Context, enumerableOnly bool) ([]string, error) {
	filter := StringKeys
	if enumerableOnly {
		filter |= EnumerableOnly
	}
	keys, err := v.OwnKeys(ctx, filter)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(keys))
	for _, k := range keys {
		if err == nil {
			var name string
			if name, err = k.Text(); err == nil {
				names = append(names, name)
			}
		}
		_ = k.Free()
	}
	if err != nil {
		return nil, err
	}
	return names, nil
}

// Prototype is Object.getPrototypeOf.
func (v Value) Prototype(ctx context.Context) (Value, error) {
	defer v.pin().unpin()
	bits, err := v.ready()
	if err != nil {
		return Value{}, err
	}
	return v.vm.made(v.vm.runValue(ctx, xGetPrototype, uint64(v.vm.cx), bits))
}

// SetPrototype is Object.setPrototypeOf.
func (v Value) SetPrototype(ctx context.Context, proto Value) error {
	defer v.pin().unpin()
	defer proto.pin().unpin()
	bits, err := v.ready()
	if err != nil {
		return err
	}
	p, err := v.vm.raw(proto)
	if err != nil {
		return err
	}
	_, err = v.vm.runStatus(ctx, xSetPrototype, uint64(v.vm.cx), bits, p)
	return err
}

// Extensible is Object.isExtensible.
func (v Value) Extensible(ctx context.Context) (bool, error) {
	defer v.pin().unpin()
	bits, err := v.ready()
	if err != nil {
		return false, err
	}
	return v.vm.runStatus(ctx, xIsExtensible, uint64(v.vm.cx), bits)
}

// PreventExtensions is Reflect.preventExtensions.
func (v Value) PreventExtensions(ctx context.Context) (bool, error) {
	defer v.pin().unpin()
	bits, err := v.ready()
	if err != nil {
		return false, err
	}
	return v.vm.runStatus(ctx, xPreventExtensions, uint64(v.vm.cx), bits)
}
