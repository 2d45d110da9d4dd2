package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// at counts the calls to the disk; 0: never.
type death struct {
	call  int
	fails bool // the call fails; else the process is killed
}

func (x death) String() string {
	switch {
	case x.call == 0:
		return "lives"
	case x.fails:
		return fmt.Sprintf("call %d fails", x.call)
	}
	return fmt.Sprintf("killed at call %d", x.call)
}

type lives struct {
	durable  uint64 // records that must survive a power failure
	appended uint64 // records that may survive
	saved    uint64 // the newest snapshot that must survive
	tries    int    // attempts of a refused call; at least 2
}

// syncModes are the modes of every crash test. Tests call onTimer themselves.
var syncModes = map[string]Sync{"always": Always, "never": Never, "every": Every(time.Hour)}

func (l *lives) live(d *crashDisk, sync Sync, x death, to uint64) error {
	ctx := context.Background()
	if x.fails {
		d.failAt = d.calls + x.call
	} else if x.call > 0 {
		d.stopAt = d.calls + x.call
	}
	defer d.restart()
	o := small(d)
	o.Sync = sync
	j, err := Open("", o)
	if err != nil {
		return err
	}
	defer func() {
		if j.Close() == nil {
			l.durable = max(l.durable, j.tail.seq)
		}
	}()
	l.note(j, j.tail.seq)
	for err == nil && j.accepted() < to {
		at := j.accepted() + 1
		err = l.again(func() error {
			l.appended = max(l.appended, at)
			_, err := j.Append(ctx, at-1, record(at))
			return err
		})
		if err == nil && sync.mode == every && at%3 == 0 {
			j.onTimer()
		}
		if sync.mode != never {
			l.note(j, j.tail.seq)
		}
		if err != nil || at%12 != 0 {
			continue
		}
		if err = l.again(func() error { return save(j, at, fmt.Sprint("state ", at)) }); err == nil {
			l.note(j, at)
			l.saved = at
			err = l.again(func() error {
				if saved, err := j.Snapshots(ctx); err != nil || len(saved) < keptSnapshots {
					return err
				} else {
					return j.Trim(ctx, saved[1])
				}
			})
		}
	}
	return err
}

func (l *lives) note(j *Journal, at uint64) {
	if j.broken == nil {
		l.durable = max(l.durable, at)
	}
}

func (l *lives) again(f func() error) error {
	err := f()
	for n := 1; n < max(l.tries, 2) && errors.Is(err, ErrRefused); n++ {
		err = f()
	}
	return err
}

// mayBeCorrupt allows damage after the durable records.
func (l *lives) check(t *testing.T, d *crashDisk, mayBeCorrupt bool, what func() string) {
	t.Helper()
	ctx := context.Background()
	j, err := Open("", small(d))
	var damage *CorruptError
	if mayBeCorrupt && errors.As(err, &damage) && damage.At > l.durable {
		if _, err := repair(ctx, d, damage.At); err != nil {
			t.Fatalf("%s: repair: %v", what(), err)
		}
		j, err = Open("", small(d))
	}
	if err != nil {
		t.Fatalf("%s: %v; %d records are durable", what(), err, l.durable)
	}
	tail, _ := j.Tail(ctx)
	if tail < l.durable || tail > l.appended {
		t.Fatalf("%s: %d records, of which %d are durable; %d were appended", what(), tail, l.durable, l.appended)
	}
	snapshots, _ := j.Snapshots(ctx)
	if l.saved > 0 && (len(snapshots) == 0 || snapshots[0] < l.saved) {
		t.Fatalf("%s: the snapshots are %d, want %d", what(), snapshots, l.saved)
	}
	var after uint64
	for _, after = range snapshots[:min(len(snapshots), keptSnapshots)] {
		wantSnapshot(t, j, after)
	}
	if n, err := readAll(t, j, after); uint64(n) != tail-after || err != nil {
		t.Fatalf("%s: read %d of %d records past %d: %v", what(), n, tail-after, after, err)
	}
	mustAppend(t, j, tail+1, tail+12)
	mustClose(t, j)
	j = mustOpen(t, small(d))
	if again, _ := j.Tail(ctx); again != tail+12 {
		t.Fatalf("%s: %d records after 12 more than %d", what(), again, tail)
	}
	if _, cut := j.truncated(); cut {
		t.Fatalf("%s: a journal that was closed is cut", what())
	}
	mustClose(t, j)
}

func (l *lives) powerFailure(t *testing.T, d *crashDisk, sync Sync, few bool, what func() string) {
	t.Helper()
	n := d.choices()
	sets := subsets(n, uint64(d.calls))
	if few && len(sets) > 5 {
		sets = append(sets[:2], sets[len(sets)-3:]...)
	}
	for _, kept := range sets {
		l.check(t, d.afterPowerFailure(func(i int) bool { return kept[i] }), sync.mode == never, func() string {
			return fmt.Sprintf("%s, power failure, kept %v", what(), kept)
		})
	}
}

func calls(t *testing.T, sync Sync) int {
	t.Helper()
	d := newCrashDisk()
	noError(t, new(lives).live(d, sync, death{}, units))
	return d.calls
}

func deaths(n int) (all []death) {
	for call := 1; call <= n; call++ {
		if testing.Short() && call%7 != 0 {
			continue
		}
		all = append(all, death{call: call}, death{call: call, fails: true})
	}
	return all
}

func eachMode(t *testing.T, f func(t *testing.T, sync Sync)) {
	for name, sync := range syncModes {
		t.Run(name, func(t *testing.T) { f(t, sync) })
	}
}

func TestPowerFailure_KeepsDurableRecords(t *testing.T) {
	eachMode(t, func(t *testing.T, sync Sync) {
		for _, x := range deaths(calls(t, sync)) {
			d, l := newCrashDisk(), lives{}
			l.live(d, sync, x, units)
			l.powerFailure(t, d, sync, false, x.String)
		}
	})
}

func TestOpen_MakesReadRecordsDurable(t *testing.T) {
	eachMode(t, func(t *testing.T, sync Sync) {
		for _, x := range deaths(calls(t, sync)) {
			for _, more := range []uint64{1, 12} {
				d, l := newCrashDisk(), lives{}
				l.live(d, sync, x, units)
				if err := l.live(d, Always, death{}, l.appended+more); err != nil {
					t.Fatalf("%v, then: %v", x, err)
				}
				l.powerFailure(t, d, Always, true, func() string { return fmt.Sprintf("%v, %d more", x, more) })
			}
		}
	})
}

func TestPowerFailure_SeveralDeathsKeepDurableRecords(t *testing.T) {
	modes := []Sync{Always, Always, Never, Every(time.Hour)}
	r := rand.New(rand.NewPCG(1, 2))
	n := 600
	if testing.Short() {
		n = 150
	}
	for run := range n {
		d, l := newCrashDisk(), lives{}
		var said []string
		what := func() string { return fmt.Sprint("run ", run, ": ", said) }
		for to := uint64(5); to <= 40; to += 1 + r.Uint64N(16) {
			sync := modes[r.IntN(len(modes))]
			x := death{call: 1 + r.IntN(60), fails: r.IntN(2) == 0}
			err := l.live(d, sync, x, l.durable+to)
			said = append(said, fmt.Sprintf("%d %v to %d: %v; ", sync.mode, x, l.durable+to, err))
			if errors.Is(err, ErrCorrupt) {
				t.Fatal(what())
			}
			if sync.mode == never || r.IntN(2) == 0 {
				continue
			}
			seed := r.Uint64()
			kept := rand.New(rand.NewPCG(seed, 0))
			d = d.afterPowerFailure(func(int) bool { return kept.IntN(2) == 0 })
			said = append(said, fmt.Sprintf("power failure %x; ", seed))
		}
		if err := l.live(d, Always, death{}, l.appended+3); err != nil {
			t.Fatal(what(), err)
		}
		l.powerFailure(t, d, Always, true, what)
	}
}

// The unit never reappears past a shorter record.
func TestOpen_RepeatsFailedClear(t *testing.T) {
	options := func(d disk) Options {
		o := small(d)
		o.SegmentBytes = 4 << 10
		return o
	}
	torn := newCrashDisk()
	j := mustOpen(t, options(torn))
	mustAppend(t, j, 1, 3)
	noError(t, errorOf(j.Append(context.Background(), 3, bytes.Repeat([]byte("x"), 2000))))
	end := j.end
	mustClose(t, j)
	torn.files[fileName(1, segmentExt)].bytes[end-9] ^= 1
	for call := 1; ; call++ {
		d := torn.clone()
		d.failAt = call
		j, err := Open("", options(d))
		if err == nil {
			failIf(t, call <= 4, "a cut takes %d calls", call)
			mustClose(t, j)
			return
		}
		d.restart()
		j = mustOpen(t, options(d))
		mustAppend(t, j, 4, 4)
		found := d.afterPowerFailure(func(int) bool { return false })
		j = mustOpen(t, options(found))
		if cut, ok := j.truncated(); ok {
			t.Errorf("call %d fails: cut again: %+v", call, cut)
		}
		wantRecords(t, j, 4)
		mustClose(t, j)
	}
}
