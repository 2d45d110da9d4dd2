package record

// Targets calls visit with the ordinal of each table that a queue of the pass holds
// commands for, as often as there are columns, erase lists and erases of all that do. Checked
// builds compare it with what was declared.
func (p *Pass) Targets(visit func(ordinal int)) {
	for task := range p.buffers[:p.tasks] {
		buf := &p.buffers[task]
		for _, t := range buf.touched {
			visit(t.ordinal)
		}
		for _, list := range buf.lists {
			visit(p.batch.byList[list].ordinal)
		}
		for _, ordinal := range buf.all {
			visit(ordinal)
		}
	}
}
