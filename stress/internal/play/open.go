package play

import (
	"context"
	"slices"

	"handloom/internal/narrow"
	"handloom/store"
	"handloom/stress/internal/model"
	"handloom/stress/internal/program"
)

// open makes the store, its tables and the models.
func (p *player) open() (err error) {
	o := p.program.Store
	p.store, err = store.New(store.Options{
		Workers: p.config.Workers, QueueLimit: o.QueueLimit, BatchLimit: o.BatchLimit, InboxLimit: o.InboxLimit,
		AfterFlush: func(r *store.Report) { p.after = append(p.after, p.reported(r)) },
	})
	if err != nil {
		return err
	}
	first, err := typeIDs(p.program.Tables)
	if err != nil {
		return err
	}
	for i := range p.program.Tables {
		t := &p.program.Tables[i]
		made, err := p.register(t)
		if err != nil {
			return err
		}
		m := model.Table{
			TypeID: uint16(first[i]), Shards: max(1, t.Shards), Stable: t.Kind == program.Stable,
			MinFree: t.MinFree, Max: t.Max, Chunk: t.Chunk,
		}
		if m.Chunk == 0 {
			m.Chunk = chunkRows(t.Item)
		}
		p.tables, p.modelled = append(p.tables, made), append(p.modelled, m)
	}
	p.exact = model.NewExact(p.modelled, model.Widths{
		LastGeneration: narrow.LastGeneration, Slots: uint64(narrow.SlotLimit),
		QueueLimit: o.QueueLimit, BatchLimit: o.BatchLimit, InboxLimit: o.InboxLimit,
	}, &p.result.Seen)
	p.abstract = model.NewAbstract(p.modelled)
	if len(p.tables) >= 1000 {
		p.result.Seen.See(model.ManyTables)
	}
	p.nameAll()
	return p.openOther()
}

// openOther makes the second store, with one item. Handles of two stores are told
// apart by their typeIds alone, so that it has one that the program leaves free.
func (p *player) openOther() (err error) {
	if p.other, err = store.New(store.Options{Workers: 1}); err != nil {
		return err
	}
	free := slices.Index(taken(p.modelled), false)
	p.elsewhere, err = store.Register(p.other, store.TableOptions[word]{Name: "elsewhere", TypeID: lastTypeID - free})
	if err != nil {
		return err
	}
	return p.other.Write(context.Background(), func(_ context.Context, w *store.Writer) error {
		h, err := p.elsewhere.Insert(w, 1)
		p.foreign = uint64(h.ID)
		return err
	})
}

// taken returns which typeIds tables have, the last one first.
func taken(tables []model.Table) []bool {
	taken := make([]bool, lastTypeID+1)
	for i := range tables {
		for k := range tables[i].Shards {
			taken[lastTypeID-int(tables[i].TypeID)-k] = true
		}
	}
	return taken
}

func (p *player) register(t *program.Table) (bound, error) {
	switch t.Item {
	case program.Empty:
		return registerAs(p, t, emptyKind, store.TableOptions[empty]{})
	case program.Word:
		return registerAs(p, t, wordKind, store.TableOptions[word]{})
	case program.Linked:
		return registerAs(p, t, linkedKind, store.TableOptions[linked]{})
	case program.Rich:
		return registerAs(p, t, richKind, store.TableOptions[rich]{Links: richLinks(&p.fuse), Clone: cloneRich})
	}
	return registerAs(p, t, bigKind, store.TableOptions[big]{})
}

func registerAs[T any](p *player, t *program.Table, k kind[T], o store.TableOptions[T]) (bound, error) {
	o.Name, o.TypeID, o.Shards, o.Reserve, o.MaxItems = t.Name, t.TypeID, t.Shards, t.Reserve, t.Max
	o.MinFree, o.ChunkItems, o.FixedKeys, o.Changes = t.MinFree, t.Chunk, t.Fixed == 1, t.Changes == 1
	if t.Kind == program.Stable {
		o.FixedKeys = false
		made, err := store.RegisterStable(p.store, o)
		if err != nil {
			return nil, err
		}
		return &stable[T]{binding[T]{made, k}, made}, nil
	}
	made, err := store.Register(p.store, o)
	if err != nil {
		return nil, err
	}
	return &packed[T]{binding[T]{made, k}, made}, nil
}
