package batch_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"handloom/batch"
	"handloom/handle"
	"handloom/internal/items"
)

var errFull = errors.New("it does not fit")

const modelTables = 2

// modelCall models a call, or all passes.
type modelCall struct {
	*batch.Call
	creates  [modelTables][]handle.ID
	erases   [modelTables][]handle.ID // handles of any table
	puts     []modelPut
	commands [modelTables]int // without Sets
	all      [modelTables]int
	sets     int
	set      map[handle.ID]bool // own creates
	unknown  int
}

type modelPut struct {
	id handle.ID
	n  uint64
}

type droppable struct {
	*yard
	t       *testing.T
	r       *rand.Rand
	extra   batch.SetLog // attached to the first table
	encoded bool         // the calls become an input
	passes  *modelCall
	calls   []*modelCall // in order of arrival
	names   []handle.ID  // all creates
	values  map[handle.ID]uint64
	claimed *batch.EncodedInbox
	inbox   interface {
		Enter() (queue, error)
		AddCall(q queue, call *batch.Call) error
	}
}

func newDroppable(t *testing.T, seed uint64, encoded bool) *droppable {
	d := &droppable{yard: newYard(modelTables), t: t, r: rand.New(rand.NewPCG(seed, 3)), encoded: encoded, values: make(map[handle.ID]uint64)}
	d.extra.Init(&d.tables[0].Recorder, items.For[uint64](), true, nil, nil)
	if d.inbox = d.Batch; encoded {
		d.claimed = d.Claim(errReleased)
		d.inbox = d.claimed
	}
	return d
}

func (d *droppable) record() {
	d.passes, d.calls, d.names = &modelCall{set: map[handle.ID]bool{}}, nil, nil
	clear(d.values)
	p := d.Begin(1)
	queues := []queue{p.Queue(0)}
	recorders := []*modelCall{d.passes}
	for range 1 + d.r.IntN(6) {
		q, err := d.inbox.Enter()
		noError(d.t, err)
		queues = append(queues, q)
		recorders = append(recorders, &modelCall{Call: batch.NewCall(), set: map[handle.ID]bool{}})
	}
	for range 10 + d.r.IntN(60) {
		i := d.r.IntN(len(queues))
		d.command(queues[i], recorders[i])
	}
	for i := range queues { // none is empty
		d.command(queues[i], recorders[i])
	}
	noError(d.t, p.End(false))
	for _, i := range d.r.Perm(len(queues) - 1) {
		noError(d.t, d.inbox.AddCall(queues[i+1], recorders[i+1].Call))
		d.calls = append(d.calls, recorders[i+1])
	}
	if d.encoded {
		putSealed(d.t, d, d.claimed)
	}
	d.Seal()
}

func (d *droppable) command(q queue, c *modelCall) {
	table := d.r.IntN(modelTables)
	r := &d.tables[table]
	id := handle.New(uint16(7+table), 1, uint32(d.r.IntN(20)))
	if len(d.names) > 0 && d.r.IntN(4) > 0 {
		id = d.names[d.r.IntN(len(d.names))]
		if d.r.IntN(10) == 0 {
			id += 200 // names nothing
		}
	}
	switch d.r.IntN(9) {
	case 0, 1:
		d.create(q, c, table, 1)
	case 2:
		d.create(q, c, table, 70)
		r.Staged(q, name{ID: c.creates[table][0]}) // the next array is another segment
	case 3:
		n := uint64(1_000_000 + d.r.IntN(1000))
		r.Put(q, name{ID: id}, value{N: n})
		if id.TypeID() == uint16(7+table) {
			c.puts = append(c.puts, modelPut{id, n})
		}
		c.commands[table]++
	case 4:
		*(*uint64)(d.extra.Set(q, id)) = 1
		d.countSet(c, id)
	case 5:
		d.extra.Unset(q, id)
		d.countSet(c, id)
	case 6:
		if d.r.IntN(5) > 0 {
			q.Erase(handle.New(999, 1, 1))
			c.unknown++
			return
		}
		r.EraseAll(q)
		c.all[table]++
		c.commands[table]++
	default:
		r.Erase(q, name{ID: id})
		c.erases[table] = append(c.erases[table], id)
		c.commands[table]++
	}
}

func (d *droppable) create(q queue, c *modelCall, table, n int) {
	for range n {
		v := value{N: uint64(len(d.names) + 1)}
		id := d.tables[table].Emplace(q, v).ID
		d.names = append(d.names, id)
		d.values[id] = v.N
		c.creates[table] = append(c.creates[table], id)
	}
	c.commands[table] += n
}

func (d *droppable) countSet(c *modelCall, id handle.ID) {
	if d.encoded && c.set[id] {
		return
	}
	c.sets++
	c.set[id] = slices.Contains(c.creates[0], id)
}

// An encoded call names only its own creates.
func (d *droppable) knows(c, creator *modelCall) bool { return !d.encoded || c == creator }

func (d *droppable) survivors(table int, calls ...*modelCall) (ids []handle.ID, own int) {
	all := append([]*modelCall{d.passes}, calls...)
	for _, creator := range all {
		own = 0
		for _, id := range creator.creates[table] {
			erased := slices.ContainsFunc(all, func(c *modelCall) bool {
				return d.knows(c, creator) && slices.Contains(c.erases[table], id)
			})
			if !erased {
				ids = append(ids, id)
				own++
			}
		}
	}
	return ids, own
}

func (d *droppable) valueOf(table int, id handle.ID, calls ...*modelCall) uint64 {
	n := d.values[id]
	all := append([]*modelCall{d.passes}, calls...)
	for _, c := range all {
		for _, put := range c.puts {
			creator := all[slices.IndexFunc(all, func(c *modelCall) bool { return slices.Contains(c.creates[table], id) })]
			if put.id == id && d.knows(c, creator) {
				n = put.n
			}
		}
	}
	return n
}

func (d *droppable) plan() {
	gathered, _ := d.Gather()
	for _, ordinal := range gathered {
		planAll(d.tables[ordinal].Pending)
	}
}

func (d *droppable) cancel() {
	for i := range d.tables {
		d.tables[i].Pending.Reset()
	}
}

func (d *droppable) admit(limits [modelTables]int) (kept []*modelCall) {
	d.t.Helper()
	calls, err := d.Calls()
	if err != nil || len(calls) != len(d.calls) {
		d.t.Fatalf("Calls = %d calls, %v, want %d", len(calls), err, len(d.calls))
	}
	d.Withhold(true)
	a := d.NewAdmission(func(batch.InboxCall) {})
	d.plan()
	for i, c := range calls {
		model := d.calls[i]
		d.compareErases(c, model)
		var changes [modelTables]bool
		a.Try(c, func(ordinal int) { changes[ordinal] = true })
		fits := true
		for table := range modelTables {
			if changes[table] != (model.commands[table] > 0) {
				d.t.Fatalf("call %d changes tables %v, has %v commands", i, changes, model.commands)
			}
			n, own := a.Survivors(table)
			ids, wantOwn := d.survivors(table, append(slices.Clone(kept), model)...)
			if n != len(ids) || own != wantOwn {
				d.t.Fatalf("call %d: survivors of table %d = %d, %d of them its own, want %d, %d", i, table, n, own, len(ids), wantOwn)
			}
			fits = fits && (n <= limits[table] || !changes[table])
		}
		if !fits {
			a.Undo()
			c.Drop(errFull)
			continue
		}
		a.Keep()
		kept = append(kept, model)
	}
	d.cancel()
	d.Withhold(false)
	return kept
}

func (d *droppable) compareErases(c batch.InboxCall, model *modelCall) {
	d.t.Helper()
	var got [modelTables][]handle.ID
	var all [modelTables]int
	c.Erases(func(ordinal, shard int, ids []handle.ID) {
		if shard < 0 {
			all[ordinal]++
		}
		got[ordinal] = append(got[ordinal], ids...)
	})
	for table := range modelTables {
		if !slices.EqualFunc(got[table], model.erases[table], func(a, b handle.ID) bool {
			return a == b || a.IsProvisional() && b.IsProvisional() && d.encoded
		}) {
			d.t.Fatalf("Erases of table %d = %v, want %v", table, got[table], model.erases[table])
		}
	}
	if all != model.all {
		d.t.Fatalf("erases of all items = %v, want %v", all, model.all)
	}
}

func (d *droppable) compareDropped(kept []*modelCall) {
	d.t.Helper()
	var calls, unknown, sets int
	var commands [modelTables]int
	for _, c := range d.calls {
		if slices.Contains(kept, c) {
			continue
		}
		calls++
		unknown += c.unknown
		sets += c.sets
		for table := range modelTables {
			commands[table] += c.commands[table]
		}
	}
	if n, m := d.Dropped(); n != calls || m != unknown {
		d.t.Fatalf("Dropped = %d, %d, want %d, %d", n, m, calls, unknown)
	}
	for table := range modelTables {
		if n := d.tables[table].Pending.Dropped(); n != commands[table] {
			d.t.Fatalf("dropped commands of table %d = %d, want %d", table, n, commands[table])
		}
	}
	if n := d.tables[0].Pending.DroppedSets(d.extra.Index()); n != sets {
		d.t.Fatalf("DroppedSets = %d, want %d", n, sets)
	}
}

func (d *droppable) apply(kept []*modelCall) {
	d.t.Helper()
	real := make(map[handle.ID]handle.ID)
	for table := range modelTables {
		c := d.tables[table].Pending
		ids, _ := d.survivors(table, kept...)
		var got, want []uint64
		for _, id := range ids {
			want = append(want, d.valueOf(table, id, kept...))
		}
		c.Runs(0, c.Survivors(), func(run items.Slice, created []handle.ID) {
			for i, v := range *items.As[value](&run) {
				created[i] = handle.New(uint16(7+table), 2, uint32(len(got)))
				got = append(got, v.N)
			}
		})
		if !slices.Equal(got, want) {
			d.t.Fatalf("the creates of table %d are %v, want %v", table, got, want)
		}
		for i, id := range ids {
			real[id] = handle.New(uint16(7+table), 2, uint32(i))
		}
	}
	applied := d.Applied(nil)
	if !d.encoded && len(applied) != len(d.calls) {
		d.t.Fatalf("Applied = %d calls, want %d", len(applied), len(d.calls))
	}
	for i, c := range d.calls {
		c.Complete(nil)
		if isKept := slices.Contains(kept, c); errors.Is(c.Err(), errFull) == isKept {
			d.t.Fatalf("call %d: Err = %v, admitted: %t", i, c.Err(), isKept)
		}
		for _, id := range d.names {
			created := slices.Contains(c.creates[0], id) || slices.Contains(c.creates[1], id)
			want, ok := real[id]
			ok = ok && created
			if got, found := c.Resolve(id); found != ok || ok && got != want {
				d.t.Fatalf("call %d: Resolve(%v) = %v, %t, want %v, %t", i, id, got, found, want, ok)
			}
		}
	}
	for i := range d.tables {
		d.tables[i].Publish(true)
	}
	d.Finish()
}

func (d *droppable) flush() {
	d.t.Helper()
	for fails := d.r.IntN(3); ; fails-- {
		d.plan() // without room
		d.cancel()
		kept := d.calls
		if d.r.IntN(8) > 0 {
			kept = d.admit([modelTables]int{d.r.IntN(200), d.r.IntN(200)})
		}
		d.plan()
		d.compareDropped(kept)
		if fails <= 0 {
			d.apply(kept)
			return
		}
		d.cancel()
		d.KeepCalls()
	}
}

// A flush admits a call if the creates of the passes, earlier calls and the call fit.
func TestAdmission_AgreesWithModel(t *testing.T) {
	seeds := uint64(400)
	if testing.Short() {
		seeds = 80
	}
	for name, encoded := range map[string]bool{"inbox": false, "input": true} {
		t.Run(name, func(t *testing.T) {
			for seed := range seeds {
				t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
					d := newDroppable(t, seed, encoded)
					for range 3 {
						d.record()
						d.flush()
					}
				})
			}
		})
	}
}

func TestInboxCall_VisitsEveryValue(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 4))
		b := newBench(1<<20, 2)
		var element, extra batch.SetLog
		visited := make(map[uint64]int)
		visit := func(v unsafe.Pointer, _ func(*handle.ID)) { visited[*(*uint64)(v)]++ }
		b.Links(nil, visit)
		element.Init(&b.Recorder, items.For[uint64](), false, nil, visit)
		extra.Init(&b.Recorder, items.For[uint64](), true, nil, visit)
		q := b.enter(t)
		want := make(map[uint64]int)
		last := [2]map[handle.ID]uint64{{}, {}} // Sets of creates, by attachment
		var names []handle.ID
		for n := uint64(1 + r.IntN(80)); n > 0; n-- {
			id := handle.New(uint16(7+r.IntN(2)), 1, uint32(r.IntN(9)))
			isNew := len(names) > 0 && r.IntN(2) == 0
			if isNew {
				id = names[r.IntN(len(names))]
			}
			switch kind := r.IntN(5); kind {
			case 0:
				names = append(names, b.Emplace(q, value{N: n}).ID)
				want[n]++
			case 1:
				b.Put(q, name{ID: id}, value{N: n})
				want[n]++
			case 2, 3:
				*(*uint64)([]*batch.SetLog{&element, &extra}[kind-2].Set(q, id)) = n
				if isNew {
					last[kind-2][id] = n
				} else {
					want[n]++
				}
			default:
				extra.Unset(q, id)
				delete(last[1], id)
			}
		}
		for _, sets := range last {
			for _, n := range sets {
				want[n]++
			}
		}
		b.arrive(t, q)
		b.Seal()
		calls, err := b.Calls()
		noError(t, err)
		for _, c := range calls {
			c.Visit()
		}
		if !maps.Equal(visited, want) {
			t.Fatalf("seed %d: visited values = %v, want %v", seed, visited, want)
		}
	}
}
