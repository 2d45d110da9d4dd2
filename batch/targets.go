package batch

// ToTable is the table itself instead of an attachment.
const ToTable = -1

// Targets calls visit with the table and the attachment, or ToTable, of each kind of
// command of the pass, with duplicates. Checked builds compare them with declarations.
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
			visit(s.log.table.ordinal, s.log.index)
		}
	}
}
