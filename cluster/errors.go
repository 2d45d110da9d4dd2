package cluster

import (
	"errors"
	"io/fs"
)

var (
	// ErrSettings says that the stream has settings under which it may lose records.
	// The message names each of them.
	ErrSettings = errors.New("cluster: the stream has other settings")

	// ErrLocked means that another process has the folder of [Embedded] open, or another
	// value of this process.
	ErrLocked = errors.New("cluster: the folder is open in another process")

	// ErrFenced says that a record was appended behind another one than the last:
	// another node owns the log.
	ErrFenced = errors.New("cluster: another record is in its place")

	// ErrTrimmed says that records were asked for that are no longer kept. A newer
	// snapshot serves.
	ErrTrimmed = errors.New("cluster: the records are trimmed")

	// ErrCorrupt says that a message is missing from the stream, or is no part of the
	// log that it stands in.
	ErrCorrupt = errors.New("cluster: corrupt")

	// ErrBehind says that the stream is shorter than what this node has of it: servers
	// have lost records that they had acknowledged. It is [fs.ErrClosed], too, which halts
	// a world. See [Reseed].
	ErrBehind error = permanent("cluster: the stream is shorter than what was read of it")

	// ErrOtherStream means that the stream has another record at a number than this Log
	// has read or appended there, or has in its journal: it is another log. It is
	// [fs.ErrClosed], too, which halts a world. See [Reseed].
	ErrOtherStream error = permanent("cluster: the stream has another history")

	// ErrClosed says that the Log is closed. It is [fs.ErrClosed], too.
	ErrClosed error = permanent("cluster: the log is closed")
)

// forGood is an error behind which a Log takes nothing more.
type permanent string

func (e permanent) Error() string { return string(e) }

func (permanent) Unwrap() error { return fs.ErrClosed }
