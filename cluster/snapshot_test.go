package cluster_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"handloom/cluster"
)

func damage(t *testing.T, dir, record string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*-"+record+"-*.snap"))
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		noError(t, err)
		b[len(b)/2] ^= 1
		noError(t, os.WriteFile(name, b, 0o600))
	}
}

type saver interface {
	Snapshots(ctx context.Context) ([]uint64, error)
}

func wantSaved(t *testing.T, l saver, want ...uint64) {
	t.Helper()
	if saved, err := l.Snapshots(t.Context()); err != nil || !slices.Equal(saved, want) {
		t.Errorf("snapshots %v, %v, want %v", saved, err, want)
	}
}

func savedTwice(t *testing.T) (l cluster.PatientLog, s cluster.Servers, o cluster.Options, dir string) {
	t.Helper()
	dir = t.TempDir()
	s, o = cluster.Embedded(t.TempDir()), cluster.Options{Replicas: 1, Snapshots: cluster.Folder(dir)}
	l = openLog(t, s, 1, o)
	fill(t, l, 60)
	saveText(t, l, 10)
	saveText(t, l, 20)
	return l, s, o, dir
}

func TestSave_KeepsTwoGoodSnapshots(t *testing.T) {
	t.Parallel()
	_, s, o, dir := savedTwice(t)
	damage(t, dir, "0000000000000014")
	l := openLog(t, s, 1, o)
	saveText(t, l, 30)
	wantSaved(t, l, 30, 20, 10)
	if err := l.Trim(t.Context(), 20); err == nil {
		t.Error("Trim through a record that the older good snapshot is before")
	}
	noError(t, l.Trim(t.Context(), 10))
	wantRecords(t, l, 10, 60, record)
	saveText(t, l, 40)
	wantSaved(t, l, 40, 30)
	for _, left := range []string{"*-000000000000000a-*", "*-0000000000000014-*"} {
		if names, err := filepath.Glob(filepath.Join(dir, left)); err != nil || names != nil {
			t.Errorf("left: %q, %v", names, err)
		}
	}
}

func TestSave_KeepsUnreadableSnapshots(t *testing.T) {
	t.Parallel()
	l, s, o, dir := savedTwice(t)
	o.Snapshots = away{cluster.Folder(dir), "0000000000000014"}
	wantError(t, trySaveText(t, openLog(t, s, 1, o), 30), errEnough)
	wantSaved(t, l, 30, 20, 10)
}

// away are blobs that cannot read the snapshot of one record.
type away struct {
	cluster.Blobs
	record string
}

func (a away) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	if ok, _ := filepath.Match("*-"+a.record+"-*.snap", name); ok {
		return nil, errEnough
	}
	return a.Blobs.Get(ctx, name)
}

func TestReject_DropsOneSnapshot(t *testing.T) {
	t.Parallel()
	l, s, o, _ := savedTwice(t)
	other := openLog(t, s, 1, o)
	noError(t, l.Reject(t.Context(), 20))
	wantSaved(t, l, 10)
	wantError(t, errorOf(l.Load(t.Context(), 20)), fs.ErrNotExist)
	wantError(t, l.Reject(t.Context(), 20), fs.ErrNotExist)
	wantSaved(t, other, 20, 10) // other has not rejected it
	saveText(t, other, 20)
	wantSaved(t, l, 20, 10) // a second snapshot of record 20
	noError(t, l.Reject(t.Context(), 20))
	wantSaved(t, l, 10)
	saveText(t, l, 30)
	wantSaved(t, l, 30, 10)
	if err := l.Trim(t.Context(), 20); err == nil {
		t.Error("Trim counts a rejected snapshot")
	}
	saveText(t, l, 40)
	wantSaved(t, l, 40, 30)
	wantSaved(t, other, 40, 30)
}

// Cells may share the storage of snapshots.
func TestSave_IgnoresOtherCells(t *testing.T) {
	t.Parallel()
	s, o := cluster.Embedded(t.TempDir()), alone(t)
	l, other := openLog(t, s, 1, o), openLog(t, s, 2, o)
	fill(t, l, 60)
	saveText(t, other, 5)
	wantSaved(t, l)
	saveText(t, l, 10)
	saveText(t, l, 20)
	saveText(t, l, 30)
	wantSaved(t, l, 30, 20)
	wantSaved(t, other, 5)
	wantError(t, errorOf(l.Load(t.Context(), 5)), fs.ErrNotExist)
}

// The writer died before the check.
func TestSave_IgnoresUnverifiedSnapshots(t *testing.T) {
	t.Parallel()
	_, s, o, _ := savedTwice(t)
	names, err := o.Snapshots.Names(t.Context())
	for _, name := range names {
		if strings.Contains(name, "-0000000000000014-") && strings.HasSuffix(name, ".sum") {
			err = errors.Join(err, o.Snapshots.Delete(t.Context(), name))
		}
	}
	noError(t, err)
	l := openLog(t, s, 1, o)
	wantSaved(t, l, 10)
	wantError(t, errorOf(l.Load(t.Context(), 20)), fs.ErrNotExist)
	saveText(t, l, 30)
	wantSaved(t, l, 30, 10)
	saveText(t, l, 40)
	if names, err := o.Snapshots.Names(t.Context()); err != nil || len(names) != 4 {
		t.Errorf("left: %q, %v, want two snapshots and their sums", names, err)
	}
}

func TestSave_CountsGoodDuplicate(t *testing.T) {
	t.Parallel()
	l, s, o, dir := savedTwice(t)
	other := openLog(t, s, 1, o)
	saveText(t, other, 20)
	names, err := filepath.Glob(filepath.Join(dir, "*-0000000000000014-*.snap"))
	if err != nil || len(names) != 2 {
		t.Fatal(names, err)
	}
	noError(t, os.WriteFile(names[0], []byte("damaged"), 0o600))
	saveText(t, openLog(t, s, 1, o), 30)
	wantSaved(t, l, 30, 20)
	noError(t, openLog(t, s, 1, o).Trim(t.Context(), 20))
}

// Only the last record holds its number and sum.
func TestTrim_KeepsLastRecord(t *testing.T) {
	t.Parallel()
	s, o := cluster.Embedded(t.TempDir()), alone(t)
	l := openLog(t, s, 1, o)
	fill(t, l, 20)
	saveText(t, l, 20)
	saveText(t, l, 30)
	noError(t, l.Trim(t.Context(), 20))
	l = openLog(t, s, 1, o)
	wantRecords(t, l, 19, 20, record)
	wantTail(t, l, 20)
	fill(t, l, 25)
	wantRecords(t, l, 19, 25, record)
}
