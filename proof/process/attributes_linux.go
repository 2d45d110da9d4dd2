package process

import "syscall"

// attributes are those of children: a process group of their own, so that Ctrl-C is for the
// parent alone, and the end of the parent is theirs, even while they are stopped.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
