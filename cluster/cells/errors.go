package cells

import "errors"

var (
	// ErrGap says, in [Pair].Err, that two cells do not agree which messages have
	// arrived: the one lacks some that the other has erased, or has more than were ever
	// sent. One of them is a restored backup, or was cut by a repair. Nothing is
	// shipped there until [Outbox.Resume].
	ErrGap = errors.New("messages between two cells are missing")

	// ErrUnreachable is what a [Transport] returns, wrapped, when no node answers for a cell.
	ErrUnreachable = errors.New("no node answers for the cell")
)
