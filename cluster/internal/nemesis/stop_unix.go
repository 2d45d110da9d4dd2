//go:build unix

package nemesis

import (
	"os"
	"syscall"
)

// stop and proceed are the signals of a pause, lameDuck has a server hand over and end.
var stop, proceed, lameDuck os.Signal = syscall.SIGSTOP, syscall.SIGCONT, syscall.SIGUSR2
