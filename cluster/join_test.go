package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A testNode is a node in this process.
type testNode struct {
	*Node
	end func() error
}

func startNode(t *testing.T, s Servers, h Host) *testNode {
	t.Helper()
	if h.Open == nil {
		h.Open = openBanks(Options{Snapshots: Folder(t.TempDir())})
	}
	n, err := Try(t.Context(), func() (*Node, error) { return Join(t.Context(), s, h) })
	noError(t, err)
	n.lease, n.openTurn = time.Second, 50*time.Millisecond
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	end := sync.OnceValue(func() error {
		stop()
		return <-ended
	})
	t.Cleanup(func() { _ = end() })
	return &testNode{n, end}
}

func place(t *testing.T, n *Node, cell CellID, weight int) {
	t.Helper()
	ctx := Wait(t)
	noError(t, Patiently(ctx, func() error { return n.Place(ctx, cell, weight) }))
}

func wantDone(t *testing.T, n *testNode, cell CellID) {
	t.Helper()
	if reply, err := n.Call(t.Context(), cell, []byte(transfer)); string(reply) != "done" || err != nil {
		t.Errorf("cell %v: got %q, %v", cell, reply, err)
	}
}

// wantNoCell calls a cell without a place. A call without a first answer is repeated for ever,
// because it may have arrived.
func wantNoCell(t *testing.T, c *Client, cell CellID) {
	t.Helper()
	err := Patiently(t.Context(), func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err := c.Call(ctx, cell, []byte(transfer))
		return err
	})
	if !errors.Is(err, ErrNoCell) {
		t.Errorf("call of a cell without a place: got %v, want %v", err, ErrNoCell)
	}
}

// leads returns the cells that a node leads and should lead, all of them open.
func (n *testNode) leads(want int) (all []CellID) {
	s := n.Status()
	open := 0
	for _, c := range s.Cells {
		if c.World.Term > 0 {
			open++
		}
		if c.World.Leader && c.Nodes[0] == n.host.Name {
			all = append(all, c.Cell)
		}
	}
	if open != want {
		return nil
	}
	return all
}

// A second node takes its share of the leaders, and gives it back at its end. Each node has one
// connection.
func TestNode_SharesCells(t *testing.T) {
	t.Parallel()
	c := StartServers(t, 1, nil)
	s, snapshots := URLs(c.URLs(0)), Folder(t.TempDir())
	h := Host{Name: "a", Replicas: 1, Open: openBanks(Options{Snapshots: snapshots})}
	a := startNode(t, s, h)
	const cells = 6
	for id := range CellID(cells) {
		place(t, a.Node, id+1, 1)
	}
	WaitUntil(t, "one node leads all", func() bool { return len(a.leads(cells)) == cells })
	h.Name = "b"
	b := startNode(t, s, h)
	WaitUntil(t, "both lead their share", func() bool {
		x, y := a.leads(cells), b.leads(cells)
		return len(x)+len(y) == cells && len(x) > 0 && len(y) > 0
	})
	WaitUntil(t, "two nodes have two connections", func() bool { return c.Connections() == 2 })
	for id := range CellID(cells) {
		wantDone(t, b, id+1)
	}
	if err := b.end(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	WaitUntil(t, "one node leads all again", func() bool { return len(a.leads(cells)) == cells })
	place(t, a.Node, 1, 0)
	WaitUntil(t, "a cell ended", func() bool { return len(a.Status().Cells) == cells-1 })
	_, err := repeat(Wait(t), Patience/8, func(ctx context.Context) (uint64, error) { return a.bucket.Put(ctx, "cell.7", []byte("{}")) })
	noError(t, err)
	WaitUntil(t, "the wrong entry is named", func() bool { return len(a.Status().Problems) == 1 })
	wantDone(t, a, 2)
	if _, err := b.Call(t.Context(), 77, []byte(transfer)); !errors.Is(err, ErrClosed) {
		t.Errorf("call by a node that has ended: got %v, want %v", err, ErrClosed)
	}
	wantNoCell(t, a.Client, 77)
	for cell, weight := range map[CellID]int{0: 1, 1: -1, 2: maxWeight + 1} {
		if err := a.Place(t.Context(), cell, weight); err == nil || !strings.Contains(err.Error(), "want 0 to 1048576, and a cell other than 0") {
			t.Errorf("Place of cell %v with weight %d: got %v", cell, weight, err)
		}
	}
}

// Open of one cell fails and panics before it succeeds; the other cell runs.
func TestNode_OpensAgain(t *testing.T) {
	t.Parallel()
	open := openBanks(Options{Snapshots: Folder(t.TempDir())})
	var stage atomic.Int32
	n := startNode(t, Embedded(t.TempDir()), Host{Name: "a", Open: func(ctx context.Context, id CellID) (*Cell, error) {
		if id == 2 {
			switch stage.Load() {
			case 0:
				return nil, errors.New("no disk")
			case 1:
				panic("no luck")
			}
		}
		return open(ctx, id)
	}})
	place(t, n.Node, 1, 1)
	place(t, n.Node, 2, 1)
	for _, text := range []string{"cell 0000000000000002: no disk", "cell 0000000000000002: open: panic: no luck"} {
		WaitUntil(t, text, func() bool {
			return slices.ContainsFunc(n.Status().Cells, func(c CellStatus) bool { return c.Err == text })
		})
		wantDone(t, n, 1)
		stage.Add(1)
	}
	wantDone(t, n, 2)
}

func TestNode_HangingOpenBlocksNoOther(t *testing.T) {
	t.Parallel()
	open := openBanks(Options{Snapshots: Folder(t.TempDir())})
	var hanging atomic.Int32
	n := startNode(t, Embedded(t.TempDir()), Host{Name: "a", Open: func(ctx context.Context, id CellID) (*Cell, error) {
		if id <= maxOpening {
			hanging.Add(1)
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
		return open(ctx, id)
	}})
	for id := range CellID(maxOpening) {
		place(t, n.Node, id+1, 1)
	}
	WaitUntil(t, "all slots are taken", func() bool { return hanging.Load() == maxOpening })
	place(t, n.Node, maxOpening+1, 1)
	WaitUntil(t, "the last cell has a leader", func() bool {
		return slices.ContainsFunc(n.Status().Cells, func(c CellStatus) bool { return c.World.Leader })
	})
}

// A second node of a name is refused while the first runs. A dead one's name is free, and a node
// that gives no sign of life is replaced.
func TestJoin_RefusesTakenName(t *testing.T) {
	t.Parallel()
	s := Embedded(t.TempDir())
	h := Host{Name: "a", Open: openBanks(Options{Snapshots: Folder(t.TempDir())})}
	first := startNode(t, s, h)
	place(t, first.Node, 1, 1)
	_, err := Join(t.Context(), s, h)
	if !errors.Is(err, ErrNameTaken) || !strings.Contains(err.Error(), fmt.Sprintf("process %d: end that one, or set another Host.Name", os.Getpid())) {
		t.Errorf("second node: got %v, want %v with its host and the fix", err, ErrNameTaken)
	}
	wantDone(t, first, 1)
	for _, name := range []string{"", "b c", "b.c"} {
		h.Name = name
		if _, err := Join(t.Context(), s, h); err == nil || !strings.Contains(err.Error(), "name: want 1 to 64 letters") {
			t.Errorf("name %q: got %v", name, err)
		}
	}
	bucket, err := dial(t, s).conn.js.KeyValue(Wait(t), bucketName)
	noError(t, err)
	const key = nodePrefix + "a"
	current := func() string {
		e, err := bucket.Get(Wait(t), key)
		noError(t, err)
		return string(e.Value())
	}
	put := func(value string) {
		t.Helper()
		_, err := bucket.Put(Wait(t), key, []byte(value))
		noError(t, err)
	}
	put(`{}`)
	WaitUntil(t, "the edited entry is restored", func() bool { return entryID([]byte(current())) == first.self.ID })

	// Another process takes the name; in the second case after somebody removed the entry.
	const foreign = `{"host":"elsewhere","id":"x","beat":1,"cells":[]}`
	for _, removed := range []bool{false, true} {
		if removed {
			noError(t, bucket.Delete(Wait(t), key))
			first = startNode(t, s, Host{Name: "a", Open: h.Open})
		}
		first.beating.Lock()
		if put(foreign); removed {
			first.revision = 0
		}
		first.beating.Unlock()
		if err := first.end(); !errors.Is(err, context.Canceled) && !errors.Is(err, ErrNameTaken) {
			t.Error(err)
		}
		if got := current(); got != foreign {
			t.Errorf("removed=%t: entry after the end of the first node: got %s, want %s", removed, got, foreign)
		}
	}

	// Nobody renews the entry: after a lease another node removes it, by its own beats, although
	// its cells open and close all the time.
	other := startNode(t, s, Host{Name: "b", Open: h.Open})
	other.beating.Lock()
	began := other.revision
	other.beating.Unlock()
	WaitUntil(t, "the silent node is removed", func() bool {
		wake(other.dirty)
		return slices.Equal(other.Status().Nodes, []string{"b"})
	})
	e := other.entry()
	other.beating.Lock()
	defer other.beating.Unlock()
	if most := began + 3*e.Beat + 10; other.revision > most {
		t.Errorf("revision %d after %d beats, want at most %d: renewals delay beats", other.revision, e.Beat, most)
	}
}

// A lateBucket is a bucket in which renewals of another process come first.
type lateBucket struct {
	jetstream.KeyValue
	late []string
}

func (b *lateBucket) Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	if len(b.late) > 0 {
		if _, err := b.Put(ctx, key, []byte(b.late[0])); err != nil {
			return 0, err
		}
		b.late = b.late[1:]
	}
	return b.KeyValue.Update(ctx, key, value, revision)
}

// The last renewal of a node that died may reach the bucket while the node starts again. A node
// that renews its entry twice runs.
func TestJoin_IgnoresLateRenewal(t *testing.T) {
	t.Parallel()
	for _, running := range []bool{false, true} {
		n, err := Join(t.Context(), Embedded(t.TempDir()), Host{Name: "a", Open: openBanks(Options{})})
		noError(t, err)
		defer n.Close()
		n.host.Name = "b"
		_, err = n.bucket.Put(Wait(t), nodePrefix+"b", []byte(`{"id":"x","beat":1}`))
		noError(t, err)
		late, want := []string{`{"id":"x","beat":2}`, `{"id":"x","beat":3}`}, ErrNameTaken
		if !running {
			late, want = late[:1], nil
		}
		n.bucket = &lateBucket{n.bucket, late}
		if err := n.claimName(Wait(t)); !errors.Is(err, want) {
			t.Errorf("running=%t: got %v, want %v", running, err, want)
		}
	}
}

// A cell of a version that waits for a handoff is not open for other nodes, whose handoff
// would have no effect.
func TestNode_WaitingCellIsNotOpen(t *testing.T) {
	t.Parallel()
	s, open := Embedded(t.TempDir()), openBanks(Options{Snapshots: Folder(t.TempDir())})
	a := startNode(t, s, Host{Name: "a", Open: open})
	place(t, a.Node, 1, 1)
	WaitUntil(t, "the cell has a leader", func() bool { return len(a.leads(1)) == 1 })
	b := startNode(t, s, Host{Name: "b", Open: func(ctx context.Context, id CellID) (*Cell, error) {
		c, err := open(ctx, id)
		c.World.Version, c.World.Wait = "bank 2", true
		return c, err
	}})
	WaitUntil(t, "the new version waits", func() bool { all := b.Status().Cells; return len(all) == 1 && all[0].World.Waits })
	WaitUntil(t, "the former version is open, and not the new one", func() bool { return b.entry().Cells == nil && len(a.entry().Cells) == 1 })
}

// Somebody deletes the bucket, and in the second case creates another. The nodes place their cells
// again and name the fault, and a new node takes its share.
func TestNode_DeletedBucketIsReplaced(t *testing.T) {
	t.Parallel()
	for _, created := range []bool{false, true} {
		c, l := oneServerLog(t)
		s, h := URLs(c.URLs(0)), Host{Replicas: 1, Open: openBanks(Options{Snapshots: Folder(t.TempDir())})}
		var nodes []*testNode
		start := func(name string) *testNode {
			h.Name = name
			nodes = append(nodes, startNode(t, s, h))
			return nodes[len(nodes)-1]
		}
		a, b := start("a"), start("b")
		const cells = 6
		for id := range CellID(cells) {
			place(t, a.Node, id+1, 1)
		}
		WaitUntil(t, "both have all cells", func() bool { return len(a.leads(cells)) > 0 && len(b.leads(cells)) > 0 })
		noError(t, l.conn.js.DeleteStream(Wait(t), placementStream.name(0)))
		if created {
			noError(t, Patiently(Wait(t), func() error {
				_, err := l.conn.js.CreateKeyValue(Wait(t), jetstream.KeyValueConfig{Bucket: bucketName})
				if errors.Is(err, jetstream.ErrBucketExists) { // a node was faster
					return nil
				}
				return err
			}))
		}
		for _, n := range nodes {
			WaitUntil(t, "the fault is named", func() bool { return strings.Contains(fmt.Sprint(n.Status().Problems), "somebody deleted it") })
		}
		start("c")
		WaitUntil(t, "three nodes share the cells", func() bool {
			all := 0
			for _, n := range nodes {
				s := n.Status()
				all += len(s.Cells)
				if len(s.Nodes) != 3 || len(s.Cells) == 0 {
					return false
				}
			}
			return all == 2*cells
		})
		for id := range CellID(cells) {
			wantDone(t, nodes[2], id+1)
		}
	}
}
