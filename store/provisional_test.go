package store_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"handloom/batch"
	"handloom/store"
)

func TestProvisional_ResolvesUntilNextFlush(t *testing.T) { bothKinds(t, resolvesUntilNextFlush) }

func resolvesUntilNextFlush(t *testing.T, stable bool) {
	s := newStore(t, store.Options{})
	table := registerKind(t, s, store.TableOptions[item]{}, stable)
	other := register(t, s, store.TableOptions[item]{Name: "other"})
	p := table.Emplace(queues(t, s, 1)[0], item{})
	equal(t, "it resolves before the flush", found(table.Resolve(p)), false)
	flush(t, s)
	h := resolve(t, table, p)
	steps := []struct {
		what string
		do   func()
	}{
		{"an empty flush", func() { flush(t, s) }},
		{"an empty flush of a pass", func() { queues(t, s, 3); flush(t, s) }},
		{"recording", func() { other.Emplace(queues(t, s, 1)[0], item{}) }},
		{"a flush that fails", func() {
			wantError(t, "", onlyError(s.Flush(ended{context.Background()})), context.Canceled)
		}},
		{"discarding", func() { _ = s.Discard() }},
	}
	for _, step := range steps {
		step.do()
		equal(t, "the name after "+step.what, resolve(t, table, p), h)
	}
	other.Emplace(queues(t, s, 1)[0], item{}) // nothing for the table of p
	flush(t, s)
	equal(t, "it resolves after a flush with commands", found(table.Resolve(p)), false)
}

// No create gets a handle that was given before, however many batches are flushed, discarded or
// rolled back.
func TestProvisional_StaysStale(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	old := table.Emplace(queues(t, s, 1)[0], item{})
	flush(t, s)
	var start store.Checkpoint
	checkpoint(t, s, &start)
	const batches = 1<<16 + 10
	for i := range batches {
		q := queues(t, s, 1)[0]
		p := table.Emplace(q, item{Value: 1})
		table.Erase(q, old)
		table.Put(q, old, item{Value: 2})
		if i > 0 && i < batches-20 {
			noError(t, s.Discard())
			continue
		}
		wantFlush(t, s, batch.Counts{Created: 1, Stale: 2})
		equal(t, "the name of the first create resolves", found(table.Resolve(old)), false)
		equal(t, fmt.Sprintf("value after %d batches", i), table.At(resolve(t, table, p)).Value, 1)
		if i%2 == 0 {
			rollback(t, s, &start)
		}
	}
}

// A handle in a live item stays stale in a store that loads the snapshot.
func TestProvisional_StaleAfterLoadIntoAnotherStore(t *testing.T) {
	ctx := context.Background()
	first, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "items", Shards: 2})
	old := table.Emplace(queues(t, first, 1)[0], item{Value: 1})
	flush(t, first)
	var saved bytes.Buffer
	noError(t, first.Snapshot(ctx, &saved))
	second, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "items", Shards: 2})
	noError(t, second.Load(ctx, &saved))
	q := queues(t, second, 1)[0]
	mine := table.Emplace(q, item{Value: 2})
	table.Erase(q, old)
	table.Put(q, old, item{Value: 3})
	wantFlush(t, second, batch.Counts{Created: 1, Stale: 2})
	equal(t, "the name of the store before resolves", found(table.Resolve(old)), false)
	equal(t, "value of the create", table.At(resolve(t, table, mine)).Value, 2)
}
