package journal

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"handloom/internal/entrance"
)

func contents(t *testing.T, d disk) (entrance.Contents, uint64) {
	t.Helper()
	n := uint64(0)
	found, err := inspect(d, func(at uint64, rec []byte) error {
		if n++; at != n || string(rec) != string(record(at)) {
			t.Fatalf("record %d is %q", at, rec)
		}
		return nil
	})
	noError(t, err)
	return found, n
}

func TestInspect_ReadsAllAndChangesNothing(t *testing.T) {
	d, segments, end := fifty(t)
	calls := d.calls
	found, n := contents(t, d)
	failIf(t, n != units || found.Damage != nil || found.TornTail != "" || d.calls != calls, "%d records, %+v, %d calls", n, found, d.calls-calls)
	for i, s := range found.Segments {
		failIf(t, s.File != segments[i] || i > 0 && s.First != found.Segments[i-1].Last+1 || s.Bytes < minSegment, "segment %d is %+v", i, s)
	}
	last := found.Segments[len(segments)-1]
	failIf(t, len(found.Segments) != len(segments) || last.Last != units || last.Used != end, "the last segment is %+v; want %d records and %d bytes", last, units, end)
	wantError(t, errorOf(inspect(d, func(uint64, []byte) error { return errEnough })), errEnough)
	d = newCrashDisk()
	mustClose(t, savedAt(t, d, 4, 7))
	if found, _ := contents(t, d); !slices.Equal(found.Snapshots, []uint64{4, 7}) {
		t.Errorf("snapshots %v, want [4 7]", found.Snapshots)
	}
	failIf(t, errorOf(inspectFolder(filepath.Join(t.TempDir(), "none"), func(uint64, []byte) error { return nil })) == nil, "a missing folder is inspected")
}

func TestInspect_WhileRecordsAreAppended(t *testing.T) {
	dir := t.TempDir()
	j := mustOpenDir(t, dir, Options{Sync: Never, SegmentBytes: 1 << 20})
	ended, last := make(chan error), uint64(30_000)
	if testing.Short() {
		last = 5000
	}
	go func() {
		var err error
		for at := uint64(1); at <= last && err == nil; at++ {
			_, err = j.Append(context.Background(), at-1, record(at))
		}
		ended <- err
	}()
	for running := true; running; {
		select {
		case err := <-ended:
			running = false
			noError(t, err)
		default:
		}
		before, _ := j.Tail(context.Background())
		n := uint64(0)
		found, err := inspectFolder(dir, func(at uint64, rec []byte) error {
			if n++; at != n || string(rec) != string(record(at)) {
				t.Fatalf("record %d is %q", at, rec)
			}
			return nil
		})
		if err != nil || found.Damage != nil || n < before {
			t.Fatalf("%d records of %d, %v, %v", n, before, found.Damage, err)
		}
	}
	mustClose(t, j)
}

// Files that come and go while the folder is read are no damage, and records are read once.
func TestInspect_WhileListChanges(t *testing.T) {
	d := newCrashDisk()
	j := savedAt(t, d, 60, 80)
	lists := 0
	missed := fileName(j.segments[1], segmentExt)
	began := listDisk{d, func() []string {
		if lists++; lists <= 2 {
			return []string{missed}
		}
		return nil
	}}
	found, n := contents(t, began)
	failIf(t, found.Damage != nil || n != 100, "a segment began: %d records, %v", n, found.Damage)
	last, trimmed := uint64(0), false
	found, err := inspect(d, func(at uint64, rec []byte) error {
		failIf(t, at <= last || string(rec) != string(record(at)), "record %d after %d is %q", at, last, rec)
		if last = at; !trimmed {
			trimmed = true
			return j.Trim(t.Context(), 60)
		}
		return nil
	})
	failIf(t, err != nil || found.Damage != nil || last != 100, "trimmed: %d records, %v, %v", last, found.Damage, err)
	mustClose(t, j)
}
