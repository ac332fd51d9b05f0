package quickjs

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestProperty_byNameIndexAndSymbol(t *testing.T) {
	vm := newVM(t, VMOptions{})
	o := must(t)(vm.NewObject())
	symbol := must(t)(vm.NewSymbol("s", false))
	shared := must(t)(vm.NewSymbol("shared", true))
	long := strings.Repeat("k", 2*scratchText)
	keys := []Key{Name("a"), Name(""), Name("a\x00b"), Name("\xed\xa0\x80"), Name(long), Name("7"), Index(8), Index(1 << 31), At(symbol), At(shared)}
	for i, k := range keys {
		if has, err := o.Has(t.Context(), k); has || err != nil {
			t.Errorf("key %d is there before: %v", i, err)
		}
		if err := o.Set(t.Context(), k, vm.Int(i)); err != nil {
			t.Fatal(err)
		}
	}
	for i, k := range keys {
		if f, err := must(t)(o.Get(t.Context(), k)).Float64(); int(f) != i || err != nil {
			t.Errorf("key %d reads %v, %v", i, f, err)
		}
	}
	setGlobal(t, vm, "o", o)
	setGlobal(t, vm, "s", symbol)
	expect(t, vm, "[o.a, o[''], o['a\\0b'], o['\\ud800'], o[7], o[8], o[2147483648], o[s], o[Symbol.for('shared')]].join()", "0,1,2,3,5,6,7,8,9")
	for i, k := range keys {
		if gone, err := o.Delete(t.Context(), k); !gone || err != nil {
			t.Errorf("key %d is not deleted: %v", i, err)
		}
	}
	if names, err := o.OwnKeys(t.Context(), AllKeys); len(names) != 0 || err != nil {
		t.Errorf("%d keys are left: %v", len(names), err)
	}
}

func TestProperty_keyOfAValueConverts(t *testing.T) {
	vm := newVM(t, VMOptions{})
	o := eval(t, vm, "({x: 1, 3: 'three'})")
	if s, err := must(t)(o.Get(t.Context(), At(vm.Int(3)))).Text(); s != "three" || err != nil {
		t.Errorf("o[3] is %q, %v", s, err)
	}
	if f, err := must(t)(o.Get(t.Context(), At(eval(t, vm, "({toString: () => 'x'})")))).Float64(); f != 1 || err != nil {
		t.Errorf("o[{toString}] is %v, %v", f, err)
	}
	thrown := (*JSError)(nil)
	if _, err := o.Get(t.Context(), At(eval(t, vm, "({toString() { throw new RangeError('no') }})"))); !errors.As(err, &thrown) || thrown.Name != "RangeError" {
		t.Errorf("a key that throws: %v", err)
	}
}

func TestProperty_keyThatFreesItsObjectIsSafe(t *testing.T) {
	vm := newVM(t, VMOptions{})
	o := eval(t, vm, "({x: {y: 1}})")
	key := eval(t, vm, "({toString() { free(); return 'x' }})")
	define(t, vm, "free", func(context.Context, *Call) (Value, error) {
		return Value{}, errors.Join(o.Free(), key.Free(), vm.GC(t.Context()))
	})
	v, err := o.Get(t.Context(), At(key))
	if err != nil {
		t.Fatal(err)
	}
	if f, err := must(t)(v.Get(t.Context(), Name("y"))).Float64(); f != 1 || err != nil {
		t.Errorf("got %v, %v", f, err)
	}
}

func TestProperty_gettersSettersAndTrapsRun(t *testing.T) {
	vm := newVM(t, VMOptions{})
	o := eval(t, vm, `new Proxy({}, {
		get(_, k) { return 'get ' + String(k) }, has(_, k) { return k === 'yes' },
		set(_, k, v) { globalThis.log = k + '=' + v; return true }, deleteProperty() { return false },
		ownKeys() { return ['p', 'q'] }, getOwnPropertyDescriptor() { return {value: 1, enumerable: true, configurable: true} },
		getPrototypeOf() { return Array.prototype } })`)
	if s, _ := must(t)(o.Get(t.Context(), Name("k"))).Text(); s != "get k" {
		t.Errorf("get: %q", s)
	}
	yes, err1 := o.Has(t.Context(), Name("yes"))
	no, err2 := o.Has(t.Context(), Name("no"))
	deleted, err3 := o.Delete(t.Context(), Name("k"))
	err4 := o.Set(t.Context(), Name("k"), vm.Int(3))
	if !yes || no || deleted || errors.Join(err1, err2, err3, err4) != nil {
		t.Errorf("has %v, %v, delete %v, %v", yes, no, deleted, errors.Join(err1, err2, err3, err4))
	}
	expect(t, vm, "log", "k=3")
	if names, err := o.OwnNames(t.Context(), true); !slices.Equal(names, []string{"p", "q"}) || err != nil {
		t.Errorf("names %v, %v", names, err)
	}
	proto := must(t)(o.Prototype(t.Context()))
	if proto.Identity() != eval(t, vm, "Array.prototype").Identity() {
		t.Error("the prototype is not what the trap returned")
	}
	if target := must(t)(o.ProxyTarget(t.Context())); target.IsProxy() {
		t.Error("the target is the proxy")
	}
	if handler := must(t)(o.ProxyHandler(t.Context())); handler.Kind() != Object {
		t.Error("the handler is not an object")
	}
}

func TestProperty_failuresAreTheGuestsErrors(t *testing.T) {
	vm := newVM(t, VMOptions{})
	thrown := (*JSError)(nil)
	frozen := eval(t, vm, "Object.freeze({a: 1})")
	if err := frozen.Set(t.Context(), Name("a"), vm.Int(2)); !errors.As(err, &thrown) || thrown.Name != "TypeError" {
		t.Errorf("write to a frozen object: %v", err)
	}
	if deleted, err := frozen.Delete(t.Context(), Name("a")); deleted || err != nil {
		t.Errorf("delete from a frozen object: %v, %v", deleted, err)
	}
	if _, err := vm.Undefined().Get(t.Context(), Name("a")); !errors.As(err, &thrown) || thrown.Name != "TypeError" {
		t.Errorf("read of undefined: %v", err)
	}
	if _, err := eval(t, vm, "({get a() { throw {custom: 1} }})").Get(t.Context(), Name("a")); !errors.As(err, &thrown) || thrown.Name != "" {
		t.Errorf("a getter that throws an object: %v", err)
	}
}

func TestDescriptor_definesAndReadsWithoutGetters(t *testing.T) {
	vm := newVM(t, VMOptions{})
	o := must(t)(vm.NewObject())
	setGlobal(t, vm, "o", o)
	getter := eval(t, vm, "(function() { globalThis.ran = true; return 5 })")
	for _, c := range []struct {
		name string
		d    Descriptor
		want string
	}{
		{"plain", Descriptor{Value: vm.Int(1)}, `{"value":1,"writable":false,"enumerable":false,"configurable":false}`},
		{"open", Descriptor{Value: vm.Int(2), Writable: Yes, Enumerable: Yes, Configurable: Yes}, `{"value":2,"writable":true,"enumerable":true,"configurable":true}`},
		{"hidden", Descriptor{Value: vm.Int(3), Writable: Yes, Enumerable: No}, `{"value":3,"writable":true,"enumerable":false,"configurable":false}`},
		{"getter", Descriptor{Get: getter, Configurable: Yes}, `{"enumerable":false,"configurable":true}`},
	} {
		if ok, err := o.Define(t.Context(), Name(c.name), c.d); !ok || err != nil {
			t.Errorf("define %s: %v, %v", c.name, ok, err)
		}
		expect(t, vm, "JSON.stringify(Object.getOwnPropertyDescriptor(o, '"+c.name+"'))", c.want)
	}
	if ok, err := o.Define(t.Context(), Name("plain"), Descriptor{Value: vm.Int(9)}); ok || err != nil {
		t.Errorf("redefining a fixed property: %v, %v", ok, err)
	}
	d, found, err := o.GetOwn(t.Context(), Name("hidden"))
	if f, _ := d.Value.Float64(); !found || err != nil || f != 3 || d.Writable != Yes || d.Enumerable != No || d.Configurable != No || d.Accessor() {
		t.Errorf("hidden is %+v, %v, %v", d, found, err)
	}
	d, found, err = o.GetOwn(t.Context(), Name("getter"))
	if !found || err != nil || !d.Accessor() || d.Get.Identity() != getter.Identity() || d.Set.Kind() != Undefined || d.Configurable != Yes {
		t.Errorf("getter is %+v, %v, %v", d, found, err)
	}
	d.Free()
	if d.Get.Alive() {
		t.Error("Free left the getter")
	}
	expect(t, vm, "typeof ran", "undefined")
	if _, found, err = o.GetOwn(t.Context(), Name("toString")); found || err != nil {
		t.Errorf("an inherited property is own: %v", err)
	}
}

func TestOwnKeys_filtersAndKeepsTheOrder(t *testing.T) {
	vm := newVM(t, VMOptions{})
	o := eval(t, vm, "Object.defineProperty({b: 1, 2: 1, a: 1, 1: 1, [Symbol('s')]: 1}, 'hidden', {value: 1})")
	for _, c := range []struct {
		filter KeyFilter
		want   string
	}{
		{StringKeys | EnumerableOnly, "1 2 b a"}, {StringKeys, "1 2 b a hidden"}, {SymbolKeys, "symbol"}, {AllKeys, "1 2 b a hidden symbol"},
	} {
		keys, err := o.OwnKeys(t.Context(), c.filter)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, k := range keys {
			s := k.Kind().String()
			if k.Kind() == String {
				s, _ = k.Text()
			}
			got = append(got, s)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("filter %d: %v, not %s", c.filter, got, c.want)
		}
	}
	big := eval(t, vm, "Object.fromEntries(Array.from({length: 3000}, (_, i) => ['k' + i, i]))")
	if names, err := big.OwnNames(t.Context(), false); len(names) != 3000 || names[2999] != "k2999" || err != nil {
		t.Errorf("%d names, %v", len(names), err)
	}
}

func TestObject_prototypeAndExtensibility(t *testing.T) {
	vm := newVM(t, VMOptions{})
	o := must(t)(vm.NewObjectProto(vm.Null()))
	setGlobal(t, vm, "o", o)
	expect(t, vm, "Object.getPrototypeOf(o) === null", "true")
	if err := o.SetPrototype(t.Context(), eval(t, vm, "Map.prototype")); err != nil {
		t.Fatal(err)
	}
	expect(t, vm, "o instanceof Map", "true")
	if yes, err := o.Extensible(t.Context()); !yes || err != nil {
		t.Errorf("extensible: %v, %v", yes, err)
	}
	if ok, err := o.PreventExtensions(t.Context()); !ok || err != nil {
		t.Errorf("prevent: %v, %v", ok, err)
	}
	if yes, err := o.Extensible(t.Context()); yes || err != nil {
		t.Errorf("extensible after: %v, %v", yes, err)
	}
	thrown := (*JSError)(nil)
	if err := o.SetPrototype(t.Context(), vm.Null()); !errors.As(err, &thrown) {
		t.Errorf("a fixed prototype changed: %v", err)
	}
}

func TestArray_ofValuesOfAllKinds(t *testing.T) {
	vm := newVM(t, VMOptions{})
	many := make([]Value, 0, 200)
	for i := range 200 {
		many = append(many, must(t)(vm.NewString(strings.Repeat("x", i%7))))
	}
	setGlobal(t, vm, "a", must(t)(vm.NewArray(vm.Int(1), many[1], vm.Null(), vm.Undefined(), vm.Bool(true), must(t)(vm.NewObject()))))
	expect(t, vm, "JSON.stringify(a)", `[1,"x",null,null,true,{}]`)
	setGlobal(t, vm, "a", must(t)(vm.NewArray(many...)))
	expect(t, vm, "a.length + a.join('').length", "794")
	setGlobal(t, vm, "a", must(t)(vm.NewArray()))
	expect(t, vm, "a.push(1) + a.length", "2")
	if !many[1].Alive() {
		t.Error("the array took the handle over")
	}
}

func TestProxy_ofHandlesOfTheHost(t *testing.T) {
	vm := newVM(t, VMOptions{})
	p := must(t)(vm.NewProxy(eval(t, vm, "({})"), eval(t, vm, "({get: (_, k) => k + '!'})")))
	setGlobal(t, vm, "p", p)
	expect(t, vm, "p.hello", "hello!")
	thrown := (*JSError)(nil)
	if _, err := vm.NewProxy(vm.Int(1), vm.Int(2)); !errors.As(err, &thrown) || thrown.Name != "TypeError" {
		t.Errorf("a proxy of a number: %v", err)
	}
}
