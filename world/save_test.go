package world_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"handloom/store"
	"handloom/world"
)

func TestSnapshot_FollowersSave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := world.Memory()
		counting := func(n *int) world.Log {
			return &faulty{Log: shared, save: func(ctx context.Context, at uint64, write func(w io.Writer) error) error {
				*n++
				return shared.Save(ctx, at, write)
			}}
		}
		open := func(workers int, saves *int) *world.World {
			return mustOpen(t, newGame(t, store.Options{Workers: workers}), counting(saves), func(o *world.Options) {
				o.SnapshotTicks, o.DigestTicks = 20, 4
			})
		}
		var byLeader, followed, lagged int
		w, v := open(1, &byLeader), open(2, &followed)
		behind := map[int]*world.World{4: open(1, &lagged), 14: open(1, &lagged)} // by their lag in ticks
		byLeader = 0                                                              // ignores the first state
		for tick := range 200 {
			stepEach(t, w, v)
			for n, u := range behind {
				if tick >= n {
					steps(t, u, 1)
				}
			}
			synctest.Wait()
		}
		failIf(t, byLeader != 0 || followed < 200/15 || followed > 200/10, "of 200 ticks, with a snapshot after 20, the leader has saved %d and the follower %d", byLeader, followed)
		failIf(t, lagged > 0, "lagging followers saved %d snapshots, want 0", lagged)
		for n, u := range behind {
			s := u.Status()
			failIf(t, s.SavedTick+40 < s.Tick || s.SavedTick > s.Tick, "lag of %d ticks: at tick %d it knows of a snapshot of tick %d", n, s.Tick, s.SavedTick)
			crash(t, u)
		}
		if leader, follows := w.Status(), v.Status(); leader.SavedTick+40 < 200 || leader.SavedTick > follows.SavedTick {
			t.Errorf("the leader knows of a snapshot of tick %d, and the follower has saved tick %d", leader.SavedTick, follows.SavedTick)
		}
		crash(t, v)
		stepsSaving(t, w, 200)
		failIf(t, byLeader < 200/20-1 || byLeader > 200/20, "of 200 ticks, with a snapshot after 20, the leader, whom nobody follows, has saved %d", byLeader)
		stepsSaving(t, w, 10)
		followed = 0
		v = open(2, &followed) // from a snapshot that it does not count as new
		for from := v.Status().SavedTick; v.Status().Tick < from+19; synctest.Wait() {
			stepEach(t, w, v)
		}
		equal(t, "saves of a new follower", followed, 1)
		crash(t, v)
		mustClose(t, w)
	})
}

func TestSnapshot_OneSaveAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := world.Memory()
		var saving atomic.Bool
		w := mustOpen(t, newGame(t, store.Options{}), &faulty{Log: shared, save: func(ctx context.Context, at uint64, write func(w io.Writer) error) error {
			failIf(t, saving.Swap(true), "the snapshot of record %d is saved while another save runs", at)
			time.Sleep(time.Second)
			saving.Store(false)
			return shared.Save(ctx, at, write)
		}})
		steps(t, w, 7) // a save begins after the 7th
		synctest.Wait()
		failIf(t, !saving.Load(), "nothing is being saved")
		steps(t, w, 8) // a save is due after the 7th of them
		wantError(t, w.Handoff(within(t, time.Minute), "second"), context.DeadlineExceeded)
		saved := snapshotsOf(t, shared)
		failIf(t, !slices.Equal(saved, []uint64{17, 16}), "snapshots %v", saved)
		crash(t, w)
	})
}

func TestSnapshot_FailedCopyWaitsForNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGame(t, store.Options{})
		copies, fails := 0, false
		lists := store.Register(g.Store, store.TableOptions[[]int]{Name: "list", Clone: func(dst, src *[]int) {
			if fails {
				copies++
				panic("no copy")
			}
			*dst = slices.Clone(*src)
		}})
		w := mustOpen(t, g, world.Memory(), func(o *world.Options) {
			o.Init = func(ctx context.Context, w *store.Writer) error {
				lists.Insert(w, []int{1})
				return g.init(ctx, w)
			}
		})
		fails = true
		steps(t, w, 3*7)
		s := w.Status()
		failIf(t, copies != 3 || !strings.Contains(s.SaveErr, "no copy"), "%d copies were tried, want 3; %v", copies, s)
		crash(t, w)
	})
}

func TestSnapshot_FollowerSavesConfirmedState(t *testing.T) {
	step := uint64(1)
	if testing.Short() {
		step = 7
	}
	for _, digestTicks := range []int{4, 6} { // different shards per tick
		for wrong := uint64(1); wrong <= 30; wrong += step {
			synctest.Test(t, func(t *testing.T) { savesWhatWasCompared(t, wrong, digestTicks) })
		}
	}
}

func savesWhatWasCompared(t *testing.T, wrong uint64, digestTicks int) {
	shared := world.Memory()
	open := func(g *game) *world.World {
		return mustOpen(t, g, shared, func(o *world.Options) { o.SnapshotTicks, o.DigestTicks = 20, digestTicks })
	}
	g, drifting, after := newGame(t, store.Options{}), newGame(t, store.Options{}), newGame(t, store.Options{})
	drifting.drifts(wrong)
	w, v := open(g), open(drifting)
	var err error
	for err == nil && v.Status().Tick < 40 {
		steps(t, w, 1)
		_, err = v.Step(t.Context())
		synctest.Wait()
	}
	failIf(t, !errors.Is(err, world.ErrDiverged), "wrong from tick %d: the follower is at %v: %v", wrong, v.Status(), err)
	crash(t, v, w)
	u := open(after)
	got, err1 := after.Digest(t.Context())
	want, err2 := g.Digest(t.Context())
	noError(t, errors.Join(err1, err2))
	equal(t, fmt.Sprint("digest after recovery, wrong from tick ", wrong), got, want)
	mustClose(t, u)
}

// The leader saves if DigestTicks are too many for followers. These learn of its snapshots.
func TestSnapshot_FollowersLearnOfTheLeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := world.Memory()
		lists := 0
		l := &faulty{Log: shared, saved: func(ctx context.Context) ([]uint64, error) {
			lists++
			return shared.Snapshots(ctx)
		}}
		few := func(o *world.Options) { o.SnapshotTicks, o.DigestTicks = 20, 15 }
		w, v := mustOpen(t, newGame(t, alone), shared, few), mustOpen(t, newGame(t, alone), l, few)
		for range 200 {
			stepEach(t, w, v)
			synctest.Wait()
		}
		s := v.Status()
		failIf(t, s.SavedTick+40 < s.Tick || lists > 3*10, "%d lists; %+v", lists, s)
		crash(t, v)
		mustClose(t, w)
	})
}

// Another World replaces the older snapshot between the list and the look.
func TestTrim_ReplacedSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared, gone := world.Memory(), 0
		w := mustOpen(t, newGame(t, store.Options{}), &faulty{Log: shared, load: func(ctx context.Context, at uint64) (io.ReadCloser, error) {
			if saved := snapshotsOf(t, shared); at == 0 && len(saved) > 1 {
				gone++
				return nil, fs.ErrNotExist
			}
			return shared.Load(ctx, at)
		}})
		steps(t, w, 7)
		synctest.Wait()
		s := w.Status()
		failIf(t, gone == 0 || s.SaveErr != "" || s.SavedTick == 0, "after %d looks: %v", gone, s)
		crash(t, w)
	})
}
