package suite

import (
	"context"
	"sync"

	"handloom/tasks"

	"github.com/puzpuzpuz/xsync/v4"
)

type sharedMap interface {
	size(entries int)
	run(keys *keys, steps []step)
}

type shared struct {
	sharedMap
	keys    [queues]keys
	current *mixTick
	task    func(task int) error
}

// keys makes unused keys without synchronization.
type keys struct {
	next uint64
	_    [7]uint64 // one task per cache line
}

func (k *keys) new() uint64 {
	k.next++
	return k.next
}

func newShared(m sharedMap) *shared {
	s := &shared{sharedMap: m}
	for i := range s.keys {
		s.keys[i].next = uint64(i) << 48
	}
	s.task = func(task int) error {
		s.run(&s.keys[task], s.current.steps[task])
		return nil
	}
	return s
}

func (s *shared) fill(n int) {
	s.size(entries(n))
	steps := make([]step, n)
	for i := range steps {
		steps[i] = newStep(insert, uint32(i))
	}
	for task := range queues {
		s.run(&s.keys[task], part(steps, task))
	}
}

func (s *shared) tick(ctx context.Context, f *mixTick) {
	s.current = f
	check(tasks.Run(ctx, queues, s.task, tasks.Options{}))
}

type directory []uint64

func (d *directory) size(entries int) { *d = make(directory, entries) }

type syncMap struct {
	directory
	m sync.Map
}

func (m *syncMap) run(keys *keys, steps []step) {
	var sum uint64
	for _, s := range steps {
		switch s.kind() {
		case lookUp:
			if v, ok := m.m.Load(m.directory[s.entry()]); ok {
				sum += v.(item8).v
			}
		case insert:
			key := keys.new()
			m.directory[s.entry()] = key
			m.m.Store(key, item8{uint64(s.entry())})
		case erase:
			m.m.Delete(m.directory[s.entry()])
		}
	}
	keep(sum)
}

type xsyncMap struct {
	directory
	m *xsync.Map[uint64, item8]
}

func newXsync() *xsyncMap { return &xsyncMap{m: xsync.NewMap[uint64, item8]()} }

func (m *xsyncMap) run(keys *keys, steps []step) {
	var sum uint64
	for _, s := range steps {
		switch s.kind() {
		case lookUp:
			if v, ok := m.m.Load(m.directory[s.entry()]); ok {
				sum += v.v
			}
		case insert:
			key := keys.new()
			m.directory[s.entry()] = key
			m.m.Store(key, item8{uint64(s.entry())})
		case erase:
			m.m.Delete(m.directory[s.entry()])
		}
	}
	keep(sum)
}
