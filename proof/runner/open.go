package runner

import (
	"unsafe"

	"handloom/internal/slotset"
	"handloom/proof/model"
	"handloom/proof/script"
	"handloom/store"
)

// open makes the store, its tables and the models.
func (p *executor) open() (err error) {
	o := p.program.Store
	p.store, err = store.New(store.Options{
		Workers: p.config.Workers, QueueLimit: o.QueueLimit, BatchLimit: o.BatchLimit, InboxLimit: o.InboxLimit,
		BatchBytes: int64(o.BatchBytes),
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
			TypeID: uint16(first[i]), Shards: max(1, t.Shards), Stable: t.Kind == script.Stable,
			MinFree: t.MinFree, Max: t.Max, Chunk: t.Chunk,
		}
		if m.Chunk == 0 {
			m.Chunk = chunkRows(t.Item)
		}
		p.tables, p.modelled = append(p.tables, made), append(p.modelled, m)
		p.pointers = p.pointers || t.Item == script.Rich
	}
	p.exact = model.NewExact(p.modelled, model.Widths{
		LastGeneration: slotset.LastGeneration(), Slots: uint64(slotset.SlotLimit()),
		QueueLimit: o.QueueLimit, BatchLimit: o.BatchLimit, InboxLimit: o.InboxLimit,
	}, &p.result.Seen)
	p.abstract = model.NewAbstract(p.modelled)
	if len(p.tables) >= 1000 {
		p.result.Seen.See(model.ManyTables)
	}
	p.nameAll()
	return nil
}

func (p *executor) register(t *script.Table) (bound, error) {
	switch t.Item {
	case script.Empty:
		return registerAs(p, t, emptyKind, store.TableOptions[empty]{})
	case script.Word:
		return registerAs(p, t, wordKind, store.TableOptions[word]{})
	case script.Linked:
		return registerAs(p, t, linkedKind, store.TableOptions[linked]{})
	case script.Rich:
		return registerAs(p, t, richKind, store.TableOptions[rich]{Links: richLinks(&p.fuse), Clone: cloneRich})
	}
	return registerAs(p, t, bigKind, store.TableOptions[big]{})
}

func registerAs[T any](p *executor, t *script.Table, k kind[T], o store.TableOptions[T]) (bound, error) {
	o.Name, o.TypeID, o.Shards, o.Reserve, o.MaxItems = t.Name, t.TypeID, t.Shards, t.Reserve, t.Max
	o.MinFree, o.ChunkItems, o.FixedKeys, o.Changes = t.MinFree, t.Chunk, t.Fixed == 1, t.Changes == 1
	if t.Kind == script.Stable {
		o.FixedKeys = false
		made, err := store.RegisterStable(p.store, o)
		if err != nil {
			return nil, err
		}
		return &stable[T]{binding[T]{common: made, kind: k, stays: unsafe.Sizeof(*new(T)) > 0}, made}, nil
	}
	made, err := store.Register(p.store, o)
	if err != nil {
		return nil, err
	}
	return &packed[T]{binding: binding[T]{common: made, kind: k}, table: made}, nil
}
