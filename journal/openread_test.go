package journal

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"
)

func mustOpenRead(t *testing.T, d disk) *Journal {
	t.Helper()
	j, err := openRead(d)
	noError(t, err)
	return j
}

func TestOpenRead_RefusesChanges(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	wantError(t, errorOf(OpenRead(filepath.Join(dir, "none"))), fs.ErrNotExist)
	wantError(t, errorOf(OpenRead(dir)), fs.ErrNotExist)
	w := mustOpenDir(t, dir, Options{})
	mustAppend(t, w, 1, 5)
	noError(t, save(w, 3, "state"))
	r, err := OpenRead(dir)
	noError(t, err)
	for name, err := range map[string]error{
		"Append": errorOf(r.Append(ctx, 5, nil)),
		"Save":   save(r, 5, "other"),
		"Trim":   r.Trim(ctx, 3),
		"Reject": r.Reject(ctx, 3),
	} {
		failIf(t, !errors.Is(err, fs.ErrPermission) || !errors.Is(err, fs.ErrClosed), "%s: %v", name, err)
	}
	b, err := r.Load(ctx, 3)
	noError(t, err)
	state, err := io.ReadAll(b)
	noError(t, errors.Join(err, b.Close()))
	equal(t, "snapshot", string(state), "state")
	wantSaved(t, r, 3)
	wantRecords(t, r, 5)
	for range 2 {
		mustClose(t, r)
	}
	wantError(t, errorOf(r.Tail(ctx)), ErrBroken)
	wantError(t, r.Read(ctx, 5, func(uint64, []byte) error { return nil }), ErrBroken)
	mustClose(t, w)
	wantError(t, w.Trim(ctx, 3), ErrBroken)
}

// A reader sees no part of a unit, and no damage, at any moment of two appends.
func TestOpenRead_SeesWholeUnits(t *testing.T) {
	d := newCrashDisk()
	j := mustOpen(t, small(d))
	mustAppend(t, j, 1, 3)
	name, from := fileName(1, segmentExt), j.end
	r := mustOpenRead(t, d)
	f := d.files[name]
	before := append([]byte(nil), f.bytes...)
	mustAppend(t, j, 4, 4)
	middle := j.end
	mustAppend(t, j, 5, 5)
	equal(t, "segments", len(j.segments), 1)
	after := append([]byte(nil), f.bytes...)
	for at := from; at <= j.end; at++ {
		copy(f.bytes, before)
		copy(f.bytes[from:at], after[from:at])
		want := uint64(3)
		if at >= middle-7 { // the rest is zeros
			want = 4
		}
		if at >= j.end-7 {
			want = 5
		}
		tail, err := r.Tail(t.Context())
		if err != nil || tail > want || tail+1 < want {
			t.Fatalf("byte %d of %d: tail %d, %v; want %d", at, j.end, tail, err, want)
		}
		fresh := mustOpenRead(t, d)
		equal(t, "new reader's tail", fresh.tail.seq, tail)
		mustClose(t, fresh)
	}
	wantRecords(t, r, 5)
	f.bytes[from+5] ^= 1
	wantError(t, errorOf(openRead(d)), ErrCorrupt)
	mustClose(t, r)
	mustClose(t, j)
}

// A writingDisk appends before each long read.
type writingDisk struct {
	*crashDisk
	write func()
}

func (d writingDisk) open(name string) (file, error) {
	f, err := d.crashDisk.open(name)
	return writingFile{f, d.write}, err
}

type writingFile struct {
	file
	write func()
}

func (f writingFile) ReadAt(b []byte, offset int64) (int, error) {
	if len(b) > 300 {
		f.write()
	}
	return f.file.ReadAt(b, offset)
}

// A unit that is complete at the second look is no damage, though others follow it.
func TestOpenRead_UnitsBetweenReads(t *testing.T) {
	d := newCrashDisk()
	j := mustOpen(t, small(d))
	mustAppend(t, j, 1, 3)
	name, from := fileName(1, segmentExt), j.end
	before := append([]byte(nil), d.files[name].bytes...)
	mustAppend(t, j, 4, 5)
	after := append([]byte(nil), d.files[name].bytes...)
	copy(d.files[name].bytes, before)
	copy(d.files[name].bytes[from:from+40], after[from:])
	writes := 0
	r := mustOpenRead(t, writingDisk{d, func() {
		writes++
		copy(d.files[name].bytes, after)
	}})
	failIf(t, writes == 0, "nothing is written between two reads")
	wantRecords(t, r, 5)
	mustClose(t, r)
	mustClose(t, j)
}

// A listingDisk calls a function before each list.
type listingDisk struct {
	*crashDisk
	before func()
}

func (d listingDisk) list() ([]string, error) {
	d.before()
	return d.crashDisk.list()
}

// A unit that another process completes, before it begins the next segment, is no damage.
func TestOpenRead_SegmentBetweenReads(t *testing.T) {
	d := newCrashDisk()
	j := mustOpen(t, small(d))
	mustAppend(t, j, 1, 3)
	name, from, early := fileName(1, segmentExt), j.end, map[string]*crashFile{}
	for name, f := range d.files {
		copied := *f
		copied.bytes = bytes.Clone(f.bytes)
		early[name] = &copied
	}
	mustAppend(t, j, 4, 200)
	failIf(t, len(j.segments) < 2, "the records are in one segment")
	whole, torn := d.files, early[name]
	copy(torn.bytes[from:from+40], whole[name].bytes[from:])
	d.files = early
	continues := false
	r := mustOpenRead(t, listingDisk{d, func() {
		if continues {
			copy(torn.bytes, whole[name].bytes)
			d.files = maps.Clone(whole)
			d.files[name] = torn
		}
	}})
	wantRecords(t, r, 3)
	continues = true
	wantRecords(t, r, 200)
	mustClose(t, r)
	mustClose(t, j)
}

// One process appends, saves, trims and opens again while others read.
func TestOpenRead_FollowsAnotherProcess(t *testing.T) {
	const n = 1500
	dir := t.TempDir()
	o := Options{Sync: Never, SegmentBytes: minSegment, Keep: 1 << 20}
	w := mustOpenDir(t, dir, o)
	noError(t, save(w, 0, "state"))
	mustAppend(t, w, 1, 1)
	ended := make(chan error, 2)
	go func() {
		for at := uint64(2); at <= n; at++ {
			if _, err := w.Append(context.Background(), at-1, record(at)); err != nil {
				ended <- err
				return
			}
			if at%100 == 0 {
				saved, _ := w.Snapshots(context.Background())
				err := save(w, at, "state")
				if len(saved) > 0 {
					err = errors.Join(err, w.Trim(context.Background(), saved[0]))
				}
				if at%500 == 0 && err == nil {
					if err = w.Close(); err == nil {
						w, err = Open(dir, o)
					}
				}
				if err != nil {
					ended <- err
					return
				}
			}
		}
		ended <- nil
	}()
	first, err := OpenRead(dir)
	noError(t, err)
	go func() {
		want := uint64(0)
		err := first.Read(context.Background(), 0, func(at uint64, rec []byte) error {
			if want++; at != want || string(rec) != string(record(at)) {
				return errors.New("wrong record")
			}
			if at == n {
				return errEnough
			}
			return nil
		})
		if err == errEnough {
			err = nil
		}
		ended <- err
	}()
	for left := 2; left > 0; {
		r, err := OpenRead(dir)
		noError(t, err)
		tail, err := r.Tail(t.Context())
		noError(t, err)
		saved, err := r.Snapshots(t.Context())
		noError(t, err)
		if len(saved) > 1 {
			// Readers keep their place, or learn that it is trimmed.
			if _, err := readAll(t, r, min(tail, saved[1])); err != nil {
				wantError(t, err, ErrTrimmed)
			}
		}
		mustClose(t, r)
		select {
		case err := <-ended:
			left--
			noError(t, err)
		default:
		}
	}
	mustClose(t, first)
	mustClose(t, w)
}

// Records trimmed under a reader are ErrTrimmed, and later ones are still read.
func TestOpenRead_TrimmedUnderReader(t *testing.T) {
	d := newCrashDisk()
	j := savedAt(t, d, 60, 80)
	r := mustOpenRead(t, d)
	noError(t, j.Trim(t.Context(), 60))
	wantError(t, errorOf(readAll(t, r, 0)), ErrTrimmed)
	mustAppend(t, j, 101, 200)
	noError(t, save(j, 180, "state"))
	noError(t, save(j, 190, "state"))
	noError(t, j.Trim(t.Context(), 180))
	equal(t, "tail", errorless(t)(r.Tail(t.Context())), 200)
	wantAfter(t, r, 190, 10)
	mustClose(t, r)
	mustClose(t, j)
}

func errorless(t *testing.T) func(uint64, error) uint64 {
	return func(at uint64, err error) uint64 {
		t.Helper()
		noError(t, err)
		return at
	}
}

func TestOpenRead_LeavesDescriptors(t *testing.T) {
	dir := t.TempDir()
	w := mustOpenDir(t, dir, Options{SegmentBytes: minSegment})
	mustAppend(t, w, 1, 100)
	mustClose(t, w)
	noError(t, os.Truncate(filepath.Join(dir, fileName(1, segmentExt)), 100))
	for range 2000 {
		wantError(t, errorOf(OpenRead(dir)), ErrCorrupt)
	}
}
