package history

import (
	"fmt"
	"reflect"
	"testing"

	"handloom/store"
	"handloom/world"
)

// texts returns the texts of an item and its components after a tick, by field.
func texts(t *testing.T, h *History, id store.ID, tick uint64) map[string]string {
	t.Helper()
	s, _, err := h.Seek(t.Context(), tick)
	noError(t, err)
	all := make(map[string]string)
	text := func(v any) string { return fmt.Sprintf("%+v", reflect.ValueOf(v).Elem().Interface()) }
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
		for i, c := range all {
			if i%5 > 0 || i+1 < len(all) && all[i+1].Tick == c.Tick {
				continue
			}
			if got, err := h.Why(t.Context(), id, "", c.Tick); err != nil || !reflect.DeepEqual(got, c) {
				t.Errorf("Why of %v after tick %d: got %v, error %v, want %v", id, c.Tick, got, err, c)
			}
		}
	}
	if calls == 0 {
		t.Error("no change is by a call")
	}
}

// A cause names the call whose put the value shows, and those whose puts lost.
func TestChanges_NameTheCall(t *testing.T) {
	m := newMatch(t, plant{})
	m.play(t, 0, func(t *testing.T, w *world.World, a *arena) {
		var items []store.Handle[fighter]
		for h := range a.fighters.All() {
			items = append(items, h)
		}
		for tick := 1; tick <= 4; tick++ {
			var calls []func(q store.Queue)
			for call := range 3 {
				calls = append(calls, func(q store.Queue) {
					for put := range 3 {
						a.fighters.Put(q, items[(call+put)%4], fighter{Team: 100*tick + 10*call + put})
					}
				})
			}
			submit(t, w, calls...)
		}
	})
	h := mustOpen(t, m.dir, m.game(), Options{})
	for item, want := range map[string]string{
		"1:0.1": "tick 4, 1:0.1 Team: 322 -> 422, put #2 of call 3 of the input, lost: [put #0 of call 1 of the input]",
		"1:1.1": "tick 4, 1:1.1 Team: 310 -> 410, put #0 of call 2 of the input, lost: [put #1 of call 1 of the input]",
		"1:2.1": "tick 4, 1:2.1 Team: 320 -> 420, put #0 of call 3 of the input, lost: [put #2 of call 1 of the input put #1 of call 2 of the input]",
		"1:3.1": "tick 4, 1:3.1 Team: 321 -> 421, put #1 of call 3 of the input, lost: [put #2 of call 2 of the input]",
	} {
		all, err := h.Changes(t.Context(), itemOf(t, item), "Team", 1, 4)
		noError(t, err)
		c := all[len(all)-1]
		if got := fmt.Sprintf("%v, lost: %v", c, c.By.Lost); got != want || len(all) != 4 || c.By.Phase != "the input" || c.By.Pass != -1 || c.By.Task != -1 {
			t.Errorf("got %d changes, last %s, %+v, want 4, %s", len(all), got, c.By, want)
		}
		last, err := h.Why(t.Context(), itemOf(t, item), "Team", 4)
		if noError(t, err); !reflect.DeepEqual(last, c) {
			t.Errorf("Why: got %v, want %v", last, c)
		}
	}
}

func TestChanges_BeforeAFailureAreReturned(t *testing.T) {
	r := record(t, 60, true, failsAt(45))
	h := mustOpen(t, r.dir, replay(failsAt(45), nil), Options{})
	all, err := h.Changes(t.Context(), itemOf(t, "8:0.1"), "Sum", 40, 45)
	wantError(t, err, world.ErrTick, "tick 45")
	if len(all) == 0 || all[0].Tick != 40 || all[len(all)-1].Tick != 44 {
		t.Errorf("got %d changes, want those of ticks 40 to 44", len(all))
	}
}
