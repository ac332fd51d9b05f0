package quickjs

import (
	"fmt"
	"time"
)

// The bounds of [Limits.StackBytes]. Within them recursion, nesting in the parser
// and nesting in JSON all end in an error that the guest can catch; above, the
// module's own stack of 1 MiB ends first, and that is a trap.
const (
	MinStackBytes = 64 << 10
	MaxStackBytes = 512 << 10
)

const (
	defaultMemory = 64 << 20
	defaultStack  = 256 << 10
	defaultDepth  = 100
	maxDepth      = 200
	// baseMemory is what an instance has before the guest allocates: data and stack.
	baseMemory = 18 * pageSize
	// realmMemory is what a fresh realm comes to, with room for a small script.
	realmMemory = 32 * pageSize
	// minMemory leaves room for the engine's own objects.
	minMemory = 1 << 20
)

// Limits bound one VM. The zero value means the defaults.
type Limits struct {
	// MemoryBytes bounds what guest values occupy, buffers included (default 64 MiB).
	// Linear memory is capped above it, with room for the engine's bookkeeping.
	MemoryBytes uint64
	// StackBytes is the guest's stack, from 64 KiB to 512 KiB (default 256 KiB).
	StackBytes uint32
	// Timeout is guest time of one outermost call; time in host functions does not
	// count. 0 sets no limit. A native loop over a huge array-like is only stopped in
	// an interruptible engine.
	Timeout time.Duration
	// Depth is how often calls may nest from host to guest (default 100, at most 200).
	Depth int
}

// withDefaults fills in what is zero and refuses what is out of range.
func (l Limits) withDefaults() (Limits, error) {
	if l.MemoryBytes == 0 {
		l.MemoryBytes = defaultMemory
	}
	if l.StackBytes == 0 {
		l.StackBytes = defaultStack
	}
	if l.Depth == 0 {
		l.Depth = defaultDepth
	}
	switch {
	case l.MemoryBytes < minMemory || l.MemoryBytes > 2<<30:
		return l, fmt.Errorf("memory limit of %d bytes is not between %d and %d", l.MemoryBytes, minMemory, 2<<30)
	case l.StackBytes < MinStackBytes || l.StackBytes > MaxStackBytes:
		return l, fmt.Errorf("stack limit of %d bytes is not between %d and %d: outside, deep nesting traps instead of throwing", l.StackBytes, MinStackBytes, MaxStackBytes)
	case l.Timeout < 0:
		return l, fmt.Errorf("time limit of %s is negative", l.Timeout)
	case l.Depth < 1 || l.Depth > maxDepth:
		return l, fmt.Errorf("crossing depth of %d is not between 1 and %d", l.Depth, maxDepth)
	}
	return l, nil
}

// memoryCap is the size that linear memory may reach. Sources and bytes on their
// way in do not count against MemoryBytes, and the allocator fragments, so the cap
// lies above it: it is the hard stop, MemoryBytes the one that should fire.
func (l Limits) memoryCap() uint64 {
	total := baseMemory + l.MemoryBytes + l.MemoryBytes/4 + 16<<20
	return (total + pageSize - 1) / pageSize * pageSize
}

// pollSlack is how much later than the limit an interruptible engine is closed. Code
// that asks whether to go on is stopped at the limit, in good order and with a stack
// to show for it; only what does not ask has to be cut off.
const pollSlack = 200 * time.Millisecond

// guestClock measures guest time of one outermost entry. It stops while the host
// runs, so a slow host function or a debugger never uses up the guest's time.
type guestClock struct {
	now     func() time.Time
	limit   time.Duration
	used    time.Duration
	since   time.Time
	running bool
	// timer interrupts an interruptible engine, where the deadline has to fire by
	// itself; nil otherwise.
	timer *time.Timer
}

func (c *guestClock) reset(limit time.Duration) {
	*c = guestClock{now: c.now, limit: limit}
}

// resume starts counting; it does nothing without a limit.
func (c *guestClock) resume() {
	if c.limit == 0 || c.running {
		return
	}
	c.running, c.since = true, c.now()
	if c.timer != nil {
		c.timer.Reset(max(c.limit-c.used, time.Millisecond) + pollSlack)
	}
}

// pause stops counting and reports whether it was running, for the matching resume.
func (c *guestClock) pause() bool {
	if !c.running {
		return false
	}
	c.running = false
	c.used += c.now().Sub(c.since)
	if c.timer != nil {
		c.timer.Stop()
	}
	return true
}

// expired reports whether the guest has used up its time.
func (c *guestClock) expired() bool {
	if c.limit == 0 {
		return false
	}
	used := c.used
	if c.running {
		used += c.now().Sub(c.since)
	}
	return used > c.limit
}
