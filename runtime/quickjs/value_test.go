package quickjs

import (
	"context"
	"errors"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestNumber_roundTrips(t *testing.T) {
	vm := newVM(t, VMOptions{})
	setGlobal(t, vm, "same", must(t)(vm.Eval(t.Context(), "Object.is", "x.js")))
	for source, f := range map[string]float64{
		"0": 0, "-0": math.Copysign(0, -1), "1": 1, "-1": -1, "2147483647": math.MaxInt32, "-2147483648": math.MinInt32,
		"2147483648": 1 << 31, "1.5": 1.5, "5e-324": math.SmallestNonzeroFloat64, "1.7976931348623157e308": math.MaxFloat64,
		"Infinity": math.Inf(1), "-Infinity": math.Inf(-1), "NaN": math.NaN(), "9007199254740993": 9007199254740992,
	} {
		setGlobal(t, vm, "x", vm.Number(f))
		expect(t, vm, "Object.is(x, "+source+")", "true")
		got, err := eval(t, vm, source).Float64()
		if err != nil || math.Float64bits(got) != math.Float64bits(f) && !(got != got && f != f) {
			t.Errorf("%s came out as %v: %v", source, got, err)
		}
	}
	if f, err := vm.Int(-7).Float64(); f != -7 || err != nil {
		t.Errorf("Int(-7) is %v, %v", f, err)
	}
}

func TestNumber_hasItsKindInEveryRange(t *testing.T) {
	vm := newVM(t, VMOptions{})
	for _, f := range []float64{-1e308, -1e-308, 1e-300, 3, 1e300, math.Inf(-1), math.NaN()} {
		if k := vm.Number(f).Kind(); k != Number {
			t.Errorf("%v is a %s", f, k)
		}
	}
}

func TestString_keepsNULAndLoneSurrogates(t *testing.T) {
	vm := newVM(t, VMOptions{})
	for _, units := range [][]uint16{
		{}, {'a'}, {0}, {'a', 0, 'b', 0}, {0xd800}, {0xdc00, 0xd800}, {0xd83d, 0xde00}, {0xe9}, {'x', 0xd83d}, {0xffff}, {0xfeff, 'a'},
	} {
		s := must(t)(vm.NewStringUTF16(units))
		back, err := s.UTF16()
		if err != nil || !slices.Equal(back, units) && len(units)+len(back) > 0 {
			t.Errorf("UTF-16 %x came back as %x: %v", units, back, err)
		}
		wtf8, err := s.Text()
		if err != nil {
			t.Fatal(err)
		}
		again := must(t)(vm.NewString(wtf8))
		if back, err = again.UTF16(); err != nil || !slices.Equal(back, units) && len(units)+len(back) > 0 {
			t.Errorf("%x as WTF-8 %q came back as %x: %v", units, wtf8, back, err)
		}
		setGlobal(t, vm, "s", again)
		setGlobal(t, vm, "r", s)
		expect(t, vm, "s === r && s.length", strings.TrimSpace(text(t, vm, "r.length")))
	}
}

func TestString_ofManySizes(t *testing.T) {
	vm := newVM(t, VMOptions{})
	for _, n := range []int{0, 1, scratchText - 2, scratchText - 1, scratchText, scratchText + 1, 5000, 1 << 20} {
		want := strings.Repeat("é", n)
		got, err := must(t)(vm.NewString(want)).Text()
		if err != nil || got != want {
			t.Errorf("%d characters came back as %d bytes: %v", n, len(got), err)
		}
	}
	// A concatenation stays a rope until it is read.
	got, err := eval(t, vm, "'a'.repeat(9000) + String(Math.min(1, 2)) + 'b'.repeat(9000)").Text()
	if err != nil || got != strings.Repeat("a", 9000)+"1"+strings.Repeat("b", 9000) {
		t.Errorf("a rope came back as %d bytes: %v", len(got), err)
	}
}

func TestString_invalidUTF8BecomesTheReplacementCharacter(t *testing.T) {
	vm := newVM(t, VMOptions{})
	got, err := must(t)(vm.NewString("a\xffb")).Text()
	if err != nil || got != "a\ufffdb" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestBigInt_roundTripsAtAnySize(t *testing.T) {
	vm := newVM(t, VMOptions{})
	for _, digits := range []string{"0", "-1", "9223372036854775807", "-9223372036854775808", "18446744073709551615", "-18446744073709551616", "123456789012345678901234567890", "-99999999999999999999999999"} {
		n, _ := new(big.Int).SetString(digits, 10)
		v := must(t)(vm.NewBigInt(n))
		if v.Kind() != BigInt {
			t.Errorf("%s is a %s", digits, v.Kind())
		}
		setGlobal(t, vm, "x", v)
		expect(t, vm, "x === "+digits+"n", "true")
		if back, err := v.BigInt(); err != nil || back.Cmp(n) != 0 {
			t.Errorf("%s came back as %s: %v", digits, back, err)
		}
	}
}

func TestDate_isMilliseconds(t *testing.T) {
	vm := newVM(t, VMOptions{})
	setGlobal(t, vm, "d", must(t)(vm.NewDate(time.UnixMilli(1700000000123))))
	expect(t, vm, "d.toISOString()", "2023-11-14T22:13:20.123Z")
	setGlobal(t, vm, "d", must(t)(vm.NewDate(time.Time{})))
	expect(t, vm, "isNaN(d)", "true")
}

func TestKind_isWhatTypeofSays(t *testing.T) {
	vm := newVM(t, VMOptions{})
	for _, source := range []string{"undefined", "true", "1", "1.5", "1n", "2n**80n", "'a'", "'a'.repeat(9999)+Math.min(1,2)", "Symbol()", "({})", "[]", "function(){}", "class{}", "new Proxy(function(){},{})", "new Proxy({},{})", "Math.max", "async()=>{}"} {
		v := eval(t, vm, "("+source+")")
		if want := text(t, vm, "typeof ("+source+")"); v.Kind().String() != want {
			t.Errorf("%s is a %s, not a %s", source, v.Kind(), want)
		}
	}
	if k := eval(t, vm, "null").Kind(); k != Null {
		t.Errorf("null is a %s", k)
	}
}

func TestRead_ofTheWrongKindIsAnError(t *testing.T) {
	vm := newVM(t, VMOptions{})
	object := eval(t, vm, "({valueOf(){ throw 1 }, toString(){ throw 2 }})")
	_, number := object.Float64()
	_, boolean := object.Bool()
	_, str := object.Text()
	_, units := object.UTF16()
	_, bigint := object.BigInt()
	_, bytes := object.Bytes()
	_, _, promise := object.Promise()
	_, proxy := object.ProxyTarget(t.Context())
	for i, err := range []error{number, boolean, str, units, bigint, bytes, promise, proxy} {
		if !errors.Is(err, ErrType) {
			t.Errorf("reading %d: %v", i, err)
		}
	}
}

func TestConversion_runsTheGuestsMethods(t *testing.T) {
	vm := newVM(t, VMOptions{})
	v := eval(t, vm, "({valueOf(){ return 41 }, toString(){ return 'txt' }})")
	if s, err := v.ToText(t.Context()); s != "txt" || err != nil {
		t.Errorf("text %q, %v", s, err)
	}
	if f, err := v.ToNumber(t.Context()); f != 41 || err != nil {
		t.Errorf("number %v, %v", f, err)
	}
	if b, err := v.ToBool(t.Context()); !b || err != nil {
		t.Errorf("bool %v, %v", b, err)
	}
	thrown := (*JSError)(nil)
	if _, err := eval(t, vm, "Symbol('s')").ToText(t.Context()); !errors.As(err, &thrown) || thrown.Name != "TypeError" {
		t.Errorf("text of a symbol: %v", err)
	}
	if _, err := eval(t, vm, "1n").ToNumber(t.Context()); !errors.As(err, &thrown) || thrown.Name != "TypeError" {
		t.Errorf("number of a bigint: %v", err)
	}
}

func TestHandle_freedTwiceOrUsedAfterIsStale(t *testing.T) {
	vm := newVM(t, VMOptions{})
	v := eval(t, vm, "({a: 1})")
	if err := v.Free(); err != nil {
		t.Fatal(err)
	}
	// The slot is used again at once: the old handle must not reach the new value.
	other := eval(t, vm, "({b: 2})")
	if err := v.Free(); !errors.Is(err, ErrStale) {
		t.Errorf("free: %v", err)
	}
	if _, err := v.Get(t.Context(), Name("b")); !errors.Is(err, ErrStale) {
		t.Errorf("get: %v", err)
	}
	if _, err := v.Dup(); !errors.Is(err, ErrStale) {
		t.Errorf("dup: %v", err)
	}
	if _, err := vm.Call(t.Context(), v, vm.Undefined()); !errors.Is(err, ErrStale) {
		t.Errorf("call: %v", err)
	}
	if _, err := vm.NewArray(v); !errors.Is(err, ErrStale) {
		t.Errorf("array: %v", err)
	}
	if v.Alive() || !other.Alive() {
		t.Error("the wrong handle is alive")
	}
	if f, err := must(t)(other.Get(t.Context(), Name("b"))).Float64(); f != 2 || err != nil {
		t.Errorf("the other handle reads %v, %v", f, err)
	}
	var zero Value
	if err := zero.Free(); !errors.Is(err, ErrStale) {
		t.Errorf("free of the zero Value: %v", err)
	}
	if _, err := zero.Get(t.Context(), Name("a")); !errors.Is(err, ErrStale) {
		t.Errorf("get of the zero Value: %v", err)
	}
}

func TestHandle_ofAnotherVMIsForeign(t *testing.T) {
	a, b := newVM(t, VMOptions{}), newVM(t, VMOptions{})
	foreign := eval(t, b, "({})")
	object := eval(t, a, "({})")
	if err := object.Set(t.Context(), Name("x"), foreign); !errors.Is(err, ErrForeign) {
		t.Errorf("set: %v", err)
	}
	if err := object.Set(t.Context(), Name("x"), b.Int(1)); !errors.Is(err, ErrForeign) {
		t.Errorf("set of an immediate: %v", err)
	}
	if _, err := a.Call(t.Context(), eval(t, a, "(x => x)"), a.Undefined(), foreign); !errors.Is(err, ErrForeign) {
		t.Errorf("call: %v", err)
	}
	define(t, a, "f", func(context.Context, *Call) (Value, error) { return foreign, nil })
	if _, err := a.Eval(t.Context(), "f()", "x.js"); err == nil || !strings.Contains(err.Error(), "another VM") {
		t.Errorf("result: %v", err)
	}
}

func TestHandle_freedDuringACallThatUsesItStaysUntilTheCallEnds(t *testing.T) {
	vm := newVM(t, VMOptions{})
	// The function, its receiver and its argument are known to the host only, so
	// freeing the handles would free the objects under the running call.
	fn := eval(t, vm, "(function(x) { free(); let s = 0; for (let i = 0; i < 50; i++) s += {i}.i; return this.a + x.a + s })")
	this, arg := eval(t, vm, "({a: 1})"), eval(t, vm, "({a: 2})")
	define(t, vm, "free", func(context.Context, *Call) (Value, error) {
		for _, v := range []Value{fn, this, arg} {
			if err := v.Free(); err != nil {
				t.Error(err)
			}
			if v.Alive() {
				t.Error("a freed handle is alive")
			}
		}
		return Value{}, vm.GC(t.Context())
	})
	got, err := vm.Call(t.Context(), fn, this, arg)
	if err != nil {
		t.Fatal(err)
	}
	if f, _ := got.Float64(); f != 1+2+49*50/2 {
		t.Errorf("the call returned %v", f)
	}
	if err := fn.Free(); !errors.Is(err, ErrStale) {
		t.Errorf("free again: %v", err)
	}
	// The same through a property: a getter that frees its object.
	object := eval(t, vm, "({get x() { release(); return [1,2,3].map(n => n * 2).join() }})")
	define(t, vm, "release", func(context.Context, *Call) (Value, error) { return Value{}, object.Free() })
	if s, err := must(t)(object.Get(t.Context(), Name("x"))).Text(); s != "2,4,6" || err != nil {
		t.Errorf("the getter returned %q, %v", s, err)
	}
}

func TestArguments_endWithTheirCallUnlessDuplicated(t *testing.T) {
	vm := newVM(t, VMOptions{})
	var borrowed, kept, this Value
	define(t, vm, "f", func(_ context.Context, c *Call) (Value, error) {
		borrowed, this = c.Arg(0), c.This
		if err := borrowed.Free(); err != nil {
			t.Errorf("free of a borrowed argument: %v", err)
		}
		if !borrowed.Alive() {
			t.Error("freeing a borrowed argument ended it")
		}
		var err error
		kept, err = borrowed.Dup()
		return Value{}, err
	})
	eval(t, vm, "f.call({}, {a: 5})")
	if borrowed.Alive() || this.Alive() {
		t.Error("an argument outlived its call")
	}
	if f, err := must(t)(kept.Get(t.Context(), Name("a"))).Float64(); f != 5 || err != nil {
		t.Errorf("the duplicate reads %v, %v", f, err)
	}
}

func TestScope_freesWhatWasMadeInsideAndNotKept(t *testing.T) {
	vm := newVM(t, VMOptions{})
	before := vm.Handles()
	outer := vm.Scope()
	a := eval(t, vm, "({})")
	inner := vm.Scope()
	b := eval(t, vm, "({})")
	c := inner.Keep(eval(t, vm, "({c: 3})"))
	inner.Close()
	if b.Alive() || !c.Alive() || !a.Alive() {
		t.Errorf("after the inner scope: a %v, b %v, c %v", a.Alive(), b.Alive(), c.Alive())
	}
	d := outer.Keep(eval(t, vm, "({})"))
	outer.Close()
	outer.Close()
	if a.Alive() || c.Alive() || !d.Alive() {
		t.Errorf("after the outer scope: a %v, c %v, d %v", a.Alive(), c.Alive(), d.Alive())
	}
	if err := d.Free(); err != nil {
		t.Error(err)
	}
	if n := vm.Handles(); n != before {
		t.Errorf("%d handles are left, %d were there", n, before)
	}
}

func TestScope_closesTheOnesInsideIt(t *testing.T) {
	vm := newVM(t, VMOptions{})
	outer := vm.Scope()
	inner := vm.Scope()
	v := eval(t, vm, "({})")
	outer.Close()
	inner.Close()
	if v.Alive() {
		t.Error("a value of an inner scope outlived the outer one")
	}
	if after := eval(t, vm, "({})"); !after.Alive() {
		t.Error("a value made after the scopes is not alive")
	}
}

func TestScope_ofACallerDoesNotReachIntoAHostCall(t *testing.T) {
	vm := newVM(t, VMOptions{})
	var stored, scoped Value
	define(t, vm, "store", func(_ context.Context, c *Call) (Value, error) {
		var err error
		if stored, err = c.Arg(0).Dup(); err != nil {
			return Value{}, err
		}
		vm.Scope() // left open: the call closes it
		scoped, err = vm.NewObject()
		return Value{}, err
	})
	s := vm.Scope()
	eval(t, vm, "store(() => 7)")
	s.Close()
	if scoped.Alive() {
		t.Error("a scope that a host call left open is still open")
	}
	got := must(t)(vm.Call(t.Context(), stored, vm.Undefined()))
	if f, _ := got.Float64(); f != 7 {
		t.Errorf("the stored callback returned %v", f)
	}
}

func TestIdentity_tellsObjectsApart(t *testing.T) {
	vm := newVM(t, VMOptions{})
	a := eval(t, vm, "globalThis.o = {}")
	again, other := eval(t, vm, "o"), eval(t, vm, "({})")
	if a.Identity() == 0 || a.Identity() != again.Identity() || a.Identity() == other.Identity() {
		t.Errorf("identities %d, %d, %d", a.Identity(), again.Identity(), other.Identity())
	}
	if vm.Int(1).Identity() != 0 {
		t.Error("a number has an identity")
	}
}

func TestComparison_followsTheLanguage(t *testing.T) {
	vm := newVM(t, VMOptions{})
	nan := vm.Number(math.NaN())
	strict, err1 := nan.StrictEquals(t.Context(), nan)
	same, err2 := nan.SameValue(t.Context(), nan)
	instance, err3 := eval(t, vm, "[]").InstanceOf(t.Context(), eval(t, vm, "Array"))
	if strict || !same || !instance || errors.Join(err1, err2, err3) != nil {
		t.Errorf("NaN === NaN %v, Object.is %v, [] instanceof Array %v, %v", strict, same, instance, errors.Join(err1, err2, err3))
	}
}

func TestClass_isTheEnginesAndCannotBeFaked(t *testing.T) {
	vm := newVM(t, VMOptions{})
	tests := map[string]func(Value) bool{
		"[]": Value.IsArray, "new TypeError": Value.IsError, "new Proxy({}, {})": Value.IsProxy, "Promise.resolve()": Value.IsPromise,
		"new Map": Value.IsMap, "new Set": Value.IsSet, "new Date": Value.IsDate, "/a/": Value.IsRegExp, "new WeakRef({})": Value.IsWeakRef,
		"new WeakMap": Value.IsWeakMap, "new WeakSet": Value.IsWeakSet, "new DataView(new ArrayBuffer(8))": Value.IsDataView,
		"new ArrayBuffer(8)": Value.IsArrayBuffer, "new Float32Array(2)": Value.IsTypedArray, "(class {})": Value.IsConstructor,
	}
	for source, want := range tests {
		v := eval(t, vm, source)
		for other, test := range tests {
			if got := test(v); got != (other == source) {
				t.Errorf("the test for %s says %v to %s", other, got, source)
			}
		}
		if fake := eval(t, vm, "Object.create(Object.getPrototypeOf("+source+"))"); source != "(class {})" && source != "new Proxy({}, {})" && want(fake) {
			t.Errorf("an object with the prototype of %s passes its test", source)
		}
	}
	for _, source := range []string{"1", "'a'", "null", "undefined", "Symbol()", "1n"} {
		for name, test := range tests {
			if test(eval(t, vm, source)) {
				t.Errorf("the test for %s says yes to %s", name, source)
			}
		}
	}
	names := map[string]string{}
	for _, source := range []string{"({})", "[]", "new Map", "new Date", "function(){}", "1"} {
		name, err := eval(t, vm, "("+source+")").ClassName(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		names[source] = name
	}
	want := map[string]string{"({})": "Object", "[]": "Array", "new Map": "Map", "new Date": "Date", "function(){}": "Function", "1": ""}
	if !reflect.DeepEqual(names, want) {
		t.Errorf("class names are %v", names)
	}
}

func TestBuffer_copiesInAndOut(t *testing.T) {
	vm := newVM(t, VMOptions{})
	data := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	buf := must(t)(vm.NewArrayBuffer(data))
	data[0] = 99
	setGlobal(t, vm, "b", buf)
	expect(t, vm, "new Uint8Array(b).join()", "1,2,3,4,5,6,7,8")
	view := eval(t, vm, "new Uint16Array(b, 2, 2)")
	if got, err := view.Bytes(); err != nil || !slices.Equal(got, []byte{3, 4, 5, 6}) {
		t.Errorf("the view holds %v, %v", got, err)
	}
	if err := view.SetBytes(1, []byte{40, 50}); err != nil {
		t.Fatal(err)
	}
	expect(t, vm, "new Uint8Array(b).join()", "1,2,3,40,50,6,7,8")
	for _, offset := range []int{-1, 3, 4, math.MaxInt} {
		if err := view.SetBytes(offset, []byte{0, 0}); err == nil {
			t.Errorf("writing two bytes at %d of four is no error", offset)
		}
	}
	for _, source := range []string{"new ArrayBuffer(0)", "new Uint8Array(0)", "new Uint8Array(b, 8)"} {
		if got, err := eval(t, vm, source).Bytes(); err != nil || len(got) != 0 {
			t.Errorf("%s holds %v, %v", source, got, err)
		}
	}
	if got, err := must(t)(vm.NewUint8Array(nil)).Bytes(); err != nil || len(got) != 0 {
		t.Errorf("an empty Uint8Array holds %v, %v", got, err)
	}
	if err := buf.SetBytes(0, nil); err != nil {
		t.Errorf("writing nothing: %v", err)
	}
}

func TestBuffer_detachedThrows(t *testing.T) {
	vm := newVM(t, VMOptions{})
	setGlobal(t, vm, "b", must(t)(vm.NewArrayBuffer([]byte{1, 2})))
	view := eval(t, vm, "globalThis.v = new Uint8Array(b)")
	eval(t, vm, "b.transfer()")
	for _, v := range []Value{eval(t, vm, "b"), view} {
		got, err := v.Bytes()
		if thrown := (*JSError)(nil); !errors.As(err, &thrown) && len(got) > 0 {
			t.Errorf("a detached buffer holds %v, %v", got, err)
		}
	}
	expect(t, vm, "1", "1")
}

func TestJSON_parsesAndPrintsInTheGuest(t *testing.T) {
	vm := newVM(t, VMOptions{})
	eval(t, vm, "JSON = { parse() { throw 'patched' }, stringify() { throw 'patched' } }")
	v := must(t)(vm.ParseJSON(t.Context(), `{"a":[1,2,{"b":"\u0000é"}]}`, "x.json"))
	got, ok, err := v.JSON(t.Context(), 0)
	if want := `{"a":[1,2,{"b":"\u0000é"}]}`; got != want || !ok || err != nil {
		t.Errorf("got %s, %v, %v", got, ok, err)
	}
	if got, _, _ := v.JSON(t.Context(), 2); !strings.Contains(got, "\n  \"a\"") {
		t.Errorf("indented: %s", got)
	}
	if _, ok, err := vm.Undefined().JSON(t.Context(), 0); ok || err != nil {
		t.Errorf("undefined has a JSON text: %v", err)
	}
	thrown := (*JSError)(nil)
	if _, err := vm.ParseJSON(t.Context(), `{"a":`, "x.json"); !errors.As(err, &thrown) || thrown.Name != "SyntaxError" {
		t.Errorf("a broken text: %v", err)
	}
}
