package world

import (
	"context"
	"errors"
	"fmt"

	"handloom/internal/entry"
)

// An Audit describes a whole log.
type Audit struct {
	Terms, Ticks uint64
	Kinds        []string
}

// AuditOf reads an untrimmed log and fails unless each record follows the record before it.
func AuditOf(ctx context.Context, l Log) (a Audit, err error) {
	tail, err := l.Tail(ctx)
	if err != nil || tail == 0 {
		return a, err
	}
	var h position
	err = l.Read(ctx, 0, func(at uint64, rec []byte) error {
		var r entry.Record
		if err := errors.Join(r.Decode(rec), follows(&r, &h)); err != nil {
			return fmt.Errorf("record %d: %w", at, err)
		}
		h.at, h.chain, h.Cell, h.Term, h.Leader = at, h.chain.Next(rec), r.Cell, r.Term, r.Incarnation
		h.tick = r.Tick
		if r.Kind == entry.KindTermStart {
			h.Start = r.Start
		}
		a.Kinds = append(a.Kinds, r.Kind.String())
		if at == tail {
			return errEnds
		}
		return nil
	})
	a.Terms, a.Ticks = uint64(h.Term), h.tick
	if errors.Is(err, errEnds) {
		err = nil
	}
	return a, err
}

// CompareAltered compares the state with its digests, of which the i-th has the next epoch.
func (w *World) CompareAltered(i int) error {
	h, e := w.at(), w.store.Epoch()
	state := w.state(&h)
	state.Shards[i].Sum ^= entry.Mix(e) ^ entry.Mix(e+1)
	return w.compare(h.at, state)
}
