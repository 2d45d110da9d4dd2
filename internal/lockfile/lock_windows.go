package lockfile

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

const errSharingViolation = syscall.Errno(32)

// Lock locks the file at path and creates it if needed. It returns an [ErrHeld] at once if
// the lock is held, also within the process: the file is not shared. Close releases it.
func Lock(path string) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	const share = 0
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, share, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		if errors.Is(err, errSharingViolation) {
			return nil, fmt.Errorf("%w: %s", ErrHeld, path)
		}
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}
