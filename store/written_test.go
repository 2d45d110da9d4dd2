package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"handloom/internal/check"
	"handloom/store"

	"pgregory.net/rapid"
)

// notePass runs a pass over a table of either kind, which counts up the items that pick
// names and notes them; chunks that all names are noted as a whole.
func notePass(ctx context.Context, table itemTable, pick func(h store.Handle[item]) bool, all func(chunk int) bool) error {
	switch t := table.(type) {
	case packedTable:
		return t.ForEach(ctx, func(_ context.Context, c store.Chunk[item]) error {
			for i := range c.Items {
				if pick(c.Handle(i)) {
					c.Items[i].Value++
					c.Wrote(i)
				}
			}
			if all(c.Index) {
				c.WroteAll()
			}
			return nil
		})
	case stableTable:
		return t.ForEach(ctx, func(_ context.Context, c store.StableChunk[item]) error {
			for h, v := range c.All() {
				if pick(h) {
					v.Value++
					c.Wrote(h)
				}
			}
			if all(c.Index) {
				c.WroteAll()
			}
			return nil
		})
	}
	panic("no such table")
}

func noChunk(int) bool { return false }

// among picks the items of a list.
func among(hs ...store.Handle[item]) func(store.Handle[item]) bool {
	return func(h store.Handle[item]) bool { return slices.Contains(hs, h) }
}

func writtenOf(table itemTable) []store.Handle[item] { return slices.Collect(store.Written(table)) }

// writtenModel says which items are listed, from what the frames of a program are told to
// do.
type writtenModel struct {
	frame   int // of the items; toCome: of the next; 0: none
	items   map[store.ID]bool
	flushed int               // frame of the last flush with commands
	created map[store.ID]bool // by that frame
}

const toCome = -1

func (m *writtenModel) note(frame int, ids []store.ID) {
	if len(ids) == 0 {
		return
	}
	if m.frame != frame && m.frame != toCome {
		m.items = map[store.ID]bool{}
	}
	m.frame = frame
	for _, id := range ids {
		m.items[id] = true
	}
}

// begin begins a Write or Run, which takes what was written before.
func (m *writtenModel) begin(frame int) {
	if m.frame == toCome {
		m.frame = frame
	}
}

func (m *writtenModel) flush(frame int, commands bool, created []store.ID) {
	if m.frame == toCome {
		m.frame = frame
	}
	if !commands {
		return
	}
	if m.flushed != frame {
		m.created = map[store.ID]bool{}
	}
	m.flushed = frame
	for _, id := range created {
		m.created[id] = true
	}
}

// expected lists the items in the order in which the table has them.
func (m *writtenModel) expected(table itemTable) (hs []store.Handle[item]) {
	for h := range table.All() {
		current := m.frame == toCome || m.frame > 0 && m.frame >= m.flushed
		if current && m.items[h.ID] && !(m.frame == m.flushed && m.created[h.ID]) {
			hs = append(hs, h)
		}
	}
	return hs
}

// writtenPlay is a random program over one table, and its model.
type writtenPlay struct {
	*rapid.T
	*store.Store
	table  itemTable
	model  writtenModel
	frames int
	before store.Checkpoint
}

func (p *writtenPlay) check(where string) {
	if got, want := writtenOf(p.table), p.model.expected(p.table); !slices.Equal(got, want) {
		p.Fatalf("after %s the items %v are written; want %v", where, got, want)
	}
}

// plan draws what a pass notes. Nothing is drawn in a task, which would take the panic
// that ends a test for one of its own.
func (p *writtenPlay) plan() (pass func(ctx context.Context) error, ids []store.ID) {
	chosen := map[store.Handle[item]]bool{}
	whole := rapid.IntRange(0, 5).Draw(p.T, "whole") == 0
	for h := range p.table.All() {
		chosen[h] = rapid.IntRange(0, 3).Draw(p.T, "noted") == 0
		if chosen[h] || whole {
			ids = append(ids, h.ID)
		}
	}
	return func(ctx context.Context) error {
		return notePass(ctx, p.table, func(h store.Handle[item]) bool { return chosen[h] }, func(int) bool { return whole })
	}, ids
}

// pass notes some items.
func (p *writtenPlay) pass(ctx context.Context, frame int) {
	pass, ids := p.plan()
	if err := pass(ctx); err != nil {
		p.Fatal(err)
	}
	p.model.note(frame, ids)
	p.check("a pass")
}

// flush applies some commands, or none.
func (p *writtenPlay) flush(ctx context.Context, frame int) {
	commands, creates := map[store.Handle[item]]int{}, 0
	if rapid.Bool().Draw(p.T, "commands") {
		for h := range p.table.All() {
			commands[h] = rapid.IntRange(0, 5).Draw(p.T, "command")
		}
		creates = rapid.IntRange(0, 5).Draw(p.T, "creates")
	}
	var names []store.Handle[item]
	err := p.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error {
		for h := range p.table.All() {
			switch commands[h] {
			case 1:
				p.table.Erase(q, h)
			case 2:
				p.table.Put(q, h, item{})
			}
		}
		names = p.table.EmplaceItems(q, make([]item, creates), nil)
		return nil
	})
	if err != nil {
		p.Fatal(err)
	}
	report, err := p.Flush(ctx)
	if err != nil {
		p.Fatal(err)
	}
	var created []store.ID
	for _, name := range names {
		created = append(created, resolve(p.T, p.table, name).ID)
	}
	p.model.flush(frame, report.Total.Commands() > 0, created)
	p.check("a flush")
}

// run runs two passes in the systems of a schedule.
func (p *writtenPlay) run(ctx context.Context) {
	p.frames++
	p.model.begin(p.frames)
	all := on(p.table)
	first, noted := p.plan()
	second, more := p.plan()
	c := newSchedule(p.T, p.Store, store.System{Name: "first", Writes: all, Run: first}, store.System{Name: "second", Writes: all, Run: second})
	if _, err := c.Run(ctx); err != nil {
		p.Fatal(err)
	}
	p.model.note(p.frames, append(noted, more...))
	p.check("a Run")
}

// turn does one thing outside of everything.
func (p *writtenPlay) turn() {
	ctx := context.Background()
	switch rapid.SampledFrom([]string{"pass", "flush", "Write", "Run", "Rollback"}).Draw(p.T, "turn") {
	case "pass":
		p.pass(ctx, toCome)
	case "flush":
		p.frames++
		p.flush(ctx, p.frames)
	case "Write":
		p.write(ctx)
	case "Run":
		p.run(ctx)
	case "Rollback":
		if err := p.Rollback(ctx, &p.before); err != nil {
			p.Fatal(err)
		}
		p.model.frame, p.model.items = 0, nil
		p.check("a Rollback")
	}
}

func (p *writtenPlay) write(ctx context.Context) {
	p.frames++
	p.model.begin(p.frames)
	err := p.Write(ctx, func(ctx context.Context, w *store.Writer) error {
		for range rapid.IntRange(0, 5).Draw(p.T, "steps") {
			switch rapid.SampledFrom([]string{"pass", "flush", "EndFrame", "Insert", "Remove", "Clear"}).Draw(p.T, "step") {
			case "pass":
				p.pass(ctx, p.frames)
			case "flush":
				p.flush(ctx, p.frames)
			case "EndFrame":
				w.EndFrame()
				p.frames++
			case "Insert":
				if _, err := p.table.Insert(w, item{}); err != nil {
					return err
				}
			case "Remove":
				for h := range p.table.All() {
					p.table.Remove(w, h)
					break
				}
			case "Clear":
				if rapid.IntRange(0, 3).Draw(p.T, "really") == 0 {
					p.table.Clear(w)
				}
			}
			p.check("a step of a Write")
		}
		return nil
	})
	if err != nil {
		p.Fatal(err)
	}
}

func TestWrittenListsWhatAModelOfFramesSays(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		rapid.Check(t, func(t *rapid.T) {
			s := newStore(t, store.Options{Workers: rapid.SampledFrom([]int{1, 2, 8}).Draw(t, "workers")})
			p := &writtenPlay{T: t, Store: s, model: writtenModel{items: map[store.ID]bool{}}}
			p.table = registerKind(t, s, store.TableOptions[item]{Shards: rapid.IntRange(1, 3).Draw(t, "shards"), ChunkItems: 4, Changes: true}, stable)
			p.table.EmplaceItems(queues(t, s, 1)[0], make([]item, rapid.IntRange(0, 40).Draw(t, "items")), nil)
			flush(t, s)
			checkpoint(t, s, &p.before)
			for range rapid.IntRange(1, 15).Draw(t, "turns") {
				p.turn()
			}
		})
	})
}

func TestWhatPassesWroteIsTheSameForAnyWorkersProcessorsAndOrderOfTasks(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		sameEverywhere(t, store.Options{}, func(r *trial) {
			table := registerKind(r, r.Store, store.TableOptions[item]{Shards: 3, ChunkItems: 8, Changes: true}, stable)
			table.EmplaceItems(queues(r, r.Store, 1)[0], make([]item, 500), nil)
			r.flush()
			for n := range uint32(5) {
				pick := func(h store.Handle[item]) bool { return h.ID.Slot()%5 == n }
				err := notePass(r.ctx, table, pick, func(chunk int) bool { return chunk%7 == int(n) })
				if err != nil {
					r.Fatal(err)
				}
				q := queues(r, r.Store, 1)[0]
				for h := range table.All() {
					if h.ID.Slot()%9 == n {
						table.Erase(q, h)
						table.Emplace(q, item{})
					}
				}
				r.flush()
				r.out.notes = append(r.out.notes, fmt.Sprint(writtenOf(table)))
			}
		})
	})
}

func TestWrittenNamesNoItemThatCameIntoTheSlotOfAWrittenOne(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		s := newStore(t, store.Options{})
		table := registerKind(t, s, store.TableOptions[item]{Changes: true}, stable)
		table.EmplaceItems(queues(t, s, 1)[0], make([]item, 4), nil)
		flush(t, s)
		var hs []store.Handle[item]
		for h := range table.All() {
			hs = append(hs, h)
		}
		err := s.Write(t.Context(), func(ctx context.Context, w *store.Writer) error {
			if err := notePass(ctx, table, among(hs[1], hs[2]), noChunk); err != nil {
				return err
			}
			table.Remove(w, hs[1])
			h, err := table.Insert(w, item{})
			if got := writtenOf(table); h.ID.Slot() != hs[1].ID.Slot() || !slices.Equal(got, hs[2:3]) {
				t.Errorf("%v are written; want %v, and not %v", got, hs[2], h)
			}
			if err == nil {
				err = notePass(ctx, table, among(h), noChunk)
			}
			if got := writtenOf(table); len(got) != 2 || !slices.Contains(got, h) || !slices.Contains(got, hs[2]) {
				t.Errorf("%v are written; want %v and %v", got, hs[2], h)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestWhatAFailedPassWroteIsListed(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Changes: true, ChunkItems: 2})
	hs := fill(t, s, table, 6)
	failure := errors.New("a task failed")
	err := table.ForEach(t.Context(), func(_ context.Context, c store.Chunk[item]) error {
		c.Wrote(1)
		return failure
	})
	want := []store.Handle[item]{hs[1], hs[3], hs[5]}
	if got := writtenOf(packedTable{table}); !errors.Is(err, failure) || !slices.Equal(got, want) {
		t.Errorf("%v: %v are written; want %v", err, got, want)
	}
}

func TestOwnersOfGroupsAreNotedAsWritten(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Changes: true, ChunkItems: 2})
	hs := fill(t, s, table, 6)
	table.At(hs[0]).Parent = hs[3]
	var g store.Groups[item, item]
	groupBy(t, &g, table, table, parent)
	err := g.ForEach(t.Context(), func(_ context.Context, c store.GroupChunk[item, item]) error {
		for i := range c.Owners {
			if c.Members(i).Len() > 0 {
				c.Chunk().Wrote(i)
			}
		}
		return nil
	})
	if got := writtenOf(packedTable{table}); err != nil || !slices.Equal(got, hs[3:4]) {
		t.Errorf("%v: %v are written; want %v", err, got, hs[3])
	}
}

func TestNotesOutsideTheChunkOrPassPanic(t *testing.T) {
	for _, changes := range []bool{false, true} {
		s := newStore(t, store.Options{})
		packed := register(t, s, store.TableOptions[item]{ChunkItems: 2, Changes: changes})
		stable := registerStable(t, s, store.TableOptions[item]{Name: "stable", ChunkItems: 2, Changes: changes})
		q := queues(t, s, 1)[0]
		packed.EmplaceItems(q, make([]item, 4), nil)
		stable.EmplaceItems(q, make([]item, 4), nil)
		flush(t, s)
		refuses := func(want string, f func()) {
			t.Helper()
			if got := panicOf(f); !strings.Contains(got, want) {
				t.Errorf("changes %t: %q; want %q", changes, got, want)
			}
		}
		var kept store.Chunk[item]
		var keptStable store.StableChunk[item]
		err := packed.ForEach(t.Context(), func(_ context.Context, c store.Chunk[item]) error {
			refuses("out of range", func() { c.Wrote(2) })
			refuses("out of range", func() { c.Wrote(-1) })
			if c.Index == 0 {
				kept = c
			}
			return nil
		})
		err2 := stable.ForEach(t.Context(), func(_ context.Context, c store.StableChunk[item]) error {
			for _, id := range []store.ID{compose(2, 1, uint32(2-2*c.Index)), compose(2, 2, uint32(2*c.Index)), compose(1, 1, uint32(2*c.Index)), 0} {
				refuses(fmt.Sprintf("Wrote of %v, which is not in chunk %d of table \"stable\"", id, c.Index), func() { c.Wrote(handleOf(id)) })
			}
			if c.Index == 0 {
				keptStable = c
			}
			return nil
		})
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		refuses(`Wrote of chunk 0 of table "store_test.item", which was kept past its pass`, func() { kept.Wrote(0) })
		refuses("WroteAll of chunk 0", func() { kept.WroteAll() })
		refuses("Wrote of chunk 0", func() { keptStable.Wrote(handleOf(compose(2, 1, 0))) })
		refuses("WroteAll of chunk 0", func() { keptStable.WroteAll() })
	}
}

func TestWithoutChangesNothingIsWritten(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		s := newStore(t, store.Options{})
		table := registerKind(t, s, store.TableOptions[item]{Name: "plain"}, stable)
		table.EmplaceItems(queues(t, s, 1)[0], make([]item, 4), nil)
		flush(t, s)
		every := func(store.Handle[item]) bool { return true }
		if err := notePass(t.Context(), table, every, func(int) bool { return true }); err != nil {
			t.Error(err)
		}
		if got := panicOf(func() { store.Written(table) }); !strings.Contains(got, `Written of table "plain", which keeps no changes; register it with TableOptions.Changes`) {
			t.Error(got)
		}
	})
}

func TestInTheSteadyStateNotesOfWritesAllocateNothing(t *testing.T) {
	if check.Full || raceDetector {
		t.Skip("checked builds allocate, and so does the race detector")
	}
	s, table := newTable(t, store.Options{Workers: 1}, store.TableOptions[item]{Shards: 2, ChunkItems: 64, Changes: true})
	fill(t, s, table, 20_000)
	pass := func(ctx context.Context) {
		err := table.ForEach(ctx, func(_ context.Context, c store.Chunk[item]) error {
			for i := 0; i < len(c.Items); i += 3 {
				c.Wrote(i)
			}
			if c.Index%5 == 0 {
				c.WroteAll()
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		if _, err = s.Flush(ctx); err != nil {
			t.Error(err)
		}
	}
	if n := allocations(t.Context(), pass); n > 2*frameCount+slack {
		t.Errorf("%d passes and flushes allocate %d objects, which should be their phases", frameCount, n)
	}
}

func TestATableThatRestsGivesBackTheMemoryOfWhatWasWritten(t *testing.T) {
	if check.Full {
		t.Skip("a checked build allocates")
	}
	s, table := newTable(t, store.Options{Workers: 1}, store.TableOptions[item]{Changes: true})
	other := register(t, s, store.TableOptions[item]{Name: "other"})
	table.EmplaceItems(queues(t, s, 1)[0], make([]item, 400_000), nil)
	flush(t, s)
	rest := func() {
		for range 300 {
			other.Put(queues(t, s, 1)[0], store.Handle[item]{}, item{})
			flush(t, s)
		}
	}
	rest()
	before := heap()
	table.Put(queues(t, s, 1)[0], store.Handle[item]{}, item{}) // wakes it
	flush(t, s)
	err := notePass(t.Context(), packedTable{table}, among(), func(int) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	if swell := heap() - before; swell < 400_000*2 {
		t.Errorf("the heap grew by %d KiB, which shows nothing", swell>>10)
	}
	rest()
	if left := heap() - before; left > 64<<10 {
		t.Errorf("%d KiB are left when the table rests", left>>10)
	}
	if n := len(writtenOf(packedTable{table})); n != 0 {
		t.Errorf("%d items are written", n)
	}
	if err := notePass(t.Context(), packedTable{table}, among(), func(int) bool { return true }); err != nil || len(writtenOf(packedTable{table})) != table.Len() {
		t.Errorf("after the rest %d items are written, %v", len(writtenOf(packedTable{table})), err)
	}
}
