package world

import (
	"context"
	"errors"
	"fmt"
	"time"

	"handloom/internal/check"
	"handloom/internal/entry"
	"handloom/store"
)

// Requests are calls of clients that a tick answers, each once: a request that is repeated
// with its key gets its first answer, also after a restart. The answers are a table of the
// store.
//
// Q and A are numbers, strings, and arrays and structs of them. See guide/durable-server.md.
type Requests[Q comparable, A any] struct {
	store *store.Store
	table *store.Table[request[Q, A]]
	keys  *store.Index[string, request[Q, A]]
	keep  time.Duration
}

type request[Q comparable, A any] struct {
	Key     string
	Request Q
	Answer  A
	Time    int64 // of the answer, Unix nanoseconds; 0: unanswered
}

// expired is the Time of a request that is refused because its answer may be forgotten.
const expired = -1

// NewRequests adds a table of at most limit requests to a store. Answers are kept at least
// for the time keep, by [Tick].Time: a client must not repeat a request after it. Keys of calls
// through package cluster have a time, and are refused after it. keep times the rate of requests
// should stay below limit. NewRequests panics as [store.Register] does.
func NewRequests[Q comparable, A any](s *store.Store, name string, limit int, keep time.Duration) *Requests[Q, A] {
	check.Given(s != nil, "world: NewRequests", "Store")
	r := &Requests[Q, A]{store: s, keep: keep}
	r.table = store.Register(s, store.TableOptions[request[Q, A]]{Name: name, MaxItems: limit, Changes: true})
	r.keys = store.AddIndex(r.table, "key", func(v *request[Q, A]) (string, bool) { return v.Key, true })
	return r
}

// Submit submits a request to w and returns the answer of its tick, or of the tick that
// answered it before. It costs a [World.Submit] and a [World.Read].
//
// The error is [store.ErrDuplicate] if the key belongs to another request, [ErrExpired] if the
// answer may be forgotten, and otherwise as of World.Submit. [store.ErrUncertain] and [ErrTick] leave open whether the request is
// answered: repeat it with its key to know. After any other error nothing is applied, unless
// an earlier Submit of the request left that open.
func (r *Requests[Q, A]) Submit(ctx context.Context, w *World, key string, q Q) (answer A, err error) {
	check.Given(w != nil, "world: Requests.Submit", "World")
	_, err = w.Submit(ctx, func(queue store.Queue) error {
		r.table.Emplace(queue, request[Q, A]{Key: key, Request: q})
		return nil
	})
	if errors.Is(err, store.ErrUncertain) || errors.Is(err, ErrTick) {
		return answer, err
	}
	kept, unread := r.read(ctx, w, key)
	switch {
	case unread != nil && err != nil && !errors.Is(err, store.ErrDuplicate):
		return answer, err // not applied
	case unread != nil:
		return answer, fmt.Errorf("world: Requests.Submit: key %q: %w: %w", key, store.ErrUncertain, unread)
	case kept.Time == expired:
		return answer, fmt.Errorf("world: Requests.Submit: key %q: %w", key, ErrExpired)
	case kept.Time != 0 && kept.Request == q:
		return kept.Answer, nil
	case kept.Time != 0:
		return answer, fmt.Errorf("world: Requests.Submit: %w: %q is the key of another request", store.ErrDuplicate, key)
	case err == nil, errors.Is(err, store.ErrDuplicate):
		return answer, fmt.Errorf("world: Requests.Submit: key %q: %w: the answer is forgotten", key, store.ErrUncertain)
	}
	return answer, err // full, for example
}

// read returns the zero request if there is none.
func (r *Requests[Q, A]) read(ctx context.Context, w *World, key string) (kept request[Q, A], err error) {
	err = w.Read(ctx, func(context.Context, Tick) error {
		if h, ok := r.keys.Find(key); ok {
			kept = *r.table.At(h)
		}
		return w.stopped() // a failed tick leaves half of its changes
	})
	return kept, err
}

// forgetTicks is the number of ticks after which old answers are erased, in O(requests) time.
const forgetTicks = 1024

// Tick returns a tick for [Options].Tick, or to call first in it: it flushes the input and
// calls answer for each new request, in the order of the log. Every 1,024 ticks it also erases
// old answers. answer may change tables at once, and must depend only on the state and its
// arguments.
func (r *Requests[Q, A]) Tick(answer func(w *store.Writer, t Tick, q Q) A) func(ctx context.Context, w *store.Writer, t Tick) error {
	check.Given(answer != nil, "world: Requests.Tick", "function")
	return func(ctx context.Context, w *store.Writer, t Tick) error {
		now := t.Time.UnixNano()
		if t.Number%forgetTicks == 0 {
			old := func(v *request[Q, A]) bool { return now-v.Time > int64(r.keep) }
			if err := store.EraseFunc(ctx, r.table, old); err != nil {
				return err
			}
		}
		if _, err := r.store.Flush(ctx); err != nil {
			return err
		}
		for _, v := range store.Created(r.table) {
			if v.Time = r.answerTime(v.Key, now); v.Time != expired {
				v.Answer = answer(w, t, v.Request)
			}
		}
		return nil
	}
}

// answerTime returns the time of an answer given now, or expired for a call that began more than
// keep ago, because an earlier answer to it may be forgotten. A call from a term whose clock was
// ahead has a later time than now: its answer is kept from then.
func (r *Requests[Q, A]) answerTime(key string, now int64) int64 {
	began, ok := entry.CallBegan(key)
	switch age := now - began; {
	case !ok:
		return now
	case age > int64(r.keep), age < -int64(r.keep):
		return expired
	}
	return max(now, began)
}
