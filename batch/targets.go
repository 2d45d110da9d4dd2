package batch

// Targets calls columns for each table that a queue of the pass holds creates or
// puts for, and erases for each list of erases, as often as there are queues
// that do. Checked builds compare it with what was declared.
func (p *Pass) Targets(columns func(ordinal int), erases func(list int)) {
	for task := range p.lanes[:p.tasks] {
		l := &p.lanes[task]
		for _, t := range l.touched {
			columns(t.ordinal)
		}
		for _, list := range l.lists {
			erases(list)
		}
	}
}
