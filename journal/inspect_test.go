package journal

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// contents are what Inspect finds on d, and the records.
func contents(t *testing.T, d disk) (Contents, uint64) {
	t.Helper()
	n := uint64(0)
	found, err := inspect(d, func(at uint64, rec []byte) error {
		if n++; at != n || string(rec) != string(record(at)) {
			t.Fatalf("record %d is %q", at, rec)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found, n
}

func TestInspectReadsAllAndChangesNothing(t *testing.T) {
	d, segments, end := fifty(t)
	calls := d.calls
	found, n := contents(t, d)
	if n != units || found.Damage != nil || found.Cut != nil || d.calls != calls {
		t.Errorf("%d records, %+v, %d calls", n, found, d.calls-calls)
	}
	for i, s := range found.Segments {
		if s.File != segments[i] || i > 0 && s.First != found.Segments[i-1].Last+1 || s.Bytes < leastSegment {
			t.Errorf("segment %d is %+v", i, s)
		}
	}
	if last := found.Segments[len(segments)-1]; len(found.Segments) != len(segments) || last.Last != units || last.Used != end {
		t.Errorf("the last segment is %+v; want %d records and %d bytes", last, units, end)
	}
	enough := errors.New("enough")
	if _, err := inspect(d, func(uint64, []byte) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("Inspect = %v", err)
	}
}

// Whatever bit is flipped, Inspect says what Open says.
func TestInspectFindsWhatOpenFinds(t *testing.T) {
	whole, segments, _ := fifty(t)
	corrupt, cuts := 0, 0
	for _, name := range segments {
		for at := 0; at < len(whole.files[name].bytes); at += 3 {
			d := whole.clone()
			d.files[name].bytes[at] ^= 1 << (at % 8)
			found, n := contents(t, d)
			calls := d.calls
			j, err := Open("", small(d))
			if (err != nil) != (found.Damage != nil) || err != nil && err.Error() != found.Damage.Error() {
				t.Fatalf("%s, byte %d: Open says %v, Inspect %v", name, at, err, found.Damage)
			}
			if err != nil {
				corrupt++
				continue
			}
			cut, ok := j.WasCut()
			if ok != (found.Cut != nil) || ok && cut != *found.Cut {
				t.Fatalf("%s, byte %d: Open cuts %+v, Inspect says %+v", name, at, cut, found.Cut)
			}
			if ok {
				cuts++
			}
			if tail, _ := j.Tail(context.Background()); tail != n || d.calls == calls && ok {
				t.Fatalf("%s, byte %d: %d records, and Inspect reads %d", name, at, tail, n)
			}
			mustClose(t, j)
		}
	}
	if corrupt == 0 || cuts == 0 {
		t.Errorf("%d were corrupt, %d cut", corrupt, cuts)
	}
}

func TestInspectTellsSnapshots(t *testing.T) {
	d := newCrashDisk()
	j := mustOpen(t, small(d))
	mustAppend(t, j, 1, 9)
	for _, at := range []uint64{4, 7} {
		if err := save(j, at, "state"); err != nil {
			t.Fatal(err)
		}
	}
	if found, n := contents(t, d); n != 9 || !slices.Equal(found.Snapshots, []uint64{4, 7}) {
		t.Errorf("%d records, %+v", n, found)
	}
	mustClose(t, j)
	if _, err := Inspect(t.TempDir()+"/none", func(uint64, []byte) error { return nil }); err == nil {
		t.Error("a folder that is not there is inspected")
	}
}

// Inspect of a journal that is written meanwhile finds no damage and skips no record.
func TestInspect_WhileRecordsAreAppended(t *testing.T) {
	dir := t.TempDir()
	j, err := Open(dir, Options{Sync: Never, SegmentBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		var err error
		for at := uint64(1); at <= 30_000 && err == nil; at++ {
			_, err = j.Append(context.Background(), at-1, record(at))
		}
		ended <- err
	}()
	for running := true; running; {
		select {
		case err := <-ended:
			if running = false; err != nil {
				t.Fatal(err)
			}
		default:
		}
		before, _ := j.Tail(context.Background())
		n := uint64(0)
		found, err := Inspect(dir, func(at uint64, rec []byte) error {
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
