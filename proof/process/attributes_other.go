//go:build !linux

package process

import "syscall"

// attributes are those of children. They end when their standard input does; one that is
// stopped does not hear that.
func attributes() *syscall.SysProcAttr { return nil }
