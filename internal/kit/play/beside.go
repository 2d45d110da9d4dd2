package play

import (
	"context"
	"errors"
	"slices"
	"strings"

	"handloom/internal/kit/model"
	"handloom/internal/kit/program"
	"handloom/store"
)

// columnsOf returns how many columns a table has.
func (p *player) columnsOf(table int) int {
	if t, ok := p.tables[table].(besideTable); ok {
		return t.columns()
	}
	return 0
}

// columnOf returns the column that a number of the program stands for.
func (p *player) columnOf(table, number int) (model.ColumnOf, boundColumn) {
	t := p.tables[table].(besideTable)
	number %= t.columns()
	return model.ColumnOf{Table: table, Column: number}, t.column(number)
}

// columnName is the name of a column by its number.
func columnName(number int) string { return string(rune('a' + number)) }

// columnNumber is the inverse of columnName; of "" it is 0.
func columnNumber(name string) int {
	if name == "" {
		return 0
	}
	return int(name[0] - 'a')
}

// columnNamed returns the column that reports call by a name.
func (p *player) columnNamed(name string) model.ColumnOf {
	of, column, _ := strings.Cut(name, ".")
	table := slices.IndexFunc(p.program.Tables, func(t program.Table) bool { return t.Name == of })
	return model.ColumnOf{Table: table, Column: columnNumber(column)}
}

// addColumn adds a column. Readers, which phases turn it away from, are kept out meanwhile.
func (p *player) addColumn(ctx context.Context, s *program.Step) {
	t := p.tables[s.Table].(besideTable)
	tracked := s.Arg("changes") == 1 && p.program.Tables[s.Table].Changes == 1
	p.readers.Lock()
	err := t.addColumn(p, s.Word, columnName(t.columns()), tracked)
	p.readers.Unlock()
	if err != nil {
		p.fail(Model, "AddColumn: %v", err)
		return
	}
	p.columns++
	p.tracked[model.ColumnOf{Table: s.Table, Column: t.columns() - 1}] = tracked
	p.exact.AddColumn(s.Table)
	p.inspect(ctx)
	p.mark(ctx, "column")
}

// forEachRows runs a pass over the chunks of a table that writes the elements of column c,
// to which it adds those of column d, and reads the items.
func (p *player) forEachRows(ctx context.Context, s *program.Step, inWrite bool) {
	if p.columnsOf(s.Table) == 0 {
		return
	}
	chunks := p.exact.Chunks(s.Table)
	r := p.running(s, len(chunks))
	r.rows = s.Table
	c, _ := p.columnOf(s.Table, s.Arg("c"))
	d, source := p.columnOf(s.Table, s.Arg("d"))
	change := changing(s)
	every := s.Arg("wrote")
	ran := r.run(ctx, inWrite, func(ctx context.Context) error {
		return p.tables[s.Table].(besideTable).forEachRows(ctx, func(ctx context.Context, k chunk) error {
			if !p.isChunk(&k, chunks) {
				return nil
			}
			own, other := k.own(c.Column), k.beside(d.Column)
			if own.len() != len(k.handles) || other.len() != len(k.handles) {
				p.fail(Model, "%d and %d elements lie beside %d items", own.len(), other.len(), len(k.handles))
				return nil
			}
			for i := range k.handles {
				read := other.at(i)
				if got, ok := source.get(k.handles[i]); !ok || got != read {
					p.fail(Model, "column %d of %s has %+v beside its row and is found as %+v", d.Column, model.Text(k.handles[i]), read, got)
				}
				own.change(i, func(key *uint64) {
					if change(key) {
						*key += read.Key
					}
				})
			}
			for i := 0; every > 0 && i < len(k.handles); i += every {
				k.wroteBeside(c.Column, i)
			}
			r.places[k.index].chunk, r.erase[k.index] = k.handles, k.erase
			return r.task(ctx, k.index, k.queue)
		})
	})
	if !ran {
		return
	}
	var noted []uint64
	for i := range chunks {
		noted = append(noted, everyNth(chunks[i].Handles, every)...)
		for _, id := range chunks[i].Handles {
			read := p.exact.Element(d, id).Key
			p.changeElement(c, id, func(key *uint64) {
				if change(key) {
					*key += read
				}
			})
		}
	}
	if p.tracked[c] {
		p.exact.WroteBeside(c, noted, inWrite)
		p.checkWrittenBeside(c)
	}
}

// changeElement changes the key of an element in both models.
func (p *player) changeElement(c model.ColumnOf, id uint64, f func(key *uint64)) {
	f(&p.exact.Element(c, id).Key)
	element := p.abstract.Element(c, id)
	f(&element.Key)
	p.abstract.SetElement(c, id, element)
}

// isChunk sees that a chunk is one of those of the model.
func (p *player) isChunk(c *chunk, chunks []model.Chunk) bool {
	if c.index >= len(chunks) || !slices.Equal(c.handles, chunks[c.index].Handles) {
		p.fail(Model, "chunk %d holds %s; want one of %d chunks, with %s",
			c.index, list(c.handles), len(chunks), list(chunks[min(c.index, len(chunks)-1)].Handles))
		return false
	}
	return true
}

// set records a Set.
func (r *running) set(c *program.Step, task int, q store.Queue, at place) {
	if r.columnsOf(c.Table) == 0 {
		return
	}
	of, column := r.columnOf(c.Table, c.Arg("c"))
	all := r.targets(c.Refs, at)
	v := value(column.keeps(model.Item{Key: uint64(c.Arg("v")), Serial: uint64(c.Arg("s"))}), all[1:])
	if v.Item = column.keeps(v.Item); v.Links == [model.Links]uint64{} {
		v.Names = [model.Links]int{}
	}
	column.set(q, all[0].id, v.Item)
	r.note(task, model.Command{Kind: model.Set, Table: c.Table, Column: of.Column, ID: all[0].id, Name: all[0].name, Value: v})
}

// exchange exchanges two columns, if they are of one type.
func (y *writing) exchange() {
	if y.columnsOf(y.s.Table) == 0 {
		return
	}
	a, one := y.columnOf(y.s.Table, y.s.Arg("c"))
	b, other := y.columnOf(y.s.Table, y.s.Arg("d"))
	if !one.isLike(other) {
		return
	}
	unchanged := y.unchanged(y.ctx, "an exchange that is refused")
	err := one.exchange(y.ctx, other)
	if _, isRich := one.(*column[word, rich]); isRich {
		if err == nil {
			y.fail(Model, "columns with Links are exchanged")
		}
		unchanged()
		return
	}
	if err != nil {
		y.fail(Model, "Exchange: %v", err)
		return
	}
	y.exact.Exchange(y.s.Table, a.Column, b.Column)
	y.abstract.Exchange(y.s.Table, a.Column, b.Column)
}

// writeElements writes elements in place.
func (y *writing) writeElements() {
	if y.columnsOf(y.s.Table) == 0 {
		return
	}
	c, column := y.columnOf(y.s.Table, y.s.Arg("c"))
	for i, id := range y.ids() {
		if y.exact.Element(c, id) != nil {
			column.write(id, uint64(y.s.Arg("v")+i))
			y.changeElement(c, id, func(key *uint64) { *key = uint64(y.s.Arg("v") + i) })
		} else if _, ok := column.get(id); ok {
			y.accepted(id, true)
		}
	}
}

// inspectColumns compares all elements of a table.
func (p *player) inspectColumns(table int) {
	for number := range p.columnsOf(table) {
		c, column := p.columnOf(table, number)
		for _, id := range p.exact.Rows(table) {
			p.checkElement(c, column, id)
		}
		p.checkWrittenBeside(c)
	}
}

// checkElement compares the element of an item that lives.
func (p *player) checkElement(c model.ColumnOf, column boundColumn, id uint64) {
	got, ok := column.get(id)
	if want := p.abstract.Element(c, id); !ok || got != want {
		p.fail(Model, "column %d of %s is %+v, %v; want %+v", c.Column, model.Text(id), got, ok, want)
	}
	if exact := p.exact.Element(c, id); exact == nil || *exact != got {
		p.fail(Model, "column %d of %s is %+v; want %+v", c.Column, model.Text(id), got, exact)
	}
}

// probeColumns looks a handle up in the columns of a table, in which it names an item or
// nothing.
func (p *player) probeColumns(table int, id uint64, lives bool) {
	for number := range p.columnsOf(table) {
		c, column := p.columnOf(table, number)
		if lives {
			p.checkElement(c, column, id)
		} else if _, ok := column.get(id); ok {
			p.accepted(id, true)
		}
	}
}

// probeColumnAt sees that At of a column panics over a handle that names nothing.
func (p *player) probeColumnAt(table int, id uint64) {
	if p.columnsOf(table) == 0 {
		return
	}
	defer func() {
		err, _ := recover().(error)
		var stale *store.StaleError
		if !errors.As(err, &stale) || uint64(stale.Handle) != id {
			p.fail(Model, "At(%s) of a column panics with %v; want a StaleError", model.Text(id), err)
		}
	}()
	_, column := p.columnOf(table, int(id%7))
	column.at(id)
}

// dumpColumns compares what is dumped beside an item of a table.
func (p *player) dumpColumns(table int, id uint64) {
	number := 0
	for name, v := range p.store.DumpColumns(store.ID(id)) {
		c, column := p.columnOf(table, number)
		got, ok := column.read(v)
		if want := p.abstract.Element(c, id); !ok || name != columnName(number) || got != want {
			p.fail(Model, "DumpColumns of %s has %q, %+v, %v; want %+v", model.Text(id), name, got, ok, want)
		}
		number++
	}
	if number != p.columnsOf(table) {
		p.fail(Model, "DumpColumns of %s yields %d columns", model.Text(id), number)
	}
}

// checkWrittenBeside compares what was written of a column that keeps changes.
func (p *player) checkWrittenBeside(c model.ColumnOf) {
	if !p.tracked[c] {
		return
	}
	_, column := p.columnOf(c.Table, c.Column)
	if got, want := column.written(), p.exact.WrittenBeside(c); !slices.Equal(got, want) {
		p.fail(Model, "table %s: Written of column %d has %s; want %s", p.program.Tables[c.Table].Name, c.Column, list(got), list(want))
	}
}
