package suite

import "math/rand/v2"

type kind uint8

const (
	lookUp kind = iota
	insert
	erase
)

// step is one operation of the mixed load and its entry in the directory of
// names, in one word.
type step uint32

const kindShift = 30

func newStep(k kind, entry uint32) step { return step(k)<<kindShift | step(entry) }

func (s step) kind() kind { return kind(s >> kindShift) }

func (s step) entry() uint32 { return uint32(s) & (1<<kindShift - 1) }

// mixTick is the steps of one tick by task. Inserting steps are listed again,
// because a flush changes their names.
type mixTick struct {
	steps    [queues][]step
	inserted [queues][]uint32
}

// mix draws ticks of n steps: 90 % look up, 5 % insert, 5 % erase, in random
// order. Entries to look up live when the tick begins. Each entry is erased
// once, and an insert fills an entry emptied by an earlier tick. So no task
// writes an entry that another reads.
type mix struct {
	random *rand.Rand
	live   []uint32
	empty  []uint32
	all    []step
}

func newMix(r *rand.Rand, n int) *mix {
	m := &mix{random: r, all: make([]step, n)}
	for i := range n + changed(n) {
		if i < n {
			m.live = append(m.live, uint32(i))
		} else {
			m.empty = append(m.empty, uint32(i))
		}
	}
	return m
}

func changed(n int) int { return max(1, n/20) }

func entries(n int) int { return n + changed(n) }

func (m *mix) draw(f *mixTick) {
	n := changed(len(m.all))
	drawFirst(m.random, m.live, n)
	steps := m.all[:0]
	for i := range n {
		steps = append(steps, newStep(insert, m.empty[i]), newStep(erase, m.live[i]))
	}
	for len(steps) < cap(m.all) {
		steps = append(steps, newStep(lookUp, m.live[m.random.IntN(len(m.live))]))
	}
	m.random.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
	for i := range n {
		m.live[i], m.empty[i] = m.empty[i], m.live[i]
	}
	for task := range f.steps {
		f.steps[task] = append(f.steps[task][:0], part(steps, task)...)
		f.inserted[task] = f.inserted[task][:0]
		for _, s := range f.steps[task] {
			if s.kind() == insert {
				f.inserted[task] = append(f.inserted[task], s.entry())
			}
		}
	}
}
