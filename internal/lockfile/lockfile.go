// Package lockfile locks a folder by a file in it: one holder at a time, among all
// processes of the machine. The system releases the lock with the process at the latest.
package lockfile

import "errors"

// ErrHeld means that another process has the lock, or another holder in this one. The
// message of the error names the file.
var ErrHeld = errors.New("lock is held")
