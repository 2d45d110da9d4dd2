package cluster

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"handloom/internal/check"
	"handloom/store"
	"handloom/world"
)

// A Host describes a node of many cells.
type Host struct {
	// Name is the node's name among all nodes: 1 to 64 letters, digits, - and _. It is the same
	// after a restart.
	Name string

	// Open returns the program of a cell, with a new store. It is called by several goroutines. An
	// error leaves the other cells alone, and Open is called again after a pause.
	Open func(ctx context.Context, id CellID) (*Cell, error)

	// Copies is the number of nodes per cell, a leader and followers; default 2. All nodes have
	// the same.
	Copies int

	// Replicas is the number of servers that keep the bucket, and of Cell.Log by default; default
	// 3, or 1 with an embedded server.
	Replicas int
}

// A Cell is the program of a cell on a node.
type Cell struct {
	Store *store.Store
	World world.Options
	Log   Options

	// Serve, which may be nil, answers calls as in [Log.Serve].
	Serve func(ctx context.Context, w *world.World, c Call) (reply []byte, err error)

	// Outbox, which may be nil, is the cell's [cells.Outbox]. It runs next to the world.
	Outbox outbox

	// Close, which may be nil, is called after the world and its log have closed.
	Close func() error
}

// A Node plays its share of the cells of a cluster, and calls cells. Its methods except Run may
// be called by any goroutine.
type Node struct {
	*Client
	host     Host
	servers  Servers
	bucket   jetstream.KeyValue
	lease    time.Duration
	opening  chan struct{} // limits cells that open at a time
	openTurn time.Duration // for which a cell counts as opening
	changed  chan struct{} // has a value after the placement or a hosted cell changed
	dirty    chan struct{} // has a value after the set of open cells changed
	drain    chan struct{} // has a value after an operator drained the node

	beating  sync.Mutex
	revision uint64 // of this node's entry; protected by beating

	mutex     sync.Mutex
	placement placement
	read      bool              // the whole bucket was read
	self      nodeEntry         // without Cells
	revisions map[string]uint64 // revisions of nodes' entries
	newest    uint64            // the highest of revisions so far
	missed    map[string]int    // beats of this node since another's last
	heard     map[string]int    // entries of the present process of a node
	created   time.Time         // of the bucket
	replaced  string            // a problem: an earlier bucket was deleted
	wrong     error             // wrong settings of the bucket
	clockOff  time.Duration     // this clock minus the servers', at the last beat
	hosted    map[CellID]*hosted
}

const (
	// leaseTime is the longest time without a sign of life until another node takes the place of a
	// node: its next leaseBeats beats.
	leaseTime  = 10 * time.Second
	leaseBeats = 4

	maxOpening = 4

	maxClockOff = 10 * time.Second // includes the delay of a beat
)

var errName = errors.New("name: want 1 to 64 letters, digits, - and _")

// Join registers a node in the bucket "handloom" of the servers, which it creates if it is
// missing. All cells of a node share one connection, and so the rights of one account.
//
// The error is [ErrSettings] if the bucket has other settings or Host.Replicas, and [ErrNameTaken]
// if a node with this name runs; Join waits up to 12 s for a node that does not answer. Close the node's Client, or call Run, which closes it.
func Join(ctx context.Context, servers Servers, h Host) (*Node, error) {
	check.Given(ctx != nil, "cluster: Join", "context")
	check.Given(h.Open != nil, "cluster: Join", "Host.Open")
	if h.Copies == 0 {
		h.Copies = 2
	}
	if h.Copies < 1 || !nodeName.MatchString(h.Name) {
		return nil, fmt.Errorf("cluster: Join: Host.Copies: got %d, want at least 1; Host.Name: got %q, %w", h.Copies, h.Name, errName)
	}
	if h.Replicas == 0 {
		h.Replicas = servers.replicas()
	}
	ctx, cancel := context.WithTimeout(ctx, openTime+2*leaseTime)
	defer cancel()
	client, err := Dial(ctx, servers)
	if err != nil {
		return nil, err
	}
	n := newNode(client, servers, h)
	if err := n.join(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("cluster: Join: node %q: %w", h.Name, err), client.Close())
	}
	return n, nil
}

func newNode(c *Client, servers Servers, h Host) *Node {
	servers.shared = c.conn
	machine, _ := os.Hostname()
	return &Node{
		Client: c, host: h, servers: servers, lease: leaseTime, openTurn: openTime,
		opening: make(chan struct{}, maxOpening), changed: make(chan struct{}, 1), dirty: make(chan struct{}, 1), drain: make(chan struct{}, 1),
		placement: newPlacement(), self: nodeEntry{Host: fmt.Sprintf("%s, process %d", machine, os.Getpid()), ID: rand.Text()},
		revisions: make(map[string]uint64), missed: make(map[string]int), heard: make(map[string]int), hosted: make(map[CellID]*hosted),
	}
}

func (n *Node) join(ctx context.Context) error {
	err := retry(ctx, isWrongSettings, func(ctx context.Context) error {
		s, err := openStream(ctx, n.conn.js, beginsNow(n.settings()))
		if err == nil {
			n.created = s.CachedInfo().Created
			n.bucket, err = n.conn.js.KeyValue(ctx, bucketName)
		}
		return err
	})
	if err != nil {
		return err
	}
	return n.claimName(ctx)
}

// Place gives a cell a place on nodes, with a weight from 1: its share of a node's load. Weight 0
// ends the cell on all nodes; its log stays. An error leaves the outcome open.
func (n *Node) Place(ctx context.Context, cell CellID, weight int) error {
	check.Given(ctx != nil, "cluster: Place", "context")
	if cell == 0 || weight < 0 || weight > maxWeight {
		return fmt.Errorf("cluster: Place: cell %v: weight: got %d, want 0 to %d, and a cell other than 0", cell, weight, maxWeight)
	}
	value, err := json.Marshal(cellEntry{weight})
	if err == nil {
		_, err = repeat(ctx, firstAnswer, func(ctx context.Context) (_ any, err error) {
			if weight == 0 {
				return nil, n.bucket.Delete(ctx, cellPrefix+cell.String())
			}
			_, err = n.bucket.Put(ctx, cellPrefix+cell.String(), value)
			return nil, err
		})
	}
	if err != nil {
		return fmt.Errorf("cluster: Place: cell %v: %w", cell, err)
	}
	return nil
}

// A NodeStatus is the state of a node.
type NodeStatus struct {
	Nodes    []string     // nodes that run
	Cells    []CellStatus // that this node plays or should play, by ID
	Problems []string     // wrong clock, settings and entries of the bucket, with the fix of each
}

// A CellStatus is the state of a cell on a node.
type CellStatus struct {
	Cell  CellID
	Nodes []string     // its nodes; the first one should lead
	World world.Status // zero: not open
	Err   string       // the last error of Open or of the world, until the cell opens again
}

// Status returns the status.
func (n *Node) Status() NodeStatus {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	s := NodeStatus{Problems: n.placement.problems()}
	if n.replaced != "" {
		s.Problems = append(s.Problems, n.replaced)
	}
	if n.wrong != nil {
		s.Problems = append(s.Problems, n.wrong.Error())
	}
	if off := n.clockOff; off.Abs() > maxClockOff {
		s.Problems = append(s.Problems, fmt.Sprintf("clock: %v ahead of the servers; set the clock of this machine, or of the servers", off.Round(time.Second)))
	}
	for name := range n.placement.nodes {
		s.Nodes = append(s.Nodes, name)
	}
	slices.Sort(s.Nodes)
	for _, name := range s.Nodes {
		if n.heard[name] < 2 && n.missed[name] > 1 {
			s.Problems = append(s.Problems, fmt.Sprintf("bucket %s: key %s%s: no node has renewed it; delete the key", bucketName, nodePrefix, name))
		}
	}
	all := n.placement.assign(n.host.Copies)
	for _, id := range n.ids() {
		s.Cells = append(s.Cells, n.hosted[id].status(id, all[id]))
	}
	return s
}
