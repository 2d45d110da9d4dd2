package world_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"handloom/store"
	"handloom/world"
)

// After a failed Read no record is skipped, such as a handoff whose snapshot is not saved yet.
func TestWait_FindsHandoffAfterFailedRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTrio(t)
		f.drop(f.b)
		var ends atomic.Bool // one Read, before it delivers a record
		l := &faulty{Log: f.log, read: func(ctx context.Context, after uint64, each func(at uint64, rec []byte) error) error {
			return f.log.Read(ctx, after, func(at uint64, rec []byte) error {
				if ends.Swap(false) {
					return errLost
				}
				return each(at, rec)
			})
		}}
		g := newGame(t, alone)
		c := runWorld(g, mustOpen(t, g, l, version("second", true)))
		time.Sleep(time.Second)
		f.slowSave()
		f.a.stop() // its next record is the handoff
		<-f.a.done
		ends.Store(true)
		h := handOff(t.Context(), f.a.World, "second")
		time.Sleep(10 * time.Second)
		failIf(t, ends.Load(), "Read did not fail")
		wantHanded(t, h, nil)
		crash(t, f.a.World)
		c.end(t)
	})
}

// A call that Submit records after the World has lost its lead is refused.
func TestHandoff_RefusesCallsThatBeganBefore(t *testing.T) {
	for to, waits := range map[string]bool{"second": true, "game": false} {
		inBubble(t, to, func(t *testing.T) {
			f := newTrio(t)
			f.drop(f.b)
			d := f.open(func(o *world.Options) { o.Wait = true })
			wantHanded(t, handOff(t.Context(), f.a.World, "game"), nil)
			halts := []*running{f.a}
			if !waits { // else it could be the successor
				f.drop(f.a)
				halts, f.a = nil, d
			}
			c := f.open(version(to, waits))
			begin := make(chan struct{})
			s := submit(t.Context(), d.World, func(q store.Queue) error {
				<-begin
				return d.game.order(1)(q)
			})
			wantHanded(t, handOff(t.Context(), d.World, to), nil)
			equal(t, "waits", d.Status().Waits, waits)
			close(begin)
			time.Sleep(time.Second)
			failIf(t, !s.done, "Submit has not returned")
			wantError(t, s.err, world.ErrNotLeader)
			f.ends(c, 3, halts...)
		})
	}
}
