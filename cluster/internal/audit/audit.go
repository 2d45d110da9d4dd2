package audit

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
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

// A Played is what a program says behind a tick.
type Played struct {
	world.Outcome
	Digest uint64   // of the store
	Keys   []uint64 // of the calls that the tick took
}

// A Program makes a store and what a World plays on it. applied is called behind each tick.
type Program func(workers int, applied func(p Played)) (*store.Store, world.Options, error)

// An Auditor takes what is told, by any goroutine, and checks it. The zero value has
// been told nothing.
type Auditor struct {
	mutex   sync.Mutex
	found   Findings
	records []record
	chain   [16]byte // behind the last of them
	term    uint32
	tick    uint64
	time    int64
	told    map[uint64]told    // by tick
	calls   map[uint64]*called // by key
	readErr error              // of the last Read of Follow
}

// Findings are what was told, and what is wrong with it. All numbers behind Uncertain
// must be 0.
type Findings struct {
	Records   int
	Ticks     int
	Terms     int
	Told      int // ticks that nodes applied, each counted once for each node
	Acked     int
	Refused   int
	Uncertain int

	Lost     int // calls acknowledged and not in the log, and ticks applied and not in the log
	Changed  int // calls in another tick, or refused and there, or of nobody
	Doubled  int // calls that are there twice
	Diverged int // ticks with two digests, and replays that came to no end
	Broken   int // records that do not follow, or are not what they were

	Faults []string // the first of them, in words
}

// Bad reports whether anything is wrong.
func (f *Findings) Bad() bool { return f.Lost+f.Changed+f.Doubled+f.Diverged+f.Broken > 0 }

const mostFaults = 20

func (a *Auditor) fault(count *int, format string, args ...any) {
	if *count++; len(a.found.Faults) < mostFaults {
		a.found.Faults = append(a.found.Faults, fmt.Sprintf(format, args...))
	}
}

type record struct {
	at    uint64
	bytes []byte
}

type told struct {
	digest uint64
	by     string
}

type called struct {
	answer answer
	tick   uint64 // of what was acknowledged
	open   bool   // the outcome of an earlier try is unknown
}

type answer uint8

const (
	none answer = iota // or that it is uncertain
	acked
	refused
)

// Applied takes that a node has applied a tick, or played it again.
func (a *Auditor) Applied(node string, tick, digest uint64) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.found.Told++
	a.applied(node, tick, digest)
}

func (a *Auditor) applied(node string, tick, digest uint64) {
	was, ok := a.told[tick]
	if ok && was.digest != digest {
		a.fault(&a.found.Diverged, "tick %d has digest %016x of %s, and %016x of %s", tick, digest, node, was.digest, was.by)
	}
	if !ok {
		if a.told == nil {
			a.told = make(map[uint64]told)
		}
		a.told[tick] = told{digest, node}
	}
}

// Asked takes that a client is about to make a call with this key.
func (a *Auditor) Asked(key uint64) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.calls == nil {
		a.calls = make(map[uint64]*called)
	}
	if a.calls[key] == nil {
		a.calls[key] = new(called)
	}
}

// Acked takes that a call is in a tick, or in an earlier one, if the outcome of an earlier try
// is unknown.
func (a *Auditor) Acked(key, tick uint64) { a.answered(key, acked, tick) }

// Refused takes that a call was not applied, and never will be unless it is made again.
func (a *Auditor) Refused(key uint64) { a.answered(key, refused, 0) }

func (a *Auditor) answered(key uint64, is answer, tick uint64) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	c := a.calls[key]
	if is == refused && c.open {
		is = none
	}
	c.answer, c.tick = is, tick
}

// Again takes that a call that was refused, or whose outcome is unknown, is about to be made
// again. A program that carries out each key once may have both.
func (a *Auditor) Again(key uint64) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	c := a.calls[key]
	c.open = c.open || c.answer == none
	c.answer = none
}

// Fault takes that a node found something wrong by itself.
func (a *Auditor) Fault(format string, args ...any) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.fault(&a.found.Diverged, format, args...)
}

// Follow keeps every record of l until ctx ends, and asks again where l fails.
func (a *Auditor) Follow(ctx context.Context, l world.Log) {
	for ctx.Err() == nil {
		err := l.Read(ctx, a.last(), a.reader(math.MaxUint64))
		a.mutex.Lock()
		a.readErr = err
		a.mutex.Unlock()
		select {
		case <-ctx.Done():
		case <-time.After(askAgain):
		}
	}
}

// CaughtUp returns an error unless Follow has read the last record of l. The error wraps
// that of the last Read.
func (a *Auditor) CaughtUp(ctx context.Context, l world.Log) error {
	tail, err := l.Tail(ctx)
	if err != nil {
		return err
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if last := a.lastAt(); last < tail {
		return errors.Join(fmt.Errorf("the auditor has read record %d of %d", last, tail), a.readErr)
	}
	return nil
}

// askAgain is how long Follow waits behind an error.
const askAgain = 50 * time.Millisecond

// reader takes the records of one Read, up to a position.
func (a *Auditor) reader(through uint64) func(at uint64, rec []byte) error {
	before := uint64(0)
	return func(at uint64, rec []byte) error {
		a.mutex.Lock()
		defer a.mutex.Unlock()
		if at <= before {
			a.fault(&a.found.Broken, "record %d comes behind record %d", at, before)
		}
		before = at
		if at > a.lastAt() {
			a.add(at, rec)
		} else {
			a.again(at, rec)
		}
		if at >= through {
			return errEnd
		}
		return nil
	}
}

// last is the position of the last record.
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

// add takes the next record.
func (a *Auditor) add(at uint64, rec []byte) {
	a.records = append(a.records, record{at, bytes.Clone(rec)})
	a.found.Records++
	var info entry.Record
	if err := info.Decode(rec); err != nil {
		a.fault(&a.found.Broken, "record %d: %v", at, err)
		return
	}
	term, tick := a.term, a.tick
	switch info.Kind {
	case entry.KindTermStart:
		term++
		a.found.Terms++
	case entry.KindTick:
		tick++
		a.found.Ticks++
	}
	switch {
	case info.Chain != a.chain:
		a.fault(&a.found.Broken, "record %d follows chain %x, and that before it is %x", at, info.Chain, a.chain)
	case info.Term != term:
		a.fault(&a.found.Broken, "record %d, a %s, has term %d, and %d was to come", at, info.Kind, info.Term, term)
	case info.Tick != tick:
		a.fault(&a.found.Broken, "record %d, a %s, has tick %d, and %d was to come", at, info.Kind, info.Tick, tick)
	case info.Time < a.time:
		a.fault(&a.found.Broken, "record %d is of %v, and the one before of %v", at, time.Unix(0, info.Time), time.Unix(0, a.time))
	}
	a.term, a.tick, a.time = info.Term, info.Tick, info.Time
	sum := sha256.Sum256(append(a.chain[:], rec...))
	a.chain = [16]byte(sum[:16])
}

var errEnd = errors.New("that is all")

// Check reads what l still has of the log and plays it from its older snapshot with
// that many workers. It fails if l does not answer; what is wrong is a finding.
func (a *Auditor) Check(ctx context.Context, l world.Log, p Program, workers int) error {
	saved, err := l.Snapshots(ctx)
	if err == nil && len(saved) == 0 {
		err = errors.New("the log has no snapshot")
	}
	if err != nil {
		return err
	}
	from := slices.Min(saved)
	if last := a.last(); from > last {
		return fmt.Errorf("the log may be trimmed through record %d, and no record behind %d was read", from, last)
	}
	if err := a.compare(ctx, l, from); err != nil {
		return err
	}
	return a.replay(ctx, older{l}, p, workers, nil)
}

// compare reads the log behind a position, up to its end.
func (a *Auditor) compare(ctx context.Context, l world.Log, after uint64) error {
	last := a.last() // before the question: Follow reads on meanwhile
	tail, err := l.Tail(ctx)
	if err != nil {
		return err
	}
	if tail < last {
		a.mutex.Lock()
		a.fault(&a.found.Broken, "the log ends at record %d, and had record %d", tail, last)
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

// again takes a record that was read before.
func (a *Auditor) again(at uint64, rec []byte) {
	i, ok := slices.BinarySearchFunc(a.records, at, func(r record, at uint64) int { return cmp.Compare(r.at, at) })
	if !ok {
		a.fault(&a.found.Broken, "there is a record %d, which was not there", at)
	} else if !bytes.Equal(a.records[i].bytes, rec) {
		a.fault(&a.found.Broken, "record %d is another one than it was", at)
	}
}

// replay plays a log, and holds each tick against what nodes told of it.
func (a *Auditor) replay(ctx context.Context, l world.Log, p Program, workers int, each func(p Played)) error {
	played := 0
	s, o, err := p(workers, func(p Played) {
		played++
		a.mutex.Lock()
		defer a.mutex.Unlock()
		a.applied(fmt.Sprintf("the replay with %d workers", workers), p.Number, p.Digest)
		if each != nil {
			each(p)
		}
	})
	if err != nil {
		return err
	}
	switch err := world.Replay(ctx, s, l, o, 1<<62); {
	case errors.Is(err, world.ErrDiverged), errors.Is(err, world.ErrCorrupt), errors.Is(err, world.ErrTick), errors.Is(err, world.ErrVersion):
		a.Fault("the replay with %d workers ends behind %d ticks: %v", workers, played, err)
	case err != nil:
		return err
	}
	return nil
}

// older is a log without its newest snapshot, so that a replay plays ticks.
type older struct{ world.Log }

func (l older) Snapshots(ctx context.Context) ([]uint64, error) {
	at, err := l.Log.Snapshots(ctx)
	if len(at) > 1 {
		at = at[1:]
	}
	return at, err
}

// Findings returns what was found until now.
func (a *Auditor) Findings() Findings {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	f := a.found
	f.Faults = slices.Clone(f.Faults)
	return f
}
