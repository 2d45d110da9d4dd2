package process

import "syscall"

// attributes gives a child its own process group, so that Ctrl-C reaches only
// the parent. The child dies with the parent, even while stopped.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
