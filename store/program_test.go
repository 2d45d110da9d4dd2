package store_test

import (
	"fmt"

	"handloom/store"

	"pgregory.net/rapid"
)

// A program is what rapid draws: numbers that say what to do. The model turns a
// frame of it into commands when it knows which handles there are.
type program struct {
	tables []drawnTable
	frames []drawnFrame
}

type drawnTable struct {
	store.TableOptions[thing]
	stable bool
}

type drawnFrame struct {
	inserts []int // in a Write of its own: tables
	clear   int   // likewise: a table; none if there is no such table
	passes  []drawnPass
	around  [2][]uint64 // what a call of the inbox records before and after the rest of the frame
	cancel  bool        // flush with an ended context first
	fault   bool        // flush with a Links that panics first
}

type drawnPass struct {
	kind  passKind
	table int
	delta uint64     // added to every value in place
	fail  int        // the task that fails; none if there is no such task
	tasks [][]uint64 // commands, to be decoded
}

type passKind int

const (
	forEachPass passKind = iota
	eachPass
	queuesPass
	inboxCall
	passKinds
)

func drawProgram(minFrames, maxFrames int) *rapid.Generator[program] {
	return rapid.Custom(func(t *rapid.T) program {
		return program{
			tables: rapid.SliceOfN(rapid.Custom(drawTable), 1, 3).Draw(t, "tables"),
			frames: rapid.SliceOfN(rapid.Custom(drawFrame), minFrames, maxFrames).Draw(t, "frames"),
		}
	})
}

func drawTable(t *rapid.T) drawnTable {
	return drawnTable{
		TableOptions: store.TableOptions[thing]{
			Shards:     rapid.IntRange(1, 8).Draw(t, "shards"),
			ChunkItems: rapid.SampledFrom([]int{1, 2, 5, 16}).Draw(t, "chunk"),
			MinFree:    rapid.SampledFrom([]int{0, 0, 3}).Draw(t, "minfree"),
			MaxItems:   rapid.SampledFrom([]int{0, 0, 12}).Draw(t, "maxitems"),
			Changes:    rapid.Bool().Draw(t, "changes"),
		},
		stable: rapid.Bool().Draw(t, "stable"),
	}
}

func drawFrame(t *rapid.T) drawnFrame {
	f := drawnFrame{
		inserts: rapid.SliceOfN(rapid.IntRange(0, 2), 0, 12).Draw(t, "inserts"),
		clear:   rapid.IntRange(0, 20).Draw(t, "clear"),
		passes:  rapid.SliceOfN(rapid.Custom(drawPass), 0, 4).Draw(t, "passes"),
		cancel:  rapid.Bool().Draw(t, "cancel"),
		fault:   rapid.Bool().Draw(t, "fault"),
	}
	if rapid.IntRange(0, 3).Draw(t, "call around") == 3 {
		for i := range f.around {
			f.around[i] = rapid.SliceOfN(rapid.Uint64(), 0, 4).Draw(t, "around")
		}
	}
	return f
}

func drawPass(t *rapid.T) drawnPass {
	commands := rapid.SliceOfN(rapid.Uint64(), 0, 8)
	return drawnPass{
		kind:  passKind(rapid.IntRange(0, int(passKinds)-1).Draw(t, "kind")),
		table: rapid.IntRange(0, 2).Draw(t, "table"),
		delta: rapid.Uint64Range(0, 3).Draw(t, "delta"),
		fail:  rapid.IntRange(0, 20).Draw(t, "fail"),
		tasks: rapid.SliceOfN(commands, 0, 5).Draw(t, "tasks"),
	}
}

// frame is a drawn frame with its commands spelled out.
type frame struct {
	inserts []insertion
	clear   int
	passes  []pass
	creates []*create
	cancel  bool
	fault   bool
}

type insertion struct {
	table int
	id    store.ID
	ok    bool
}

type pass struct {
	modelPass
	kind  passKind
	table int
	delta uint64
	fail  int
}

// spelling turns one drawn frame into commands.
type spelling struct {
	*modelStore
	number int
	out    frame
	known  []*create // whose names a task may use: of earlier frames and passes
	own    []*create // and of the task itself
	fars   []*far    // of the task itself
	hot    store.ID  // the live item picked last
}

func (m *modelStore) spelling(number int, known []*create) *spelling {
	return &spelling{modelStore: m, number: number, known: known}
}

// spell decodes a frame; what its Write and its passes do to items at once is
// done to the model meanwhile.
func (m *modelStore) spell(number int, d drawnFrame, known []*create) frame {
	s := m.spelling(number, known)
	s.out.clear, s.out.cancel, s.out.fault = d.clear, d.cancel, d.fault
	for _, table := range d.inserts {
		table %= len(m.tables)
		id, ok := m.tables[table].insert(modelItem{value: uint64(number)})
		s.out.inserts = append(s.out.inserts, insertion{table, id, ok})
	}
	if d.clear < len(m.tables) {
		for _, shard := range m.tables[d.clear].shards {
			m.dead = append(m.dead, shard.live...)
			shard.clear()
		}
	}
	for _, p := range d.passes {
		s.out.passes = append(s.out.passes, s.pass(p))
	}
	return s.out
}

func (s *spelling) pass(d drawnPass) pass {
	p := pass{kind: d.kind, table: d.table % len(s.tables), fail: d.fail, delta: d.delta}
	tasks := len(d.tasks)
	switch p.kind {
	case forEachPass:
		tasks = s.chunks(s.tables[p.table])
		s.addInPlace(s.tables[p.table], p.delta)
	case inboxCall:
		p.call, tasks = true, 1
	}
	var made []*create
	for task := range tasks {
		s.own, s.fars = nil, nil
		var codes []uint64
		if len(d.tasks) > 0 {
			codes = d.tasks[task%len(d.tasks)]
		}
		p.tasks = append(p.tasks, s.commands(codes, task))
		made = append(made, s.own...)
	}
	p.failed = p.kind != queuesPass && p.fail < tasks
	s.known = append(s.known, made...)
	return p
}

// commands spells what a task records.
func (s *spelling) commands(codes []uint64, task int) (commands []command) {
	for _, code := range codes {
		commands = append(commands, s.command(digits(code^uint64(task)<<40)))
	}
	return commands
}

func (s *spelling) chunks(t *modelTable) int {
	n := 0
	for _, shard := range t.shards {
		for row := 0; row < shard.rows(); row += t.options.ChunkItems {
			n++
		}
	}
	return n
}

func (s *spelling) addInPlace(t *modelTable, delta uint64) {
	for _, shard := range t.shards {
		for id, v := range shard.items {
			v.value += delta
			shard.items[id] = v
		}
	}
}

// digits are a number to be taken apart; once it is used up, a scrambled one.
type digits uint64

func (d *digits) next(n int) int {
	if *d < 1<<8 {
		*d += 1
		*d *= 0x9e3779b97f4a7c15
	}
	digit := *d % digits(n)
	*d /= digits(n)
	return int(digit)
}

func (s *spelling) command(d digits) command {
	c := command{do: action(d.next(int(actions))), table: s.tables[d.next(len(s.tables))]}
	switch c.do {
	case doCreate, doCreateFunc:
		c.creates = []*create{s.create(c.table, &d)}
		if c.do == doCreateFunc {
			c.creates[0].value.links[0] = ref{create: c.creates[0]}
		}
	case doCreateMany:
		chunk := c.table.options.ChunkItems
		n := []int{0, 1, chunk - 1, chunk, chunk + 1, 5 * chunk}[d.next(6)]
		for range n {
			c.creates = append(c.creates, s.create(c.table, &d))
		}
	case doEraseMany:
		for range d.next(4) {
			c.targets = append(c.targets, s.ref(&d))
		}
	case doStaged:
		c.value = s.value(&d)
		if n := len(s.own); n > 0 {
			c.staged = s.own[d.next(n)]
			c.table = c.staged.table
		}
	case doPut:
		c.targets, c.value = []ref{s.ref(&d)}, s.value(&d)
	default:
		c.targets = []ref{s.ref(&d)}
	}
	if len(c.targets) > 0 && d.next(4) > 0 { // else the handle is likely one of another table
		if owner := s.owner(c.targets[0]); owner != nil {
			c.table = owner
		}
	}
	return c
}

func (s *spelling) create(t *modelTable, d *digits) *create {
	c := &create{frame: s.number, number: len(s.out.creates), table: t, value: s.value(d)}
	s.out.creates = append(s.out.creates, c)
	s.own = append(s.own, c)
	return c
}

func (s *spelling) value(d *digits) staged {
	v := staged{value: uint64(d.next(1000))}
	for i := range v.links {
		if d.next(3) == 0 {
			v.links[i] = s.ref(d)
		}
	}
	switch n := len(s.fars); d.next(4) {
	case 0:
		v.far = &far{}
		for range d.next(3) {
			v.far.links = append(v.far.links, s.ref(d))
		}
		s.fars = append(s.fars, v.far)
	case 1:
		if n > 0 {
			v.far = s.fars[d.next(n)]
		}
	}
	return v
}

// ref picks a handle: mostly of live items, but also every kind that must not
// resolve.
func (s *spelling) ref(d *digits) ref {
	live := s.live(d)
	switch kind := d.next(40); {
	case kind == 0 && len(s.dead) > 0:
		return ref{id: s.dead[d.next(len(s.dead))]}
	case kind == 1: // with the free bit, and the number of a batch to come
		return ref{id: live ^ 1<<63 ^ 1<<46}
	case kind == 2:
		return ref{id: live + 1<<32}
	case kind == 3:
		return ref{id: live + 1<<20}
	case kind == 4:
		return ref{}
	case kind == 5:
		return ref{id: compose(9000, 1, uint32(d.next(20)))}
	case kind < 12 && len(s.own) > 0:
		return ref{create: s.own[d.next(len(s.own))]}
	case kind < 20 && s.hot != 0:
		return ref{id: s.hot}
	case kind < 25 && len(s.known) > 0:
		return ref{create: s.known[len(s.known)-1-d.next(min(len(s.known), 40))]}
	}
	s.hot = live
	return ref{id: live}
}

// live picks a live item of any table, if that has one.
func (s *spelling) live(d *digits) store.ID {
	t := s.tables[d.next(len(s.tables))]
	first := d.next(len(t.shards))
	for i := range t.shards {
		if shard := t.shards[(first+i)%len(t.shards)]; len(shard.live) > 0 {
			return shard.live[d.next(len(shard.live))]
		}
	}
	return compose(t.first, 1, 0)
}

func tableName(i int) string { return fmt.Sprintf("table %d", i) }
