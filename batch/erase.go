package batch

import (
	"handloom/handle"
	"handloom/internal/check"
	"handloom/internal/highwater"
)

// Erase records an erase of the item id names, in any table of the store. A provisional
// handle of this batch cancels the create. A handle of an unknown typeId counts as stale.
func (q Queue) Erase(id handle.ID) {
	if q.buf == nil {
		q.usable(nil)
	}
	b := q.buf.batch
	if list := b.eraseList(id.TypeID()); list > 0 {
		// The list fits the typeId already. A router without shards adds 0 to it.
		(&router{batch: b, list: list}).Erase(q, id)
		return
	}
	if check.Cheap {
		q.enter()
		defer q.leave()
	}
	if buf := q.buf; q.usable(b) && buf.take(Load{1, idBytes}) {
		buf.unknownErases, buf.holds = append(buf.unknownErases, id), true
	}
}

// router chooses the erase list of a handle's shard. The table's first list counts
// foreign handles as stale (B1).
type router struct {
	batch  *Batch
	list   int // list of the first shard; the others follow
	first  uint16
	shards uint16
}

// shard returns the shard of a typeId, or 0 for a foreign typeId. Provisional handles have
// the first typeId, so shard 0 has all of them (B5).
func (r *router) shard(typeID uint16) int {
	if shard := typeID - r.first; shard < r.shards {
		return int(shard)
	}
	return 0
}

// Erase is one non-generic function, because a call costs as much as the rest of it
// (op=record/kind=erase).
func (r *router) Erase(q Queue, id handle.ID) {
	if check.Cheap {
		q.enter()
		defer q.leave()
	}
	list := r.list + r.shard(id.TypeID())
	// A list of another store may have the same number, so the batch is compared.
	if buf := q.buf; buf != nil && q.serial == buf.serial && buf.batch == r.batch && uint(list) < uint(len(buf.erases)) {
		ids := &buf.erases[list].ids
		if n := len(*ids); n < cap(*ids) {
			*ids = (*ids)[:n+1]
			(*ids)[n] = id
			return
		}
	}
	r.erase(q, list, id)
}

// erase is the slow path of Erase.
//
//go:noinline
func (r *router) erase(q Queue, list int, id handle.ID) {
	if q.usable(r.batch) && q.buf.take(Load{1, idBytes}) {
		ids := q.buf.erasesIn(list, 1)
		*ids = append(*ids, id)
	}
}

// erasesIn returns a list with room for n more erases and for its next share.
func (buf *buffer) erasesIn(list, n int) *[]handle.ID {
	for len(buf.erases) <= list {
		buf.erases = append(buf.erases, eraseList{})
	}
	l := &buf.erases[list]
	// reset left nil, so this is the first erase of the use.
	if l.ids == nil {
		buf.lists, buf.holds = append(buf.lists, list), true
		l.used = true
	}
	held := len(l.ids)
	if cap(l.whole)-held < n {
		l.whole = grow(l.ids, n)
	}
	// The caller has paid for n.
	more := n + buf.share(cap(l.whole)-held-n, idBytes)
	l.ids = l.whole[: held : held+more]
	return &l.ids
}

// eraseList has a queue's erases of a shard. It fills a cache line, because neighbours are reset
// by different workers.
type eraseList struct {
	ids   []handle.ID // capacity is the share; nil without erases
	whole []handle.ID // the array of ids
	peak  highwater.Mark
	used  bool // in this period
}

func (l *eraseList) reset() {
	if l.ids != nil {
		l.whole = highwater.Trim(&l.peak, l.whole[:len(l.ids)]) // the length counts the use
		l.ids = nil
	}
}
