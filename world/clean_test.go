package world_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"handloom/world"
)

// The clock begins at the year 2000 plus later.
func clockBy(t *testing.T, dir string, later time.Duration, n int) (seen []world.Outcome, status world.Status) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(later)
		j := openJournal(t, dir)
		g, w := newWorld(t, alone, j)
		if replayed := len(g.seen); replayed > 0 {
			g.seen = g.seen[replayed-1:]
		}
		for range n {
			steps(t, w, 1)
			time.Sleep(time.Second / 60)
		}
		seen, status = g.seen, w.Status()
		crash(t, w)
	})
	return seen, status
}

// After a jump ahead, ticks are at most 1.5 times as far apart as normal; after a jump back,
// half as far.
func TestTickTime_FollowsAClockThatJumps(t *testing.T) {
	const tick = time.Second / 60
	dir := filepath.Join(t.TempDir(), "log")
	clockBy(t, dir, time.Hour, 10)
	for _, c := range []struct {
		name        string
		clock       time.Duration
		least, most time.Duration // between two ticks
	}{
		{"ahead by a year", 365 * 24 * time.Hour, tick, tick * 3 / 2},
		{"back by an hour and more", 0, tick / 2, tick / 2},
		{"ahead by a day", 24 * time.Hour, tick, tick * 3 / 2},
	} {
		seen, status := clockBy(t, dir, c.clock, 60)
		for i, o := range seen[1:] {
			if d := o.Time.Sub(seen[i].Time); d < c.least || d > c.most {
				t.Fatalf("%s: tick %d is %v after the tick before, want %v to %v", c.name, o.Number, d, c.least, c.most)
			}
		}
		if off := status.ClockOff; (off > 0) != (c.least == tick) || off.Abs() < 50*time.Minute {
			t.Errorf("%s: ClockOff is %v", c.name, off)
		}
		failIf(t, !strings.Contains(status.String(), "off the time of ticks"), "%s: %v", c.name, status)
	}
}

func TestTickTime_ReturnsToTheClock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	clockBy(t, dir, time.Minute, 10)
	for _, clock := range []time.Duration{61 * time.Second, 64 * time.Second, 69 * time.Second} { // ahead, back, ahead by a second
		seen, status := clockBy(t, dir, clock, 4*60)
		last, tick := seen[len(seen)-1].Time, seen[len(seen)-2].Time
		equal(t, fmt.Sprint("ClockOff 4 s after a clock of ", clock), status.ClockOff, 0)
		equal(t, "last tick", last.Sub(tick), time.Second/60)
	}
}
