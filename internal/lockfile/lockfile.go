// Package lockfile locks a folder by a file in it, for one holder among all processes of
// the machine. The system releases the lock at the latest when the process ends.
package lockfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// ErrHeld means that another holder, in this or another process, has the lock. The error
// names the file and, if it can be read, the holder.
var ErrHeld = errors.New("lock is held")

// ownerAt is the offset of the holder's process number, as text, for messages only. Bytes
// before it belong to the user of the lock.
const ownerAt = 32

// sign names this process in a locked file. Without a name the lock is as good.
func sign(f *os.File) { _, _ = f.WriteAt(fmt.Appendf(nil, "process %-11d\n", os.Getpid()), ownerAt) }

// Holder returns "this process", "process 42" or "another holder".
func Holder(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return "another holder"
	}
	defer f.Close()
	b := make([]byte, 20)
	n, err := f.ReadAt(b, ownerAt)
	if err != nil && !errors.Is(err, io.EOF) {
		return "another holder"
	}
	number, named := strings.CutPrefix(strings.TrimSpace(string(b[:n])), "process ")
	switch id, err := strconv.Atoi(number); {
	case !named || err != nil:
		return "another holder"
	case id == os.Getpid():
		return "this process"
	}
	return "process " + number
}
