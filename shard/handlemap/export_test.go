package handlemap

import (
	"handloom/internal/sparse"
	"handloom/shard/handle"
)

// The bulk steps of a flush, for the tests of what every map promises.

type Marks = sparse.Marks

const (
	Stale  = sparse.Stale
	Again  = sparse.Again
	Marked = sparse.Marked
)

func (m *Map[T]) Mark(marks *Marks, id handle.ID) sparse.Marking { return m.bound().Mark(marks, id) }

func (m *Map[T]) IsMarked(marks *Marks, id handle.ID) bool { return m.bound().IsMarked(marks, id) }

func (m *Map[T]) EraseMarked(marks *Marks) int { return m.bound().EraseMarked(marks) }

func (m *Map[T]) CanInsert(n, erased, depleting int) error {
	return m.bound().CanInsert(n, erased, depleting)
}

func (m *Map[T]) HasRoom(n int) bool { return m.bound().HasRoom(n) }

func (m *Map[T]) ReserveMore(n int) { m.bound().ReserveMore(n) }
