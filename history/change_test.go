package history

import (
	"context"
	"fmt"
	"reflect"
	"strconv"
	"testing"
	"testing/synctest"

	"handloom/journal"
	"handloom/store"
	"handloom/world"
)

// texts returns the texts of an item and its components after a tick, by field.
func texts(t *testing.T, h *History, id store.ID, tick uint64) map[string]string {
	t.Helper()
	s, _, err := h.Seek(t.Context(), tick)
	noError(t, err)
	all := make(map[string]string)
	text := func(v any) string {
		if s, ok := v.(*string); ok {
			return strconv.Quote(*s)
		}
		return fmt.Sprintf("%+v", reflect.ValueOf(v).Elem().Interface())
	}
	for _, table := range []string{"units", "plans", "notes"} {
		for other, v := range s.DumpTable(table, 0) {
			if other == id {
				all[""] = text(v)
			}
		}
	}
	for name, v := range s.DumpColumns(id) {
		all[name] = text(v)
	}
	return all
}

// The changes of an item lead from its state after each tick to the next, one from the other, and
// Why is the last of them.
func TestChanges_LeadThroughTheStates(t *testing.T) {
	if testing.Short() {
		t.Skip("plays one tick after another")
	}
	const first, last = 60, 90
	r := record(t, last, true, same)
	h := mustOpen(t, r.dir, replay(same, nil), Options{})
	lived := map[store.ID]bool{}
	var items []store.ID // of each table: one that lived before the first tick, and one that did not
	for _, tick := range []uint64{first - 1, first + 10} {
		s, _, err := h.Seek(t.Context(), tick)
		noError(t, err)
		for _, table := range []string{"units", "plans", "notes"} {
			chosen := false
			for id := range s.DumpTable(table, 0) {
				if !lived[id] && !chosen {
					items, chosen = append(items, id), true
				}
				lived[id] = true
			}
		}
	}
	calls := 0
	for _, id := range items {
		all, err := h.Changes(t.Context(), id, "", first, last)
		noError(t, err)
		now := texts(t, h, id, first-1)
		next := all
		for tick := uint64(first); tick <= last; tick++ {
			for ; len(next) > 0 && next[0].Tick == tick; next = next[1:] {
				c := next[0]
				if c.From != now[c.Field] || c.From == c.To || c.By.Kind == "" {
					t.Fatalf("%v, want a change from %q", c, now[c.Field])
				}
				if now[c.Field] = c.To; c.To == "" {
					delete(now, c.Field)
				}
				if c.By.Call > 0 {
					calls++
				}
			}
			if want := texts(t, h, id, tick); !reflect.DeepEqual(now, want) {
				t.Fatalf("item %v after tick %d: changes lead to %v, want %v", id, tick, now, want)
			}
		}
		for _, i := range []int{len(all) - 1, len(all) / 2} {
			if len(all) == 0 {
				break
			}
			for i+1 < len(all) && all[i+1].Tick == all[i].Tick {
				i++
			}
			got, err := h.Why(t.Context(), id, "", all[i].Tick)
			noError(t, err)
			if !reflect.DeepEqual(got, all[i]) {
				t.Errorf("Why of %v after tick %d: %v, want %v", id, all[i].Tick, got, all[i])
			}
		}
	}
	if calls == 0 {
		t.Error("no change is by a call")
	}
}

type account struct{ Value int }

// accounts is a world whose values name their calls: tick, call and put.
func accounts(workers int) (*store.Store, *store.Table[account], world.Options) {
	s := store.New(store.Options{Workers: workers})
	table := store.Register(s, store.TableOptions[account]{Name: "accounts"})
	return s, table, world.Options{
		Version: "accounts", Hz: 60,
		Init: func(_ context.Context, w *store.Writer) error {
			for range 4 {
				table.Insert(w, account{})
			}
			return nil
		},
		Tick: func(context.Context, *store.Writer, world.Tick) error { return nil },
	}
}

func recordAccounts(t *testing.T, ticks int) (dir string, items []store.ID) {
	dir = t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l, err := journal.Open(dir, journal.Options{Sync: journal.Never})
		noError(t, err)
		s, table, o := accounts(1)
		w, err := world.Open(t.Context(), s, l, o)
		noError(t, err)
		for h := range table.All() {
			items = append(items, h.ID)
		}
		for tick := 1; tick <= ticks; tick++ {
			for call := range 3 {
				go func() {
					_, _ = w.Submit(t.Context(), func(q store.Queue) error {
						for put := range 3 {
							h := store.Handle[account]{ID: items[(call+put)%4]}
							table.Put(q, h, account{1000*tick + 10*call + put})
						}
						return nil
					})
				}()
				synctest.Wait()
			}
			_, err := w.Step(t.Context())
			noError(t, err)
			synctest.Wait()
		}
		noError(t, w.Close(t.Context()))
		noError(t, l.Close())
	})
	return dir, items
}

// A cause names the call whose put the value shows, and those whose puts lost.
func TestChanges_BeforeAFailureAreReturned(t *testing.T) {
	r := record(t, 60, true, failsAt(45))
	h := mustOpen(t, r.dir, replay(failsAt(45), nil), Options{})
	past, err := store.ParseID("8:0.1")
	noError(t, err)
	all, err := h.Changes(t.Context(), past, "Sum", 40, 45)
	wantError(t, err, world.ErrTick, "tick 45")
	if len(all) == 0 || all[0].Tick != 40 || all[len(all)-1].Tick != 44 {
		t.Errorf("got %d changes, want those of ticks 40 to 44", len(all))
	}
}

func TestChanges_NameTheCall(t *testing.T) {
	dir, items := recordAccounts(t, 4)
	h := mustOpen(t, dir, Game{New: func(workers int) (*store.Store, world.Options, Checks, error) {
		s, _, o := accounts(workers)
		return s, o, nil, nil
	}}, Options{})
	for i, id := range items {
		all, err := h.Changes(t.Context(), id, "Value", 1, 4)
		noError(t, err)
		if len(all) != 4 {
			t.Fatalf("%d changes, want one in each of 4 ticks", len(all))
		}
		for k, c := range all {
			value, _ := strconv.Atoi(c.To)
			want := Cause{
				Kind: "put", Phase: "the input", Pass: -1, Task: -1,
				Sequence: value % 10, Call: value/10%10 + 1,
			}
			lost := c.By.Lost
			if c.By.Lost = nil; !reflect.DeepEqual(c.By, want) || value/1000 != k+1 {
				t.Errorf("%v, want %v", c, want)
			}
			for call := range 3 {
				put := (i - call + 4) % 4
				if put == 3 || call == want.Call-1 {
					continue
				}
				if l := lost[0]; l.Call != call+1 || l.Sequence != put {
					t.Errorf("%v lost %v, want put #%d of call %d", c, l, put, call+1)
				}
				lost = lost[1:]
			}
			if len(lost) > 0 {
				t.Errorf("%v also lost %v", c, lost)
			}
		}
	}
	c, err := h.Why(t.Context(), items[0], "Value", 4)
	noError(t, err)
	const text = "tick 4, 1:0.1 Value: 3022 -> 4022, put #2 of call 3 of the input"
	if c.String() != text {
		t.Errorf("got %v, want %s", c, text)
	}
	gone := store.ID(uint64(items[0]) + 99)
	for _, c := range []struct {
		run  func() error
		is   error
		text string
	}{
		{func() error { _, err := h.Changes(t.Context(), gone, "", 1, 4); return err }, nil, "does not exist in ticks 1 to 4"},
		{func() error { _, err := h.Why(t.Context(), gone, "", 4); return err }, nil, "does not exist in ticks 0 to 4"},
		{func() error { _, err := h.Why(t.Context(), items[0], "Gold", 4); return err }, nil, `unknown field "Gold" of table "accounts", want one of "Value"`},
		{func() error { _, err := h.Why(t.Context(), items[0], "", 5); return err }, ErrRange, "nearest 4"},
		{func() error { _, err := h.Changes(t.Context(), items[0], "", 2, 9); return err }, ErrRange, "nearest 4"},
		{func() error { _, err := h.Changes(t.Context(), items[0], "", 0, 9); return err }, nil, "got ticks 0 to 9"},
		{func() error { _, err := h.Why(t.Context(), items[0], "", 0); return err }, ErrRange, "nearest 1"},
	} {
		err := c.run()
		if err == nil {
			t.Errorf("no error, want %q", c.text)
			continue
		}
		if c.is == nil {
			c.is = err
		}
		wantError(t, err, c.is, c.text)
	}
}
