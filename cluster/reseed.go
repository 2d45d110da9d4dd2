package cluster

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"

	"github.com/nats-io/nats.go/jetstream"

	"handloom/internal/check"
	"handloom/internal/entrance"
)

// Reseed deletes the stream of a cell and creates it again from Options.Journal, or from state,
// or from both. Use it after [ErrBehind] or [ErrOtherStream], or if the servers lost their
// disks. First get state, with World.Export of a node that runs, then end every node of the
// cell; the journal must be the one with the last record.
//
// State is a snapshot of the cell's world: the bytes of World.Export or of a backup, or nil. It
// is needed if Options.Snapshots has no snapshot that the journal continues, and is saved there
// unless a newer one exists. If state is newer than the journal, or if there is no journal, the
// stream begins after state, and nodes with other journals get [ErrOtherStream].
//
// It fails, and changes nothing, if state is damaged, if records between state and journal are
// missing, if the stream has all records and Options.Snapshots has a snapshot, or if a snapshot
// is newer than journal and state. In the last case use a longer journal. If none exists,
// remove the snapshot; records after this journal are lost.
//
// Reseed may be repeated after an interruption. Open then refuses longer or different journals.
func Reseed(ctx context.Context, servers Servers, cell CellID, o Options, state io.ReadSeeker) error {
	check.Given(ctx != nil, "cluster: Reseed", "context")
	return withSeed(ctx, servers, cell, o, state, func(l *Log, p *reseeding) error { return l.reseed(ctx, p) })
}

// Entrance returns the steps of Reseed with these arguments, or its error, and does none of them.
// It is for the command cluster/cmd/reseed; programs cannot call it.
func Entrance(ctx context.Context, _ entrance.Key, servers Servers, cell CellID, o Options, state io.ReadSeeker) (steps []string, err error) {
	err = withSeed(ctx, servers, cell, o, state, func(l *Log, p *reseeding) error {
		steps, err = l.describe(ctx, p)
		return err
	})
	return steps, err
}

func withSeed(ctx context.Context, servers Servers, cell CellID, o Options, state io.ReadSeeker, do func(l *Log, p *reseeding) error) error {
	o, err := o.withDefaults(servers.replicas())
	if err != nil {
		return err
	}
	if o.Journal == nil && state == nil {
		return errors.New("cluster: Reseed: Options.Journal and state: got nil, want one of them")
	}
	from, err := readSeed(state)
	if err != nil {
		return fmt.Errorf("cluster: Reseed: state: %w", err)
	}
	l, err := connect(ctx, servers, cell, o)
	if err != nil {
		return err
	}
	p, err := l.planReseed(ctx, from)
	if err == nil {
		err = do(l, p)
	}
	if err := errors.Join(err, l.Close()); err != nil {
		return fmt.Errorf("cluster: Reseed: %w", err)
	}
	return nil
}

var errComplete = errors.New("the stream has all that journal and state have")

// A source has the records and the state of a new stream.
type source struct {
	seed

	records uint64  // position in the journal before the first record; equal to the end: none
	first   message // the first record, without bytes; number 0: none
}

// A reseeding is a checked Reseed.
type reseeding struct {
	source
	exists bool // the stream has all records and stays
	saves  bool // the state becomes a snapshot
}

func (l *Log) planReseed(ctx context.Context, s seed) (*reseeding, error) {
	p := &reseeding{source: source{seed: s}}
	var err error
	if l.replica.journal != nil {
		if p.records, p.first, err = l.replica.lastRun(ctx); err != nil {
			return nil, err
		}
	}
	if p.saves, err = l.checkState(ctx, &p.source); err != nil {
		return nil, err
	}
	if p.exists, err = l.isComplete(ctx, &p.seed); err != nil {
		return nil, err
	}
	if p.exists && !p.saves {
		return nil, errComplete
	}
	if p.exists {
		// Trimmed records after state would be missing.
		_, _, _, err = l.find(ctx, s.at)
	}
	return p, err
}

// beginsAfterState reports whether the new stream has no records.
func (l *Log) beginsAfterState(p *reseeding) bool { return p.r != nil && p.at > l.replica.last.at }

// describe returns the steps of reseed.
func (l *Log) describe(ctx context.Context, p *reseeding) (steps []string, err error) {
	step := func(format string, args ...any) { steps = append(steps, fmt.Sprintf(format, args...)) }
	if p.saves {
		step("save the state of record %d as a snapshot", p.at)
	}
	if p.exists {
		return steps, nil
	}
	stream, err := l.conn.js.Stream(ctx, l.cell.Stream())
	if err == nil {
		step("delete stream %s with %d messages", l.cell.Stream(), stream.CachedInfo().State.Msgs)
	} else if !errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, err
	}
	if l.beginsAfterState(p) {
		step("create stream %s after record %d", l.cell.Stream(), p.at)
	} else {
		step("create stream %s with records %d to %d of the journal", l.cell.Stream(), p.first.number, l.replica.last.at)
	}
	return steps, nil
}

func (l *Log) reseed(ctx context.Context, p *reseeding) error {
	if p.saves {
		if err := l.Save(ctx, p.at, p.copyTo); err != nil {
			return err
		}
	}
	if p.exists {
		return nil
	}
	if err := l.conn.js.DeleteStream(ctx, l.cell.Stream()); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return err
	}
	// Sequences never repeat, so nodes that know an old sequence cannot append.
	c := beginsNow(l.settings())
	if err := l.recreateStream(ctx, c); err != nil {
		return err
	}
	if l.beginsAfterState(p) {
		return l.beginAfter(ctx, p.at, c.FirstSeq)
	}
	return l.fill(ctx, p.records, location{at: p.first.number - 1, sum: p.first.before, seq: c.FirstSeq - 1})
}

// isComplete reports whether the stream has the records of journal and state.
func (l *Log) isComplete(ctx context.Context, s *seed) (bool, error) {
	var err error
	if l.stream, err = l.conn.js.Stream(ctx, l.cell.Stream()); errors.Is(err, jetstream.ErrStreamNotFound) {
		return false, nil
	}
	if err == nil {
		err = l.compareReplica(ctx)
	}
	if err == nil && s.r != nil {
		l.highest = max(l.highest, s.at)
		err = l.waitForRecord(ctx, s.at)
	}
	if isAny(err, ErrBehind, ErrOtherStream, ErrCorrupt) {
		return false, nil
	}
	return err == nil, err
}

// checkState reports whether the state must be saved. It fails if the records of the journal do
// not continue it, or the newest snapshot: worlds would report damage.
func (l *Log) checkState(ctx context.Context, from *source) (saves bool, err error) {
	if err := l.openSnapshots(ctx); err != nil {
		return false, err
	}
	snapshots, _, err := l.snapshots(ctx)
	if err != nil {
		return false, err
	}
	newest, last := uint64(0), max(l.replica.last.at, from.at)
	if len(snapshots) > 0 {
		newest = snapshots[0].at
	}
	has := len(snapshots) > 0 && (from.first.number == 0 || newest+1 >= from.first.number)
	switch {
	case newest > last:
		return false, fmt.Errorf("journal and state end with record %d, before the snapshot of record %d, %s: "+
			"use a longer journal, or remove the snapshot if none exists", last, newest, snapshots[0].name)
	case from.r == nil && !has:
		return false, fmt.Errorf("no snapshot before record %d of the journal: got state nil, want a snapshot", from.first.number)
	case from.r != nil && !has && from.at+1 < from.first.number:
		return false, fmt.Errorf("state is of record %d, but the journal begins with record %d", from.at, from.first.number)
	}
	return from.r != nil && (!has || from.at > newest), nil
}

// beginAfter appends an empty record at the position of a state, whose record is lost. Its sum
// is random: streams that begin so differ.
func (l *Log) beginAfter(ctx context.Context, at, firstSeq uint64) error {
	if at == 0 {
		return nil
	}
	end := location{at: at - 1, seq: firstSeq - 1}
	rand.Read(end.sum[:])
	_, err := l.publish(ctx, end, nil, l.sendToNew)
	return err
}

// errStore is the code of a server that still removes the files of a deleted stream.
const errStore = 10049

// recreateStream retries after errStore.
func (l *Log) recreateStream(ctx context.Context, c jetstream.StreamConfig) error {
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	final := func(err error) bool {
		var api *jetstream.APIError
		return !errors.As(err, &api) || api.ErrorCode != errStore
	}
	return retry(ctx, final, func(ctx context.Context) (err error) {
		l.stream, err = l.conn.js.CreateStream(ctx, c)
		return err
	})
}

// isDelivered reports whether a server may have the message whose publication failed with err.
// None has it while the stream has no leader, such as a new one.
func isDelivered(err error) bool { return !errors.Is(err, jetstream.ErrNoStreamResponse) }

// sendToNew is send for a new stream that nobody else writes. Its servers may be electing a
// leader: then no server has the message. If the message arrived and the answer was late, send
// repeats it in vain.
func (l *Log) sendToNew(ctx context.Context, behind uint64, b []byte) (seq uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	err = retry(ctx, isDelivered, func(ctx context.Context) (err error) {
		seq, err = l.send(ctx, behind, b)
		return err
	})
	if refused(err) {
		if m, getErr := l.stream.GetMsg(ctx, behind+1); getErr == nil && bytes.Equal(m.Data, b) {
			return behind + 1, nil
		}
	}
	return seq, err
}

func (l *Log) fill(ctx context.Context, from uint64, end location) error {
	if from == l.replica.at {
		return nil
	}
	err := l.replica.journal.Read(ctx, from, func(at uint64, b []byte) error {
		var m message
		err := m.decode(b)
		if err == nil {
			end, err = l.publish(ctx, end, m.bytes, l.sendToNew)
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
