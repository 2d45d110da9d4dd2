package journal

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// busy appends, saves and trims in dir until stop. It returns the number of acknowledged
// records.
func busy(t *testing.T, dir string) (acknowledged func() uint64, stop func()) {
	t.Helper()
	j := mustOpenDir(t, dir, Options{Sync: Never, SegmentBytes: 2 << 10, Keep: 1 << 10})
	ended, ctx := make(chan error), t.Context()
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		at := uint64(0)
		var err error
		for ; ctx.Err() == nil && err == nil; at++ {
			if _, err = j.Append(context.Background(), at, record(at+1)); err == nil && at%40 == 0 {
				err = save(j, at, "state")
				if saved, _ := j.Snapshots(context.Background()); len(saved) > 1 {
					err = errors.Join(err, j.Trim(context.Background(), saved[1]))
				}
			}
		}
		ended <- err
	}()
	return func() uint64 { return errorless(t)(j.Tail(context.Background())) }, func() {
		cancel()
		noError(t, <-ended)
		mustClose(t, j)
	}
}

// wantCopy opens dir, which must have the records up to least after its oldest snapshot or, if a
// plain copy lacks a part of the history that Open does not read, after the older of the two newest.
func wantCopy(t *testing.T, dir string, least uint64, plain bool) {
	t.Helper()
	j := mustOpenDir(t, dir, Options{})
	defer mustClose(t, j)
	tail := errorless(t)(j.Tail(t.Context()))
	if cut, ok := j.truncated(); tail < least || tail == 0 {
		t.Fatalf("the copy has %d records, cut %v %t; %d were acknowledged", tail, cut, ok, least)
	}
	saved, err := j.Snapshots(t.Context())
	noError(t, err)
	if len(saved) > 0 {
		from := saved[len(saved)-1]
		if _, err := readAll(t, j, from); plain && errors.Is(err, ErrCorrupt) {
			from = saved[min(len(saved), keptSnapshots)-1]
		}
		wantAfter(t, j, from, int(tail-from))
	}
}

func TestCopy_OpensWhileRecordsAreAppended(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "running") // Open makes both folders
	acknowledged, stop := busy(t, dir)
	copies := 0
	for acknowledged() < 2000 || copies < 3 {
		to, least := filepath.Join(t.TempDir(), "copy"), acknowledged()
		if least == 0 {
			continue
		}
		noError(t, Copy(t.Context(), dir, to))
		_, err := os.Stat(filepath.Join(to, lockName))
		noError(t, err)
		wantCopy(t, to, least, false)
		copies++
	}
	stop()
}

// A plain copy has what was acknowledged before it began, or is refused.
func TestCopy_PlainCopyLosesNothingSilently(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "running")
	acknowledged, stop := busy(t, dir)
	whole := 0
	for acknowledged() < 2000 || whole == 0 {
		to, least := t.TempDir(), acknowledged()
		entries, err := os.ReadDir(dir)
		noError(t, err)
		for _, e := range entries {
			b, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err == nil {
				noError(t, os.WriteFile(filepath.Join(to, e.Name()), b, 0o600))
			}
		}
		j, err := Open(to, Options{})
		if err != nil {
			wantError(t, err, ErrCorrupt)
			continue
		}
		mustClose(t, j)
		if least > 0 {
			wantCopy(t, to, least, true)
			whole++
		}
	}
	stop()
}

func TestCopy_Refuses(t *testing.T) {
	ctx, dir, to := t.Context(), t.TempDir(), t.TempDir()
	wantError(t, Copy(ctx, filepath.Join(dir, "none"), filepath.Join(to, "1")), fs.ErrNotExist)
	wantError(t, Copy(ctx, dir, filepath.Join(to, "2")), fs.ErrNotExist)
	j := mustOpenDir(t, dir, Options{SegmentBytes: minSegment})
	mustAppend(t, j, 1, 50)
	noError(t, Copy(ctx, dir, filepath.Join(to, "3")))
	wantCopy(t, filepath.Join(to, "3"), 50, false)
	failIf(t, Copy(ctx, dir, filepath.Join(to, "3")) == nil, "Copy writes over files")
	ended, cancel := context.WithCancel(ctx)
	cancel()
	wantError(t, Copy(ended, dir, filepath.Join(to, "4")), context.Canceled)
	mustClose(t, j)
	for i, first := range []uint64{1, j.segments[len(j.segments)-1]} {
		name := filepath.Join(dir, fileName(first, segmentExt))
		b, err := os.ReadFile(name)
		noError(t, err)
		bad := append([]byte(nil), b...)
		bad[segmentHeaderSize+unitHeaderSize+2] ^= 1
		noError(t, os.WriteFile(name, bad, 0o600))
		wantError(t, Copy(ctx, dir, filepath.Join(to, "5", string(rune('a'+i)))), ErrCorrupt)
		noError(t, os.WriteFile(name, b, 0o600))
	}
}

// The lock file names the newest segment, and a snapshot proves the records before it. Open
// continues after the snapshot if it lacks the last record alone.
func TestLostRecords_AreRefused(t *testing.T) {
	newest := func(d *crashDisk, last string, _ int64) { delete(d.files, last) }
	all := func(d *crashDisk, _ string, _ int64) {
		maps.DeleteFunc(d.files, func(name string, _ *crashFile) bool { return filepath.Ext(name) == segmentExt })
	}
	record := func(d *crashDisk, last string, end int64) { d.files[last].bytes[end-9] ^= 1 }
	for name, row := range map[string]struct {
		lose  func(d *crashDisk, last string, end int64)
		saved []uint64
		at    uint64 // of the first lost record; 0: of the newest segment
		opens bool
	}{
		"newest segment":                     {newest, nil, 0, false},
		"newest segment, saved":              {newest, []uint64{60, 100}, 0, false},
		"all segments":                       {all, nil, 1, false},
		"all segments, saved":                {all, []uint64{60, 80}, 81, false},
		"last record, in the newer snapshot": {record, []uint64{60, 100}, 100, true},
		"last record, in the only snapshot":  {record, []uint64{100}, 100, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := newCrashDisk()
			j := savedAt(t, d, row.saved...)
			mustClose(t, j)
			last := j.segments[len(j.segments)-1]
			row.lose(d, fileName(last, segmentExt), j.end)
			if row.at == 0 {
				row.at = last
			}
			_, openErr := Open("", small(d.clone()))
			failIf(t, (openErr == nil) != row.opens, "Open: %v", openErr)
			_, readErr := openRead(d)
			copyErr := copyFolder(t.Context(), d, newFolder(filepath.Join(t.TempDir(), "to")))
			for op, err := range map[string]error{"Open": openErr, "OpenRead": readErr, "Copy": copyErr} {
				if c, ok := errors.AsType[*CorruptError](err); op == "Open" && row.opens {
					continue
				} else if !ok || c.At != row.at {
					t.Errorf("%s: got %v, want record %d lost", op, err, row.at)
				}
			}
		})
	}
}

// A listDisk calls before before each list, which lacks the names that it returns.
type listDisk struct {
	*crashDisk
	before func() (hidden []string)
}

func (d listDisk) list() ([]string, error) {
	hidden := d.before()
	names, err := d.crashDisk.list()
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(hidden, name) }), err
}

func TestCopy_AllSegmentsTrimmedBetweenLists(t *testing.T) {
	for at := 1; at <= 4; at++ {
		d := newCrashDisk()
		j, lists := savedAt(t, d), 0
		from := listDisk{d, func() []string {
			if lists++; lists == at {
				mustAppend(t, j, 101, 200)
				noError(t, errors.Join(save(j, 190, "state"), save(j, 200, "state"), j.Trim(t.Context(), 190)))
			}
			return nil
		}}
		to := filepath.Join(t.TempDir(), "to")
		noError(t, copyFolder(t.Context(), from, newFolder(to)))
		wantCopy(t, to, 100, false)
		mustClose(t, j)
	}
}

func TestRead_LostSegmentIsNotTrimmed(t *testing.T) {
	d, segments, _ := fifty(t)
	j := mustOpen(t, small(d))
	defer mustClose(t, j)
	delete(d.files, segments[2])
	_, err := readAll(t, j, 0)
	failIf(t, err == nil || errors.Is(err, ErrTrimmed), "got %v", err)
}

// Files but the newest may lack zeros past the last record of their segment, as some copies do.
func TestOpen_FilesMayLackTheirZeros(t *testing.T) {
	whole, segments, _ := fifty(t)
	for _, name := range segments[:len(segments)-1] {
		b := whole.files[name].bytes
		end := len(bytes.TrimRight(b, "\x00"))
		for size := end + unitAlign; size < len(b); size++ {
			d := whole.clone()
			d.files[name].bytes = d.files[name].bytes[:size]
			live, err := openRead(d)
			noError(t, err)
			wantRecords(t, live, units)
			mustClose(t, live)
			j := mustOpen(t, small(d))
			wantRecords(t, j, units)
			mustClose(t, j)
		}
	}
}

func TestOpen_RemovesUnfinishedFiles(t *testing.T) {
	d := newCrashDisk()
	mustClose(t, savedAt(t, d, 60))
	for _, name := range []string{nextName, saveName} {
		f, err := d.create(name)
		noError(t, errors.Join(err, f.Close()))
	}
	j := mustOpen(t, small(d))
	failIf(t, d.files[saveName] != nil, "an unfinished snapshot stays")
	mustClose(t, j)
	failIf(t, d.files[nextName] != nil, "an unfinished segment stays")
}
