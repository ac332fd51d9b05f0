package quickjs

import (
	"context"
	"errors"
	"fmt"
	"strconv"
)

// Where an array keeps what, in bytes from its start. takeSample compares them with
// what the engine makes.
const (
	arrayHeader = 8
	arrayShape  = 12
	arrayProps  = 16 // its properties, of which the first is the length
	arrayValues = 28
	arrayCount  = 32
	// headerMask leaves out the byte of the header that is never written.
	headerMask = 0xffff00ff
	// indexAtom is the bit that tells an atom that is an array index.
	indexAtom = 1 << 31
)

// numberOf reads a small number that the other half of the bridge passes.
func numberOf(bits uint64) uint32 {
	f, _ := unpackNumber(bits)
	return uint32(int64(f))
}

// refBits returns the guest's bits of a ref.
func refBits(ref uint64) uint64 {
	if at := int32(numberOf(ref)); at < 0 {
		return pack(tagSymbol, uint32(-at))
	}
	return pack(tagObject, numberOf(ref))
}

// refOf returns the ref of an object or a symbol, as the host's number.
func refOf(bits uint64) uint64 {
	if tagOf(bits) == tagSymbol {
		return packNumber(-float64(uint32(bits)))
	}
	return packNumber(float64(uint32(bits)))
}

func isRef(bits uint64) bool { return tagOf(bits) == tagObject || tagOf(bits) == tagSymbol }

// copyPrimitive makes the same primitive in another VM.
func copyPrimitive(ctx context.Context, from, to *VM, bits uint64) (uint64, error) {
	switch tagOf(bits) {
	case tagString, tagRope:
		s, err := from.text(ctx, bits)
		if err != nil {
			return 0, err
		}
		return to.newString(ctx, s)
	case tagBigInt:
		digits, err := from.text(ctx, bits)
		if err != nil {
			return 0, err
		}
		return to.eval(ctx, "("+digits+"n)", "<bigint>", 0) // a literal needs no global
	case tagObject, tagSymbol, tagException:
		return 0, fmt.Errorf("%w: only primitives are copied", ErrType)
	}
	return bits, nil
}

func (p *peer) toGuest(ctx context.Context, bits uint64) (uint64, error) {
	return copyPrimitive(ctx, p.b.host, p.guest, bits)
}

// toHost returns the host's bits of a guest's value: a ref, without a count of its
// own, for an object or a symbol.
func (p *peer) toHost(ctx context.Context, bits uint64) (uint64, error) {
	if isRef(bits) {
		return refOf(bits), nil
	}
	return copyPrimitive(ctx, p.guest, p.b.host, bits)
}

// taken returns what an operation of the guest gave, and tells the host how to take
// it. The bits have a reference, which goes to the host with a ref.
func (p *peer) taken(ctx context.Context, bits uint64, err error) (uint64, error) {
	if err != nil {
		return p.failed(ctx, err)
	}
	if isException(bits) {
		return p.thrown(ctx)
	}
	value, err := p.toHost(ctx, bits)
	if isRef(bits) {
		p.b.setState(tookRef)
		return value, err
	}
	p.guest.release(bits)
	if err != nil {
		return p.failed(ctx, err)
	}
	return p.gave(value), nil
}

// thrown hands the guest's pending exception to the host.
func (p *peer) thrown(ctx context.Context) (uint64, error) {
	bits, err := p.guest.call(xGetException, uint64(p.guest.cx))
	if err != nil {
		return p.failed(ctx, err)
	}
	// Out of memory may leave nothing at all.
	if tagOf(bits) == tagUninitialized || p.guest.uncatchable(bits) {
		if tagOf(bits) == tagObject {
			// Reading the stack of the engine's own error runs none of the guest's code.
			p.b.limitStack = p.guest.errorStack(ctx, bits)
		}
		p.guest.release(bits)
		p.b.setState(tookEnded)
		return bitsUndefined, nil
	}
	value, err := p.taken(ctx, bits, nil)
	if err == nil {
		how, _ := p.b.host.mem.u32(p.b.state)
		p.b.setState(how | tookThrown)
	}
	return value, err
}

// failed tells the host that the engine has ended, or failed. What is the host's own
// failure, or too deep a nesting, is thrown there.
func (p *peer) failed(ctx context.Context, err error) (uint64, error) {
	if p.b.host.dead != nil || errors.Is(err, ErrDepth) {
		return 0, err
	}
	if limit := (*LimitError)(nil); errors.As(err, &limit) && limit.Kind == LimitMemory {
		p.b.limitStack = limit.Stack
		p.b.setState(tookEnded)
		return bitsUndefined, nil
	}
	text, err := p.b.host.newString(ctx, err.Error())
	if err != nil {
		return 0, err
	}
	p.b.setState(tookFault)
	return text, nil
}

// told returns a truth value that an operation of the guest gave.
func (p *peer) told(ctx context.Context, status uint64, err error) (uint64, error) {
	switch {
	case err != nil:
		return p.failed(ctx, err)
	case int32(status) < 0:
		return p.thrown(ctx)
	case int32(status) > 0:
		return p.gave(bitsTrue), nil
	}
	return p.gave(bitsFalse), nil
}

// gave returns a host's value that is no ref. Whatever the guest asked meanwhile has
// left its own word on how to take it.
func (p *peer) gave(bits uint64) uint64 {
	p.b.setState(tookValue)
	return bits
}

// elements returns the elements of an array without holes, borrowed.
func (vm *VM) elements(bits uint64) ([]uint64, bool) {
	if tagOf(bits) != tagObject {
		return nil, false
	}
	at, ok := vm.mem.u32(uint32(bits) + arrayValues)
	n, counted := vm.mem.u32(uint32(bits) + arrayCount)
	if !ok || !counted {
		return nil, false
	}
	return vm.mem.u64s(at, n)
}

// fromHostList reads a list of the host's: values, with refs in place of objects, and
// last an array of the places where they are, or 0. The guest's bits have a reference
// each.
func (p *peer) fromHostList(ctx context.Context, list uint64) ([]uint64, error) {
	values, ok := p.b.host.elements(list)
	if !ok || len(values) == 0 {
		return nil, fmt.Errorf("%w: a list is needed", ErrType)
	}
	places := values[len(values)-1]
	values = values[:len(values)-1]
	out := make([]uint64, len(values))
	if tagOf(places) == tagObject {
		refs, ok := p.b.host.elements(places)
		if !ok {
			return nil, fmt.Errorf("%w: a list of places is needed", ErrType)
		}
		for _, place := range refs {
			i := numberOf(place)
			if int(i) >= len(values) {
				return nil, fmt.Errorf("%w: place %d of a list of %d", ErrType, i, len(values))
			}
			out[i] = refBits(values[i])
			if err := p.guest.retain(out[i]); err != nil {
				p.releaseAll(out)
				return nil, err
			}
		}
	}
	for i, v := range values {
		if out[i] != 0 {
			continue
		}
		var err error
		if out[i], err = p.toGuest(ctx, v); err != nil {
			p.releaseAll(out)
			return nil, err
		}
	}
	return out, nil
}

func (p *peer) releaseAll(values []uint64) {
	for _, v := range values {
		p.guest.release(v)
	}
}

// toHostList makes the host's list of the guest's values, which stay the caller's;
// with counted, the host gets a count on each ref.
func (p *peer) toHostList(ctx context.Context, values []uint64, counted bool) (uint64, error) {
	host := p.b.host
	out := make([]uint64, 0, len(values)+1)
	var places []uint64
	for i, v := range values {
		bits, err := p.toHost(ctx, v)
		if err == nil && counted && isRef(v) {
			err = p.guest.retain(v)
		}
		if err != nil {
			for _, made := range out {
				host.release(made)
			}
			return 0, err
		}
		out = append(out, bits)
		if isRef(v) {
			places = append(places, packNumber(float64(i)))
		}
	}
	last := packNumber(0)
	if places != nil {
		var err error
		if last, err = host.newArray(ctx, places); err != nil {
			return 0, err
		}
	}
	return host.newArray(ctx, append(out, last))
}

// newArray makes an array of values, whose references it takes over.
func (vm *VM) newArray(ctx context.Context, values []uint64) (uint64, error) {
	b, err := vm.putValues(values)
	if err != nil {
		return 0, err
	}
	defer vm.drop(b)
	return vm.runValue(ctx, xNewArrayFrom, uint64(vm.cx), uint64(len(values)), uint64(b.p))
}

// keyToHost returns the host's bits of a property key of the guest, with a reference:
// a text, or the ref of a symbol with a count.
func (p *peer) keyToHost(ctx context.Context, atom uint32) (bits uint64, ref bool, err error) {
	host, guest := p.b.host, p.guest
	if known, ok := p.names[atom]; ok {
		return known, false, host.retain(known)
	}
	if atom&indexAtom != 0 {
		bits, err = host.newString(ctx, strconv.FormatUint(uint64(atom&^indexAtom), 10))
		return bits, false, err
	}
	key, err := guest.runValue(ctx, xAtomToValue, uint64(guest.cx), uint64(atom))
	if err != nil {
		return 0, false, err
	}
	if isRef(key) {
		return refOf(key), true, nil
	}
	defer guest.release(key)
	text, err := guest.text(ctx, key)
	if err != nil {
		return 0, false, err
	}
	if bits, err = host.newString(ctx, text); err != nil {
		return 0, false, err
	}
	if len(p.names) < maxPeerNames && len(text) < maxPeerNameLen {
		if _, err = guest.call(xDupAtom, uint64(guest.cx), uint64(atom)); err == nil {
			p.names[atom] = bits
			err = host.retain(bits)
		}
	}
	return bits, false, err
}
