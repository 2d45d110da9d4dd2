package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"handloom/cluster"
	"handloom/cluster/internal/localnet"
	"handloom/internal/entrance"
	"handloom/internal/entry"
	"handloom/internal/image"
	"handloom/journal"
	kit "handloom/proof/game"
	"handloom/store"
	"handloom/world"
)

// stateAt returns an empty snapshot of record at.
func stateAt(t testing.TB, at uint64) *bytes.Reader {
	t.Helper()
	c, b := new(store.Checkpoint), new(bytes.Buffer)
	noError(t, store.New(store.Options{}).Checkpoint(t.Context(), c))
	*c.Entrance(entrance.Key{}) = image.Tag{At: at}
	_, err := c.WriteTo(b)
	noError(t, err)
	return bytes.NewReader(append(b.Bytes(), new(entry.Trailer).Encode()...))
}

// The records of a trimmed journal keep their numbers.
func TestReseed_ChecksState(t *testing.T) {
	t.Parallel()
	j := openJournal(t, t.TempDir())
	own := withJournal(t, j)
	l := openLog(t, cluster.Embedded(t.TempDir()), 1, own)
	for n := uint64(100); n <= 400; n += 100 {
		fill(t, l, n)
		saveText(t, l, n)
		if saved, err := l.Snapshots(t.Context()); err != nil || len(saved) == 2 {
			noError(t, errors.Join(err, l.Trim(t.Context(), saved[1])))
		}
	}
	wantError(t, j.Read(t.Context(), 0, func(uint64, []byte) error { return errEnough }), journal.ErrTrimmed)
	s := cluster.Embedded(t.TempDir())
	cut, flipped := stateAt(t, 350), stateAt(t, 350)
	b, _ := io.ReadAll(cut)
	cut.Reset(b[:len(b)-1])
	flipped.Reset(append(slices.Clone(b[:9]), append([]byte{b[9] ^ 1}, b[10:]...)...))
	for _, test := range []struct {
		name      string
		journal   *journal.Journal
		snapshots uint64 // record of the saved snapshot; 0: none
		state     io.ReadSeeker
		want      string
	}{
		{"nothing", nil, 0, nil, "want one of them"},
		{"no snapshot", j, 0, nil, "got state nil, want a snapshot"},
		{"snapshot before the journal", j, 90, nil, "got state nil, want a snapshot"},
		{"state before the journal", j, 0, stateAt(t, 90), "state is of record 90"},
		{"cut", j, 0, cut, "corrupt"},
		{"flipped bit", j, 0, flipped, "corrupt"},
		{"newer snapshot", j, 401, stateAt(t, 350), "snapshot of record 401"},
		{"newer snapshot than state alone", nil, 401, stateAt(t, 400), "snapshot of record 401"},
	} {
		o := withJournal(t, test.journal)
		if test.snapshots > 0 {
			from := openLog(t, cluster.Embedded(t.TempDir()), 1, cluster.Options{Replicas: 1, Snapshots: o.Snapshots})
			saveText(t, from, test.snapshots)
			mustClose(t, from)
		}
		wantText(t, test.name, cluster.TryReseed(t, s, 1, o, test.state), test.want)
	}
	if at, err := openLog(t, s, 1, alone(t)).Tail(t.Context()); at != 0 || err != nil {
		t.Errorf("a refused Reseed left record %d, %v", at, err)
	}
	s = cluster.Embedded(t.TempDir())
	noError(t, cluster.TryReseed(t, s, 1, own, stateAt(t, 0)))
	wantRecords(t, openLog(t, s, 1, own), 300, 400, record)
	fill(t, l, 401)
}

// A stream that begins after a state accepts appends there, and no reader before it.
func TestReseed_FromStateNewerThanJournal(t *testing.T) {
	t.Parallel()
	for _, journaled := range []bool{false, true} {
		o := alone(t)
		if journaled {
			o.Journal = openJournal(t, t.TempDir())
			l := openLog(t, cluster.Embedded(t.TempDir()), 1, o)
			fill(t, l, 30)
			mustClose(t, l)
		}
		s := cluster.Embedded(t.TempDir())
		noError(t, cluster.TryReseed(t, s, 1, o, stateAt(t, 40)))
		l := openLog(t, s, 1, o)
		wantNumber(t, "the last record", 40)(l.Tail(t.Context()))
		if saved, err := l.Snapshots(t.Context()); err != nil || !slices.Equal(saved, []uint64{40}) {
			t.Errorf("snapshots %v, %v", saved, err)
		}
		wantError(t, readRecords(t.Context(), l, 20, 40, record), cluster.ErrTrimmed)
		fill(t, l, 50)
		wantRecords(t, openLog(t, s, 1, alone(t)), 40, 50, record)
		wantText(t, "a whole stream", cluster.TryReseed(t, s, 1, o, stateAt(t, 40)), "has all that")
		other := withJournal(t, openJournal(t, t.TempDir()))
		former := openLog(t, cluster.Embedded(t.TempDir()), 1, other)
		fill(t, former, 45)
		mustClose(t, former)
		wantError(t, errorOf(cluster.TryOpen(t, s, 1, other)), cluster.ErrOtherStream)
		mustClose(t, l)
	}
}

// A node is a world that runs.
type node struct {
	*kit.Game
	log   cluster.PatientLog
	world *world.World
	keys  []uint64 // acknowledged
	stop  context.CancelFunc
	ended sync.WaitGroup
}

func startNode(t *testing.T, s cluster.Servers, o cluster.Options) *node {
	t.Helper()
	n := &node{log: openLog(t, s, 1, o)}
	noError(t, cluster.Patiently(t.Context(), func() (err error) {
		n.Game = kit.New(1, 0)
		n.world, err = world.Open(t.Context(), n.Store, n.log.Log, world.Options{
			Version: "losses", Hz: 100, SnapshotTicks: 20, DigestTicks: 4, Init: n.Init, Tick: n.Tick,
		})
		return err
	}))
	var ctx context.Context
	ctx, n.stop = context.WithCancel(context.Background())
	n.ended.Go(func() { _ = n.world.Run(ctx) })
	t.Cleanup(n.end)
	return n
}

// end ends the node as a kill does, without a snapshot.
func (n *node) end() {
	n.stop()
	n.ended.Wait()
	cluster.KillWorld(n.world)
	_ = n.log.Close()
}

// leave makes n calls, each acknowledged.
func (n *node) leave(t *testing.T, calls int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for range calls {
		key := uint64(len(n.keys) + 1)
		for {
			_, err := n.world.Submit(ctx, n.Leave(key))
			if err == nil {
				break
			}
			if !errors.Is(err, world.ErrNotLeader) {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Millisecond)
		}
		n.keys = append(n.keys, key)
	}
}

// continues checks that next has the calls of n, and that it accepts others.
func (n *node) continues(t *testing.T, next *node) {
	t.Helper()
	next.keys = n.keys
	next.leave(t, 5)
	var keys []uint64
	noError(t, next.world.Read(t.Context(), func(context.Context, world.Tick) error {
		for _, note := range next.Notes.All() {
			keys = append(keys, note.Key)
		}
		return nil
	}))
	slices.Sort(keys)
	if !slices.Equal(keys, next.keys) {
		t.Errorf("the state has calls %v, want %v", keys, next.keys)
	}
}

func (n *node) export(t *testing.T) *bytes.Reader {
	t.Helper()
	var b bytes.Buffer
	noError(t, n.world.Export(t.Context(), &b))
	return bytes.NewReader(b.Bytes())
}

// waitSaved waits for a snapshot after the present tick.
func (n *node) waitSaved(t *testing.T) {
	t.Helper()
	for from := n.world.Status().Tick; n.world.Status().SavedTick <= from; {
		n.leave(t, 1)
	}
}

// wipedServers starts n servers. wipe empties the disk of a stopped server.
func wipedServers(t *testing.T, n int) (c *localnet.Cluster, s cluster.Servers, wipe func(i int)) {
	t.Helper()
	dirs := make([]string, n)
	c = startServers(t, n, func(i int, o *server.Options) { dirs[i] = o.StoreDir })
	return c, cluster.URLs(c.URLs(0)), func(i int) {
		c.Stop(i)
		noError(t, os.RemoveAll(dirs[i]))
	}
}

func TestLoss_DiskOfOneServer(t *testing.T) {
	t.Parallel()
	c, s, wipe := wipedServers(t, 3)
	a := startNode(t, s, cluster.Options{})
	a.leave(t, 20)
	wipe(1)
	a.leave(t, 20)
	noError(t, c.Restart(1))
	noError(t, c.Ready(t.Context()))
	a.leave(t, 20)
	a.end()
	a.continues(t, startNode(t, s, cluster.Options{}))
}

func TestLoss_DisksOfAllServers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name             string
		journaled, early bool // early: the state is older than the journal's end
	}{{"state and journal", true, false}, {"older state and journal", true, true}, {"state alone", false, false}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, s, wipe := wipedServers(t, 3)
			var o cluster.Options
			if test.journaled {
				o.Journal = openJournal(t, t.TempDir())
			}
			a := startNode(t, s, o)
			a.leave(t, 20)
			early := a.export(t)
			a.waitSaved(t)
			for i := range c.Len() {
				wipe(i)
			}
			state := a.export(t)
			if test.early {
				state = early
			}
			for i := range c.Len() {
				noError(t, c.Restart(i))
			}
			noError(t, c.Ready(t.Context()))
			a.end()
			noError(t, cluster.TryReseed(t, s, 1, o, state))
			a.continues(t, startNode(t, s, o))
		})
	}
}

func TestLoss_DiskOfNode(t *testing.T) {
	t.Parallel()
	_, s := oneServer(t)
	o := withJournal(t, openJournal(t, t.TempDir()))
	a := startNode(t, s, o)
	a.leave(t, 20)
	a.waitSaved(t)
	a.end()
	o.Journal = openJournal(t, t.TempDir())
	b := startNode(t, s, o)
	a.continues(t, b)
	if at, err := b.log.LocalTail(); at == 0 || err != nil {
		t.Errorf("the new journal has record %d, %v", at, err)
	}
}

func TestLoss_Snapshots(t *testing.T) {
	t.Parallel()
	t.Run("while a node runs", func(t *testing.T) {
		_, s := oneServer(t)
		dir := t.TempDir()
		o := cluster.Options{Replicas: 1, Snapshots: cluster.Folder(dir)}
		a := startNode(t, s, o)
		a.leave(t, 20)
		a.waitSaved(t)
		noError(t, os.RemoveAll(dir))
		a.waitSaved(t)
		a.waitSaved(t)
		a.end()
		a.continues(t, startNode(t, s, o))
	})
	t.Run("while none runs", func(t *testing.T) {
		_, s := oneServer(t)
		o := alone(t)
		a := startNode(t, s, o)
		a.leave(t, 20)
		backup := a.export(t)
		a.leave(t, 5)
		a.end()
		o.Snapshots = cluster.Folder(t.TempDir())
		noError(t, cluster.TryReseed(t, s, 1, o, backup))
		a.continues(t, startNode(t, s, o))
	})
}

// The servers start with older copies of their disks. A node with a journal refuses them.
func TestLoss_ServersFromOldCopies(t *testing.T) {
	t.Parallel()
	var dir string
	c := startServers(t, 1, func(_ int, o *server.Options) { dir = o.StoreDir })
	s, saved := cluster.URLs(c.URLs(0)), t.TempDir()
	o := withJournal(t, openJournal(t, t.TempDir()))
	a := startNode(t, s, o)
	a.leave(t, 20)
	c.Stop(0)
	noError(t, os.CopyFS(saved, os.DirFS(dir)))
	noError(t, c.Restart(0))
	a.leave(t, 20)
	a.waitSaved(t)
	a.end()
	c.Stop(0)
	noError(t, errors.Join(os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(saved)), c.Restart(0), c.Ready(t.Context())))
	wantError(t, errorOf(cluster.TryOpen(t, s, 1, o)), cluster.ErrBehind)
	noError(t, cluster.TryReseed(t, s, 1, o, nil))
	a.continues(t, startNode(t, s, o))
}

func TestLoss_StreamDeletedByHand(t *testing.T) {
	t.Parallel()
	c, s := oneServer(t)
	o := withJournal(t, openJournal(t, t.TempDir()))
	a := startNode(t, s, o)
	a.leave(t, 20)
	a.waitSaved(t)
	a.leave(t, 5)
	a.end()
	noError(t, operator(t, c).DeleteStream(t.Context(), cluster.CellID(1).Stream()))
	wantError(t, errorOf(cluster.TryOpen(t, s, 1, o)), cluster.ErrBehind)
	noError(t, cluster.TryReseed(t, s, 1, o, nil))
	a.continues(t, startNode(t, s, o))
}
