//go:build unix

package lsp

import (
	"errors"
	"syscall"
)

// processExists reports whether there is a process with the id, even one of another
// user.
func processExists(pid int) bool {
	if pid <= 0 {
		return false
	}
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
