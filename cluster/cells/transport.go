package cells

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"handloom/internal/check"
)

// Transport carries packets to the nodes of other cells. It may lose, delay, repeat and reorder
// packets and answers. Several goroutines call its methods.
type Transport interface {
	// Request sends a packet to the nodes of a cell and returns the first answer without error,
	// never the answer to another packet.
	Request(ctx context.Context, to ID, packet []byte) (cursor uint64, err error)

	// Serve calls answer with the packets for a cell until ctx ends, and returns the cause. Only
	// nodes that lead the cell, or have just led it, serve it. Errors may be dropped. from is the
	// sender that the transport vouches for, or 0: a packet in the name of another cell is
	// dropped.
	Serve(ctx context.Context, cell ID, answer func(ctx context.Context, from ID, packet []byte) (cursor uint64, err error)) error
}

// Local returns a Transport between the cells of one process.
func Local() Transport { return &local{nodes: make(map[ID][]*node)} }

type local struct {
	mutex sync.Mutex
	nodes map[ID][]*node
}

// A node serves a cell.
type node struct {
	answer func(ctx context.Context, from ID, packet []byte) (uint64, error)
}

func (l *local) Request(ctx context.Context, to ID, packet []byte) (uint64, error) {
	check.Given(ctx != nil, "cells: Request", "context")
	l.mutex.Lock()
	nodes := slices.Clone(l.nodes[to])
	l.mutex.Unlock()
	err := fmt.Errorf("cells: %v: %w; start it, or call Outbox.Abandon if it is gone forever", to, ErrUnreachable)
	for _, n := range nodes {
		cursor, failed := n.answer(ctx, 0, packet)
		if failed == nil {
			return cursor, nil
		}
		err = errors.Join(err, failed)
	}
	return 0, err
}

func (l *local) Serve(ctx context.Context, cell ID, answer func(ctx context.Context, from ID, packet []byte) (uint64, error)) error {
	check.Given(ctx != nil, "cells: Serve", "context")
	check.Given(answer != nil, "cells: Serve", "function")
	n := &node{answer}
	l.mutex.Lock()
	l.nodes[cell] = append(l.nodes[cell], n)
	l.mutex.Unlock()
	<-ctx.Done()
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.nodes[cell] = slices.DeleteFunc(l.nodes[cell], func(o *node) bool { return o == n })
	return context.Cause(ctx)
}
