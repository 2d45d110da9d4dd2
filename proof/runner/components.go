package runner

import (
	"context"
	"slices"
	"strings"

	"handloom/proof/model"
	"handloom/proof/script"
	"handloom/store"
)

// part returns the part that a step names by number, among the parts on which its operation
// can work. Any number names one, so that a shrunk program stays valid.
func (p *executor) part(s *script.Step, number int) (col model.ColumnID, part boundPart, ok bool) {
	columns, optional := s.Op.About()
	var all []int
	parts := p.tables[s.Table].parts()
	for i := range parts {
		if _, isSparse := parts[i].(boundSparse); isSparse && optional || !isSparse && columns {
			all = append(all, i)
		}
	}
	if len(all) == 0 {
		return col, nil, false
	}
	at := all[max(number, 0)%len(all)]
	return model.ColumnID{Table: s.Table, Column: at}, parts[at], true
}

// columnName returns the name of a part by its number in the table.
func columnName(number int) string { return string(rune('a' + number)) }

// columnNumber is the inverse of columnName; the number of "" is 0.
func columnNumber(name string) int {
	if name == "" {
		return 0
	}
	return int(name[0] - 'a')
}

// columnNamed returns the column with the name in a report: table.column.
func (p *executor) columnNamed(name string) model.ColumnID {
	owner, column, _ := strings.Cut(name, ".")
	table := slices.IndexFunc(p.program.Tables, func(t script.Table) bool { return t.Name == owner })
	return model.ColumnID{Table: table, Column: columnNumber(column)}
}

// addPart adds a column or sparse data. Existing items have zero elements.
func (p *executor) addPart(ctx context.Context, s *script.Step) {
	t, optional := p.tables[s.Table], s.Op == script.AddSparse
	// Only a table with Changes lists changes of its parts.
	tracked := s.Arg("changes") == 1 && p.program.Tables[s.Table].Changes == 1
	number := len(t.parts())
	err := t.addPart(optional, s.Word, columnName(number), tracked)
	if err != nil {
		p.fail(Model, "%v: %v", s.Op, err)
		return
	}
	p.columns++
	p.tracked[model.ColumnID{Table: s.Table, Column: number}] = tracked
	p.exact.AddColumn(s.Table, optional, tracked)
	p.inspect(ctx)
	p.mark(ctx, "column")
}

// changeElement changes an element in the exact model, as its type stores it. The abstract
// model has no elements.
func (p *executor) changeElement(c model.ColumnID, id uint64, f func(key *uint64)) {
	element := p.exact.Element(c, id)
	f(&element.Key)
	*element = p.tables[c.Table].parts()[c.Column].keeps(*element)
}

// isChunk compares a chunk with the expected chunks. Any goroutine may call it.
func (p *executor) isChunk(c *chunk, chunks []model.Chunk) bool {
	if c.index >= len(chunks) || !slices.Equal(c.handles, chunks[c.index].Handles) {
		p.fail(Model, "chunk %d holds %s; want one of %d chunks, with %s",
			c.index, list(c.handles), len(chunks), list(chunks[min(c.index, len(chunks)-1)].Handles))
		return false
	}
	return true
}

// set records Sets of several items, with ascending keys.
func (r *running) set(c *script.Step, task int, q store.Queue, at place) {
	col, part, ok := r.part(c, c.Arg("c"))
	if !ok {
		return
	}
	v := recorded(part, c, r.targets(c.Refs[1:], at))
	for _, t := range r.targets(c.Refs[:1], at) {
		part.set(q, t.id, v.Item)
		r.note(task, model.Command{Kind: model.Set, Table: c.Table, Column: col.Column, ID: t.id, Name: t.name, Value: v})
		// Each item gets another value, so that an exchange of two is found.
		v.Key++
		v = kept(part, v)
	}
}

// unset records Unsets.
func (r *running) unset(c *script.Step, task int, q store.Queue, at place) {
	col, part, ok := r.part(c, c.Arg("c"))
	if !ok {
		return
	}
	for _, t := range r.targets(c.Refs, at) {
		part.(boundSparse).unset(q, t.id)
		r.note(task, model.Command{Kind: model.Unset, Table: c.Table, Column: col.Column, ID: t.id, Name: t.name})
	}
}

// sortSparse sorts sparse data by the rows of its items.
func (y *writing) sortSparse() {
	if col, part, ok := y.part(y.s, y.s.Arg("c")); ok {
		part.(boundSparse).SortAsTable(y.w)
		y.exact.SortOptional(col)
	}
}

// changeSparse sets or removes sparse data at once.
func (y *writing) changeSparse() {
	col, part, ok := y.part(y.s, y.s.Arg("c"))
	if !ok {
		return
	}
	for _, id := range y.ids() {
		got, want := false, false
		if y.s.Op == script.PutSparse {
			v := part.keeps(model.Item{Key: uint64(y.s.Arg("v"))})
			got, want = part.(boundSparse).putNow(y.w, id, v), y.exact.PutSparse(col, id, v)
		} else {
			got, want = part.(boundSparse).removeNow(y.w, id), y.exact.RemoveSparse(col, id)
		}
		// Both answers are false for a stale handle.
		y.same(y.s.Op.String(), got, want)
	}
}

// exchange exchanges two columns. The store must refuse columns with Links.
func (y *writing) exchange() {
	a, part, ok := y.part(y.s, y.s.Arg("c"))
	b, second, _ := y.part(y.s, y.s.Arg("d"))
	if !ok {
		return
	}
	first := part.(boundColumn)
	unchanged := y.unchanged(y.ctx, "an exchange that is refused")
	// Columns of different types are left as they are.
	ok, err := first.exchange(y.ctx, second.(boundColumn))
	if !ok {
		return
	}
	if first.hasLinks() {
		y.want(err != nil, "columns with Links are exchanged")
		unchanged()
		return
	}
	if err != nil {
		y.fail(Model, "Exchange: %v", err)
		return
	}
	y.exact.Exchange(y.s.Table, a.Column, b.Column)
}

// writeElements writes through pointers from Get, which a Frame allows.
func (y *writing) writeElements() {
	c, part, ok := y.part(y.s, y.s.Arg("c"))
	if !ok {
		return
	}
	for i, id := range y.ids() {
		// Only the exact model knows whether the item has the element.
		if y.exact.Element(c, id) != nil {
			part.write(id, uint64(y.s.Arg("v")+i))
			y.changeElement(c, id, func(key *uint64) { *key = uint64(y.s.Arg("v") + i) })
		} else if _, ok := part.get(id); ok {
			y.accepted(id, true)
		}
	}
}

// inspectParts compares all elements of a table.
func (p *executor) inspectParts(table int) {
	for number, part := range p.tables[table].parts() {
		c := model.ColumnID{Table: table, Column: number}
		n := 0
		for _, id := range p.exact.Rows(table) {
			// Each item of the table is asked, also items without data.
			if p.checkElement(c, part, id) {
				n++
			}
		}
		if data, ok := part.(boundSparse); ok {
			p.want(data.Len() == n, "optional data %d of table %s has length %d; want %d", number, p.program.Tables[table].Name, data.Len(), n)
			p.sameHandles(data.all(), p.exact.Owners(c), "table %s: All of optional data %d", p.program.Tables[table].Name, number)
		}
		p.checkWrittenColumn(c)
	}
}

// checkElement compares one element, and returns whether the item has it.
func (p *executor) checkElement(c model.ColumnID, part boundPart, id uint64) bool {
	got, ok := part.get(id)
	data, optional := part.(boundSparse)
	if exact := p.exact.Element(c, id); ok != (exact != nil) || ok && *exact != got {
		p.fail(Model, "column %d of %s is %+v, %v; want %+v", c.Column, model.Text(id), got, ok, exact)
	}
	if optional && data.has(id) != ok {
		p.fail(Model, "Has and Get of column %d differ over %s", c.Column, model.Text(id))
	}
	return ok
}

// probeParts compares the elements of a handle, which may be stale.
func (p *executor) probeParts(table int, id uint64, lives bool) {
	for number, part := range p.tables[table].parts() {
		if lives {
			p.checkElement(model.ColumnID{Table: table, Column: number}, part, id)
		} else if _, ok := part.get(id); ok {
			p.accepted(id, true)
		}
	}
}

// checkWrittenColumn compares the lists of changes of a column or of sparse data.
func (p *executor) checkWrittenColumn(c model.ColumnID) {
	if !p.tracked[c] {
		return
	}
	part := p.tables[c.Table].parts()[c.Column]
	if data, ok := part.(boundSparse); ok {
		got, want := data.changes(), p.exact.SparseChanges(c)
		p.sameHandles(got.Created, want.Created, "table %s: Created of optional data %d", p.program.Tables[c.Table].Name, c.Column)
		p.sameHandles(got.Erased, want.Erased, "table %s: Erased of optional data %d", p.program.Tables[c.Table].Name, c.Column)
		p.want(slices.Equal(got.Values, want.Values), "optional data %d: Erased has the values %v; want %v", c.Column, got.Values, want.Values)
	}
	p.sameHandles(part.written(), p.exact.WrittenColumn(c), "table %s: Written of column %d", p.program.Tables[c.Table].Name, c.Column)
}
