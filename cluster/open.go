package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"handloom/internal/check"
	"handloom/world"
)

// A Log is the log of a cell, for one node. Its methods may be called by any goroutine.
type Log struct {
	cell   CellID
	o      Options
	conn   *connection
	stream jetstream.Stream
	watch  settingsWatch
	saved  *pairs
	life   context.Context // ends with Close
	end    context.CancelCauseFunc

	replica localReplica
	grace   time.Duration // during which a leader may report a stream that is too short

	closing sync.Once
	led     chan struct{} // has a value after the first append of a term, and after a failed one
	leading bool          // the last append succeeded; protected by appending

	appending sync.Mutex
	tail      location // end of the log, if known

	mutex        sync.Mutex
	seen         location   // the last record read or appended
	found        location   // last search result; seq 0: none
	ended        location   // end at the last look, compared with known records, until an append; seq 0: none
	highest      uint64     // highest known position, including the journal
	failingSince time.Time  // start of unanswered requests; zero: the last one was answered
	shortSince   time.Time  // start of reports of a short stream; zero: none
	verified     []snapshot // snapshots that were read back
	rejected     []snapshot // snapshots dropped by Reject
	idle         *consumer  // consumer for the next Read, or nil
	foreign      foreignRuns
}

var _ world.Log = (*Log)(nil)

// A location is a record and a message.
type location struct {
	at          uint64 // position of the record; 0: before the first
	before, sum chain  // the record's
	seq         uint64 // of any message from the record's last fragment to the next record
}

const (
	// openTime is the time limit for the start of servers and elections.
	openTime = 30 * time.Second

	requestTime = time.Second
)

// Open returns the log of a cell, and creates a missing stream. It waits up to 30 s for the
// start of servers, unless they refuse the credentials. It fails with [ErrSettings] if the stream
// may lose records, with [ErrBehind] if it ends before the journal, and with [ErrOtherStream] if
// it differs from the journal.
func Open(ctx context.Context, servers Servers, cell CellID, o Options) (*Log, error) {
	check.Given(ctx != nil, "cluster: Open", "context")
	o, err := o.withDefaults(servers.replicas())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	l, err := connect(ctx, servers, cell, o)
	if err != nil {
		return nil, err
	}
	if err := l.open(ctx); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func connect(ctx context.Context, servers Servers, cell CellID, o Options) (*Log, error) {
	l := &Log{cell: cell, o: o, watch: settingsWatch{interval: settingsTime}, led: make(chan struct{}, 1)}
	if o.Replicas > 1 {
		l.grace = maxGrace
	}
	err := l.replica.open(ctx, o.Journal)
	if err != nil {
		return nil, fmt.Errorf("cluster: journal: %w", err)
	}
	l.highest = l.replica.last.at
	if l.conn, err = servers.connect(ctx, "_INBOX."+cell.String()); err != nil {
		return nil, err
	}
	l.life, l.end = context.WithCancelCause(context.Background())
	return l, nil
}

func (l *Log) open(ctx context.Context) error {
	var err error
	if l.stream, err = openStream(ctx, l.conn.js, l.settings()); err != nil {
		return err
	}
	if l.conn.MaxPayload() < headerBytes+fragmentBytes {
		return fmt.Errorf("%w: max_payload of the servers: got %d, want at least %d", ErrSettings, l.conn.MaxPayload(), headerBytes+fragmentBytes)
	}
	created := l.stream.CachedInfo().Created // before the comparison, which a later stream may pass
	if err := l.compareReplica(ctx); err != nil {
		return err
	}
	l.replica.follow(created)
	if err := l.trimReplica(ctx); err != nil {
		return err
	}
	return l.openSnapshots(ctx)
}

// locked calls f with the mutex.
func (l *Log) locked(f func()) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	f()
}

// Close ends the Log and a connection of its own, and waits for a running comparison of settings
// or trim of the journal. Reads return [ErrClosed]. The journal stays open.
func (l *Log) Close() error {
	l.closing.Do(func() {
		l.end(ErrClosed)
		if f := l.takeConsumer(); f != nil {
			f.messages.Stop()
		}
		l.watch.close()
		l.conn.release()
	})
	return nil
}

// ElectionTimeout returns Options.ElectionTimeout.
func (l *Log) ElectionTimeout() time.Duration { return l.o.ElectionTimeout }

func (l *Log) untilClosed(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if l.life.Err() != nil {
		cancel(ErrClosed)
	}
	stop := context.AfterFunc(l.life, func() { cancel(context.Cause(l.life)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

const (
	firstRetry = 2 * time.Millisecond
	lastRetry  = 200 * time.Millisecond
)

// retry calls f until it succeeds, fails permanently, or ctx ends.
func retry(ctx context.Context, permanent func(error) bool, f func(ctx context.Context) error) error {
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		err := f(ctx)
		if err == nil || permanent(err) {
			return err
		}
		if pause(ctx, wait) != nil {
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
}
