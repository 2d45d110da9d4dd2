package cells

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"unsafe"

	"handloom/internal/check"
	"handloom/internal/digest"
	"handloom/store"
	"handloom/world"
)

// Options of an Outbox. The zero value is valid.
type Options[M any] struct {
	Name  string // begins the names of its tables; "": message
	Limit int    // max messages for each cell that its mailbox does not have yet; 0: 65,536

	// Tries is the number of ticks that receive a message before it becomes a dead letter if each
	// of them fails: see [Outbox.DeadLetters]. Such a tick runs again without the message, so the
	// cell continues. 0: 3; -1: the tick fails.
	//
	// Each tick that receives messages first copies the whole state, as [store.Store.Checkpoint]
	// does, on every node and in every replay: O(state) time, and once in memory as much as the
	// state. Ticks without messages copy nothing, and neither does -1. Without Clone of a table
	// that needs it there are no dead letters.
	Tries int

	// Skip, "CELL:FIRST-LAST", names messages from a cell that are never received, because one of
	// them fails the tick. It is for a flag of the program: Run skips them before it receives.
	Skip string

	// Links and Clone work as in [store.TableOptions].
	Links func(m *M, visit func(id *store.ID))
	Clone func(dst, src *M)
}

const (
	defaultName  = "message"
	defaultLimit = 1 << 16
	defaultTries = 3

	arrivedTable = " arrived" // after Options.Name
)

func isArrived(table string) bool { return strings.HasSuffix(table, arrivedTable) }

// numbered is a message with its number. 0: not numbered yet, or not to be received.
type numbered[M any] struct {
	Cell    ID // the peer
	Number  uint64
	Message M
}

// An Outbox sends messages of type M to other cells and receives theirs, each exactly once and
// in order for each pair. It is part of the state of its store.
type Outbox[M any] struct {
	core    sender
	sent    *store.Table[numbered[M]] // by this tick
	arrived *store.Table[numbered[M]] // in this tick
	refused *store.Table[numbered[M]] // over the limit in the tick before
	dead    *store.Table[DeadLetter[M]]
	later   []*numbered[M] // scratch memory of receive
}

// New adds an Outbox to a store, as seven tables. All stores of a cell and its peers need the
// same Outbox. New panics as [store.Register] does.
func New[M any](s *store.Store, o Options[M]) (*Outbox[M], error) {
	check.Given(s != nil, "cells: New", "Store")
	if o.Limit < 0 {
		return nil, fmt.Errorf("cells: Options.Limit: got %d, want at least 1, or 0 for %d", o.Limit, defaultLimit)
	}
	if o.Tries < -1 {
		return nil, fmt.Errorf("cells: Options.Tries: got %d, want at least 1, -1 for no dead letters, or 0 for %d", o.Tries, defaultTries)
	}
	skip, err := parseSkip(o.Skip)
	if err != nil {
		return nil, err
	}
	name, limit := cmp.Or(o.Name, defaultName), cmp.Or(o.Limit, defaultLimit)
	out := new(Outbox[M])
	codec := digest.Of(reflect.TypeFor[M]())
	if err := codec.Codable(); err != nil {
		return nil, fmt.Errorf("cells: type of messages: %w", err)
	}
	out.core.store, out.core.limit, out.core.tries, out.core.skip = s, limit, cmp.Or(o.Tries, defaultTries), skip
	out.core.name, out.core.codec, out.core.schema = name, codec, codec.Schema()
	var typeHash digest.Hash
	typeHash.String(out.core.schema)
	out.core.typeHash = typeHash.Sum()
	out.core.pairs.register(s, name)
	out.core.bundles.register(s, name+" waiting")
	sent := tableOf(o, name+" sent", messageOf[M])
	sent.Changes = true
	out.sent = store.Register(s, sent)
	out.arrived = store.Register(s, tableOf(o, name+arrivedTable, messageOf[M]))
	out.refused = store.Register(s, tableOf(o, name+" refused", messageOf[M]))
	out.dead = store.Register(s, tableOf(o, name+" dead letters", func(d *DeadLetter[M]) *M { return &d.Message }))
	out.core.messages = out
	return out, nil
}

func messageOf[M any](n *numbered[M]) *M { return &n.Message }

// tableOf returns the options of a table whose rows have a message.
func tableOf[M, R any](o Options[M], name string, message func(row *R) *M) store.TableOptions[R] {
	t := store.TableOptions[R]{Name: name}
	if o.Links != nil {
		t.Links = func(row *R, visit func(id *store.ID)) { o.Links(message(row), visit) }
	}
	if o.Clone != nil {
		t.Clone = func(dst, src *R) {
			kept := *message(dst) // Clone may reuse its memory
			*dst = *src
			*message(dst) = kept
			o.Clone(message(dst), message(src))
		}
	}
	return t
}

// Init sets the ID of the cell. Call it from [world.Options].Init with the ID of the log.
func (o *Outbox[M]) Init(w *store.Writer, self ID) error {
	if self == 0 || o.core.pairs.self() != 0 {
		return fmt.Errorf("cells: Init: cell %v, got ID %v, want one call with an ID of NewID", o.core.pairs.self(), self)
	}
	o.core.pairs.peers.Insert(w, peer{Cell: self})
	return nil
}

// Self returns the ID of the cell. It may be called where [store.Table.Get] may.
func (o *Outbox[M]) Self() ID { return o.core.pairs.self() }

// Send records that m is sent to a cell when the tick ends. Messages of a tick are numbered by
// the key of the queue, then by sequence, for any number of workers. A cell may send to itself.
// Send panics if to is 0, otherwise as [store.Table.Emplace] does.
func (o *Outbox[M]) Send(q store.Queue, to ID, m M) {
	if to == 0 {
		panic("cells: Send to cell 0; use an ID from NewID")
	}
	o.sent.Emplace(q, numbered[M]{Cell: to, Message: m})
}

// Available returns the number of messages to a cell that may be recorded before older ones are
// in its mailbox. Messages past it are not sent: see [Outbox.Refused]. It may be called where
// [store.Table.Get] may.
func (o *Outbox[M]) Available(to ID) int {
	if p := o.core.pairs.get(to); p != nil {
		return o.core.limit - int(p.Sent-p.Acked)
	}
	return o.core.limit
}

// Refused iterates over the messages of the tick before, and their receivers, that were not sent
// because the mailbox of the receiver is full or missing and too many messages wait here, in order
// for each receiver. A tick that moves items creates them again. Read it inside the tick, like a
// table.
func (o *Outbox[M]) Refused() iter.Seq2[ID, *M] {
	return func(yield func(ID, *M) bool) {
		for _, l := range o.refused.All() {
			if !yield(l.Cell, &l.Message) {
				return
			}
		}
	}
}

// Received iterates over the messages of this tick and their senders, in order for each sender.
// Read it inside the tick, like a table.
func (o *Outbox[M]) Received() iter.Seq2[ID, *M] {
	return func(yield func(ID, *M) bool) {
		for _, l := range o.arrived.All() {
			if l.Number != 0 && !yield(l.Cell, &l.Message) {
				return
			}
		}
	}
}

// Pairs returns the state of all pairs. The first is the cell itself. It may be called where
// [store.Table.Get] may.
func (o *Outbox[M]) Pairs() []Pair {
	pairs := make([]Pair, 0, o.core.pairs.peers.Len())
	for _, p := range o.core.pairs.peers.All() {
		pairs = append(pairs, p.pair())
	}
	return pairs
}

// Skip records that messages first to last from a cell are never received: one of them halts
// the world, or they are lost. It waits until the cursor reaches first, and replaces an earlier
// Skip. If the sender has sent fewer messages, the pair stops.
func (o *Outbox[M]) Skip(q store.Queue, from ID, first, last uint64) {
	if first == 0 || last < first {
		panic(fmt.Sprintf("cells: Skip of messages %d to %d; numbers begin at 1", first, last))
	}
	o.core.pairs.events.Emplace(q, peerEvent{Cell: from, First: first, Last: last, Kind: eventSkip})
}

// Abandon records that the messages to a cell that wait here are erased, because the cell is gone
// forever. If the cell returns, the pair stops with [ErrGap].
func (o *Outbox[M]) Abandon(q store.Queue, to ID) {
	o.core.pairs.events.Emplace(q, peerEvent{Cell: to, Kind: eventGone})
}

// Run sends the messages of w's ticks through t, and submits packets in the mailbox of the cell
// to w, while w leads. It returns the cause of ctx, or the error of a closed w. Call one Run per
// World, concurrently with World.Run, on every node of the cell. Each cell gets one packet at a
// time. A tick costs time in proportion to its messages and, in a short scan, to the number of
// peers.
func (o *Outbox[M]) Run(ctx context.Context, w *world.World, t Transport) error {
	check.Given(ctx != nil, "cells: Run", "context")
	check.Given(w != nil, "cells: Run", "World")
	check.Given(t != nil, "cells: Run", "Transport")
	return o.core.run(ctx, w, t)
}

// Problems returns the errors because of which messages wait, or were dropped, on this node since
// the last success, in the order of cells: a mailbox is missing or full, or a packet does not
// decode, for example. Errors of the cell itself concern its mailbox. They are not part of the
// state. Any goroutine may call it.
func (o *Outbox[M]) Problems() []error { return o.core.problems.list() }

// Tick returns a tick for a world. It flushes the input, calls tick, flushes the recorded
// commands, and numbers the messages.
func (o *Outbox[M]) Tick(tick func(ctx context.Context, w *store.Writer, t world.Tick) error) func(ctx context.Context, w *store.Writer, t world.Tick) error {
	check.Given(tick != nil, "cells: Tick", "function")
	return func(ctx context.Context, w *store.Writer, t world.Tick) error {
		o.core.trial.begin(ctx, o.core.tries > 0)
		if _, err := o.core.store.Flush(ctx); err != nil {
			return err
		}
		if err := o.begin(w, t); err != nil {
			return err
		}
		if err := tick(ctx, w, t); err != nil {
			return err
		}
		if _, err := o.core.store.Flush(ctx); err != nil {
			return err
		}
		o.end(w)
		return o.core.trial.end()
	}
}

func (o *Outbox[M]) begin(w *store.Writer, t world.Tick) error {
	if o.core.pairs.self() == 0 {
		return errNoID
	}
	for _, a := range o.core.pairs.applyEvents(w) {
		o.core.bundles.erase(w, a)
	}
	o.receive(w, t.Number)
	return nil
}

// receive moves the cursors over the messages of the tick. Messages of pairs whose next message
// failed a tick before are the last ones, so a trial does not delay the others again.
func (o *Outbox[M]) receive(w *store.Writer, tick uint64) {
	o.later = o.later[:0]
	for _, m := range o.arrived.All() {
		if from := o.core.pairs.getOrAdd(w, m.Cell); from.Tries == 0 {
			o.accept(w, from, m, tick)
		} else {
			o.later = append(o.later, m)
		}
	}
	for _, m := range o.later {
		o.accept(w, o.core.pairs.getOrAdd(w, m.Cell), m, tick)
	}
}

// accept moves the cursor to m, or drops m: the sender keeps it. A packet that begins before the
// cursor has the last received message again, so a restored sender is found when it passes that.
func (o *Outbox[M]) accept(w *store.Writer, from *peer, m *numbered[M], tick uint64) {
	if m.Number == from.Received && from.differs(o.hash(&m.Message), o.core.typeHash) {
		from.Forked = true
	}
	if m.Number == from.Received+1 && !from.Forked && (from.Tries < uint32(o.core.tries) || !o.deadFull()) {
		if o.core.trial.take() {
			from.advance(m.Number)
			if from.Received == m.Number { // nothing is skipped
				from.Last, from.LastType = o.hash(&m.Message), o.core.typeHash
			}
			return
		}
		if o.core.trial.blame() {
			o.blame(w, from, m, tick)
		}
	}
	m.Number = 0
}

func (o *Outbox[M]) hash(m *M) uint64 {
	var h digest.Hash
	o.core.codec.Items(&h, unsafe.Pointer(m), 1)
	return h.Sum()
}

func (o *Outbox[M]) end(w *store.Writer) {
	o.bundle(w)
	o.arrived.Clear(w)
	o.core.wake()
}
