package cells

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"reflect"

	"handloom/internal/check"
	"handloom/internal/digest"
	"handloom/store"
	"handloom/world"
)

// Options of an Outbox. The zero Options are good.
type Options[M any] struct {
	Name  string // begins the names of its tables; "": message
	Limit int    // messages that may wait for other cells; 0: 65,536

	// Links and Clone are those of [store.TableOptions], for a message.
	Links func(m *M, visit func(id *store.ID))
	Clone func(dst, src *M)
}

const (
	defaultName  = "message"
	defaultLimit = 1 << 16
)

// A letter is a message and its number, which begins at 1 for each pair of cells. 0: it
// has none yet, or is not to be read.
type numbered[M any] struct {
	Cell    ID // the other one
	Number  uint64
	Message M
}

// An Outbox sends messages of type M to other cells, and receives theirs: each exactly
// once, and in order for each pair of cells. It is part of the state of its store. See the
// package for how.
type Outbox[M any] struct {
	core    sender
	sent    *store.Table[numbered[M]] // and not known to have arrived
	arrived *store.Table[numbered[M]] // in this tick
	erase   []store.Handle[numbered[M]]
}

// New adds an Outbox to a store, as four tables. All stores of a cell, and of the cells
// that it talks to, need the same one. It panics as [store.Register] does.
func New[M any](s *store.Store, o Options[M]) (*Outbox[M], error) {
	check.Given(s != nil, "cells: New", "Store")
	if o.Limit < 0 {
		return nil, fmt.Errorf("cells: Options.Limit is %d: at least 1, or 0 for %d", o.Limit, defaultLimit)
	}
	name, limit := cmp.Or(o.Name, defaultName), cmp.Or(o.Limit, defaultLimit)
	out := new(Outbox[M])
	codec := digest.Of(reflect.TypeFor[M]())
	if err := codec.Codable(); err != nil {
		return nil, fmt.Errorf("cells: messages cannot become bytes: %w", err)
	}
	out.core = sender{store: s, limit: limit, codec: codec, schema: digest.SchemaHash(name + " of " + codec.Schema())}
	out.core.pairs.register(s, name)
	out.sent = store.Register(s, o.table(name+" sent", limit))
	out.arrived = store.Register(s, o.table(name+" arrived", 0))
	out.core.messages = out
	return out, nil
}

func (o Options[M]) table(name string, limit int) store.TableOptions[numbered[M]] {
	t := store.TableOptions[numbered[M]]{Name: name, MaxItems: limit, Changes: limit > 0}
	if o.Links != nil {
		t.Links = func(l *numbered[M], visit func(id *store.ID)) { o.Links(&l.Message, visit) }
	}
	if o.Clone != nil {
		t.Clone = func(dst, src *numbered[M]) {
			dst.Cell, dst.Number = src.Cell, src.Number
			o.Clone(&dst.Message, &src.Message)
		}
	}
	return t
}

// Init says which cell this is. [world.Options].Init calls it, with an ID that is drawn
// for this log.
func (o *Outbox[M]) Init(w *store.Writer, self ID) error {
	if self == 0 || o.core.pairs.self() != 0 {
		return fmt.Errorf("cells: Init of the cell %v as %v: it is called once, with an ID of NewID", o.core.pairs.self(), self)
	}
	_, err := o.core.pairs.peers.Insert(w, peer{Cell: self})
	return err
}

// Self returns the ID of the cell. Who may call it is as for [store.Table.Get].
func (o *Outbox[M]) Self() ID { return o.core.pairs.self() }

// Send records that m is to be sent to a cell, when the tick ends. The messages of a tick
// are numbered in the order of recording, by the key of the queue and then by sequence,
// whichever worker recorded them. To the cell itself it is the same. It panics if to is
// 0, and else as [store.Table.Emplace] does.
func (o *Outbox[M]) Send(q store.Queue, to ID, m M) {
	if to == 0 {
		panic("cells: Send to the cell 0, which is none; use an ID that NewID drew")
	}
	o.sent.Emplace(q, numbered[M]{Cell: to, Message: m})
}

// Available returns how many messages may be recorded until those that wait have arrived. A
// tick that sends more fails with [store.ErrFull], and so halts the world, on every node.
func (o *Outbox[M]) Available() int { return o.core.limit - o.sent.Len() }

// Received iterates over the messages that have come with this tick, and where they are
// from: those of one cell in the order in which it sent them. It is read inside the tick,
// like a table.
func (o *Outbox[M]) Received() iter.Seq2[ID, *M] {
	return func(yield func(ID, *M) bool) {
		for _, l := range o.arrived.All() {
			if l.Number != 0 && !yield(l.Cell, &l.Message) {
				return
			}
		}
	}
}

// Pairs returns how far the messages are, for each cell that any went to or came from,
// which this one is the first of. Who may call it is as for [store.Table.Get].
func (o *Outbox[M]) Pairs() []Pair {
	pairs := make([]Pair, 0, o.core.pairs.peers.Len())
	for _, p := range o.core.pairs.peers.All() {
		pairs = append(pairs, p.pair())
	}
	return pairs
}

// Skip records that messages from a cell, numbered first to last, are never to be received:
// for an operator, who has found that one of them halts the world, or who restored a backup
// that lacks what the sender has erased. It is kept until the cursor comes to them, and
// replaces a Skip before. The sender has sent at least those, or it stops.
func (o *Outbox[M]) Skip(q store.Queue, from ID, first, last uint64) {
	if first == 0 || last < first {
		panic(fmt.Sprintf("cells: Skip of the messages %d to %d; they are numbered from 1", first, last))
	}
	o.core.pairs.events.Emplace(q, peerEvent{Cell: from, First: first, Last: last, Kind: eventSkip})
}

// Resume records that messages to a cell are shipped again behind an [ErrGap], once the
// cell has skipped those that are erased here.
func (o *Outbox[M]) Resume(q store.Queue, to ID) {
	o.core.pairs.events.Emplace(q, peerEvent{Cell: to, Kind: eventResume})
}

// Abandon records that the messages that wait for a cell are erased: for an operator, of a
// cell that is gone for good, whose messages would fill the outbox. Should it come back,
// that is an [ErrGap].
func (o *Outbox[M]) Abandon(q store.Queue, to ID) {
	o.core.pairs.events.Emplace(q, peerEvent{Cell: to, Kind: eventGone})
}

// Run carries messages: what ticks of w have sent goes to other cells by t, and what
// comes from there is submitted to w, for as long as w owns its log. It returns the cause
// of ctx when that ends, or the error of t.Serve. One Run for each World, beside the Run
// of that, on every node of the cell.
//
// One parcel at a time goes to each cell, and for each the messages that wait are walked
// over once.
func (o *Outbox[M]) Run(ctx context.Context, w *world.World, t Transport) error {
	check.Given(ctx != nil, "cells: Run", "context")
	check.Given(w != nil, "cells: Run", "World")
	check.Given(t != nil, "cells: Run", "Transport")
	return o.core.run(ctx, w, t)
}

// Tick makes a tick of a world of the program's own: it flushes the input, so that
// Received has what came, calls tick, flushes what that recorded, and numbers what was
// sent. A tick that begins another frame ([store.Writer.EndFrame]) behind a Send fails.
func (o *Outbox[M]) Tick(tick func(ctx context.Context, w *store.Writer, t world.Tick) error) func(ctx context.Context, w *store.Writer, t world.Tick) error {
	check.Given(tick != nil, "cells: Tick", "function")
	return func(ctx context.Context, w *store.Writer, t world.Tick) error {
		if _, err := o.core.store.Flush(ctx); err != nil {
			return err
		}
		if err := o.begin(w); err != nil {
			return err
		}
		if err := tick(ctx, w, t); err != nil {
			return err
		}
		if _, err := o.core.store.Flush(ctx); err != nil {
			return err
		}
		return o.end(w)
	}
}

// begin erases what has arrived elsewhere, and finds out what has come here.
func (o *Outbox[M]) begin(w *store.Writer) error {
	if o.core.pairs.self() == 0 {
		return errNoID
	}
	acked, err := o.core.pairs.applyEvents(w)
	if err != nil {
		return err
	}
	if acked {
		o.eraseAcked(w)
	}
	for _, l := range o.arrived.All() {
		next, err := o.core.pairs.accept(w, l.Cell, l.Number)
		if err != nil {
			return err
		}
		if !next {
			l.Number = 0
		}
	}
	return nil
}

func (o *Outbox[M]) eraseAcked(w *store.Writer) {
	o.erase = o.erase[:0]
	for h, l := range o.sent.All() {
		if l.Number <= o.core.pairs.get(l.Cell).Acked {
			o.erase = append(o.erase, h)
		}
	}
	for _, h := range o.erase {
		o.sent.Remove(w, h)
	}
}

// end numbers what was sent, and forgets what had come.
func (o *Outbox[M]) end(w *store.Writer) error {
	for _, l := range store.Created(o.sent) {
		if l.Number != 0 {
			continue // of the frame before: this one had no commands
		}
		number, err := o.core.pairs.number(w, l.Cell)
		if err != nil {
			return err
		}
		l.Number = number
	}
	if pending := o.core.pairs.pending(); pending != o.sent.Len() {
		return fmt.Errorf("cells: %d messages have no number: the tick ended its frame (Writer.EndFrame) behind Send", o.sent.Len()-pending)
	}
	o.arrived.Clear(w)
	o.core.wake()
	return nil
}
