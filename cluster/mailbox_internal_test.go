package cluster

import (
	"context"
	"errors"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

// dropping has messages of a consumer after a connection dropped some.
type dropping struct {
	jetstream.MessagesContext
	left []jetstream.SequencePair
}

type numberedMsg struct {
	jetstream.Msg
	jetstream.SequencePair
}

func (m numberedMsg) Metadata() (*jetstream.MsgMetadata, error) {
	return &jetstream.MsgMetadata{Sequence: m.SequencePair}, nil
}

func (numberedMsg) Subject() string { return "handloom.mail.0000000000000001.0000000000000002.mail" }
func (numberedMsg) Data() []byte    { return nil }

func (d *dropping) Next(...jetstream.NextOpt) (jetstream.Msg, error) {
	m := numberedMsg{SequencePair: d.left[0]}
	d.left = d.left[1:]
	return m, nil
}

// A dropped packet is not passed over like one of another outbox, because it would be erased.
func TestMailbox_NoticesDroppedPackets(t *testing.T) {
	deliver := func(context.Context, CellID, [][]byte) error { return nil }
	m := &mailbox{next: 5, purged: 5, lanes: map[string]*lane{}, deliver: deliver}
	err := m.readAll(t.Context(), &consumer{messages: &dropping{left: []jetstream.SequencePair{
		{Consumer: 1, Stream: 5}, {Consumer: 2, Stream: 8}, {Consumer: 4, Stream: 11},
	}}})
	m.running.Wait()
	if !errors.Is(err, errMissed) || m.next != 9 || !m.shared {
		t.Errorf("got %v, next %d, want %v at 9", err, m.next, errMissed)
	}
}
