package batch

// ToTable stands for the table itself among what is attached to it.
const ToTable = -1

// Targets calls visit with the ordinal of each table that a queue of the pass holds
// commands for, and the attachment that they are for, or ToTable, as often as there are
// columns, sets, erase lists and erases of all that do. Checked builds compare it with what was
// declared.
func (p *Pass) Targets(visit func(ordinal, attachment int)) {
	for task := range p.buffers[:p.tasks] {
		buf := &p.buffers[task]
		for _, t := range buf.touched {
			visit(t.ordinal, ToTable)
		}
		for _, list := range buf.lists {
			visit(p.batch.byList[list].ordinal, ToTable)
		}
		if list := buf.byRow.list; list > 0 {
			visit(p.batch.byList[list].ordinal, ToTable)
		}
		for _, ordinal := range buf.all {
			visit(ordinal, ToTable)
		}
		for _, s := range buf.attached {
			visit(s.of.table.ordinal, s.of.index)
		}
	}
}
