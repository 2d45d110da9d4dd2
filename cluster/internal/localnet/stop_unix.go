//go:build unix

package localnet

import (
	"os"
	"syscall"
)

// stop and proceed pause a process. With LameDuck a server hands over and ends.
var stop, proceed, LameDuck os.Signal = syscall.SIGSTOP, syscall.SIGCONT, syscall.SIGUSR2
