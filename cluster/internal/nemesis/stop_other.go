//go:build !unix

package nemesis

import (
	"os"
	"syscall"
)

// These signals do nothing, or kill: a process cannot be paused, nor end in order.
var stop, proceed, lameDuck os.Signal = syscall.Signal(0), syscall.Signal(0), os.Kill
