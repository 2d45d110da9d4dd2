package journal

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestWhatWasAppendedIsReadBack(t *testing.T) {
	for name, sync := range map[string]Sync{"always": Always, "never": Never, "every": Every(time.Hour)} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "log")
			o := Options{Sync: sync, SegmentBytes: leastSegment}
			for n := range uint64(4) {
				j, err := Open(dir, o)
				if err != nil {
					t.Fatal(err)
				}
				mustAppend(t, j, n*40+1, n*40+40)
				mustClose(t, j)
				if j, err = Open(dir, o); err != nil {
					t.Fatal(err)
				}
				wantRecords(t, j, int(n*40+40))
				if _, cut := j.WasCut(); cut {
					t.Error("a closed journal was cut")
				}
				mustClose(t, j)
			}
		})
	}
}

func TestARecordMayBeEmptyOrLargerThanASegment(t *testing.T) {
	dir := t.TempDir()
	j, err := Open(dir, Options{SegmentBytes: leastSegment})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	recs := [][]byte{{}, bytes.Repeat([]byte("x"), 3*leastSegment), {}, bytes.Repeat([]byte("y"), leastSegment-segmentHead-unitHead-4), {1}}
	for i, rec := range recs {
		if _, err := j.Append(ctx, uint64(i), rec); err != nil {
			t.Fatal(err)
		}
	}
	mustClose(t, j)
	if j, err = Open(dir, Options{SegmentBytes: leastSegment}); err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	var got [][]byte
	err = j.Read(ctx, 0, func(at uint64, rec []byte) error {
		if got = append(got, slices.Clone(rec)); len(got) == len(recs) {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) || !slices.EqualFunc(got, recs, bytes.Equal) {
		t.Errorf("read %d records, %v", len(got), err)
	}
}

func TestAppendRefusesWhatItCannotKeep(t *testing.T) {
	j := mustOpen(t, small(newCrashDisk()))
	mustAppend(t, j, 1, 3)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		prev uint64
		rec  []byte
		want error
	}{
		{"behind an older record", context.Background(), 2, nil, ErrFenced},
		{"behind a record to come", context.Background(), 4, nil, ErrFenced},
		{"too large", context.Background(), 3, make([]byte, mostRecord+1), ErrRefused},
		{"too late", ended, 3, nil, ErrRefused},
	} {
		if _, err := j.Append(c.ctx, c.prev, c.rec); !errors.Is(err, c.want) {
			t.Errorf("%s: %v; want %v", c.name, err, c.want)
		}
	}
	mustAppend(t, j, 4, 4)
	mustClose(t, j)
	if _, err := j.Append(context.Background(), 4, nil); !errors.Is(err, ErrBroken) {
		t.Errorf("after Close: %v", err)
	}
	mustClose(t, j)
}

func TestOneProcessHasTheFolder(t *testing.T) {
	dir := t.TempDir()
	j, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrLocked) {
		t.Errorf("a second Open: %v", err)
	}
	if _, err := Repair(context.Background(), dir, 1); !errors.Is(err, ErrLocked) {
		t.Errorf("Repair of an open journal: %v", err)
	}
	mustClose(t, j)
	j, err = Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	mustClose(t, j)
}

func TestOptionsThatMakeNoSense(t *testing.T) {
	for _, o := range []Options{{SegmentBytes: 100}, {SegmentBytes: -1}, {Sync: Every(0)}, {Sync: Every(-1)}} {
		if j, err := Open(t.TempDir(), o); err == nil {
			j.Close()
			t.Errorf("Open accepts %+v", o)
		}
	}
}

func TestReadFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := mustOpen(t, small(newCrashDisk()))
		mustAppend(t, j, 1, 10)
		ctx, cancel := context.WithCancel(context.Background())
		var read []uint64
		done := make(chan error)
		go func() {
			done <- j.Read(ctx, 4, func(at uint64, rec []byte) error {
				if !bytes.Equal(rec, record(at)) {
					t.Errorf("record %d is %q", at, rec)
				}
				read = append(read, at)
				return nil
			})
		}()
		for at := uint64(11); at <= 100; at++ {
			mustAppend(t, j, at, at)
			synctest.Wait()
			if n := len(read); uint64(n) != at-4 || read[n-1] != at {
				t.Fatalf("after record %d %v were read", at, read)
			}
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Read = %v", err)
		}
		go func() { done <- j.Read(context.Background(), 100, func(uint64, []byte) error { return nil }) }()
		synctest.Wait()
		mustClose(t, j)
		if err := <-done; !errors.Is(err, ErrBroken) {
			t.Errorf("Read of a journal that was closed = %v", err)
		}
	})
}

func TestReadFromBeyondTheEndIsRefused(t *testing.T) {
	j := mustOpen(t, small(newCrashDisk()))
	defer j.Close()
	mustAppend(t, j, 1, 3)
	if err := j.Read(context.Background(), 4, func(uint64, []byte) error { return nil }); !errors.Is(err, ErrRefused) {
		t.Errorf("Read = %v", err)
	}
}

func TestRecordsWaitForTheirTimeAndAreWrittenAsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newCrashDisk()
		o := small(d)
		o.Sync = Every(time.Second)
		j := mustOpen(t, o)
		before := d.calls
		mustAppend(t, j, 1, 5)
		if d.calls != before {
			t.Errorf("%d calls before the time came", d.calls-before)
		}
		if tail, _ := j.Tail(context.Background()); tail != 5 {
			t.Errorf("Tail = %d", tail)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got := d.calls - before; got != 2 {
			t.Errorf("five records took %d calls; want one write and one sync", got)
		}
		wantRecords(t, j, 5)
		if err := j.Read(context.Background(), 2, func(at uint64, _ []byte) error {
			if at != 3 {
				t.Errorf("the first record behind 2 is %d", at)
			}
			return errEnough
		}); !errors.Is(err, errEnough) {
			t.Error(err)
		}
		mustAppend(t, j, 6, 7)
		mustClose(t, j)
		j = mustOpen(t, o)
		wantRecords(t, j, 7)
		mustClose(t, j)
	})
}

// Records that wait for their time are written before they are 1 MiB.
func TestEvery_BoundsWaitingBytes(t *testing.T) {
	o := small(newCrashDisk())
	o.Sync = Every(time.Hour)
	j := mustOpen(t, o)
	rec := make([]byte, mostWaiting*2/3)
	for at := range uint64(4) {
		if _, err := j.Append(context.Background(), at, rec); err != nil {
			t.Fatal(err)
		}
		if written, _, _ := j.written(); written != at {
			t.Errorf("%d of %d records are written, want all but one", written, at+1)
		}
	}
	mustClose(t, j)
}

// Records that could not be written when their time came are written before Append
// takes another one.
func TestEvery_WritesRefusedRecordsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := false // while it is, no file can be made
		o := small(&fullTable{crashDisk: newCrashDisk(), full: func(int) bool { return full }})
		o.Sync = Every(time.Second)
		j := mustOpen(t, o)
		if _, err := j.Append(context.Background(), 0, bytes.Repeat([]byte("x"), leastSegment-100)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // the first segment is full now, and another one prepared
		synctest.Wait()
		if _, err := j.Append(context.Background(), 1, make([]byte, 2*leastSegment)); err != nil {
			t.Fatal(err)
		}
		setFull := func(is bool) {
			j.mu.Lock()
			defer j.mu.Unlock()
			full = is
		}
		setFull(true)
		time.Sleep(time.Second)
		synctest.Wait()
		if _, err := j.Append(context.Background(), 2, []byte("z")); !errors.Is(err, ErrRefused) {
			t.Errorf("Append while the disk is full: %v", err)
		}
		setFull(false)
		if at, err := j.Append(context.Background(), 2, []byte("z")); at != 3 || err != nil {
			t.Errorf("Append after the disk has room again = %d, %v", at, err)
		}
		if written, _, _ := j.written(); written != 2 {
			t.Errorf("%d records are written when Append takes another one, want 2", written)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if written, _, _ := j.written(); written != 3 {
			t.Errorf("%d records are written in time, want 3", written)
		}
		mustClose(t, j)
		j = mustOpen(t, o)
		if tail, _ := j.Tail(context.Background()); tail != 3 {
			t.Errorf("%d records are kept", tail)
		}
		mustClose(t, j)
	})
}

func save(j *Journal, at uint64, text string) error {
	return j.Save(context.Background(), at, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

func TestTwoSnapshotsAreKept(t *testing.T) {
	ctx := context.Background()
	j := mustOpen(t, small(newCrashDisk()))
	defer j.Close()
	if err := save(j, 0, "genesis"); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, j, 1, 9)
	if err := save(j, 10, "ahead"); !errors.Is(err, ErrRefused) {
		t.Errorf("a snapshot ahead of the records: %v", err)
	}
	broken := errors.New("broken")
	if err := j.Save(ctx, 9, func(io.Writer) error { return broken }); !errors.Is(err, broken) || !errors.Is(err, ErrRefused) {
		t.Errorf("a snapshot that cannot be written: %v", err)
	}
	for _, at := range []uint64{3, 7, 9} {
		if err := save(j, at, "state"); err != nil {
			t.Fatal(err)
		}
	}
	saved, err := j.Saved(ctx)
	if err != nil || !slices.Equal(saved, []uint64{9, 7}) {
		t.Errorf("Saved = %v, %v", saved, err)
	}
	r, err := j.Load(ctx, 7)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(r); string(b) != "state" || err != nil {
		t.Errorf("Load reads %q, %v", b, err)
	}
	r.Close()
	if _, err := j.Load(ctx, 3); !errors.Is(err, errNoSnapshot) {
		t.Errorf("Load of a snapshot that is gone: %v", err)
	}
}

func TestTrimGivesBackWhatNoRecoveryReads(t *testing.T) {
	ctx := context.Background()
	d := newCrashDisk()
	j := mustOpen(t, small(d))
	mustAppend(t, j, 1, 60)
	if err := j.Trim(ctx, 30); !errors.Is(err, ErrRefused) {
		t.Errorf("without a snapshot: %v", err)
	}
	for _, at := range []uint64{30, 50} {
		if err := save(j, at, "state"); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Trim(ctx, 31); !errors.Is(err, ErrRefused) {
		t.Errorf("behind the older snapshot: %v", err)
	}
	if err := j.Trim(ctx, 30); err != nil {
		t.Fatal(err)
	}
	if err := j.Read(ctx, 0, func(uint64, []byte) error { return nil }); !errors.Is(err, ErrTrimmed) {
		t.Errorf("Read of what is trimmed: %v", err)
	}
	if n, err := readAll(t, j, 30); n != 30 || err != nil {
		t.Errorf("read %d, %v", n, err)
	}
	mustClose(t, j)
	j = mustOpen(t, small(d))
	if n, err := readAll(t, j, 30); n != 30 || err != nil {
		t.Errorf("opened again: read %d, %v", n, err)
	}
	mustClose(t, j)
}

// TestAFileThatATrimLeftIsNoGap removes segments out of order, as a power failure
// may.
func TestAFileThatATrimLeftIsNoGap(t *testing.T) {
	d := newCrashDisk()
	j := mustOpen(t, small(d))
	mustAppend(t, j, 1, 100)
	for _, at := range []uint64{80, 90} {
		if err := save(j, at, "state"); err != nil {
			t.Fatal(err)
		}
	}
	mustClose(t, j)
	names, _ := d.list()
	delete(d.files, fileName(numbered(names, segmentExt)[1], segmentExt))
	j = mustOpen(t, small(d))
	if n, err := readAll(t, j, 80); n != 20 || err != nil {
		t.Errorf("read %d, %v", n, err)
	}
	if _, err := readAll(t, j, 0); !errors.Is(err, ErrCorrupt) {
		t.Errorf("Read over the gap: %v", err)
	}
	mustClose(t, j)
}
