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

// Transport returns the transport between cells for [cells.Outbox.Run]. A packet is a request
// on a subject of the receiving cell. Every client that can publish there can forge messages:
// grant this right to nodes only. A message above the servers' max_payload never arrives.
func (l *Log) Transport() cells.Transport { return (*transport)(l) }

type transport Log

// maxWorkers is the number of packets processed at a time; others wait.
const maxWorkers = 64

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
	packets := make(chan *nats.Msg, maxWorkers)
	sub, err := t.conn.ChanSubscribe(mailSubject(cell), packets)
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
				case m := <-packets:
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
