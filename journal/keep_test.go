package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"
)

// minutes appends 5 records per minute, saves, and trims up to the older snapshot, from record
// at on. It calls each after every minute.
func minutes(t *testing.T, j *Journal, d *crashDisk, at uint64, n int, each func()) {
	t.Helper()
	for range n {
		d.now = d.now.Add(time.Minute)
		mustAppend(t, j, at+1, at+5)
		at += 5
		noError(t, save(j, at, "state"))
		if saved, err := j.Snapshots(t.Context()); err != nil || len(saved) > 1 {
			noError(t, errors.Join(err, j.Trim(t.Context(), saved[1])))
		}
		each()
	}
}

func bytesOf(d *crashDisk, names ...string) (n int64) {
	for _, name := range names {
		n += int64(len(d.files[name].bytes))
	}
	return n
}

// wantHistory reads all records after the oldest snapshot of d.
func wantHistory(t *testing.T, d *crashDisk, tail uint64) (oldest uint64) {
	t.Helper()
	names, _ := d.list()
	j := mustOpen(t, small(d))
	defer mustClose(t, j)
	oldest = numbered(names, snapshotExt)[0]
	wantAfter(t, j, oldest, int(tail-oldest))
	found, err := inspect(d, func(uint64, []byte) error { return nil })
	noError(t, errors.Join(found.Damage, err))
	return oldest
}

func TestKeep_BoundsBytesOfHistory(t *testing.T) {
	const keep, day = 64 << 10, 15 * 60
	d := newCrashDisk()
	o := small(d)
	o.Keep = keep
	j := mustOpen(t, o)
	var most int64
	at := uint64(0)
	minutes(t, j, d, 0, day, func() {
		at += 5
		saved, err := j.Snapshots(t.Context())
		noError(t, err)
		history := int64(0)
		for _, at := range saved[min(2, len(saved)):] {
			history += bytesOf(d, fileName(at, snapshotExt))
		}
		for _, s := range j.trimmable(saved[min(1, len(saved)-1)]) {
			history += bytesOf(d, fileName(s.first, segmentExt))
		}
		if most = max(most, history); history > keep {
			t.Fatalf("record %d: history has %d bytes", at, history)
		}
		if at%200 == 0 {
			for _, kept := range subsets(d.choices(), at) {
				wantHistory(t, d.afterPowerFailure(func(i int) bool { return kept[i] }), at)
			}
		}
	})
	failIf(t, most < keep*3/4, "history never has more than %d bytes of %d", most, keep)
	mustClose(t, j)
	if oldest := wantHistory(t, d, at); oldest >= at-100 {
		t.Errorf("the oldest snapshot has record %d of %d", oldest, at)
	}
}

func TestKeep_SpacesOldSnapshots(t *testing.T) {
	d := newCrashDisk()
	o := small(d)
	o.Keep = 1 << 40
	j := mustOpen(t, o)
	d.now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	minutes(t, j, d, 0, 13*60, func() {})
	mustClose(t, j)
	wantHistory(t, d, 13*60*5)
	var got []time.Duration // ages of the snapshots except the newest two
	names, _ := d.list()
	saved := numbered(names, snapshotExt)
	for _, at := range saved[:len(saved)-keptSnapshots] {
		got = append(got, d.now.Sub(d.files[fileName(at, snapshotExt)].changed))
	}
	var want []time.Duration
	for _, at := range []time.Duration{0, 6} {
		want = append(want, 13*time.Hour-at*time.Hour-max(0, time.Minute*(1-at)))
	}
	for age := 6 * time.Hour; age > 0; age -= 10 * time.Minute {
		want = append(want, age)
	}
	if !slices.Equal(got, want) {
		t.Errorf("ages: got %v, want %v", got, want)
	}
}

func TestArchive_ExtendsHistory(t *testing.T) {
	archived, disk := newCrashDisk(), newCrashDisk()
	down := errors.New("no bucket")
	failing := false
	o := small(disk)
	o.Keep = 4 << 10
	o.Archive = func(_ context.Context, name string, r io.Reader) error {
		if failing {
			return down
		}
		b, err := io.ReadAll(r)
		archived.files[name] = archived.newFile(b)
		return err
	}
	j := mustOpen(t, o)
	minutes(t, j, disk, 0, 100, func() {})

	failing = true
	mustAppend(t, j, 501, 600)
	noError(t, save(j, 540, "state"))
	noError(t, save(j, 600, "state"))
	before, _ := disk.list()
	for range 2 {
		wantError(t, j.Trim(t.Context(), 540), ErrRefused, down)
	}
	after, _ := disk.list()
	failIf(t, !slices.Equal(before, after), "a failed Archive removes files: %v, then %v", before, after)
	failing = false
	noError(t, j.Trim(t.Context(), 540))
	mustClose(t, j)
	after, _ = disk.list()
	failIf(t, len(after) >= len(before), "Trim removes nothing once Archive works")

	copied := disk.clone()
	for name, f := range archived.files {
		failIf(t, copied.files[name] != nil, "%s is archived and not removed", name)
		copied.files[name] = f
	}
	if oldest := wantHistory(t, copied, 600); oldest != 5 {
		t.Errorf("the oldest snapshot has record %d", oldest)
	}
	k := mustOpen(t, small(copied))
	wantRecords(t, k, 600)
	mustClose(t, k)
}

// A file that cannot be removed stays readable, and a later Trim removes it.
func TestTrim_FailedRemovalIsRepeated(t *testing.T) {
	for call := 1; call <= 8; call++ {
		d := newCrashDisk()
		j := savedAt(t, d, 60, 80)
		d.failAt = d.calls + call
		if err := j.Trim(t.Context(), 60); err != nil {
			wantError(t, err, ErrRefused)
			left, _ := d.list()
			wantAfter(t, j, j.segments[0]-1, int(101-j.segments[0]))
			failIf(t, numbered(left, segmentExt)[0] != j.segments[0], "call %d: a file is left that nobody reads", call)
		}
		noError(t, j.Trim(t.Context(), 60))
		names, _ := d.list()
		failIf(t, numbered(names, segmentExt)[1] <= 60, "call %d: files are left: %v", call, names)
		mustClose(t, j)
	}
}

// kept is the files of a journal, ascending, by a model of Trim. all has every file.
type kept struct {
	all             *crashDisk
	saved, segments []uint64
}

// history returns the bytes of the history without its first n snapshots, and the number of
// segments without a record after it.
func (k *kept) history(n int, through uint64) (bytes int64, first int) {
	old := len(k.saved) - keptSnapshots
	for _, at := range k.saved[n:old] {
		bytes += bytesOf(k.all, fileName(at, snapshotExt))
	}
	for i, next := range k.segments[1:] {
		switch {
		case next-1 > through:
			return bytes, first
		case next-1 <= k.saved[n]:
			first = i + 1
		default:
			bytes += bytesOf(k.all, fileName(k.segments[i], segmentExt))
		}
	}
	return bytes, first
}

func (k *kept) trim(keep int64, through uint64) {
	old := len(k.saved) - keptSnapshots
	for n := 0; ; n++ {
		if bytes, first := k.history(n, through); n == old || keep > 0 && bytes <= keep {
			k.saved, k.segments = k.saved[n:], k.segments[first:]
			return
		}
	}
}

// Readers may begin at every snapshot that is left, and nothing else is.
func TestTrim_KeepsHistoryAtEverySegmentEnd(t *testing.T) {
	const tail, newest = 100, 95
	all := newCrashDisk()
	o := small(all)
	o.Keep = 1 << 40
	j := mustOpen(t, o)
	mustAppend(t, j, 1, tail)
	for at := uint64(5); at <= newest; at += 3 + at/4 {
		all.now = all.now.Add(11 * time.Minute)
		noError(t, save(j, at, fmt.Sprint("state ", at)))
	}
	mustClose(t, j)
	names, _ := all.list()
	whole := kept{all, numbered(names, snapshotExt), numbered(names, segmentExt)}
	second := whole.saved[len(whole.saved)-keptSnapshots]
	keeps := []int64{0}
	for n := range whole.saved[keptSnapshots:] {
		bytes, _ := whole.history(n, second)
		keeps = append(keeps, bytes-1, bytes)
	}
	for i, keep := range keeps {
		if testing.Short() && i%5 != 2 {
			continue
		}
		d, k, archived := all.clone(), whole, 0
		o := small(d)
		o.Keep = keep
		o.Archive = func(context.Context, string, io.Reader) error { archived++; return nil }
		before, _ := d.list()
		for _, at := range []uint64{6, second - 1, second + 1} {
			d.files[fileName(at, rejectedExt)] = d.newFile(nil)
		}
		j, reader := mustOpen(t, o), mustOpenRead(t, d)
		for end := 1; end < len(whole.segments); end += 1 + i%3 {
			through := whole.segments[end] - 1 + uint64((i+end)%3) - 1
			if through > second {
				wantError(t, j.Trim(t.Context(), through), ErrRefused)
				through = second
			}
			noError(t, j.Trim(t.Context(), through))
			k.trim(keep, through)
			names, _ := d.list()
			if saved, segments := numbered(names, snapshotExt), numbered(names, segmentExt); !slices.Equal(saved, k.saved) || !slices.Equal(segments, k.segments) {
				t.Fatalf("Keep %d, Trim(%d): snapshots %d, segments %d, want %d and %d", keep, through, saved, segments, k.saved, k.segments)
			}
			equal(t, "archived files", archived, len(before)+1-len(names))
			failIf(t, !slices.Equal(numbered(names, rejectedExt), []uint64{second + 1}), "Keep %d, Trim(%d): files %v", keep, through, names)
			for _, j := range []*Journal{j, reader} {
				for _, at := range k.saved {
					wantSnapshot(t, j, at)
					wantAfter(t, j, at, tail-int(at))
				}
				if first := k.segments[0]; first > 1 {
					wantAfter(t, j, first-1, tail-int(first)+1)
					wantError(t, errorOf(readAll(t, j, first-2)), ErrTrimmed)
				}
			}
		}
		mustClose(t, reader)
		mustClose(t, j)
		j = mustOpen(t, o)
		wantAfter(t, j, k.saved[0], tail-int(k.saved[0]))
		mustClose(t, j)
	}
}
