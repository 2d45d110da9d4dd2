package journal

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestAppend_EmptyAndLargeRecords(t *testing.T) {
	dir := t.TempDir()
	j := mustOpenDir(t, dir, Options{SegmentBytes: minSegment})
	ctx := context.Background()
	recs := [][]byte{{}, bytes.Repeat([]byte("x"), 3*minSegment), {}, bytes.Repeat([]byte("y"), minSegment-segmentHeaderSize-unitHeaderSize-4), {1}}
	for i, rec := range recs {
		noError(t, errorOf(j.Append(ctx, uint64(i), rec)))
	}
	mustClose(t, j)
	j = mustOpenDir(t, dir, Options{SegmentBytes: minSegment})
	defer j.Close()
	var got [][]byte
	err := j.Read(ctx, 0, func(at uint64, rec []byte) error {
		if got = append(got, slices.Clone(rec)); len(got) == len(recs) {
			return errEnough
		}
		return nil
	})
	failIf(t, !errors.Is(err, errEnough) || !slices.EqualFunc(got, recs, bytes.Equal), "read %d records, %v", len(got), err)
}

func TestJournal_RefusesCalls(t *testing.T) {
	ctx := context.Background()
	ended, cancel := context.WithCancel(ctx)
	cancel()
	d := newCrashDisk()
	j := savedAt(t, d, 40)
	appends := func(ctx context.Context, prev uint64, rec []byte) error {
		_, err := j.Append(ctx, prev, rec)
		return err
	}
	load := func() error {
		_, err := j.Load(ctx, 41)
		return err
	}
	reject := func() error {
		d.failAt = d.calls + 1
		return j.Reject(ctx, 40)
	}
	saveFailing := func() error { return j.Save(ctx, 50, func(io.Writer) error { return errEnough }) }
	for _, c := range []struct {
		name string
		call func() error
		want error
	}{
		{"Append after an older record", func() error { return appends(ctx, 99, nil) }, ErrFenced},
		{"Append after a later record", func() error { return appends(ctx, 101, nil) }, ErrFenced},
		{"Append of too much", func() error { return appends(ctx, 100, make([]byte, maxRecord+1)) }, ErrRefused},
		{"Append with an ended context", func() error { return appends(ended, 100, nil) }, ErrRefused},
		{"Read past the end", func() error { return j.Read(ctx, 101, func(uint64, []byte) error { return nil }) }, ErrRefused},
		{"Save ahead of the records", func() error { return save(j, 101, "state") }, ErrRefused},
		{"Save that fails", saveFailing, errEnough},
		{"Save that fails is refused", saveFailing, ErrRefused},
		{"Load of none", load, errNoSnapshot},
		{"Reject of none", func() error { return j.Reject(ctx, 41) }, errNoSnapshot},
		{"Reject with an ended context", func() error { return j.Reject(ended, 40) }, ErrRefused},
		{"Reject while the disk fails", reject, errInput},
		{"Reject while the disk fails is refused", reject, ErrRefused},
		{"Trim with one snapshot", func() error { return j.Trim(ctx, 40) }, ErrRefused},
		{"Trim past the older snapshot", func() error { return errors.Join(save(j, 60, "state"), j.Trim(ctx, 41)) }, ErrRefused},
		{"Read of trimmed records", func() error {
			return errors.Join(j.Trim(ctx, 40), j.Read(ctx, 0, func(uint64, []byte) error { return errEnough }))
		}, ErrTrimmed},
	} {
		err := c.call()
		failIf(t, !errors.Is(err, c.want), "%s: %v, want %v", c.name, err, c.want)
	}
	wantSaved(t, j, 60, 40)
	mustAppend(t, j, 101, 101)
	mustClose(t, j)
	mustClose(t, j)
	for what, err := range map[string]error{"Append": appends(ctx, 101, nil), "Reject": j.Reject(ctx, 40)} {
		failIf(t, !errors.Is(err, ErrBroken), "%s after Close: %v", what, err)
	}
}

func TestErrLocked_SecondOpenOfFolder(t *testing.T) {
	dir := t.TempDir()
	j := mustOpenDir(t, dir, Options{})
	wantError(t, errorOf(Open(dir, Options{})), ErrLocked)
	wantError(t, errorOf(Repair(context.Background(), dir, 1)), ErrLocked)
	mustClose(t, j)
	j = mustOpenDir(t, dir, Options{})
	mustClose(t, j)
}

func TestOptions_InvalidAreRefused(t *testing.T) {
	for _, o := range []Options{{SegmentBytes: 100}, {SegmentBytes: -1}, {Sync: Every(0)}, {Sync: Every(-1)}, {Keep: -1}} {
		if j, err := Open(t.TempDir(), o); err == nil {
			j.Close()
			t.Errorf("Open accepts %+v", o)
		}
	}
}

func TestRead_FollowsAppends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := mustOpen(t, small(newCrashDisk()))
		mustAppend(t, j, 1, 10)
		ctx, cancel := context.WithCancel(context.Background())
		var read []uint64
		done := make(chan error)
		go func() {
			done <- j.Read(ctx, 4, func(at uint64, rec []byte) error {
				failIf(t, !bytes.Equal(rec, record(at)), "record %d is %q", at, rec)
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
		wantError(t, <-done, context.Canceled)
		go func() { done <- j.Read(context.Background(), 100, func(uint64, []byte) error { return nil }) }()
		synctest.Wait()
		mustClose(t, j)
		wantError(t, <-done, ErrBroken)
	})
}

func TestSyncEvery_WritesCollectedRecordsAsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newCrashDisk()
		o := small(d)
		o.Sync = Every(time.Second)
		j := mustOpen(t, o)
		before := d.calls
		mustAppend(t, j, 1, 5)
		equal(t, "calls before the timer", d.calls, before)
		tail, _ := j.Tail(context.Background())
		failIf(t, tail != 5, "Tail = %d", tail)
		time.Sleep(time.Second)
		synctest.Wait()
		equal(t, "calls for five records, one write and one sync", d.calls-before, 2)
		wantRecords(t, j, 5)
		wantError(t, j.Read(context.Background(), 2, func(at uint64, _ []byte) error {
			equal(t, "position of the first record after 2", at, 3)
			return errEnough
		}), errEnough)
		mustAppend(t, j, 6, 7)
		mustClose(t, j)
		j = mustOpen(t, o)
		wantRecords(t, j, 7)
		mustClose(t, j)
	})
}

func TestSyncEvery_BoundsWaitingBytes(t *testing.T) {
	o := small(newCrashDisk())
	o.Sync = Every(time.Hour)
	j := mustOpen(t, o)
	rec := make([]byte, maxWaiting*2/3)
	for at := range uint64(4) {
		noError(t, errorOf(j.Append(context.Background(), at, rec)))
		equal(t, "written records, all except one", lastWritten(j), at)
	}
	mustClose(t, j)
}

func TestSyncEvery_WritesRefusedRecordsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := false // while true, no file can be created
		d := newCrashDisk()
		d.full = func(int) bool { return full }
		o := small(d)
		o.Sync = Every(time.Second)
		j := mustOpen(t, o)
		noError(t, errorOf(j.Append(context.Background(), 0, bytes.Repeat([]byte("x"), minSegment-100))))
		time.Sleep(time.Second) // the first segment is full, and the next is prepared
		synctest.Wait()
		noError(t, errorOf(j.Append(context.Background(), 1, make([]byte, 2*minSegment))))
		setFull := func(is bool) {
			j.mu.Lock()
			defer j.mu.Unlock()
			full = is
		}
		setFull(true)
		time.Sleep(time.Second)
		synctest.Wait()
		wantError(t, errorOf(j.Append(context.Background(), 2, []byte("z"))), ErrRefused)
		setFull(false)
		at, err := j.Append(context.Background(), 2, []byte("z"))
		failIf(t, at != 3 || err != nil, "Append after the disk has room again = %d, %v", at, err)
		equal(t, "written records when Append takes another", lastWritten(j), 2)
		time.Sleep(time.Second)
		synctest.Wait()
		equal(t, "written records in time", lastWritten(j), 3)
		mustClose(t, j)
		j = mustOpen(t, o)
		tail, _ := j.Tail(context.Background())
		failIf(t, tail != 3, "%d records are kept", tail)
		mustClose(t, j)
	})
}

func lastWritten(j *Journal) uint64 {
	at, _, _ := j.written()
	return at
}

func save(j *Journal, at uint64, text string) error {
	return j.Save(context.Background(), at, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// A power failure may keep the removal of a later segment only.
func TestOpen_AcceptsGapsOfTrim(t *testing.T) {
	d := newCrashDisk()
	mustClose(t, savedAt(t, d, 80, 90))
	names, _ := d.list()
	delete(d.files, fileName(numbered(names, segmentExt)[1], segmentExt))
	j := mustOpen(t, small(d))
	wantAfter(t, j, 80, 20)
	wantError(t, errorOf(readAll(t, j, 0)), ErrCorrupt)
	mustClose(t, j)
}

func errorOf(_ any, err error) error { return err }

func wantError(t testing.TB, err error, wants ...error) {
	t.Helper()
	for _, want := range wants {
		if !errors.Is(err, want) {
			t.Errorf("got error %v, want %v", err, want)
		}
	}
}
