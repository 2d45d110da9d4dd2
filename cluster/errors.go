package cluster

import (
	"errors"
	"io/fs"
	"slices"
)

var (
	// ErrSettings means that the stream's settings may lose records. The message names them.
	ErrSettings = errors.New("cluster: wrong settings of the stream")

	// ErrLocked means that another process, or another value in this process, has the folder of
	// [Embedded] open.
	ErrLocked = errors.New("cluster: the folder is open in another process")

	// ErrFenced means that another node, the leader, has appended at this position.
	ErrFenced = errors.New("cluster: fenced: another record at this position")

	// ErrTrimmed means that the records are no longer kept. Use a newer snapshot.
	ErrTrimmed = errors.New("cluster: the records are trimmed")

	// ErrCorrupt means that a message is missing from the stream, or that a writer of another log
	// appended one.
	ErrCorrupt = errors.New("cluster: corrupt")

	// ErrBehind means that the stream ends before a record known to this node: servers lost
	// acknowledged records. It wraps [fs.ErrClosed], which halts a world. See [Reseed].
	ErrBehind error = permanent("cluster: the stream lost records")

	// ErrOtherStream means that the stream and this Log, or its journal, have different
	// records at one number. It wraps [fs.ErrClosed], which halts a world. See [Reseed].
	ErrOtherStream error = permanent("cluster: the stream has another history")

	// ErrNoCell means that no cell has this ID: it has neither a place on nodes nor a log. Nothing is applied.
	ErrNoCell = errors.New("the cell does not exist: correct its ID, or Place it")

	// ErrRefused means that the node that leads the cell returned an error. The message has its text.
	ErrRefused = errors.New("the cell refused the call")

	// ErrNameTaken means that a running node has the Host.Name. The message names its machine and
	// process, and the fix.
	ErrNameTaken = errors.New("the name belongs to another node")

	// ErrClosed means that the Log or the Client is closed. It wraps [fs.ErrClosed].
	ErrClosed error = permanent("cluster: the log is closed")
)

// permanent is an error that ends a Log.
type permanent string

func (e permanent) Error() string { return string(e) }

func (permanent) Unwrap() error { return fs.ErrClosed }

// isAny reports whether err is one of targets.
func isAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}
