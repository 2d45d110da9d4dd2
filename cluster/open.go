package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"handloom/internal/check"
	"handloom/world"
)

// A Log is the log of a cell, for one node. Its methods may be called by any goroutine.
type Log struct {
	cell   CellID
	writer uint32 // names what this Log saves
	o      Options
	conn   *nats.Conn
	js     jetstream.JetStream
	stream jetstream.Stream
	blobs  Blobs
	life   context.Context // ends with Close
	end    context.CancelCauseFunc
	done   func() // gives the embedded server free

	replica localReplica
	grace   time.Duration // how long a leader may say that the stream is too short

	closing sync.Once

	appending sync.Mutex
	tail      location // the last record and message, if it is known

	mutex        sync.Mutex
	seen         location   // the record that was read or appended last
	highest      uint64     // the highest position of any that was, or is in the journal
	failingSince time.Time  // since when no question was answered; zero: the last one was
	leftAt       time.Time  // when a server was left for another one
	shortSince   time.Time  // since when the leader says that the stream ends before that; zero: it does not
	verified     []snapshot // snapshots that were read back
	rejected     []snapshot // snapshots that Reject has dropped
	idle         *consumer  // what is read on from; nil: nothing
}

var _ world.Log = (*Log)(nil)

// A place is a record, and a message.
type location struct {
	at          uint64 // position of the record; 0: before the first
	before, sum chain  // of it
	seq         uint64 // of a message at or behind its last part, before the next record
}

const (
	// openTime is how long servers may take to start, and to choose leaders.
	openTime = 30 * time.Second

	// requestTime is how long a server may take to answer.
	requestTime = time.Second
)

// Open returns the log of a cell, and makes its stream if there is none. It waits up to 30
// s for servers that start.
//
// It fails with [ErrSettings] for a stream that may lose records, with [ErrBehind] for
// one that is shorter than the journal, and with [ErrOtherStream] for one that differs from
// it.
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

// connect returns a Log without a stream.
func connect(ctx context.Context, servers Servers, cell CellID, o Options) (*Log, error) {
	l := &Log{cell: cell, o: o, writer: rand.Uint32()}
	if o.Replicas > 1 {
		l.grace = maxGrace
	}
	err := l.replica.open(ctx, o.Journal)
	if err != nil {
		return nil, fmt.Errorf("cluster: the journal: %w", err)
	}
	l.highest = l.replica.last.at
	if l.conn, l.done, err = servers.connect(ctx); err != nil {
		return nil, err
	}
	l.life, l.end = context.WithCancelCause(context.Background())
	if l.js, err = jetstream.New(l.conn); err != nil {
		return nil, errors.Join(fmt.Errorf("cluster: %w", err), l.Close())
	}
	return l, nil
}

func (l *Log) open(ctx context.Context) error {
	if err := l.openStream(ctx); err != nil {
		return err
	}
	if err := l.compareReplica(ctx); err != nil {
		return err
	}
	if err := l.trimReplica(ctx); err != nil {
		return err
	}
	return l.openBlobs(ctx)
}

func (l *Log) openBlobs(ctx context.Context) (err error) {
	if l.blobs = l.o.Snapshots; l.blobs == nil {
		l.blobs, err = l.openObjects(ctx)
	}
	return err
}

// Close ends the Log, and the connection. Who reads gets [ErrClosed]. The journal is left
// open.
func (l *Log) Close() error {
	l.closing.Do(func() {
		l.end(ErrClosed)
		if f := l.takeConsumer(); f != nil {
			f.messages.Stop()
		}
		l.conn.Close()
		l.done()
	})
	return nil
}

// ElectionTimeout is Options.ElectionTimeout.
func (l *Log) ElectionTimeout() time.Duration { return l.o.ElectionTimeout }

// untilClosed returns a context that ends with ctx, and with the Log.
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

// pause waits for d, or for the end of ctx, which it returns.
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

// patiently calls f until it succeeds, fails for good, or ctx ends.
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
