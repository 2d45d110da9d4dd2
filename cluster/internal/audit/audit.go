package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"handloom/store"
	"handloom/world"
)

// A TickResult is the outcome of a tick.
type TickResult struct {
	world.Outcome
	Digest uint64   // of the store
	Keys   []uint64 // keys of the calls in the tick
}

// An App creates a store and the options of its World. applied is called after each tick.
type App func(workers int, applied func(p TickResult)) (*store.Store, world.Options)

// An Auditor checks reports from any goroutine.
type Auditor struct {
	onFault func(format string, args ...any)

	mutex    sync.Mutex
	found    Findings
	records  [][]byte            // record n at n-1
	reported map[uint64]reported // by tick
	calls    map[uint64]uint64   // acknowledged ticks by key; 0: none
	readErr  error               // of Follow
}

// New returns an Auditor that calls onFault with the text of each fault.
func New(onFault func(format string, args ...any)) *Auditor {
	return &Auditor{onFault: onFault, reported: make(map[uint64]reported), calls: make(map[uint64]uint64)}
}

// Findings count reports and faults. The fault counts are Lost to Broken.
type Findings struct {
	Records   int
	Ticks     int
	Reported  int // ticks applied by nodes, once per node
	Acked     int
	Uncertain int

	Lost     int // acknowledged calls and applied ticks not in the log
	Changed  int // calls in another tick, and unknown ones
	Doubled  int // calls in several ticks
	Diverged int // ticks with two digests, and failed replays
	Broken   int // records that do not follow, or have changed
}

func (a *Auditor) fault(count *int, format string, args ...any) {
	*count++
	a.onFault(format, args...)
}

type reported struct {
	digest uint64
	by     string
}

// Applied reports that a node has applied or replayed a tick.
func (a *Auditor) Applied(node string, tick, digest uint64) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.found.Reported++
	a.applied(node, tick, digest)
}

func (a *Auditor) applied(node string, tick, digest uint64) {
	was, ok := a.reported[tick]
	if ok && was.digest != digest {
		a.fault(&a.found.Diverged, "tick %d has digest %016x from %s, and %016x from %s", tick, digest, node, was.digest, was.by)
	}
	if !ok {
		a.reported[tick] = reported{digest, node}
	}
}

// Asked reports that a client is about to make a call.
func (a *Auditor) Asked(key uint64) { a.Acked(key, 0) }

// Acked reports that a call is in a tick.
func (a *Auditor) Acked(key, tick uint64) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.calls[key] = tick
}

// Follow copies every record of l until ctx ends, with retries.
func (a *Auditor) Follow(ctx context.Context, l world.Log) {
	for ctx.Err() == nil {
		err := read{l, a}.Read(ctx, a.last(), func(uint64, []byte) error { return nil })
		a.mutex.Lock()
		a.readErr = err
		a.mutex.Unlock()
		select {
		case <-ctx.Done():
		case <-time.After(retryDelay):
		}
	}
}

// CaughtUp fails, with the error of Follow's last Read, unless Follow has read the last record
// of l.
func (a *Auditor) CaughtUp(ctx context.Context, l world.Log) error {
	tail, err := l.Tail(ctx)
	if err != nil {
		return err
	}
	last := a.last()
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if last < tail {
		return errors.Join(fmt.Errorf("auditor has read record %d of %d", last, tail), a.readErr)
	}
	return nil
}

// retryDelay is the pause of Follow after an error.
const retryDelay = 50 * time.Millisecond

// A read log keeps new records that are read, and compares old ones. It lacks its newest snapshot,
// so a replay has ticks.
type read struct {
	world.Log
	a *Auditor
}

func (l read) Snapshots(ctx context.Context) ([]uint64, error) {
	at, err := l.Log.Snapshots(ctx)
	if len(at) > 1 {
		at = at[1:]
	}
	return at, err
}

func (l read) Read(ctx context.Context, after uint64, each func(at uint64, rec []byte) error) error {
	return l.Log.Read(ctx, after, func(at uint64, rec []byte) error {
		l.a.see(at, after, rec)
		after = at
		return each(at, rec)
	})
}

// see copies the record at a position, or compares it with its copy. after is the position read before.
func (a *Auditor) see(at, after uint64, rec []byte) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if at != after+1 {
		a.fault(&a.found.Broken, "record %d comes after record %d", at, after)
	}
	if at > uint64(len(a.records)) {
		a.records = append(a.records, bytes.Clone(rec))
	} else if !bytes.Equal(a.records[at-1], rec) {
		a.fault(&a.found.Broken, "record %d has changed", at)
	}
}

func (a *Auditor) last() uint64 {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return uint64(len(a.records))
}

// Check reads the rest of the log from l and replays it from its older snapshot. It fails if l
// does not answer; faults are findings.
func (a *Auditor) Check(ctx context.Context, l world.Log, p App, workers int) error {
	last := a.last() // before Tail, because Follow reads on
	saved, err := l.Snapshots(ctx)
	if err != nil {
		return err
	}
	if len(saved) == 0 || slices.Min(saved) > last {
		return fmt.Errorf("snapshots %d: log may be trimmed, read only through record %d", saved, last)
	}
	tail, err := l.Tail(ctx)
	if err != nil {
		return err
	}
	if tail < last {
		a.mutex.Lock()
		a.fault(&a.found.Broken, "log ends at record %d, want at least %d", tail, last)
		a.mutex.Unlock()
	}
	_, err = a.replay(ctx, read{l, a}, p, workers, func(TickResult) {})
	return err
}

// replay replays a log, compares each tick with the reports, and returns the last tick.
func (a *Auditor) replay(ctx context.Context, l world.Log, p App, workers int, each func(p TickResult)) (last TickResult, err error) {
	s, o := p(workers, func(p TickResult) {
		a.mutex.Lock()
		defer a.mutex.Unlock()
		a.applied(fmt.Sprintf("replay with %d workers", workers), p.Number, p.Digest)
		if p.Time.Before(last.Time) {
			a.fault(&a.found.Broken, "tick %d: time: got %v, want at least %v", p.Number, p.Time, last.Time)
		}
		last = p
		each(p)
	})
	switch err := world.Replay(ctx, s, l, o, 1<<62); {
	case errors.Is(err, world.ErrDiverged), errors.Is(err, world.ErrCorrupt), errors.Is(err, world.ErrTick), errors.Is(err, world.ErrVersion):
		a.mutex.Lock()
		defer a.mutex.Unlock()
		a.fault(&a.found.Diverged, "replay with %d workers ends after tick %d: %v", workers, last.Number, err)
	case err != nil:
		return last, err
	}
	return last, nil
}

// Findings returns the findings so far.
func (a *Auditor) Findings() Findings {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.found.Records = len(a.records)
	return a.found
}
