package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/nats-io/nats.go"
	"handloom/cluster"
)

func TestRead_SurvivesServerRestarts(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("servers that are lost take seconds to be replaced")
	}
	c := startServers(t, 3, nil)
	s := func(i int) cluster.Servers { return cluster.URLs(c.URLs(i), nats.DontRandomize()) }
	writer := openLog(t, s(0), 1, cluster.Options{})
	const each = 40
	read := make(chan error, 3)
	for i := range 3 {
		l := openLog(t, s(i), 1, cluster.Options{})
		go func() { read <- readRecords(t.Context(), l, 0, 4*each, record) }()
	}
	for round := range uint64(4) {
		stopped := int(round) - 1
		if stopped >= 0 {
			if stopped > 0 {
				_, _ = writer.StepDown(t.Context()) // on failure the leader stops, too
			}
			c.Stop(stopped)
		}
		insist(t, writer, each*(round+1))
		if stopped >= 0 {
			noError(t, c.Restart(stopped))
		}
	}
	for range 3 {
		noError(t, <-read)
	}
}

// The server that leads the stream survives the loss of both others under load. With nats-server
// 2.12.12 and 2.14.5 such a stream may refuse messages for ever (nats-server 8519).
func TestAppend_ContinuesWhenTwoOfThreeServersReturn(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("servers that are lost take seconds to be replaced")
	}
	c := startServers(t, 3, nil)
	l := openLog(t, cluster.URLs(c.URLs(0)), 1, cluster.Options{})
	insist(t, l, 100)
	restarted := make(chan error, 1)
	go func() {
		var err error
		for range 3 {
			leader := c.Leader(cluster.CellID(1).Stream()) // -1: all others are two servers, too
			for _, i := range []int{leader + 1, leader + 2} {
				c.Stop(i % 3)
			}
			err = errors.Join(err, c.Restart((leader+1)%3), c.Restart((leader+2)%3), c.Ready(cluster.Wait(t)))
		}
		restarted <- err
	}()
	for n := uint64(200); ; n += 100 {
		insist(t, l, n)
		select {
		case err := <-restarted:
			noError(t, err)
			insist(t, l, n+100)
			wantRecords(t, l, 0, n+100, record)
			return
		default:
		}
	}
}

// insist appends while servers are replaced.
func insist(t *testing.T, l cluster.PatientLog, n uint64) {
	t.Helper()
	ctx := cluster.Wait(t)
	for {
		at, err := l.Tail(ctx)
		for ; err == nil && at < n; at++ {
			_, err = cluster.AppendTo(ctx, l, at, record(at+1))
		}
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
}

func TestStepDown_MovesStreamLeader(t *testing.T) {
	t.Parallel()
	c := startServers(t, 3, nil)
	stream := cluster.CellID(1).Stream()
	var logs [3]cluster.PatientLog
	for i := range logs {
		logs[i] = openLog(t, cluster.URLs(c.URLs(i)[:1]), 1, cluster.Options{})
	}
	fill(t, logs[0], 10)
	leader, ctx := -1, cluster.Wait(t)
	for did := false; !did; {
		if leader = c.Leader(stream); ctx.Err() != nil {
			t.Fatalf("server %d leads and does not step down", leader)
		}
		for i, l := range logs {
			if i == leader {
				continue
			}
			if did, err := l.StepDown(ctx); did && c.Leader(stream) == leader {
				t.Errorf("server %d steps down for a node that is connected to server %d: %v", leader, i, err)
			}
		}
		if leader >= 0 {
			did, _ = logs[leader].StepDown(ctx) // fails until the leader knows that the others are up to date
		}
	}
	for c.Leader(stream) == leader {
		if ctx.Err() != nil {
			t.Fatalf("server %d leads as before", leader)
		}
	}
	insist(t, logs[leader], 20)
	if did, err := openLog(t, cluster.Embedded(t.TempDir()), 1, alone(t)).StepDown(t.Context()); did || err != nil {
		t.Errorf("a server that is alone steps down: %t, %v", did, err)
	}
}

func TestFolder_PutsWholeBlobs(t *testing.T) {
	b := cluster.Folder(t.TempDir() + "/blobs")
	ctx := t.Context()
	want := func(name, content string) {
		t.Helper()
		r, err := b.Get(ctx, name)
		noError(t, err)
		got, err := io.ReadAll(r)
		if err = errors.Join(err, r.Close()); err != nil || string(got) != content {
			t.Errorf("%s is %q, %v", name, got, err)
		}
	}
	put := func(name, content string) {
		t.Helper()
		noError(t, b.Put(ctx, name, bytes.NewBufferString(content)))
	}
	names := func(want ...string) {
		t.Helper()
		got, err := b.Names(ctx)
		slices.Sort(got)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("names %v, %v, want %v", got, err, want)
		}
	}
	names()
	put("a.snap", "first")
	put("a.snap", "second")
	put("b", "")
	big := string(bytes.Repeat([]byte("big"), 1<<18))
	put("c", big)
	names("a.snap", "b", "c")
	want("a.snap", "second")
	want("b", "")
	want("c", big)
	broken := io.MultiReader(bytes.NewBufferString(big), iotest.ErrReader(errEnough))
	wantError(t, b.Put(ctx, "d", broken), errEnough)
	if err := b.Put(ctx, "c", io.MultiReader(bytes.NewBufferString("x"), iotest.ErrReader(errEnough))); err == nil {
		t.Error("Put of what cannot be read, in the place of another")
	}
	want("c", big)
	for range 2 {
		noError(t, b.Delete(ctx, "b"))
	}
	names("a.snap", "c")
	wantError(t, errorOf(b.Get(ctx, "b")), fs.ErrNotExist)
}

func TestSave_ReadsBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, o := cluster.Embedded(t.TempDir()), cluster.Options{Snapshots: cluster.Folder(dir)}
	l := openLog(t, s, 1, o)
	fill(t, l, 30)
	saveText(t, l, 20)
	saveText(t, l, 30)
	damage(t, dir, "0000000000000014")
	wantError(t, openLog(t, s, 1, o).Trim(t.Context(), 20), cluster.ErrCorrupt)
	wantRecords(t, l, 0, 30, record)
	names, err := filepath.Glob(dir + "/*-0000000000000014-*.snap")
	for _, name := range names {
		err = errors.Join(err, os.Remove(name))
	}
	noError(t, err)
	wantSaved(t, l, 30)
	o.Snapshots = forgetful{cluster.Folder(dir)}
	wantError(t, openLog(t, s, 1, o).Save(t.Context(), 30, func(w io.Writer) error {
		_, err := io.WriteString(w, "state 30")
		return err
	}), cluster.ErrCorrupt)
}

// forgetful blobs lose the last byte.
type forgetful struct{ cluster.Blobs }

func (f forgetful) Put(ctx context.Context, name string, r io.Reader) error {
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return f.Blobs.Put(ctx, name, bytes.NewReader(b[:len(b)-1]))
}
