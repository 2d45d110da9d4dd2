package journal

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestRepair_EndsJournalAndDeletesNothing(t *testing.T) {
	ctx := context.Background()
	whole, segments, _ := fifty(t)
	for from := uint64(1); from <= units; from++ {
		d := whole.clone()
		moved, err := repair(ctx, d, from)
		noError(t, err)
		j := mustOpen(t, small(d))
		wantRecords(t, j, int(from-1))
		if _, cut := j.truncated(); cut {
			t.Error("what Repair left is cut")
		}
		mustAppend(t, j, from, from+3)
		mustClose(t, j)
		j = mustOpen(t, small(d))
		wantRecords(t, j, int(from+3))
		mustClose(t, j)
		for _, name := range segments {
			kept, aside := d.files[name], d.files[moved+"/"+name]
			if aside == nil && (kept == nil || !slices.Equal(kept.bytes, whole.files[name].bytes)) || aside != nil && !slices.Equal(aside.bytes, whole.files[name].bytes) {
				t.Fatalf("from %d: %s is lost", from, name)
			}
		}
	}
}

func TestRepair_OnOperatingSystem(t *testing.T) {
	dir := t.TempDir()
	o := Options{SegmentBytes: minSegment}
	j := mustOpenDir(t, dir, o)
	mustAppend(t, j, 1, 60)
	mustClose(t, j)
	for from := uint64(1); from <= 20; from++ {
		moved, cut, err := planRepair(dir, from)
		noError(t, err)
		after, _ := slices.BinarySearch(j.segments, from+1)
		equal(t, fmt.Sprint("the file that Repair from ", from, " cuts"), cut, fileName(j.segments[after-1], segmentExt))
		equal(t, "number of files that it moves", len(moved), len(j.segments)-after)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	wantError(t, errorOf(Repair(ended, dir, 20)), context.Canceled)
	moved, err := Repair(context.Background(), dir, 20)
	noError(t, err)
	if entries, err := os.ReadDir(filepath.Join(dir, moved)); len(entries) == 0 || err != nil {
		t.Errorf("%d files in %s, %v", len(entries), moved, err)
	}
	j = mustOpenDir(t, dir, o)
	wantRecords(t, j, 19)
	mustClose(t, j)
	failIf(t, errorOf(Repair(context.Background(), dir, 0)) == nil, "Repair from record 0 succeeds")
}

func TestRepair_SurvivesAPowerFailure(t *testing.T) {
	ctx := context.Background()
	whole, segments, _ := fifty(t)
	firsts := numbered(segments, segmentExt)
	for _, from := range []uint64{4, firsts[1], units} {
		i, found := slices.BinarySearch(firsts, from)
		if !found {
			i--
		}
		ended := whole.files[segments[i]].bytes
		n := whole.clone()
		noError(t, errorOf(repair(ctx, n, from)))
		check := func(d *crashDisk, what string) {
			t.Helper()
			isEnded := func(f *crashFile) bool { return slices.Equal(f.bytes, ended) }
			if !slices.ContainsFunc(slices.Collect(maps.Values(d.files)), isEnded) {
				t.Fatalf("from %d, %s: %s is lost", from, what, segments[i])
			}
			j, err := Open("", small(d))
			if err != nil {
				t.Fatalf("from %d, %s: %v", from, what, err)
			}
			wantRecords(t, j, int(from-1))
			mustAppend(t, j, from, from+12)
			mustClose(t, j)
		}
		for _, x := range deaths(n.calls + 1) {
			d := whole.clone()
			if x.fails {
				d.failAt = x.call
			} else {
				d.stopAt = x.call
			}
			_, err := repair(ctx, d, from)
			if (err == nil) != (x.call > n.calls) {
				t.Fatalf("from %d, %v: %v", from, x, err)
			}
			d.restart()
			for k, kept := range subsets(d.choices(), uint64(x.call)) {
				found := d.afterPowerFailure(func(i int) bool { return kept[i] })
				if err != nil {
					if _, err := repair(ctx, found, from); err != nil {
						t.Fatalf("from %d, %v, kept %v, again: %v", from, x, kept, err)
					}
				}
				check(found.afterPowerFailure(func(int) bool { return k%2 == 0 }), fmt.Sprint(x, kept))
			}
			if err != nil {
				if _, err := repair(ctx, d, from); err != nil {
					t.Fatalf("from %d, %v, again: %v", from, x, err)
				}
			}
			check(d.afterPowerFailure(func(int) bool { return false }), fmt.Sprint(x, " without a reboot"))
		}
	}
}

// If it is the only one, the journal continues from a snapshot.
func TestRepair_LeavesOneSegment(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		saved []uint64
		trim  uint64
		ok    bool
	}{
		"from the first record":   {nil, 0, true},
		"past a genesis snapshot": {[]uint64{0}, 0, true},
		"past trimmed records":    {[]uint64{60, 80}, 60, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := newCrashDisk()
			j := savedAt(t, d, c.saved...)
			if c.trim > 0 {
				noError(t, j.Trim(ctx, c.trim))
			}
			first := j.segments[0]
			mustClose(t, j)
			d.files[fileName(first, segmentExt)].bytes[3] ^= 1
			before := len(d.files)
			_, err := repair(ctx, d, first)
			equal(t, fmt.Sprint("Repair before record ", first, " succeeds"), err == nil, c.ok)
			if !c.ok {
				names, _ := d.list()
				failIf(t, len(names) != before, "a repair that is refused changes the folder: %q", names)
				return
			}
			d = d.afterPowerFailure(func(int) bool { return false })
			j = mustOpen(t, small(d))
			wantRecords(t, j, int(first-1))
			mustAppend(t, j, first, first+30)
			mustClose(t, j)
		})
	}
}
