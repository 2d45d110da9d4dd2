package buildcost

import (
	"fmt"
	"strings"
)

// Source says which program is generated.
type Source struct {
	Tables int
	Every  bool // it uses every operation of a table, else what every program needs
	Apart  bool // another package registers the tables

	Columns int // of the first table, each of another type
}

func (p Source) String() string {
	ops, where := "few", ""
	if p.Every {
		ops = "every"
	}
	if p.Apart {
		where = "/apart"
	}
	return fmt.Sprintf("tables=%d/ops=%s%s", p.Tables, ops, where)
}

// Where the generated packages seem to lie, below the module's root.
const (
	mainPath = "bench/internal/buildcost/generated"
	usePath  = mainPath + "/use"
	madePath = mainPath + "/made"
)

// files returns the files of the program. touched is in the one that uses the
// tables, so that it has to be compiled anew.
func (p Source) files(touched int64) map[string]string {
	made, use, main := new(strings.Builder), new(strings.Builder), new(strings.Builder)
	of := ""
	fmt.Fprint(made, "package made\n\nimport \"handloom/store\"\n")
	fmt.Fprintf(use, "package use\n\nimport (\n\t\"context\"\n\n\t\"handloom/store\"\n")
	if p.Apart {
		of = "made."
		fmt.Fprintf(use, "\t\"handloom/%s\"\n", madePath)
	} else {
		made = use
	}
	fmt.Fprintf(use, ")\n\nconst Touched = %d\n", touched)
	fmt.Fprintf(main, "package main\n\nimport (\n\t\"context\"\n\n\t\"handloom/%s\"\n\t\"handloom/store\"\n)\n", usePath)
	fmt.Fprint(main, "\nfunc main() {\n\tctx := context.Background()\n\ts, err := store.New(store.Options{})\n\tif err != nil {\n\t\tpanic(err)\n\t}\n")
	for i := range p.Tables {
		fmt.Fprintf(made, "\ntype T%d struct {\n%s}\n%s", i, fields(i), strings.ReplaceAll(register, "$", fmt.Sprint(i)))
		body := few
		if p.Every {
			body += every
		}
		if i == 0 {
			types, uses := p.columns()
			fmt.Fprint(use, types)
			body += uses
		}
		fmt.Fprint(use, strings.NewReplacer("made.", of, "$", fmt.Sprint(i)).Replace("\n"+head+body+"\treturn nil\n}\n"))
		fmt.Fprintf(main, "\tif err := use.Use%d(ctx, s); err != nil {\n\t\tpanic(err)\n\t}\n", i)
	}
	fmt.Fprint(main, "}\n")
	all := map[string]string{mainPath + "/main.go": main.String(), usePath + "/use.go": use.String()}
	if p.Apart {
		all[madePath+"/made.go"] = made.String()
	}
	return all
}

// columns returns the element types of the columns, and what is done with each.
func (p Source) columns() (types, uses string) {
	var declared, used strings.Builder
	for k := range p.Columns {
		fmt.Fprintf(&declared, "\ntype C%d struct {\n%s}\n", k, fields(100+k))
		fmt.Fprint(&used, strings.ReplaceAll(column, "#", fmt.Sprint(k)))
	}
	return declared.String(), used.String()
}

// fields are those of type i, which no other has.
func fields(i int) string {
	kinds := []string{"uint64", "int32", "float64", "string", "[3]float32", "uint8", "[]byte", "*int", "bool", "int16"}
	var b strings.Builder
	for k := range 3 + i%5 {
		fmt.Fprintf(&b, "\tF%d %s\n", k, kinds[(i*7+k*3+i/10)%len(kinds)])
	}
	fmt.Fprintf(&b, "\tPad [%d]uint16\n", i+1)
	return b.String()
}

// The code for a type, in which $ is its number, and for a column, in which # is.
const (
	register = `
func Register$(s *store.Store) (*store.Table[T$], error) {
	return store.Register(s, store.TableOptions[T$]{Name: "t$"})
}
`
	head = `func Use$(ctx context.Context, s *store.Store) error {
	t, err := made.Register$(s)
	if err != nil {
		return err
	}
`
	few = `	err = t.ForEach(ctx, func(ctx context.Context, c store.Chunk[made.T$]) error {
		for i := range c.Items {
			h := t.Emplace(c.Queue, c.Items[i])
			t.Put(c.Queue, h, c.Items[i])
			t.Erase(c.Queue, c.Handle(i))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if _, err := s.Flush(ctx); err != nil {
		return err
	}
	for h := range t.All() {
		if _, ok := t.Get(h); !ok {
			panic(h)
		}
	}
`
	column = `	c#, err := store.AddColumn(t, store.ColumnOptions[C#]{Name: "c#"})
	if err != nil {
		return err
	}
	err = t.ForEachRows(ctx, func(ctx context.Context, c store.RowsChunk[made.T$]) error {
		e, b := c#.Write(c), c#.Beside(c.Rows())
		for i := range e {
			e[i] = b[i]
			c#.Set(c.Queue, c.Handle(i), e[i])
			c#.Wrote(c, i)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for h := range c#.Written() {
		if v, ok := c#.Get(h); ok {
			*v = *c#.At(h)
		}
	}
	_ = t.ForEach(ctx, func(ctx context.Context, c store.Chunk[made.T$]) error {
		_ = c#.Rows(c)
		return nil
	})
	_ = store.Exchange(ctx, c#, c#)
`
	every = `	var z made.T$
	q, _ := s.Queues(1)
	hs := t.EmplaceItems(q[0], []made.T${z}, nil)
	t.EraseItems(q[0], hs)
	t.EraseAll(q[0])
	store.EmplaceFunc(t, q[0], func(h store.Handle[made.T$], v *made.T$) {})
	t.Staged(q[0], hs[0])
	for range store.Created(t) {
	}
	for range store.Erased(t) {
	}
	for range store.Replaced(t) {
	}
	t.Has(hs[0])
	t.At(hs[0])
	t.Resolve(hs[0])
	t.Len()
	t.Name()
	t.Handle(hs[0].ID)
	_, _ = store.Reduce(ctx, t, func(ctx context.Context, r store.Rows[made.T$]) (int, error) {
		r.Handle(0)
		return len(r.Items), nil
	}, func(a, b int) int { return a + b })
	_ = s.Write(ctx, func(ctx context.Context, w *store.Writer) error {
		h, _ := t.Insert(w, z)
		t.Remove(w, h)
		t.Clear(w)
		_ = store.SortFunc(ctx, t, w, func(a, b *made.T$) int { return 0 })
		_ = store.SortByKey(ctx, t, w, func(a *made.T$) uint64 { return 0 })
		_, _, _ = store.Defragment(ctx, t, w, func(a, b *made.T$) int { return 0 }, 0)
		return nil
	})
`
)
