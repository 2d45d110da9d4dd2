package handlemap

import "handloom/proof/maptest"

// Operations with the Map type in their signatures, for the specification.

func (m *Map[T]) Cloned() maptest.Map[T] { return m.Clone() }

func (m *Map[T]) CopiedTo(dst maptest.Map[T], clone func(dst, src *T)) {
	m.CopyTo(dst.(*Map[T]), clone)
}

// Core returns the map without its item type.
func (m *Map[T]) Core() maptest.Core { return m.bound() }
