package cells

import "errors"

var (
	// ErrGap, in [Pair].Err, means that two cells disagree on the received messages, because
	// one of them was restored from a backup or repaired, or a mailbox lost messages. A receiver
	// reports the lost numbers until [Outbox.Skip].
	ErrGap = errors.New("gap between messages of two cells")

	// ErrUnreachable means that no node answers for the cell, or that it has no mailbox. A
	// [Transport] wraps it.
	ErrUnreachable = errors.New("no node answers for the cell")
)
