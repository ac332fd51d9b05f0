package quickjs

import (
	"encoding/binary"
	"fmt"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// This file alone touches linear memory. A view of it is invalid as soon as the
// guest allocates, so nothing here hands one out: reads copy, writes copy.

// pageSize is the size of a wasm page in bytes.
const pageSize = 64 << 10

// arena is the linear memory of one VM. wazero caps memory per runtime; limits are
// per VM, so the cap is applied here, where the memory grows.
type arena struct {
	cap     uint64 // bytes; growth beyond is refused
	first   int    // bytes to reserve at once
	buf     []byte
	refused bool // growth was refused: some allocation in the guest has failed
}

var _ experimental.MemoryAllocator = (*arena)(nil)

// Allocate implements [experimental.MemoryAllocator]; the arena serves one memory.
func (a *arena) Allocate(_, _ uint64) experimental.LinearMemory { return a }

// Reallocate implements [experimental.LinearMemory]. It reserves what the start will
// need, and grows at least by half from there, so that a heap that grows page by
// page is not copied page by page.
func (a *arena) Reallocate(size uint64) []byte {
	if size > a.cap {
		a.refused = true
		return nil
	}
	if size > uint64(cap(a.buf)) {
		grown := max(size, min(a.cap, max(uint64(len(a.buf))*3/2, uint64(a.first))))
		next := make([]byte, size, grown)
		copy(next, a.buf)
		a.buf = next
	} else {
		a.buf = a.buf[:size]
	}
	return a.buf
}

// Free implements [experimental.LinearMemory].
func (a *arena) Free() { a.buf = nil }

// guestMemory reads and writes the memory of one instance. Offsets come from the
// guest and are checked by wazero; out of range reads fail, and never panic.
type guestMemory struct{ mem api.Memory }

func (m guestMemory) size() uint32 { return m.mem.Size() }

func (m guestMemory) u32(p uint32) (uint32, bool) { return m.mem.ReadUint32Le(p) }

func (m guestMemory) u64(p uint32) (uint64, bool) { return m.mem.ReadUint64Le(p) }

func (m guestMemory) setU32(p, v uint32) bool { return m.mem.WriteUint32Le(p, v) }

func (m guestMemory) setU64(p uint32, v uint64) bool { return m.mem.WriteUint64Le(p, v) }

// text copies n bytes at p into a string.
func (m guestMemory) text(p, n uint32) (string, bool) {
	view, ok := m.mem.Read(p, n)
	if !ok {
		return "", false
	}
	return string(view), true
}

// cText copies the NUL-terminated string at p. Only module names arrive this way.
func (m guestMemory) cText(p uint32) (string, bool) {
	const longest = 1 << 20
	view, ok := m.mem.Read(p, min(longest, m.mem.Size()-min(p, m.mem.Size())))
	if !ok {
		return "", false
	}
	for i, b := range view {
		if b == 0 {
			return string(view[:i]), true
		}
	}
	return "", false
}

// bytes copies n bytes at p.
func (m guestMemory) bytes(p, n uint32) ([]byte, bool) {
	view, ok := m.mem.Read(p, n)
	if !ok {
		return nil, false
	}
	return append(make([]byte, 0, n), view...), true
}

// utf16 copies n code units at p.
func (m guestMemory) utf16(p, n uint32) ([]uint16, bool) {
	view, ok := m.mem.Read(p, n*2)
	if !ok {
		return nil, false
	}
	units := make([]uint16, n)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(view[2*i:])
	}
	return units, true
}

// u64s copies n words at p.
func (m guestMemory) u64s(p, n uint32) ([]uint64, bool) {
	if n == 0 {
		return nil, true
	}
	if n > m.mem.Size()/8 {
		return nil, false
	}
	view, ok := m.mem.Read(p, n*8)
	if !ok {
		return nil, false
	}
	words := make([]uint64, n)
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(view[8*i:])
	}
	return words, true
}

func (m guestMemory) setBytes(p uint32, b []byte) bool { return m.mem.Write(p, b) }

func (m guestMemory) setText(p uint32, s string) bool { return m.mem.WriteString(p, s) }

// decimal reads the n digits at p, which is how host functions are numbered, and
// avoids a string for each call. It reports false on anything else.
func (m guestMemory) decimal(p, n uint32) (uint32, bool) {
	if n == 0 || n > 9 {
		return 0, false
	}
	view, ok := m.mem.Read(p, n)
	if !ok {
		return 0, false
	}
	id := uint32(0)
	for _, b := range view {
		if b < '0' || b > '9' {
			return 0, false
		}
		id = id*10 + uint32(b-'0')
	}
	return id, true
}

// copyAll returns a copy of the whole memory.
func (m guestMemory) copyAll() ([]byte, error) {
	b, ok := m.bytes(0, m.mem.Size())
	if !ok {
		return nil, fmt.Errorf("read %d bytes of guest memory", m.mem.Size())
	}
	return b, nil
}

// load replaces the memory by image, growing it first.
func (m guestMemory) load(image []byte) error {
	if have := int(m.mem.Size()); have < len(image) {
		if _, ok := m.mem.Grow(uint32((len(image) - have + pageSize - 1) / pageSize)); !ok {
			return fmt.Errorf("the image needs %d bytes of memory, which the VM's limit does not allow", len(image))
		}
	}
	if !m.mem.Write(0, image) {
		return fmt.Errorf("write %d bytes of guest memory", len(image))
	}
	return nil
}
