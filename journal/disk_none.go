//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package journal

import (
	"errors"
	"fmt"
	"io"
	"runtime"
)

func syncFolder(string) error { return nil }

// lockFile refuses: without a lock two processes could write one journal.
func lockFile(string) (io.Closer, error) {
	return nil, fmt.Errorf("journal: no file locks on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}
