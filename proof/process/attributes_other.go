//go:build !linux

package process

import "syscall"

// attributes returns no attributes. A child ends when its standard input ends;
// a stopped child does not notice.
func attributes() *syscall.SysProcAttr { return nil }
