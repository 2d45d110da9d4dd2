package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"handloom/internal/entrance"
	"handloom/proof/model"
	"handloom/proof/script"
	"handloom/store"
)

// see counts a rare state. Any goroutine may call it.
func (p *executor) see(s model.Seen) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.result.Seen.See(s)
}

// want fails unless ok.
func (p *executor) want(ok bool, format string, args ...any) {
	if !ok {
		p.fail(Model, format, args...)
	}
}

// sameHandles fails unless two lists of handles are equal, in order.
func (p *executor) sameHandles(got, want []uint64, format string, args ...any) {
	if !slices.Equal(got, want) {
		p.fail(Model, "%s has %s; want %s", fmt.Sprintf(format, args...), list(got), list(want))
	}
}

// expect fails unless err wraps the documented error.
func (p *executor) expect(err, want error, what string) {
	if !errors.Is(err, want) {
		p.fail(kindFor(want), "%s: the error is %v; want %v", what, err, want)
	}
}

// kindFor returns the kind of failure if an error is missing.
func kindFor(err error) Kind {
	if errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrQueueFull) {
		return Limit
	}
	return Model
}

// accepted fails if found differs from the models.
func (p *executor) accepted(id uint64, found bool) {
	if found {
		p.fail(Forged, "the handle %s is found and names nothing", model.Text(id))
	} else {
		p.fail(Model, "the handle %s names an item that is not found", model.Text(id))
	}
}

// digestOf returns the digest of the store, which must not fail.
func (p *executor) digestOf(ctx context.Context) uint64 {
	digest, err := p.store.Digest(ctx)
	p.want(err == nil, "Digest: %v", err)
	return digest
}

// mark appends the digest and a text to the marks. Nothing in them may depend on the
// configuration (D1).
func (p *executor) mark(ctx context.Context, text string) {
	p.result.Marks = append(p.result.Marks, strings.TrimSpace(fmt.Sprintf("%016x %s", p.digestOf(ctx), text)))
}

// With random numbers, stateOf digests only the program's tables, because even
// refused passes draw.
func (p *executor) stateOf(ctx context.Context) (sum uint64) {
	whole := p.digestOf(ctx) // drops the sparse data of items erased through maps
	if p.program.Store.Seed == 0 {
		return whole
	}
	for _, t := range p.store.DigestTables() {
		if t.TypeID <= uint16(store.MaxShards*len(p.tables)) {
			for _, digest := range t.Shards {
				sum = mix(sum ^ digest)
			}
		}
	}
	return sum
}

// unchanged returns a function that fails if the digest has changed since (P1).
func (p *executor) unchanged(ctx context.Context, what string) func() {
	before := p.stateOf(ctx)
	return func() {
		if after := p.stateOf(ctx); after != before && !p.failed() {
			p.fail(Model, "%s changed the digest of the state from %016x to %016x", what, before, after)
		}
	}
}

// inspect compares the state after a change: sizes and some handles each time, everything
// after a part of the changes.
func (p *executor) inspect(ctx context.Context) {
	p.want(p.store.Epoch() == p.exact.Epoch(), "the epoch is %d; want %d", p.store.Epoch(), p.exact.Epoch())
	rows := 0
	for i, t := range p.tables {
		n := t.Len()
		p.want(n == p.abstract.Len(i), "table %s has %d items; want %d", p.program.Tables[i].Name, n, p.abstract.Len(i))
		table := &p.program.Tables[i]
		// The cost of a full comparison: tables and shards have a part that does not depend
		// on items, and reserved rows are verified, too.
		rows += 8 + table.Shards + (n+table.Reserve*table.Shards)*weights[table.Item] + n*len(t.parts())
	}
	// The choice depends on the program alone, so a replay compares at the same steps.
	if mix(p.program.Seed^uint64(p.step))%uint64(rows/small+1) == 0 {
		p.inspectAll(ctx)
	}
	p.probeSome()
}

// small is the size of a state compared in full after each change. A state n
// times as large is compared after one change in n, for a constant cost per
// step.
const small = 100

// Rich items take longer to compare.
var weights = map[string]int{script.Word: 1, script.Rich: 4}

// inspectAll compares all tables and verifies the store.
func (p *executor) inspectAll(ctx context.Context) {
	if err := p.store.Verify(ctx); err != nil {
		p.fail(Invariant, "%v", err)
	}
	for i := range p.tables {
		p.inspectTable(i)
	}
}

// inspectTable compares all items of a table, in the order of rows, with both models.
func (p *executor) inspectTable(table int) {
	t := p.tables[table]
	p.checkWritten(table)
	p.inspectParts(table)
	want := p.exact.Rows(table)
	for id, item := range t.all() {
		// The exact model has the order of rows.
		if len(want) == 0 || want[0] != id {
			p.fail(Model, "table %s: %s stands where %s must", p.program.Tables[table].Name, model.Text(id), list(want[:min(1, len(want))]))
			return
		}
		want = want[1:]
		lives, owner, ok := p.abstract.Find(id)
		if !ok || owner != table || lives != item {
			p.fail(Model, "table %s: %s is %+v; want %+v, %v", p.program.Tables[table].Name, model.Text(id), item, lives, ok)
		}
		if exact := p.exact.Item(id); exact == nil || *exact != item {
			p.fail(Model, "table %s: %s is %+v; want %+v", p.program.Tables[table].Name, model.Text(id), item, exact)
		}
	}
	p.want(len(want) == 0, "table %s: %s is missing", p.program.Tables[table].Name, list(want))
}

// checkStats compares the numbers of slots.
func (p *executor) checkStats() {
	all := p.store.Stats()
	for i, s := range all[len(all)-len(p.tables):] { // the random numbers come first
		got := model.Stats{Live: s.Live, Vacant: s.Vacant, Depleted: s.Depleted, Slots: s.Slots}
		if want := p.exact.Stats(i); got != want || s.Name != p.program.Tables[i].Name {
			p.fail(Model, "Stats says of %s %+v; want %+v", s.Name, got, want)
		}
	}
}

// checkChanges compares the change lists of all tables.
func (p *executor) checkChanges() {
	for i := range p.tables {
		if p.program.Tables[i].Changes == 0 {
			continue
		}
		got, want := p.tables[i].changes(), p.exact.Changes(i)
		for _, l := range []struct {
			name      string
			got, want []uint64
		}{{"Created", got.Created, want.Created}, {"Erased", got.Erased, want.Erased}} {
			p.sameHandles(l.got, l.want, "table %s: %s", p.program.Tables[i].Name, l.name)
		}
		p.checkWritten(i)
		for number := range p.tables[i].parts() {
			p.checkWrittenColumn(model.ColumnID{Table: i, Column: number})
		}
		p.want(slices.Equal(got.Values, want.Values), "table %s: Erased has the values %v; want %v", p.program.Tables[i].Name, got.Values, want.Values)
	}
}

// checkWritten compares Written of a table that lists changes.
func (p *executor) checkWritten(table int) {
	if p.program.Tables[table].Changes == 0 {
		return
	}
	p.sameHandles(p.tables[table].written(), p.exact.Written(table), "table %s: Written", p.program.Tables[table].Name)
}

// checkPending compares the number of commands that wait for a flush.
func (p *executor) checkPending() {
	if got, want := p.store.Entrance(entrance.Key{}).Pending(), p.exact.Pending(); got != want {
		p.fail(Model, "%d commands are pending; want %d", got, want)
	}
}

// list returns the first handles as text for a failure.
func list(ids []uint64) string {
	if len(ids) == 0 {
		return "nothing"
	}
	var all []string
	for _, id := range ids[:min(len(ids), 8)] {
		all = append(all, model.Text(id))
	}
	if len(ids) > 8 {
		all = append(all, fmt.Sprintf("and %d more", len(ids)-8))
	}
	return strings.Join(all, ", ")
}
