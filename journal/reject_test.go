package journal

import (
	"context"
	"io/fs"
	"slices"
	"testing"
)

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
	wantError(t, errorOf(j.Load(ctx, 60)), errNoSnapshot, fs.ErrNotExist)
	wantError(t, j.Trim(ctx, 40), ErrRefused)
	noError(t, save(j, 80, "state"))
	wantSaved(t, j, 80, 40)
	failIf(t, d.files[fileName(60, rejectedExt)] == nil, "the rejected file is gone while an older snapshot is kept")
	noError(t, j.Trim(ctx, 40))
	mustClose(t, j)

	j = mustOpen(t, small(d))
	wantAfter(t, j, 40, 60)
	for _, at := range []uint64{90, 95} {
		noError(t, save(j, at, "state"))
	}
	failIf(t, d.files[fileName(60, rejectedExt)] != nil, "the rejected file is there with two newer snapshots")
	mustClose(t, j)
}
