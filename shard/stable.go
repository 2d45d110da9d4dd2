package shard

import (
	"handloom/shard/handle"
	"handloom/shard/handlemap"
	"handloom/shard/slotmap"
)

// Stable is a stable map as a [Container].
type Stable[T any] struct{ slotmap.Map[T] }

// NewStable returns an empty one, or the error of [slotmap.New].
func NewStable[T any](o handlemap.Options) (*Stable[T], error) {
	s := new(Stable[T])
	if err := s.Init(slotmap.Options(o)); err != nil {
		return nil, err
	}
	return s, nil
}

// Put replaces the item that id names, if there is one.
func (s *Stable[T]) Put(id handle.ID, v *T) {
	if item, ok := s.Get(handle.Of[T]{ID: id}); ok {
		*item = *v
	}
}

// Stats returns the figures of the map.
func (s *Stable[T]) Stats() handlemap.Stats { return handlemap.Stats(s.Map.Stats()) }
