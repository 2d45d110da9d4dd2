package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"handloom/cluster"
	"handloom/cluster/internal/localnet"
	"handloom/journal"
	kit "handloom/proof/game"
)

func openJournal(t testing.TB, dir string) *journal.Journal {
	t.Helper()
	j, err := journal.Open(dir, journal.Options{Sync: journal.Never, SegmentBytes: 1 << 10})
	noError(t, err)
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func trySaveText(t testing.TB, l cluster.PatientLog, at uint64) error {
	return l.Save(t.Context(), at, func(w io.Writer) error {
		_, err := fmt.Fprint(w, "state ", at)
		return err
	})
}

func saveText(t testing.TB, l cluster.PatientLog, at uint64) {
	t.Helper()
	noError(t, trySaveText(t, l, at))
}

func journals(t *testing.T) (a, b *journal.Journal, s cluster.Servers) {
	t.Helper()
	a, b, s = openJournal(t, t.TempDir()), openJournal(t, t.TempDir()), cluster.Embedded(t.TempDir())
	o := withJournal(t, a)
	leader := openLog(t, s, 1, o)
	fill(t, leader, 20)
	o.Journal = b
	follower := openLog(t, s, 1, o)
	wantRecords(t, follower, 0, 20, record)
	for _, l := range []cluster.PatientLog{leader, follower} {
		wantNumber(t, "the journal", 20)(l.LocalTail())
		mustClose(t, l)
	}
	return a, b, s
}

func TestOpen_ComparesJournal(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		before func(t *testing.T, l cluster.PatientLog)
		want   error
	}{
		{"empty", func(*testing.T, cluster.PatientLog) {}, cluster.ErrBehind},
		{"shorter", func(t *testing.T, l cluster.PatientLog) { fill(t, l, 19) }, cluster.ErrBehind},
		{"longer", func(t *testing.T, l cluster.PatientLog) { fill(t, l, 30) }, nil},
		{"another", func(t *testing.T, l cluster.PatientLog) {
			noError(t, errorOf(cluster.AppendTo(t.Context(), l, 0, []byte("another"))))
			fill(t, l, 30)
		}, cluster.ErrOtherStream},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, b, _ := journals(t)
			s := cluster.Embedded(t.TempDir())
			test.before(t, openLog(t, s, 1, alone(t)))
			for _, j := range []*journal.Journal{a, b} {
				l, err := cluster.TryOpen(t, s, 1, withJournal(t, j))
				if wantError(t, err, test.want); err == nil {
					mustClose(t, l)
				}
			}
			if test.want != nil {
				wantReseeded(t, s, a, b)
			}
		})
	}
}

func wantReseeded(t *testing.T, s cluster.Servers, a, b *journal.Journal) {
	t.Helper()
	o := withJournal(t, a)
	noError(t, cluster.TryReseed(t, s, 1, o, stateAt(t, 0)))
	l := openLog(t, s, 1, o)
	wantRecords(t, l, 0, 20, record)
	fill(t, l, 25)
	o.Journal = b
	wantRecords(t, openLog(t, s, 1, o), 0, 25, record)
	wantText(t, "a stream that nothing is wrong with is made anew", cluster.TryReseed(t, s, 1, o, stateAt(t, 0)), "has all that")
	wantRecords(t, l, 24, 25, record)
}

// Worlds would report a stream that ends before a snapshot as damaged.
func TestReseed_RefusesJournalOlderThanSnapshot(t *testing.T) {
	t.Parallel()
	c, s := oneServer(t)
	o := alone(t)
	leader := openLog(t, s, 1, o)
	fill(t, leader, 20)
	o.Journal = openJournal(t, t.TempDir())
	follower := openLog(t, s, 1, o)
	wantRecords(t, follower, 0, 20, record)
	mustClose(t, follower)
	fill(t, leader, 30)
	saveText(t, leader, 30)
	noError(t, operator(t, c).DeleteStream(t.Context(), cluster.CellID(1).Stream()))
	wantText(t, "Reseed from a journal of 20 records", cluster.TryReseed(t, s, 1, o, stateAt(t, 0)), "snapshot of record 30")
	names, err := o.Snapshots.Names(t.Context())
	for _, name := range names {
		err = errors.Join(err, o.Snapshots.Delete(t.Context(), name))
	}
	noError(t, errors.Join(err, cluster.TryReseed(t, s, 1, o, stateAt(t, 0))))
	wantRecords(t, openLog(t, s, 1, o), 0, 20, record)
}

func TestJournal_MayLackRecords(t *testing.T) {
	t.Parallel()
	a, b, s := journals(t)
	o := withJournal(t, a)
	l := openLog(t, s, 1, o)
	fill(t, l, 60)
	saveText(t, l, 50)
	saveText(t, l, 60)
	noError(t, l.Trim(t.Context(), 40))
	for i, after := range []uint64{40, 55} {
		o.Journal = []*journal.Journal{b, openJournal(t, t.TempDir())}[i]
		l := openLog(t, s, 1, o)
		wantRecords(t, l, after, 60, record)
		wantNumber(t, "the journal", 60)(l.LocalTail())
		if err := l.Trim(t.Context(), 50); err != nil {
			t.Errorf("read behind record %d: %v", after, err)
		}
	}
	// The leader was closed meanwhile. Open trims its journal like the stream.
	mustClose(t, l)
	o.Journal = a
	openLog(t, s, 1, o)
	wantSaved(t, a, 50, 40) // trimmed through record 40
}

// A node that only reads keeps no more records than the stream.
func TestRead_TrimsJournalAfterStream(t *testing.T) {
	t.Parallel()
	c, s := oneServer(t)
	o := alone(t)
	leader := openLog(t, s, 1, o)
	o.Journal = openJournal(t, t.TempDir())
	follower := openLog(t, s, 1, o)
	follower.CompareEvery(0)
	at := uint64(0)
	for trimmed := false; !trimmed; at += 20 {
		fill(t, leader, at+20)
		saveText(t, leader, at+10)
		saveText(t, leader, at+20)
		noError(t, leader.Trim(t.Context(), at))
		wantRecords(t, follower, at, at+20, record)
		if saved, err := o.Journal.Snapshots(t.Context()); err != nil || at > 2000 {
			t.Fatalf("after record %d: snapshots %v, %v", at, saved, err)
		} else {
			trimmed = len(saved) == 2
		}
	}
	none := func(uint64, []byte) error { return errEnough }
	wantError(t, o.Journal.Read(t.Context(), 0, none), journal.ErrTrimmed)
	// The records of another stream decide nothing: the journal may be their last copy.
	noError(t, follower.TrimReplica(t.Context()))
	before, err := o.Journal.Snapshots(t.Context())
	noError(t, err)
	reseededOther(t, c, at+20)
	other := openLog(t, s, 1, alone(t))
	saveText(t, other, at)
	saveText(t, other, at+10)
	noError(t, other.Trim(t.Context(), at))
	noError(t, follower.TrimReplica(t.Context()))
	wantSaved(t, o.Journal, before...)
}

// The Log continues without the journal.
func TestLocalTail_ReportsFailedJournal(t *testing.T) {
	t.Parallel()
	j := openJournal(t, t.TempDir())
	o := withJournal(t, j)
	l := openLog(t, cluster.Embedded(t.TempDir()), 1, o)
	fill(t, l, 10)
	mustClose(t, j)
	fill(t, l, 20)
	if at, err := l.LocalTail(); at != 10 || !errors.Is(err, journal.ErrBroken) || !strings.Contains(err.Error(), "record 11") {
		t.Errorf("the journal has record %d, %v", at, err)
	}
	saveText(t, l, 12)
	saveText(t, l, 14)
	noError(t, l.Trim(t.Context(), 5))
}

func reseededOther(t *testing.T, c *localnet.Cluster, last uint64) {
	t.Helper()
	o := withJournal(t, openJournal(t, t.TempDir()))
	elsewhere := openLog(t, cluster.Embedded(t.TempDir()), 1, o)
	noError(t, errorOf(cluster.AppendTo(t.Context(), elsewhere, 0, []byte("other"))))
	fill(t, elsewhere, 20)
	noError(t, operator(t, c).DeleteStream(t.Context(), cluster.CellID(1).Stream()))
	s := cluster.URLs(c.URLs(0))
	noError(t, cluster.TryReseed(t, s, 1, o, stateAt(t, 0)))
	fill(t, openLog(t, s, 1, o), last)
}

// A node that was not closed before the Reseed knows another record.
func TestReseed_StopsNodesOfOldHistory(t *testing.T) {
	t.Parallel()
	next := func(rec []byte) func(context.Context, cluster.PatientLog) error {
		return func(ctx context.Context, l cluster.PatientLog) error {
			return errorOf(cluster.AppendTo(ctx, l, 20, rec))
		}
	}
	read := func(ctx context.Context, l cluster.PatientLog) error {
		return l.Read(ctx, 20, func(uint64, []byte) error { return errEnough })
	}
	calls := []struct {
		name string
		call func(ctx context.Context, l cluster.PatientLog) error
		last uint64 // last record of the new stream
	}{
		{"Append at the end", next(record(21)), 20},
		{"Append of an equal record", next(record(21)), 21},
		{"Append before the end", next([]byte("x")), 30},
		{"Tail", func(ctx context.Context, l cluster.PatientLog) error { return errorOf(l.Tail(ctx)) }, 20},
		{"Read at the end", read, 20},
		{"Read of later records", read, 30},
		{"Trim", func(ctx context.Context, l cluster.PatientLog) error { return l.Trim(ctx, 10) }, 20},
	}
	for _, role := range []string{"leader", "follower"} {
		for _, test := range calls {
			t.Run(role+"/"+test.name, func(t *testing.T) {
				t.Parallel()
				c, s := oneServer(t)
				old := openLog(t, s, 1, alone(t))
				fill(t, old, 20)
				saveText(t, old, 10)
				saveText(t, old, 20)
				if role == "follower" {
					o := alone(t)
					o.Snapshots = old.Blobs()
					old = openLog(t, s, 1, o)
					wantRecords(t, old, 0, 20, record)
				}
				reseededOther(t, c, test.last)
				for range 2 {
					if err := test.call(t.Context(), old); !errors.Is(err, cluster.ErrOtherStream) || !errors.Is(err, fs.ErrClosed) {
						t.Fatalf("%v, want ErrOtherStream, for good", err)
					}
				}
				wantNumber(t, "the end of the new stream", test.last)(openLog(t, s, 1, alone(t)).Tail(t.Context()))
			})
		}
	}
}

// Reads from several positions find the other history.
func TestJournal_RefusesOtherHistory(t *testing.T) {
	t.Parallel()
	for _, after := range []uint64{0, 10, 19, 20} {
		c, s := oneServer(t)
		o := withJournal(t, openJournal(t, t.TempDir()))
		mine := openLog(t, s, 1, o)
		fill(t, mine, 20)
		mustClose(t, mine)
		l := openLog(t, s, 1, o)
		reseededOther(t, c, 25)
		if err := l.Read(t.Context(), after, func(at uint64, _ []byte) error {
			if at == 25 {
				return errEnough
			}
			return nil
		}); !errors.Is(err, cluster.ErrOtherStream) {
			t.Errorf("Read after record %d: %v, want ErrOtherStream", after, err)
		}
		if at, err := l.LocalTail(); at != 20 {
			t.Errorf("Read after record %d: the journal has record %d, %v, want 20", after, at, err)
		}
	}
}

func TestCutText_NamesTornRecord(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "j")
	s := cluster.Embedded(t.TempDir())
	j := openJournal(t, dir)
	o := withJournal(t, j)
	l := openLog(t, s, 1, o)
	fill(t, l, 20)
	if got := l.CutText(); got != "" {
		t.Errorf("a whole journal: cut %q", got)
	}
	mustClose(t, l)
	mustClose(t, j)
	noError(t, kit.TearJournal(dir))

	o.Journal = openJournal(t, dir)
	l = openLog(t, s, 1, o)
	if got := l.CutText(); !strings.HasPrefix(got, "record 20: at most 1 cut") {
		t.Errorf("cut %q, want record 20", got)
	}
	wantRecords(t, l, 0, 20, record)
	wantNumber(t, "the journal", 20)(l.LocalTail())
	if got := openLog(t, s, 1, alone(t)).CutText(); got != "" {
		t.Errorf("no journal: cut %q", got)
	}
}
