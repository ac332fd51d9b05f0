package quickjs

import (
	"context"
	"errors"
	"fmt"
)

// A Bridge lets scripts of one VM, the host, open further VMs and drive what is in
// them. It is the engine of the membrane where the host realm is a QuickJS realm
// itself: runtime/js/embedded.js is its other half, and says what each operation is
// for. Objects and symbols of a guest are known to the host by refs: a ref is the
// address of an object, negative for a symbol, and good for as long as somebody
// holds a count on it. A ref that never was one reads or tears the guest's own
// memory, which is a wasm instance like any other, and nothing else.
//
// A Bridge belongs to the goroutine of its host VM.
type Bridge struct {
	host  *VM
	open  OpenFunc
	state uint32 // address of the word that says how to take an answer
	buf   Value  // keeps it where it is
	peers []*peer

	limitStack string
}

// LimitStack returns where the guest was that ran into a limit last, as it prints
// stacks; "" when that is not known.
func (b *Bridge) LimitStack() string { return b.limitStack }

// OpenFunc makes the VM of a guest that may use so many bytes. The bridge closes it.
type OpenFunc func(ctx context.Context, memoryBytes uint64) (*VM, error)

// How the host has to take what an operation returned, or the bridge what the host
// answered.
const (
	tookValue      = 0 // a primitive, or nothing
	tookRef        = 1 // a ref with a count
	tookThrown     = 2 // a primitive that was thrown
	tookThrownRef  = 3
	tookEnded      = 4 // what guest code cannot catch: a limit fired
	tookFault      = 5 // the engine failed; the value is a text
	tookNoMemory   = 6 // only from the host: throw what needs no memory
	flagUncaught   = 8 // only from the host: guest code must not catch it
	maxPeerNames   = 4096
	maxPeerNameLen = 64
)

// peer is one guest.
type peer struct {
	b      *Bridge
	guest  *VM
	answer Value // the host's function that answers the guest
	names  map[uint32]uint64
	// What the header and the shape of an array say that is nothing but its elements.
	sample      Value
	word, shape uint32
}

// NewBridge puts a bridge into a VM and returns the host object whose methods are its
// operations. open makes the VMs of guests.
func (vm *VM) NewBridge(ctx context.Context, open OpenFunc) (*Bridge, Value, error) {
	b := &Bridge{host: vm, open: open}
	native, err := vm.NewObject()
	if err != nil {
		return nil, Value{}, fmt.Errorf("new bridge: %w", err)
	}
	if b.buf, err = vm.NewArrayBuffer(make([]byte, 8)); err != nil {
		return nil, Value{}, fmt.Errorf("new bridge: %w", err)
	}
	if b.state, _, err = b.buf.window(); err != nil {
		return nil, Value{}, fmt.Errorf("new bridge: %w", err)
	}
	if err := native.Set(ctx, Name("state"), b.buf); err != nil {
		return nil, Value{}, fmt.Errorf("new bridge: %w", err)
	}
	methods := map[string]HostFunc{"open": b.opened}
	for name, op := range bridgeOps {
		methods[name] = b.method(op)
	}
	for name, method := range methods {
		f, err := vm.NewFunction(name, 0, method)
		if err != nil {
			return nil, Value{}, fmt.Errorf("new bridge: %w", err)
		}
		if err := errors.Join(native.Set(ctx, Name(name), f), f.Free()); err != nil {
			return nil, Value{}, fmt.Errorf("new bridge: %w", err)
		}
	}
	return b, native, nil
}

// Close ends all guests. It returns [ErrBusy] for one that is running.
func (b *Bridge) Close(ctx context.Context) error {
	var failed error
	for _, p := range b.peers {
		if p != nil {
			failed = errors.Join(failed, p.close(ctx))
		}
	}
	return failed
}

// opened is open(memoryBytes, answer): it makes a guest and returns its number.
func (b *Bridge) opened(ctx context.Context, call *Call) (Value, error) {
	bytes, err := call.Arg(0).Float64()
	if err != nil {
		return Value{}, fmt.Errorf("open a guest: %w", err)
	}
	guest, err := b.open(ctx, uint64(bytes))
	if err != nil {
		return Value{}, fmt.Errorf("open a guest: %w", err)
	}
	p := &peer{b: b, guest: guest, names: make(map[uint32]uint64)}
	if p.answer, err = call.Arg(1).Dup(); err == nil {
		err = p.takeSample(ctx)
	}
	if err != nil {
		return Value{}, errors.Join(fmt.Errorf("open a guest: %w", err), guest.Close(ctx))
	}
	guest.peer = p
	b.peers = append(b.peers, p)
	return b.host.Int(len(b.peers) - 1), nil
}

// takeSample notes how this build lays out an array without holes, so that lists can
// be read where they lie.
func (p *peer) takeSample(ctx context.Context) error {
	sample, err := p.guest.Eval(ctx, "[7, 8, 9]", "<layout>")
	if err != nil {
		return err
	}
	p.sample = sample
	bits, err := p.guest.raw(sample)
	if err != nil {
		return err
	}
	at := uint32(bits)
	p.word, _ = p.guest.mem.u32(at + arrayHeader)
	p.shape, _ = p.guest.mem.u32(at + arrayShape)
	if values, ok := p.guest.elements(bits); !ok || len(values) != 3 || values[0] != packNumber(7) || values[2] != packNumber(9) {
		return fmt.Errorf("%w: an array does not lie where it is looked for", ErrLayout)
	}
	return nil
}

// bridgeOp is an operation on one guest. args are the bits of the host's arguments
// after the guest's number, borrowed; the result is bits of the host with a reference.
type bridgeOp func(p *peer, ctx context.Context, args []uint64) (uint64, error)

// method makes a host function of an operation.
func (b *Bridge) method(op bridgeOp) HostFunc {
	return func(ctx context.Context, call *Call) (Value, error) {
		var bits [8]uint64
		n := min(len(call.Args), len(bits))
		for i := range n {
			var err error
			if bits[i], err = b.host.raw(call.Args[i]); err != nil {
				return Value{}, err
			}
		}
		id := numberOf(bits[0])
		if n == 0 || int(id) >= len(b.peers) || b.peers[id] == nil {
			return Value{}, Throw("TypeError", "there is no such guest")
		}
		b.setState(tookValue)
		// What is missing reads as undefined.
		for i := n; i < len(bits); i++ {
			bits[i] = bitsUndefined
		}
		result, err := op(b.peers[id], ctx, bits[1:])
		if err != nil {
			return Value{}, err
		}
		return b.host.own(result), nil
	}
}

func (b *Bridge) setState(how uint32) { b.host.mem.setU32(b.state, how) }

// close ends a guest that is not running.
func (p *peer) close(ctx context.Context) error {
	if err := p.guest.Close(ctx); err != nil {
		return err
	}
	for i, other := range p.b.peers {
		if other == p {
			p.b.peers[i] = nil
		}
	}
	for _, bits := range p.names {
		p.b.host.release(bits)
	}
	if !p.answer.Alive() {
		return nil // so is the host's
	}
	return p.answer.Free()
}

// answerCall answers the guest's call of a function that the host has given it.
// Nothing may be thrown through the frames below, so that a failure is one of the
// guest's exceptions in the end.
func (p *peer) answerCall(ctx context.Context, id, this, argc, argv uint32) (uint64, error) {
	guest, host := p.guest, p.b.host
	values := make([]uint64, 0, argc+1)
	lost := func() error { return guest.die(guest.memoryLimit("the engine could not allocate arguments")) }
	bits, ok := guest.mem.u64(this)
	if this == 0 || !ok {
		return 0, lost()
	}
	values = append(values, bits)
	for i := range argc {
		box, ok := guest.mem.u32(argv + i*4)
		if bits, there := guest.mem.u64(box); ok && there && box != 0 {
			values = append(values, bits)
		} else {
			return 0, lost()
		}
	}
	list, err := p.toHostList(ctx, values, false)
	if err != nil {
		return 0, err
	}
	defer host.release(list)
	result, err := p.ask(ctx, packNumber(float64(id)), list)
	if err != nil {
		return 0, err
	}
	how, _ := host.mem.u32(p.b.state)
	value, err := p.given(ctx, result, how&tookRef != 0)
	switch {
	case err != nil:
		return 0, err
	case how == tookNoMemory:
		_, err := guest.run(ctx, xThrowOutOfMemory, uint64(guest.cx))
		return 0, err
	case how&tookThrown != 0:
		if how&flagUncaught != 0 {
			if _, err := guest.call(xSetUncatchable, uint64(guest.cx), value); err != nil {
				return 0, err
			}
		}
		_, err := guest.call(xThrow, uint64(guest.cx), value)
		return 0, err
	}
	box, err := guest.malloc(8)
	if err != nil {
		return 0, err
	}
	guest.mem.setU64(box, value)
	return uint64(box), nil
}

// given takes over what the host answered and returns the guest's bits of it, with a
// reference.
func (p *peer) given(ctx context.Context, result uint64, ref bool) (uint64, error) {
	if ref {
		bits := refBits(result)
		return bits, p.guest.retain(bits)
	}
	defer p.b.host.release(result)
	return p.toGuest(ctx, result)
}

// wantsToStop asks the host whether the guest has to stop. The guest is in the middle
// of something, but the host is another VM, which waits for it.
func (p *peer) wantsToStop(ctx context.Context) (stop bool) {
	defer func() {
		if reason := recover(); reason != nil {
			p.guest.die(&HostFault{Function: "host_interrupt", Panic: reason})
			stop = true
		}
	}()
	result, err := p.ask(ctx, packNumber(-1), bitsUndefined)
	return err != nil || result == bitsTrue
}

// ask calls the host's function for this guest. It has caught whatever there was to
// catch; a host that throws all the same is out of memory, or has ended.
func (p *peer) ask(ctx context.Context, id, list uint64) (uint64, error) {
	host := p.b.host
	f, err := host.raw(p.answer)
	if err != nil {
		return 0, err
	}
	args, err := host.putValues([]uint64{id, list})
	if err != nil {
		return 0, err
	}
	defer host.drop(args)
	result, err := host.run(ctx, xCall, uint64(host.cx), f, bitsUndefined, 2, uint64(args.p))
	if err != nil {
		return 0, err
	}
	if isException(result) {
		return 0, host.caught(ctx)
	}
	return result, nil
}
