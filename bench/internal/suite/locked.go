package suite

import "sync"

type lockedMap struct {
	directory
	lock sync.RWMutex
	m    map[uint64]item8
}

func newLockedMap() *lockedMap { return &lockedMap{m: make(map[uint64]item8)} }

func (m *lockedMap) run(keys *keys, steps []step) {
	var sum uint64
	for _, s := range steps {
		switch s.kind() {
		case lookUp:
			key := m.directory[s.entry()]
			m.lock.RLock()
			if v, ok := m.m[key]; ok {
				sum += v.v
			}
			m.lock.RUnlock()
		case insert:
			key := keys.new()
			m.directory[s.entry()] = key
			m.lock.Lock()
			m.m[key] = item8{uint64(s.entry())}
			m.lock.Unlock()
		case erase:
			key := m.directory[s.entry()]
			m.lock.Lock()
			delete(m.m, key)
			m.lock.Unlock()
		}
	}
	keep(sum)
}

type shardedMap struct {
	directory
	shards [64]struct {
		lock sync.Mutex
		m    map[uint64]item8
		_    [64]byte // one lock per cache line
	}
}

func newShardedMap() *shardedMap {
	m := new(shardedMap)
	for i := range m.shards {
		m.shards[i].m = make(map[uint64]item8)
	}
	return m
}

func (m *shardedMap) run(keys *keys, steps []step) {
	const odd = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
	var sum uint64
	for _, s := range steps {
		key := m.directory[s.entry()]
		if s.kind() == insert {
			key = keys.new()
			m.directory[s.entry()] = key
		}
		shard := &m.shards[key*odd>>58]
		shard.lock.Lock()
		switch s.kind() {
		case lookUp:
			if v, ok := shard.m[key]; ok {
				sum += v.v
			}
		case insert:
			shard.m[key] = item8{uint64(s.entry())}
		case erase:
			delete(shard.m, key)
		}
		shard.lock.Unlock()
	}
	keep(sum)
}

type lockedBaseline struct {
	directory
	lock sync.RWMutex
	m    *baseline[item8]
}

func newLockedBaseline() *lockedBaseline { return &lockedBaseline{m: new(baseline[item8])} }

func (m *lockedBaseline) run(_ *keys, steps []step) {
	var sum uint64
	for _, s := range steps {
		switch s.kind() {
		case lookUp:
			m.lock.RLock()
			if v, ok := m.m.get(m.directory[s.entry()]); ok {
				sum += v.v
			}
			m.lock.RUnlock()
		case insert:
			m.lock.Lock()
			name := m.m.insert(item8{uint64(s.entry())})
			m.lock.Unlock()
			m.directory[s.entry()] = name
		case erase:
			m.lock.Lock()
			m.m.erase(m.directory[s.entry()])
			m.lock.Unlock()
		}
	}
	keep(sum)
}
