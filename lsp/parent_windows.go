package lsp

import "syscall"

// waitTimeout is what a wait returns for an object that is not signalled, which for
// a process means that it runs (WAIT_TIMEOUT).
const waitTimeout = 0x102

// processExists reports whether there is a running process with the id, even one of
// another user.
func processExists(pid int) bool {
	if pid <= 0 {
		return false
	}
	process, err := syscall.OpenProcess(syscall.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return err == syscall.ERROR_ACCESS_DENIED
	}
	defer func() { _ = syscall.CloseHandle(process) }()
	event, err := syscall.WaitForSingleObject(process, 0)
	return err != nil || event == waitTimeout
}
