package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/nats-io/nats.go"

	"handloom/cluster/cells"
	"handloom/internal/check"
)

// Transport returns what carries messages to and from other cells, for the Run of a
// [cells.Outbox], over the connection of the Log: a parcel is a request, on a subject of
// the cell that it is for. Whoever may publish there can forge messages: give that right
// to nodes alone, as that of the log. A message longer than what the servers take in one
// piece (max_payload) never arrives.
func (l *Log) Transport() cells.Transport { return (*transport)(l) }

type transport Log

// mostAnswers are parcels that a node looks at at a time; others wait.
const maxWorkers = 64

func mailSubject(cell CellID) string { return "handloom.mail." + cell.String() }

func (t *transport) Request(ctx context.Context, to CellID, parcel []byte) (cursor uint64, err error) {
	check.Given(ctx != nil, "cluster: Request", "context")
	ctx, cancel := (*Log)(t).untilClosed(ctx)
	defer cancel()
	reply, err := t.conn.RequestWithContext(ctx, mailSubject(to), parcel)
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return 0, fmt.Errorf("cluster: %v: %w", to, cells.ErrUnreachable)
	case err != nil:
		return 0, fmt.Errorf("cluster: %w", (*Log)(t).withCause(ctx, err))
	case len(reply.Data) != 8:
		return 0, fmt.Errorf("cluster: %v answered %d bytes, and not a number", to, len(reply.Data))
	}
	return binary.LittleEndian.Uint64(reply.Data), nil
}

// Serve answers on every node of the cell, but only the answer of the owner is sent: the
// first one that comes is taken.
func (t *transport) Serve(ctx context.Context, cell CellID, answer func(ctx context.Context, parcel []byte) (uint64, error)) error {
	check.Given(ctx != nil, "cluster: Serve", "context")
	check.Given(answer != nil, "cluster: Serve", "function")
	ctx, cancel := (*Log)(t).untilClosed(ctx)
	defer cancel()
	parcels := make(chan *nats.Msg, maxWorkers)
	sub, err := t.conn.ChanSubscribe(mailSubject(cell), parcels)
	if err != nil {
		return fmt.Errorf("cluster: %w", (*Log)(t).withCause(ctx, err))
	}
	defer func() { _ = sub.Unsubscribe() }()
	var answers sync.WaitGroup
	defer answers.Wait()
	for range maxWorkers {
		answers.Go(func() {
			for {
				select {
				case m := <-parcels:
					if cursor, err := answer(ctx, m.Data); err == nil {
						_ = m.Respond(binary.LittleEndian.AppendUint64(nil, cursor))
					}
				case <-ctx.Done():
					return
				}
			}
		})
	}
	<-ctx.Done()
	return context.Cause(ctx)
}
