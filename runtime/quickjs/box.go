package quickjs

import (
	"context"
	"fmt"
	"math"
)

// A JSValue is 64 bits in this build of the engine: a tag in the high word and an
// integer or a pointer in the low one, with doubles moved so that they fall between
// the tags. Reading and writing the immediate ones here saves a call into wasm for
// every number. checkLayout compares the encodings with the engine's own before the
// first VM of an engine is handed out, so another build fails loudly.

type tag int32

const (
	tagBigInt    tag = -9
	tagSymbol    tag = -8
	tagString    tag = -7
	tagRope      tag = -6 // a string that is a concatenation not yet written out
	tagObject    tag = -1
	tagInt       tag = 0
	tagBool      tag = 1
	tagNull      tag = 2
	tagUndefined tag = 3
	// tagUninitialized is what is pending when there was no memory for an error.
	tagUninitialized tag = 4
	tagException     tag = 6
	tagShortBigInt   tag = 7
	tagFirst             = tagBigInt
	// floatShift moves a double's bits out of the tags' range.
	floatShift = uint64(0x7ff80000+9+1) << 32
)

func pack(t tag, low uint32) uint64 { return uint64(uint32(t))<<32 | uint64(low) }

var (
	bitsUndefined = pack(tagUndefined, 0)
	bitsNull      = pack(tagNull, 0)
	bitsFalse     = pack(tagBool, 0)
	bitsTrue      = pack(tagBool, 1)
	bitsNaN       = math.Float64bits(math.NaN())&^1 - floatShift // the engine's one NaN
)

func tagOf(bits uint64) tag { return tag(bits >> 32) }

// counted reports whether the value lives on the heap and has a reference count.
func counted(bits uint64) bool { return tagOf(bits) >= tagFirst && tagOf(bits) < 0 }

func isException(bits uint64) bool { return tagOf(bits) == tagException }

// isFloat reports whether bits hold a double: every tag outside the small range.
func isFloat(bits uint64) bool {
	t := tagOf(bits)
	return t < tagFirst || t > tagShortBigInt
}

// packNumber encodes a double, as a small integer where the engine would do so.
func packNumber(f float64) uint64 {
	if i := int32(f); float64(i) == f && (i != 0 || !math.Signbit(f)) {
		return pack(tagInt, uint32(i))
	}
	if f != f {
		return bitsNaN
	}
	return math.Float64bits(f) - floatShift
}

// unpackNumber decodes an integer or a double.
func unpackNumber(bits uint64) (float64, bool) {
	switch {
	case tagOf(bits) == tagInt:
		return float64(int32(uint32(bits))), true
	case isFloat(bits):
		return math.Float64frombits(bits + floatShift), true
	}
	return 0, false
}

// checkLayout compares the encodings of this file with what the engine makes.
func (vm *VM) checkLayout(ctx context.Context) error {
	for _, f := range []float64{0, 1, -1, math.MaxInt32, math.MinInt32, math.MaxInt32 + 1, 1.5, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), math.SmallestNonzeroFloat64, math.MaxFloat64} {
		got, err := vm.evalBox(ctx, xBoxedNumber, math.Float64bits(f))
		if err != nil {
			return fmt.Errorf("check the engine's value layout: %w", err)
		}
		back, ok := unpackNumber(got)
		if !ok || math.Float64bits(back) != math.Float64bits(f) && f == f || got != packNumber(f) && tagOf(got) != tagInt && tagOf(packNumber(f)) != tagInt {
			return fmt.Errorf("%w: the number %v is %#x in the engine", ErrLayout, f, got)
		}
	}
	for source, want := range map[string]tag{"undefined": tagUndefined, "null": tagNull, "true": tagBool, "'a'": tagString, "Symbol()": tagSymbol, "({})": tagObject, "1n": tagShortBigInt, "1n<<70n": tagBigInt} {
		got, err := vm.eval(ctx, source, "<layout>", 0)
		if err != nil {
			return fmt.Errorf("check the engine's value layout: %w", err)
		}
		if tagOf(got) != want {
			return fmt.Errorf("%w: %s has tag %d, not %d", ErrLayout, source, tagOf(got), want)
		}
		vm.release(got)
	}
	return nil
}
