//go:build !unix

package localnet

import (
	"os"
	"syscall"
)

// Without these signals a process can neither pause nor end in order.
var stop, slowDisk, proceed, LameDuck os.Signal = syscall.Signal(0), syscall.Signal(0), syscall.Signal(0), os.Kill
