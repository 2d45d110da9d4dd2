package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
	"time"

	"handloom/proof/process"
	"handloom/store"
	"handloom/world"
)

// A bank is the program of a cell.
type bank struct {
	store    *store.Store
	accounts *store.Table[bankAccount]
	orders   *world.Requests[bankOrder, string]
}

type bankAccount struct{ Balance int }

type bankOrder struct{ From, To, Amount int }

const (
	bankAccounts = 5
	bankBalance  = 100
)

func newBank() *bank {
	b := &bank{store: store.New(store.Options{})}
	b.accounts = store.Register(b.store, store.TableOptions[bankAccount]{Name: "account"})
	b.orders = world.NewRequests[bankOrder, string](b.store, "order", 1_000_000, time.Hour)
	return b
}

func (b *bank) options() world.Options {
	return world.Options{
		Version: "bank", SnapshotTicks: 300,
		Init: func(_ context.Context, w *store.Writer) error {
			for range bankAccounts {
				b.accounts.Insert(w, bankAccount{bankBalance})
			}
			return nil
		},
		Tick: b.orders.Tick(func(_ *store.Writer, _ world.Tick, o bankOrder) string {
			all := b.all()
			switch {
			case o.From >= len(all):
				return "no such account"
			case all[o.From].Balance < o.Amount:
				return "not enough money"
			}
			all[o.From].Balance -= o.Amount
			all[o.To].Balance += o.Amount
			return "done"
		}),
	}
}

func (b *bank) all() (all []*bankAccount) {
	for _, a := range b.accounts.All() {
		all = append(all, a)
	}
	return all
}

// serve answers an order, or the balances if the body is empty.
func (b *bank) serve(ctx context.Context, w *world.World, c Call) (reply []byte, err error) {
	if len(c.Body) == 0 {
		err = w.Read(ctx, func(context.Context, world.Tick) error {
			reply, err = json.Marshal(b.all())
			return err
		})
		return reply, err
	}
	var o bankOrder
	if err := json.Unmarshal(c.Body, &o); err != nil {
		return nil, err
	}
	answer, err := b.orders.Submit(ctx, w, c.Key, o)
	return []byte(answer), err
}

// BankArg is the first argument of a process that runs [BankNode].
const BankArg = "bank-node"

// BankNode runs a node until standard input ends. words are its name, copies of a cell, the
// lease, the election timeout, the folder of snapshots, and URLs. It reports leads CELL TERM, lost
// CELL 0, and open N 0.
func BankNode(words []string) (exit int) {
	return process.Serve(os.Stdin, os.Stdout, func(ctx context.Context, c *process.Child) error {
		copies, err := strconv.Atoi(words[1])
		lease, err2 := time.ParseDuration(words[2])
		election, err3 := time.ParseDuration(words[3])
		if err := errors.Join(err, err2, err3); err != nil {
			return err
		}
		o := Options{Snapshots: Folder(words[4]), ElectionTimeout: election}
		n, err := Join(ctx, URLs(strings.Split(words[5], ",")), Host{Name: words[0], Copies: copies, Open: openBanks(o)})
		switch {
		case ctx.Err() != nil: // ended while it joined
			return nil
		case err != nil:
			return err
		}
		n.lease = lease
		go n.report(ctx, c)
		if err := n.Run(ctx); !errors.Is(err, context.Canceled) {
			return fmt.Errorf("run: %w", err)
		}
		return nil
	})
}

// openBanks returns a Host.Open for banks with logs of o.
func openBanks(o Options) func(context.Context, CellID) (*Cell, error) {
	return func(context.Context, CellID) (*Cell, error) {
		b := newBank()
		return &Cell{Store: b.store, World: b.options(), Log: o, Serve: b.serve}, nil
	}
}

func (n *Node) report(ctx context.Context, c *process.Child) {
	leads, open := map[CellID]uint32{}, -1
	for ; ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
		n.mutex.Lock()
		now := maps.Clone(n.hosted)
		n.mutex.Unlock()
		for id := range leads {
			if now[id] == nil {
				now[id] = new(hosted) // a cell that moved away has no leader here
			}
		}
		count := 0
		for id, h := range now {
			term := uint32(0)
			if w := h.get(); w != nil {
				count++
				if s := w.Status(); s.Leader {
					term = s.Term
				}
			}
			if term != leads[id] {
				leads[id] = term
				c.Logf("%s %d %d", map[bool]string{true: "leads", false: "lost"}[term > 0], id, term)
			}
		}
		if count != open {
			open = count
			c.Logf("open %d 0", open)
		}
	}
}
