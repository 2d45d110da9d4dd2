package journal

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestRepairEndsTheJournalAndDeletesNothing damages each record in turn, ends the
// journal before it, and goes on.
func TestRepairEndsTheJournalAndDeletesNothing(t *testing.T) {
	ctx := context.Background()
	whole, segments, _ := fifty(t)
	for from := uint64(1); from <= units; from++ {
		d := whole.clone()
		moved, err := repair(ctx, d, from)
		if err != nil {
			t.Fatal(err)
		}
		j := mustOpen(t, small(d))
		wantRecords(t, j, int(from-1))
		if _, cut := j.WasCut(); cut {
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

func TestRepairOfDamage(t *testing.T) {
	whole, segments, _ := fifty(t)
	for name, at := range map[string]int{"a unit": segmentHead + 40, "a header": 3} {
		d := whole.clone()
		d.files[segments[2]].bytes[at] ^= 1
		_, err := Open("", small(d))
		var c *CorruptError
		if !errors.As(err, &c) {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := repair(context.Background(), d, c.At); err != nil {
			t.Fatal(err)
		}
		j := mustOpen(t, small(d))
		wantRecords(t, j, int(c.At-1))
		mustClose(t, j)
	}
}

func TestRepairInAFolder(t *testing.T) {
	dir := t.TempDir()
	o := Options{SegmentBytes: leastSegment}
	j, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, j, 1, 60)
	mustClose(t, j)
	moved, err := Repair(context.Background(), dir, 20)
	if err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(filepath.Join(dir, moved)); len(entries) == 0 || err != nil {
		t.Errorf("%d files in %s, %v", len(entries), moved, err)
	}
	if j, err = Open(dir, o); err != nil {
		t.Fatal(err)
	}
	wantRecords(t, j, 19)
	mustClose(t, j)
	for _, from := range []uint64{0, 1 << 40} {
		if _, err := Repair(context.Background(), dir, from); err == nil && from == 0 {
			t.Errorf("Repair from %d", from)
		}
	}
}
