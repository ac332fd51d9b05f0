package quickjs

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
)

// Math.random is a xorshift64* generator whose state is a field of the context, so a
// memory image repeats its numbers. The engine offers no call to seed it; where the
// field is follows from the build. Instead of trusting an offset, it is found by
// watching which words change when a number is drawn, and accepted only when its
// value predicts the number that was drawn.

// contextSpan is how much of the context is searched, in bytes.
const contextSpan = 1024

// randomProbe is found once per process: the wasm is the same for all engines.
var randomProbe struct {
	sync.Mutex
	offset uint32
	found  bool
}

// xorshift draws a number and returns the next state, as the engine does.
func xorshift(state uint64) (next uint64, number float64) {
	state ^= state >> 12
	state ^= state << 25
	state ^= state >> 27
	mantissa := state * 0x2545F4914F6CDD1D >> 12
	return state, math.Float64frombits(0x3ff<<52|mantissa) - 1
}

// randomOffset returns where in a context the generator's state is.
func (e *Engine) randomOffset(ctx context.Context) (uint32, error) {
	randomProbe.Lock()
	defer randomProbe.Unlock()
	if randomProbe.found {
		return randomProbe.offset, nil
	}
	vm, err := e.NewVM(ctx, VMOptions{})
	if err != nil {
		return 0, err
	}
	offset, err := vm.findRandomState(ctx)
	if err = errors.Join(err, vm.Close(ctx)); err != nil {
		return 0, fmt.Errorf("find the state of Math.random: %w", err)
	}
	randomProbe.offset, randomProbe.found = offset, true
	return offset, nil
}

// findRandomState draws two numbers and finds the word that predicts both.
func (vm *VM) findRandomState(ctx context.Context) (uint32, error) {
	candidates := make(map[uint32]bool)
	for round := range 2 {
		before, ok := vm.mem.bytes(vm.cx, contextSpan)
		if !ok {
			return 0, fmt.Errorf("%w: the context is out of range", ErrLayout)
		}
		v, err := vm.Eval(ctx, "Math.random()", "<random>")
		if err != nil {
			return 0, err
		}
		drawn, err := v.Float64()
		if err != nil {
			return 0, err
		}
		after, _ := vm.mem.bytes(vm.cx, contextSpan)
		hits := make(map[uint32]bool)
		for at := 0; at+8 <= contextSpan; at += 8 {
			next, number := xorshift(binary.LittleEndian.Uint64(before[at:]))
			if number == drawn && next == binary.LittleEndian.Uint64(after[at:]) && (round == 0 || candidates[uint32(at)]) {
				hits[uint32(at)] = true
			}
		}
		candidates = hits
	}
	if len(candidates) != 1 {
		return 0, fmt.Errorf("%w: %d words of the context predict Math.random", ErrLayout, len(candidates))
	}
	for at := range candidates {
		return at, nil
	}
	return 0, ErrLayout
}

// reseed gives Math.random a state of its own. Zero is the one it would never leave.
func (vm *VM) reseed(offset uint32) error {
	var seed [8]byte
	if _, err := io.ReadFull(vm.opts.Random, seed[:]); err != nil {
		return fmt.Errorf("seed Math.random: %w", err)
	}
	if binary.LittleEndian.Uint64(seed[:]) == 0 {
		seed[0] = 1
	}
	if !vm.mem.setBytes(vm.cx+offset, seed[:]) {
		return fmt.Errorf("seed Math.random: %w", ErrLayout)
	}
	return nil
}
