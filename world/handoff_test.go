package world_test

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"handloom/store"
	"handloom/world"
)

type handing = outcome[bool]

func handOff(ctx context.Context, w *world.World, to string) *handing {
	return aside(func() (bool, error) { return true, w.Handoff(ctx, to) })
}

func wantHanded(t *testing.T, h *handing, want error) {
	t.Helper()
	time.Sleep(50 * time.Millisecond)
	synctest.Wait()
	if !h.done || !errors.Is(h.err, want) || want == nil && h.err != nil {
		t.Fatalf("Handoff: done %t, %v, want %v", h.done, h.err, want)
	}
}

func version(name string, waits bool) func(o *world.Options) {
	return func(o *world.Options) { o.Version, o.Wait = name, waits }
}

// A trio has two running worlds of version "game": a leads, b follows.
type trio struct {
	t     *testing.T
	log   *faulty
	saves atomic.Pointer[saveFunc] // replaces Save of the log
	bad   atomic.Uint64            // position of a snapshot that cannot be loaded
	a, b  *running
	all   []*running
}

func newTrio(t *testing.T) *trio {
	f := &trio{t: t, log: &faulty{Log: keeping{world.Memory()}}}
	f.log.save = func(ctx context.Context, at uint64, write func(io.Writer) error) error {
		if save := f.saves.Load(); save != nil {
			return (*save)(ctx, at, write)
		}
		return f.log.Log.Save(ctx, at, write)
	}
	f.log.load = func(ctx context.Context, at uint64) (io.ReadCloser, error) {
		if at > 0 && at == f.bad.Load() {
			return nil, errLost
		}
		return f.log.Log.Load(ctx, at)
	}
	f.a, f.b = f.open(), f.open()
	time.Sleep(time.Second)
	return f
}

// open opens and runs a world; default: of the old version, without Wait.
func (f *trio) open(change ...func(o *world.Options)) *running {
	f.t.Helper()
	g := newGame(f.t, alone)
	r := runWorld(g, mustOpen(f.t, g, f.log, change...))
	f.all = append(f.all, r)
	return r
}

func (f *trio) second(waits bool) *running { return f.open(version("second", waits)) }

func (f *trio) wantLeader(r *running, term uint32) {
	f.t.Helper()
	synctest.Wait()
	for i, other := range f.all {
		s := other.Status()
		if s.Leader != (other == r) || s.Leader && s.Term != term {
			f.t.Fatalf("world %d: %v", i, s)
		}
	}
}

// still fails if the log grows in d.
func (f *trio) still(d time.Duration) {
	f.t.Helper()
	before, _ := f.log.Tail(f.t.Context())
	time.Sleep(d)
	if now, _ := f.log.Tail(f.t.Context()); now != before {
		f.t.Fatalf("the log ends at record %d, and %v later at %d", before, d, now)
	}
}

// expires hands off without a successor, and fails if the log grows before d.
func (f *trio) expires(ctx context.Context, to string, d time.Duration) {
	f.t.Helper()
	h := handOff(ctx, f.a.World, to)
	f.still(d - time.Second)
	time.Sleep(time.Second)
	wantHanded(f.t, h, context.DeadlineExceeded)
}

// ends fails unless r leads, and closes all worlds. halted ones end with ErrVersion, the others run.
func (f *trio) ends(r *running, term uint32, halted ...*running) {
	f.t.Helper()
	f.wantLeader(r, term)
	time.Sleep(time.Second)
	for _, r := range f.all {
		want := context.Canceled
		for _, h := range halted {
			if h == r {
				want = world.ErrVersion
			}
		}
		r.stop()
		wantError(f.t, <-r.done, want)
		crash(f.t, r.World)
		wantSame(f.t, f.a.game, r.game)
	}
	mustAudit(f.t, f.log)
}

// The rows of the table in the package comment.
func TestHandoff_Table(t *testing.T) {
	for name, row := range map[string]func(t *testing.T, f *trio){
		"the successor waits": func(t *testing.T, f *trio) {
			c := f.second(true)
			wantHanded(t, handOff(t.Context(), f.a.World, "second"), nil)
			f.ends(c, 2, f.a, f.b)
		},
		"the successor opens in time": func(t *testing.T, f *trio) {
			h := handOff(within(t, time.Minute), f.a.World, "second")
			f.still(59 * time.Second)
			c := f.second(false)
			wantHanded(t, h, nil)
			f.ends(c, 2, f.a, f.b)
		},
		"a successor that waits opens before the snapshot": func(t *testing.T, f *trio) {
			f.slowSave()
			h := handOff(t.Context(), f.a.World, "second")
			time.Sleep(time.Second)
			c := f.second(true)
			failIf(t, !c.Status().Waits, "%v", c.Status())
			time.Sleep(3 * time.Second)
			wantHanded(t, h, nil)
			f.ends(c, 2, f.a, f.b)
		},
		"no successor before the deadline": func(t *testing.T, f *trio) {
			c := f.open(version("third", true))
			f.expires(within(t, time.Minute), "second", time.Minute)
			failIf(t, !c.Status().Waits, "a world that was not named: %v", c.Status())
			f.ends(f.a, 2)
		},
		"another leads while a second call waits": func(t *testing.T, f *trio) {
			short, long := handOff(within(t, 500*time.Millisecond), f.a.World, "second"), handOff(within(t, time.Minute), f.a.World, "second")
			time.Sleep(10 * time.Second)
			wantHanded(t, short, context.DeadlineExceeded)
			wantHanded(t, long, world.ErrNotLeader)
			f.ends(f.b, 2)
		},
		"no successor without a deadline": func(t *testing.T, f *trio) {
			f.expires(t.Context(), "second", 30*time.Second)
			f.ends(f.a, 2)
		},
		"no successor before the context is cancelled": func(t *testing.T, f *trio) {
			ctx, cancel := context.WithCancel(t.Context())
			h := handOff(ctx, f.a.World, "second")
			f.still(10 * time.Second)
			cancel()
			wantHanded(t, h, context.Canceled)
			f.ends(f.a, 2)
		},
		"the successor dies, another one waits": func(t *testing.T, f *trio) {
			c, d := f.second(true), f.second(true)
			wantHanded(t, handOff(t.Context(), f.a.World, "second"), nil)
			if d.Status().Leader {
				c, d = d, c
			}
			f.drop(c)
			time.Sleep(time.Second)
			f.ends(d, 3, f.a, f.b)
		},
		"the successor dies, no other is there": func(t *testing.T, f *trio) {
			c := f.second(true)
			wantHanded(t, handOff(t.Context(), f.a.World, "second"), nil)
			f.drop(c)
			f.still(10 * time.Minute)
			d := f.second(false)
			time.Sleep(time.Second)
			f.ends(d, 3, f.a, f.b)
		},
		"the old leader dies": func(t *testing.T, f *trio) {
			h := handOff(within(t, time.Minute), f.a.World, "second")
			f.still(time.Second)
			f.drop(f.a)
			wantHanded(t, h, store.ErrClosed)
			f.still(59 * time.Second)
			time.Sleep(time.Second)
			f.ends(f.b, 2)
		},
		"the old leader dies, the successor opens": func(t *testing.T, f *trio) {
			handOff(within(t, time.Minute), f.a.World, "second")
			f.drop(f.a)
			f.still(50 * time.Second)
			c := f.second(true)
			f.ends(c, 2, f.b)
		},
		"a follower opens again": func(t *testing.T, f *trio) {
			handOff(within(t, time.Minute), f.a.World, "second")
			f.drop(f.a)
			f.still(30 * time.Second)
			f.drop(f.b)
			b := f.open()
			f.still(time.Minute) // its wait begins again
			time.Sleep(time.Second)
			f.ends(b, 2)
		},
		"a second Handoff to the same version": func(t *testing.T, f *trio) {
			first, second := handOff(t.Context(), f.a.World, "second"), handOff(t.Context(), f.a.World, "second")
			c := f.second(true)
			wantHanded(t, first, nil)
			wantHanded(t, second, nil)
			f.ends(c, 2, f.a, f.b)
		},
		"a second Handoff to another version": func(t *testing.T, f *trio) {
			h := handOff(within(t, 20*time.Second), f.a.World, "second")
			wantHanded(t, handOff(t.Context(), f.a.World, "third"), world.ErrNotLeader)
			f.still(19 * time.Second)
			time.Sleep(2 * time.Second)
			wantHanded(t, h, context.DeadlineExceeded)
			f.wantLeader(f.a, 2)
			c := f.open(version("third", true))
			wantHanded(t, handOff(t.Context(), f.a.World, "third"), nil)
			f.ends(c, 3, f.a, f.b)
		},
		"to the own version": func(t *testing.T, f *trio) {
			f.failSave(1)
			wantHanded(t, handOff(t.Context(), f.a.World, "game"), nil)
			wantHanded(t, handOff(t.Context(), f.a.World, "game"), world.ErrNotLeader)
			f.ends(f.b, 2)
		},
		"to the own version, but no other world is there": func(t *testing.T, f *trio) {
			f.drop(f.b)
			f.expires(within(t, time.Minute), "game", time.Minute)
			f.ends(f.a, 2)
		},
		"no snapshot can be saved": func(t *testing.T, f *trio) {
			f.failSave(1)
			wantHanded(t, handOff(t.Context(), f.a.World, "second"), errLost)
			f.ends(f.a, 1)
		},
		"the last snapshot cannot be saved": func(t *testing.T, f *trio) {
			f.failSave(2)
			wantHanded(t, handOff(t.Context(), f.a.World, "second"), errLost)
			f.wantLeader(f.a, 2)
			c := f.second(true)
			wantHanded(t, handOff(t.Context(), f.a.World, "second"), nil)
			f.ends(c, 3, f.a, f.b)
		},
		"the successor cannot read the snapshot": func(t *testing.T, f *trio) {
			c := f.second(true)
			f.onSave(2, func(_ context.Context, at uint64, _ func(io.Writer) error) error {
				f.bad.Store(at)
				return nil
			})
			f.expires(within(t, time.Minute), "second", time.Minute)
			f.wantLeader(f.a, 2)
			f.bad.Store(0)
			time.Sleep(time.Second) // until c, which could not read it, looks again
			wantHanded(t, handOff(t.Context(), f.a.World, "second"), nil)
			f.ends(c, 3, f.a, f.b)
		},
		"the old version waits, and gets the log back": func(t *testing.T, f *trio) {
			d := f.open(version("game", true))
			c := f.second(true)
			wantHanded(t, handOff(t.Context(), f.a.World, "second"), nil)
			time.Sleep(time.Second)
			failIf(t, !d.Status().Waits, "the world of the old version: %v", d.Status())
			wantHanded(t, handOff(t.Context(), c.World, "game"), nil)
			f.wantLeader(d, 3)
			wantHanded(t, handOff(t.Context(), d.World, "second"), nil)
			f.ends(c, 4, f.a, f.b)
		},
		"idle ticks are recorded before the snapshot": func(t *testing.T, f *trio) {
			c := f.open(version("second", true), func(o *world.Options) { o.Idle = 0 })
			wantHanded(t, handOff(t.Context(), f.a.World, "second"), nil)
			submit(t.Context(), c.World, c.game.order(1))
			time.Sleep(50 * time.Millisecond) // the last record has no snapshot yet
			failIf(t, c.Status().Unrecorded == 0, "%v", c.Status())
			f.onSave(1, func(context.Context, uint64, func(io.Writer) error) error {
				equal(t, "unrecorded ticks in a snapshot", c.Status().Unrecorded, 0)
				return nil
			})
			d := f.open(version("third", true))
			wantHanded(t, handOff(t.Context(), c.World, "third"), nil)
			f.ends(d, 3, f.a, f.b)
		},
	} {
		inBubble(t, name, func(t *testing.T) { row(t, newTrio(t)) })
	}
}

// drop kills a world.
func (f *trio) drop(r *running) {
	f.t.Helper()
	r.stop()
	<-r.done
	crash(f.t, r.World)
	for i := range f.all {
		if f.all[i] == r {
			f.all = append(f.all[:i:i], f.all[i+1:]...)
			return
		}
	}
}

// onSave calls do before the n-th save from now on.
func (f *trio) onSave(n int, do saveFunc) {
	var calls atomic.Int64
	save := saveFunc(func(ctx context.Context, at uint64, write func(io.Writer) error) error {
		if calls.Add(1) == int64(n) {
			if err := do(ctx, at, write); err != nil {
				return err
			}
		}
		return f.log.Log.Save(ctx, at, write)
	})
	f.saves.Store(&save)
}

// slowSave delays the save after the term.
func (f *trio) slowSave() {
	f.onSave(2, func(context.Context, uint64, func(io.Writer) error) error {
		time.Sleep(3 * time.Second)
		return nil
	})
}

func (f *trio) failSave(n int) {
	f.onSave(n, func(context.Context, uint64, func(io.Writer) error) error { return errLost })
}

// A world that is not named neither takes over nor shows a state, also if nobody leads.
func TestWait_RefusesUntilNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTrio(t)
		c := f.second(true)
		refuses := func() {
			t.Helper()
			s := c.Status()
			failIf(t, !s.Waits || s.Leader || s.Tick != 0 || s.SavedAge > 2*time.Hour || !strings.HasPrefix(s.String(), "waits"), "%v", s)
			for _, err := range []error{
				c.Read(t.Context(), func(context.Context, world.Tick) error { return nil }), c.Export(t.Context(), io.Discard),
				c.Handoff(t.Context(), "third"), errorOf(c.Submit(t.Context(), c.game.order(1))),
			} {
				failIf(t, !errors.Is(err, world.ErrNotLeader) || !strings.Contains(err.Error(), "waits"), "%v", err)
			}
		}
		time.Sleep(time.Minute)
		refuses()
		f.drop(f.a)
		time.Sleep(time.Second)
		f.wantLeader(f.b, 2)
		f.drop(f.b)
		f.still(10 * time.Minute)
		refuses()
		f.a = f.open()
		time.Sleep(time.Second)
		wantHanded(t, handOff(t.Context(), f.a.World, "second"), nil)
		f.ends(c, 4, f.a)
	})
}

// One of several worlds wins, also if the snapshot arrives late. The others follow.
func TestWait_OneOfSeveralLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTrio(t)
		f.slowSave()
		next := []*running{f.second(true), f.second(true), f.second(true)}
		observer := f.open(version("second", true), func(o *world.Options) { o.Observe = true })
		h := handOff(t.Context(), f.a.World, "second")
		time.Sleep(10 * time.Second)
		wantHanded(t, h, nil)
		var led *running
		for _, r := range next {
			if r.Status().Leader {
				led = r
			}
		}
		tick := led.Status().Tick
		for _, r := range append(next, observer) {
			failIf(t, r.Status().Tick+1 < tick || r.Status().Waits, "%v, want tick %d", r.Status(), tick)
		}
		f.ends(led, 2, f.a, f.b)
	})
}

func TestWait_NeedsSharedLogOfOtherVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := openJournal(t, filepath.Join(t.TempDir(), "log"))
		w := mustOpen(t, newGame(t, alone), j)
		steps(t, w, 3)
		mustClose(t, w)
		g := newGame(t, alone)
		o := g.options()
		o.Version, o.Wait = "second", true
		wantError(t, errorOf(world.Open(t.Context(), g.Store, j, o)), world.ErrVersion)

		w = mustOpen(t, newGame(t, alone), world.Memory(), version("game", true)) // an empty log
		failIf(t, !w.Status().Leader, "%v", w.Status())
		steps(t, w, 3)
		mustClose(t, w)
	})
}

// A snapshot that the new version cannot load fails Open, not the handoff.
func TestWait_OtherTablesFailOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTrio(t)
		s := store.New(alone)
		store.Register(s, store.TableOptions[[4]uint64]{Name: "unit"})
		o := world.Options{Version: "second", Wait: true, Tick: func(context.Context, *store.Writer, world.Tick) error { return nil }}
		wantError(t, errorOf(world.Open(t.Context(), s, f.log, o)), world.ErrVersion, store.ErrSchema)
		f.ends(f.a, 1)
	})
}

// A handoff whose append ended late is taken back.
func TestHandoff_LateAppendIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &faulty{Log: world.Memory()}
		g, w := newWorld(t, store.Options{}, l)
		steps(t, w, 2)
		lost := func(context.Context, uint64, []byte) (uint64, error) { return 0, errLost }
		l.append = lost
		waits := submit(t.Context(), w, g.order(1))
		wantError(t, w.Handoff(within(t, time.Second), "second"), context.DeadlineExceeded, errLost)
		l.append = nil
		mustStep(t, w)
		synctest.Wait()
		wantError(t, waits.err, world.ErrNotLeader)
		s := w.Status()
		failIf(t, !s.Leader || s.Term != 2 || s.Tick != 3 || s.Position != 6, "%+v", s)
		l.append = lost
		h := handOff(context.Background(), w, "second")
		crash(t, w)
		wantHanded(t, h, store.ErrClosed)
	})
}

func TestHandoff_EndsWithItsContext(t *testing.T) {
	for name, c := range map[string]struct {
		begin func(l *faulty, h *hang)
		kinds string // of the records after two ticks
	}{
		"an append hangs":    {func(l *faulty, h *hang) { l.append = h.append(l.Log, nil) }, "handoff epoch tick"},
		"the snapshot hangs": {func(l *faulty, h *hang) { l.save = h.save(l.Log) }, "tick tick"},
		"the last snapshot hangs": {func(l *faulty, h *hang) {
			l.save = func(ctx context.Context, at uint64, write func(io.Writer) error) error {
				l.save = h.save(l.Log)
				return l.Log.Save(ctx, at, write)
			}
		}, "handoff epoch tick tick"},
	} {
		inBubble(t, name, func(t *testing.T) {
			h, g := newHang(), newGame(t, alone)
			l := &faulty{Log: keeping{world.Memory()}}
			w := mustOpen(t, g, l)
			steps(t, w, 2)
			c.begin(l, h)
			ctx := within(t, time.Second)
			wantError(t, w.Handoff(ctx, "second"), context.DeadlineExceeded)
			_, err := w.Step(within(t, time.Second))
			equal(t, "Step ends before the append", err == nil, !strings.Contains(name, "append"))
			close(h.letGo)
			mustStep(t, w)
			a := mustAudit(t, l)
			equal(t, "records", strings.Join(a.Kinds[3:], " "), c.kinds)
			mustClose(t, w)
		})
	}
}

// On a log with a lock the World stays handed off until it is closed, or for the time of the
// handoff.
func TestHandoff_LockedLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := openJournal(t, filepath.Join(t.TempDir(), "log"))
		var large atomic.Bool
		r := run(t, newGame(t, alone), &faulty{Log: j, save: func(ctx context.Context, at uint64, write func(w io.Writer) error) error {
			if large.Load() {
				time.Sleep(time.Minute)
			}
			return j.Save(ctx, at, write)
		}})
		time.Sleep(time.Second)
		large.Store(true)
		noError(t, r.Handoff(t.Context(), "second"))
		large.Store(false)
		time.Sleep(29 * time.Second)
		s := r.Status()
		failIf(t, s.Leader || s.Term != 1, "%v", s)
		time.Sleep(2 * time.Second)
		s = r.Status()
		failIf(t, !s.Leader || s.Term != 2, "%v", s)
		noError(t, r.Handoff(within(t, time.Second), "second"))
		r.end(t)
		failIf(t, r.Handoff(t.Context(), strings.Repeat("a", 1<<11)) == nil, "a name that no snapshot can hold")

		w := mustOpen(t, newGame(t, alone), j) // the new version does not start
		failIf(t, !w.Status().Leader || w.Status().Term != 3, "%v", w.Status())
		tick := mustStep(t, w)
		noError(t, w.Handoff(t.Context(), "second"))
		ended, cancel := context.WithCancel(t.Context())
		cancel() // a Handoff that appends nothing does not end one that has succeeded
		wantError(t, w.Handoff(ended, "second"), context.Canceled)
		wantError(t, w.Handoff(t.Context(), "third"), world.ErrNotLeader)
		failIf(t, w.Status().Leader || w.Status().Term != 3, "%v", w.Status())
		mustClose(t, w)
		w = mustOpen(t, newGame(t, alone), j, version("second", false))
		equal(t, "tick of the new version", mustStep(t, w).Number, tick.Number+1)
		mustClose(t, w)
	})
}

// The other world applies the handoff and leads before the first one reads the log again.
func TestHandoff_OthersComeFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := keeping{world.Memory()}
		a, b := newGame(t, alone), newGame(t, alone)
		w, v := mustOpen(t, a, l), mustOpen(t, b, l)
		steps(t, w, 3)
		h := handOff(t.Context(), w, "game")
		stepped := stepAside(t, w)
		synctest.Wait() // no time passes
		if w.Status().Leader || w.Status().Tick != 3 || h.done {
			t.Fatalf("the world that handed off: %v", w.Status())
		}
		for !v.Status().Leader {
			mustStep(t, v)
		}
		wantHanded(t, h, nil)
		noError(t, <-stepped)
		s := w.Status()
		failIf(t, s.Leader || s.Term != 2, "the world that handed off: %v", s)
		wantSame(t, a, b)
		mustClose(t, w, v)
	})
}

// The record after the handoff is trimmed before Handoff reads it.
func TestHandoff_FindsTrimmedSuccessor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := world.Memory()
		var fails atomic.Bool
		w := mustOpen(t, newGame(t, alone), &faulty{Log: l, read: func(ctx context.Context, after uint64, each func(at uint64, rec []byte) error) error {
			if fails.Load() {
				return errLost
			}
			return l.Read(ctx, after, each)
		}})
		steps(t, w, 3)
		fails.Store(true)
		h := handOff(t.Context(), w, "second")
		u := mustOpen(t, newGame(t, alone), l, version("second", false))
		stepsSaving(t, u, 30)
		fails.Store(false)
		time.Sleep(2 * time.Second)
		wantHanded(t, h, nil)
		crash(t, u, w)
	})
}
