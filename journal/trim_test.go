package journal

import (
	"context"
	"errors"
	"testing"
)

func TestTrim_NeedsDurableSnapshotNames(t *testing.T) {
	ctx := context.Background()
	d := newCrashDisk()
	j := savedAt(t, d)
	for _, at := range []uint64{60, 80} {
		calls := d.calls
		d.failAt = d.calls + 4 // after create, write, sync and rename
		if d.failAt++; !errors.Is(save(j, at, "state"), ErrRefused) {
			t.Fatalf("Save of record %d took %d calls", at, d.calls-calls)
		}
	}
	wantSaved(t, j, 80, 60)
	d.failAt = d.calls + 1
	wantError(t, j.Trim(ctx, 60), ErrRefused)
	noError(t, j.Trim(ctx, 60))
	for _, kept := range subsets(d.choices(), 1) {
		found := d.afterPowerFailure(func(i int) bool { return kept[i] })
		j := mustOpen(t, small(found))
		wantSaved(t, j, 80, 60)
		wantAfter(t, j, 60, 40)
		mustClose(t, j)
	}
	mustClose(t, j)
}

func TestOpen_ReadsFromTheOlderSnapshot(t *testing.T) {
	d := newCrashDisk()
	j := savedAt(t, d, 30, 60)
	noError(t, j.Trim(context.Background(), 30))
	// segments with records between the two snapshots only
	var names []string
	for i, first := range j.segments[:len(j.segments)-1] {
		if first > 30 && j.segments[i+1]-1 <= 60 {
			names = append(names, fileName(first, segmentExt))
		}
	}
	mustClose(t, j)
	if len(names) == 0 {
		t.Fatal("no segment is between the snapshots")
	}
	for _, name := range names {
		c, err := openCursor(d, numbered([]string{name}, segmentExt)[0])
		for err == nil {
			_, err = c.next()
		}
		for at := range c.offset {
			d.files[name].bytes[at] ^= 0x10
			if _, err := Open("", small(d)); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("%s, byte %d: %v", name, at, err)
			}
			d.files[name].bytes[at] ^= 0x10
		}
	}
	mustClose(t, mustOpen(t, small(d)))
}
