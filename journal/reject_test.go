package journal

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"testing"
)

// savedAt opens a journal of 100 records with snapshots at these positions.
func savedAt(t *testing.T, d *crashDisk, positions ...uint64) *Journal {
	t.Helper()
	j := mustOpen(t, small(d))
	mustAppend(t, j, 1, 100)
	for _, at := range positions {
		noError(t, save(j, at, "state"))
	}
	return j
}

func wantSaved(t *testing.T, j *Journal, want ...uint64) {
	t.Helper()
	if saved, err := j.Snapshots(context.Background()); !slices.Equal(saved, want) || err != nil {
		t.Fatalf("Snapshots = %v, %v; want %v", saved, err, want)
	}
}

func TestReject_SnapshotNoLongerCounts(t *testing.T) {
	ctx := context.Background()
	d := newCrashDisk()
	j := savedAt(t, d, 40, 60)
	noError(t, j.Reject(ctx, 60))
	wantSaved(t, j, 40)
	without := mustOpen(t, small(d.afterPowerFailure(func(int) bool { return false })))
	wantSaved(t, without, 40)
	mustClose(t, without)
	if _, err := j.Load(ctx, 60); !errors.Is(err, errNoSnapshot) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Load of a rejected snapshot: %v", err)
	}
	wantError(t, j.Trim(ctx, 40), ErrRefused)
	noError(t, save(j, 80, "state"))
	wantSaved(t, j, 80, 40)
	if d.files[fileName(60, rejectedExt)] == nil {
		t.Error("the rejected file is gone while an older snapshot is kept")
	}
	noError(t, j.Trim(ctx, 40))
	mustClose(t, j)

	// The records after the older good snapshot are still there.
	j = mustOpen(t, small(d))
	if n, err := readAll(t, j, 40); n != 60 || err != nil {
		t.Errorf("read %d records, %v; want 60", n, err)
	}
	for _, at := range []uint64{90, 95} {
		noError(t, save(j, at, "state"))
	}
	if d.files[fileName(60, rejectedExt)] != nil {
		t.Error("the rejected file is there with two newer snapshots")
	}
	mustClose(t, j)
}
