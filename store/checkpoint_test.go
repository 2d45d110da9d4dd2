package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"

	"handloom/batch"
	"handloom/store"
)

func checkpoint(t tb, s *store.Store, into *store.Checkpoint) {
	t.Helper()
	noError(t, s.Checkpoint(context.Background(), into))
}

func rollback(t tb, s *store.Store, c *store.Checkpoint) {
	t.Helper()
	noError(t, s.Rollback(context.Background(), c))
	noError(t, s.Verify(context.Background()))
}

// Dropped data stays dropped when the epochs repeat.
func TestRollback_DropsLaterRecordings(t *testing.T) {
	for _, inWrite := range []bool{false, true} {
		s, table := newTable(t, store.Options{}, store.TableOptions[item]{Changes: true})
		other := register(t, s, store.TableOptions[item]{Name: "other"})
		hs := fill(t, s, table, 3)
		before := table.Emplace(queues(t, s, 1)[0], item{})
		flush(t, s)
		var c store.Checkpoint
		checkpoint(t, s, &c)
		stats := s.Stats()
		q := queues(t, s, 1)[0]
		flushed := table.EmplaceItems(q, make([]item, 100), nil)
		table.Erase(q, hs[0])
		table.Put(q, hs[1], item{})
		flush(t, s)
		q = queues(t, s, 1)[0]
		pending := table.Emplace(q, item{})
		noError(t, s.Inbox(callOf(func(q store.Queue) { table.Emplace(q, item{}) })))
		resolve(t, table, flushed[0])
		if inWrite {
			runFrame(t, s, func(ctx context.Context, w *store.Writer) error {
				noError(t, s.Rollback(ctx, &c))
				table.Remove(w, table.Insert(w, item{}))
				return nil
			})
		} else {
			rollback(t, s, &c)
			got := s.Stats()
			got.Tables[0].Bytes = stats.Tables[0].Bytes
			equal(t, "Stats", fmt.Sprint(got), fmt.Sprint(stats))
		}
		refused(t, table, q, "kept past its flush")
		if report := flush(t, s); report.Total != (batch.Counts{}) || s.Epoch() != 2 || table.Len() != 4 {
			t.Errorf("after the rollback a flush reports %v at epoch %d, with %d items", report, s.Epoch(), table.Len())
		}
		for range 2 { // the second Rollback is at the epoch of the lists
			for what, list := range map[string]itemSeq{"created": store.Created(table), "written": store.Written(table), "erased": store.Erased(table)} {
				for h, v := range list {
					t.Errorf("at epoch %d %v with %+v counts as %s", s.Epoch(), h, v, what)
				}
			}
			for what, p := range map[string]store.Handle[item]{"old": before, "flushed": flushed[0], "pending": pending} {
				equal(t, "the name of a "+what+" item resolves", found(table.Resolve(p)), false)
			}
			fill(t, s, other, 1)
		}
	}
}

func TestRollback_KeepsStableAddresses(t *testing.T) {
	for _, clone := range []func(dst, src *item){nil, func(dst, src *item) { *dst = *src }} {
		s, table := newStable(t, store.Options{Workers: 2}, store.TableOptions[item]{Shards: 3, Clone: clone})
		hs := fill(t, s, table, 5000)
		q := queues(t, s, 1)[0]
		table.EraseItems(q, hs[1000:2000])
		flush(t, s)
		addresses := maps.Collect(table.All())
		var c store.Checkpoint
		checkpoint(t, s, &c)
		saved := image(t, s)
		for range 5 {
			fill(t, s, table, 3000)
			q := queues(t, s, 1)[0]
			for _, h := range hs[2000:] {
				if h.ID.Slot()%64 != 0 { // each page keeps some items
					table.Erase(q, h)
				}
			}
			flush(t, s)
			rollback(t, s, &c)
			for h, v := range table.All() {
				if addresses[h] != v {
					t.Fatalf("%v was at %p and is at %p", h, addresses[h], v)
				}
			}
			equal(t, "items", table.Len(), len(addresses))
		}
		noError(t, s.Load(t.Context(), bytes.NewReader(saved)))
		equal(t, "items after Load", table.Len(), len(addresses))
		for h, old := range addresses { // Load makes new pages
			v := table.At(h)
			equal(t, "the item is at the old address", v == old, false)
			old.Value += 1000
			equal(t, "the item after a write to the old address", v.Value, old.Value-1000)
		}
	}
}

func TestCheckpoint_CoversTablesRegisteredLater(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	fill(t, s, table, 3)
	var c store.Checkpoint
	checkpoint(t, s, &c)
	late := register(t, s, store.TableOptions[item]{Name: "late", Shards: 2})
	fill(t, s, late, 5)
	before := digest(t, s)
	if err := s.Rollback(t.Context(), &c); !errors.Is(err, store.ErrCheckpoint) || digest(t, s) != before || s.Epoch() != 2 {
		t.Errorf("Rollback to a checkpoint without one of the tables: %v", err)
	}
	checkpoint(t, s, &c)
	fill(t, s, late, 5)
	rollback(t, s, &c)
	equal(t, "digest", digest(t, s), before)
	equal(t, "late.Len", late.Len(), 5)
}

func TestCheckpoint_AllocatesAConstant(t *testing.T) {
	plainBuild(t)
	bothKinds(t, func(t *testing.T, stable bool) {
		for _, items := range []int{500, 20_000} {
			s := newStore(t, store.Options{Workers: 1})
			frame := steady(t, s, items, stable)
			var c store.Checkpoint
			n := allocations(t.Context(), func(ctx context.Context) {
				checkpoint(t, s, &c)
				frame(ctx)
				wantError(t, "", s.Rollback(ctx, &c), nil)
			})
			atMost(t, "objects", n, frameCount*(phasesInFrame+2)+slack)
		}
	})
}
