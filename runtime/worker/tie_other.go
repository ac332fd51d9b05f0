//go:build !linux

package worker

import "os/exec"

// tieToParent has nothing to hold on to here: a worker ends when its input does,
// or when the pool kills it.
func tieToParent(*exec.Cmd) (release func()) { return func() {} }
