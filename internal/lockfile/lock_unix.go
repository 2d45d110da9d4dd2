//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package lockfile

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Lock locks the file at path and creates it if needed. It returns an [ErrHeld] at once if
// the lock is held, also within the process: the lock belongs to the open file. Close
// releases it.
func Lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w: %s, by %s", ErrHeld, path, Holder(path))
		}
		return nil, os.NewSyscallError("flock", err)
	}
	sign(f)
	return f, nil
}
