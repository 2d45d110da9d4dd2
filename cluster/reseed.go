package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"handloom/internal/check"
)

// Reseed deletes the stream of a cell and creates it again from Options.Journal. Use it after
// [ErrBehind] or [ErrOtherStream]: end every node of the cell, and take the journal with the
// last record.
//
// It fails if the stream has all records of the journal, or if a snapshot is newer than the
// journal. In the latter case use a longer journal. If none exists, remove the snapshot;
// records after this journal are lost.
//
// Reseed may be repeated after an interruption. Open then refuses longer or different journals.
func Reseed(ctx context.Context, servers Servers, cell CellID, o Options) error {
	check.Given(ctx != nil, "cluster: Reseed", "context")
	o, err := o.withDefaults(servers.replicas())
	if err != nil {
		return err
	}
	if o.Journal == nil {
		return errors.New("cluster: Reseed: Options.Journal: got nil")
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
	// Sequences never repeat, so nodes that know an old sequence cannot append.
	c := l.settings()
	c.FirstSeq = uint64(time.Now().UnixMicro())
	if err := l.recreateStream(ctx, c); err != nil {
		return err
	}
	return l.fill(ctx, from, location{at: first.number - 1, sum: first.before, seq: c.FirstSeq - 1})
}

// recreateStream retries while a server still removes the files of the old stream.
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

// checkSnapshots fails if a snapshot is newer than the journal: worlds would report damage.
func (l *Log) checkSnapshots(ctx context.Context) error {
	if err := l.openSnapshots(ctx); err != nil {
		return err
	}
	snapshots, _, err := l.snapshots(ctx)
	if err != nil {
		return err
	}
	if last := l.replica.last.at; len(snapshots) > 0 && snapshots[0].at > last {
		return fmt.Errorf("the journal ends with record %d, before the snapshot of record %d, %s: "+
			"use a longer journal, or remove the snapshot if none exists", last, snapshots[0].at, snapshots[0].name)
	}
	return nil
}

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
		return fmt.Errorf("%w: wrong sum of the journal's records", ErrCorrupt)
	}
	return nil
}

func (r *localReplica) lastRun(ctx context.Context) (from uint64, first message, err error) {
	if r.at == 0 {
		return 0, first, errors.New("the journal is empty")
	}
	saved, err := r.journal.Snapshots(ctx)
	if err != nil {
		return 0, first, err
	}
	if len(saved) > 0 {
		from = saved[len(saved)-1] // earlier records may be trimmed
	}
	var last message
	err = r.journal.Read(ctx, from, func(at uint64, b []byte) error {
		var m message
		if err := m.decode(b); err != nil {
			return fmt.Errorf("%w: journal record %d: %w", ErrCorrupt, at, err)
		}
		if last.number == 0 || m.number != last.number+1 || m.before != last.sum {
			from, first = at-1, m
			first.bytes = nil
		}
		if last = m; at == r.at {
			return errFound
		}
		return nil
	})
	if err != errFound {
		return 0, first, err
	}
	return from, first, nil
}
