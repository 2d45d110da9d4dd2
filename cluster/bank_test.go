package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
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

// BankNode runs a node of cell 1 until standard input ends, and reports when it leads. words are
// URLs and the folder of snapshots.
func BankNode(words []string) (exit int) {
	return process.Serve(os.Stdin, os.Stdout, func(ctx context.Context, c *process.Child) error {
		l, err := Open(ctx, URLs(strings.Split(words[0], ",")), 1, Options{Snapshots: Folder(words[1])})
		if err != nil {
			return err
		}
		defer l.Close()
		b := newBank()
		w, err := world.Open(ctx, b.store, l, b.options())
		if err != nil {
			return err
		}
		defer w.Close(context.Background())
		go func() {
			for leads := false; ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
				if now := w.Status().Leader; now != leads {
					leads = now
					c.Logf("leads %t", leads)
				}
			}
		}()
		go l.Serve(ctx, w, func(ctx context.Context, c Call) ([]byte, error) { return b.serve(ctx, w, c) })
		if err := w.Run(ctx); !errors.Is(err, context.Canceled) {
			return fmt.Errorf("run: %w", err)
		}
		return nil
	})
}
