//go:build unix

package nemesis

import (
	"os"
	"syscall"
)

// stop and proceed are the signals of a pause.
var stop, proceed os.Signal = syscall.SIGSTOP, syscall.SIGCONT
