//go:build unix

package nemesis

import (
	"os"
	"syscall"
)

// stop and proceed pause a process. With lameDuck a server hands over and ends.
var stop, proceed, lameDuck os.Signal = syscall.SIGSTOP, syscall.SIGCONT, syscall.SIGUSR2
