package runner

import (
	"math/rand/v2"
	"slices"

	"handloom/proof/model"
)

// probes is the number of handles that are looked up after each change.
const probes = 8

// probeSome looks up some of the newest handles, some random ones, and forgeries of both.
func (p *executor) probeSome() {
	issued := p.abstract.Issued()
	// The numbers depend on program and step, so that a replay looks up the same handles.
	random := rand.New(rand.NewPCG(p.program.Seed, uint64(p.step)))
	for i := range min(probes, len(issued)) {
		// Newest handles and random handles alternate.
		at := len(issued) - 1 - i/2
		if i%2 == 1 {
			at = random.IntN(len(issued))
		}
		p.probe(issued[at])
		if i%4 == 0 {
			p.probeForged(issued[at], random)
		}
	}
	p.probeOthers(random)
	p.probeRecorded(random)
}

// probeOthers looks up handles that this history did not issue.
func (p *executor) probeOthers(random *rand.Rand) {
	for range min(probes/4, len(p.abandoned)) {
		p.probe(p.abandoned[random.IntN(len(p.abandoned))])
	}
	p.probe(0x7ffe<<48 | 1<<32) // below the typeId of the random numbers
	p.probe(0)
	p.probe(random.Uint64())
	p.probe(1<<64 - 1)
	some := p.modelled[random.IntN(len(p.modelled))]
	p.probe(uint64(some.TypeID)<<48 | random.Uint64N(4)<<32 | random.Uint64N(64))
}

// Provisional handles resolve only until the next flush.
func (p *executor) probeRecorded(random *rand.Rand) {
	for i := range min(probes/4, len(p.recorded)) {
		at := len(p.recorded) - 1 - i
		if i%2 == 1 {
			at = random.IntN(len(p.recorded))
		}
		p.probeProvisional(p.recorded[at])
	}
}

// probeProvisional looks up a provisional handle, which names no item, and resolves it.
func (p *executor) probeProvisional(name int) {
	v := p.names[name]
	if p.has(v.provisional) {
		p.fail(Forged, "the provisional handle of %%%d is found", name)
	}
	want, wanted := p.exact.Resolve(name)
	if got, ok := p.resolved(v.table, v.provisional); ok != wanted || ok && got != want {
		p.fail(Model, "%%%d resolves to %s, %v; want %s, %v", name, model.Text(got), ok, model.Text(want), wanted)
	}
}

// probeAll looks up every handle of the program.
func (p *executor) probeAll() {
	for _, id := range p.abstract.Issued() {
		p.probe(id)
	}
	for _, id := range p.abandoned {
		p.probe(id)
	}
	for _, name := range p.recorded {
		p.probeProvisional(name)
	}
}

// probeForged looks up handles that differ from an issued one in one field or one bit.
func (p *executor) probeForged(id uint64, random *rand.Rand) {
	for bit := range 64 {
		p.probe(id ^ 1<<bit)
	}
	generation, live, ok := p.exact.Slot(id)
	if own := id&^(0xffff<<32) | uint64(generation)<<32; ok {
		p.probe(own)         // bits of the slot, live or not
		p.probe(own | 1<<63) // upper half of a vacant slot
		p.probe(own + 1<<32)
		if !live && generation != 0 {
			p.see(model.ForgedVacant)
		}
	}
	p.probe(id - 1<<32)
	p.probe(id + 1<<32)
	p.probe(id | 1<<32 - 1)
	p.probe(id&^(0x7fff<<48) | random.Uint64N(1<<15-1)<<48)
}

// has reports whether any table has the item.
func (p *executor) has(id uint64) bool {
	return slices.ContainsFunc(p.tables, func(t bound) bool { return t.has(id) })
}

// probe compares the lookups of a handle through each table with both models. Any goroutine may call
// it while nothing changes.
func (p *executor) probe(id uint64) {
	lives := p.exact.Lives(id)
	item, owner, known := p.abstract.Find(id)
	// A model is wrong, or the store gave the models a wrong handle.
	if known != lives {
		p.fail(Model, "the models differ over %s: %v, %v", model.Text(id), lives, known)
	}
	if got := p.has(id); got != lives {
		p.accepted(id, got)
		return
	}
	for i, t := range p.tables {
		if len(p.tables) > 8 && i != owner && i != int(id%uint64(len(p.tables))) {
			continue // two of a thousand tables are enough
		}
		got, ok := t.get(id)
		// A table must not find the item of another table.
		if want := known && owner == i; ok != want || ok && got != item {
			p.accepted(id, ok)
		}
		p.probeParts(i, id, known && owner == i)
		if t.has(id) != ok {
			p.fail(Model, "Has and Get differ over %s", model.Text(id))
		}
	}
}
