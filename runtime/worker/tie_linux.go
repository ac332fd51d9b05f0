package worker

import (
	"os/exec"
	"runtime"
	"syscall"
)

// tieToParent makes the kernel kill the child when this process dies, since a
// worker inside a native loop does not notice that its input has ended. The kernel
// watches the starting thread, so the thread is kept until release is called.
func tieToParent(cmd *exec.Cmd) (release func()) {
	runtime.LockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return runtime.UnlockOSThread
}
