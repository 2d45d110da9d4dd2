package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"handloom/internal/entrance"
	"handloom/world"
)

// A hosted cell is open on a node, or opens.
type hosted struct {
	stop  context.CancelFunc
	ended chan struct{} // closed when the cell is closed

	nextHandoff time.Time // after a failed one; rebalance uses it, as leadsSince
	leadsSince  uint64    // newest revision of an entry when this node began to lead; 0: it does not

	mutex sync.Mutex
	open  *openCell // nil: not open
	err   error     // of the last attempt
}

const (
	firstReopen = time.Second
	lastReopen  = 30 * time.Second
	closeTime   = 10 * time.Second
)

var errOpening = errors.New("the cell opens")

func (h *hosted) get() *world.World {
	if o, err := h.opened(); err == nil {
		return o.world
	}
	return nil
}

func (h *hosted) set(o *openCell, err error) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.open, h.err = o, err
}

// opened returns the open cell, or an error.
func (h *hosted) opened() (*openCell, error) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.open == nil {
		return nil, cmp.Or(h.err, errOpening)
	}
	return h.open, nil
}

func (h *hosted) leads() bool {
	w := h.get()
	return w != nil && w.Entrance(entrance.Key{}).Leader
}

// handOff makes another node the leader within a time limit.
func (h *hosted) handOff(ctx context.Context, limit time.Duration) error {
	o, err := h.opened()
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return o.world.Handoff(ctx, o.World.Version)
}

func (h *hosted) status(id CellID, nodes []string) CellStatus {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	s := CellStatus{Cell: id, Nodes: nodes}
	if h.open != nil {
		s.World = h.open.world.Status()
	}
	if h.err != nil {
		s.Err = h.err.Error()
	}
	return s
}

// play opens a cell, and opens it again after errors, until its stop is called.
func (n *Node) play(ctx context.Context, id CellID, h *hosted) {
	defer close(h.ended)
	for wait := firstReopen; ctx.Err() == nil; wait = min(2*wait, lastReopen) {
		opened, err := n.playOnce(ctx, id, h)
		h.set(nil, err)
		wake(n.dirty)
		if opened {
			wait = firstReopen
		}
		_ = pause(ctx, wait)
	}
}

func (n *Node) playOnce(ctx context.Context, id CellID, h *hosted) (opened bool, err error) {
	o, err := n.openInTurn(ctx, id)
	if err != nil {
		return false, fmt.Errorf("cell %v: %w", id, err)
	}
	h.set(o, nil)
	wake(n.dirty)
	running, ctx := errgroup.WithContext(ctx)
	running.Go(func() error { return o.world.Run(ctx) })
	if o.Serve != nil {
		running.Go(func() error {
			return o.log.Serve(ctx, o.world, func(ctx context.Context, c Call) ([]byte, error) { return o.Serve(ctx, o.world, c) })
		})
	}
	if o.Outbox != nil {
		running.Go(func() error { return o.Outbox.Run(ctx, o.world, o.log.Transport()) })
	}
	err = running.Wait()
	return true, errors.Join(err, o.close())
}

// An openCell is open on this node.
type openCell struct {
	*Cell
	log   *Log
	world *world.World
}

// openInTurn limits the cells that open at a time. A cell that takes longer than openTime lets the
// next one open.
func (n *Node) openInTurn(ctx context.Context, id CellID) (*openCell, error) {
	select {
	case n.opening <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	release := sync.OnceFunc(func() { <-n.opening })
	defer release()
	defer time.AfterFunc(n.openTurn, release).Stop()
	return n.open(ctx, id)
}

func (n *Node) open(ctx context.Context, id CellID) (o *openCell, err error) {
	o = new(openCell)
	if o.Cell, err = n.describe(ctx, id); err != nil {
		return nil, err
	}
	if o.Log.Replicas == 0 {
		o.Log.Replicas = n.host.Replicas
	}
	if o.log, err = Open(ctx, n.servers, id, o.Log); err == nil {
		o.world, err = world.Open(ctx, o.Store, o.log, o.World)
	}
	if err != nil {
		return nil, errors.Join(err, o.close())
	}
	return o, nil
}

// describe calls Host.Open, whose panic must not end the other cells.
func (n *Node) describe(ctx context.Context, id CellID) (c *Cell, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("open: panic: %v", p)
		}
	}()
	c, err = n.host.Open(ctx, id)
	if err == nil && (c == nil || c.Store == nil) {
		err = errors.New("open: got no Cell with a Store, want one, or an error")
	}
	return c, err
}

// close closes the opened parts, also after an error.
func (o *openCell) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	var errs []error
	if o.world != nil {
		errs = append(errs, o.world.Close(ctx))
	}
	if o.log != nil {
		errs = append(errs, o.log.Close())
	}
	if o.Close != nil {
		errs = append(errs, o.Close())
	}
	return errors.Join(errs...)
}
