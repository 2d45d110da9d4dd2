package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"handloom/cluster/cells"
	"handloom/internal/check"
)

// Transport returns the transport between cells for [cells.Outbox.Run]. A packet is a request
// on a subject of both cells, handloom.mail.<to>.<from>, so the servers' rights decide who may
// send in the name of a cell. A message above the servers' max_payload never arrives.
func (l *Log) Transport() cells.Transport { return (*transport)(l) }

type transport Log

// maxPackets is the number of packets processed at a time; others wait. A sender has one packet
// in flight, and a tick takes all that have arrived.
const maxPackets = 1 << 12

const mailPrefix = "handloom.mail."

func mailSubject(to, from CellID) string { return mailPrefix + to.String() + "." + from.String() }

// mailSender returns the sender of a message to a cell, or 0.
func mailSender(subject string) CellID {
	_, text, _ := strings.Cut(strings.TrimPrefix(subject, mailPrefix), ".")
	if from, err := strconv.ParseUint(text, 16, 64); err == nil && CellID(from).String() == text {
		return CellID(from)
	}
	return 0
}

func (t *transport) Request(ctx context.Context, to CellID, packet []byte) (cursor uint64, err error) {
	check.Given(ctx != nil, "cluster: Request", "context")
	ctx, cancel := (*Log)(t).untilClosed(ctx)
	defer cancel()
	reply, err := t.conn.RequestWithContext(ctx, mailSubject(to, t.cell), packet)
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return 0, fmt.Errorf("cluster: %v: %w; start it, or call Outbox.Abandon if it is gone forever", to, cells.ErrUnreachable)
	case errors.Is(err, nats.ErrMaxPayload):
		return 0, fmt.Errorf("cluster: %v: packet: got %d bytes, want at most max_payload of the servers, %d: raise it: %w", to, len(packet), t.conn.MaxPayload(), err)
	case err != nil:
		return 0, fmt.Errorf("cluster: %w", (*Log)(t).withCause(ctx, err))
	case len(reply.Data) != 8:
		return 0, fmt.Errorf("cluster: %v: answer: got %d bytes, want 8", to, len(reply.Data))
	}
	return binary.LittleEndian.Uint64(reply.Data), nil
}

// Serve sends only answers without error.
func (t *transport) Serve(ctx context.Context, cell CellID, answer func(ctx context.Context, from CellID, packet []byte) (uint64, error)) error {
	check.Given(ctx != nil, "cluster: Serve", "context")
	check.Given(answer != nil, "cluster: Serve", "function")
	if cell != t.cell {
		return fmt.Errorf("cluster: Serve: got cell %v, want the log's, %v", cell, t.cell)
	}
	ctx, cancel := (*Log)(t).untilClosed(ctx)
	defer cancel()
	packets := make(chan *nats.Msg, maxPackets)
	sub, err := t.conn.ChanSubscribe(mailPrefix+cell.String()+".*", packets)
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
				from := mailSender(m.Subject)
				if from == 0 {
					return nil
				}
				if cursor, err := answer(ctx, from, m.Data); err == nil {
					_ = m.Respond(binary.LittleEndian.AppendUint64(nil, cursor))
				}
				return nil
			})
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
