package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"handloom/internal/entrance"
)

// A node renews its entry every quarter of a lease, and removes the entry of another node that
// has not renewed it during leaseBeats of its own. So neither clocks nor delays of all nodes
// matter, such as an election of the servers: the bucket orders the beats.

func presenceSubject(name string) string { return "handloom.node." + name }

// claimName takes the node's entry in the bucket. A running node answers on its presence
// subject; without a listener, it is gone. The entry may change once without a running node: the
// last renewal of a node that died may reach the bucket late.
func (n *Node) claimName(ctx context.Context) error {
	var seen, renewals uint64
	var since time.Time
	for {
		old, err := n.bucket.Get(ctx, nodePrefix+n.host.Name)
		var revision uint64
		switch {
		case errors.Is(err, jetstream.ErrKeyNotFound):
			err = nil
		case err == nil:
			if revision = old.Revision(); revision != seen {
				if seen > 0 && entryID(old.Value()) != n.self.ID { // else only the answer to take was lost
					renewals++
				}
				if renewals > 1 {
					return n.taken(old.Value())
				}
				seen, since = revision, time.Now()
			}
			err = n.askPresence(ctx, time.Since(since) > n.lease*(leaseBeats+1)/leaseBeats)
		}
		if err == nil {
			if err = n.take(ctx, revision); err == nil {
				return nil
			}
		}
		if errors.Is(err, ErrNameTaken) {
			return err
		}
		if pause(ctx, lastRetry) != nil {
			return fmt.Errorf("cluster: bucket %s: %w: %w", bucketName, context.Cause(ctx), err)
		}
	}
}

// askPresence returns nil if no node has the name: none listens, or late and none answers.
func (n *Node) askPresence(ctx context.Context, late bool) error {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	m, err := n.conn.RequestWithContext(ctx, presenceSubject(n.host.Name), nil)
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return nil
	case err == nil:
		return n.taken(m.Data)
	case late:
		return nil
	}
	return err
}

// entryID returns the ID in an entry, or "" if somebody edited the entry.
func entryID(entry []byte) string {
	var e nodeEntry
	_ = json.Unmarshal(entry, &e)
	return e.ID
}

func (n *Node) taken(entry []byte) error {
	var e nodeEntry
	if err := json.Unmarshal(entry, &e); err != nil {
		e.Host = "an unknown host"
	}
	return fmt.Errorf("%w, on %s: end that one, or set another Host.Name", ErrNameTaken, e.Host)
}

// take listens on the presence subject and puts the entry.
func (n *Node) take(ctx context.Context, revision uint64) error {
	value, err := json.Marshal(n.entry())
	if err != nil {
		return err
	}
	sub, err := n.conn.Subscribe(presenceSubject(n.host.Name), func(m *nats.Msg) { _ = m.Respond(value) })
	if err != nil {
		return err
	}
	if err = n.put(ctx, revision); err != nil {
		_ = sub.Unsubscribe()
	}
	return err
}

// entry returns this node's entry, with the open cells. A cell of a version that waits for the
// leader's handoff cannot lead, so it is not open for others.
func (n *Node) entry() nodeEntry {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	e := n.self
	for _, id := range n.ids() {
		if w := n.hosted[id].get(); w != nil && !w.Entrance(entrance.Key{}).Waits {
			e.Cells = append(e.Cells, id.String())
		}
	}
	return e
}

// put replaces the entry of a revision, 0 for none.
func (n *Node) put(ctx context.Context, revision uint64) error {
	ctx, cancel := context.WithTimeout(ctx, appendTime)
	defer cancel()
	value, err := json.Marshal(n.entry())
	if err != nil {
		return err
	}
	if revision == 0 {
		revision, err = n.bucket.Create(ctx, nodePrefix+n.host.Name, value)
	} else {
		revision, err = n.bucket.Update(ctx, nodePrefix+n.host.Name, value, revision)
	}
	if err == nil {
		n.revision = revision
	}
	return err
}

// renew puts the entry. After a failure it finds out whether the entry is still this node's.
func (n *Node) renew(ctx context.Context) error {
	n.beating.Lock()
	defer n.beating.Unlock()
	err := n.put(ctx, n.revision)
	if err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	now, failed := n.bucket.Get(ctx, nodePrefix+n.host.Name)
	switch {
	case errors.Is(failed, jetstream.ErrKeyNotFound):
		n.revision = 0 // another node has removed it
	case failed != nil:
	case entryID(now.Value()) == "", entryID(now.Value()) == n.self.ID: // edited by hand, or the answer was lost
		n.revision = now.Revision()
	default:
		return n.taken(now.Value())
	}
	return err
}

// beat renews the entry until ctx ends or the name is lost. Cells that open and close cause further
// renewals, which are not beats and delay none. The retry of a beat has its number.
func (n *Node) beat(ctx context.Context) error {
	failed := false // the last beat
	for due := time.Now(); ; {
		over := time.NewTimer(time.Until(due))
		select {
		case <-over.C:
		case <-n.dirty:
			_ = pause(ctx, lastRetry) // more cells may open
		case <-ctx.Done():
		}
		over.Stop()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		now := time.Now()
		beats := failed || !now.Before(due)
		if beats && !failed {
			n.mutex.Lock()
			n.self.Beat++
			n.mutex.Unlock()
		}
		err := n.renew(ctx)
		failed = beats && err != nil
		switch {
		case errors.Is(err, ErrNameTaken):
			return err
		case failed:
			due = time.Now().Add(lastRetry)
		case err != nil:
			wake(n.dirty)
		case beats:
			due = now.Add(n.lease / leaseBeats)
		}
	}
}

// see takes over an entry, or nil at the end of the bucket, and counts this node's beats for others.
func (n *Node) see(ctx context.Context, e jetstream.KeyValueEntry) {
	if e == nil {
		n.mutex.Lock()
		defer n.mutex.Unlock()
		n.read = true
		return
	}
	value := e.Value()
	if e.Operation() != jetstream.KeyValuePut {
		value = nil
	} else if value == nil {
		value = []byte{}
	}
	n.mutex.Lock()
	defer n.mutex.Unlock()
	name, isNode := strings.CutPrefix(e.Key(), nodePrefix)
	before := n.placement.nodes[name]
	n.placement.set(e.Key(), value)
	if !isNode {
		return
	}
	now := n.placement.nodes[name]
	if n.heard[name]++; now.ID != before.ID {
		n.heard[name] = 1
	}
	n.revisions[name], n.missed[name] = e.Revision(), 0
	n.newest = max(n.newest, e.Revision())
	if name != n.host.Name || now.Beat <= before.Beat {
		return
	}
	n.clockOff = time.Since(e.Created())
	for other := range n.placement.nodes {
		n.missed[other]++
		switch {
		case other == name || n.missed[other] < leaseBeats:
		case n.revisions[other] == 0: // only the former bucket had it
			delete(n.placement.nodes, other)
		default:
			go n.remove(ctx, other, n.revisions[other])
		}
	}
}

// remove removes the entry of a node that gives no sign of life. It fails if there was one.
func (n *Node) remove(ctx context.Context, name string, revision uint64) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	_ = n.bucket.Delete(ctx, nodePrefix+name, jetstream.LastRevision(revision))
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
