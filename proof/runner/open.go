package runner

import (
	"handloom/internal/slotset"
	"handloom/proof/model"
	"handloom/proof/script"
	"handloom/store"
)

// open makes the store, its tables and the models.
func (p *executor) open() (err error) {
	o := p.program.Store
	p.store = store.New(store.Options{
		Workers: p.config.Workers, BatchLimit: o.BatchLimit, InboxLimit: o.InboxLimit,
		BatchBytes: int64(o.BatchBytes), Seed: uint64(o.Seed),
	})
	next := 1 // typeId
	for i := range p.program.Tables {
		t := &p.program.Tables[i]
		var made bound
		// Options out of range panic. A drawn program has valid options.
		if err := PanicOf(func() { made = p.register(t) }); err != nil {
			return err
		}
		m := model.Table{
			TypeID: uint16(next), Shards: max(1, t.Shards), Stable: t.Kind == script.Stable,
			MinFree: t.MinFree, Max: t.Max, Chunk: t.Chunk, Events: t.Events == 1, Changes: t.Changes == 1,
		}
		if m.Chunk == 0 {
			m.Chunk = chunkRows(t.Item)
		}
		// The store gives typeIds in the order of registration.
		next += m.Shards
		p.tables, p.modelled = append(p.tables, made), append(p.modelled, m)
	}
	p.exact = model.NewExact(p.modelled, model.Widths{
		// Narrow has set them.
		LastGeneration: slotset.LastGeneration(), Slots: uint64(slotset.SlotLimit()),
		BatchLimit: o.BatchLimit, InboxLimit: o.InboxLimit,
	}, &p.result.Seen)
	p.abstract = model.NewAbstract(p.modelled)
	p.nameAll()
	return nil
}

// register registers a table with items of its kind.
func (p *executor) register(t *script.Table) bound {
	if t.Item == script.Word {
		return registerAs(p, t, wordKind, store.TableOptions[word]{})
	}
	return registerAs(p, t, bigKind, store.TableOptions[bigItem]{Links: bigLinks, Clone: cloneBig})
}

// registerAs sets the options that do not depend on the kind of items.
func registerAs[T any](p *executor, t *script.Table, k kind[T], o store.TableOptions[T]) bound {
	o.Name, o.Shards, o.Reserve, o.MaxItems = t.Name, t.Shards, t.Reserve, t.Max
	o.MinFree, o.ChunkItems, o.FixedKeys, o.Changes, o.Events = t.MinFree, t.Chunk, t.Fixed == 1, t.Changes == 1, t.Events == 1
	if t.Kind == script.Stable {
		// Stable tables have no order, so they have no sort keys.
		o.FixedKeys = false
		made := store.RegisterStable(p.store, o)
		addIndex[T](made, k)
		return &stable[T]{binding[T]{common: made, kind: k}, made}
	}
	made := store.Register(p.store, o)
	addIndex[T](made, k)
	return &packed[T]{binding: binding[T]{common: made, kind: k}, table: made}
}

// addIndex adds an index to a table whose items have a serial. Verify checks
// it.
func addIndex[T any](t store.TableOf[T], k kind[T]) {
	if k.serial != nil {
		store.AddIndex(t, "serial", k.serial)
	}
}
