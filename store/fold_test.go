package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/store"
)

// From seed 3 on f panics for some events, later key, too.
func TestFold_MatchesALoop(t *testing.T) {
	seeds := uint64(6)
	if testing.Short() {
		seeds = 2 // a packed and a stable table
	}
	for seed := range seeds {
		for _, events := range []int{0, 100, 20_000} { // a plain loop, and several blocks
			var want uint64
			for _, workers := range []int{1, 3, 8} {
				got := playFold(t, seed, events, workers)
				if workers == 1 {
					want = got
				}
				equal(t, fmt.Sprintf("seed %d, %d events, %d workers: digest", seed, events, workers), got, want)
			}
		}
	}
}

func playFold(t *testing.T, seed uint64, events, workers int) uint64 {
	random := rand.New(rand.NewPCG(seed, uint64(events)))
	s := newStore(t, store.Options{Workers: workers})
	noError(t, s.Shuffle(seed))
	o := store.TableOptions[item]{Name: "target", Shards: 1 + random.IntN(5), Changes: true}
	targets := registerKind(t, s, o, seed%2 > 0)
	shots := register(t, s, store.TableOptions[shot]{Shards: 1 + random.IntN(3)})
	hs := fill(t, s, targets, 1+random.IntN(300))
	want, number, failed, wrote := map[store.Handle[item]]uint64{}, 0, -1, map[store.Handle[item]]bool{}
	for i, h := range hs {
		want[h] = uint64(i)
	}
	q := queues(t, s, 1)[0]
	targets.EraseItems(q, hs[:len(hs)/4])
	hs = append(hs, store.Handle[item]{}, handleOf(compose(60, 1, 0)), handleOf(compose(1, 1, 1<<30)), targets.EmplaceItems(q, make([]item, 1), nil)[0])
	for i := range events {
		shots.Emplace(q, shot{Target: hs[random.IntN(len(hs))], Damage: uint64(i)})
	}
	flush(t, s)

	fails := func(damage uint64) bool { return seed >= 2 && damage%97 == 5 }
	keyFails := func(damage uint64) bool { return seed >= 4 && damage%89 == 7 }
	for _, e := range shots.All() {
		lives := found(targets.Get(e.Target))
		if lives && !keyFails(e.Damage) {
			wrote[e.Target] = true
		}
		switch {
		case keyFails(e.Damage), lives && fails(e.Damage):
			if failed < 0 {
				failed = number
			}
		case lives:
			want[e.Target] = want[e.Target]*31 + e.Damage
		}
		number++
	}
	err := store.Fold(t.Context(), shots, targets, func(e *shot) store.Handle[item] {
		if keyFails(e.Damage) {
			panic("key")
		}
		return e.Target
	}, func(v *item, e *shot) {
		if fails(e.Damage) {
			panic("f")
		}
		v.Value = v.Value*31 + e.Damage
	})
	var p *store.PanicError
	if got := -1; errors.As(err, &p) {
		got = p.Task
		equal(t, "first event that fails", got, failed)
	} else if err != nil || failed >= 0 {
		t.Fatalf("seed %d: got %v, want a panic of event %d", seed, err, failed)
	}
	for _, h := range hs {
		if v, ok := targets.Get(h); ok {
			equal(t, "value", v.Value, want[h])
		}
	}
	flush(t, s)
	listed := 0
	for h := range store.Written(targets) {
		if listed++; !wrote[h] {
			t.Fatalf("seed %d: Written has %v, which no event names", seed, h)
		}
	}
	equal(t, "items in Written", listed, len(wrote))
	return digest(t, s)
}

// An event of each block ends the goroutine that folds it: any, or any except the caller's.
func TestFold_ContinuesAfterGoexit(t *testing.T) {
	for _, c := range []struct {
		workers     int
		inKey, only bool
	}{{1, true, false}, {1, false, false}, {3, true, false}, {3, false, false}, {3, true, true}} {
		s, targets := newTable(t, store.Options{Workers: c.workers}, store.TableOptions[item]{Name: "target"})
		shots := register(t, s, store.TableOptions[shot]{})
		hs := fill(t, s, targets, 10)
		shots.EmplaceItems(queues(t, s, 1)[0], slices.Repeat([]shot{{Target: hs[3], Damage: 1}}, 20_000), nil)
		flush(t, s)
		for _, row := range []int{1_000, 12_000, 19_000} {
			shots.At(handlesIn(shots.All())[row]).Damage = 0
		}
		exited, once, caller := make(chan bool), sync.Once{}, uint64(0)
		exit := func(e *shot, here bool) {
			if !here || e.Damage > 0 {
				return
			}
			if c.only && check.Goroutine() == caller {
				<-exited
				return
			}
			once.Do(func() { close(exited) })
			runtime.Goexit()
		}
		err, returned := apart(func() error {
			caller = check.Goroutine()
			return store.Fold(t.Context(), shots, targets, func(e *shot) store.Handle[item] {
				exit(e, c.inKey)
				return e.Target
			}, func(v *item, e *shot) {
				exit(e, !c.inKey)
				v.Value += e.Damage
			})
		})
		if returned || c.only {
			wantError(t, "Fold", err, store.ErrGoexit)
		}
		equal(t, fmt.Sprintf("events of %+v", c), targets.At(hs[3]).Value, 3+19_997)
	}
}

func TestFold_RefusesInvalidArguments(t *testing.T) {
	g := newGrouped(t)
	_, stranger := newTable(t, store.Options{}, store.TableOptions[item]{Name: "stranger"})
	add := func(v *item, e *shot) { v.Value += e.Damage }
	wantIn(t, "of two stores", panicOf(func() { _ = store.Fold(t.Context(), g.shots, stranger, targetOf, add) }), `onto table "stranger" of another store`)
	wantIn(t, "one table", panicOf(func() { _ = store.Fold(t.Context(), g.other, g.other, parent, func(*item, *item) {}) }), "onto itself")
	wantIn(t, "no events", panicOf(func() { _ = store.Fold(t.Context(), nil, g.targets, targetOf, add) }), "store: Fold with a nil table")
	wantIn(t, "no targets", panicOf(func() { _ = store.Fold(t.Context(), g.shots, nil, targetOf, add) }), "store: Fold with a nil table")
	wantIn(t, "no key", panicOf(func() { _ = store.Fold(t.Context(), g.shots, g.targets, nil, add) }), "store: Fold with a nil key function")
	wantIn(t, "no function", panicOf(func() { _ = store.Fold(t.Context(), g.shots, g.targets, targetOf, nil) }), "store: Fold with a nil function")
	wantError(t, "in a Read", g.Read(t.Context(), func(ctx context.Context) error { return store.Fold(ctx, g.shots, g.targets, targetOf, add) }), store.ErrPhase)
	wantError(t, "a context that has ended", store.Fold(ended{t.Context()}, g.shots, g.targets, targetOf, add), context.Canceled)
	usable(t, g.Store, g.targets)
}

// FixedKeys means the same for Fold as for ForEach.
func TestFold_TouchesTheOrder(t *testing.T) {
	for _, fixed := range []bool{false, true} {
		s, table := newTable(t, store.Options{}, store.TableOptions[item]{FixedKeys: fixed})
		shots := register(t, s, store.TableOptions[shot]{})
		hs := fill(t, s, table, 40)
		noError(t, s.Do(t.Context(), func(q store.Queue) { shots.Emplace(q, shot{Target: hs[0], Damage: 100}) }))
		flush(t, s)
		order := func() (first uint64) {
			runFrame(t, s, func(ctx context.Context, w *store.Writer) error {
				_, _, err := store.Defragment(ctx, table, w, byValue, 0)
				return err
			})
			return values(table)[0]
		}
		equal(t, "first before", order(), 0)
		noError(t, store.Fold(t.Context(), shots, table, targetOf, func(v *item, e *shot) { v.Value += e.Damage }))
		want := uint64(1)
		if fixed {
			want = 100
		}
		equal(t, "first after", order(), want)
	}
}

// Ended events count as erased but not towards limits.
func TestEvents_CountAsErased(t *testing.T) {
	s, table := newTable(t, store.Options{QueueLimit: 3, BatchLimit: 4}, store.TableOptions[item]{Events: true, MaxItems: 3})
	emit := func(n int) {
		noError(t, s.Do(t.Context(), func(q store.Queue) { table.EmplaceItems(q, make([]item, n), nil) }))
	}
	emit(3)
	wantFlush(t, s, batch.Counts{Created: 3})
	emit(2)
	wantFlush(t, s, batch.Counts{Created: 2, Erased: 3})
	noError(t, s.Do(t.Context(), table.EraseAll))
	wantFlush(t, s, batch.Counts{Erased: 2, Redundant: 1})
	epoch := s.Epoch()
	wantFlush(t, s, batch.Counts{})
	equal(t, "the epoch after a flush of nothing", s.Epoch(), epoch)
	emit(1)
	flush(t, s)
	wantFlush(t, s, batch.Counts{Erased: 1})
	equal(t, "the epoch after a flush of events alone", s.Epoch(), epoch+2)
}

func TestEvents_MakeRoomForCalls(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Events: true, MaxItems: 2})
	fill(t, s, table, 2)
	for range 2 {
		noError(t, s.Inbox(callOf(func(q store.Queue) { table.EmplaceItems(q, make([]item, 2), nil) })))
	}
	r := flush(t, s)
	equal(t, "dropped calls", r.DroppedCalls, 1)
	equal(t, "events", table.Len(), 2)
}

// Of several schedules that read events the one made last ends them, so that a program may
// build its schedule anew.
func TestEvents_LastScheduleEndsThem(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "event", Events: true})
	column := addColumn(t, table, store.ColumnOptions[int]{Name: "c"})
	err := faultOf(func() { store.NewSchedule(s, store.System{Name: "reads", Reads: on(table)}) })
	wantText(t, "a system without Run", err, "Run is nil")
	var c, before *store.Schedule
	for _, system := range []store.System{{Reads: on(column)}, {Writes: on(table)}, {Reads: on(table)}} {
		system.Name, system.Run = "reads", nothing
		before, c = c, newSchedule(t, s, system, store.System{Name: "last", Run: nothing})
		equal(t, "Explain", c.Explain(), "wave 1\n  reads\n  last\nflush\n    event ends\n")
		fill(t, s, table, 1)
		if before != nil {
			noError(t, onlyError(before.Run(t.Context())))
			equal(t, "events after a Run of the schedule before", table.Len(), 1)
		}
		noError(t, onlyError(c.Run(t.Context())))
		equal(t, "events after a Run of the last", table.Len(), 0)
	}
	emits := newSchedule(t, s, store.System{Name: "emits", Emits: on(table), Run: emplace(s, table, 1)})
	for range 2 {
		noError(t, onlyError(emits.Run(t.Context())))
	}
	equal(t, "events before a Run that reads them", table.Len(), 2)
	noError(t, onlyError(c.Run(t.Context())))
	equal(t, "events after it", table.Len(), 0)
}
