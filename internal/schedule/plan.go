package schedule

import "slices"

// plan is the fixed part of a schedule.
type plan struct {
	reasons [][]reason   // by system: reasons to wait
	serial  []int        // systems in serial order
	wave    []int        // by system: its wave
	waves   [][]int      // by wave: its systems, in order of registration
	flushes [][]cause    // by wave: reasons for a flush before it; the last entry is the end
	ends    [][]Resource // by wave: resources that end in the flush before it; the last entry is the end
}

// newPlan computes the plan of valid systems. It returns an error if systems wait for each
// other.
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

// orderEmitters orders emitters of one resource by serial order. Emitters may run at the
// same time, unless a flush between their waves would apply commands of the later one
// first. The order adds nothing to serial order, so it makes no cycles. Pairs in which one
// also touches the resource already have a reason.
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

// fill puts every system into the earliest wave that its reasons allow.
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

// cause is a reason for a flush: the system touches a resource that another system has emitted
// to since the last flush. At the end of the frame the system is nobody.
type cause struct {
	system int
	reason
}

const nobody = -1

// placeFlushes puts a flush before each wave that touches a resource with pending emits,
// and at the end if emits are left.
func (p *plan) placeFlushes(all []accesses) {
	var pending []cause // emits since the last flush
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

// touching returns a cause for each of the systems that touches a pending resource.
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
