package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"handloom/cluster/cells"
	"handloom/internal/check"
)

// Transport returns the transport between cells for [cells.Outbox.Run]. A packet is a request
// on a subject of the receiving cell. Every client that can publish there can forge messages:
// grant this right to nodes only. A message above the servers' max_payload never arrives.
func (l *Log) Transport() cells.Transport { return (*transport)(l) }

type transport Log

// maxPackets is the number of packets processed at a time; others wait. A sender has one packet
// in flight, and a tick takes all that have arrived.
const maxPackets = 1 << 12

func mailSubject(cell CellID) string { return "handloom.mail." + cell.String() }

func (t *transport) Request(ctx context.Context, to CellID, packet []byte) (cursor uint64, err error) {
	check.Given(ctx != nil, "cluster: Request", "context")
	ctx, cancel := (*Log)(t).untilClosed(ctx)
	defer cancel()
	reply, err := t.conn.RequestWithContext(ctx, mailSubject(to), packet)
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return 0, fmt.Errorf("cluster: %v: %w", to, cells.ErrUnreachable)
	case err != nil:
		return 0, fmt.Errorf("cluster: %w", (*Log)(t).withCause(ctx, err))
	case len(reply.Data) != 8:
		return 0, fmt.Errorf("cluster: %v: answer: got %d bytes, want 8", to, len(reply.Data))
	}
	return binary.LittleEndian.Uint64(reply.Data), nil
}

// Serve answers on every node of the cell. Only the leader's answer is sent.
func (t *transport) Serve(ctx context.Context, cell CellID, answer func(ctx context.Context, packet []byte) (uint64, error)) error {
	check.Given(ctx != nil, "cluster: Serve", "context")
	check.Given(answer != nil, "cluster: Serve", "function")
	ctx, cancel := (*Log)(t).untilClosed(ctx)
	defer cancel()
	packets := make(chan *nats.Msg, maxPackets)
	sub, err := t.conn.ChanSubscribe(mailSubject(cell), packets)
	if err != nil {
		return fmt.Errorf("cluster: %w", (*Log)(t).withCause(ctx, err))
	}
	defer func() { _ = sub.Unsubscribe() }()
	var answers errgroup.Group
	answers.SetLimit(maxPackets)
	defer func() { _ = answers.Wait() }()
	for {
		select {
		case m := <-packets:
			answers.Go(func() error {
				if cursor, err := answer(ctx, m.Data); err == nil {
					_ = m.Respond(binary.LittleEndian.AppendUint64(nil, cursor))
				}
				return nil
			})
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
