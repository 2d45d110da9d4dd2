package world_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"

	"handloom/store"
	"handloom/world"
)

type lobby struct {
	*store.Store
	guests, bags *store.Table[unit]

	// The model: plain lists.
	present [2][]store.Handle[unit]
}

var lobbyMax = [2]int{6, 4}

func newLobby(t *testing.T, workers int) *lobby {
	t.Helper()
	s := store.New(store.Options{Workers: workers})
	l := &lobby{Store: s}
	l.guests = store.Register(s, store.TableOptions[unit]{Name: "guest", Shards: 3, MaxItems: lobbyMax[0]})
	l.bags = store.Register(s, store.TableOptions[unit]{Name: "bag", MaxItems: lobbyMax[1]})
	return l
}

func (l *lobby) open(t *testing.T, log world.Log) *world.World {
	t.Helper()
	w, err := world.Open(t.Context(), l.Store, log, world.Options{
		Version: "lobby", SnapshotTicks: 1000, DigestTicks: 1, Shadow: 1,
		Tick: func(ctx context.Context, _ *store.Writer, _ world.Tick) error {
			_, err := l.Flush(ctx)
			return err
		},
	})
	noError(t, err)
	return w
}

type visit struct {
	erase  [2][]store.Handle[unit]
	create [2]int
	names  [2][]store.Handle[unit]
}

func (l *lobby) draw(r *rand.Rand) *visit {
	v := new(visit)
	for i := range v.create {
		if r.IntN(3) > 0 {
			v.create[i] = r.IntN(4)
		}
		for _, h := range l.present[i] {
			if r.IntN(6) == 0 {
				v.erase[i] = append(v.erase[i], h)
			}
		}
	}
	return v
}

func (l *lobby) record(v *visit) func(q store.Queue) error {
	return func(q store.Queue) error {
		for i, t := range []*store.Table[unit]{l.guests, l.bags} {
			t.EraseItems(q, v.erase[i])
			v.names[i] = t.EmplaceItems(q, make([]unit, v.create[i]), nil)
		}
		return nil
	}
}

// All calls fit together, or they are tried one after another.
func (l *lobby) admit(visits []*visit) (fits []bool) {
	fits = make([]bool, len(visits))
	try := func() bool {
		for i, max := range lobbyMax {
			left, created := slices.Clone(l.present[i]), 0
			for k, v := range visits {
				if fits[k] {
					left = slices.DeleteFunc(left, func(h store.Handle[unit]) bool { return slices.Contains(v.erase[i], h) })
					created += v.create[i]
				}
			}
			if created > 0 && len(left)+created > max {
				return false
			}
		}
		return true
	}
	for k := range fits {
		fits[k] = true
	}
	if try() {
		return fits
	}
	clear(fits)
	for k := range fits {
		fits[k] = true
		fits[k] = try()
	}
	return fits
}

func TestErrFull_FailsOneCall(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		inBubble(t, fmt.Sprintf("workers=%d", workers), func(t *testing.T) { fillLobby(t, workers) })
	}
}

func fillLobby(t *testing.T, workers int) {
	r := rand.New(rand.NewPCG(7, 7))
	log := world.Memory()
	leader, follower := newLobby(t, 1), newLobby(t, workers)
	first, second := leader.open(t, log), follower.open(t, log)
	dropped := 0
	for tick := range 40 {
		var visits []*visit
		var calls []*submission
		for range r.IntN(6) {
			v := leader.draw(r)
			if v.create[0]+v.create[1]+len(v.erase[0])+len(v.erase[1]) == 0 {
				continue // a call without commands needs no tick
			}
			visits = append(visits, v)
			calls = append(calls, submit(t.Context(), first, leader.record(v)))
		}
		mustStep(t, first)
		mustStep(t, second)
		synctest.Wait()
		for k, fits := range leader.admit(visits) {
			s, v := calls[k], visits[k]
			if !s.done || errors.Is(s.err, store.ErrFull) == fits || (s.err == nil) != fits {
				t.Fatalf("tick %d, call %d fits: %t; done: %t, %v", tick, k, fits, s.done, s.err)
			}
			if !fits {
				dropped++
				continue
			}
			for i := range leader.present {
				leader.present[i] = slices.DeleteFunc(leader.present[i], func(h store.Handle[unit]) bool { return slices.Contains(v.erase[i], h) })
				for _, name := range v.names[i] {
					h, ok := store.Resolved(s.receipt, name)
					if !ok {
						t.Fatalf("tick %d, call %d: %v resolves to nothing", tick, k, name)
					}
					leader.present[i] = append(leader.present[i], h)
				}
			}
		}
		for i, table := range []*store.Table[unit]{leader.guests, leader.bags} {
			if table.Len() != len(leader.present[i]) || slices.ContainsFunc(leader.present[i], func(h store.Handle[unit]) bool { return !table.Has(h) }) {
				t.Fatalf("tick %d: %d items in table %d, want %d", tick, table.Len(), i, len(leader.present[i]))
			}
		}
	}
	failIf(t, dropped == 0, "every call fitted")
	replayed := newLobby(t, workers)
	third := replayed.open(t, log)
	want, err := leader.Digest(t.Context())
	for _, l := range []*lobby{follower, replayed} {
		got, failed := l.Digest(t.Context())
		noError(t, errors.Join(err, failed))
		equal(t, "digest", got, want)
	}
	mustClose(t, third, second, first)
}
