package nemesis

import (
	"bytes"
	"context"
	"io/fs"
	"time"

	"handloom/world"
)

// AckBeforeAppend names the fault that a run must find: a log that acknowledges a record and
// appends it a moment later.
const AckBeforeAppend = "ack-before-append"

func faulty(l world.Log, mutant string) world.Log {
	if mutant == AckBeforeAppend {
		return &hasty{Log: l}
	}
	return l
}

// hasty acknowledges records before their append.
type hasty struct {
	world.Log
	waits chan late
}

type late struct {
	prev uint64
	rec  []byte
}

const (
	lateBy   = 150 * time.Millisecond
	maxWaits = 1000
)

func (h *hasty) Append(ctx context.Context, prev uint64, rec []byte) (uint64, error) {
	if rec[3] != 2 { // terms begin in order
		return h.Log.Append(ctx, prev, rec)
	}
	if h.waits == nil {
		h.waits = make(chan late, maxWaits)
		go func() {
			for l := range h.waits {
				time.Sleep(lateBy)
				_, _ = h.Log.Append(context.Background(), l.prev, l.rec)
			}
		}()
	}
	select {
	case h.waits <- late{prev, bytes.Clone(rec)}:
		return prev + 1, nil
	default:
		return 0, fs.ErrClosed
	}
}
