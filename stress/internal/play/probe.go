package play

import (
	"errors"
	"math/rand/v2"

	"handloom/store"
	"handloom/stress/internal/model"
)

// probes is how many handles of the history are looked up after each flush.
const probes = 24

// probeSome looks up some handles of the history: the newest and others at
// random, each as it is and forged.
func (p *player) probeSome() {
	issued := p.abstract.Issued()
	random := rand.New(rand.NewPCG(p.program.Seed, uint64(p.step)))
	for i := range min(probes, len(issued)) {
		at := len(issued) - 1 - i/2
		if i%2 == 1 {
			at = random.IntN(len(issued))
		}
		p.probe(issued[at])
		if i%4 == 0 {
			p.probeForged(issued[at], random)
		}
	}
	p.probe(0)
	p.probe(random.Uint64())
	p.probe(1<<64 - 1)
}

// probeAll looks up every handle of the history.
func (p *player) probeAll() {
	for _, id := range p.abstract.Issued() {
		p.probe(id)
	}
}

// probeForged looks up handles made of another one.
func (p *player) probeForged(id uint64, random *rand.Rand) {
	for bit := range 64 {
		p.probe(id ^ 1<<bit)
	}
	generation, live, ok := p.exact.Slot(id)
	if own := id&^(0xffff<<32) | uint64(generation)<<32; ok {
		p.probe(own)         // what the slot says, whether it lives or not
		p.probe(own | 1<<63) // a vacant slot's own upper half
		p.probe(own + 1<<32)
		if !live && generation != 0 {
			p.see(model.ForgedVacant)
		}
	}
	p.probe(id - 1<<32)
	p.probe(id + 1<<32)
	p.probe(id | 1<<32 - 1)
	p.probe(id&^(0x7fff<<48) | random.Uint64N(1<<15)<<48)
}

// probe looks a handle up in every way. Any bits will do.
func (p *player) probe(id uint64) {
	lives := p.exact.Lives(id)
	item, of, known := p.abstract.Find(id)
	if known != lives {
		p.fail(Model, "the models differ over %s: %v, %v", model.Text(id), lives, known)
	}
	if got := p.store.Has(store.ID(id)); got != lives {
		p.accepted(id, got)
		return
	}
	for i, t := range p.tables {
		if len(p.tables) > 8 && i != of && i != int(id%uint64(len(p.tables))) {
			continue // of a thousand tables two will do
		}
		got, ok := t.get(id)
		if want := known && of == i; ok != want || ok && got != item {
			p.accepted(id, ok)
		}
		if t.has(id) != ok {
			p.fail(Model, "Has and Get differ over %s", model.Text(id))
		}
	}
	if !lives && mix(id)%16 == 0 { // panics take their time
		p.probeAt(id)
	}
}

// probeAt sees that At panics over a handle that names nothing.
func (p *player) probeAt(id uint64) {
	defer func() {
		err, _ := recover().(error)
		var stale *store.StaleError
		if !errors.As(err, &stale) || uint64(stale.Handle) != id {
			p.fail(Model, "At(%s) panics with %v; want a StaleError", model.Text(id), err)
		}
	}()
	p.tables[id%uint64(len(p.tables))].at(id)
}
