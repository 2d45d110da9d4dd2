package suite

import (
	"context"

	"handloom/tasks"

	"github.com/hashicorp/go-memdb"
)

// memdbRival is an in-memory database of immutable trees: tasks read a snapshot,
// and what they want changed is one transaction at the end of the tick. Of all
// rivals it is the one that works in phases, too.
type memdbRival struct {
	directory
	keys    [queues]keys
	db      *memdb.MemDB
	pending [queues][]change
	frame   *frame
}

// row is an item and its key.
type row struct {
	Key  uint64
	Item item8
}

// change is a row to insert or erase.
type change struct {
	kind kind
	row  *row
}

func newMemdb() *memdbRival {
	r := new(memdbRival)
	for i := range r.keys {
		r.keys[i].next = uint64(i) << 48
	}
	r.db = must(memdb.NewMemDB(&memdb.DBSchema{Tables: map[string]*memdb.TableSchema{
		"items": {Name: "items", Indexes: map[string]*memdb.IndexSchema{
			"id": {Name: "id", Unique: true, Indexer: &memdb.UintFieldIndex{Field: "Key"}},
		}},
	}}))
	return r
}

func (r *memdbRival) fill(n int) {
	r.size(entries(n))
	txn := r.db.Txn(true)
	for i := range n {
		r.directory[i] = r.keys[0].new()
		check(txn.Insert("items", &row{r.directory[i], item8{uint64(i)}}))
	}
	txn.Commit()
}

func (r *memdbRival) tick(ctx context.Context, f *frame) {
	r.frame = f
	check(tasks.Run(ctx, queues, r.read, tasks.Options{}))
	txn := r.db.Txn(true)
	for _, changes := range r.pending {
		for _, c := range changes {
			if c.kind == insert {
				check(txn.Insert("items", c.row))
			} else {
				check(txn.Delete("items", c.row))
			}
		}
	}
	txn.Commit()
}

func (r *memdbRival) read(task int) error {
	txn := r.db.Txn(false)
	pending := r.pending[task][:0]
	var sum uint64
	for _, s := range r.frame.steps[task] {
		key := r.directory[s.entry()]
		switch s.kind() {
		case lookUp:
			v, err := txn.First("items", "id", key)
			if err != nil {
				return err
			}
			sum += v.(*row).Item.v
		case insert:
			key = r.keys[task].new()
			r.directory[s.entry()] = key
			pending = append(pending, change{insert, &row{key, item8{uint64(s.entry())}}})
		case erase:
			pending = append(pending, change{erase, &row{Key: key}})
		}
	}
	r.pending[task] = pending
	keep(sum)
	return nil
}
