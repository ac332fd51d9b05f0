package quickjs

import (
	"context"
	"fmt"
	"math"
)

// bridgeOps are the operations by the names that the host calls them by. The engine
// interface of the membrane says what each is for; runtime/js/engine.js has the same in
// a host with WebAssembly.
var bridgeOps = map[string]bridgeOp{
	"close":   func(p *peer, ctx context.Context, _ []uint64) (uint64, error) { return bitsUndefined, p.close(ctx) },
	"release": (*peer).opRelease,
	"dup":     (*peer).opDup,
	"count":   (*peer).opCount,

	"evaluate":  (*peer).opEvaluate,
	"call":      (*peer).opCall,
	"construct": (*peer).opConstruct,
	"runJob":    (*peer).opRunJob,
	"hasJobs":   (*peer).opHasJobs,

	"atom":              (*peer).opAtom,
	"freeAtom":          (*peer).opFreeAtom,
	"get":               onKey(xGetProperty, (*peer).taken),
	"has":               onKey(xHasProperty, (*peer).told),
	"delete":            (*peer).opDelete,
	"define":            (*peer).opDefine,
	"own":               (*peer).opOwn,
	"keys":              (*peer).opKeys,
	"isData":            (*peer).opIsData,
	"readOwn":           (*peer).opReadOwn,
	"isDense":           (*peer).opIsDense,
	"elements":          (*peer).opElements,
	"proto":             onObject(xGetPrototype, (*peer).taken),
	"setProto":          (*peer).opSetProto,
	"extensible":        onObject(xIsExtensible, (*peer).told),
	"preventExtensions": onObject(xPreventExtensions, (*peer).told),

	"newArray":        (*peer).opNewArray,
	"newObject":       (*peer).opNewObject,
	"newFunction":     (*peer).opNewFunction,
	"makeConstructor": (*peer).opMakeConstructor,
	"newProxy":        (*peer).opNewProxy,
	"handlerOf":       onObject(xProxyHandler, (*peer).taken),
	"newDate":         (*peer).opNewDate,
	"bytes":           (*peer).opBytes,
	"byteLength":      (*peer).opByteLength,
	"setBytes":        (*peer).opSetBytes,
	"detach":          (*peer).opDetach,

	"classOf":       (*peer).opClassOf,
	"isFunction":    (*peer).opIsFunction,
	"isConstructor": (*peer).opIsConstructor,
	"isProxy":       isOf(xIsProxy),
	"isArray":       isOf(xIsArray),
	"isHostProxy":   (*peer).opIsHostProxy,

	"setLimits":   (*peer).opSetLimits,
	"memoryBytes": (*peer).opMemoryBytes,
	"collect":     (*peer).opCollect,
}

// answer is what becomes of an export's result: taken for a value, told for a truth.
type bridgeAnswer func(p *peer, ctx context.Context, result uint64, err error) (uint64, error)

// onObject makes an operation of an export with the parameters (context, object).
func onObject(x export, answer bridgeAnswer) bridgeOp {
	return func(p *peer, ctx context.Context, args []uint64) (uint64, error) {
		result, err := p.guest.run(ctx, x, uint64(p.guest.cx), refBits(args[0]))
		return answer(p, ctx, result, err)
	}
}

// onKey makes an operation of an export with the parameters (context, object, atom).
func onKey(x export, answer bridgeAnswer) bridgeOp {
	return func(p *peer, ctx context.Context, args []uint64) (uint64, error) {
		result, err := p.guest.run(ctx, x, uint64(p.guest.cx), refBits(args[0]), uint64(numberOf(args[1])))
		return answer(p, ctx, result, err)
	}
}

// isOf makes an operation of a test of an object's class.
func isOf(x export) bridgeOp {
	return func(p *peer, ctx context.Context, args []uint64) (uint64, error) {
		yes, err := p.guest.call(x, refBits(args[0]))
		return p.told(ctx, yes, err)
	}
}

// opIsHostProxy tells whether a value of the host is a proxy.
func (p *peer) opIsHostProxy(ctx context.Context, args []uint64) (uint64, error) {
	yes, err := p.b.host.call(xIsProxy, args[0])
	return p.told(ctx, yes, err)
}

// Counts.

// opRelease gives back a count on each ref of a list.
func (p *peer) opRelease(_ context.Context, args []uint64) (uint64, error) {
	refs, ok := p.b.host.elements(args[0])
	if !ok {
		return 0, fmt.Errorf("%w: a list of refs is needed", ErrType)
	}
	for _, ref := range refs {
		p.guest.release(refBits(ref))
	}
	return bitsUndefined, nil
}

func (p *peer) opDup(_ context.Context, args []uint64) (uint64, error) {
	return bitsUndefined, p.guest.retain(refBits(args[0]))
}

func (p *peer) opCount(_ context.Context, args []uint64) (uint64, error) {
	n, _ := p.guest.mem.u32(numberOf(args[0]) - 4) // in front of the object
	return packNumber(float64(n)), nil
}

// Calls.

// opEvaluate is (source, file).
func (p *peer) opEvaluate(ctx context.Context, args []uint64) (uint64, error) {
	source, err := p.b.host.text(ctx, args[0])
	if err != nil {
		return 0, err
	}
	file, err := p.b.host.text(ctx, args[1])
	if err != nil {
		return 0, err
	}
	guest := p.guest
	code, err := guest.putText(source)
	if err != nil {
		return p.failed(ctx, err)
	}
	defer guest.drop(code)
	name := buffer{p: guest.block() + scratchText}
	if code.p == name.p || len(file) >= scratchText {
		if name, err = guest.putBytes(append([]byte(file), 0)); err != nil {
			return p.failed(ctx, err)
		}
		defer guest.drop(name)
	} else {
		guest.mem.setText(name.p, file+"\x00")
	}
	box, err := guest.run(ctx, xEval, uint64(code.p), uint64(len(source)), uint64(name.p), 0)
	if err != nil {
		return p.failed(ctx, err)
	}
	bits, err := guest.unbox(uint32(box))
	return p.taken(ctx, bits, err)
}

// opCall is (function, list of this and the arguments).
func (p *peer) opCall(ctx context.Context, args []uint64) (uint64, error) {
	return p.invoke(ctx, xCall, args)
}

// opConstruct is (function, list of new.target and the arguments).
func (p *peer) opConstruct(ctx context.Context, args []uint64) (uint64, error) {
	return p.invoke(ctx, xConstructAs, args)
}

func (p *peer) invoke(ctx context.Context, x export, args []uint64) (uint64, error) {
	guest := p.guest
	values, err := p.fromHostList(ctx, args[1])
	if err != nil {
		return p.failed(ctx, err)
	}
	defer p.releaseAll(values)
	// The host may let go of the function while it runs.
	f := refBits(args[0])
	if err := guest.retain(f); err != nil {
		return p.failed(ctx, err)
	}
	defer guest.release(f)
	b, err := guest.putValues(values)
	if err != nil {
		return p.failed(ctx, err)
	}
	defer guest.drop(b)
	bits, err := guest.run(ctx, x, uint64(guest.cx), f, values[0], uint64(len(values)-1), uint64(b.p+8))
	return p.taken(ctx, bits, err)
}

func (p *peer) opRunJob(ctx context.Context, _ []uint64) (uint64, error) {
	status, err := p.guest.run(ctx, xExecuteJob, uint64(p.guest.rt), uint64(p.guest.block()))
	return p.told(ctx, status, err)
}

func (p *peer) opHasJobs(context.Context, []uint64) (uint64, error) {
	if p.guest.JobsPending() {
		return bitsTrue, nil
	}
	return bitsFalse, nil
}

// Properties. Keys are atoms, which the host keeps.

// opAtom is (text, or the ref of a symbol; whether it is a ref).
func (p *peer) opAtom(ctx context.Context, args []uint64) (uint64, error) {
	guest := p.guest
	key := refBits(args[0])
	if args[1] != bitsTrue {
		var err error
		if key, err = p.toGuest(ctx, args[0]); err != nil {
			return p.failed(ctx, err)
		}
		defer guest.release(key)
	}
	id, err := guest.run(ctx, xValueToAtom, uint64(guest.cx), key)
	switch {
	case err != nil:
		return p.failed(ctx, err)
	case uint32(id) == 0:
		return p.thrown(ctx)
	}
	return packNumber(float64(uint32(id))), nil
}

func (p *peer) opFreeAtom(_ context.Context, args []uint64) (uint64, error) {
	_, err := p.guest.call(xFreeAtom, uint64(p.guest.cx), uint64(numberOf(args[0])))
	return bitsUndefined, err
}

func (p *peer) opDelete(ctx context.Context, args []uint64) (uint64, error) {
	status, err := p.guest.run(ctx, xDeleteProperty, uint64(p.guest.cx), refBits(args[0]), uint64(numberOf(args[1])), 0)
	return p.told(ctx, status, err)
}

// opDefine is (object, atom, flags, list of value, getter and setter).
func (p *peer) opDefine(ctx context.Context, args []uint64) (uint64, error) {
	parts, err := p.fromHostList(ctx, args[3])
	if err != nil {
		return p.failed(ctx, err)
	}
	defer p.releaseAll(parts)
	if len(parts) != 3 {
		return 0, fmt.Errorf("%w: a descriptor has three parts", ErrType)
	}
	status, err := p.guest.run(ctx, xDefineProperty, uint64(p.guest.cx), refBits(args[0]), uint64(numberOf(args[1])), parts[0], parts[1], parts[2], uint64(numberOf(args[2])))
	return p.told(ctx, status, err)
}

// opOwn is (object, atom): a list of the flags and the value, or the flags, the getter
// and the setter; undefined when there is no such property.
func (p *peer) opOwn(ctx context.Context, args []uint64) (uint64, error) {
	object := refBits(args[0])
	property, found, err := p.property(ctx, object, numberOf(args[1]))
	if err != nil || !found {
		return p.absent(ctx, err)
	}
	defer p.releaseAll(property.values)
	return p.list(ctx, append([]uint64{packNumber(float64(property.flags))}, property.values...))
}

// errThrown says that the guest has an exception pending.
var errThrown = fmt.Errorf("the guest threw")

// absent answers for what is not there, because the guest threw, or failed, or so.
func (p *peer) absent(ctx context.Context, err error) (uint64, error) {
	switch {
	case err == errThrown:
		return p.thrown(ctx)
	case err != nil:
		return p.failed(ctx, err)
	}
	return p.gave(bitsUndefined), nil
}

// list hands the guest's values, which stay the caller's, to the host.
func (p *peer) list(ctx context.Context, values []uint64) (uint64, error) {
	list, err := p.toHostList(ctx, values, true)
	if err != nil {
		return p.failed(ctx, err)
	}
	return p.gave(list), nil
}

// guestProperty is an own property: a value, or a getter and a setter.
type guestProperty struct {
	flags  uint32
	values []uint64 // with a reference each
}

func (p *peer) property(ctx context.Context, object uint64, atom uint32) (guestProperty, bool, error) {
	guest := p.guest
	at := guest.block()
	status, err := guest.run(ctx, xOwnProperty, uint64(guest.cx), uint64(at), object, uint64(atom))
	switch {
	case err != nil:
		return guestProperty{}, false, err
	case int32(status) < 0:
		return guestProperty{}, false, errThrown
	case status == 0:
		return guestProperty{}, false, nil
	}
	// { int flags; JSValue value, getter, setter }
	flags, _ := guest.mem.u32(at)
	parts, ok := guest.mem.u64s(at+8, 3)
	if !ok {
		return guestProperty{}, false, fmt.Errorf("read a property: out of range")
	}
	if flags&propAccessor != 0 {
		guest.release(parts[0])
		return guestProperty{flags, parts[1:]}, true, nil
	}
	p.releaseAll(parts[1:])
	return guestProperty{flags, parts[:1]}, true, nil
}

// eachKey calls look with the atom of each own key until it says no.
func (p *peer) eachKey(ctx context.Context, object uint64, look func(atom uint32) (bool, error)) error {
	guest := p.guest
	at := guest.block()
	status, err := guest.run(ctx, xOwnNames, uint64(guest.cx), uint64(at), uint64(at+4), object, uint64(AllKeys))
	if err != nil {
		return err
	}
	if int32(status) < 0 {
		return errThrown
	}
	table, _ := guest.mem.u32(at)
	n, _ := guest.mem.u32(at + 4)
	for i := range n {
		atom, ok := guest.mem.u32(table + i*8 + 4) // {bool enumerable; atom}
		if !ok {
			return fmt.Errorf("read %d keys: out of range", n)
		}
		var more bool
		if more, err = look(atom); err != nil || !more {
			break
		}
	}
	// An exception that is pending stays so: freeing throws none.
	if _, freed := guest.run(ctx, xFreePropertyEnum, uint64(guest.cx), uint64(table), uint64(n)); freed != nil && err == nil {
		err = freed
	}
	return err
}

func (p *peer) opKeys(ctx context.Context, args []uint64) (uint64, error) {
	host := p.b.host
	var keys, places []uint64
	err := p.eachKey(ctx, refBits(args[0]), func(atom uint32) (bool, error) {
		key, ref, err := p.keyToHost(ctx, atom)
		if ref {
			places = append(places, packNumber(float64(len(keys))))
		}
		keys = append(keys, key)
		return err == nil, err
	})
	if err != nil {
		return p.absent(ctx, err)
	}
	last := packNumber(0)
	if places != nil {
		if last, err = host.newArray(ctx, places); err != nil {
			return 0, err
		}
	}
	list, err := host.newArray(ctx, append(keys, last))
	return p.gave(list), err
}

// opIsData is (object, whether functions are data): no accessors, and no functions
// unless they are.
func (p *peer) opIsData(ctx context.Context, args []uint64) (uint64, error) {
	object := refBits(args[0])
	data := true
	err := p.eachKey(ctx, object, func(atom uint32) (bool, error) {
		property, found, err := p.property(ctx, object, atom)
		if err != nil || !found {
			return err == nil, err
		}
		defer p.releaseAll(property.values)
		if property.flags&propAccessor != 0 {
			data = false
		} else if value := property.values[0]; args[1] != bitsTrue && tagOf(value) == tagObject {
			yes, err := p.guest.call(xIsFunction, uint64(p.guest.cx), value)
			if err != nil {
				return false, err
			}
			data = uint32(yes) == 0
		}
		return data, nil
	})
	if err != nil {
		return p.absent(ctx, err)
	}
	if data {
		return p.gave(bitsTrue), nil
	}
	return p.gave(bitsFalse), nil
}

// opReadOwn lists the own properties of an object that is data: flags and value of
// each, beside the keys that opKeys lists.
func (p *peer) opReadOwn(ctx context.Context, args []uint64) (uint64, error) {
	object := refBits(args[0])
	var values []uint64
	defer func() { p.releaseAll(values) }()
	err := p.eachKey(ctx, object, func(atom uint32) (bool, error) {
		property, found, err := p.property(ctx, object, atom)
		if err != nil || !found {
			return err == nil, err
		}
		if property.flags&propAccessor != 0 {
			p.releaseAll(property.values)
			property = guestProperty{property.flags, []uint64{bitsUndefined}}
		}
		values = append(values, packNumber(float64(property.flags)), property.values[0])
		return true, nil
	})
	if err != nil {
		return p.absent(ctx, err)
	}
	return p.list(ctx, values)
}

// opIsDense tells whether an array is nothing but its elements, without holes.
func (p *peer) opIsDense(_ context.Context, args []uint64) (uint64, error) {
	at := numberOf(args[0])
	mem := p.guest.mem
	word, _ := mem.u32(at + arrayHeader)
	shape, _ := mem.u32(at + arrayShape)
	properties, _ := mem.u32(at + arrayProps)
	length, _ := mem.u32(properties)
	count, ok := mem.u32(at + arrayCount)
	if ok && (word^p.word)&headerMask == 0 && shape == p.shape && length == count {
		return bitsTrue, nil
	}
	return bitsFalse, nil
}

// opElements lists the elements of an array without holes.
func (p *peer) opElements(ctx context.Context, args []uint64) (uint64, error) {
	values, ok := p.guest.elements(refBits(args[0]))
	if !ok {
		return 0, fmt.Errorf("read a list: out of range")
	}
	return p.list(ctx, values)
}

// opSetProto is (object, prototype or 0).
func (p *peer) opSetProto(ctx context.Context, args []uint64) (uint64, error) {
	status, err := p.guest.run(ctx, xSetPrototype, uint64(p.guest.cx), refBits(args[0]), protoBits(args[1]))
	return p.told(ctx, status, err)
}

func protoBits(ref uint64) uint64 {
	if numberOf(ref) == 0 {
		return bitsNull
	}
	return refBits(ref)
}

// Making. Every ref comes with a count.

func (p *peer) opNewArray(ctx context.Context, args []uint64) (uint64, error) {
	values, err := p.fromHostList(ctx, args[0])
	if err != nil {
		return p.failed(ctx, err)
	}
	b, err := p.guest.putValues(values)
	if err != nil {
		return p.failed(ctx, err)
	}
	defer p.guest.drop(b)
	bits, err := p.guest.run(ctx, xNewArrayFrom, uint64(p.guest.cx), uint64(len(values)), uint64(b.p))
	return p.taken(ctx, bits, err)
}

// opNewObject is (prototype or 0), or nothing for an ordinary object.
func (p *peer) opNewObject(ctx context.Context, args []uint64) (uint64, error) {
	if args[0] == bitsUndefined {
		bits, err := p.guest.run(ctx, xNewObject, uint64(p.guest.cx))
		return p.taken(ctx, bits, err)
	}
	bits, err := p.guest.run(ctx, xNewObjectProto, uint64(p.guest.cx), protoBits(args[0]))
	return p.taken(ctx, bits, err)
}

// opNewFunction is (id, length): a function whose calls the host answers by that id.
func (p *peer) opNewFunction(ctx context.Context, args []uint64) (uint64, error) {
	digits := fmt.Sprint(numberOf(args[0]))
	b, err := p.guest.putText(digits)
	if err != nil {
		return p.failed(ctx, err)
	}
	defer p.guest.drop(b)
	box, err := p.guest.run(ctx, xNewHostFunction, uint64(b.p), uint64(len(digits)), uint64(numberOf(args[1])))
	if err != nil {
		return p.failed(ctx, err)
	}
	bits, err := p.guest.unbox(uint32(box))
	return p.taken(ctx, bits, err)
}

func (p *peer) opMakeConstructor(_ context.Context, args []uint64) (uint64, error) {
	_, err := p.guest.call(xSetConstructorBit, uint64(p.guest.cx), refBits(args[0]), 1)
	return bitsUndefined, err
}

// opNewProxy is (target, handler).
func (p *peer) opNewProxy(ctx context.Context, args []uint64) (uint64, error) {
	bits, err := p.guest.run(ctx, xNewProxy, uint64(p.guest.cx), refBits(args[0]), refBits(args[1]))
	return p.taken(ctx, bits, err)
}

func (p *peer) opNewDate(ctx context.Context, args []uint64) (uint64, error) {
	time, _ := unpackNumber(args[0])
	bits, err := p.guest.run(ctx, xNewDate, uint64(p.guest.cx), math.Float64bits(time))
	return p.taken(ctx, bits, err)
}

// window finds a buffer's bytes; there is none when it is detached.
func (p *peer) window(ctx context.Context, ref uint64) (at, n uint32, found bool, err error) {
	guest := p.guest
	out := guest.block()
	start, err := guest.run(ctx, xArrayBuffer, uint64(guest.cx), uint64(out), refBits(ref))
	if err != nil {
		return 0, 0, false, err
	}
	n, _ = guest.mem.u32(out)
	if uint32(start) != 0 {
		return uint32(start), n, true, nil
	}
	// An empty buffer has no address either; only a detached one throws.
	pending, err := guest.call(xHasException, uint64(guest.cx))
	if err != nil || uint32(pending) == 0 {
		return 0, 0, err == nil, err
	}
	bits, err := guest.call(xGetException, uint64(guest.cx))
	guest.release(bits)
	return 0, 0, false, err
}

func (p *peer) opBytes(ctx context.Context, args []uint64) (uint64, error) {
	at, n, found, err := p.window(ctx, args[0])
	if err != nil || !found {
		return p.absent(ctx, err)
	}
	data, ok := p.guest.mem.bytes(at, n)
	if !ok {
		return 0, fmt.Errorf("read a buffer: out of range")
	}
	made, err := p.b.host.NewUint8Array(data)
	if err != nil {
		return 0, err
	}
	return p.b.host.take(made)
}

func (p *peer) opByteLength(ctx context.Context, args []uint64) (uint64, error) {
	_, n, found, err := p.window(ctx, args[0])
	if err != nil || !found {
		return p.absent(ctx, err)
	}
	return packNumber(float64(n)), nil
}

// opSetBytes is (buffer, Uint8Array of the host).
func (p *peer) opSetBytes(ctx context.Context, args []uint64) (uint64, error) {
	host := p.b.host
	bytes := host.borrow(args[1])
	defer host.endBorrowed(bytes)
	data, err := bytes.Bytes()
	if err != nil {
		return 0, err
	}
	at, n, found, err := p.window(ctx, args[0])
	if err != nil || !found {
		return p.absent(ctx, err)
	}
	p.guest.mem.setBytes(at, data[:min(len(data), int(n))])
	return bitsUndefined, nil
}

func (p *peer) opDetach(ctx context.Context, args []uint64) (uint64, error) {
	_, err := p.guest.run(ctx, xDetach, uint64(p.guest.cx), refBits(args[0]))
	return p.absent(ctx, err)
}

// Kinds.

func (p *peer) opClassOf(ctx context.Context, args []uint64) (uint64, error) {
	guest := p.guest
	class, err := guest.call(xClassID, refBits(args[0]))
	if err != nil {
		return p.failed(ctx, err)
	}
	atom, err := guest.run(ctx, xClassName, uint64(guest.rt), class)
	if err != nil {
		return p.failed(ctx, err)
	}
	name, err := guest.run(ctx, xAtomToValue, uint64(guest.cx), atom)
	if err == nil {
		_, err = guest.call(xFreeAtom, uint64(guest.cx), atom)
	}
	return p.taken(ctx, name, err)
}

func (p *peer) opIsFunction(ctx context.Context, args []uint64) (uint64, error) {
	yes, err := p.guest.call(xIsFunction, uint64(p.guest.cx), refBits(args[0]))
	return p.told(ctx, yes, err)
}

func (p *peer) opIsConstructor(ctx context.Context, args []uint64) (uint64, error) {
	yes, err := p.guest.call(xIsConstructor, uint64(p.guest.cx), refBits(args[0]))
	return p.told(ctx, yes, err)
}

// Limits.

// opSetLimits is (bytes of memory, bytes of stack).
func (p *peer) opSetLimits(_ context.Context, args []uint64) (uint64, error) {
	for i, x := range []export{xSetMemoryLimit, xSetStackSize} {
		if _, err := p.guest.call(x, uint64(numberOf(args[i]))); err != nil {
			return 0, err
		}
	}
	return bitsUndefined, nil
}

func (p *peer) opMemoryBytes(context.Context, []uint64) (uint64, error) {
	n, err := p.guest.call(xAllocatedSize)
	if err != nil {
		return packNumber(0), nil // a guest that is no more has none
	}
	return packNumber(float64(uint32(n))), nil
}

func (p *peer) opCollect(ctx context.Context, _ []uint64) (uint64, error) {
	return p.absent(ctx, p.guest.GC(ctx))
}
