// Package lockfile locks a folder by a file in it, for one holder among all processes of
// the machine. The system releases the lock at the latest when the process ends.
package lockfile

import "errors"

// ErrHeld means that another holder, in this or another process, has the lock. The error
// names the file.
var ErrHeld = errors.New("lock is held")
