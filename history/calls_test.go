package history

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"

	"handloom/journal"
	"handloom/store"
	"handloom/world"
)

// A bank is a world whose calls work some ticks later: deposits ripen. Calls open accounts
// themselves, or have a pass open one. The model of a value is the calls of its deposits.
type bank struct {
	*store.Store
	accounts *store.Table[account]
	deposits *store.Table[deposit]
	orders   *store.Table[account]
}

type deposit struct {
	To        [1]store.Handle[account]
	Add, Left int
}

func newBank(workers int) *bank {
	b := &bank{Store: store.New(store.Options{Workers: workers})}
	b.accounts = store.Register(b.Store, store.TableOptions[account]{Name: "accounts"})
	b.deposits = store.Register(b.Store, store.TableOptions[deposit]{Name: "deposits"})
	b.orders = store.Register(b.Store, store.TableOptions[account]{Name: "orders", Events: true})
	return b
}

func (b *bank) game() Game {
	return Game{New: func(workers int) (*store.Store, world.Options, Checks, error) {
		n := newBank(workers)
		return n.Store, n.options(), nil, nil
	}}
}

func (b *bank) options() world.Options { return world.Options{Version: "bank", Hz: 60, Tick: b.tick} }

func (b *bank) tick(ctx context.Context, _ *store.Writer, _ world.Tick) error {
	if _, err := b.Flush(ctx); err != nil {
		return err
	}
	return b.Do(ctx, func(q store.Queue) {
		for _, o := range b.orders.All() {
			b.accounts.Emplace(q, *o)
		}
		for h, d := range b.deposits.All() {
			if d.Left--; d.Left == 0 {
				if a, ok := b.accounts.Get(d.To[0]); ok {
					a.Value += d.Add
				}
				b.deposits.Erase(q, h)
			}
		}
	})
}

// A booking is a call of the model: it opens an account, or makes a deposit that ripens in a tick.
type booking struct {
	Call
	account store.ID
	ripe    uint64
}

// recordBank plays random calls, and returns them with the accounts that they opened.
func recordBank(t *testing.T, random *rand.Rand, ticks int) (dir string, bookings []booking) {
	dir = t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l, err := journal.Open(dir, journal.Options{Sync: journal.Never, Keep: 1 << 30})
		noError(t, err)
		b := newBank(1)
		w, err := world.Open(t.Context(), b.Store, l, b.options())
		noError(t, err)
		add := 1
		for tick := uint64(1); tick <= uint64(ticks); tick++ {
			known := map[store.ID]bool{}
			var open []store.Handle[account]
			for h := range b.accounts.All() {
				known[h.ID] = true
				open = append(open, h)
			}
			opened, ordered := 0, 0
			for number := 1; number <= 2+random.IntN(4); number++ {
				var call func(q store.Queue)
				at := Call{tick, number}
				switch n := random.IntN(8); {
				case n == 0 && ordered == 0:
					ordered = number
					call = func(q store.Queue) { b.orders.Emplace(q, account{-1}) }
				case n <= 2 && opened == 0:
					opened = number
					call = func(q store.Queue) { b.accounts.Emplace(q, account{}) }
				case n == 3 && len(open) > 4: // makes a free slot
					h := open[random.IntN(len(open))]
					call = func(q store.Queue) { b.accounts.Erase(q, h) }
				case len(open) > 0:
					h := open[max(random.IntN(len(open)), random.IntN(len(open)))] // rather a new one
					d := deposit{To: [1]store.Handle[account]{h}, Add: add, Left: 1 + random.IntN(6)}
					add++
					bookings = append(bookings, booking{at, h.ID, tick + uint64(d.Left) - 1})
					call = func(q store.Queue) { b.deposits.Emplace(q, d) }
				default:
					call = func(q store.Queue) { b.accounts.Erase(q, store.Handle[account]{}) }
				}
				go func() { _, _ = w.Submit(t.Context(), func(q store.Queue) error { call(q); return nil }) }()
				synctest.Wait()
			}
			_, err := w.Step(t.Context())
			noError(t, err)
			synctest.Wait()
			for h, a := range b.accounts.All() {
				if known[h.ID] {
					continue
				}
				number := opened
				if a.Value < 0 {
					number = ordered
				}
				bookings = append(bookings, booking{Call{tick, number}, h.ID, 0})
			}
		}
		noError(t, w.Close(t.Context()))
		noError(t, l.Close())
	})
	return dir, bookings
}

// needed returns the calls after tick from that a value after tick to needs.
func needed(bookings []booking, id store.ID, from, to uint64) (calls []Call) {
	for _, b := range bookings {
		if b.account == id && b.ripe <= to && b.Tick > from && b.Tick <= to {
			calls = append(calls, b.Call)
		}
	}
	slices.SortFunc(calls, func(a, b Call) int { return int(10*a.Tick) + a.Number - int(10*b.Tick) - b.Number })
	return calls
}

// Calls equal the model's, for values that calls of several ticks make. Without the other calls
// accounts have other handles.
func TestCalls_EqualTheModel(t *testing.T) {
	several, moved := 0, 0
	for seed := range uint64(8) {
		random := rand.New(rand.NewPCG(7, seed))
		dir, bookings := recordBank(t, random, 40)
		h := mustOpen(t, dir, (*bank)(nil).game(), Options{})
		for _, b := range bookings {
			if b.ripe == 0 || b.ripe > 40 || random.IntN(6) > 0 {
				continue
			}
			c, err := h.Why(t.Context(), b.account, "Value", b.ripe)
			if err != nil || c.Tick != b.ripe || c.To == "" { // erased before
				continue
			}
			got, err := h.Calls(t.Context(), c)
			noError(t, err)
			var want []Call
			for n := uint64(1); len(want) == 0; n *= 2 {
				want = needed(bookings, b.account, c.Tick-min(n, c.Tick), c.Tick)
			}
			if !slices.Equal(got, want) {
				t.Errorf("seed %d: %v needs %v, want %v", seed, c, got, want)
			}
			if len(want) > 1 {
				several++
			}
			if slices.ContainsFunc(bookings, func(b booking) bool { return b.account == c.Item && b.ripe == 0 && slices.Contains(want, b.Call) }) {
				moved++
			}
		}
	}
	if several < 20 || moved < 5 {
		t.Errorf("%d changes need several calls, %d the call that opens the account, want more", several, moved)
	}
}

func TestCalls_Errors(t *testing.T) {
	dir, items := recordAccounts(t, 4)
	h := mustOpen(t, dir, Game{New: func(workers int) (*store.Store, world.Options, Checks, error) {
		s, _, o := accounts(workers)
		return s, o, nil, nil
	}}, Options{})
	c, err := h.Why(t.Context(), items[0], "Value", 3)
	noError(t, err)
	got, err := h.Calls(t.Context(), c)
	if fmt.Sprint(got) != fmt.Sprint([]Call{c.By.Call}) || err != nil {
		t.Errorf("got %v, %v, want %v", got, err, c.By.Call)
	}
	for _, row := range []struct {
		change func(c *Change)
		is     error
		text   string
	}{
		{func(c *Change) { c.Tick = 0 }, ErrRange, "history: Calls: tick 0: the tick is not kept, nearest 1"},
		{func(c *Change) { c.Tick = 99 }, ErrRange, "nearest 4"},
		{func(c *Change) { c.To = "7" }, nil, "the log does not lead to the change: tick 3, 1:0.1 Value: 2022 -> 7"},
		{func(c *Change) { c.Field = "Gold" }, nil, `unknown field "Gold"`},
	} {
		wrong := c
		row.change(&wrong)
		_, err := h.Calls(t.Context(), wrong)
		if err == nil || row.is == nil {
			row.is = err
		}
		wantError(t, errors.Join(err), row.is, row.text)
	}
	if s, _, err := h.Seek(t.Context(), 2); err != nil || s == nil {
		t.Errorf("Seek after errors: %v", err)
	}
}
