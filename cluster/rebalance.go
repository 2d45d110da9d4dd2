package cluster

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"handloom/internal/check"
)

// Run opens and closes cells as the bucket places them, until ctx ends. Then it hands its cells to
// the other nodes, closes them, and leaves the bucket. It returns the cause of ctx, or
// [ErrNameTaken] if another process has taken the name while this node gave no sign of life. It
// closes the node's Client. Call it once.
func (n *Node) Run(ctx context.Context) error {
	check.Given(ctx != nil, "cluster: Run", "context")
	running, live := errgroup.WithContext(ctx)
	running.Go(func() error { return n.watch(live) })
	running.Go(func() error { return n.beat(live) })
	running.Go(func() error { return n.rebalance(live) })
	running.Go(func() error { return n.awaitDrain(live) })
	err := running.Wait()
	n.leave()
	return errors.Join(err, n.Close())
}

// rebalanceEvery is the time between looks at the cells, because followers report nothing when
// they have caught up.
const rebalanceEvery = 500 * time.Millisecond

const (
	moveHandoff  = 5 * time.Second // time limit of a handoff
	leaveHandoff = time.Second     // the successor may leave, too
)

// rebalance opens all cells of this node, and moves one cell at a time to other nodes.
func (n *Node) rebalance(ctx context.Context) error {
	tick := time.NewTicker(rebalanceEvery)
	defer tick.Stop()
	for {
		n.openMissing(ctx)
		if m := n.nextMove(); m.hosted != nil {
			n.move(ctx, m)
		}
		select {
		case <-n.changed:
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// ids returns the hosted cells in order. It needs the mutex.
func (n *Node) ids() []CellID { return slices.Sorted(maps.Keys(n.hosted)) }

func (n *Node) openMissing(ctx context.Context) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if !n.read {
		return
	}
	all := n.placement.assign(n.host.Copies)
	for _, id := range slices.Sorted(maps.Keys(all)) {
		if n.hosted[id] == nil && slices.Contains(all[id], n.host.Name) {
			life, stop := context.WithCancel(context.WithoutCancel(ctx))
			h := &hosted{stop: stop, ended: make(chan struct{})}
			n.hosted[id] = h
			go n.play(life, id, h)
		}
	}
}

// A move gives a cell to other nodes.
type move struct {
	*hosted
	hand bool // make another node the leader first
	away bool // close the cell
}

// noteLeads notes since when this node leads its cells. It needs the mutex.
func (n *Node) noteLeads() {
	for _, h := range n.hosted {
		switch leads := h.leads(); {
		case !leads:
			h.leadsSince = 0
		case h.leadsSince == 0:
			h.leadsSince = n.newest
		}
	}
}

// nextMove returns the next cell that should change its leader, or close here, or the zero move. A
// cell closes once all its nodes have it open. Nodes count that were heard twice, because somebody
// may have written the entry of a node that does not exist. A node gets back a cell after a sign of life that is
// newer than the present leader: the leader before may have died on that node.
func (n *Node) nextMove() move {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if _, joined := n.placement.nodes[n.host.Name]; !joined || !n.read {
		return move{} // others have removed this node
	}
	n.noteLeads()
	all := n.placement.assign(n.host.Copies)
	for _, id := range n.ids() {
		h, nodes := n.hosted[id], all[id]
		missing := func(name string) bool { return n.heard[name] < 2 || !n.placement.hasOpen(name, id) }
		mine := slices.Contains(nodes, n.host.Name)
		switch {
		case !mine && !slices.ContainsFunc(nodes, missing):
			delete(n.hosted, id)
			return move{h, len(nodes) > 0, true}
		case mine && nodes[0] != n.host.Name && !missing(nodes[0]) && h.leadsSince > 0 && n.revisions[nodes[0]] > h.leadsSince && time.Now().After(h.nextHandoff):
			return move{h, true, false}
		}
	}
	return move{}
}

func (n *Node) move(ctx context.Context, m move) {
	if m.hand && m.leads() {
		// After an error nobody led for the time limit. A cell that closes has a leader after the
		// election timeout.
		if err := m.handOff(ctx, moveHandoff); err != nil {
			m.nextHandoff = time.Now().Add(lastReopen)
		}
	}
	if m.away {
		m.stop()
		<-m.ended
		wake(n.dirty)
		wake(n.changed)
	}
}

// leave removes the entry of the node, unless another process has renewed it, hands the cells to
// nodes that stay, and closes them.
func (n *Node) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if n.revision > 0 { // else the entry is removed; LastRevision(0) would always delete
		_ = n.bucket.Delete(ctx, nodePrefix+n.host.Name, jetstream.LastRevision(n.revision))
	}
	stay, err := n.readNodes(ctx)
	var closing errgroup.Group
	closing.SetLimit(maxOpening)
	for id, h := range n.hosted {
		closing.Go(func() error {
			isOpen := func(name string) bool { return n.heard[name] > 1 && stay.hasOpen(name, id) }
			if err == nil && slices.ContainsFunc(slices.Collect(maps.Keys(stay.nodes)), isOpen) && h.leads() {
				_ = h.handOff(ctx, leaveHandoff)
			}
			h.stop()
			<-h.ended
			return nil
		})
	}
	_ = closing.Wait()
}

// readNodes returns the nodes now in the bucket.
func (n *Node) readNodes(ctx context.Context) (p placement, err error) {
	p = newPlacement()
	w, err := n.bucket.Watch(ctx, nodePrefix+"*", jetstream.IgnoreDeletes())
	if err != nil {
		return p, err
	}
	defer func() { _ = w.Stop() }()
	for e := range w.Updates() {
		if e == nil {
			return p, nil
		}
		p.set(e.Key(), e.Value())
	}
	return p, context.Cause(ctx)
}
