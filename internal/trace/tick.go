package trace

import (
	"errors"
	"io"
	"iter"
)

// ReadTick returns the events of the next batch, in the memory of dst if it
// suffices: those up to the next T, which is not among them, or up to the end
// of the file. An empty tick is a batch with no events. Behind the last batch
// it returns [io.EOF].
//
// Any other error is an [*Error], and the batch it is in is not returned, so
// that no part of it is replayed. The slice is good until it is given to the
// next call.
func (t *Reader) ReadTick(dst []Event) ([]Event, error) {
	dst = dst[:0]
	for {
		e, err := t.Next()
		switch {
		case err == nil && e.Kind == Tick:
			return dst, nil
		case err == nil:
			dst = append(dst, e)
		case errors.Is(err, io.EOF) && len(dst) > 0:
			return dst, nil
		default:
			return dst[:0], err
		}
	}
}

// Ticks iterates over the batches that [Reader.ReadTick] would return, all in
// the same memory: a batch is good until the next one. A fault is the last
// pair, with no events; the end of the file is no pair.
func (t *Reader) Ticks() iter.Seq2[[]Event, error] {
	return func(yield func([]Event, error) bool) {
		var events []Event
		for {
			var err error
			events, err = t.ReadTick(events)
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(events, err) || err != nil {
				return
			}
		}
	}
}
