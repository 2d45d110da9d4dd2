package view

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"

	"handloom/store"
)

// A Client knows the mirror of one client. Clients are independent: each may be updated by another
// goroutine. It needs 16 bytes for each item in view or that left without an acknowledgement, and 8
// for each of keep Deltas. A Client that nobody uses any more needs no call.
type Client[T, V any] struct {
	view    *View[T, V]
	entries []entry  // by handle
	frames  []uint64 // Advance of Delta n, at n modulo keep
	start   uint64   // Deltas are Resets until this or a later one is acknowledged
	busy    atomic.Bool
	last    atomic.Uint64 // Delta
	acked   atomic.Uint64
}

// An entry is an item that the mirror may have.
type entry struct {
	id    store.ID
	state uint64 // since, and kind in the two lowest bits
}

type kind = uint64

const (
	kept kind = iota
	entered
	changed
	left
)

func newEntry(id store.ID, since uint64, k kind) entry { return entry{id, since<<2 | k} }

// since returns the Delta since which the item is in view, or is not, without a break.
func (e entry) since() uint64 { return e.state >> 2 }

// kind returns the list of the newest Delta that has the item.
func (e entry) kind() kind { return e.state & 3 }

// Client makes a Client for a client with an empty mirror. Any goroutine may call it.
func (v *View[T, V]) Client() *Client[T, V] {
	return &Client[T, V]{view: v, frames: make([]uint64, v.keep), start: 1}
}

// A Delta is the difference between the last acknowledged mirror of a client and the items in view.
// Its lists are in the order of handles. It is valid until the next Update of the Client and the end of
// the Read.
type Delta[T, V any] struct {
	Number uint64 // 1, 2, 3 ... for each Client
	Reset  bool   // the mirror is emptied first, and everything is in Entered
	client *Client[T, V]
}

// scratch is memory for one Update.
type scratch[T any] struct {
	ids     []store.ID
	entries []entry
	add     func(h store.Handle[T]) bool // a body of a loop would be allocated in every Update
}

func newScratch[T any]() *scratch[T] {
	s := new(scratch[T])
	s.add = func(h store.Handle[T]) bool {
		s.ids = append(s.ids, h.ID)
		return true
	}
	return s
}

// Update returns the Delta for a client that may see the items whose handles of yields, in any order.
// Repeated and stale handles, and items without data, count for nothing. Other items never reach the client, except
// the handle of an item that left.
//
// It takes O(n log n) time for n items in view and allocates nothing once the client has had as many.
// It panics outside a Read, before Advance in the first Read after a frame, and during another Update of the Client.
func (c *Client[T, V]) Update(ctx context.Context, of iter.Seq[store.Handle[T]]) Delta[T, V] {
	v := c.view
	v.inRead(ctx, "view: Update")
	if v.number == 0 || v.lists.Counts(v.part) != v.seen {
		panic("view: Update without Advance; call Advance of the View first in each Read after a frame")
	}
	if !c.busy.CompareAndSwap(false, true) {
		panic("view: two Updates of one Client at a time; make a Client for each client")
	}
	defer c.busy.Store(false)
	s := v.pool.Get().(*scratch[T])
	defer v.pool.Put(s)
	s.ids = s.ids[:0]
	of(s.add)
	slices.Sort(s.ids)
	s.ids = slices.Compact(s.ids)
	number, base := c.last.Load()+1, c.acked.Load()
	if number-max(base, c.start) > v.keep {
		// The client is too late and gets everything again, so it drops all items that left.
		c.start = number
		c.entries = slices.DeleteFunc(c.entries, func(e entry) bool { return e.kind() == left })
	}
	d := Delta[T, V]{Number: number, Reset: base < c.start, client: c}
	c.merge(s, number, base, d.Reset)
	c.frames[number%v.keep] = v.number
	c.last.Store(number)
	return d
}

// merge makes the entries of Delta number: base has been acknowledged.
func (c *Client[T, V]) merge(s *scratch[T], number, base uint64, reset bool) {
	frame := c.frames[base%c.view.keep] // of base, or arbitrary if reset
	s.entries = s.entries[:0]
	old := c.entries
	for _, id := range s.ids {
		item := c.view.slot(id)
		if item == nil {
			continue
		}
		for len(old) > 0 && old[0].id < id {
			s.leave(old[0], number, base)
			old = old[1:]
		}
		since := number
		if len(old) > 0 && old[0].id == id {
			// The client may have dropped an item that left, so only one that stayed is known.
			if old[0].kind() != left {
				since = old[0].since()
			}
			old = old[1:]
		}
		k := kept
		switch {
		case reset || since > base:
			k = entered
		case item.changed > frame:
			k = changed
		}
		s.entries = append(s.entries, newEntry(id, since, k))
	}
	for _, e := range old {
		s.leave(e, number, base)
	}
	c.entries = append(c.entries[:0], s.entries...)
}

// leave adds an item that is not in view, until the client has acknowledged that.
func (s *scratch[T]) leave(e entry, number, base uint64) {
	if e.kind() != left {
		e = newEntry(e.id, number, left)
	}
	if e.since() > base {
		s.entries = append(s.entries, e)
	}
}

// Acknowledge notes that the client has the Delta with the number. It fails for a number that no Delta
// of this Client has, because numbers come from clients. A number that is late or known has no effect.
// Any goroutine may call it.
func (c *Client[T, V]) Acknowledge(number uint64) error {
	if last := c.last.Load(); number == 0 || number > last {
		return fmt.Errorf("view: Delta %d was never made: the last one is %d", number, last)
	}
	for {
		acked := c.acked.Load()
		if number <= acked || c.acked.CompareAndSwap(acked, number) {
			return nil
		}
	}
}

// Entered yields the items that the mirror lacks or may have dropped.
func (d Delta[T, V]) Entered(yield func(store.Handle[T], *V) bool) { d.all(entered, yield) }

// Changed yields the items of the mirror that changed since the acknowledged Delta.
func (d Delta[T, V]) Changed(yield func(store.Handle[T], *V) bool) { d.all(changed, yield) }

func (d Delta[T, V]) all(k kind, yield func(store.Handle[T], *V) bool) {
	at := d.client.view.source.at
	for _, e := range d.client.entries {
		if h := (store.Handle[T]{ID: e.id}); e.kind() == k && !yield(h, at(h)) {
			return
		}
	}
}

// Left yields items that the mirror may have and that are erased, out of view, or without data. It is
// empty in a Reset.
func (d Delta[T, V]) Left(yield func(store.Handle[T]) bool) {
	for _, e := range d.client.entries {
		if e.kind() == left && !d.Reset && !yield(store.Handle[T]{ID: e.id}) {
			return
		}
	}
}
