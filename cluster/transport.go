package cluster

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"handloom/cluster/cells"
	"handloom/internal/check"
)

// Transport returns the transport between cells for [cells.Outbox.Run]. The mailboxes of a cell
// are a stream, MAIL_HANDLOOM-<cell>, which the first Receive creates. A packet is published on a
// subject of both cells, handloom.mail.<to>.<from>.<outbox>, so the servers' rights decide who may
// send in the name of a cell. A packet above the servers' max_payload is never sent.
func (l *Log) Transport() cells.Transport { return (*transport)(l) }

type transport Log

const (
	mailPrefix = "handloom.mail."
	anySender  = "*"
)

func mailSubject(to CellID, from, outbox string) string {
	return mailPrefix + to.String() + "." + from + "." + mailToken(outbox)
}

// mailToken returns the name of an outbox as a token of a subject.
func mailToken(outbox string) string {
	const hexed = "x-"
	plain := func(r rune) bool {
		return r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	if outbox == "" || strings.HasPrefix(outbox, hexed) || strings.ContainsFunc(outbox, func(r rune) bool { return !plain(r) }) {
		return hexed + hex.EncodeToString([]byte(outbox))
	}
	return outbox
}

// mailSender returns the sender of a message to a cell, or 0.
func mailSender(subject string) CellID {
	_, text, _ := strings.Cut(strings.TrimPrefix(subject, mailPrefix), ".")
	text, _, _ = strings.Cut(text, ".")
	if from, err := strconv.ParseUint(text, 16, 64); err == nil && CellID(from).String() == text {
		return CellID(from)
	}
	return 0
}

// Send publishes a packet again if the stream changes its leader, because repeated packets do no
// harm.
func (t *transport) Send(ctx context.Context, from, to CellID, outbox string, packet []byte) error {
	check.Given(ctx != nil, "cluster: Send", "context")
	if from != t.cell {
		return fmt.Errorf("cluster: Send: got cell %v, want the log's, %v", from, t.cell)
	}
	ctx, cancel := (*Log)(t).untilClosed(ctx)
	defer cancel()
	_, err := repeat(ctx, 2*firstAnswer, func(ctx context.Context) (*jetstream.PubAck, error) {
		return t.conn.js.Publish(ctx, mailSubject(to, from.String(), outbox), packet,
			jetstream.WithExpectStream(mailStream.name(to)), jetstream.WithRetryAttempts(0))
	})
	var api *jetstream.APIError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jetstream.ErrNoStreamResponse):
		return fmt.Errorf("cluster: %v: %w; start it, or call Outbox.Abandon if it is gone forever", to, cells.ErrUnreachable)
	case errors.Is(err, nats.ErrMaxPayload):
		return fmt.Errorf("cluster: %v: packet: got %d bytes, want at most max_payload of the servers, %d: raise it: %w", to, len(packet), t.conn.MaxPayload(), err)
	case errors.As(err, &api) && api.ErrorCode == streamStoreFailed:
		return fmt.Errorf("cluster: %v: mailbox full: got %d packets of this cell: start the cell, see its Outbox.Problems, or call Outbox.Abandon if it is gone forever: %w", to, mailPerSender, err)
	}
	return fmt.Errorf("cluster: %v: mailbox: %w", to, (*Log)(t).withCause(ctx, err))
}

// streamStoreFailed is the code of servers for a stream at its limits.
const streamStoreFailed jetstream.ErrorCode = 10077

// Receive returns an error if the stream of the mailbox is deleted, replaced or has wrong
// settings. The next Receive creates a deleted one.
func (t *transport) Receive(ctx context.Context, cell CellID, outbox string, deliver func(ctx context.Context, from CellID, packets [][]byte) error) error {
	check.Given(ctx != nil, "cluster: Receive", "context")
	check.Given(deliver != nil, "cluster: Receive", "function")
	if cell != t.cell {
		return fmt.Errorf("cluster: Receive: got cell %v, want the log's, %v", cell, t.cell)
	}
	ctx, cancel := (*Log)(t).untilClosed(ctx)
	defer cancel()
	m := &mailbox{js: t.conn.js, filter: mailSubject(cell, anySender, outbox), settings: mailStream.settings(cell, t.o.Replicas), deliver: deliver}
	err := m.open(ctx)
	if err == nil {
		err = m.run(ctx)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("cluster: mailbox %s: %w", m.settings.Name, err)
}
