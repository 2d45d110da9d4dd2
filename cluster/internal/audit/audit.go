package audit

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"handloom/internal/entry"
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
type App func(workers int, applied func(p TickResult)) (*store.Store, world.Options, error)

// An Auditor checks reports from any goroutine. The zero value is ready.
type Auditor struct {
	OnFault func(format string, args ...any) // called with the text of each fault; may be nil

	mutex    sync.Mutex
	found    Findings
	records  []record
	tick     uint64
	time     int64
	reported map[uint64]reported // by tick
	calls    map[uint64]uint64   // acknowledged ticks by key; 0: none
	readErr  error               // of Follow
}

// Findings count reports and faults. The fault counts are Lost to Broken.
type Findings struct {
	Records   int
	Ticks     int
	Terms     int
	Reported  int // ticks applied by nodes, once per node
	Acked     int
	Uncertain int

	Lost     int // acknowledged calls and applied ticks not in the log
	Changed  int // calls in another tick, and unknown ones
	Doubled  int // calls in several ticks
	Diverged int // ticks with two digests, and failed replays
	Broken   int // records that do not follow, or have changed

	Faults []string // texts of the first faults
}

// Bad reports whether there is a fault.
func (f *Findings) Bad() bool { return f.Lost+f.Changed+f.Doubled+f.Diverged+f.Broken > 0 }

const maxFaults = 20

func (a *Auditor) fault(count *int, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if *count++; len(a.found.Faults) < maxFaults {
		a.found.Faults = append(a.found.Faults, text)
	}
	if a.OnFault != nil {
		a.OnFault("%s", text)
	}
}

type record struct {
	at    uint64
	bytes []byte
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
		if a.reported == nil {
			a.reported = make(map[uint64]reported)
		}
		a.reported[tick] = reported{digest, node}
	}
}

// Asked reports that a client is about to make a call.
func (a *Auditor) Asked(key uint64) { a.Acked(key, 0) }

// Acked reports that a call is in a tick.
func (a *Auditor) Acked(key, tick uint64) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.calls == nil {
		a.calls = make(map[uint64]uint64)
	}
	a.calls[key] = tick
}

// Fault reports a fault found by a node.
func (a *Auditor) Fault(format string, args ...any) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.fault(&a.found.Diverged, format, args...)
}

// Follow copies every record of l until ctx ends, with retries.
func (a *Auditor) Follow(ctx context.Context, l world.Log) {
	for ctx.Err() == nil {
		err := l.Read(ctx, a.last(), a.reader(math.MaxUint64))
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
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if last := a.lastAt(); last < tail {
		return errors.Join(fmt.Errorf("auditor has read record %d of %d", last, tail), a.readErr)
	}
	return nil
}

// retryDelay is the pause of Follow after an error.
const retryDelay = 50 * time.Millisecond

func (a *Auditor) reader(through uint64) func(at uint64, rec []byte) error {
	before := uint64(0)
	return func(at uint64, rec []byte) error {
		a.mutex.Lock()
		defer a.mutex.Unlock()
		if at <= before {
			a.fault(&a.found.Broken, "record %d comes after record %d", at, before)
		}
		before = at
		if at > a.lastAt() {
			a.add(at, rec)
		} else {
			a.compareAgain(at, rec)
		}
		if at >= through {
			return errEnd
		}
		return nil
	}
}

func (a *Auditor) last() uint64 {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return a.lastAt()
}

func (a *Auditor) lastAt() uint64 {
	if len(a.records) == 0 {
		return 0
	}
	return a.records[len(a.records)-1].at
}

func (a *Auditor) add(at uint64, rec []byte) {
	a.records = append(a.records, record{at, bytes.Clone(rec)})
	a.found.Records++
	var info entry.Record
	if err := info.Decode(rec); err != nil {
		a.fault(&a.found.Broken, "record %d: %v", at, err)
		return
	}
	a.found.Ticks += int(info.Idle)
	switch info.Kind {
	case entry.KindTermStart:
		a.found.Terms++
	case entry.KindTick:
		a.found.Ticks++
	}
	if info.Time < a.time {
		a.fault(&a.found.Broken, "record %d: time: got %v, want at least %v", at, time.Unix(0, info.Time), time.Unix(0, a.time))
	}
	a.tick, a.time = info.Tick, info.Time
}

var errEnd = errors.New("end of read")

// Check reads the rest of the log from l and replays it from its older snapshot. It fails if l
// does not answer; faults are findings.
func (a *Auditor) Check(ctx context.Context, l world.Log, p App, workers int) error {
	saved, err := l.Snapshots(ctx)
	if err == nil && len(saved) == 0 {
		err = errors.New("log without snapshot")
	}
	if err != nil {
		return err
	}
	from := slices.Min(saved)
	if last := a.last(); from > last {
		return fmt.Errorf("log may be trimmed through record %d, read only through record %d", from, last)
	}
	if err := a.compare(ctx, l, from); err != nil {
		return err
	}
	return a.replay(ctx, older{l}, p, workers, nil)
}

// compare reads the log after a position up to its end.
func (a *Auditor) compare(ctx context.Context, l world.Log, after uint64) error {
	last := a.last() // before Tail, because Follow reads on
	tail, err := l.Tail(ctx)
	if err != nil {
		return err
	}
	if tail < last {
		a.mutex.Lock()
		a.fault(&a.found.Broken, "log ends at record %d, want at least %d", tail, last)
		a.mutex.Unlock()
	}
	if tail <= after {
		return nil
	}
	if err = l.Read(ctx, after, a.reader(tail)); errors.Is(err, errEnd) {
		return nil
	}
	return err
}

func (a *Auditor) compareAgain(at uint64, rec []byte) {
	i, ok := slices.BinarySearchFunc(a.records, at, func(r record, at uint64) int { return cmp.Compare(r.at, at) })
	if !ok {
		a.fault(&a.found.Broken, "record %d is new", at)
	} else if !bytes.Equal(a.records[i].bytes, rec) {
		a.fault(&a.found.Broken, "record %d has changed", at)
	}
}

// replay replays a log and compares each tick with the reports.
func (a *Auditor) replay(ctx context.Context, l world.Log, p App, workers int, each func(p TickResult)) error {
	ticks := 0
	s, o, err := p(workers, func(p TickResult) {
		ticks++
		a.mutex.Lock()
		defer a.mutex.Unlock()
		a.applied(fmt.Sprintf("replay with %d workers", workers), p.Number, p.Digest)
		if each != nil {
			each(p)
		}
	})
	if err != nil {
		return err
	}
	switch err := world.Replay(ctx, s, l, o, 1<<62); {
	case errors.Is(err, world.ErrDiverged), errors.Is(err, world.ErrCorrupt), errors.Is(err, world.ErrTick), errors.Is(err, world.ErrVersion):
		a.Fault("replay with %d workers ends after %d ticks: %v", workers, ticks, err)
	case err != nil:
		return err
	}
	return nil
}

// older is a log without its newest snapshot, so a replay has ticks.
type older struct{ world.Log }

func (l older) Snapshots(ctx context.Context) ([]uint64, error) {
	at, err := l.Log.Snapshots(ctx)
	if len(at) > 1 {
		at = at[1:]
	}
	return at, err
}

// Findings returns the findings so far.
func (a *Auditor) Findings() Findings {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	f := a.found
	f.Faults = slices.Clone(f.Faults)
	return f
}
