package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// syncFolder does nothing: NTFS logs the names itself, and has no call for it.
func syncFolder(string) error { return nil }

// errSharingViolation is what Windows calls a file that another handle holds.
const errSharingViolation = syscall.Errno(32)

// lockFile opens a file that it shares with nobody.
func lockFile(path string) (io.Closer, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	const share = 0
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, share, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		if errors.Is(err, errSharingViolation) {
			return nil, fmt.Errorf("%w: %s", ErrLocked, path)
		}
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}
