//go:build unix

package localnet

import (
	"os"
	"syscall"
)

// stop pauses a process, slowDisk makes its fsync slow, and proceed ends both. With LameDuck a
// server hands over and ends.
var stop, slowDisk, proceed, LameDuck os.Signal = syscall.SIGSTOP, syscall.SIGUSR1, syscall.SIGCONT, syscall.SIGUSR2
