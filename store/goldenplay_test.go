package store_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"handloom/shard/handlemap"
	"handloom/shard/slotmap"
	"handloom/store"
)

const tasksOfPlay = 6

// play is the program whose digests are golden.
type play struct {
	*ledger
	ctx    context.Context
	dice   dice
	tables []member
	motes  *cast[mote]
	pulses *cast[pulse]
	frame  *store.Schedule

	near  [tasksOfPlay][]store.ID // what each task named in this batch
	saved store.Checkpoint
	then  string // the line of the checkpoint
}

// member is a table of the program, whatever its items.
type member interface {
	begin()
	record(q store.Queue, task int, d *dice, near *[]store.ID)
	pass(l *ledger, seed dice)
	told(ctx context.Context, l *ledger)
	write(ctx context.Context, l *ledger, w *store.Writer, d *dice, round int)
	clear(w *store.Writer)
}

// cast is a table and what the program knows of it.
type cast[T any] struct {
	anyTable[T]
	new     func(d *dice, near store.ID) T
	change  func(v *T, x uint64)
	key     func(v *T) uint64
	changes bool

	live, gone []store.Handle[T]
	names      [tasksOfPlay][]store.Handle[T]
}

func newPlay(t tb, s *store.Store) *play {
	p := &play{ledger: newLedger(t, s), ctx: context.Background(), dice: 1}
	heat := func(v *mote, x uint64) { v.Heat += x }
	warm := func(v *mote) uint64 { return uint64(v.X) }
	p.motes = enlist(p, &cast[mote]{new: newMote, change: heat, key: warm}, false,
		store.TableOptions[mote]{Name: "motes", Shards: 4, ChunkItems: 8, Changes: true, FixedKeys: true, MinFree: 3})
	for _, isStable := range []bool{false, true} {
		enlist(p, &cast[scroll]{
			new:    newScroll,
			change: func(v *scroll, x uint64) { v.Words = append(v.Words, fmt.Sprint(x%10)) },
			key:    func(v *scroll) uint64 { return uint64(len(v.Words)) },
		}, isStable, store.TableOptions[scroll]{
			Name: fmt.Sprint("scrolls ", isStable), Shards: 2, ChunkItems: 64, Changes: true,
			Links: (*scroll).links, Clone: copyScroll,
		})
		enlist(p, &cast[knot]{
			new:    newKnot,
			change: func(v *knot, x uint64) { v.Value ^= x },
			key:    func(v *knot) uint64 { return v.Value },
		}, isStable, store.TableOptions[knot]{Name: fmt.Sprint("knots ", isStable), Shards: 3, ChunkItems: 64, Changes: isStable})
		enlist(p, &cast[slab]{
			new:    newSlab,
			change: func(v *slab, x uint64) { v.Body[x%40]++ },
			key:    func(v *slab) uint64 { return v.Key },
		}, isStable, store.TableOptions[slab]{Name: fmt.Sprint("slabs ", isStable), ChunkItems: 64, Changes: !isStable})
		enlist(p, &cast[blank]{
			new:    func(*dice, store.ID) blank { return blank{} },
			change: func(*blank, uint64) {},
			key:    func(*blank) uint64 { return 0 },
		}, isStable, store.TableOptions[blank]{Name: fmt.Sprint("blanks ", isStable), Shards: 2, ChunkItems: 64, Changes: true})
	}
	p.pulses = enlist(p, &cast[pulse]{
		new:    func(d *dice, _ store.ID) pulse { return pulse(d.next()) },
		change: func(v *pulse, x uint64) { *v += pulse(x) },
		key:    func(v *pulse) uint64 { return uint64(*v) },
	}, true, store.TableOptions[pulse]{Name: "pulses", Shards: 3, TypeID: 700, ChunkItems: 64, MaxItems: 40, Reserve: 20})
	p.newFrame()
	return p
}

// enlist registers a table of the program.
func enlist[T any](p *play, c *cast[T], isStable bool, o store.TableOptions[T]) *cast[T] {
	c.anyTable, c.changes = registerKind(p.t, p.Store, o, isStable), o.Changes
	p.tables = append(p.tables, c)
	return c
}

// newFrame makes a schedule of systems that write, emit and only read.
func (p *play) newFrame() {
	type on = []store.Resource
	motes := p.motes.anyTable.(packed[mote]).Table
	pulses := p.pulses.anyTable.(stable[pulse]).StableTable
	var total uint64
	frame, err := store.NewSchedule(
		p.Store,
		store.System{Name: "drift", Writes: on{motes}, Emits: on{motes, pulses}, Run: func(ctx context.Context) error {
			return motes.ForEach(ctx, func(_ context.Context, c store.Chunk[mote]) error {
				for i := range c.Items {
					v := &c.Items[i]
					if v.Heat%5 == 0 {
						v.X++
						c.Touch(i)
					}
					if v.Heat%11 == 1 {
						c.Erase(i)
						pulses.Emplace(c.Queue, pulse(c.Handle(i).ID.Slot()))
					}
				}
				return nil
			})
		}},
		store.System{Name: "count", Reads: on{motes, pulses}, Run: func(ctx context.Context) (err error) {
			total, err = store.Reduce(ctx, motes, func(_ context.Context, r store.Rows[mote]) (sum uint64, _ error) {
				for i := range r.Items {
					sum += r.Items[i].Heat ^ uint64(r.Handle(i).ID)
				}
				return sum, nil
			}, add)
			return err
		}},
		store.System{Name: "pulse", Writes: on{pulses}, Emits: on{motes, pulses}, If: func() bool { return pulses.Len() > 0 }, Run: func(ctx context.Context) error {
			return pulses.ForEach(ctx, func(_ context.Context, c store.StableChunk[pulse]) error {
				for h, v := range c.All() {
					if *v++; *v%3 == 0 {
						pulses.Erase(c.Queue, h)
						motes.Emplace(c.Queue, mote{X: int32(*v), Heat: total})
					}
				}
				return nil
			})
		}},
	)
	if err != nil {
		p.t.Fatal(err)
	}
	p.frame = frame
}

// round is a few passes, a flush, a Write and whatever else is its turn.
func (p *play) round(round int) {
	p.begin()
	p.record(p.ctx)
	for _, c := range p.tables {
		c.pass(p.ledger, dice(p.dice.next()))
	}
	p.outside()
	p.failing(round)
	if round == 4 {
		p.say("discard", p.Pending().Commands, p.Discard())
	}
	p.apply(p.ctx)
	p.told(p.ctx)
	p.mark(fmt.Sprint("flush", round))
	p.write(round)
	p.mark(fmt.Sprint("write", round))
	p.back(round)
	if round%3 == 2 {
		r, err := p.frame.Run(p.ctx)
		if p.say(err); err == nil {
			p.report(r)
		} else {
			p.say(p.Discard())
		}
		p.mark(fmt.Sprint("frame", round))
	}
}

func (p *play) begin() {
	p.near = [tasksOfPlay][]store.ID{}
	for _, c := range p.tables {
		c.begin()
	}
}

// record is a pass over no table in particular.
func (p *play) record(ctx context.Context) {
	seed := p.dice.next()
	p.say(p.Each(ctx, tasksOfPlay, func(_ context.Context, task int, q store.Queue) error {
		d := dice(seed + uint64(task))
		for _, c := range p.tables {
			c.record(q, task, &d, &p.near[task])
		}
		return nil
	}))
}

// outside records in queues of its own and by the inbox.
func (p *play) outside() {
	qs := queues(p.t, p.Store, 2)
	for i, q := range slices.Backward(qs) {
		for _, c := range p.tables {
			c.record(q, i, &p.dice, &p.near[i])
		}
	}
	for call := range 3 {
		p.say(p.Inbox(func(q store.Queue) error {
			p.pulses.Emplace(q, pulse(p.dice.next()))
			p.motes.record(q, call, &p.dice, &p.near[call])
			if call == 1 {
				p.motes.names[call] = nil // they come to nothing
				return errTask
			}
			return nil
		}))
	}
}

// failing runs passes that fail, each in its own way, and leave nothing behind.
func (p *play) failing(round int) {
	err := p.Each(p.ctx, 5, func(_ context.Context, task int, q store.Queue) error {
		p.pulses.Emplace(q, pulse(task))
		switch {
		case round%4 == 1 && task == 3:
			return errTask
		case round%4 == 2 && task == 2:
			panic("on purpose")
		case round%4 == 3 && task == 1:
			for range 500 {
				p.pulses.Emplace(q, 1)
			}
		case round%4 == 0:
			p.pulses.Erase(q, p.pulses.Emplace(q, 2)) // nothing fails
		}
		return nil
	})
	p.say(errors.Is(err, store.ErrQueueFull), errors.Is(err, errTask), err == nil)
}

func (p *play) told(ctx context.Context) {
	for _, c := range p.tables {
		c.told(ctx, p.ledger)
	}
}

// write changes the tables at once; every fourth one is a whole tick.
func (p *play) write(round int) {
	p.say(p.Write(p.ctx, func(ctx context.Context, w *store.Writer) error {
		for i, c := range p.tables {
			c.write(ctx, p.ledger, w, &p.dice, round)
			if (round+i)%13 == 12 {
				c.clear(w)
			}
		}
		if round%4 == 3 {
			p.begin()
			p.record(ctx)
			p.apply(ctx)
			p.told(ctx)
		}
		return nil
	}))
	for _, typeID := range []uint16{1, 5, 700} {
		for id, v := range p.Dump(typeID) {
			p.say(id, reflect.ValueOf(v).Elem())
		}
	}
}

// back goes back to an earlier round and on from there, twice.
func (p *play) back(round int) {
	switch round {
	case 5, 9:
		p.say(p.Checkpoint(p.ctx, &p.saved))
		p.mark("saved")
		p.then = p.lines[len(p.lines)-1]
	case 8, 12:
		p.say(p.Rollback(p.ctx, &p.saved))
		p.mark("saved")
		if now := p.lines[len(p.lines)-1]; now != p.then {
			p.t.Errorf("rolled back to %s, not to %s", now, p.then)
		}
	}
}

func (c *cast[T]) begin() {
	for _, names := range c.names {
		c.gone = append(c.gone, names...) // stale from now on
	}
	c.gone = append(c.gone[max(0, len(c.gone)-20):], c.live...)
	c.names, c.live = [tasksOfPlay][]store.Handle[T]{}, c.live[:0]
	for h := range c.All() {
		c.live = append(c.live, h)
	}
}

// some is a handle that lives, lived, or is one of task's own.
func (c *cast[T]) some(d *dice, task int) (h store.Handle[T]) {
	from := [][]store.Handle[T]{c.gone, c.names[task], c.names[task], c.live, c.live, c.live, c.live}[d.n(7)]
	if len(from) > 0 {
		h = from[d.n(len(from))]
	}
	return h
}

// record records some of everything that a queue takes.
func (c *cast[T]) record(q store.Queue, task int, d *dice, near *[]store.ID) {
	named := func(hs ...store.Handle[T]) {
		for _, h := range hs {
			c.names[task], *near = append(c.names[task], h), append(*near, h.ID)
		}
	}
	for range 2 + d.n(4) {
		switch d.n(10) {
		case 0, 1:
			named(c.Emplace(q, c.new(d, d.pick(*near))))
		case 2:
			named(c.EmplaceItems(q, []T{c.new(d, d.pick(*near)), c.new(d, d.pick(*near))}, nil)...)
		case 3:
			named(store.EmplaceFunc[T](c, q, func(h store.Handle[T], v *T) {
				*v = c.new(d, h.ID)
				c.Put(q, c.some(d, task), c.new(d, h.ID))
			}))
		case 4:
			named(c.thrown(q))
		case 5:
			if v, ok := c.Staged(q, c.some(d, task)); ok {
				c.change(v, d.next())
			}
		case 6:
			c.Put(q, c.some(d, task), c.new(d, d.pick(*near)))
		case 7:
			c.Erase(q, c.some(d, task))
		case 8:
			c.EraseItems(q, []store.Handle[T]{c.some(d, task), c.some(d, task)})
		case 9:
			q.Erase(c.some(d, task).ID)
		}
	}
}

// thrown emplaces a value that never comes to be.
func (c *cast[T]) thrown(q store.Queue) (h store.Handle[T]) {
	defer func() { _ = recover() }()
	store.EmplaceFunc[T](c, q, func(name store.Handle[T], _ *T) {
		h = name
		panic("no value")
	})
	return h
}

// pass writes items in place and records beside that.
func (c *cast[T]) pass(l *ledger, seed dice) {
	l.say(c.visit(context.Background(), func(chunk int, q store.Queue, items seqOf[T]) error {
		d := seed + dice(chunk)
		for h, v := range items {
			switch c.change(v, uint64(h.ID)); d.n(9) {
			case 0:
				c.Erase(q, h)
			case 1:
				c.Put(q, h, c.new(&d, h.ID))
			case 2:
				c.Emplace(q, c.new(&d, h.ID))
			case 3:
				c.Erase(q, c.some(&d, chunk%tasksOfPlay))
			}
		}
		return nil
	}))
}

// told says what the flush did to the table.
func (c *cast[T]) told(ctx context.Context, l *ledger) {
	for _, names := range c.names {
		for _, p := range names {
			l.say(c.Resolve(p))
		}
	}
	if c.changes {
		for _, list := range []seqOf[T]{store.Created[T](c), store.Erased[T](c), store.Replaced[T](c)} {
			for h, v := range list {
				l.say(h, *v)
			}
			l.say()
		}
	}
	l.say(c.fold(ctx, func(chunk int, items seqOf[T]) (sum uint64, _ error) {
		for h, v := range items {
			sum += uint64(h.ID) ^ c.key(v) + uint64(chunk)
		}
		return sum, nil
	}))
	l.say(c.Len())
}

func (c *cast[T]) clear(w *store.Writer) { c.Clear(w) }

func (c *cast[T]) order(a, b *T) int { return cmp.Compare(c.key(a), c.key(b)) }

// write inserts and removes, then uses the whole vocabulary of one map.
func (c *cast[T]) write(ctx context.Context, l *ledger, w *store.Writer, d *dice, round int) {
	for range d.n(3) {
		l.say(c.Insert(w, c.new(d, 0)))
		l.say(c.Remove(w, c.some(d, 0)))
	}
	switch t := c.anyTable.(type) {
	case packed[T]:
		l.say(store.Defragment(ctx, t.Table, w, c.order, 60))
		switch round % 6 {
		case 3:
			l.say(store.SortFunc(ctx, t.Table, w, c.order))
		case 5:
			l.say(store.SortByKey(ctx, t.Table, w, c.key))
		}
		maps := store.Maps(t.Table, w)
		c.packedMap(l, maps[round%len(maps)], d, round)
	case stable[T]:
		maps := store.StableMaps(t.StableTable, w)
		c.stableMap(l, maps[round%len(maps)], d, round)
	}
}

// packedMap uses what a packed map can do.
func (c *cast[T]) packedMap(l *ledger, m *handlemap.Map[T], d *dice, round int) {
	c.wordsOfBoth(l, m, d, round)
	hs := slices.Collect(m.Handles())
	half := m.Len() / 2
	for row, h := range hs {
		l.say(m.RowOf(h))
		l.say(m.HandleAt(row) == h, m.Touch(h), c.key(&m.Items()[row]))
	}
	if half > 0 {
		l.say(m.Swap(hs[0], hs[half]))
	}
	switch round % 5 {
	case 0:
		m.SortRange(half/2, half, c.order)
	case 1:
		m.SortAs(hs[half:])
	case 2:
		l.say(m.Partition(func(v *T) bool { return c.key(v)%2 == 0 }))
	case 3:
		m.TouchRows(0, half)
		l.say(m.Defragment(c.order, 30))
	case 4:
		m.SortByKey(c.key)
		m.SortFunc(func(a, b *T) int { return c.order(b, a) })
	}
	var to handlemap.Map[T]
	m.CopyTo(&to, nil)
	l.say(m.Clone().Digest(), to.Digest())
	s := m.Stats()
	l.say(s.Live, s.Vacant, s.Depleted, s.Slots)
}

// stableMap uses what a stable map can do.
func (c *cast[T]) stableMap(l *ledger, m *slotmap.Map[T], d *dice, round int) {
	c.wordsOfBoth(l, m, d, round)
	for h, v := range m.Range(m.Rows()/4, m.Rows()/2) {
		l.say(h, c.key(v))
		l.say(m.RowOf(h))
	}
	var to slotmap.Map[T]
	m.CopyTo(&to, nil)
	l.say(m.Clone().Digest(), to.Digest())
	s := m.Stats()
	l.say(s.Live, s.Vacant, s.Depleted, s.Slots)
}

// words are those of both maps.
type words[T any] interface {
	All() seqOf[T]
	Backward() seqOf[T]
	Call(h store.Handle[T], f func(*T)) bool
	Clear()
	EmplaceItems(n int, f func(i int, h store.Handle[T], v *T), dst []store.Handle[T]) ([]store.Handle[T], error)
	Erase(h store.Handle[T]) bool
	EraseFunc(f func(h store.Handle[T], v *T) bool) int
	EraseItems(hs []store.Handle[T]) int
	InsertFunc(f func(h store.Handle[T], v *T)) (store.Handle[T], error)
	InsertItems(values []T, dst []store.Handle[T]) ([]store.Handle[T], error)
	Insert(v T) (store.Handle[T], error)
	Reserve(n int)
	Reset()
	Shrink()
	Take(h store.Handle[T]) (T, bool)
	Digest() uint64
}

func (c *cast[T]) wordsOfBoth(l *ledger, m words[T], d *dice, round int) {
	fill := func(h store.Handle[T], v *T) { *v = c.new(d, h.ID) }
	l.say(m.Insert(c.new(d, 0)))
	l.say(m.InsertFunc(fill))
	hs, err := m.InsertItems([]T{c.new(d, 0), c.new(d, 0), c.new(d, 0)}, nil)
	l.say(hs, err)
	hs, err = m.EmplaceItems(3, func(_ int, h store.Handle[T], v *T) { fill(h, v) }, hs)
	l.say(hs, err)
	for i, h := range hs {
		l.say(m.Call(h, func(v *T) { c.change(v, uint64(i)) }))
	}
	l.say(m.Erase(c.some(d, 0)))
	l.say(m.Take(c.some(d, 0)))
	l.say(m.EraseItems([]store.Handle[T]{c.some(d, 0), c.some(d, 0), c.some(d, 0)}))
	l.say(m.EraseFunc(func(store.Handle[T], *T) bool { return d.n(6) == 0 }))
	for h, v := range m.Backward() {
		if l.say(h, *v); d.n(10) == 0 {
			l.say(m.Erase(h))
		}
	}
	m.Reserve(20)
	switch round {
	case 6:
		m.Shrink()
	case 7, 11:
		m.Reset()
	case 13:
		m.Clear()
	}
	l.say(m.Digest())
}
