package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"handloom/internal/check"
)

// Reseed makes the stream of a cell anew from Options.Journal: for a person who was told
// [ErrBehind] or [ErrOtherStream], has ended every node of the cell, and has found the journal
// that goes furthest. The stream that is there is deleted. A stream that has all that the
// journal has is left alone, which is an error, and so is a snapshot of a record that the
// journal does not have: another journal goes further, or if that is lost, the snapshot has to
// be taken away from where snapshots are kept, and with it what was behind the journal.
//
// It may be called again if it was interrupted. Journals of other nodes that go further, or
// another way, are refused by Open from then on.
func Reseed(ctx context.Context, servers Servers, cell CellID, o Options) error {
	check.Given(ctx != nil, "cluster: Reseed", "context")
	o, err := o.withDefaults(servers.replicas())
	if err != nil {
		return err
	}
	if o.Journal == nil {
		return errors.New("cluster: Reseed: Options.Journal is nil: it is what the stream is made of")
	}
	l, err := connect(ctx, servers, cell, o)
	if err != nil {
		return err
	}
	err = l.reseed(ctx)
	if err := errors.Join(err, l.Close()); err != nil {
		return fmt.Errorf("cluster: Reseed: %w", err)
	}
	return nil
}

var errComplete = errors.New("the stream has all that the journal has")

func (l *Log) reseed(ctx context.Context) error {
	from, first, err := l.replica.lastRun(ctx)
	if err != nil {
		return err
	}
	if err := l.checkSnapshots(ctx); err != nil {
		return err
	}
	if l.stream, err = l.js.Stream(ctx, l.cell.Stream()); err == nil {
		switch err := l.compareReplica(ctx); {
		case err == nil:
			return errComplete
		case !errors.Is(err, ErrBehind) && !errors.Is(err, ErrOtherStream) && !errors.Is(err, ErrCorrupt):
			return err
		}
		err = l.js.DeleteStream(ctx, l.cell.Stream())
	}
	if err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return err
	}
	// No sequence of the stream before comes again, so that no node that still knows one
	// appends behind it.
	c := l.settings()
	c.FirstSeq = uint64(time.Now().UnixMicro())
	if err := l.recreateStream(ctx, c); err != nil {
		return err
	}
	return l.fill(ctx, from, location{at: first.number - 1, sum: first.before, seq: c.FirstSeq - 1})
}

// createAgain creates a stream that was just deleted. A server that still removes its files
// reports that it cannot create the store.
func (l *Log) recreateStream(ctx context.Context, c jetstream.StreamConfig) error {
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	const errStore = 10049
	final := func(err error) bool {
		var api *jetstream.APIError
		return !errors.As(err, &api) || api.ErrorCode != errStore
	}
	return retry(ctx, final, func(ctx context.Context) (err error) {
		l.stream, err = l.js.CreateStream(ctx, c)
		return err
	})
}

// noneNewer fails if there is a snapshot that the records of the journal do not reach:
// worlds would take the stream for damaged.
func (l *Log) checkSnapshots(ctx context.Context) error {
	if err := l.openBlobs(ctx); err != nil {
		return err
	}
	snapshots, _, err := l.snapshots(ctx)
	if err != nil {
		return err
	}
	if last := l.replica.last.at; len(snapshots) > 0 && snapshots[0].at > last {
		return fmt.Errorf("the journal ends with record %d, and there is a snapshot of record %d, %s: "+
			"use the journal that has it, or remove that snapshot if there is none", last, snapshots[0].at, snapshots[0].name)
	}
	return nil
}

// fill appends what the journal has behind a position.
func (l *Log) fill(ctx context.Context, from uint64, end location) error {
	if from == l.replica.at {
		return nil
	}
	err := l.replica.journal.Read(ctx, from, func(at uint64, b []byte) error {
		var m message
		err := m.decode(b)
		if err == nil {
			end, err = l.publish(ctx, end, m.bytes)
		}
		if err == nil && at == l.replica.at {
			err = errFound
		}
		return err
	})
	if err != errFound {
		return err
	}
	if end.sum != l.replica.last.sum {
		return fmt.Errorf("%w: the records of the journal do not add up", ErrCorrupt)
	}
	return nil
}

// run returns behind which position of the journal all records follow each other, and the
// first of them.
func (o *localReplica) lastRun(ctx context.Context) (from uint64, first message, err error) {
	if o.at == 0 {
		return 0, first, errors.New("the journal is empty")
	}
	saved, err := o.journal.Snapshots(ctx)
	if err != nil {
		return 0, first, err
	}
	if len(saved) > 0 {
		from = saved[len(saved)-1] // what is before may be trimmed
	}
	var last message
	err = o.journal.Read(ctx, from, func(at uint64, b []byte) error {
		var m message
		if err := m.decode(b); err != nil {
			return fmt.Errorf("%w: the journal's record %d: %w", ErrCorrupt, at, err)
		}
		if last.number == 0 || m.number != last.number+1 || m.before != last.sum {
			from, first = at-1, m
			first.bytes = nil
		}
		if last = m; at == o.at {
			return errFound
		}
		return nil
	})
	if err != errFound {
		return 0, first, err
	}
	return from, first, nil
}
