package world

import (
	"context"
	"fmt"
	"math"
	"time"

	"handloom/internal/entrance"
	"handloom/store"
)

// A role has the data that only worlds of the role have. Only become replaces it, under both locks,
// so a reader needs one of them.
type role interface{ kind() roleKind }

type (
	// A waiter waits for a handoff to its version, see Options.Wait.
	waiter struct {
		watched uint64 // the last record that watch has read
	}
	// A follower applies the records of others.
	follower struct {
		ahead bool   // the log lacks the last ticks, see undoIdle
		ran   uint64 // the last tick with a record before undoIdle
	}
	// A candidate has appended the start of a term, whose outcome is unknown.
	candidate struct{ pending *pending }
	// A leader appends.
	leader struct {
		pending  *pending // nil: none
		buf      []byte   // the bytes of the pending record
		sealed   time.Time
		shadow   float64 // fraction of a tick that is due to run twice
		compared uint64  // digests of shards in records of this term
		toHash   int64   // bytes that digestPart may hash
	}
	// An offer is a leader whose handoff is the last record.
	offer struct {
		at    uint64            // position of the handoff
		calls []context.Context // of Handoff; each waits for a successor until its end
		until time.Time         // on a log with a lock the World leads again after it; protected by mutex
	}
	// An ended World has halted or is closed.
	ended struct {
		roleKind
		err error // the result of all further ticks
	}
)

func (*waiter) kind() roleKind    { return waiting }
func (*follower) kind() roleKind  { return following }
func (*candidate) kind() roleKind { return starting }
func (*leader) kind() roleKind    { return leading }
func (*offer) kind() roleKind     { return offering }
func (e *ended) kind() roleKind   { return e.roleKind }

type roleKind string

const (
	waiting   roleKind = "waiting"
	following roleKind = "following"
	starting  roleKind = "starting"
	leading   roleKind = "leading"
	offering  roleKind = "offering"
	halted    roleKind = "halted"
	closed    roleKind = "closed"
)

type eventKind string

const (
	startSealed eventKind = "a term's start is sealed"
	termBegun   eventKind = "its term begins"
	otherBegun  eventKind = "another's term begins"
	appendLost  eventKind = "an append has lost"
	handoffDone eventKind = "its handoff"
	otherRead   eventKind = "a record of another version"
	imageLoaded eventKind = "a snapshot is loaded"
	errorMet    eventKind = "an error"
	closeCalled eventKind = "Close"
	replayReset eventKind = "a Replayer starts"
)

// The package comment has the table, too. A World that is closed keeps its role.
var transitions = map[eventKind]map[roleKind]roleKind{
	startSealed: {following: starting, offering: starting},
	termBegun:   {starting: leading},
	otherBegun:  {following: following, offering: following},
	appendLost:  {starting: following, leading: following},
	handoffDone: {leading: offering},
	otherRead:   {following: waiting, offering: waiting},
	imageLoaded: {waiting: following, following: following, starting: following, leading: following, offering: following},
	errorMet:    {waiting: halted, following: halted, starting: halted, leading: halted, offering: halted, halted: halted},
	closeCalled: {waiting: closed, following: closed, starting: closed, leading: closed, offering: closed, halted: closed},
	replayReset: {following: following, halted: following},
}

// An event ends a role.
type event struct {
	kind     eventKind
	role     role
	position *position // nil: as before
	calls    error     // the result of the calls of a pending record
}

// change makes every transition. The caller has the lock. Calls of a pending record return with
// the error of e, and calls that no tick has taken with the refusal of the new role. change reports
// whether a pending record had calls.
func (w *World) change(e event) (waited bool) {
	old := w.become(e)
	if p := pendingOf(old); p != nil {
		waited = entrance.Len(p.calls) > 0
		entrance.Done(p.calls, 0, e.calls)
	}
	// A closed World has given its store back, so no call may be taken from it.
	if old.kind() == closed {
		return false
	}
	w.lastRecord = time.Now() // the election timeout begins
	w.drain()
	if w.stopped() != nil {
		w.dies(w.refusal()) // ends calls that arrive later
	}
	return waited
}

// become is change without effects. Role and position change together, so Status never shows the
// term of one leader as the role of another. An event that the table lacks halts the World.
func (w *World) become(e event) (old role) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	old = w.role
	switch from, to := old.kind(), e.role.kind(); {
	case from == closed:
	case transitions[e.kind][from] != to:
		w.role = &ended{halted, fmt.Errorf("world: %s while it is %s: no way to %s", e.kind, from, to)}
	default:
		w.role = e.role
		if e.position != nil {
			w.position = *e.position
		}
	}
	return old
}

func (w *World) is(k roleKind) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.role.kind() == k
}

// stopped returns the error of a World that has halted or is closed.
func (w *World) stopped() error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if e, ok := w.role.(*ended); ok {
		return e.err
	}
	return nil
}

func (w *World) halt(err error) error {
	w.change(event{kind: errorMet, role: &ended{halted, err}, calls: fmt.Errorf("%w: %w", store.ErrUncertain, err)})
	return err
}

// pending returns the record whose outcome is unknown, or nil. The caller has the lock.
func (w *World) pending() *pending { return pendingOf(w.role) }

func pendingOf(r role) *pending {
	switch r := r.(type) {
	case *leader:
		return r.pending
	case *candidate:
		return r.pending
	}
	return nil
}

// refusal returns the error of calls that no tick has taken, nil if the World leads.
func (w *World) refusal() error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	switch k := w.role.kind(); {
	case k == closed, w.life.Err() != nil:
		return store.ErrClosed
	case k == leading:
		return nil
	case k == halted:
		return haltedError{w.role.(*ended).err}
	case k == waiting:
		return errWaiting
	}
	return ErrNotLeader
}

func (w *World) drain() {
	err := w.refusal()
	if err == nil {
		return
	}
	_, calls := w.exclusive.Seal(nil, math.MaxInt)
	calls.Done(0, err)
	w.wake()
}
