package shard

import "handloom/internal/sparse"

// Sparse returns the sparse data i of the state.
func (s State) Sparse(i int) *sparse.Map { return s.data[i] }
