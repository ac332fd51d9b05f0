package quickjs

import (
	"context"
	"errors"
	"testing"
)

// handleModel is what a test knows about a handle: the number its object carries,
// and whether it has been freed.
type handleModel struct {
	v     Value
	id    int
	freed bool
}

// FuzzHandles_neverReachAnotherValue makes, copies, frees and uses handles in any
// order, from the host and from within host calls. A live handle has to read its own
// object, a dead one has to say so, and the VM has to survive.
func FuzzHandles_neverReachAnotherValue(f *testing.F) {
	f.Add([]byte{0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Add([]byte{0, 5, 0, 1, 7, 1, 2, 1, 3, 0, 6, 2, 4, 2, 8, 0, 0, 9, 0, 1})
	f.Add([]byte{0, 0, 0, 6, 1, 6, 6, 1, 7, 2, 2, 7, 0, 5, 5, 8, 8, 9})
	f.Fuzz(func(t *testing.T, ops []byte) {
		vm := newVM(t, VMOptions{})
		make := eval(t, vm, "(id => ({id, more: [id, {id}]}))")
		enter := eval(t, vm, "((o, p) => { const r = step(o); return r === undefined || r === o ? o.id + o.more[0] - p.id : -1 })")
		var handles []*handleModel
		var scopes []*Scope
		next, budget := 1, 400
		var step func(ctx context.Context, c *Call) (Value, error)

		read := func(h *handleModel) {
			v, err := h.v.Get(t.Context(), Name("id"))
			if h.freed {
				if !errors.Is(err, ErrStale) {
					t.Fatalf("a freed handle of object %d: %v", h.id, err)
				}
				return
			}
			if f, _ := v.Float64(); err != nil || int(f) != h.id {
				t.Fatalf("the handle of object %d reads %v, %v", h.id, f, err)
			}
		}
		pick := func() *handleModel {
			if len(handles) == 0 || len(ops) == 0 {
				return nil
			}
			h := handles[int(ops[0])%len(handles)]
			ops = ops[1:]
			return h
		}
		one := func(ctx context.Context, c *Call) {
			op := ops[0] % 9
			ops = ops[1:]
			switch op {
			case 0: // make
				handles = append(handles, &handleModel{v: must(t)(vm.Call(ctx, make, vm.Undefined(), vm.Int(next))), id: next})
				next++
			case 1: // free
				if h := pick(); h != nil {
					err := h.v.Free()
					if h.freed != errors.Is(err, ErrStale) || !h.freed && err != nil {
						t.Fatalf("free of object %d, freed %v: %v", h.id, h.freed, err)
					}
					h.freed = true
				}
			case 2: // copy
				if h := pick(); h != nil {
					v, err := h.v.Dup()
					if h.freed != errors.Is(err, ErrStale) {
						t.Fatalf("dup of object %d, freed %v: %v", h.id, h.freed, err)
					}
					if err == nil {
						handles = append(handles, &handleModel{v: v, id: h.id})
					}
				}
			case 3: // read
				if h := pick(); h != nil {
					read(h)
				}
			case 4, 5: // a call that comes back here
				a, b := pick(), pick()
				if a == nil || b == nil {
					return
				}
				stale := a.freed || b.freed
				v, err := vm.Call(ctx, enter, vm.Undefined(), a.v, b.v)
				if thrown := (*JSError)(nil); errors.As(err, &thrown) && thrown.Name == "RangeError" {
					return
				}
				if stale != errors.Is(err, ErrStale) {
					t.Fatalf("call with objects %d and %d, stale %v: %v", a.id, b.id, stale, err)
				}
				if f, _ := v.Float64(); err == nil && int(f) != 2*a.id-b.id {
					t.Fatalf("call with objects %d and %d returned %v", a.id, b.id, f)
				}
			case 6: // keep an argument
				if c != nil {
					if id, err := c.Arg(0).Get(ctx, Name("id")); err == nil {
						f, _ := id.Float64()
						handles = append(handles, &handleModel{v: must(t)(c.Arg(0).Dup()), id: int(f)})
					}
				}
			case 7: // a scope of the host
				if c == nil && len(scopes) < 4 {
					scopes = append(scopes, vm.Scope())
					handles = handles[:0] // scopes free by themselves; start anew
				}
			case 8:
				if c == nil && len(scopes) > 0 {
					scopes[len(scopes)-1].Close()
					scopes, handles = scopes[:len(scopes)-1], handles[:0]
				} else if err := vm.GC(ctx); err != nil && !errors.Is(err, ErrDepth) {
					t.Fatal(err)
				}
			}
		}
		step = func(ctx context.Context, c *Call) (Value, error) {
			for n := 0; n < 3 && len(ops) > 0 && budget > 0; n++ {
				budget--
				if vm.depth > 20 {
					break
				}
				one(ctx, c)
			}
			return c.Arg(0), nil
		}
		define(t, vm, "step", step)
		for len(ops) > 0 && budget > 0 {
			budget--
			one(t.Context(), nil)
		}
		for _, h := range handles {
			read(h)
		}
		if vm.Dead() != nil {
			t.Fatalf("the VM died of %v", vm.Dead())
		}
		expect(t, vm, "[1, 2].map(x => x * 2).join()", "2,4")
	})
}
