//go:build unix && !linux

package nemesis

import "syscall"

// attributes are those of children: a process group of their own. They end when their
// standard input does; one that is stopped does not hear that.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
