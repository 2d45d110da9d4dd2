package schedule

import "slices"

// plan is what a schedule does in every frame.
type plan struct {
	reasons [][]reason   // by system: for whom it waits
	serial  []int        // the systems in serial order
	wave    []int        // by system: the index of its wave
	waves   [][]int      // the systems of each, as registered
	flushes [][]cause    // by wave: why there is a flush before it; the last: at the end
	ends    [][]Resource // by wave: that end in the flush before it, likewise
}

// newPlan computes the plan of systems without faults. Systems that wait for
// each other are the one error that it finds itself.
func newPlan(w words) (p plan, err error) {
	all := make([]accesses, len(w.systems))
	for i := range w.systems {
		all[i] = accessesOf(&w.systems[i])
	}
	p.reasons = reasons(w.systems, all)
	if p.serial, err = serialOrder(w, p.reasons); err != nil {
		return plan{}, err
	}
	p.orderEmitters(all)
	p.fill()
	p.placeFlushes(all)
	return p, nil
}

// orderEmitters has those who emit to one resource follow each other in serial
// order. They only record, so it is all the same who runs first, unless a flush
// between their waves applies what the later one recorded before what the earlier
// one will record. That makes no system wait for itself, since it adds nothing to
// the serial order. Where one of two touches the resource, too, they have a
// reason already.
func (p *plan) orderEmitters(all []accesses) {
	for at, later := range p.serial {
		for _, earlier := range p.serial[:at] {
			for _, a := range all[later] {
				if a.mode == emits && all[earlier].to(a.resource) == emits {
					p.reasons[later] = append(p.reasons[later], reason{earlier, a.resource, emits, emits})
				}
			}
		}
	}
}

// fill gives every system the earliest wave that its reasons allow.
func (p *plan) fill() {
	p.wave = make([]int, len(p.serial))
	for _, i := range p.serial {
		for _, r := range p.reasons[i] {
			p.wave[i] = max(p.wave[i], p.wave[r.other]+r.distance())
		}
	}
	p.waves = make([][]int, slices.Max(p.wave)+1)
	for i, w := range p.wave {
		p.waves[w] = append(p.waves[w], i)
	}
}

// cause is a reason for a flush: the system reads or writes a resource that
// another has emitted since the flush before. At the end of the frame nobody
// does, and the system is nobody.
type cause struct {
	system int
	reason
}

const nobody = -1

// placeFlushes puts a flush before each wave that reads or writes what earlier
// waves have emitted since the flush before it, and at the end if anything is
// emitted after the last.
func (p *plan) placeFlushes(all []accesses) {
	var pending []cause // what was emitted, and by whom
	p.flushes, p.ends = make([][]cause, len(p.waves)+1), make([][]Resource, len(p.waves)+1)
	for w, systems := range p.waves {
		p.flushes[w] = touching(pending, systems, all)
		if p.flushes[w] != nil {
			pending = nil
		}
		pending = appendEmitted(pending, systems, all)
	}
	p.flushes[len(p.waves)] = pending
}

// touching returns who among the systems reads or writes what is pending.
func touching(pending []cause, systems []int, all []accesses) (who []cause) {
	for _, i := range systems {
		for _, e := range pending {
			if own := all[i].to(e.resource) & (reads | writes); own != 0 {
				who = append(who, cause{i, reason{e.other, e.resource, own, emits}})
			}
		}
	}
	return who
}

func appendEmitted(pending []cause, systems []int, all []accesses) []cause {
	for _, i := range systems {
		for _, a := range all[i] {
			if a.mode&emits != 0 {
				pending = append(pending, cause{nobody, reason{other: i, resource: a.resource, others: emits}})
			}
		}
	}
	return pending
}
