package store

import (
	"fmt"
	"slices"

	"handloom/internal/digest"
	"handloom/internal/image"
	"handloom/shard"
)

// loading reads the shards and the end of a snapshot.
type loading struct {
	in    *image.Reader
	from  []source
	into  []*savedTable
	ahead bool // blocks may be read and decoded on two goroutines

	table, shard int // next table of the snapshot, and its next shard
	whole        digest.Hash
}

// migrates reports whether a table has other types than the snapshot. Then functions of the
// program may run, which belong on the goroutine of the caller.
func migrates(from []source) bool {
	return slices.ContainsFunc(from, func(f source) bool {
		return f.how.items != nil || f.how.columns != nil || f.how.data != nil
	})
}

// run uses a second goroutine from the first long shard on; for less than that, starting it
// would take longer than it saves.
func (l *loading) run() *image.Error {
	for ; l.table < len(l.from); l.table, l.shard = l.table+1, 0 {
		from := &l.from[l.table]
		t := l.into[from.table]
		for ; l.shard < len(t.shards); l.shard++ {
			if l.ahead && l.in.IsLong() {
				return l.runAhead()
			}
			if err := l.load(t, &from.how); err != nil {
				return &image.Error{Table: t.table.name, Shard: l.shard, Block: l.in.Blocks(), Err: err}
			}
		}
	}
	if err := l.in.End(l.whole.Sum()); err != nil {
		return &image.Error{Block: l.in.Blocks(), Err: err}
	}
	return nil
}

func (l *loading) runAhead() (err *image.Error) {
	l.ahead = false
	l.in.ReadAhead(func() { err = l.run() })
	return err
}

// load reads one shard.
func (l *loading) load(t *savedTable, how *migration) error {
	m := t.shards[l.shard]
	sum, err := loadShard(l.in.Shard(l.table, l.shard), m, how)
	if err == nil {
		err = t.table.mayBe(m.Map)
	}
	l.whole.Uint64(sum)
	return err
}

// loadShard reads one shard into m, which is empty, and returns its digest.
func loadShard(r *image.ShardReader, m shard.State, how *migration) (uint64, error) {
	in := digest.NewDecoder(r.Next)
	in.Migrate(how.items)
	in.MigrateColumns(how.columns, how.data)
	if m.Load(in); in.Err() != nil {
		return 0, in.Err()
	}
	if in.Remaining() > 0 {
		return 0, fmt.Errorf("%d bytes after the last item", in.Remaining())
	}
	return r.End()
}
