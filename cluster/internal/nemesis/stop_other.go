//go:build !unix

package nemesis

import (
	"os"
	"syscall"
)

// stop and proceed do nothing: a process cannot be paused.
var stop, proceed os.Signal = syscall.Signal(0), syscall.Signal(0)
