package slotmap

import "handloom/proof/maptest"

// The operations in whose types a map itself stands, as its specification needs
// them.

func (m *Map[T]) Cloned() maptest.Map[T] { return m.Clone() }

func (m *Map[T]) CopiedTo(dst maptest.Map[T], clone func(dst, src *T)) {
	m.CopyTo(dst.(*Map[T]), clone)
}

// Core returns the map without its item type, whose bulk steps a flush uses.
func (m *Map[T]) Core() maptest.Core { return m.bound() }
