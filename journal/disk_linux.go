package journal

import (
	"os"
	"syscall"
)

// syncData returns when the bytes of f are on the disk, and its size.
func syncData(f *os.File) error {
	for {
		err := syscall.Fdatasync(int(f.Fd()))
		if err != syscall.EINTR {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
