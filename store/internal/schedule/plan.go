package schedule

import "slices"

// plan is the fixed part of a schedule.
type plan struct {
	reasons [][]reason // by system: why it waits
	serial  []int
	wave    []int        // by system
	waves   [][]int      // by wave, in order of registration
	flushes [][]cause    // by wave: why a flush precedes it; the last is the end
	ends    [][]Resource // by wave: resources that end before it; the last is the end
}

// newPlan fails if systems wait for each other.
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

// orderEmitters orders emitters of one resource by serial order: a flush between their
// waves must not apply the later commands first. Pairs in which one also touches the
// resource already have a reason.
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

// cause is a reason for a flush: the system, or nobody at the end, touches a resource
// emitted to since the last flush.
type cause struct {
	system int
	reason
}

const nobody = -1

func (p *plan) placeFlushes(all []accesses) {
	var pending []cause
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
