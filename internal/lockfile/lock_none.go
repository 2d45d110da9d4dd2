//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package lockfile

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// Lock returns an error: without locks two processes could write one folder.
func Lock(path string) (*os.File, error) {
	return nil, fmt.Errorf("lock %s: no file locks on %s: %w", path, runtime.GOOS, errors.ErrUnsupported)
}
